"""Index expressions in int64: how a definition's int32 coordinates enter the target language.

In: an expression of a definition, and what its variables are called in the target language. Out: ``value(e)``,
the same value with accesses indexed in int64; ``index(e)``, the int64 number that ``e`` is as long as its int32
arithmetic does not wrap (invariant 7: indices are computed in int64).

    index(f[x + 1])   ->   int64(f[f.s0.x + 1]),  where x is f.s0.x
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from halide_core import ir
from halide_core.algorithm.model import Function, ReductionDomain
from halide_core.analysis.interval import Range, of_integers
from halide_core.analysis.value_range import ValueRanges
from halide_core.ir import (
    Access,
    Binary,
    BinaryOp,
    Cast,
    ExprNode,
    IntImm,
    LoopName,
    ParamRef,
    Promise,
    RVarRef,
    Select,
    Variable,
)
from halide_core.ir.expr_nodes import remembered
from halide_core.ir.types import INT32, INT64, UInt
from halide_core.ir.visitor import Rewriter, has

_EXACT = frozenset({BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.DIV, BinaryOp.MOD, BinaryOp.MIN, BinaryOp.MAX})


# These never leave int32 when their operands are in it (but for -2**31/-1, which is checked like a sum).
_BOUNDED = frozenset({BinaryOp.MOD, BinaryOp.MIN, BinaryOp.MAX})


_RING = frozenset({BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL})
_UINT64 = UInt(64)


def _modular(e: ExprNode) -> ExprNode:
    """An int64 value as the uint64 that is equal to it modulo 2**64."""
    if isinstance(e, IntImm):
        return ir.const(e.value, _UINT64)
    if isinstance(e, Cast) and e.a.type is _UINT64:
        return e.a
    return Cast(_UINT64, e)


@remembered("_unchecked")
def _unchecked(e: ExprNode) -> bool:
    """True where int32 arithmetic here might wrap without a start-up check noticing: its operands come from memory, or
    from a conversion that can give any int32. Such arithmetic keeps its type, and wraps as the definition says."""
    return _might_wrap(e)


def _is_settled(e: ExprNode) -> bool:
    """True where a value is the same all through a run, so that checks at its start can know it."""
    return not has(e, Variable, RVarRef, Access)


def _might_wrap(e: ExprNode) -> bool:
    match e:
        case Access():
            return e.type.bits() >= 32
        case Cast(a=inner):
            if isinstance(inner, ir.BufferField):
                return False
            return not (inner.type.is_integer() and inner.type.bits() < 32) and not _is_settled(inner)
        case Binary(op=BinaryOp.MAX, a=Binary(op=BinaryOp.MIN, b=high), b=low):
            return _unchecked(high) or _unchecked(low)  # a clamp: what it is applied to no longer matters
        case Binary(op=BinaryOp.MIN, a=Binary(op=BinaryOp.MAX, b=low), b=high):
            return _unchecked(high) or _unchecked(low)
        case Binary(op=op, a=a, b=b):
            return _unchecked(a) or _unchecked(b) if op in _EXACT else True
        case Promise(low=low, high=high):
            return _unchecked(low) or _unchecked(high)
        case Select(a=a, b=b):
            return _unchecked(a) or _unchecked(b)
        case IntImm() | Variable() | RVarRef() | ParamRef():
            return False
    return True


class _PointRanges(ValueRanges):
    """Ranges of a definition's values at the points of its domain."""

    def _compute(self, e: ExprNode) -> Range:
        if isinstance(e, RVarRef) and isinstance(e.domain, ReductionDomain):
            bounds = e.domain.bounds[e.index]
            (least, last), (_, most) = self.of(bounds.min), self.of(bounds.len)
            return (least, last + max(most, 1) - 1)
        return super()._compute(e)

    def stays(self, e: Binary) -> bool:
        """True where the exact result of an operation of signed integers is of their type, too."""
        low, high = of_integers(e.op, self.of(e.a), self.of(e.b))
        return e.type.range[0] <= low and high <= e.type.range[1]


class _Silent(Rewriter):
    """Leaves out what is printed: bounds ask for coordinates more often than a program computes them."""

    def rewrite_Print(self, e: ir.Print) -> ExprNode:
        """The value alone."""
        return self.expr(e.a)

    def rewrite_Event(self, e: ir.Event) -> ExprNode:
        """The value alone."""
        return self.expr(e.a)


def silent(e: ExprNode) -> ExprNode:
    """The expression without what it prints."""
    return _Silent().expr(e) if has(e, ir.Print) else e


class TargetExprs(Rewriter):
    """Translates the expressions of one stage. ``variables`` maps its Variables and RVarRefs to int64 ones.

    ``places``: an object of its own translates what coordinates and conditions are made of. It is known of that, and of
    nothing else, that each instance computes it from values: one whose value does not count may read what nobody wrote.
    """

    def __init__(self, variables: Mapping[ExprNode, ExprNode], *, places: bool = False) -> None:
        super().__init__()
        self._variables = variables
        self._places = self if places else TargetExprs(variables, places=True)
        self._indices: dict[ExprNode, ExprNode] = {}
        self._values = _PointRanges()

    def value(self, e: ExprNode) -> ExprNode:
        """The expression as a value, of the type it has."""
        return self.expr(e)

    def condition(self, e: ExprNode) -> ExprNode:
        """The expression as a condition of a definition, without what it prints."""
        return self._places.expr(silent(e))

    def rewrite_Variable(self, e: Variable) -> ExprNode:
        """A coordinate as the int32 that the user sees."""
        found = self._variables.get(e)
        return e if found is None else Cast(e.type, found)

    def rewrite_RVarRef(self, e: RVarRef) -> ExprNode:
        """A reduction variable as the int32 that the user sees."""
        found = self._variables.get(e)
        return e if found is None else Cast(e.type, found)

    def rewrite_Binary(self, e: Binary) -> ExprNode:
        """The user's own int64 arithmetic wraps, where index arithmetic never does: it is done in uint64, so that
        no rule about indices is ever applied to it, but in coordinates and conditions where ranges of its operands show
        that it does not."""
        a, b = self.expr(e.a), self.expr(e.b)
        if e.type is INT64 and e.op in _RING and not (self._places is self and self._values.stays(e)):
            return Cast(INT64, Binary(_UINT64, e.op, _modular(a), _modular(b)))
        return e if a is e.a and b is e.b else Binary(e.type, e.op, a, b)

    def rewrite_Access(self, e: Access) -> ExprNode:
        """An access at int64 coordinates."""
        args = tuple([self.index(a) for a in e.args])
        return Access(e.type, e.callee, args, e.component, e.stage)

    def index(self, e: ExprNode) -> ExprNode:
        """The expression as an int64 number: a coordinate, or what one is made of."""
        if self._places is not self:
            return self._places.index(e)
        known = self._indices.get(e)
        if known is None:
            known = self._indices[e] = self._index(silent(e))
        return known

    def _index(self, e: ExprNode) -> ExprNode:
        if e.type is INT64:
            return self.value(e)
        if e.type is INT32:
            match e:
                case IntImm(value=value):
                    return ir.i64(value)
                case Variable() | RVarRef():
                    return self._variables.get(e, e)
                case ParamRef():
                    return Cast(INT64, e)
                case Binary(op=op, a=a, b=b) if op in _EXACT and self._is_exact(e):
                    return Binary(INT64, op, self.index(a), self.index(b))
                case Binary(op=BinaryOp.SHL, a=a, b=IntImm(value=k)) if 0 <= k < 31 and self._is_exact(e):
                    return ir.mul(self.index(a), ir.i64(1 << k))
                case Binary(op=BinaryOp.SHR, a=a, b=IntImm(value=k)) if 0 <= k < 31:
                    return ir.div(self.index(a), ir.i64(1 << k))
                case Binary(op=BinaryOp.BIT_AND, a=a, b=IntImm(value=k)) if k >= 0 and k & (k + 1) == 0:
                    return ir.mod(self.index(a), ir.i64(k + 1))
                case Select(condition=condition, a=a, b=b):
                    return Select(INT64, self.value(condition), self.index(a), self.index(b))
                case Promise(value=value, low=low, high=high):
                    return Promise(INT64, self.index(value), self.index(low), self.index(high), e.location)
                case Cast(a=inner) if inner.type is INT64 and isinstance(inner, ir.BufferField):
                    return inner
                case Cast(a=inner) if inner.type.is_integer() and INT32.can_represent(inner.type):
                    return Cast(INT64, self.value(inner))
        return Cast(INT64, self.value(e))

    def _is_exact(self, e: Binary) -> bool:
        """True where an int32 operation never wraps, or where a start-up check sees to it."""
        return e.op in _BOUNDED or not any(map(_unchecked, (e.a, e.b))) or self._values.stays(e)


def startup_index(e: ExprNode) -> ExprNode:
    """A start-up expression (definition 2.9) as an int64 number."""
    return TargetExprs({}).index(e)


def startup_condition(e: ExprNode) -> ExprNode:
    """A start-up condition: the user's own int64 sums wrap in it."""
    return TargetExprs({}, places=True).value(e)


def exact_index(e: ExprNode, is_int32: Callable[[ExprNode], bool] | None = None) -> ExprNode | None:
    """The int64 number that a compared value is; None where its int32 arithmetic might wrap. Sums and the like are of
    numbers only where ``is_int32`` says that they are in its range."""
    return _exact(e, is_int32, {})


def _exact(
    e: ExprNode, is_int32: Callable[[ExprNode], bool] | None, known: dict[ExprNode, ExprNode | None]
) -> ExprNode | None:
    """See above. ``known``: the answers so far, as an expression may have a part in many places."""
    if e.type is INT64:
        return e
    match e:
        case IntImm(value=value):
            return ir.i64(value)
        case Cast(a=Variable() | ir.BufferField() as a) if e.type is INT32:
            return a
        case ParamRef() if e.type.is_integer() and e.type.bits() <= 32:
            return Cast(INT64, e)
        case Binary(op=op) if is_int32 is not None and e.type is INT32 and op in _EXACT:
            if e not in known:
                known[e] = _exact_binary(e, is_int32, known)
            return known[e]
    return None


def _exact_binary(
    e: Binary, is_int32: Callable[[ExprNode], bool], known: dict[ExprNode, ExprNode | None]
) -> ExprNode | None:
    if e.op in (BinaryOp.DIV, BinaryOp.MOD) and not (isinstance(e.b, IntImm) and e.b.value > 0):
        return None
    x = _exact(e.a, is_int32, known)
    y = _exact(e.b, is_int32, known) if x is not None else None
    if x is None or y is None:
        return None
    exact = Binary(INT64, e.op, x, y)
    return exact if is_int32(exact) else None


def stage_variables(f: Function, stage: int, specialization: int = 0) -> dict[ExprNode, ExprNode]:
    """The names of a stage's pure and reduction variables in the target language."""
    definition = f.definitions[stage]
    found: dict[ExprNode, ExprNode] = {}

    def loop_variable(name: str) -> ExprNode:
        return ir.index_variable(str(LoopName(f.name, stage, specialization, name)))

    for name, pure in zip(f.args, f.pure_dims(stage), strict=True):
        if pure:
            found[ir.pure_variable(name)] = loop_variable(name)
    if definition.domain is not None:
        for i, name in enumerate(definition.domain.names):
            found[RVarRef(INT32, definition.domain, i)] = loop_variable(name)
    return found
