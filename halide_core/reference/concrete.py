"""The value of an expression for given values of its leaves, by the executable semantics of values.

In: an expression and a number for each leaf. Out: its value; LookupError where a leaf has none, or a promise is broken.

    evaluate(x + 1 < n, {x: 3, n: 4})   ->   False

A counterexample that a solver finds is worth reporting only if this agrees that it is one.
"""

from __future__ import annotations

from collections.abc import Mapping

from halide_core import ir
from halide_core.errors import InternalError
from halide_core.ir import ExprNode
from halide_core.ir.visitor import parts, subexpressions
from halide_core.reference.scalar_ops import Value, binary_function, call_function, cast_function, logical_not, select


def evaluate(e: ExprNode, leaves: Mapping[ExprNode, Value]) -> Value:
    """See the module's docstring. Raises: LookupError."""
    known: dict[ExprNode, Value] = {}
    for node in subexpressions([e]):
        given = leaves.get(node)
        known[node] = given if given is not None else _apply(node, [known[p] for p in parts(node)])
    return known[e]


def _apply(e: ExprNode, args: list[Value]) -> Value:
    match e:
        case ir.IntImm(value=value):
            return value
        case ir.FloatImm():
            return e.value
        case ir.Binary(op=op, a=a):
            result: Value = binary_function(op, a.type)(*args)
            return result
        case ir.Not():
            return logical_not(*args)
        case ir.Select():
            return select(*args)
        case ir.Print():
            return args[0]
        case ir.Cast(type=type, a=a):
            converted: Value = cast_function(a.type, type)(*args)
            return converted
        case ir.Promise():
            promised, low, high = args
            if not low <= promised <= high:
                raise LookupError(f"{e!r} is broken")
            return promised
        case ir.Call(function=function):
            called: Value = call_function(function, e.args[0].type, e.type)(*args)
            return called
        case ir.Variable() | ir.ParamRef() | ir.BufferField() | ir.Hole() | ir.Access():
            raise LookupError(repr(e))
    raise InternalError(f"No claim can hold {e!r}.")
