"""Units that are compiled side by side: what is in which, and that together they are the pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import halide_core as hl
from halide_core.lowering.driver import lower
from halide_core.runtime.codegen.c import resource
from halide_core.runtime.codegen.cut import cut
from halide_core.runtime.codegen.unit import emit_c, emit_units
from halide_core.runtime.compile import sources
from halide_core.runtime.execute import build
from tests.support.symbols import shown

x, y = hl.Var("x"), hl.Var("y")
STAGES = 12


def chain(stages: int = STAGES, *, vectors: bool = True) -> hl.Func:
    """Means of neighbours, each of its own parallel loop."""
    before = hl.Func("stage_0")
    before[x, y] = hl.f32(x * 3 + y * 7 % 11)
    for k in range(1, stages):
        before.compute_root().parallel(y)
        f = hl.Func(f"stage_{k}")
        f[x, y] = sum((before[x + i, y + j] * (i + 2 * j + 7) for i in range(3) for j in range(3)), hl.f32(k)) / 70
        if vectors:
            f.vectorize(x, 8)
        before = f
    return before.parallel(y)


def test_units_are_about_as_long_as_each_other() -> None:
    assert cut([60_000, 20_000, 50_000], 2) == [[0], [2, 1]]
    assert cut([30_000, 30_000, 30_000, 30_000], 4) == [[0], [1], [2], [3]]
    assert sorted(i for unit in cut([5_000] * 40, 7) for i in unit) == list(range(40))


@pytest.mark.parametrize(("lengths", "most"), [([15_000, 16_000], 8), ([90_000, 90_000], 1), ([90_000], 8)])
def test_what_a_second_compiler_would_not_speed_up_is_one_unit(lengths: list[int], most: int) -> None:
    assert cut(lengths, most) == [list(range(len(lengths)))]


def test_each_function_is_in_one_unit() -> None:
    lowered = lower(chain()._request())
    texts = emit_units(lowered, 2)
    assert len(texts) == 2
    defined = [line for text in texts for line in text.splitlines() if "_par_" in line and line.endswith(") {")]
    assert len(defined) == len(set(defined)) == STAGES
    assert "int stage_11(halide_buffer_t" in texts[0]
    (whole,) = emit_units(lowered, 1)
    assert whole.replace(resource("once.h") + "ONCE ", "") == emit_c(lowered)
    assert emit_units(lowered, 2) == texts


def test_what_shares_variables_is_one_unit() -> None:
    """A profile's counters, and the locks of points that tasks meet at, are there once."""
    assert len(emit_units(lower(chain()._request()), 3, profile=True)) == 1
    f, r = hl.Func("f"), hl.RDom([(0, 100)], "r")
    f[x] = (0, hl.u64(1))
    f[r % 3] = (f[r % 3][0] + r, f[r % 3][1] * hl.u64(3))
    f.update().atomic().parallel(r)
    g = hl.Func("g")
    means = chain().compute_root()
    g[x, y] = f[x % 3][0] + means[x, y]
    f.compute_root()
    (text,) = emit_units(lower(g._request()), 3)
    assert "halide_core_locks[256]" in text


def test_units_together_are_the_pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bits of one unit and of several are the same, and no task's name is seen outside of the library."""
    compiled, compile_shared = [], sources.compile_shared

    def watched(sources: Sequence[Path], output: Path, **others: object) -> None:
        compile_shared(sources, output, **others)  # type: ignore[arg-type]  # as they came
        compiled.append((len(sources), shown(output)))

    monkeypatch.setattr(sources, "compile_shared", watched)
    found = []
    for count in (1, 2):
        monkeypatch.setenv("HL_CACHE_DIR", str(tmp_path / str(count)))
        monkeypatch.setattr(build, "processors", lambda count=count: count)
        found.append(np.asarray(chain().realize([50, 9])))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(np.asarray(found[0]), chain().evaluate([(0, 50), (0, 9)]))
    assert compiled == [(1, ["halide_core_entry"]), (2, ["halide_core_entry"])]
