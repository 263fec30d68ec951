"""Reduction variables that keep iterations apart: two that differ in one touch no common point of the Func.

In: an update. Out: those of its domain's variables of which linear arithmetic shows it. Loops over them are as good as
pure ones: they run in any order, or at once.

    f[r.x, r.y] = f[r.x, r.y - 1]           ->   r.x      (r.y does not: one iteration reads what another writes)
    f[2*r.x + 1] = f[2*r.x]                 ->   r.x      (odd points are never even)
    f[4*r.x + r.y] = …  over r.y in (0, 4)  ->   r.x, r.y
    f[r.x, r.t] = f[r.x + 1, r.t - 1]       ->   r.x where r.t is fixed: a step in time
    f[r.x] = f[63 - r.x]  over r.x in (0, 32)  ->   r.x     (the other half is only read)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import gcd

from halide_core.algorithm.model import Function
from halide_core.analysis.constant_ranges import ConstantRanges
from halide_core.analysis.index import TargetExprs, stage_variables, startup_index
from halide_core.analysis.interval import Range
from halide_core.analysis.linear import Linear, linear_of
from halide_core.analysis.simplify import simplify
from halide_core.ir import Access, ExprNode, IntImm, RVarRef
from halide_core.ir.types import INT32
from halide_core.ir.visitor import accesses_to, subexpressions

_Reach = Mapping[ExprNode, int | None]
"""The greatest distance of two values of each reduction variable; None where only a run knows."""


def variables_apart(func: Function, stage: int, fixed: frozenset[str] = frozenset()) -> frozenset[str]:
    """The names of the variables, of one stage of a Func; between iterations that have the same values of those that
    are ``fixed``, as those of one iteration of loops further out have.

    At different pure coordinates no two iterations touch one point (syntactic separation), so that those of two
    iterations are taken to be the same.
    """
    definition = func.definitions[stage]
    domain = definition.domain
    if domain is None:
        return frozenset()
    variables = stage_variables(func, stage)
    indices = TargetExprs(variables)
    reach: dict[ExprNode, int | None] = {}
    spans: dict[ExprNode, Range] = {}
    for i, bounds in enumerate(domain.bounds):
        length = simplify(startup_index(bounds.len))
        most = max(length.value - 1, 0) if isinstance(length, IntImm) else None
        var = variables[RVarRef(INT32, domain, i)]
        if most is not None:
            first = ConstantRanges().of(startup_index(bounds.min))
            spans[var] = (first[0], first[1] + most)
        if domain.names[i] not in fixed:
            reach[var] = most
    ranges = ConstantRanges(spans)
    written = [linear_of(simplify(indices.index(arg))) for arg in definition.args]
    touched = {definition.args: written}
    for e in accesses_to(func, definition.exprs()):
        touched.setdefault(e.args, [linear_of(simplify(indices.index(arg))) for arg in e.args])
    # Iterations that differ in a variable found before do not meet: those that might have the same value of it.
    found: dict[ExprNode, None] = {}
    waiting, before = list(reach), -1
    while len(found) > before:
        before = len(found)
        free = {v: most for v, most in reach.items() if v not in found}
        near = [point for point in touched.values() if not _lie_apart(written, point, free, ranges)]
        apart = [v for v in waiting if all(_never_meet(v, written, point, free) for point in near)]
        found |= dict.fromkeys(apart)
        waiting = [v for v in waiting if v not in found]
    names = [name for name in domain.names if name not in fixed]
    return frozenset(name for name, var in zip(names, reach, strict=True) if var in found)


def _never_meet(var: ExprNode, a: Sequence[Linear], b: Sequence[Linear], reach: _Reach) -> bool:
    """True where the points of two iterations that differ in a variable differ in some dimension, always the same
    one."""
    return any(_never_equal(var, p, q, reach) for p, q in zip(a, b, strict=True))


def _never_equal(var: ExprNode, p: Linear, q: Linear, reach: _Reach) -> bool:
    """True where a coordinate of one iteration is never that of another with another value of ``var``.

    Where both have ``c`` times the variable, their difference is ``c·d`` and a rest, ``d`` being how much later it is.
    """
    rest = _Rest.of(var, p, q, reach)
    if rest is None:
        return False
    c, other = p.terms.get(var, 0), q.terms.get(var, 0)
    common = gcd(c, other, rest.step)
    if rest.const % common if common else rest.const:
        return True  # no whole numbers make up the constant
    if not c or other != c:
        return False
    if rest.most is not None and rest.most < abs(c):
        return True  # the next value is further off than all else can make up for
    most = reach[var]
    return most is not None and all(abs(d) > most for d in _solutions(c, rest))


def _lie_apart(a: Sequence[Linear], b: Sequence[Linear], reach: _Reach, ranges: ConstantRanges) -> bool:
    """True where no point of one iteration is one of another, or of itself: some coordinate never is the other."""
    for p, q in zip(a, b, strict=True):
        low, high = _difference(p, q, reach, ranges)
        if low > 0 or high < 0:
            return True
    return False


def _difference(p: Linear, q: Linear, reach: _Reach, ranges: ConstantRanges) -> Range:
    """The range of one coordinate in one iteration minus another in another."""
    low: float = p.const - q.const
    high = low
    for atom in dict.fromkeys((*p.terms, *q.terms)):
        a, b = p.terms.get(atom, 0), q.terms.get(atom, 0)
        most = reach.get(atom)
        if _is_fixed(atom, reach):
            terms = [_scaled(ranges.of(atom), a - b)]
        elif a == b and most is not None:
            terms = [_scaled((-most, most), a)]
        else:
            terms = [_scaled(ranges.of(atom), a), _scaled(ranges.of(atom), -b)]
        low += sum(term[0] for term in terms)
        high += sum(term[1] for term in terms)
    return (low, high)


def _scaled(of: Range, by: int) -> Range:
    if not by:
        return (0, 0)
    return (of[0] * by, of[1] * by) if by > 0 else (of[1] * by, of[0] * by)


def _solutions(c: int, rest: _Rest) -> Iterator[int]:
    """The nearest ``d`` on both sides of 0, and not 0, for which ``c·d + const`` is a multiple of ``step``."""
    if not rest.step:  # c divides the constant: that was asked before
        first = -rest.const // c
        if first:
            yield first
        return
    common = gcd(c, rest.step)
    period = rest.step // common
    first = (-rest.const // common) * pow(c // common, -1, period) % period
    yield first or period
    yield first - period


class _Rest:
    """The rest of the difference of two coordinates besides one variable: ``const`` plus multiples of ``step`` (0 for
    none), its absolute value being at most ``most``."""

    def __init__(self, const: int, step: int, most: int | None) -> None:
        self.const = const
        self.step = step
        self.most = most

    @classmethod
    def of(cls, var: ExprNode, p: Linear, q: Linear, reach: _Reach) -> _Rest | None:
        """None where it is no linear form of the domain's variables."""
        const, step, spread = p.const - q.const, 0, 0
        bounded = True
        for atom in dict.fromkeys((*p.terms, *q.terms)):
            a, b = p.terms.get(atom, 0), q.terms.get(atom, 0)
            if atom is var:
                continue
            if atom in reach:
                most = reach[atom]
                step = gcd(step, a, b)
                if a == b and most is not None:
                    spread += abs(a) * most
                else:
                    bounded = False
            elif a != b or not _is_fixed(atom, reach):
                return None
        return cls(const, step, abs(const) + spread if bounded else None)


def _is_fixed(atom: ExprNode, reach: _Reach) -> bool:
    """True where a term is the same in all iterations at the same pure coordinates: it has no reduction variable, and
    reads no memory, which iterations may write."""
    return not any(e in reach or isinstance(e, Access) for e in subexpressions([atom]))
