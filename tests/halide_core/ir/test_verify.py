"""The verifier of the IR: what is in scope, what may stand in which form of a tree, and whom it blames."""

from __future__ import annotations

import gc
import weakref

import pytest

from halide_core import ir
from halide_core.algorithm.model import Function, Image, ScalarParam
from halide_core.errors import UNKNOWN_LOCATION, InternalError
from halide_core.ir import (
    NOTHING,
    Access,
    Acquire,
    Allocate,
    AllocateFlat,
    Assert,
    Block,
    BufferField,
    Cast,
    ExprNode,
    Failure,
    Field,
    For,
    Fork,
    Interval,
    Label,
    Let,
    Load,
    LoopKind,
    LoopName,
    ParamRef,
    PrefetchLine,
    Provide,
    Release,
    Stmt,
    Store,
    Variable,
    i64,
    verify,
)
from halide_core.ir.grammar import STANDS, Form
from halide_core.ir.types import INT32, INT64, Float, Int
from halide_core.ir.verify import PipelineArguments

x, n = ir.index_variable("x"), ir.index_variable("n")
out, g = (Function(name, ("x",), (INT32,)) for name in ("out", "g"))
image = Image("in", INT32, 1, UNKNOWN_LOCATION)
p = ScalarParam("p", INT32, UNKNOWN_LOCATION)
GIVEN = PipelineArguments((image,), (out,), (p,)).uses()
ALL = Interval(ir.ZERO, i64(8))
BOUND = Let(n, i64(8), None)


def loop(body: Stmt, kind: LoopKind = LoopKind.SERIAL, name: str = "x") -> For:
    """A loop around a statement."""
    return For(LoopName("out", 0, 0, name), x, ALL, kind, True, body)


def at(callee: ir.Callee, index: ExprNode = ir.ZERO) -> ExprNode:
    """A point that is read."""
    return Access(INT32, callee, (index,), 0, ir.LAST_STAGE)


def written(value: ExprNode, index: ExprNode = ir.ZERO, func: Function = out) -> Provide:
    """A point that is written."""
    return Provide(func, 0, (index,), (value,))


def stored(value: ExprNode, index: ExprNode = ir.ZERO, buffer: str = "out") -> Store:
    """An element that is written."""
    return Store(buffer, index, value)


def loaded(buffer: str, type: ir.Type = INT32) -> ExprNode:
    """An element that is read."""
    return Load(type, buffer, ir.ZERO)


def told(stmt: Stmt, form: Form) -> str:
    """The verifier's message about a tree that breaks a rule."""
    with pytest.raises(InternalError) as raised:
        verify.verify(stmt, form, GIVEN, "a pass")
    return raised.value.message


three = ir.const(3, INT32)
SOUND = [
    (Form.POINTS, Block((BOUND, loop(written(Cast(INT32, n), x))))),
    (Form.POINTS, Block((Allocate(g, (ALL,)), Label(g, None, written(at(image), func=g)), written(at(g))))),
    (Form.POINTS, Block((loop(written(three, x)), loop(written(three, x))))),
    (Form.POINTS, Block((Block((BOUND, written(three, n))), Block((BOUND, written(three, n)))))),
    (Form.POINTS, written(ParamRef(INT32, p), BufferField(INT64, out, Field.MIN, 0))),
    (Form.FLAT, Block((AllocateFlat("g", INT32, i64(8), 8), stored(loaded("in"), buffer="g"), stored(loaded("g"))))),
    (Form.FLAT, PrefetchLine("in", ir.ZERO, False)),
]


@pytest.mark.parametrize(("form", "stmt"), SOUND)
def test_sound_tree_is_accepted(form: Form, stmt: Stmt) -> None:
    verify.verify(stmt, form, GIVEN, "a pass")


@pytest.mark.parametrize(
    ("stmt", "form", "rule", "line"),
    [
        (written(three, x), Form.POINTS, f'{verify.BOUND_BEFORE_USE}; "x" is not in scope', "out[x] = 3"),
        (Block((loop(written(three, x)), written(three, x))), Form.POINTS, verify.BOUND_BEFORE_USE, "  out[x] = 3"),
        (Block((written(three, n), BOUND)), Form.POINTS, verify.BOUND_BEFORE_USE, "out[n] = 3"),
        (Block((BOUND, written(three, Variable(INT64, "m")))), Form.POINTS, verify.BOUND_BEFORE_USE, "out[m] = 3"),
        (loop(loop(written(three, x), name="y")), Form.POINTS, verify.BOUND_ONCE, "for x [out.s0.x]"),
        (Block((BOUND, BOUND)), Form.POINTS, verify.BOUND_ONCE, "let n = 8"),
        (Block((Let(x, i64(1), None), loop(written(three)))), Form.POINTS, verify.BOUND_ONCE, "let x = 1"),
        (Block((Allocate(g, (ALL,)), Allocate(g, (ALL,)))), Form.POINTS, verify.BOUND_ONCE, "allocate g"),
        (written(at(g)), Form.POINTS, verify.READ_WHERE_ALLOCATED, "out[0] = g[0]"),
        (stored(loaded("g")), Form.FLAT, verify.READ_WHERE_ALLOCATED, "out[0] = g[0]"),
        (stored(Cast(INT32, loaded("in", Float(32)))), Form.FLAT, verify.READ_WHERE_ALLOCATED, "out[0] = "),
        (PrefetchLine("g", ir.ZERO, True), Form.FLAT, verify.READ_WHERE_ALLOCATED, "g"),
        (written(three, func=g), Form.POINTS, verify.WRITTEN_WHERE_ALLOCATED, "g[0] = 3"),
        (stored(three, buffer="in"), Form.FLAT, verify.WRITTEN_WHERE_ALLOCATED, "in[0] = 3"),
        (stored(ir.const(1.5, Float(32))), Form.FLAT, verify.WRITTEN_WHERE_ALLOCATED, "out[0] = 1.5"),
        (Label(g, None, written(three)), Form.POINTS, verify.WRITTEN_WHERE_ALLOCATED, "label g"),
        (
            written(three, BufferField(INT64, g, Field.MIN, 0)),
            Form.POINTS,
            verify.SHAPE_OF_ARGUMENTS,
            "out[",
        ),
        (
            written(ParamRef(INT32, ScalarParam("q", INT32, UNKNOWN_LOCATION))),
            Form.POINTS,
            f'{verify.PARAMETER_IS_ARGUMENT}; "q" is not in scope',
            "out[0] = q",
        ),
        (Acquire("g.filled"), Form.POINTS, f'{verify.SEMAPHORE_OF_FORK}; "g.filled" is not in scope', "acquire"),
        (Fork(NOTHING, Release("g.free"), (("g.filled", 0),)), Form.FLAT, verify.SEMAPHORE_OF_FORK, "release g.free"),
        (Block((loop(written(three, x)), loop(written(three, x)))), Form.HOLES, verify.LOOPS_ARE_NAMED_APART, "for "),
    ],
)
def test_broken_scope_is_told(stmt: Stmt, form: Form, rule: str, line: str) -> None:
    text = told(stmt, form)
    assert f'After "a pass", a rule of the IR is broken: {rule}' in text
    assert line in text.partition("\n")[2]


def test_node_stands_outside_its_forms() -> None:
    for node, stands, form in [
        (written(three), "node Provide may stand in a tree of forms HOLES to UNROLLED, not FLAT", Form.FLAT),
        (stored(three), "node Store may stand in a tree of forms FLAT to VECTORS, not POINTS", Form.POINTS),
        (loop(stored(three), LoopKind.UNROLLED), "a loop of kind unrolled may stand in a tree of forms", Form.FLAT),
        (loop(stored(three), LoopKind.VECTORIZED), "a loop of kind vectorized may stand in a tree", Form.VECTORS),
    ]:
        assert stands in told(node, form)


def test_expression_stands_outside_its_forms() -> None:
    text = told(Block((Let(n, i64(1), None), stored(at(image)))), Form.FLAT)
    assert "node Access may stand in a tree of forms HOLES to UNROLLED, not FLAT" in text
    assert text.endswith("in[0]\n  in: out[0] = in[0]")
    domain = ir.Domain()
    domain.names = ("r",)
    check = Assert(ir.less(ir.RVarRef(INT32, domain, 0), three), Failure.ASSERTION, ())
    assert "node RVarRef may stand in no tree" in told(check, Form.POINTS)


def test_lanes_come_last() -> None:
    wide = Variable(Int(64, 4), "wide")
    tree = Block((Let(wide, ir.binary(ir.BinaryOp.ADD, wide, wide), None),))
    assert "a value of several lanes may stand in a tree of form VECTORS, not FLAT" in told(tree, Form.FLAT)


def test_each_form_has_nodes_of_its_own() -> None:
    spans = {span for span in STANDS.values() if span is not None}
    for form in Form:
        assert any(form in span for span in spans), "a form in which no node begins or ends is none"


def test_what_is_known_of_a_node_goes_with_it() -> None:
    value = ir.add(ir.const(1234567, INT32), ir.const(7654321, INT32))
    statement = written(value)
    gone = [weakref.ref(value), weakref.ref(statement)]
    verify.verify(statement, Form.POINTS, GIVEN, "a pass")
    assert statement in verify._known_stmts
    del value, statement
    gc.collect()
    assert [each() for each in gone] == [None, None]
