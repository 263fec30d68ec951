"""Lanes of an atomic update that all meet in one point are combined, and taken in once; others take turns."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core.ir import For, LoopKind, Slice, Store
from halide_core.ir.visitor import stmt_exprs, subexpressions, walk
from tests.support.dumps import after
from tests.support.interpreted import run_program

x = hl.Var("x")
N = 103
Update = Callable[[hl.Expr, hl.Expr], hl.Expr]
INTEGERS: dict[str, Update] = {
    "sum": lambda f, v: f + v, "value first": lambda f, v: v + f, "difference": lambda f, v: f - v,
    "product": lambda f, v: f * (v | 1), "least": hl.min, "greatest": lambda f, v: hl.max(v, f),
    "and": lambda f, v: f & (v | 12), "or": lambda f, v: f | v, "exclusive or": lambda f, v: f ^ v,
}  # fmt: skip
TYPES = [hl.UInt(8), hl.Int(16), hl.Int(32), hl.Int(64)]


def reduction(type: hl.Type, update: Update) -> tuple[hl.Func, hl.RDom]:
    """N numbers taken in by every point."""
    numbers = np.random.default_rng(5).integers(0, 100, N).astype(str(type))
    values, r, f = hl.Buffer(numbers), hl.RDom([(0, N)], "r"), hl.Func("f")
    f[x] = hl.cast(type, x + 3)
    f[x] = update(f[x], values[r.x])
    return f, r


def slices(f: hl.Func) -> int:
    """Counts lanes taken out of vectors."""
    exprs = [e for s in walk(after(f, "vectorize")) for e in subexpressions(stmt_exprs(s))]
    return sum(isinstance(e, Slice) for e in exprs)


@pytest.mark.parametrize("type", TYPES, ids=str)
@pytest.mark.parametrize("name", list(INTEGERS))
def test_integers_are_what_they_were(name: str, type: hl.Type) -> None:
    f, r = reduction(type, INTEGERS[name])
    wanted = f.evaluate([(0, 3)])
    f.update().atomic().vectorize(r.x, 8)
    assert slices(f) or type == hl.Int(64)  # whose sums wrap in uint64: these take turns
    assert np.array_equal(f.realize([3]).array, wanted)
    for program, got in run_program(f, [(0, 3)]).items():
        assert np.array_equal(got, wanted), program


@pytest.mark.parametrize("lanes", [2, 3, 4, 8, 16])
@pytest.mark.parametrize("type", [hl.Float(32), hl.Float(64)], ids=str)
def test_floats_are_the_interpreters_to_the_last_bit(type: hl.Type, lanes: int) -> None:
    f, r = reduction(type, lambda own, v: own + v * hl.cast(type, 0.3))
    f.update().atomic().vectorize(r.x, lanes)
    assert slices(f)
    (wanted,) = run_program(f, [(0, 3)], after="limits").values()
    assert f.realize([3]).array.tobytes() == wanted.tobytes()


def test_threads_take_in_what_lanes_combined() -> None:
    f, r = reduction(hl.Int(32), INTEGERS["sum"])
    wanted = f.evaluate([(0, 3)])
    f.update().atomic().vectorize(r.x, 8).parallel(r.x)
    assert slices(f)
    assert np.array_equal(f.realize([3]).array, wanted)


@pytest.mark.parametrize("both", [False, True], ids=["number", "Tuple"])
def test_threads_inside_of_lanes_take_turns(both: bool) -> None:
    """Each lane has a point of its own, but threads meet in all of them."""
    r, f = hl.RDom([(0, N)], "r"), hl.Func("f")
    f[x] = (x, x) if both else x
    f[x] = (f[x][0] + r.x, f[x][1] ^ r.x) if both else f[x] + r.x
    wanted = f.evaluate([(0, 8)])
    f.update().atomic(both).vectorize(x, 8).parallel(r.x)
    threads = [s for s in walk(after(f, "vectorize")) if isinstance(s, For) and s.kind is LoopKind.PARALLEL]
    assert threads and all(s.atomic for loop in threads for s in walk(loop.body) if isinstance(s, Store))
    for program, got in run_program(f, [(0, 8)]).items():
        assert np.array_equal(got, wanted[0] if both else wanted), program


def test_lanes_with_points_of_their_own_take_turns() -> None:
    r, h, data = hl.RDom([(0, 64)], "r"), hl.Func("h"), hl.Buffer(np.arange(64, dtype=np.int32) % 7)
    h[x] = 0
    h[hl.clamp(data[r.x], 0, 6)] += r.x
    wanted = h.evaluate([(0, 7)])
    h.update().atomic().vectorize(r.x, 8)
    assert not slices(h)
    loops = [s for s in walk(after(h, "vectorize")) if isinstance(s, For) and s.kind is LoopKind.SERIAL]
    assert any(isinstance(s, Store) and s.atomic for loop in loops for s in walk(loop.body))
    assert np.array_equal(h.realize([7]).array, wanted)


def test_a_condition_on_lanes_is_asked_of_all_of_them() -> None:
    r, f, values = hl.RDom([(0, N)], "r"), hl.Func("f"), hl.Buffer(np.arange(N, dtype=np.int32))
    r.where(r.x < 90)
    f[x] = 0
    f[x] += values[r.x] * (x + 1)
    wanted = f.evaluate([(0, 3)])
    f.update().atomic().vectorize(r.x, 8)
    assert np.array_equal(f.realize([3]).array, wanted)


def test_least_and_greatest_of_floats_take_any_order() -> None:
    for update in (hl.min, hl.max):
        f, r = reduction(hl.Float(32), update)
        wanted = f.evaluate([(0, 3)])
        f.update().atomic().vectorize(r.x, 8)
        assert np.array_equal(f.realize([3]).array, wanted)
