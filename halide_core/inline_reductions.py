"""Inline reductions: a reduction as an expression, by a Func that is made for it.

In: ``sum(g[x + r.x])``. Out: a read of a new Func over the free variables, which reduces over the RDom.

    sum(g[x + r.x])   ->   sum[x],  where  sum(x) = 0;  sum(x) += g[x + r.x]
"""

from __future__ import annotations

from typing import NoReturn

from halide_core import ir
from halide_core.algorithm import Function, ReductionDomain, UniqueNames
from halide_core.debug import deep_recursion
from halide_core.definition import define
from halide_core.errors import DefinitionError
from halide_core.expr import Expr, ExprLike, as_node
from halide_core.ir import BinaryOp
from halide_core.rdom import RDom
from halide_core.types import Type
from halide_core.visit import subexpressions, substitute


def _domain(name: str, rdom: RDom | None, value: ir.Expr) -> ReductionDomain:
    if rdom is not None:
        return rdom.domain
    found: dict[ir.Domain, str] = {}
    for e in subexpressions((value,)):
        if isinstance(e, ir.RVarRef):
            found.setdefault(e.domain, e.domain.names[e.index])
    if not found:
        raise DefinitionError(f"{name}() needs a value that mentions a reduction variable, or an RDom before it.")
    if len(found) > 1:
        mixed = " and ".join(f'"{v}"' for v in found.values())
        raise DefinitionError(
            f"{name}() mixes the reduction variables {mixed} of different RDoms. "
            f"Say which is reduced over: hl.{name}(r, value)."
        )
    domain = next(iter(found))
    assert isinstance(domain, ReductionDomain)
    return domain


def _reduce(
    kind: str, args: tuple[object, ...], name: str, op: BinaryOp, initial: int | float, type_of: Type | None = None
) -> Expr:
    rdom, value, label = _arguments(kind, args, name)
    node = as_node(value)
    domain = _domain(kind, rdom, node)
    # Variables, and reduction variables of RDoms around this one, are what the result depends on.
    free: dict[ir.Expr, None] = {}
    for e in subexpressions((node, domain.predicate)):
        if isinstance(e, ir.Variable) or (isinstance(e, ir.RVarRef) and e.domain is not domain):
            free.setdefault(e)
    names = UniqueNames([*domain.names, *(e.name for e in free if isinstance(e, ir.Variable))])
    pure = {e: e if isinstance(e, ir.Variable) else ir.pure_variable(names.fresh(repr(e))) for e in free}
    for e in subexpressions((domain.predicate,)):
        if isinstance(e, ir.RVarRef) and e.domain is not domain:
            raise DefinitionError(f'The predicate of the RDom of {kind}() depends on "{e!r}" of another RDom.')
    function = Function(label)
    point = tuple(pure.values())
    define(function, point, Expr.of(ir.const(initial, node.type)))
    with deep_recursion():
        inner = substitute(node, {e: v for e, v in pure.items() if e is not v})
    before = ir.Access(node.type, function, point, 0, ir.LAST_STAGE)
    define(function, point, Expr.of(ir.binary(op, before, inner)))
    return Expr.of(ir.Access(node.type, function, tuple(free), 0, ir.LAST_STAGE))


def _arguments(kind: str, args: tuple[object, ...], name: str) -> tuple[RDom | None, ExprLike, str]:
    given = list(args)
    label = given.pop() if len(given) > 1 and isinstance(given[-1], str) else name
    rdom = given.pop(0) if len(given) == 2 and isinstance(given[0], RDom) else None
    if len(given) != 1 or not isinstance(label, str):
        raise DefinitionError(f"{kind}() takes (value), (value, name), (rdom, value) or (rdom, value, name).")
    value: ExprLike = given[0]  # type: ignore[assignment]  # as_node refuses what is no operand
    return (rdom if isinstance(rdom, RDom) else None), value, label or kind


def _type(kind: str, args: tuple[object, ...]) -> Type:
    """The type of the value among the arguments of a reduction."""
    return as_node(_arguments(kind, args, "")[1]).type


def sum(*args: object, name: str = "sum") -> Expr:
    """``sum(value)``, ``sum(rdom, value)``, and a name: the sum over the reduction domain, in the value's type."""
    return _reduce("sum", args, name, BinaryOp.ADD, 0)


def product(*args: object, name: str = "product") -> Expr:
    """``product(value)``, ``product(rdom, value)``, and a name: the product, in the value's type."""
    return _reduce("product", args, name, BinaryOp.MUL, 1)


def maximum(*args: object, name: str = "maximum") -> Expr:
    """``maximum(value)``, ``maximum(rdom, value)``, and a name: the greatest value, or the type's least."""
    type = _type("maximum", args)
    return _reduce("maximum", args, name, BinaryOp.MAX, -float("inf") if type.is_float() else type.range[0])


def minimum(*args: object, name: str = "minimum") -> Expr:
    """``minimum(value)``, ``minimum(rdom, value)``, and a name: the least value, or the type's greatest."""
    type = _type("minimum", args)
    return _reduce("minimum", args, name, BinaryOp.MIN, float("inf") if type.is_float() else type.range[1])


def argmax(*args: object, name: str = "argmax") -> NoReturn:
    """Not available yet: its result is a Tuple."""
    raise DefinitionError("argmax() is not available yet: its result is a Tuple.")


def argmin(*args: object, name: str = "argmin") -> NoReturn:
    """Not available yet: its result is a Tuple."""
    raise DefinitionError("argmin() is not available yet: its result is a Tuple.")
