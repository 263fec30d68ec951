"""Lemmas 2.4 and 2.5 after every directive: loops have names of their own, and what is used is there before.

The walk here shares nothing with ``scheduling.verify``, which checks the same in the compiler; and that check finds
programs that a broken directive could leave.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from halide_core.algorithm.model import Function
from halide_core.errors import InternalError
from halide_core.ir import Access, Allocate, Block, For, If, Label, LoopName, Stmt
from halide_core.ir.visitor import stmt_exprs, subexpressions
from halide_core.loop_nest import Program, StageKey, assemble
from halide_core.lowering.driver import LoweringTrace, schedule
from halide_core.scheduling.verify import check_dominance
from tests.support.dumps import producer_and_consumer, scheduled, tiled_blur
from tests.support.generate import draw


def events(stmt: Stmt) -> list[tuple[str, Function]]:
    """The allocations, labels and reads of a tree, in the order of its text."""
    accesses = [e for e in subexpressions(stmt_exprs(stmt)) if isinstance(e, Access)]
    found = [("read", e.callee) for e in accesses if isinstance(e.callee, Function)]
    match stmt:
        case Block(stmts=stmts):
            for s in stmts:
                found += events(s)
        case Allocate(func=Function() as f):
            found.append(("allocated", f))
        case Label(func=Function() as f, stage=None, body=body):
            found += [("begun", f), *events(body)]
        case For(body=body) | Label(body=body):
            found += events(body)
        case If(then=then, otherwise=otherwise):
            found += events(then) + ([] if otherwise is None else events(otherwise))
    return found


def dominated(program: Program) -> bool:
    """True where each Func is allocated before it is begun, and begun before it is read."""
    allocated, begun = set(program.algorithm.outputs), set[Function]()
    for what, f in events(assemble(program)):
        if what == "allocated":
            allocated.add(f)
        elif what == "begun":
            if f not in allocated:
                return False
            begun.add(f)
        elif what == "read" and f not in begun:
            return False
    return True


def loops(stmt: Stmt) -> list[LoopName]:
    """The names of all loops."""
    match stmt:
        case Block(stmts=stmts):
            return [name for s in stmts for name in loops(s)]
        case For(loop=loop, body=body):
            return [loop, *loops(body)]
        case Label(body=body):
            return loops(body)
        case If(then=then, otherwise=otherwise):
            return loops(then) + ([] if otherwise is None else loops(otherwise))
    return []


@pytest.mark.parametrize("seed", range(40))
def test_every_directive_keeps_names_and_dominance_when_drawn_at_random(seed: int) -> None:
    trace = LoweringTrace()
    schedule(draw(seed).output._request(), trace)
    assert trace.initial is not None
    for program in (trace.initial, *(step.program for step in trace.steps)):
        names = loops(assemble(program))
        assert len(set(names)) == len(names)
        assert dominated(program)


def test_loop_name_says_where_a_loop_belongs() -> None:
    _bx, by = tiled_blur()
    program = scheduled(by)
    for (f, stage, special), nest in program.nests.items():
        for name in (loop.name for loop in nest.loops):
            assert (name.func, name.stage, name.specialization) == (f.name, stage, special)


def test_check_finds_a_consumer_before_its_producer() -> None:
    g, f, _x, _y = producer_and_consumer()
    g.compute_root()
    program = scheduled(f)
    algorithm = program.algorithm
    upside_down = replace(program, algorithm=replace(algorithm, functions=algorithm.functions[::-1]))
    assert not dominated(upside_down)
    with pytest.raises(InternalError, match='"g" is read before it is computed'):
        check_dominance(upside_down)


def test_check_finds_memory_inside_the_loops_that_compute() -> None:
    g, f, _x, _y = producer_and_consumer()
    g.compute_root()
    program = scheduled(f)
    inner = program.nests[StageKey(program.named["f"], 0)].loops[-1].name
    assert inner.var == "x"
    broken = replace(program, stored={**program.stored, program.named["g"]: inner})
    assert not dominated(broken)
    with pytest.raises(InternalError, match='"g" is computed before its memory is allocated'):
        check_dominance(broken)


def test_check_finds_two_loops_of_one_name() -> None:
    g, f, _x, _y = producer_and_consumer()
    g.compute_root()
    program = scheduled(f)
    key = StageKey(program.named["f"], 0)
    nest = program.nests[key]
    outer, inner = nest.loops
    twice = program.with_nest(key, replace(nest, loops=(outer, replace(inner, name=outer.name))))
    with pytest.raises(InternalError, match=r'Two loops are named "f\.s0\.y"'):
        check_dominance(twice)
