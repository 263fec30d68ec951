"""Every second, third or fourth element of memory: dense loads and shuffles instead of a load for each lane.

In: a vector type and a distance. Out: the name of a C function, which joins the prelude.

    load_every(prelude, UInt(8, 4), 2)   ->   "load_every_2_u8x4":   x = p[0..3], y = p[3..6];   x0 x2 y1 y3

A distance that only the run knows is often that of a pixel's channels, and is compared with those.

The loads reach from the first lane's element to the last one's, and no further: the last two overlap. Where a machine
has no registers of this width, its compiler would take shuffles apart, and lanes are loaded one by one.
"""

from __future__ import annotations

from halide_core.ir.types import Type
from halide_core.runtime.codegen.names import stored, tag
from halide_core.runtime.codegen.vector.prelude import Prelude, of_loads

DISTANCES = (2, 3, 4)
"""More would load more vectors than there are lanes worth."""
_CHANNELS = (3, 4)
"""The number of channels of pixels whose distance is an argument's stride."""
_MACHINES = {
    32: "defined(__SSSE3__)",
    64: "defined(__SSSE3__) || defined(__ARM_NEON)",
    128: "defined(__SSSE3__) || defined(__ARM_NEON)",
    256: "defined(__AVX2__)",
    512: "defined(__AVX512BW__)",
}
"""Who shuffles registers, or low parts of them, of each width, down to bytes."""
_REGISTER_BITS = 128


def load_every(prelude: Prelude, type: Type, distance: int) -> str | None:
    """``f(pointer)``; None where lanes are better loaded one by one."""
    lanes = type.lanes()
    bits = 8 * type.bytes() * lanes
    machine = _MACHINES.get(bits)
    if distance not in DISTANCES or lanes < 4 or machine is None:
        return None
    if bits < _REGISTER_BITS and lanes < 2 * distance:  # a part of a register is shuffled twice for each load
        return None

    def head() -> tuple[str, str, list[str]]:
        c = prelude.type(type)
        lines = [f"#if {machine}", f"{c} r = {prelude.load(type)}(p);"]
        last = (lanes - 1) * (distance - 1)  # the last load ends at the last lane's element
        starts = [*range(0, (distance - 1) * lanes, lanes), last]
        for number, start in enumerate(starts[1:], 1):
            chosen = [_source(i, i * distance, number, start, lanes) for i in range(lanes)]
            lines.append(f"r = __builtin_shufflevector(r, {prelude.load(type)}(p + {start}), {', '.join(chosen)});")
        generic = of_loads(c, [f"p[{i * distance}]" for i in range(lanes)])
        return c, f"const {stored(type)} *p", [*lines, "return r;", "#else", *generic, "#endif"]

    return prelude.define(f"load_every_{distance}_{tag(type)}", head)


def load_strided(prelude: Prelude, type: Type) -> str:
    """``f(pointer, stride)``: elements at a distance that the run knows, densely where it is that of channels."""

    def head() -> tuple[str, str, list[str]]:
        c = prelude.type(type)
        dense = [(k, f) for k in _CHANNELS if (f := load_every(prelude, type, k)) is not None]
        asked = [f"if (stride == {k}) return {f}(p);" for k, f in dense]
        if dense:
            asked = [f"#if {_MACHINES[8 * type.bytes() * type.lanes()]}", *asked, "#endif"]
        return c, f"const {stored(type)} *p, int64_t stride", [
            *asked,
            *of_loads(c, [f"p[{i} * stride]" for i in range(type.lanes())]),
        ]

    return prelude.define(f"load_strided_{tag(type)}", head)


def _source(lane: int, element: int, number: int, start: int, lanes: int) -> str:
    """Where a lane comes from once the loads up to ``number``, which begins at ``start``, are there."""
    if element >= start:
        return str(lanes + element - start if element - start < lanes else 0)  # 0: a later load has it
    return str(element if number == 1 else lane)
