"""Integers with a meaning of their own: coordinates, and start-up expressions (definition 2.9).

In: what the user wrote in ``f[…]`` or as a bound, an extent, a factor. Out: int32 IR nodes, or an error.

    coordinates('Func "f"', 2, (x, 1.5))   ->   TypeMismatchError: argument 2 of Func "f" is a float32 …
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from halide_core import ir
from halide_core.algorithm.constant_overflow import refuse_constant_overflow
from halide_core.algorithm.float_arithmetic import through_float32
from halide_core.algorithm.model import Image, Requirement, ScalarParam
from halide_core.checks import shown
from halide_core.errors import DefinitionError, HalideError, TypeMismatchError
from halide_core.ir.types import INT32, Float
from halide_core.ir.visitor import subexpressions
from halide_core.lang.arguments.implicit import expanded
from halide_core.lang.expr import Expr, ExprLike, as_node

Coordinates: TypeAlias = "ExprLike | Sequence[ExprLike]"


def as_tuple(index: Coordinates) -> tuple[ExprLike, ...]:
    """The coordinates in ``f[index]``; a list of them stands for a tuple, as in Halide."""
    return tuple(index) if isinstance(index, Sequence) else (index,)


def as_int32(node: ir.ExprNode) -> ir.ExprNode | None:
    """The node as an int32; None where that can't hold its type."""
    if isinstance(node, ir.IntImm):
        return ir.const(node.value, INT32) if INT32.can_represent(node.value) else None
    return ir.cast(INT32, node) if node.type.is_integer() and INT32.can_represent(node.type) else None


def check_arity(what: str, dimensions: int, given: int, error: type[DefinitionError] = DefinitionError) -> None:
    """Raises an error unless ``given`` coordinates are as many as there are dimensions."""
    if given != dimensions:
        s = "" if dimensions == 1 else "s"
        raise error(f"{what} has {dimensions} dimension{s}, but is used with {given}.")


def coordinates(what: str, args: Sequence[ExprLike]) -> tuple[ir.ExprNode, ...]:
    """The coordinates of a point as int32 nodes; types that int32 can't hold need an explicit cast, as in Halide."""
    nodes: list[ir.ExprNode] = []
    for i, arg in enumerate(args):
        node = as_node(arg)
        fitting = as_int32(node)
        if fitting is None:
            raise TypeMismatchError(
                f"Implicit cast from {node.type} to int in argument {i + 1} of {what}, {node!r}: a coordinate is an "
                f"int32. Convert it with hl.i32(…)."
            )
        nodes.append(fitting)
    return tuple(nodes)


def image_access(image: Image, args: Sequence[ExprLike]) -> Expr:
    """An input at a point."""
    what = f'Input "{image.name}"'
    args = expanded(what, args, image.dimensions)
    check_arity(what, image.dimensions, len(args))
    return Expr.of(ir.Access(image.types[0], image, coordinates(what, args), 0, ir.LAST_STAGE))


def startup(value: ExprLike, what: str, error: type[HalideError] = DefinitionError) -> ir.ExprNode:
    """An int32 that is known when the pipeline starts: made of numbers, Params, and the shapes of inputs.

    Raises:
        error: a float, a constant that is no int32, a variable, or a Func or input read at a point.
    """
    try:
        node = as_node(value)
    except TypeMismatchError as wrong:
        raise error(f"{what} must be an integer, not {shown(value)}.") from wrong
    if not node.type.is_integer() or node.type.is_bool():
        raise error(f"{what} must be an integer, not {shown(node)} of {node.type}.")
    fitting = as_int32(node)
    if fitting is None and isinstance(node, ir.IntImm):
        raise error(f"{what} must be an int32, not {node.value}.")
    _require_startup(node, what, error)
    refuse_constant_overflow([node])
    return through_float32(fitting if fitting is not None else ir.cast(INT32, node))


def startup_value(value: ExprLike, what: str, error: type[HalideError] = DefinitionError) -> ir.ExprNode:
    """A value of any type that is known when the pipeline starts.

    Raises:
        error: no number, a variable, or a Func or input read at a point.
    """
    try:
        node = as_node(value)
    except TypeMismatchError as wrong:
        raise error(f"{what} must be a number or a text, not {shown(value)}.") from wrong
    _require_startup(node, what, error)
    return through_float32(ir.cast(Float(32), node) if node.type.is_narrow_float() else node)


def startup_condition(value: ExprLike, what: str, error: type[HalideError]) -> ir.ExprNode:
    """A truth value that is known when the pipeline starts.

    Raises:
        error: another type, a variable, or a Func or input read at a point.
    """
    if isinstance(value, bool):
        return ir.TRUE if value else ir.FALSE
    try:
        node = as_node(value)
    except TypeMismatchError as wrong:
        raise error(f"{what} must be a condition, not {shown(value)}.") from wrong
    if not node.type.is_bool():
        raise error(f"{what} must be a condition, not {shown(node)} of {node.type}.")
    _require_startup(node, what, error)
    return through_float32(node)


def requirement(what: str, condition: ExprLike, told: Sequence[ExprLike | str]) -> Requirement:
    """A condition that a run must meet, with texts and values that say what it does not meet.

    Raises:
        DefinitionError: the condition, or a value, is not known when the pipeline starts.
    """
    test = startup_condition(condition, f"The condition of {what}", DefinitionError)
    message: list[str | ir.ExprNode] = ["Requirement Failed: (false)"]
    for part in told or (repr(test),):
        message += [" ", part if isinstance(part, str) else startup_value(part, f"A value of {what}")]
    return Requirement(test, tuple(message))


def _require_startup(node: ir.ExprNode, what: str, error: type[HalideError]) -> None:
    for e in subexpressions((node,)):
        match e:
            case ir.Variable(name=name):
                reason = f'the variable "{name}"'
            case ir.RVarRef(domain=domain, index=index):
                reason = f'the reduction variable "{domain.names[index]}"'
            case ir.ParamRef(param=param) if not isinstance(param, ScalarParam):
                reason = param.name
            case ir.Access(callee=callee):
                reason = f'a point of "{callee.name}"'
            case _:
                continue
        raise error(
            f"{what}, {node!r}, depends on {reason}. It must be known when the pipeline starts: "
            f"only numbers, Params and the shapes of inputs can be in it."
        )


def constant(node: ir.ExprNode) -> int | float | None:
    """The number that a literal is, or None."""
    return node.value if isinstance(node, ir.IntImm | ir.FloatImm) else None
