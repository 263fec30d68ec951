"""Every operator and function is whole: it has types, a meaning, and C for scalars and lanes. What a new one lacks is
told by name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import pytest

from halide_core import ir
from halide_core.errors import InternalError
from halide_core.ir import BinaryOp, ExprNode, Intrinsic
from halide_core.ir.grammar import RULES, SIGNATURES
from halide_core.ir.types import BOOL, INT32, Float, Type, UInt
from halide_core.lowering.module import Lowered
from halide_core.reference import scalar_ops
from halide_core.runtime.codegen.unit import emit_c
from tests.support.emitted import image, input_buffer, output_buffer

TYPES = (BOOL, INT32, UInt(8), UInt(32), Float(32), Float(64))
LANES = 4


def well_typed(op: BinaryOp | Intrinsic) -> Iterator[ExprNode]:
    """The operator on loads of each type that the grammar allows."""
    for type, result in product(TYPES, TYPES):
        load = ir.Load(type, f"in_{type}", ir.ZERO)
        node: ExprNode
        if isinstance(op, BinaryOp):
            node = ir.Binary(result, op, load, load)
        else:
            node = ir.Call(result, op, (load,) * SIGNATURES[op][0] if op in SIGNATURES else (load,))
        if all(rule.holds(node) for rule in RULES[node.__class__]):
            yield node


def wide(e: ExprNode) -> ExprNode:
    """The same for lanes."""
    type = e.type.with_lanes(LANES)
    match e:
        case ir.Load():
            return ir.Load(type, e.buffer, ir.Ramp(ir.INT64.with_lanes(LANES), ir.ZERO, ir.ONE))
        case ir.Binary():
            return ir.Binary(type, e.op, wide(e.a), wide(e.b))
        case ir.Call():
            return ir.Call(type, e.function, tuple(map(wide, e.args)))
    raise AssertionError(e)


def emitted(e: ExprNode, index: ExprNode) -> str:
    """The C of a pipeline that stores an expression."""
    types: list[Type] = list(TYPES)
    arguments = [input_buffer(image(f"in_{type}", type)) for type in types]
    arguments.append(output_buffer(image("out", e.type.element_of())))
    return emit_c(Lowered("operator", tuple(arguments), ir.Store("out", index, e)))


def lacks(op: BinaryOp | Intrinsic) -> list[str]:
    """The lacks of an operator, in words."""
    nodes = list(well_typed(op))
    if not nodes:
        return [f"{op.name} is defined on no type: ir.grammar"]
    found = []
    for node in nodes:
        try:
            if isinstance(node, ir.Binary):
                scalar_ops.binary_function(node.op, node.a.type)
            elif isinstance(node, ir.Call):
                scalar_ops.call_function(node.function, node.args[0].type, node.type)
        except (InternalError, KeyError):
            found.append(f"{op.name} has no meaning on {node!r}: reference.scalar_ops")
        try:
            assert emitted(node, ir.ZERO)
            assert emitted(wide(node), ir.Ramp(ir.INT64.with_lanes(LANES), ir.ZERO, ir.ONE))
        except (InternalError, KeyError):
            found.append(f"{op.name} has no C for {node!r}: runtime.codegen.expr")
    return found


@pytest.mark.parametrize("op", [*BinaryOp, *Intrinsic])
def test_operator_lacks_nothing(op: BinaryOp | Intrinsic) -> None:
    assert lacks(op) == []


def test_missing_c_is_told_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(lowered: Lowered) -> str:
        raise InternalError(f"{lowered.name} has no C.")

    monkeypatch.setattr(f"{__name__}.emit_c", refuse)
    assert "MAX has no C for max(in_int32[0], in_int32[0]): runtime.codegen.expr" in lacks(BinaryOp.MAX)


def test_what_an_operator_lacks_is_told_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(op: BinaryOp, type: Type) -> None:
        raise InternalError(f'The operator "{op.value}" is not defined on {type}.')

    monkeypatch.setattr(scalar_ops, "binary_function", missing)
    assert "SHL has no meaning on in_int32[0] << in_int32[0]: reference.scalar_ops" in lacks(BinaryOp.SHL)
    monkeypatch.setitem(SIGNATURES, Intrinsic.POW, (1, lambda *_: False))  # type: ignore[arg-type]  # as above
    assert lacks(Intrinsic.POW) == ["POW is defined on no type: ir.grammar"]
