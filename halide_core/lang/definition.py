"""Adding a stage to a Func: what ``f[args] = value`` and ``f[args] += value`` do.

In: a Function, coordinates and a value. Out: a Definition appended to it, or an error and nothing changed.

    f[x] = 0;  f[r.x] = f[r.x - 1] + 1    ->   stage 0: (x) <- 0;  stage 1: r in (r.x) <- f.s0[r.x - 1] + 1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from halide_core import ir
from halide_core.algorithm.constant_overflow import refuse_constant_overflow
from halide_core.algorithm.float_arithmetic import through_float32
from halide_core.algorithm.model import Definition, Function, Partial, ReductionDomain
from halide_core.algorithm.rename import Renamed, UniqueNames
from halide_core.algorithm.wellformed import (
    check_names,
    check_pure_values,
    check_separation,
    check_shapes,
    check_update_type,
    domain_of,
    hides_all,
    ordinal,
    pure_arguments,
    reads_itself,
    types_text,
)
from halide_core.checks import shown
from halide_core.debug import deep_recursion
from halide_core.errors import (
    ArgumentTypeError,
    DefinitionError,
    HalideWarning,
    TypeMismatchError,
    user_location,
    warn_user,
)
from halide_core.ir import BinaryOp
from halide_core.ir.types import INT32, Type
from halide_core.ir.visitor import Rewriter, subexpressions
from halide_core.lang.at_once import refuse_lists, spread
from halide_core.lang.coordinates import check_arity
from halide_core.lang.expr import Expr, Operand, Var, arithmetic, as_node, is_plain, matched
from halide_core.lang.ops.random_numbers import with_random_numbers
from halide_core.lang.placeholders import concrete, coordinates_defined, met, refuse_placeholders
from halide_core.lang.tuple import several


@dataclass(frozen=True, slots=True, eq=False)
class Required:
    """The types and dimensions that ``Func(type, dimensions, name)`` promises of its definition."""

    types: tuple[Type, ...]
    dimensions: int

    def check(self, name: str, types: tuple[Type, ...], dimensions: int) -> None:
        """Refuses a definition of a Func that is not as promised."""
        if self.dimensions != dimensions:
            raise DefinitionError(
                f'Func "{name}" is constrained to have exactly {self.dimensions} dimensions, '
                f"but is defined with {dimensions} dimensions."
            )
        if self.types != types:
            raise TypeMismatchError(
                f'Func "{name}" is constrained to only hold values of type {types_text(self.types)} '
                f"but is defined with values of type {types_text(types)}."
            )


@dataclass(frozen=True, slots=True, eq=False)
class Accumulation(Operand):
    """``f[args] op= values``, or ``f[args] = f[args] op values``, on a Func that is not defined: its first definition
    is the neutral element. Anywhere else it is a value of a Func that has none."""

    function: Function
    args: tuple[ir.ExprNode, ...]
    op: BinaryOp
    values: tuple[ir.ExprNode, ...]

    def _node(self) -> ir.ExprNode:
        if _has_placeholder(self.args):
            raise undefined(self.function, self.args)
        raise ArgumentTypeError(
            f"An unevaluated reference to '{self.function.name}' is no value: it was written before Func "
            f'"{self.function.name}" was defined, and only a definition of its point takes it.'
        )


def undefined(function: Function, args: tuple[ir.ExprNode, ...]) -> DefinitionError:
    """The error of who asks for values of a Func without a definition."""
    if _has_placeholder(args):
        return DefinitionError(
            f'Func "{function.name}" is used with "_" before it is defined: its dimensions are not known.'
        )
    return DefinitionError(f'Can\'t call Func "{function.name}" because it has not yet been defined.')


def _has_placeholder(args: Sequence[ir.ExprNode]) -> bool:
    return any(isinstance(a, ir.Variable) and Var(a.name).is_placeholder() for a in args)


_NEUTRAL = {BinaryOp.ADD: 0, BinaryOp.SUB: 0, BinaryOp.MUL: 1, BinaryOp.DIV: 1}


def _value_nodes(function: Function, value: object) -> tuple[ir.ExprNode, ...]:
    """The right-hand sides; a Python number takes the type of the component that it updates."""
    values = several(value)
    if not function.definitions or len(values) != len(function.types):
        return tuple(map(as_node, values))
    return tuple([_typed(function, type, v) for type, v in zip(function.types, values, strict=True)])


def _typed(function: Function, type: Type, value: object) -> ir.ExprNode:
    if not is_plain(value):
        return as_node(value)
    if isinstance(value, int) and not type.can_represent(value):
        raise TypeMismatchError(f'{shown(value)} is not a value of {type}, the type of Func "{function.name}".')
    return matched(value, Expr.of(ir.const(0, type)))[0]


def define(function: Function, args: tuple[ir.ExprNode, ...], value: object, required: Required | None = None) -> None:
    """Adds the stage ``function[args] = value``.

    Args:
        args: int32 coordinates.
        value: an operand, a number, several of them, or an Accumulation.

    Raises:
        DefinitionError: not valid by definitions 2.7 to 2.10, or another Func uses this one already.
        TypeMismatchError: an update of other types, or of another number of values.
    """
    if isinstance(value, Accumulation):
        refuse_constant_overflow((*args, *value.values))
        _accumulate(function, args, value, required)
    elif function.definitions:
        values = _value_nodes(function, value)
        refuse_constant_overflow((*args, *values))
        _define_update(function, args, values)
    else:
        values = _value_nodes(function, value)
        refuse_constant_overflow(values)
        _define_pure(function, pure_arguments(function.name, args), values, required)


def _define_pure(
    function: Function, names: tuple[str, ...], values: tuple[ir.ExprNode, ...], required: Required | None
) -> None:
    refuse_lists(function.name, values)
    args = tuple(ir.pure_variable(n) for n in names)
    values = with_random_numbers(values, args)
    check_pure_values(function.name, names, values)
    check_shapes(function.name, values, None)
    types = tuple(v.type for v in values)
    if required is not None:
        required.check(function.name, types, len(names))
    at = user_location()
    made = concrete(function, values, None)
    function.args, function.types, function.location = names, types, at
    never = tuple([k for k, p in enumerate(made.partial) if p.where is ir.FALSE])
    given = (made.requirements, made.partial, made.tags, never)
    _append(function, Definition(args, made.values, None, ir.TRUE, at, *given))


def _define_update(function: Function, args: tuple[ir.ExprNode, ...], values: tuple[ir.ExprNode, ...]) -> None:
    name, stage = function.name, len(function.definitions)
    if function.frozen_by is not None:
        raise DefinitionError(
            f'Func "{name}" can\'t be given another update definition: it was used at {function.frozen_by}. '
            f"Write all of its updates before its first use."
        )
    what = f'{ordinal(stage).capitalize()} of Func "{name}"'
    check_arity(f'Func "{name}"', function.dimensions, len(args))
    check_update_type(function, stage, tuple(v.type for v in values))
    args, values = spread(what, function.args, args, values)
    given = domain_of(what, (*args, *values))
    check_names(function, given)
    args, values, domain = _random_numbers_given(function, args, values, given)
    args, of_args = met(args)
    args, where = coordinates_defined(function, args)
    refuse_placeholders("the coordinates of a definition", args)
    conditions = (where,) if domain is None else (where, domain.predicate)
    ends = () if domain is None else tuple(e for over in domain.bounds for e in (over.min, over.len))
    made = concrete(function, values, _before(function, args), (*args, *conditions, *ends))
    values = made.values
    demands = (*made.requirements, *of_args, *(() if given is None else given.requirements))
    exprs = (*args, *values, *conditions)
    check_shapes(name, exprs, domain)
    check_separation(function, stage, args, exprs)
    own = reads_itself(function, exprs)
    definition = Definition(args, values, domain, where, user_location(), tuple(dict.fromkeys(demands)), (), made.tags)
    _append(function, _labelled(function, stage, definition) if own else definition)
    if given is not None and given.frozen_by is None:
        given.frozen_by = definition.location
    if hides_all(function, args, domain, own):
        warn_user(
            f'{what} hides all earlier definitions of "{name}": it gives every point a value that doesn\'t depend '
            f"on them. If another Func is meant, give it a name of its own.",
            HalideWarning,
        )


def _random_numbers_given(
    function: Function,
    args: tuple[ir.ExprNode, ...],
    values: tuple[ir.ExprNode, ...],
    domain: ReductionDomain | None,
) -> tuple[tuple[ir.ExprNode, ...], tuple[ir.ExprNode, ...], ReductionDomain | None]:
    """The coordinates, the values and the domain of an update without random numbers. The user's RDom can serve other
    updates, with other coordinates: one whose predicate has random numbers is copied."""
    at = _coordinates(function, args, domain)
    args, values = with_random_numbers(args, at), with_random_numbers(values, at)
    predicate = ir.TRUE if domain is None else with_random_numbers((domain.predicate,), at)[0]
    if domain is None or predicate is domain.predicate:
        return args, values, domain
    own = ReductionDomain(domain.names, domain.bounds, ir.TRUE, domain.location, at_once=domain.at_once)
    moved = Renamed({}, {domain: own})
    with deep_recursion():
        own.predicate = moved.expr(predicate)
        return tuple(map(moved.expr, args)), tuple(map(moved.expr, values)), own


def _coordinates(
    function: Function, args: tuple[ir.ExprNode, ...], domain: ReductionDomain | None
) -> tuple[ir.ExprNode, ...]:
    """The variables of an update: the pure ones that are left, and the reduction variables."""
    pure = [a for a, n in zip(args, function.args, strict=True) if a is ir.pure_variable(n)]
    reduced = [] if domain is None else [ir.RVarRef(INT32, domain, i) for i in range(len(domain.names))]
    return (*pure, *reduced)


def _before(function: Function, args: tuple[ir.ExprNode, ...]) -> list[ir.ExprNode]:
    """The old values of an update's point, by component."""
    return [ir.Access(type, function, args, k, ir.LAST_STAGE) for k, type in enumerate(function.types)]


def _append(function: Function, definition: Definition) -> None:
    """Adds a stage; what it uses is final from here on."""
    args, values = (tuple(map(through_float32, exprs)) for exprs in (definition.args, definition.values))
    partial = tuple([Partial(through_float32(p.value), through_float32(p.where)) for p in definition.partial])
    predicate = through_float32(definition.predicate)
    definition = replace(definition, args=args, values=values, predicate=predicate, partial=partial)
    function.definitions.append(definition)
    for e in subexpressions(definition.exprs()):
        if isinstance(e, ir.Access) and isinstance(e.callee, Function) and e.callee is not function:
            freeze(e.callee, definition)


def freeze(function: Function, by: Definition | None = None) -> None:
    """Forbids further updates of a Func: ``by``, or the run at the user's line, relies on the ones it has."""
    if function.frozen_by is None:
        function.frozen_by = user_location() if by is None else by.location


class _Labelled(Rewriter):
    """Gives the accesses of one Func the stage that they mean (figure 2.7)."""

    def __init__(self, function: Function, stage: int) -> None:
        super().__init__()
        self._function = function
        self._stage = stage

    def rewrite_Access(self, e: ir.Access) -> ir.ExprNode:
        """The access with its label."""
        args = tuple([self.expr(a) for a in e.args])
        stage = self._stage if e.callee is self._function else e.stage
        return ir.Access(e.type, e.callee, args, e.component, stage)


def _labelled(function: Function, stage: int, definition: Definition) -> Definition:
    """The stage with its references to itself meaning the stage before."""
    labels = _Labelled(function, stage - 1)
    with deep_recursion():
        domain = definition.domain
        args, values = tuple(map(labels.expr, definition.args)), tuple(map(labels.expr, definition.values))
        labelled = replace(definition, args=args, values=values, predicate=labels.expr(definition.predicate))
        if domain is None or not reads_itself(function, (domain.predicate,)):
            return labelled
        # The label is this stage's own, while the user's RDom can serve other stages: this one gets a copy.
        copied = Renamed({}).definition(labelled)
        assert copied.domain is not None
        copied.domain.predicate = labels.expr(copied.domain.predicate)
        return copied


def _accumulate(
    function: Function, args: tuple[ir.ExprNode, ...], value: Accumulation, required: Required | None
) -> None:
    if value.function is not function and not value.function.definitions:
        raise DefinitionError(
            f'Can\'t call Func "{value.function.name}" because it has not yet been defined: Cannot use an unevaluated '
            f"reference to '{value.function.name}' to define an update at a different location."
        )
    if function.definitions:
        raise DefinitionError(
            f"Cannot use an unevaluated reference to '{value.function.name}' to define an update when a pure "
            f"definition already exists. This {value.op.value}= was written before: write it again."
        )
    if value.function is not function or len(args) != len(value.args) or any(map(_differ, args, value.args)):
        raise DefinitionError(
            f"Cannot use an unevaluated reference to '{value.function.name}' to define an update at a different "
            f'location. Func "{value.function.name}" is not defined, so its {value.op.value}= can only update the same '
            f"point."
        )
    domain_of(f'Func "{function.name}"', (*args, *value.values))  # first of all: the names below depend on it
    neutral = tuple(ir.const(_NEUTRAL[value.op], v.type) for v in value.values)
    before = function.location
    _define_pure(function, _implied_names(args), neutral, required)
    try:
        combined = [
            arithmetic(value.op, Expr.of(old), Expr.of(new))._node()
            for old, new in zip(_before(function, args), value.values, strict=True)
        ]
        _define_update(function, args, tuple(combined))
    except DefinitionError:
        function.definitions.clear()
        function.args, function.types, function.location = (), (), before
        raise


def _differ(a: ir.ExprNode, b: ir.ExprNode) -> bool:
    return a is not b


def _implied_names(args: Sequence[ir.ExprNode]) -> tuple[str, ...]:
    """Pure variables for ``f[args] += …`` on an undefined Func: the Vars among ``args``, and ``_1``, ``_2`` …"""
    unique = UniqueNames(a.name for a in args if isinstance(a, ir.Variable))
    names: list[str] = []
    for i, arg in enumerate(args):
        known = isinstance(arg, ir.Variable) and arg.name not in names
        names.append(arg.name if known and isinstance(arg, ir.Variable) else unique.fresh(f"_{i}"))
    return tuple(names)
