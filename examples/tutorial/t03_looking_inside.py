"""3. Looking inside: what a Func says, which loops it becomes, and what single points are worth.

Four questions, four ways to ask: ``print(f)`` for the definition, ``print_loop_nest`` for the loops, ``evaluate`` for
values by the definition alone, ``compile_to_lowered_stmt`` for the program as it is compiled. Set HL_DEBUG=1 for the
passes and their times, HL_DEBUG=2 for the program after each.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from showing import table

import halide_core as hl

x, y = hl.Var("x"), hl.Var("y")
wave, ripple = hl.Func("wave"), hl.Func("ripple")
wave[x, y] = hl.sin(x * 0.3) * hl.cos(y * 0.2)
ripple[x, y] = wave[x, y] + 0.5 * wave[x * 2, y * 2]

print(ripple)
print("\nThe loops, before any schedule:")
ripple.print_loop_nest()
wave.compute_root()
print("\nThe loops, where wave is computed first:")
ripple.print_loop_nest()

# Single points: a window starts where you say, (min, extent) for each dimension.
print()
points = [(0, 0), (5, 0), (5, 7)]
table(["point", "ripple"], [[p, f"{ripple.evaluate([(p[0], 1), (p[1], 1)])[0, 0]:.6f}"] for p in points])

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "ripple.txt"
    ripple.compile_to_lowered_stmt(str(path), [])
    lines = path.read_text(encoding="utf-8").splitlines()
print(f"\nThe lowered program has {len(lines)} lines; its loops:")
print("\n".join(line for line in lines if "for " in line))
assert any("for ripple" in line for line in lines)
