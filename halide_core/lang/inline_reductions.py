"""Inline reductions: a reduction as an expression, by a Func that is made for it.

In: ``sum(g[x + r.x])``. Out: a read of a new Func over the free variables, which reduces over the RDom.

    sum(g[x + r.x])   ->   sum[x],  where  sum(x) = 0;  sum(x) += g[x + r.x]
    argmin(g[r.x])    ->   (argmin[][0], argmin[][1]),  the place of the least value, and the value
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from halide_core import ir
from halide_core.algorithm.model import Function, ReductionDomain
from halide_core.algorithm.rename import UniqueNames
from halide_core.debug import deep_recursion
from halide_core.errors import DefinitionError
from halide_core.ir import BinaryOp
from halide_core.ir.types import INT32, Type
from halide_core.ir.visitor import subexpressions, substitute
from halide_core.lang.definition import define
from halide_core.lang.expr import Expr, ExprLike, as_node
from halide_core.lang.rdom import RDom
from halide_core.lang.tuple import Tuple


def _domain(name: str, rdom: RDom | None, value: ir.ExprNode) -> ReductionDomain:
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


Step: TypeAlias = Callable[["list[ir.ExprNode]", "list[ir.ExprNode]"], "list[ir.ExprNode]"]
"""From the values so far, and those of one iteration, to the values after it."""


def _reduce(
    kind: str,
    args: tuple[object, ...],
    rdom: RDom | None,
    expr: ExprLike | None,
    name: str,
    initial: Callable[[Type], int | float],
    step: Step,
    *,
    located: bool = False,
) -> Tuple:
    """The values of a new Func that reduces; ``located``: the coordinates of the domain stand before the value."""
    given, value, label = _arguments(kind, args, rdom, expr, name)
    node = as_node(value)
    domain = _domain(kind, given, node)
    # Variables, and reduction variables of RDoms around this one, are what the result depends on.
    free: dict[ir.ExprNode, None] = {}
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
    with deep_recursion():
        inner = substitute(node, {e: v for e, v in pure.items() if e is not v})
    at: list[ir.ExprNode] = [ir.RVarRef(INT32, domain, i) for i in range(len(domain.names))] if located else []
    first = [*(ir.const(0, INT32) for _ in at), ir.const(initial(node.type), node.type)]
    define(function, point, Tuple(list(map(Expr.of, first))))
    before: list[ir.ExprNode] = [ir.Access(e.type, function, point, k, ir.LAST_STAGE) for k, e in enumerate(first)]
    define(function, point, Tuple(list(map(Expr.of, step(before, [*at, inner])))))
    reads = [ir.Access(e.type, function, tuple(free), k, ir.LAST_STAGE) for k, e in enumerate(first)]
    return Tuple(list(map(Expr.of, reads)))


def _folding(op: BinaryOp) -> Step:
    return lambda before, new: [ir.binary(op, before[0], new[0])]


def _keeping(is_better: Callable[[ir.ExprNode, ir.ExprNode], ir.ExprNode]) -> Step:
    """Keeps the coordinates and the value of the first iteration of which none is better."""

    def step(before: list[ir.ExprNode], new: list[ir.ExprNode]) -> list[ir.ExprNode]:
        better = is_better(new[-1], before[-1])
        return [ir.Select(n.type, better, n, b) for n, b in zip(new, before, strict=True)]

    return step


def _greatest(type: Type) -> int | float:
    return float("inf") if type.is_float() else type.range[1]


def _least(type: Type) -> int | float:
    return -float("inf") if type.is_float() else type.range[0]


def _arguments(
    kind: str, args: tuple[object, ...], rdom: RDom | None, expr: ExprLike | None, name: str
) -> tuple[RDom | None, ExprLike, str]:
    given = [*args, *(named for named in (rdom, expr) if named is not None)]
    label = given.pop() if len(given) > 1 and isinstance(given[-1], str) else name
    domain = given.pop(0) if len(given) == 2 and isinstance(given[0], RDom) else None
    if len(given) != 1 or not isinstance(label, str) or (rdom is not None and domain is not rdom):
        raise DefinitionError(f"{kind}() takes a value: (expr), (expr, name), (rdom, expr) or (rdom, expr, name).")
    value: ExprLike = given[0]  # type: ignore[assignment]  # as_node refuses what is no operand
    return (domain if isinstance(domain, RDom) else None), value, label or kind


def sum(*args: object, rdom: RDom | None = None, expr: ExprLike | None = None, name: str = "sum") -> Expr:
    """``sum(expr)``, ``sum(rdom, expr)``, and a name: the sum over the reduction domain, in the value's type."""
    return _reduce("sum", args, rdom, expr, name, lambda type: 0, _folding(BinaryOp.ADD))[0]


def product(*args: object, rdom: RDom | None = None, expr: ExprLike | None = None, name: str = "product") -> Expr:
    """``product(expr)``, ``product(rdom, expr)``, and a name: the product, in the value's type."""
    return _reduce("product", args, rdom, expr, name, lambda type: 1, _folding(BinaryOp.MUL))[0]


def maximum(*args: object, rdom: RDom | None = None, expr: ExprLike | None = None, name: str = "maximum") -> Expr:
    """``maximum(expr)``, ``maximum(rdom, expr)``, and a name: the greatest value, or the type's least."""
    return _reduce("maximum", args, rdom, expr, name, _least, _folding(BinaryOp.MAX))[0]


def minimum(*args: object, rdom: RDom | None = None, expr: ExprLike | None = None, name: str = "minimum") -> Expr:
    """``minimum(expr)``, ``minimum(rdom, expr)``, and a name: the least value, or the type's greatest."""
    return _reduce("minimum", args, rdom, expr, name, _greatest, _folding(BinaryOp.MIN))[0]


def argmax(*args: object, rdom: RDom | None = None, expr: ExprLike | None = None, name: str = "argmax") -> Tuple:
    """``argmax(expr)``, ``argmax(rdom, expr)``, and a name: where the greatest value is, and the value.

    Returns:
        A Tuple of the RDom's coordinates, int32, the first dimension first, and the value. Of equal values the first
        in the order of the domain counts. Where none is greater than the type's least: coordinates 0, and that value.
    """
    return _reduce("argmax", args, rdom, expr, name, _least, _keeping(lambda new, old: ir.less(old, new)), located=True)


def argmin(*args: object, rdom: RDom | None = None, expr: ExprLike | None = None, name: str = "argmin") -> Tuple:
    """``argmin(expr)``, ``argmin(rdom, expr)``, and a name: where the least value is, and the value.

    Returns:
        A Tuple of the RDom's coordinates, int32, the first dimension first, and the value. Of equal values the first
        in the order of the domain counts. Where none is less than the type's greatest: coordinates 0, and that value.
    """
    return _reduce("argmin", args, rdom, expr, name, _greatest, _keeping(ir.less), located=True)
