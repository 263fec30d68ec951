"""Placeholders in an expression until a definition gives them a meaning: values left undefined, and demands; random
numbers are apart (``ops.random_numbers``).

In: the values of a definition, and the values there were. Out: values without placeholders.

    f[x] = select(x < 5, 7, undef(Int(32)))  ->   f(x) = select(x < 5, 7, what the point has)
    f[x] = require(p > 0, x / p)             ->   f(x) = x / p, and p > 0 is checked when a pipeline with f starts
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

from halide_core import ir
from halide_core.algorithm.model import Function, Partial, Requirement, Tag
from halide_core.checks import shown
from halide_core.debug import deep_recursion
from halide_core.errors import DefinitionError, user_location
from halide_core.ir.types import BOOL, Type
from halide_core.ir.visitor import Rewriter, parts, subexpressions, substitute, with_parts
from halide_core.lang.coordinates import requirement, startup_value
from halide_core.lang.expr import Expr, ExprLike, Operand, as_node


class Placeholder(ir.Scalar):
    """Something that only a definition's right-hand side can hold. ``written`` is the call that made it."""

    def __init__(self, written: str, type: Type) -> None:
        self.name = written
        self.type = type


class _Undefined(Placeholder):
    pass


class _Tagged(Placeholder):
    def __init__(self, written: str, words: tuple[ir.ExprNode, ...]) -> None:
        super().__init__(written, BOOL)
        self.words = words


class _Required(Placeholder):
    def __init__(self, written: str, requirements: tuple[Requirement, ...]) -> None:
        super().__init__(written, BOOL)
        self.requirements = requirements


def require(condition: ExprLike, value: ExprLike, *message: ExprLike | str) -> Expr:
    """``value``; a run of a pipeline that needs it ends at start-up, with a message, unless the condition holds.

    Args:
        condition: known when the pipeline starts: made of numbers, Params, and the shapes of inputs, and of Funcs that
            have one definition, where their values at the point are.
        message: texts, and values that are known at start-up.

    Raises:
        DefinitionError: a condition or a value that depends on a point: no schedule may decide which points are looked
            at, so that such a condition belongs into the value, with ``select``, or into the inputs.
    """
    node, known = as_node(value), _WrittenOut()
    told = [part if isinstance(part, str) else known.operand(part) for part in message]
    required = requirement("require()", known.operand(condition), told)
    for f in known.functions:  # the requirement is about the definition that there is
        f.frozen_by = f.frozen_by or user_location()
    test = ir.ParamRef(BOOL, _Required(f"require({required.condition!r}, …)", (*known.requirements, required)))
    return Expr.of(ir.Select(node.type, test, node, node))


def memoize_tag(result: ExprLike, *tags: ExprLike) -> Expr:
    """``result``, of which a memoized Func's key holds ``tags`` in place of all that it is made of.

    It is the user's word that equal tags mean equal values: numbers that change when an input's elements do. Two
    pipelines never share what they keep, so tags are compared within one.

    Args:
        result: any value.
        tags: known when the pipeline starts; without any, ``result`` itself.

    Raises:
        DefinitionError: a tag that depends on a point.
    """
    node = as_node(result)
    words = tuple([startup_value(tag, "A tag of memoize_tag()") for tag in (tags or (result,))])
    test = ir.ParamRef(BOOL, _Tagged(f"memoize_tag({node!r}, …)", words))
    return Expr.of(ir.Select(node.type, test, node, node))


def undef(type: Type) -> Expr:
    """A value that a definition leaves as it is: an update writes nothing where its value is made of one.

    The point keeps what it has: so does one component of a Tuple, and so does one branch of a select. In a first
    definition that is what the buffer of an output has when the pipeline starts; ``realize`` with sizes starts with
    zeros, and so does a Func that is no output. What is computed of something undefined is undefined, also where it is
    read from a Func that has a first definition only. Where a coordinate of an update is undefined, nothing is written.
    """
    if not isinstance(type, Type):
        raise DefinitionError(f"undef() takes a type, not {shown(type)}.")
    return Expr.of(ir.ParamRef(type, _Undefined(f"undef({type})", type)))


def placeholder_in(exprs: Iterable[ir.ExprNode]) -> Placeholder | None:
    """The first placeholder below some expressions, if there is one."""
    return next(_placeholders(exprs), None)


def _placeholders(exprs: Iterable[ir.ExprNode]) -> Iterator[Placeholder]:
    for e in subexpressions(exprs):
        if isinstance(e, ir.ParamRef) and isinstance(e.param, Placeholder):
            yield e.param


def refuse_placeholders(
    what: str, exprs: Iterable[ir.ExprNode], accepted: Callable[[Placeholder], bool] = lambda p: False
) -> None:
    """Raises DefinitionError where expressions other than a definition's values hold a placeholder that isn't accepted
    there."""
    found = next((p for p in _placeholders(exprs) if not accepted(p)), None)
    if found is not None:
        raise DefinitionError(f"{found.name} can stand in the values of a definition only, not in {what}.")


@dataclass(frozen=True, slots=True, eq=False)
class Concrete:
    """The parts of a definition when no placeholder is left."""

    values: tuple[ir.ExprNode, ...]
    requirements: tuple[Requirement, ...] = ()
    partial: tuple[Partial, ...] = ()
    """Of a first definition that leaves something undefined: each of its values, and where it has it."""
    tags: tuple[Tag, ...] = ()


def concrete(
    own: Function,
    values: Sequence[ir.ExprNode],
    before: Sequence[ir.ExprNode] | None,
    beside: Sequence[ir.ExprNode] = (),
) -> Concrete:
    """The values of a definition without placeholders.

    Args:
        own: the Func that is defined.
        values: one for each component.
        before: what the point has before, by component; None in a first definition.
        beside: all else that the definition is made of; no tags are in there.
    """
    if placeholder_in(values) is None and not any(_leaves_points(e, own) for e in subexpressions(values)):
        return Concrete(tuple(values))
    demanded, written = _DemandedOrTagged(), values
    values = [demanded.expr(v) for v in values]
    _refuse_several_conditions(own, "values", values)
    known = [_Definedness(own).of(value) for value in values]
    result: list[ir.ExprNode] = []
    for k, (given, defined) in enumerate(known):
        old = ir.const(0, given.type) if before is None else before[k]
        result.append(given if defined is ir.TRUE else old if defined is ir.FALSE else _select(defined, given, old))
    partial = tuple([Partial(given, defined) for given, defined in known])
    if before is not None or all(p.where is ir.TRUE for p in partial):
        partial = ()
    return Concrete(tuple(result), tuple(demanded.requirements), partial, demanded.tags_of((*written, *beside)))


def coordinates_defined(own: Function, args: Sequence[ir.ExprNode]) -> tuple[tuple[ir.ExprNode, ...], ir.ExprNode]:
    """The coordinates of an update without undefined parts, and where they are defined: it writes nothing elsewhere."""
    _refuse_several_conditions(own, "coordinates", args)
    known = [_Definedness(own).of(arg) for arg in args]
    where = reduce(_both, [defined for _, defined in known], ir.TRUE)
    return tuple([given for given, _ in known]), where


def _refuse_several_conditions(own: Function, what: str, exprs: Sequence[ir.ExprNode]) -> None:
    """Refuses parts of a definition that ``undef()`` leaves undefined under conditions of their own."""
    where = [_Definedness(own, reads=False).of(e)[1] for e in exprs]
    conditions = list(dict.fromkeys(e for e in where if e is not ir.TRUE and e is not ir.FALSE))
    if len(conditions) > 1:
        told = ", ".join(f"{e!r}" for e in conditions)
        raise DefinitionError(
            f'The {what} of Func "{own.name}" at a point are undefined under different conditions: they are defined '
            f"where {told}. Several that use undef() need the same condition."
        )


def _leaves_points(e: ir.ExprNode, own: Function) -> bool:
    """True where an expression reads another Func that has points without a value."""
    read = e.callee if isinstance(e, ir.Access) else own
    return read is not own and isinstance(read, Function) and read.is_pure and read.keeps


def met(exprs: Sequence[ir.ExprNode]) -> tuple[tuple[ir.ExprNode, ...], tuple[Requirement, ...]]:
    """Expressions without requirements, and these."""
    demanded = _Demanded()
    with deep_recursion():
        return tuple(map(demanded.expr, exprs)), tuple(demanded.requirements)


def met_and_untagged(
    exprs: Sequence[ir.ExprNode],
) -> tuple[tuple[ir.ExprNode, ...], tuple[Requirement, ...], tuple[Tag, ...]]:
    """Expressions without requirements and tags, and these."""
    demanded = _DemandedOrTagged()
    with deep_recursion():
        return tuple(map(demanded.expr, exprs)), tuple(demanded.requirements), demanded.tags_of(exprs)


class _Demanded(Rewriter):
    """Takes requirements out of expressions."""

    def __init__(self) -> None:
        super().__init__()
        self.requirements: dict[Requirement, None] = {}

    def rewrite_Select(self, e: ir.Select) -> ir.ExprNode:
        """The value alone, where the condition is a requirement."""
        if isinstance(e.condition, ir.ParamRef) and isinstance(e.condition.param, _Required):
            self.requirements.update(dict.fromkeys(e.condition.param.requirements))
            return self.expr(e.a)
        return self.parts_of(e)


class _WrittenOut(_Demanded):
    """Writes the values of Funcs that have one definition out where they are read, and takes requirements out, those of
    these Funcs as well."""

    def __init__(self) -> None:
        super().__init__()
        self.functions: dict[Function, None] = {}

    def operand(self, value: ExprLike) -> ExprLike:
        """An operand, rewritten."""
        if not isinstance(value, Operand):
            return value
        with deep_recursion():
            return Expr.of(self.expr(as_node(value)))

    def rewrite_Access(self, e: ir.Access) -> ir.ExprNode:
        """The value that the definition has at the point."""
        f = e.callee
        if not isinstance(f, Function) or not f.is_pure or f.extern is not None or f.keeps:
            return self.parts_of(e)
        self.functions.setdefault(f)
        self.requirements.update(dict.fromkeys(f.definitions[0].requirements))
        at = {ir.pure_variable(name): self.expr(arg) for name, arg in zip(f.args, e.args, strict=True)}
        return self.expr(substitute(f.definitions[0].values[e.component], at))


class _DemandedOrTagged(_Demanded):
    """Takes tags out of values, too."""

    def __init__(self) -> None:
        super().__init__()
        self._tags: list[Tag] = []

    def rewrite_Select(self, e: ir.Select) -> ir.ExprNode:
        """The value alone, where the condition is a requirement or a tag."""
        if isinstance(e.condition, ir.ParamRef) and isinstance(e.condition.param, _Tagged):
            value = self.expr(e.a)
            self._tags.append(Tag(value, e.condition.param.words))
            return value
        return super().rewrite_Select(e)

    def tags_of(self, roots: Sequence[ir.ExprNode]) -> tuple[Tag, ...]:
        """The tags in expressions that were rewritten. A tag says nothing of a value that stands untagged, too: that
        depends on what is below it, and so does the whole."""
        if not self._tags:
            return ()
        untagged, waiting = set[ir.ExprNode](), list(roots)
        seen = set(waiting)
        while waiting:
            e = waiting.pop()
            below = parts(e)
            if isinstance(e, ir.Select) and isinstance(e.condition, ir.ParamRef):
                if isinstance(e.condition.param, _Tagged):
                    continue
                if isinstance(e.condition.param, _Required):
                    below = (e.a,)
            untagged.add(self.expr(e))
            waiting.extend(part for part in below if part not in seen)
            seen.update(below)
        return tuple([tag for tag in self._tags if tag.value not in untagged])


def _select(condition: ir.ExprNode, a: ir.ExprNode, b: ir.ExprNode) -> ir.ExprNode:
    return ir.Select(a.type, condition, a, b)


class _Definedness:
    """Of each expression: the same without undefined parts, and where it is defined. What is computed of something
    undefined is undefined; a select is where its chosen side is."""

    def __init__(self, own: Function, *, reads: bool = True) -> None:
        self._own = own
        self._reads = reads
        """Points of other Funcs may be undefined, too."""
        self._known: dict[ir.ExprNode, tuple[ir.ExprNode, ir.ExprNode]] = {}

    def of(self, root: ir.ExprNode) -> tuple[ir.ExprNode, ir.ExprNode]:
        for e in subexpressions([root]):
            if e not in self._known:
                self._known[e] = self._one(e)
        return self._known[root]

    def _one(self, e: ir.ExprNode) -> tuple[ir.ExprNode, ir.ExprNode]:
        if isinstance(e, ir.ParamRef) and isinstance(e.param, _Undefined):
            return ir.const(0, e.type), ir.FALSE
        known = [self._known[p] for p in parts(e)]
        where = _where_read(e) if self._reads and _leaves_points(e, self._own) else ir.TRUE
        for _, defined in known[:1] if isinstance(e, ir.Select) else known:
            where = _both(where, defined)
        if isinstance(e, ir.Select):
            (test, _), (_, a), (_, b) = known
            if a is not b:
                side = test if b is ir.FALSE and a is ir.TRUE else _select(test, a, b)
                side = ir.Not(test.type, test) if a is ir.FALSE and b is ir.TRUE else side
                where = _both(where, side)
            else:
                where = _both(where, a)
        return with_parts(e, tuple([given for given, _ in known])), where


def _where_read(e: ir.ExprNode) -> ir.ExprNode:
    """Where the point that is read has a value."""
    assert isinstance(e, ir.Access) and isinstance(e.callee, Function)
    f = e.callee
    at = {ir.pure_variable(name): arg for name, arg in zip(f.args, e.args, strict=True)}
    return substitute(f.definitions[0].partial[e.component].where, at)


def _both(a: ir.ExprNode, b: ir.ExprNode) -> ir.ExprNode:
    if a is ir.TRUE or b is ir.FALSE:
        return b
    return a if b is ir.TRUE or a is ir.FALSE else ir.conjunction(a, b)
