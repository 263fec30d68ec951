"""``lowering.passes.memory.reuse``: memory of Funcs that are dead serves others."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import halide_core as hl
from halide_core.errors import InternalError
from halide_core.ir import AllocateFlat, Block, For, Stmt
from halide_core.ir.grammar import Form
from halide_core.ir.verify import verify
from halide_core.ir.visitor import Rewriter, walk
from halide_core.lowering.driver import LoweringTrace, lower
from tests.support.interpreted import run_program

x, y, xo = hl.Var("x"), hl.Var("y"), hl.Var("xo")


def chain(length: int, image: hl.ImageParam) -> tuple[hl.Func, list[hl.Func]]:
    """Stencils one after another, each at root."""
    funcs = [hl.Func(f"f{i}") for i in range(length)]
    funcs[0][x, y] = image[x, y] * 3
    for before, after in itertools.pairwise(funcs):
        after[x, y] = before[x, y] + 2 * before[x, y + 1] - before[x + 1, y]
    for f in funcs[:-1]:
        f.compute_root()
    return funcs[-1], funcs[:-1]


def image(height: int = 16, width: int = 16) -> hl.ImageParam:
    found = hl.ImageParam(hl.Int(32), 2, "im")
    found.set(np.arange(height * width, dtype=np.int32).reshape(height, width) % 37)
    return found


def memory_of(f: hl.Func) -> dict[str, str | None]:
    """Of each buffer that is allocated, that in whose memory it lives."""
    body = lower(f._request()).body
    return {s.buffer: s.within for s in walk(body) if isinstance(s, AllocateFlat)}


def test_a_chain_at_root_takes_two_blocks_whatever_its_length():
    out, _ = chain(8, image())
    owners = list(memory_of(out).values())
    assert owners.count(None) == 2 and len(owners) == 7
    result = np.asarray(out.realize([5, 4]))
    assert (result == out.evaluate([(0, 5), (0, 4)])).all()
    assert all((each == result).all() for each in run_program(out, [(0, 5), (0, 4)]).values())


def test_a_func_that_is_still_read_keeps_its_memory():
    f, g, h, out = (hl.Func(n) for n in "fghk")
    f[x, y] = image()[x, y] + 1
    g[x, y] = f[x, y] * 2
    h[x, y] = g[x, y] + g[x, y + 1]
    out[x, y] = h[x, y] + f[x, y]
    for each in (f, g, h):
        each.compute_root()
    assert memory_of(out) == {"f": None, "g": None, "h": None}


def test_memory_of_another_type_is_not_shared():
    f, g, h, out = (hl.Func(n) for n in "fghk")
    f[x, y] = image()[x, y] + 1
    g[x, y] = hl.f32(f[x, y] + f[x + 1, y])
    h[x, y] = hl.f64(g[x, y] + g[x, y + 1])
    out[x, y] = h[x, y] + h[x, y + 1]
    for each in (f, g, h):
        each.compute_root()
    assert memory_of(out) == {"f": None, "g": None, "h": None}


def test_a_larger_func_in_the_memory_of_a_smaller_one_finds_room():
    f, g, h, out = (hl.Func(n) for n in "fghk")
    f[x, y] = image()[x, y] + 1
    g[x, y] = f[0, y] + x
    h[x, y] = g[x, y] + g[x, y + 1]
    out[x, y] = h[x, y] - h[x + 1, y]
    for each in (f, g, h):
        each.compute_root()
    assert memory_of(out) == {"f": None, "g": None, "h": "f"}
    assert (np.asarray(out.realize([6, 5])) == out.evaluate([(0, 6), (0, 5)])).all()
    run_program(out, [(0, 6), (0, 5)])


def test_memory_inside_a_parallel_loop_is_shared_in_each_iteration():
    out, funcs = chain(5, image(40, 40))
    yo, yi = hl.Var("yo"), hl.Var("yi")
    out.split(y, yo, yi, 8).parallel(yo)
    for f in funcs:
        f.compute_at(out, yo)
    assert list(memory_of(out).values()).count(None) == 2
    assert (np.asarray(out.realize([20, 16])) == out.evaluate([(0, 20), (0, 16)])).all()


def test_components_of_tuples_are_shared_one_by_one():
    f, g, h, out = (hl.Func(n) for n in "fghk")
    f[x, y] = (image()[x, y], hl.f32(x))
    g[x, y] = (f[x, y][0] + f[x + 1, y][0], f[x, y][1] * 2)
    h[x, y] = (g[x, y][0] + g[x + 1, y][0], g[x, y][1] * 2)
    out[x, y] = hl.f32(h[x, y][0]) + h[x + 1, y][1]
    for each in (f, g, h):
        each.compute_root()
    assert memory_of(out) == {"f.0": None, "f.1": None, "g.0": None, "g.1": None, "h.0": "f.0", "h.1": "f.1"}
    assert (np.asarray(out.realize([5, 4])) == out.evaluate([(0, 5), (0, 4)])).all()


def test_the_loop_nest_says_whose_memory_it_is(capsys: pytest.CaptureFixture[str]):
    out, _ = chain(4, image())
    out.print_loop_nest()
    assert 'produce f2:\n  (in the memory of "f0", which is dead)\n' in capsys.readouterr().out


class _Moved(Rewriter):
    """Puts one buffer in the memory of another one."""

    def __init__(self, buffer: str, within: str) -> None:
        super().__init__()
        self._buffer, self._within = buffer, within

    def rewrite_AllocateFlat(self, s: AllocateFlat) -> Stmt:
        return replace(s, within=self._within) if s.buffer == self._buffer else s


@pytest.mark.parametrize(("buffer", "within"), [("f1", "f0"), ("f3", "f0"), ("f0", "f1")])
def test_the_verifier_refuses_memory_that_is_in_use(buffer: str, within: str):
    out, _ = chain(6, image())
    trace = LoweringTrace()
    lower(out._request(), trace=trace)
    body = dict(trace.passes)["reuse"]
    block = next(s for s in walk(body) if isinstance(s, Block) and any(isinstance(t, AllocateFlat) for t in s.stmts))
    own = Block(tuple([s for s in block.stmts if isinstance(s, AllocateFlat | For)]))
    with pytest.raises(InternalError, match=r"is not used any more|lives within other memory"):
        verify(_Moved(buffer, within).stmt(own), Form.VECTORS, frozenset(), "reuse")


def test_memory_is_in_use_while_any_func_that_lives_in_it_is():
    """f0 is dead when f3 is computed, but its memory is that of f2 by then."""
    out, _ = chain(6, image())
    assert memory_of(out) == {"f0": None, "f1": None, "f2": "f0", "f3": "f1", "f4": "f0"}
