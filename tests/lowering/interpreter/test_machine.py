"""The target semantics (figure 2.8): every stuck state, ε_mem, races, scopes and vectors, on hand-made trees."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

import halide_core as hl
from halide_core import ir
from halide_core.algorithm.model import Function, Image, ScalarParam
from halide_core.errors import UNKNOWN_LOCATION, InternalError
from halide_core.ir import (
    Access,
    Allocate,
    AllocateFlat,
    AnswerQuery,
    Assert,
    Block,
    Broadcast,
    BufferField,
    Cast,
    Failure,
    Field,
    For,
    If,
    Interval,
    Let,
    Load,
    LoopKind,
    LoopName,
    ParamRef,
    Provide,
    Ramp,
    Select,
    Store,
    Variable,
    i64,
)
from halide_core.ir.types import BOOL, INT32, INT64
from halide_core.lowering.interpreter.machine import Translated, interpret
from halide_core.lowering.interpreter.memory_model import (
    AssertionFailure,
    MemoryFault,
    OutOfSteps,
    RaceError,
    RDomFailure,
    StuckError,
    UndefinedValue,
)
from halide_core.run.backend import Argument, ArgumentKind
from tests.support.interpreted import run_passes, run_program

FLOAT = hl.Float(32)
V4 = INT64.with_lanes(4)
x, y, v = (ir.index_variable(n) for n in "xyv")
out, g = (Function(n, ("x",), (INT32,)) for n in ("out", "g"))
image = Image("in", INT32, 1, UNKNOWN_LOCATION)
p, real = ScalarParam("p", INT32, UNKNOWN_LOCATION), ScalarParam("real", FLOAT, UNKNOWN_LOCATION)
ARGUMENTS = (
    Argument.of(ArgumentKind.InputBuffer, "in", INT32, 1, image),
    Argument.of(ArgumentKind.InputScalar, "p", INT32, 0, p),
    Argument.of(ArgumentKind.InputScalar, "real", FLOAT, 0, real),
    Argument.of(ArgumentKind.OutputBuffer, "out", INT32, 1, out),
)


def i32(value):
    return ir.const(value, INT32)


def at(f, index):
    return Access(INT32, f, (index,), 0, ir.LAST_STAGE)


def put(f, index, value):
    return Provide(f, 0, (index,), (value,))


def box(low, length):
    return (Interval(i64(low), i64(length)),)


def loop(var, low, length, *body, kind=LoopKind.SERIAL):
    return For(LoopName("f", 0, 0, var.name), var, Interval(i64(low), i64(length)), kind, True, Block(body))


def parallel(var, low, length, *body):
    return loop(var, low, length, *body, kind=LoopKind.PARALLEL)


def buffer(n=4, low=0, values=None):
    b = hl.Buffer(np.array(values, np.int32) if values is not None else np.zeros(n, np.int32))
    b.set_min([low])
    return b


def run(*stmts, given=(10, 11, 12, 13), shuffle=None, outputs=None, scalars=(7, 0.1)):
    """The outcome of statements over ``in`` and ``out``, both with points 0 … 3."""
    given = buffer(values=given) if isinstance(given, tuple) else given
    return interpret(Block(stmts), ARGUMENTS, [given, *scalars], outputs or [buffer()], shuffle=shuffle)


def result(*stmts, **options):
    return run(*stmts, **options).result(0, [(0, 4)]).tolist()


COPY = loop(x, 0, 4, put(out, x, at(image, x)))


def both_at_once(f, low, high):
    """``f.0[x] = f.1[x]; f.1[x] = f.0[x]``."""
    read = [Load(INT32, f"{f}.{k}", x) for k in (0, 1)]
    return ir.Stores((Store(low, x, read[1]), Store(high, x, read[0])))


# -- the rules


def test_loop_copies_when_everything_is_sound():
    assert result(COPY) == [10, 11, 12, 13]


def test_translated_program_knows_nothing_of_its_last_run():
    """Other memory, Params, fields and orders; a bounds query and a run that is stuck between them."""
    plus = ir.add(at(image, x), ParamRef(INT32, p))
    length = BufferField(INT64, out, Field.EXTENT, 0)
    body = parallel(x, 0, 4, put(out, x, plus))
    body = replace(body, bounds=Interval(i64(0), length))
    answer = AnswerQuery(((out, box(0, 3)), (image, box(0, 4))))
    program = Translated(Block((answer, body)), ARGUMENTS)
    for n, number in ((4, 7), (2, 100), (0, 1), (3, -5)):
        assert program.run([buffer(), number, 0.1], [((0, 1),)]).regions == (None, None, None, ((0, 3),))
        with pytest.raises(MemoryFault):
            program.run([buffer(), number, 0.1], [buffer(5)])
        outcome = program.run([buffer(values=(1, 2, 3, 4)), number, 0.1], [buffer(n)], shuffle=random.Random(1))
        assert outcome.result(0, [(0, n)]).tolist() == [k + 1 + number for k in range(n)]
        with pytest.raises(OutOfSteps):
            program.run([buffer(), number, 0.1], [buffer(4)], steps=3)


def test_written_cells_reach_the_callers_buffer():
    target = buffer(values=(1, 2, 3, 4))
    run(put(out, i64(2), i32(9)), outputs=[target])
    assert np.asarray(target).tolist() == [1, 2, 9, 4]


def test_stores_read_everything_before_they_write():
    memory = [AllocateFlat(f"t.{k}", INT32, i64(4), None) for k in (0, 1)]
    fill = loop(x, 0, 4, Store("t.0", x, at_flat("in", x)), Store("t.1", x, i32(5)))
    turn = loop(x, 0, 3, both_at_once("t", "t.0", "t.1"))
    sums = loop(x, 0, 4, Store("out", x, ir.sub(at_flat("t.0", x), at_flat("t.1", x))))
    assert result(*memory, fill, turn, sums) == [-5, -6, -7, 8]


def test_stores_race_like_any_store():
    memory = [AllocateFlat(f"t.{k}", INT32, i64(4), None) for k in (0, 1)]
    fill = [loop(x, 0, 4, Store(f"t.{k}", x, i32(5 + k))) for k in (0, 1)]
    turn = ir.Stores((Store("t.0", i64(0), at_flat("t.1", x)), Store("t.1", i64(0), Cast(INT32, x))))
    with pytest.raises(RaceError):
        run(*memory, *fill, parallel(x, 0, 4, turn))
    with pytest.raises(MemoryFault):
        run(*memory, loop(x, 0, 4, both_at_once("t", "t.0", "gone")))


def at_flat(name, index):
    return Load(INT32, name, index)


def test_let_if_and_parameters_have_their_meaning():
    body = Block((Let(v, ir.add(x, ir.ONE), None), put(out, x, ir.add(Cast(INT32, v), ParamRef(INT32, p)))))
    assert result(loop(x, 0, 4, If(ir.less(x, i64(2)), body, put(out, x, i32(0))))) == [8, 9, 0, 0]


def test_fields_are_those_of_the_buffers():
    fields = [BufferField(INT64, image, f, 0) for f in (Field.MIN, Field.EXTENT, Field.STRIDE)]
    stmts = [put(out, i64(k), Cast(INT32, e)) for k, e in enumerate(fields)]
    assert run(*stmts, given=buffer(5, low=-2)).result(0, [(0, 3)]).tolist() == [-2, 5, 1]


def test_all_components_are_evaluated_before_any_is_written():
    pair = Function("pair", ("x",), (INT32, INT32))
    first, second = (Access(INT32, pair, (ir.ZERO,), k, 0) for k in (0, 1))
    stmts = (
        Allocate(pair, box(0, 1)),
        Provide(pair, 0, (ir.ZERO,), (i32(1), i32(2))),
        Provide(pair, 1, (ir.ZERO,), (second, first)),
        put(out, ir.ZERO, first),
        put(out, ir.ONE, second),
    )
    assert run(*stmts).result(0, [(0, 2)]).tolist() == [2, 1]


# -- stuck states


def test_assertion_failure_carries_the_formatted_message():
    message = ("p is ", ParamRef(INT32, p), ", real ", ParamRef(FLOAT, real), ", ", ir.TRUE)
    with pytest.raises(AssertionFailure, match=r"p is 7, real 0\.100000001, true") as caught:
        run(Assert(ir.less(ParamRef(INT32, p), i32(7)), Failure.PARAMETER_RANGE, message))
    assert caught.value.failure is Failure.PARAMETER_RANGE


def test_loop_of_negative_extent_is_an_rdom_failure():
    with pytest.raises(RDomFailure, match=r'"f.s0.x" has the negative extent -1') as caught:
        run(loop(x, 0, -1, put(out, x, i32(0))))
    assert caught.value.length == -1
    assert result(loop(x, 0, 0, put(out, i64(99), i32(0))), COPY) == [10, 11, 12, 13]


@pytest.mark.parametrize("index", [-1, 4])
def test_access_outside_is_a_memory_fault_when_points_are_points(index):
    with pytest.raises(MemoryFault, match=r'"in" is read at .* \[0, 4\)') as caught:
        run(put(out, ir.ZERO, at(image, i64(index))))
    fault = caught.value
    assert (fault.buffer, fault.index, fault.bounds) == ("in", (index,), ((0, 4),))
    assert isinstance(fault.statement, Provide)
    with pytest.raises(MemoryFault, match='"out" is written at'):
        run(put(out, i64(index), i32(1)))
    with pytest.raises(MemoryFault, match='"g" is written at'):
        run(Allocate(g, box(0, 4)), put(g, i64(index), i32(1)))


def test_each_dimension_is_checked_when_positions_would_be_inside():
    plane = Function("plane", ("x", "y"), (INT32,))
    stmts = (Allocate(plane, box(0, 4) * 2), Provide(plane, 0, (i64(5), ir.ZERO), (i32(1),)))
    with pytest.raises(MemoryFault, match=r"written at \(5, 0\)"):
        run(*stmts)


@pytest.mark.parametrize("index", [-1, 4])
def test_access_outside_is_a_memory_fault_when_memory_is_flat(index):
    memory = AllocateFlat("g", INT32, i64(4), None)
    with pytest.raises(MemoryFault, match='"g" is written at'):
        run(memory, Store("g", i64(index), i32(1)))
    with pytest.raises(MemoryFault, match='"in" is read at'):
        run(Store("out", ir.ZERO, Load(INT32, "in", i64(index))))
    with pytest.raises(MemoryFault, match='"out" is written at'):
        run(Store("out", i64(index), i32(1)))


def test_gaps_between_the_rows_of_an_argument_are_outside():
    wide = hl.Buffer(np.arange(12, dtype=np.int32).reshape(3, 4)).cropped([(0, 2), (0, 3)])
    plane = Image("in", INT32, 2, UNKNOWN_LOCATION)
    arguments = (Argument.of(ArgumentKind.InputBuffer, "in", INT32, 2, plane), ARGUMENTS[-1])

    def read(position):
        stmt = Store("out", ir.ZERO, Load(INT32, "in", i64(position)))
        return interpret(stmt, arguments, [wide], [buffer()]).result(0, [(0, 1)]).item()

    assert [read(0), read(5), read(9)] == [0, 5, 9]
    with pytest.raises(MemoryFault):
        read(2)


def test_memory_of_negative_or_broken_size_is_a_fault():
    with pytest.raises(MemoryFault, match="negative length -2"):
        run(Allocate(g, box(0, -2)))
    with pytest.raises(MemoryFault, match="5 elements, but at most 4 are promised"):
        run(AllocateFlat("g", INT32, i64(5), 4))


def test_use_after_the_block_is_a_memory_fault():
    freed = Block((Allocate(g, box(0, 4)), put(g, ir.ZERO, i32(5))))
    with pytest.raises(MemoryFault, match='"g" is read where it has no memory'):
        run(freed, put(out, ir.ZERO, at(g, ir.ZERO)))
    with pytest.raises(MemoryFault, match='"g" is written where it has no memory'):
        run(freed, put(g, ir.ZERO, i32(5)))
    with pytest.raises(MemoryFault, match='"h" is written where'):
        run(Store("h", ir.ZERO, i32(5)))


def test_memory_starts_anew_when_its_block_does():
    body = Block((Allocate(g, box(0, 1)), If(ir.less(x, ir.ONE), put(g, ir.ZERO, i32(5)), None)))
    body = Block((*body.stmts, put(out, x, at(g, ir.ZERO))))
    with pytest.raises(UndefinedValue, match=r"\(1,\) of output"):
        result(loop(x, 0, 4, body))


# -- ε_mem


@pytest.mark.parametrize(
    "operation",
    [
        lambda e: ir.add(e, i32(1)),
        lambda e: ir.mul(e, i32(0)),
        lambda e: Cast(INT32, Cast(BOOL, e)),
        lambda e: Select(INT32, ir.FALSE, i32(1), e),
        lambda e: ir.add(Select(INT32, ir.TRUE, e, i32(1)), i32(1)),
        lambda e: Select(INT32, ir.less(e, i32(1)), i32(1), i32(1)),
        lambda e: Cast(INT32, ir.binary(ir.BinaryOp.AND, ir.FALSE, Cast(BOOL, e))),
        lambda e: Cast(INT32, ir.Not(BOOL, Cast(BOOL, e))),
        lambda e: ir.minimum(e, i32(1)),
        lambda e: Cast(INT32, ir.Call(FLOAT, ir.Intrinsic.SQRT, (Cast(FLOAT, e),))),
    ],
)
def test_every_operator_is_strict_in_the_error_value(operation):
    stmts = (Allocate(g, box(0, 1)), Let(Variable(INT32, "a"), operation(at(g, ir.ZERO)), None))
    with pytest.raises(UndefinedValue):
        result(*stmts, COPY, put(out, ir.ONE, Variable(INT32, "a")))
    assert result(*stmts, put(out, ir.ONE, Variable(INT32, "a")), COPY) == [10, 11, 12, 13]  # garbage is overwritten


def test_select_drops_the_error_value_of_the_other_case():
    """Lanes read both cases; a producer that nobody chooses need not be computed."""
    a = Variable(INT32, "a")
    chosen = Select(INT32, ir.TRUE, i32(1), ir.add(at(g, ir.ZERO), i32(1)))
    stmts = (Allocate(g, box(0, 1)), Let(a, ir.add(chosen, i32(5)), None))
    assert result(*stmts, COPY, put(out, ir.ONE, a)) == [10, 6, 12, 13]


def test_error_value_is_refused_where_the_course_depends_on_it():
    undefined, count = at(g, ir.ZERO), Cast(INT64, at(g, ir.ZERO))
    for stmt in (
        put(out, count, i32(0)),
        put(out, ir.ZERO, at(image, count)),
        If(ir.less(undefined, i32(0)), COPY, None),
        For(LoopName("f", 0, 0, "x"), x, Interval(ir.ZERO, count), LoopKind.SERIAL, True, ir.NOTHING),
        For(LoopName("f", 0, 0, "x"), x, Interval(count, ir.ZERO), LoopKind.SERIAL, True, ir.NOTHING),
        Allocate(Function("h", ("x",), (INT32,)), (Interval(ir.ZERO, count),)),
        AllocateFlat("h", INT32, count, None),
        Assert(ir.less(undefined, i32(0)), Failure.ASSERTION, ()),
        Block((Let(v, count, None), put(out, v, i32(0)))),
    ):
        with pytest.raises(UndefinedValue, match=r"g\[0\]|\bv\b"):
            run(Allocate(g, box(0, 1)), stmt)


def test_other_reads_are_still_checked_when_one_is_undefined():
    with pytest.raises(MemoryFault, match='"in" is read at'):
        run(Allocate(g, box(0, 1)), put(out, ir.ZERO, ir.add(at(g, ir.ZERO), at(image, i64(9)))))


def test_output_is_undefined_until_it_is_written():
    with pytest.raises(UndefinedValue):
        result(put(out, ir.ZERO, at(out, ir.ONE)))
    with pytest.raises(UndefinedValue, match=r"point \(4,\)"):
        run(COPY).result(0, [(0, 5)])


# -- races

SUM = put(out, ir.ZERO, ir.add(at(out, ir.ZERO), at(image, x)))


def test_race_is_found_in_every_order():
    for order in (None, random.Random(1), random.Random(2)):
        for body in (put(out, ir.ZERO, Cast(INT32, x)), SUM):
            with pytest.raises(RaceError, match=r'Race on "out": in loop "f\.s0\.x"'):
                run(COPY, parallel(y, 0, 1), parallel(x, 0, 4, body), shuffle=order)


@pytest.mark.parametrize("seed", range(6))
def test_reading_what_another_iteration_writes_is_a_race(seed):
    shifted = put(g, x, ir.add(i32(1), at(g, ir.add(x, ir.ONE))))
    stmts = (Allocate(g, box(0, 5)), loop(x, 0, 5, put(g, x, at(image, ir.ZERO))), parallel(x, 0, 4, shifted))
    with pytest.raises(RaceError):
        run(*stmts, shuffle=random.Random(seed))


def test_iterations_may_overlap_when_they_write_one_value():
    tile = loop(y, 0, 3, Block((Let(v, ir.add(x, y), None), put(out, v, at(image, v)))))
    outcome = run(parallel(x, 0, 2, tile), shuffle=random.Random(3))
    assert outcome.result(0, [(0, 4)]).tolist() == [10, 11, 12, 13]
    assert outcome.overlaps == 2


def test_overlapping_updates_are_a_race():
    tile = loop(y, 0, 3, put(out, ir.add(x, y), ir.add(at(out, ir.add(x, y)), i32(1))))
    with pytest.raises(RaceError):
        run(COPY, parallel(x, 0, 2, tile))


def test_overlapping_pairs_of_writes_are_a_race():
    twice = (put(out, ir.ZERO, i32(0)), put(out, ir.ZERO, i32(5)))
    with pytest.raises(RaceError):
        run(parallel(x, 0, 2, *twice))
    assert run(parallel(x, 0, 1, *twice)).result(0, [(0, 1)]).item() == 5


def test_memory_of_one_iteration_is_its_own():
    body = (Allocate(g, box(0, 1)), put(g, ir.ZERO, at(image, x)), put(out, x, at(g, ir.ZERO)))
    assert result(parallel(x, 0, 4, *body), shuffle=random.Random(0)) == [10, 11, 12, 13]
    with pytest.raises(RaceError, match='"g"'):
        run(body[0], parallel(x, 0, 4, *body[1:]))


def test_each_execution_of_a_parallel_loop_stands_alone():
    assert result(COPY, loop(y, 0, 3, parallel(x, 0, 4, put(out, x, Cast(INT32, y))))) == [2, 2, 2, 2]
    with pytest.raises(RaceError, match=r'in loop "f\.s0\.y"'):
        run(parallel(y, 0, 3, parallel(x, 0, 4, put(out, x, Cast(INT32, y)))))


def test_vectorized_loop_runs_its_lanes_and_has_races():
    assert result(loop(x, 0, 4, put(out, x, at(image, x)), kind=LoopKind.VECTORIZED)) == [10, 11, 12, 13]
    with pytest.raises(RaceError):
        run(COPY, loop(x, 0, 4, SUM, kind=LoopKind.VECTORIZED))


# -- scopes


def test_tree_that_breaks_scoping_is_refused():
    for stmts in (
        (put(out, v, i32(0)),),
        (Block((Let(v, ir.ZERO, None),)), put(out, v, i32(0))),
        (Let(v, ir.ZERO, None), Let(v, ir.ONE, None)),
        (Let(x, ir.ZERO, None), COPY),
        (loop(x, 0, 1), put(out, x, i32(0))),
        (Allocate(g, box(0, 1)), Allocate(g, box(0, 1))),
        (put(image, ir.ZERO, i32(0)),),
        (put(out, ir.ZERO, ir.ZERO),),
        (Let(v, i32(1), None),),
        (Store("out", ir.ZERO, Load(FLOAT, "in", ir.ZERO)),),
        (put(out, ir.ZERO, ParamRef(INT32, ScalarParam("q", INT32, UNKNOWN_LOCATION))),),
    ):
        with pytest.raises(InternalError):
            run(*stmts)


def test_sibling_scopes_may_use_one_name():
    each = [Block((Let(v, i64(k), None), put(out, v, Cast(INT32, v)))) for k in range(4)]
    assert result(*each) == [0, 1, 2, 3]


# -- vectors

RAMP = Ramp(V4, ir.ZERO, ir.ONE)


def test_vectors_are_evaluated_lane_by_lane():
    i4 = INT32.with_lanes(4)
    scaled = ir.mul(Load(i4, "in", RAMP), Broadcast(i4, ParamRef(INT32, p)))
    assert result(Store("out", RAMP, scaled)) == [70, 77, 84, 91]
    reversed_lanes = Ramp(V4, i64(3), i64(-1))
    assert result(Store("out", reversed_lanes, Load(i4, "in", RAMP))) == [13, 12, 11, 10]
    chosen = Select(i4, ir.less(RAMP, Broadcast(V4, i64(2))), Load(i4, "in", RAMP), Broadcast(i4, i32(0)))
    assert result(Store("out", RAMP, chosen)) == [10, 11, 0, 0]


def test_all_lanes_are_read_before_any_is_written():
    i4 = INT32.with_lanes(4)
    moved = Ramp(V4, ir.ONE, ir.ONE)
    stmts = (AllocateFlat("g", INT32, i64(5), 5), loop(x, 0, 5, Store("g", x, Cast(INT32, x))))
    copy = Store("out", RAMP, Load(i4, "g", RAMP))
    assert result(*stmts, Store("g", moved, Load(i4, "g", RAMP)), copy) == [0, 0, 1, 2]


def test_error_values_stay_in_their_lanes():
    i4 = INT32.with_lanes(4)
    stmts = (
        AllocateFlat("g", INT32, i64(4), None),
        Store("g", ir.ONE, i32(5)),
        Let(Variable(i4, "w"), Load(i4, "g", RAMP), None),
        Store("out", RAMP, ir.add(Variable(i4, "w"), Variable(i4, "w"))),
    )
    outcome = run(*stmts)
    assert outcome.result(0, [(1, 1)]).item() == 10
    for lane in (0, 2, 3):
        with pytest.raises(UndefinedValue):
            outcome.result(0, [(lane, 1)])
    with pytest.raises(UndefinedValue, match="an address"):
        run(*stmts[:3], Store("out", Cast(V4, Variable(i4, "w")), Broadcast(i4, i32(0))))


def test_each_lane_is_checked():
    i4 = INT32.with_lanes(4)
    with pytest.raises(MemoryFault, match=r"read at \(4\)"):
        run(Store("out", RAMP, Load(i4, "in", Ramp(V4, ir.ONE, ir.ONE))))
    same_cell = Broadcast(V4, ir.ZERO)
    with pytest.raises(RaceError):
        run(Store("out", same_cell, Cast(i4, RAMP)))
    assert run(Store("out", same_cell, Broadcast(i4, i32(3)))).result(0, [(0, 1)]).item() == 3
    with pytest.raises(InternalError):
        run(Store("out", RAMP, i32(1)))


# -- bounds queries

QUERY = AnswerQuery(
    (
        (image, (Interval(ir.sub(BufferField(INT64, out, Field.MIN, 0), ir.ONE), i64(6)),)),
        (out, (Interval(BufferField(INT64, out, Field.MIN, 0), i64(8)),)),
    )
)


def test_query_is_answered_for_buffers_without_memory():
    never = Assert(ir.FALSE, Failure.ASSERTION, ("no",))
    assert run(QUERY, never, given=None, outputs=[((5, 1),)]).regions == (((4, 6),), None, None, ((5, 8),))
    assert run(QUERY, never, outputs=[((5, 1),)]).regions == (None, None, None, ((5, 8),))
    assert run(QUERY, COPY).regions is None
    with pytest.raises(AssertionFailure, match="fit int32"):
        run(QUERY, outputs=[(((1 << 31) - 3, 1),)])


# -- pipelines


def test_pipeline_has_its_result_after_every_pass():
    a, b = hl.Var("a"), hl.Var("b")
    source = hl.ImageParam(hl.UInt(8), 2, "source")
    source.set(hl.Buffer(np.random.default_rng(3).integers(0, 256, (20, 24)).astype(np.uint8)))
    row, blur = hl.Func("row"), hl.Func("blur")
    clamped = hl.BoundaryConditions.repeat_edge(source)
    row[a, b] = hl.u16(clamped[a - 1, b]) + clamped[a, b] + clamped[a + 1, b]
    blur[a, b] = hl.u8((row[a, b - 1] + row[a, b] + row[a, b + 1]) // 9)
    xo, yo, xi, yi = map(hl.Var, ("xo", "yo", "xi", "yi"))
    blur.tile(a, b, xo, yo, xi, yi, 8, 4, hl.TailStrategy.ShiftInwards).vectorize(xi).parallel(yo)
    row.compute_at(blur, xo).vectorize(a, 4)
    window = [(0, 21), (-2, 15)]
    outcomes = run_passes(blur, window, rng=random.Random(5))
    expected = blur.evaluate(window)
    assert next(iter(outcomes)) == "fill" and len(outcomes) > 4
    for name, outcome in outcomes.items():
        assert np.array_equal(outcome.result(0, window), expected), name
        assert outcome.overlaps > 0, "shifted tiles overlap"
    (only,) = run_program(blur, window, after="flatten").values()
    assert np.array_equal(only, expected)


def test_stuck_states_are_errors_of_the_project():
    assert issubclass(StuckError, hl.HalideError)
    assert len({AssertionFailure, RDomFailure, MemoryFault, UndefinedValue, RaceError}) == 5
