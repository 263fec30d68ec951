"""Findings of formalizing the language in its first implementation (section 2.9), each as a test of this one.

In every test three judges agree under several schedules: the reference semantics, the target semantics after each
pass, and the compiled code; or all three refuse, and say why.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

import halide_core as hl
from tests.support.answered import Numbers
from tests.support.aot import DESCRIBE, build, run
from tests.support.interpreted import run_program

x, y, xo, xi, yo, yi = (hl.Var(n) for n in ("x", "y", "xo", "xi", "yo", "yi"))
Tail = hl.TailStrategy
Schedule = Callable[..., object]


def agree(f: hl.Func, *window: tuple[int, int]) -> np.ndarray:
    """The values in a window without negative coordinates; the reference, the program after each pass, and the
    compiled code agree on them."""
    wanted = np.asarray(f.evaluate(window))
    for name, found in run_program(f, window, rng=random.Random(1)).items():
        assert np.array_equal(found, wanted), name
    whole = np.asarray(f.realize([low + n for low, n in window]))
    assert np.array_equal(whole[tuple(slice(low, None) for low, _ in reversed(window))], wanted)
    return wanted


def image(values: Sequence[int] | np.ndarray, name: str = "im") -> hl.ImageParam:
    """An int32 input."""
    array = np.array(values, np.int32)
    result = hl.ImageParam(hl.Int(32), array.ndim, name)
    result.set(array)
    return result


# -- Negative extents of domains: no iterations, and not 2³² of them.


def summed(n: hl.Param) -> hl.Func:
    """``f[x] = Σ (x + r)`` over ``n`` terms."""
    f, r = hl.Func("f"), hl.RDom([(0, n)], "r")
    f[x] = 0
    f[x] += x + r.x
    return f


DOMAIN_SCHEDULES: dict[str, Schedule] = {
    "default": lambda f: f,
    "split": lambda f: f.update().split(f.rvars()[0], xo, xi, 4),
    "vectorized": lambda f: f.update().vectorize(x, 8),
    "reordered": lambda f: f.update().reorder(x, f.rvars()[0]).parallel(x),
}


@pytest.mark.parametrize("schedule", DOMAIN_SCHEDULES)
def test_domain_of_a_negative_extent_is_empty(schedule: str) -> None:
    n = hl.Param(hl.Int(32), "n", 3)
    f = summed(n)
    DOMAIN_SCHEDULES[schedule](f)
    for extent in (3, 1, 0, -1, -2, -(2**31)):
        n.set(extent)
        agree(f, (0, 5))
    assert f.realize([5])[4] == 0


def test_domain_of_a_negative_extent_needs_nothing() -> None:
    n, im, g, f = hl.Param(hl.Int(32), "n", -5), image([1, 2, 3]), hl.Func("g"), hl.Func("f")
    r = hl.RDom([(7, n), (0, 2)], "r")
    g[x] = im[x] * 2
    f[x] = x
    f[x] += g[r.x] + r.y
    g.compute_at(f, r.y)
    agree(f, (0, 5))
    agree(summed_of(hl.RDom([(0, -3)], "r")), (0, 5))


def summed_of(r: hl.RDom) -> hl.Func:
    """The sum of a domain's points at each x, and x."""
    f = hl.Func("f")
    f[x] = x
    f[x] += r.x + 1
    return f


C_MAIN = """
int main(void) {
    static int32_t out[5] = {7, 7, 7, 7, 7};
    halide_dimension_t d[1] = {{0, 5, 1, 0}};
    halide_buffer_t result = describe(out, halide_type_int, 32, 1, d);
    const int32_t extents[4] = {3, 0, -1, INT32_MIN};
    for (int i = 0; i < 4; i++) {
        const int error = summed(extents[i], &result);
        printf("%d %d %d\\n", error, out[0], out[4]);
    }
    return 0;
}
"""


def test_domain_of_a_negative_extent_is_empty_in_the_c_api(tmp_path: Path) -> None:
    n = hl.Param(hl.Int(32), "n")
    summed(n).compile_to_static_library(str(tmp_path / "summed"), [n], "summed")
    program = build(tmp_path, "main", f'#include "summed.h"\n{DESCRIBE}{C_MAIN}', "summed.a")
    done = run(program)
    # Three terms; and none where the extent is 0 or negative.
    assert done.stdout.splitlines() == ["0 3 15", "0 0 0", "0 0 0", "0 0 0"]


# -- Impure identity functions: an identity Func at the end changes nothing that the user can see.


OVERCOMPUTED: dict[str, Schedule] = {
    "exact": lambda f: f,
    "rounded": lambda f: f.split(x, xo, xi, 8, Tail.RoundUp),
    "vectorized": lambda f: f.vectorize(x, 8, Tail.RoundUp),
    "shifted": lambda f: f.split(x, xo, xi, 8, Tail.ShiftInwards),
    "tiled": lambda f: f.tile(x, y, xi, yi, 8, 4, Tail.RoundUp).parallel(y),
}


def product() -> hl.Func:
    """``f[x, y] = x*y + x``."""
    f = hl.Func("f")
    f[x, y] = x * y + x
    return f


@pytest.mark.parametrize("schedule", OVERCOMPUTED)
def test_identity_is_pure_when_its_input_overcomputes(schedule: str) -> None:
    f = product()
    OVERCOMPUTED[schedule](f)
    g, identity = product(), hl.Func("identity")
    OVERCOMPUTED[schedule](g)
    g.compute_root()
    identity[x, y] = g[x, y]
    for window in ([5, 3], [8, 4], [17, 9], [1, 1]):
        plain, copied = f.realize(window), identity.realize(window)
        assert isinstance(plain, hl.Buffer) and isinstance(copied, hl.Buffer)
        assert np.array_equal(np.asarray(plain), np.asarray(copied))
        shape = [(b.dim(d).min(), b.dim(d).extent()) for b in (plain, copied) for d in (0, 1)]
        assert shape[:2] == shape[2:] == [(0, window[0]), (0, window[1])]
        exact = [(0, n) for n in window]
        assert np.array_equal(agree(f, *exact), agree(identity, *exact))


@pytest.mark.parametrize("schedule", OVERCOMPUTED)
def test_buffer_of_the_user_is_filled_or_refused_with_the_region_that_would_do(schedule: str) -> None:
    f = product()
    OVERCOMPUTED[schedule](f)
    wanted = f.evaluate([5, 3])
    given = np.full((3, 5), -1, np.int32)
    if schedule == "exact":
        f.realize(given)
        assert np.array_equal(given, wanted)
        return
    with pytest.raises(hl.PipelineError, match='output buffer "f" is written from 0 to 7 in dimension 0'):
        f.realize(given)
    assert (given == -1).all()  # refused before anything is written
    rows = 4 if schedule == "tiled" else 3
    enough = np.full((rows, 8), -1, np.int32)
    f.realize(enough)
    assert np.array_equal(enough[:3, :5], wanted)


# -- Arithmetic error semantics: a division by zero outside the compute bounds does no harm.


DIVISIONS: dict[str, Callable[[hl.Expr, hl.Expr], hl.Expr]] = {
    "quotient": lambda a, b: a / b,
    "remainder": lambda a, b: a % b,
    "quotient of bytes": lambda a, b: hl.i32(hl.u8(a) / hl.u8(b)),
    "remainder of int16": lambda a, b: hl.i32(hl.i16(a) % hl.i16(b)),
    "quotient of int64": lambda a, b: hl.i32(hl.i64(a) / hl.i64(b)),
}


def divided(operator: str) -> tuple[hl.Func, hl.Func]:
    """``f[x] = 1000 op g[x]``, with ``g`` positive wherever it is computed."""
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x % 7 + 1
    f[x] = DIVISIONS[operator](hl.Expr(1000), g[x])
    return g, f


def _rounded(g: hl.Func, f: hl.Func) -> None:
    f.split(x, xo, xi, 16, Tail.RoundUp)
    g.compute_root()


def _vectors(g: hl.Func, f: hl.Func) -> None:
    f.vectorize(x, 8, Tail.RoundUp)
    g.compute_root().vectorize(x, 4)


def _in_tiles(g: hl.Func, f: hl.Func) -> None:
    f.split(x, xo, xi, 16, Tail.RoundUp).parallel(xo)
    g.compute_at(f, xo)


def _both_round(g: hl.Func, f: hl.Func) -> None:
    f.split(x, xo, xi, 8, Tail.RoundUp)
    g.compute_at(f, xo).split(x, xo, xi, 16, Tail.RoundUp)


@pytest.mark.parametrize("operator", DIVISIONS)
@pytest.mark.parametrize("schedule", [_rounded, _vectors, _in_tiles, _both_round], ids=lambda s: s.__name__)
def test_division_by_what_was_never_computed_does_no_harm(
    schedule: Callable[[hl.Func, hl.Func], None], operator: str
) -> None:
    g, f = divided(operator)
    schedule(g, f)
    consumer = hl.Func("consumer")
    consumer[x] = f[x] + 1
    f.compute_root()
    for n in (1, 5, 16, 19):
        agree(consumer, (0, n))
        agree(f, (0, n))


@pytest.mark.parametrize("operator", ["quotient", "remainder"])
@pytest.mark.parametrize("tail", [Tail.RoundUp, Tail.GuardWithIf, Tail.ShiftInwards], ids=lambda t: t.value)
def test_division_by_zero_is_zero_in_and_outside_the_compute_bounds(tail: hl.TailStrategy, operator: str) -> None:
    # Zero at x = 10, which a window of ten points does not have and rounding up to 16 runs into; and at x = 3.
    f, out = hl.Func("f"), hl.Func("out")
    f[x] = DIVISIONS[operator](x + 100, (x - 10) * (x - 3))
    f.compute_root().vectorize(x, 8, tail)
    out[x] = f[x]
    assert agree(out, (0, 10))[3] == 0
    assert agree(out, (0, 12))[10] == 0


# -- Compute bounds for indexing accesses: what stands in an index is computed, wherever that is.


def _gather_rounded(g: hl.Func, f: hl.Func) -> None:
    f.split(x, xo, xi, 16, Tail.RoundUp)
    g.compute_root()


def _gather_in_tiles(g: hl.Func, f: hl.Func) -> None:
    f.split(x, xo, xi, 16, Tail.RoundUp)
    g.compute_at(f, xo)


def _gather_in_vectors(g: hl.Func, f: hl.Func) -> None:
    f.vectorize(x, 16, Tail.RoundUp)
    g.compute_root().vectorize(x, 8)


@pytest.mark.parametrize(
    "schedule", [_gather_rounded, _gather_in_tiles, _gather_in_vectors], ids=lambda s: s.__name__.strip("_")
)
def test_index_that_reads_a_func_widens_its_compute_bounds(schedule: Callable[[hl.Func, hl.Func], None]) -> None:
    table = image(range(100, 116), "table")
    g, f, out = hl.Func("g"), hl.Func("f"), hl.Func("out")
    g[x] = (x * x) % 16
    f[x] = table[g[x]]
    out[x] = f[x]
    schedule(g, f)
    f.compute_root()
    # Nothing clamps the index: outside the compute bounds of g it would be garbage, and the read a crash.
    for n in (1, 5, 16, 21):
        agree(out, (0, n))
    if schedule is not _gather_in_tiles:
        assert Numbers(out, {"out": [(0, 5)]}).cpu("f") == ((0, 5),)
        assert Numbers(out, {"out": [(0, 5)]}).cpu("g") == ((0, 16),)


def test_value_that_reads_a_func_does_not_widen_its_compute_bounds() -> None:
    g, f, out = hl.Func("g"), hl.Func("f"), hl.Func("out")
    g[x] = (x * x) % 16
    f[x] = g[x]
    out[x] = f[x]
    f.compute_root().split(x, xo, xi, 16, Tail.RoundUp)
    g.compute_root()
    numbers = Numbers(out, {"out": [(0, 5)]})
    assert (numbers.cpu("g"), numbers.mem("g")) == (((0, 5),), ((0, 16),))
    agree(out, (0, 5))


SCATTERS: dict[str, Schedule] = {
    "default": lambda f, g: g.compute_root(),
    "split": lambda f, g: (f.update().split(f.rvars()[0], xo, xi, 4), g.compute_root()),
    "computed in the loop": lambda f, g: g.compute_at(f, f.rvars()[0]),
    "producer rounded": lambda f, g: g.compute_root().split(x, xo, xi, 8, Tail.RoundUp),
}


@pytest.mark.parametrize("schedule", SCATTERS)
def test_index_that_is_written_reads_what_is_computed(schedule: str) -> None:
    g, f, r = hl.Func("g"), hl.Func("f"), hl.RDom([(0, 11)], "r")
    g[x] = (x * 5) % 9
    f[x] = 0
    f[g[r.x]] += r.x + 1
    SCATTERS[schedule](f, g)
    out = hl.Func("out")
    out[x] = f[x]
    f.compute_root()
    agree(out, (0, 9))
    agree(out, (2, 3))


# -- Race conditions in rdom predicates.


def test_race_through_a_predicate_along_a_pure_loop_is_no_valid_program() -> None:
    f, r = hl.Func("f"), hl.RDom([(0, 8)], "r")
    f[x] = x % 3
    r.where(f[r.x] > 0)
    # If x ran in parallel, what the predicate sees would hang on the order: f[r.x] is written by another x.
    with pytest.raises(hl.DefinitionError, match=r"every f\[…\] in it must have it .*; f\[r\.x\] does not"):
        f[x] += r.x


def test_race_through_a_predicate_along_a_reduction_loop_is_refused() -> None:
    f, r = hl.Func("f"), hl.RDom([(0, 8)], "r")
    f[x] = x % 3
    r.where(f[r.x] > 0)
    f[r.x + 1] = f[r.x] + 1
    agree(f, (0, 10))
    told = r'"r\.x" is a reduction loop of which two iterations may meet in one point'
    with pytest.raises(hl.ScheduleError, match=told):
        f.update().parallel(r.x)


PREDICATED: dict[str, Schedule] = {
    "default": lambda f, r: f,
    "parallel": lambda f, r: f.update().parallel(x),
    "innermost": lambda f, r: f.update().reorder(x, r.x),
    "vectorized": lambda f, r: f.update().vectorize(x, 4, Tail.GuardWithIf),
    "vectors innermost": lambda f, r: f.update().reorder(x, r.x).vectorize(x, 4, Tail.GuardWithIf),
    "parallel blocks": lambda f, r: f.update().split(x, xo, xi, 4, Tail.GuardWithIf).parallel(xo),
}


@pytest.mark.parametrize("schedule", PREDICATED)
def test_predicate_that_reads_its_own_column_is_no_race(schedule: str) -> None:
    f, r = hl.Func("f"), hl.RDom([(0, 8)], "r")
    f[x, y] = (x + y) % 3
    r.where(f[x, r.x] > 0)
    f[x, r.x + 1] = f[x, r.x] + x
    PREDICATED[schedule](f, r)
    agree(f, (0, 7), (0, 10))
    agree(f, (3, 2), (2, 5))
