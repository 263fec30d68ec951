"""Updates that give values to several points at once: ``gather`` and ``scatter``.

In: the coordinates and the values of an update, some of them lists. Out: those of an update over one more reduction
variable, whose iterations read all that they read before any of them writes.

    f[scatter([a, b])] = gather([v, w])   ->   f(select(i == 0, a, b)) <- select(i == 0, v, w), i in [0, 2) at once
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from halide_core import ir
from halide_core.algorithm.model import ReductionDomain
from halide_core.algorithm.rename import Renamed, UniqueNames
from halide_core.algorithm.wellformed import domain_of
from halide_core.errors import DefinitionError, TypeMismatchError, user_location
from halide_core.ir import ExprNode, Interval
from halide_core.ir.types import INT32
from halide_core.ir.visitor import Substitution, subexpressions
from halide_core.lang.expr import Expr, ExprLike, as_node, is_plain, matched, promoted
from halide_core.lang.placeholders import Placeholder, placeholder_in

VARIABLE = "at_once"
"""The reduction variable that is made."""


class AtOnce(Placeholder):
    """A list of coordinates or of values, one for each of the points."""

    def __init__(self, written: str, values: tuple[ExprNode, ...]) -> None:
        super().__init__(written, values[0].type)
        self.values = values


def gather(values: Sequence[ExprLike]) -> Expr:
    """The values that an update gives to several points at once: see ``scatter``.

    Args:
        values: of one type; Python numbers take the type of the others.

    Raises:
        DefinitionError: no values.
        TypeMismatchError: values of different types.
    """
    return _listed("gather", values)


def scatter(coordinates: Sequence[ExprLike]) -> Expr:
    """The coordinates of the points that an update gives values at once.

    All that is read is read before anything is written: ``f[scatter([a, b])] = gather([f[b], f[a]])`` exchanges two
    points. What has no list counts for all of the points. Where two of them are one point, the last value stays.

    Args:
        coordinates: int32, as in ``f[…]``; as many as any other list of the definition has.

    Raises:
        DefinitionError: no coordinates.
        TypeMismatchError: coordinates of different types.
    """
    return _listed("scatter", coordinates)


def _listed(name: str, values: Sequence[ExprLike]) -> Expr:
    if not isinstance(values, list | tuple) or not values:
        raise DefinitionError(f"{name}() needs a list of at least one value.")
    types = [as_node(v).type for v in values if not is_plain(v)]
    different = next((t for t in types if t is not types[0]), None)
    if different is not None:
        raise TypeMismatchError(f"{name}() needs values of one type, not {types[0]} and {different}.")
    typed = types[0] if types else reduce(promoted, [as_node(v).type for v in values])
    nodes = tuple([matched(v, Expr.of(ir.const(0, typed)))[0] for v in values])
    within = placeholder_in(nodes)
    if within is not None:
        raise DefinitionError(f"What {name}() lists can't hold {within.name}.")
    return Expr.of(ir.ParamRef(typed, AtOnce(f"{name}([{', '.join(map(repr, nodes))}])", nodes)))


def refuse_lists(name: str, values: Sequence[ExprNode]) -> None:
    """Raises DefinitionError where a first definition holds a list: it gives each point one value."""
    for e in subexpressions(values):
        if isinstance(e, ir.ParamRef) and isinstance(e.param, AtOnce):
            raise DefinitionError(f'{e.param.name} stands in the first definition of Func "{name}": it is for updates.')


def spread(
    what: str, pure: tuple[str, ...], args: tuple[ExprNode, ...], values: tuple[ExprNode, ...]
) -> tuple[tuple[ExprNode, ...], tuple[ExprNode, ...]]:
    """The coordinates and the values of an update without lists. ``pure``: the names of its Func's dimensions.

    Raises:
        DefinitionError: lists of different lengths; reduction variables of several RDoms.
    """
    lists = {
        e: e.param
        for e in subexpressions((*args, *values))
        if isinstance(e, ir.ParamRef) and isinstance(e.param, AtOnce)
    }
    if not lists:
        return args, values
    lengths = {len(each.values) for each in lists.values()}
    if len(lengths) > 1:
        told = " and ".join(f"{len(each.values)} in {each.name}" for each in lists.values())
        raise DefinitionError(f"{what} lists different numbers of points: {told}.")
    (length,) = lengths
    listed = [v for each in lists.values() for v in each.values]
    domain, renamed = _longer(what, pure, [*args, *values, *listed], length)
    index = ir.RVarRef(INT32, domain, 0)
    chosen = {e: _choice(index, [renamed.expr(v) for v in each.values]) for e, each in lists.items()}
    written = Substitution(chosen)
    return (
        tuple([written.expr(renamed.expr(e)) for e in args]),
        tuple([written.expr(renamed.expr(e)) for e in values]),
    )


def _choice(index: ExprNode, values: Sequence[ExprNode]) -> ExprNode:
    result = values[-1]
    for i in reversed(range(len(values) - 1)):
        result = ir.Select(result.type, ir.equal(index, ir.const(i, INT32)), values[i], result)
    return result


def _longer(
    what: str, pure: tuple[str, ...], exprs: Sequence[ExprNode], length: int
) -> tuple[ReductionDomain, _Shifted]:
    """A definition's domain with one more variable, the innermost; and what renames the variables of its own."""
    own = domain_of(what, exprs)
    over = Interval(ir.const(0, INT32), ir.const(length, INT32))
    name = UniqueNames((*pure, *(() if own is None else own.names))).fresh(VARIABLE)
    if own is None:
        domain = ReductionDomain((name,), (over,), ir.TRUE, user_location(), at_once=True)
        return domain, _Shifted(None, domain)
    domain = ReductionDomain((name, *own.names), (over, *own.bounds), ir.TRUE, own.location, at_once=True)
    shifted = _Shifted(own, domain)
    domain.predicate, domain.requirements = shifted.expr(own.predicate), own.requirements
    if own.frozen_by is None:
        own.frozen_by = user_location()
    return domain, shifted


class _Shifted(Renamed):
    """Variables of a domain become those of one that has another one before them."""

    def __init__(self, own: ReductionDomain | None, longer: ReductionDomain) -> None:
        super().__init__({})
        self._own, self._longer = own, longer

    def rewrite_RVarRef(self, e: ir.RVarRef) -> ExprNode:
        """The variable of the longer domain."""
        return ir.RVarRef(e.type, self._longer, e.index + 1) if e.domain is self._own else e
