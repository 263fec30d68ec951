"""The tables of the grammar: they know every node, and each rule refuses a node that breaks it."""

from __future__ import annotations

import pytest

from halide_core import ir
from halide_core.algorithm.model import Function, Image, ScalarParam
from halide_core.errors import UNKNOWN_LOCATION, InternalError
from halide_core.ir import BinaryOp, ExprNode, Failure, Field, Interval, Intrinsic, LoopKind, LoopName, Stmt, expr_nodes
from halide_core.ir import stmt_nodes as s
from halide_core.ir.debug_files import DebugFile, FileFormat
from halide_core.ir.grammar import RULES, SIGNATURES, STANDS, Form
from halide_core.ir.memory import Layout, PrefetchBoundStrategy
from halide_core.ir.types import BOOL, INT32, INT64, BFloat, Bool, Float, Int, UInt
from halide_core.ir.verify import PipelineArguments, verify

F32 = Float(32)
x = ir.index_variable("x")
wide = ir.Variable(Int(32, 4), "wide")
out = Function("out", ("x",), (INT32,))
image = Image("in", INT32, 1, UNKNOWN_LOCATION)
p = ScalarParam("p", INT32, UNKNOWN_LOCATION)
ALL = Interval(ir.ZERO, ir.i64(8))
ODD = Interval(ir.ZERO, ir.ParamRef(INT32, p))
LANES = ir.Ramp(Int(64, 4), ir.ZERO, ir.ONE)
FILE = DebugFile("f.npy", FileFormat.NPY)
NAME = LoopName("out", 0, 0, "x")
k, half = ir.const(3, INT32), ir.const(0.5, F32)
h16 = ir.const(0.5, Float(16))

BROKEN: dict[str, ExprNode | Stmt] = {
    "a literal is a number of its scalar integer type": ir.IntImm(UInt(8), 256),
    "a float's pattern has as many bits as its scalar type": ir.FloatImm(INT32, 0),
    "a parameter has the type that it was made with": ir.ParamRef(INT64, p),
    "a buffer's field is an int64, or what users see of it, an int32": ir.BufferField(F32, image, Field.MIN, 0),
    "a buffer's field is of one of its dimensions": ir.BufferField(INT64, image, Field.MIN, 1),
    "a hole is an index": ir.Hole(INT32, ir.HoleKind.MEM, out, 0, 0, 0, ir.End.MIN),
    "a hole is of one of its Func's dimensions": ir.Hole(INT64, ir.HoleKind.MEM, out, 0, 0, 1, ir.End.MIN),
    "the operator is defined on its operands' types": ir.Binary(INT32, BinaryOp.ADD, k, half),
    "an operator's type is that of its operands, and a comparison's is bool": ir.Binary(INT32, BinaryOp.LT, k, k),
    "what is negated is a truth value": ir.Not(INT32, k),
    "the condition is a truth value, of as many lanes as the choices": ir.Select(INT32, k, k, k),
    "both choices have the type of the select": ir.Select(INT32, ir.TRUE, k, half),
    "a conversion keeps the lanes": ir.Cast(Float(32, 4), k),
    "a function has arguments of its signature": ir.Call(F32, Intrinsic.SQRT, (k,)),
    "a promise is of integers of one type": ir.Promise(INT32, k, k, ir.ZERO, UNKNOWN_LOCATION),
    "what is printed beside a value leaves its type": ir.Print(INT64, k, ir.TRUE, ()),
    "what decides whether something is printed is a truth value": ir.Print(INT32, k, k, ()),
    "what is printed are scalars": ir.Print(INT32, k, ir.TRUE, ("is", LANES)),
    "an event leaves a value as it is, and tells of scalars, of its place or of none": ir.Event(
        INT32, k, ir.TRUE, ("End", x), ir.EventCode.END_PIPELINE, "f", False, 0, ""
    ),
    "a point has a coordinate for each dimension": ir.Access(INT32, image, (x, x), 0, ir.LAST_STAGE),
    "a coordinate is an index": ir.Access(INT32, image, (k,), 0, ir.LAST_STAGE),
    "an access has the type of the component that it reads": ir.Access(F32, image, (x,), 0, ir.LAST_STAGE),
    "an access reads a stage, or the last one": ir.Access(INT32, image, (x,), 0, -2),
    "a load's index is an index for each lane": ir.Load(Int(32, 4), "in", ir.ZERO),
    "a ramp has lanes": ir.Ramp(INT64, ir.ZERO, ir.ONE),
    "a ramp's start and step are integers of its element's type": ir.Ramp(Int(64, 4), ir.ZERO, k),
    "what is spread over lanes is one value of their type": ir.Broadcast(Int(32, 4), ir.ZERO),
    "a slice is of a vector variable, and has its elements' type": ir.Slice(Int(64, 2), LANES, 0),
    "a slice lies inside its vector": ir.Slice(Int(32, 2), wide, 3),
    "a variable has the type of its value": s.Let(x, k, None),
    "what is known of a let's range are indices": s.Let(x, ir.ZERO, ODD),
    "memory has an interval of indices for each dimension": s.Allocate(out, (ODD,)),
    "folds are indices, one a dimension where there are any": s.Allocate(out, (ALL,), (k,)),
    "a layout orders each dimension once": s.Allocate(out, (ALL,), (), Layout((1,), (1,), (0,))),
    "what is computed has an interval of indices for each dimension, where it is kept": s.Allocate(
        out, (ALL,), computed=(ODD,)
    ),
    "a loop's variable is an index": s.For(NAME, ir.pure_variable("x"), ALL, LoopKind.SERIAL, True, s.NOTHING),
    "a loop's bounds are indices": s.For(NAME, x, ODD, LoopKind.SERIAL, True, s.NOTHING),
    "what decides a branch is one truth value": s.If(k, s.NOTHING, None),
    "what is checked is one truth value": s.Assert(k, Failure.ASSERTION, ()),
    "a check's message shows scalars": s.Assert(ir.TRUE, Failure.ASSERTION, (LANES,)),
    "a point that is written has a coordinate for each dimension": s.Provide(out, 0, (), (k,)),
    "a coordinate that is written is an index": s.Provide(out, 0, (k,), (k,)),
    "a point gets a value of each of its Func's types": s.Provide(out, 0, (x,), (half,)),
    "a region has an interval of indices for each dimension": s.AnswerQuery(((image, ()),)),
    "what a file shows has an interval for each dimension": s.WriteFile(out, FILE, ()),
    "the distances between shown points are indices": s.WriteFile(out, FILE, (ALL,), (k,)),
    "a prefetch's distance is an index": s.PrefetchRegion(out, x, k, PrefetchBoundStrategy.Clamp),
    "what is prefetched has an interval for each dimension": s.PrefetchRegion(
        out, x, ir.ONE, PrefetchBoundStrategy.Clamp, ()
    ),
    "a prefetched line has an index": s.PrefetchLine("in", k, True),
    "flat memory holds scalars": s.AllocateFlat("f", Int(32, 4), ir.ONE, None),
    "the size of flat memory is an index": s.AllocateFlat("f", INT32, k, None),
    "a store's index is an index for each lane": s.Store("out", LANES, k),
    "a key is made of scalars": s.Remember(out, (LANES,), None, None, s.NOTHING),
    "what is remembered goes by a number, and has a size that is an index": s.Remember(
        out, (k,), half, None, s.NOTHING
    ),
    "a semaphore's first count is not negative": s.Fork(s.NOTHING, s.NOTHING, (("f.filled", -1),)),
    "the number of lanes that do something is an index": s.FirstLanes(k, s.NOTHING),
    "lanes that do nothing are left out of dense stores": s.FirstLanes(ir.ONE, s.Store("out", ir.ZERO, k)),
    "a point of a Tuple has several values": s.Stores((s.Store("out", ir.ZERO, k),)),
}
"""Of each rule a node that breaks it, and no rule before it."""


def test_tables_know_every_node() -> None:
    exprs = {
        c for c in vars(expr_nodes).values() if isinstance(c, type) and issubclass(c, ExprNode) and c is not ExprNode
    }
    stmts = {c for c in vars(s).values() if isinstance(c, type) and issubclass(c, Stmt) and c is not Stmt}
    assert exprs | (stmts - {s.For}) | set(LoopKind) == STANDS.keys()
    assert RULES.keys() <= exprs | stmts
    free = {ir.Variable, ir.RVarRef, s.Block, s.Label, s.Acquire, s.Release}
    """Nodes of which nothing is to be said: any type goes with any of their fields."""
    assert RULES.keys() == (exprs | stmts) - free
    assert SIGNATURES.keys() == set(Intrinsic)


def test_each_rule_has_a_node_that_breaks_it() -> None:
    assert list(BROKEN) == [rule.says for rules in RULES.values() for rule in rules]


@pytest.mark.parametrize("says", BROKEN)
def test_rule_is_broken(says: str) -> None:
    node = BROKEN[says]
    is_value = isinstance(node, ExprNode)
    tree = s.Assert(ir.Binary(BOOL, BinaryOp.EQ, node, node), Failure.ASSERTION, ()) if is_value else node
    with pytest.raises(InternalError) as raised:
        verify(tree, Form.VECTORS, PipelineArguments((image,), (out,), (p,)).uses(), "the pass")
    assert raised.value.message.startswith(f'After "the pass", a rule of the IR is broken: {says}.\n  ')


@pytest.mark.parametrize(
    ("op", "a", "b"),
    [
        (BinaryOp.ADD, h16, h16),  # floats of 16 bits are stored and converted
        (BinaryOp.LT, h16, h16),
        (BinaryOp.AND, k, k),
        (BinaryOp.BIT_AND, half, half),
        (BinaryOp.SHL, half, half),
        (BinaryOp.SHL, k, ir.ZERO),
        (BinaryOp.MIN, k, wide),
    ],
)
def test_operator_is_not_defined(op: BinaryOp, a: ExprNode, b: ExprNode) -> None:
    node = ir.binary(op, a, b)
    assert not RULES[ir.Binary][0].holds(node)


@pytest.mark.parametrize(
    "node",
    [
        ir.binary(BinaryOp.SHL, k, ir.const(1, UInt(32))),
        ir.binary(BinaryOp.BIT_XOR, ir.TRUE, ir.FALSE),
        ir.binary(BinaryOp.AND, ir.Broadcast(Bool(4), ir.TRUE), ir.Broadcast(Bool(4), ir.TRUE)),
        ir.Call(UInt(32), Intrinsic.ABS, (k,)),
        ir.Call(F32, Intrinsic.FMA, (half, half, half)),
        ir.Call(INT32, Intrinsic.REINTERPRET, (half,)),
        ir.Call(UInt(16), Intrinsic.REINTERPRET, (ir.const(1.0, BFloat(16)),)),
        ir.Call(BOOL, Intrinsic.IS_NAN, (half,)),
        ir.Slice(INT32, wide, 3),
    ],
)
def test_types_that_go_together(node: ExprNode) -> None:
    assert all(rule.holds(node) for rule in RULES[type(node)])


@pytest.mark.parametrize(
    "node",
    [
        ir.Call(INT32, Intrinsic.ABS, (k,)),
        ir.Call(F32, Intrinsic.POW, (half,)),
        ir.Call(F32, Intrinsic.SQRT, (half, half)),
        ir.Call(Float(64), Intrinsic.EXP, (half,)),
        ir.Call(Float(16), Intrinsic.FLOOR, (h16,)),
        ir.Call(INT64, Intrinsic.REINTERPRET, (half,)),
        ir.Call(F32, Intrinsic.IS_NAN, (half,)),
        ir.Call(F32, Intrinsic.ROUNDING_HALVING_ADD, (half, half)),
        ir.Call(Float(32, 4), Intrinsic.REINTERPRET, (k,)),
    ],
)
def test_function_is_not_defined(node: ir.Call) -> None:
    assert not RULES[ir.Call][0].holds(node)
