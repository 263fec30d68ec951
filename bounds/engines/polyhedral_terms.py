"""Between expressions and isl: quasi-affine expressions become piecewise affine functions of their atoms, and back.

In: int64 expressions over atoms, which are the parameters of one isl space. Out: ``isl.PwAff`` and ``isl.Set``; and of
a PwAff the shortest expression found: one form, a max or a min of forms, a clamp, or a few selects.

    max(x, 2*y) div 3   <->   [p0, p1] -> { [(floor((p0)/3))] : p0 >= 2p1; [(floor((2p1)/3))] : p0 < 2p1 }
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain

import islpy as isl

from halide_core import ir
from halide_core.analysis.linear import Linear, linear_of, to_expr
from halide_core.analysis.near import is_near
from halide_core.analysis.prover import Facts
from halide_core.analysis.simplify import Simplifier
from halide_core.bounds.engines.quasi_affine import atoms_of, compared, operands
from halide_core.ir import Binary, BinaryOp, ExprNode, IntImm, Not, Select
from halide_core.ir.types import INT64
from halide_core.ir.visitor import subexpressions


class PiecewiseTerms:
    """The atoms of some expressions, and the functions and sets that the expressions are over them.

    ``gather`` all expressions first; then ``function`` and ``holds``.
    """

    def __init__(self, context: isl.Context) -> None:
        self._context = context
        self.atoms: dict[ExprNode, int] = {}
        self._seen: set[ExprNode] = set()
        self._functions: dict[ExprNode, isl.PwAff] = {}
        self._sets: dict[ExprNode, isl.Set] = {}
        self._local: isl.LocalSpace | None = None

    # -- which atoms there are

    def gather(self, e: ExprNode) -> list[ExprNode]:
        """Takes in the atoms of an expression; gives back those that are new."""
        assert self._local is None, "atoms must be gathered before functions are built"
        found = [a for a in atoms_of(e, self._seen) if a not in self.atoms]
        for atom in found:
            self.atoms[atom] = len(self.atoms)
        return found

    def _space(self) -> isl.LocalSpace:
        if self._local is None:
            space = isl.Space.params_alloc(self._context, len(self.atoms))
            for i in range(len(self.atoms)):
                space = space.set_dim_name(isl.dim_type.param, i, f"p{i}")
            self._local = isl.LocalSpace.from_space(space)
        return self._local

    # -- expressions as functions

    def universe(self) -> isl.Set:
        """Every value of the atoms."""
        return isl.Set.universe(self._space().get_space())

    def function(self, e: ExprNode) -> isl.PwAff:
        """An int64 expression as a function of the atoms."""
        known = self._functions.get(e)
        if known is None:
            known = self._functions[e] = self._function(e)
        return known

    def _constant(self, value: int) -> isl.PwAff:
        return isl.PwAff.from_aff(isl.Aff.val_on_domain(self._space(), self._val(value)))

    def _val(self, value: int) -> isl.Val:
        return isl.Val.int_from_si(self._context, value) if abs(value) < 1 << 62 else isl.Val(str(value), self._context)

    def _function(self, e: ExprNode) -> isl.PwAff:
        if operands(e) is None:
            aff = isl.Aff.var_on_domain(self._space(), isl.dim_type.param, self.atoms[e])
            return isl.PwAff.from_aff(aff)
        match e:
            case IntImm(value=value):
                return self._constant(value)
            case Select(condition=condition, a=a, b=b):
                holds = self.holds(condition)
                there = self.function(a).intersect_domain(holds)
                return there.union_add(self.function(b).intersect_domain(holds.complement()))
            case Binary(op=BinaryOp.MUL):
                return self._product(linear_of(e.a), linear_of(e.b))
            case Binary(op=BinaryOp.DIV | BinaryOp.MOD as op, a=a, b=IntImm(value=k)):
                if k == 0:
                    return self._constant(0)
                if op is BinaryOp.MOD:
                    return self.function(a).mod_val(self._val(abs(k)))
                quotient = self.function(a).scale_down_val(self._val(abs(k))).floor()
                return quotient if k > 0 else quotient.neg()
            case Binary(op=op, a=a, b=b):
                x, y = self.function(a), self.function(b)
                return _COMBINED[op](x, y)
        raise AssertionError(f"{e} is no function of atoms")

    def _product(self, a: Linear, b: Linear) -> isl.PwAff:
        form, factor = (a, b.const) if not b.terms else (b, a.const)
        return self.function(to_expr(form)).scale_val(self._val(factor))

    def holds(self, condition: ExprNode) -> isl.Set:
        """Where a condition is true."""
        known = self._sets.get(condition)
        if known is None:
            known = self._sets[condition] = self._holds(condition)
        return known

    def _holds(self, condition: ExprNode) -> isl.Set:
        if operands(condition) is None:  # any truth value: an atom that is 0 or 1
            aff = isl.Aff.var_on_domain(self._space(), isl.dim_type.param, self.atoms[condition])
            return isl.PwAff.from_aff(aff).pos_set()
        match condition:
            case IntImm(value=value):
                return self.universe() if value else self.universe().complement()
            case Not(a=a):
                return self.holds(a).complement()
            case Binary(op=BinaryOp.AND, a=a, b=b):
                return self.holds(a).intersect(self.holds(b))
            case Binary(op=BinaryOp.OR, a=a, b=b):
                return self.holds(a).union(self.holds(b))
            case Binary(op=op, a=a, b=b):
                sides = compared(a, b)
                assert sides is not None, "not an atom"
                x, y = map(self.function, sides)
                return _TRUE_OF[op](y.sub(x))
        raise AssertionError(f"{condition} is no condition on atoms")

    # -- functions as expressions

    def expression(self, f: isl.PwAff, facts: Facts, nodes: int, pieces: int) -> ExprNode | None:
        """A function of the atoms as an expression, on the function's domain; None where that has too many nodes, or
        the function too many pieces, and where a sum in it might wrap."""
        try:
            return _TermWriter(list(self.atoms), facts, nodes, pieces).write(f)
        except _MayWrapError:
            return None


_COMBINED: dict[BinaryOp, Callable[[isl.PwAff, isl.PwAff], isl.PwAff]] = {
    BinaryOp.ADD: lambda x, y: x.add(y),
    BinaryOp.SUB: lambda x, y: x.sub(y),
    BinaryOp.MIN: lambda x, y: x.min(y),
    BinaryOp.MAX: lambda x, y: x.max(y),
}

_TRUE_OF: dict[BinaryOp, Callable[[isl.PwAff], isl.Set]] = {
    BinaryOp.LT: lambda gap: gap.pos_set(),
    BinaryOp.LE: lambda gap: gap.nonneg_set(),
    BinaryOp.EQ: lambda gap: gap.zero_set(),
    BinaryOp.NE: lambda gap: gap.non_zero_set(),
}


# ---------------------------------------------------------------------------------------------------------
# Writing expressions.


class _MayWrapError(Exception):
    """A form has a number in it that may be near the ends of int64: isl knows no ends, and writes ``min(9, p) + 7`` as
    ``min(16, p + 7)``."""


class _TermWriter:
    def __init__(self, atoms: list[ExprNode], facts: Facts, nodes: int, pieces: int) -> None:
        self._atoms = atoms
        self._simplifier = Simplifier(facts)
        self._nodes = nodes
        self._pieces = pieces

    def write(self, f: isl.PwAff) -> ExprNode | None:
        if not 0 < f.n_piece() <= 3 * self._pieces:
            return None
        pieces = _needed(f)
        if len(pieces) > self._pieces:
            return None
        affs = [aff for _, aff in pieces]
        for candidate, e in chain(self._simple(affs), self._clamps(affs)):
            if _agrees(candidate, f):
                return self._short(e())
        return self._short(self._selects(pieces))

    def _short(self, e: ExprNode) -> ExprNode | None:
        e = self._simplifier.expr(e)
        return e if sum(1 for _ in subexpressions([e])) <= self._nodes else None

    def _simple(self, affs: list[isl.Aff]) -> Iterator[tuple[isl.PwAff, Callable[[], ExprNode]]]:
        """The greatest of all forms, and the least."""
        for most in (True, False):
            yield _picked(affs, most), partial(self._pick, affs, most)

    def _clamps(self, affs: list[isl.Aff]) -> Iterator[tuple[isl.PwAff, Callable[[], ExprNode]]]:
        """One form against the greatest, or the least, of the others."""
        for i, aff in enumerate(affs):
            rest = affs[:i] + affs[i + 1 :]
            for most in (True, False):
                inner, outer = _picked(rest, not most), isl.PwAff.from_aff(aff)
                yield inner.max(outer) if most else inner.min(outer), partial(self._clamp, aff, rest, most)

    def _clamp(self, aff: isl.Aff, rest: list[isl.Aff], most: bool) -> ExprNode:
        return self._join(self._pick(rest, not most), self._form(aff), most)

    def _pick(self, affs: list[isl.Aff], most: bool) -> ExprNode:
        result = self._form(affs[0])
        for aff in affs[1:]:
            result = self._join(result, self._form(aff), most)
        return result

    def _join(self, a: ExprNode, b: ExprNode, most: bool) -> ExprNode:
        return self._simplifier.maximum(a, b) if most else self._simplifier.minimum(a, b)

    def _selects(self, pieces: list[tuple[isl.Set, isl.Aff]]) -> ExprNode:
        """The pieces one after the other; the one that is hardest to tell comes last, and needs no condition."""
        pieces = sorted(pieces, key=lambda piece: piece[0].n_basic_set())
        result = self._form(pieces[-1][1])
        rest = pieces[-1][0]
        for where, aff in reversed(pieces[:-1]):
            result = Select(INT64, self._condition(where.gist(where.union(rest))), self._form(aff), result)
            rest = rest.union(where)
        return result

    def _form(self, aff: isl.Aff) -> ExprNode:
        """An affine form, with its divisions."""
        denominator = _int(aff.get_denominator_val())
        whole = self._simplifier.expr(self._numerator(aff, denominator))
        return whole if denominator == 1 else self._simplifier.expr(ir.div(whole, ir.i64(denominator)))

    def _numerator(self, aff: isl.Aff, denominator: int) -> ExprNode:
        form = Linear({}, _scaled(aff.get_constant_val(), denominator))
        for i, atom in enumerate(self._atoms):
            c = _scaled(aff.get_coefficient_val(isl.dim_type.param, i), denominator)
            if c:
                form = form.plus(linear_of(self._value(atom)), c)
        for i in range(aff.dim(isl.dim_type.div)):
            c = _scaled(aff.get_coefficient_val(isl.dim_type.div, i), denominator)
            if c:
                form = form.plus(linear_of(self._form(aff.get_div(i))), c)
        alone = list(form.terms.values()) == [1] and not form.const
        if form.terms and not alone and not is_near(form):
            raise _MayWrapError
        return to_expr(form)

    def _value(self, atom: ExprNode) -> ExprNode:
        return atom if atom.type is INT64 else Select(INT64, atom, ir.ONE, ir.ZERO)

    def _condition(self, where: isl.Set) -> ExprNode:
        """A set as a condition: of its parts one, of each part all constraints."""
        parts = [self._all(part) for part in where.coalesce().compute_divs().get_basic_sets()]
        return _folded(BinaryOp.OR, parts, ir.FALSE)

    def _all(self, part: isl.BasicSet) -> ExprNode:
        conditions = []
        for constraint in part.remove_redundancies().get_constraints():
            form = linear_of(self._form(constraint.get_aff()))
            above = Linear({a: c for a, c in form.terms.items() if c > 0}, max(form.const, 0))
            below = Linear({a: -c for a, c in form.terms.items() if c < 0}, max(-form.const, 0))
            op = BinaryOp.EQ if constraint.is_equality() else BinaryOp.LE
            conditions.append(ir.binary(op, to_expr(below), to_expr(above)))
        return _folded(BinaryOp.AND, conditions, ir.TRUE)


def _folded(op: BinaryOp, conditions: list[ExprNode], neutral: ExprNode) -> ExprNode:
    result = neutral
    for c in conditions:
        result = c if result is neutral else ir.binary(op, result, c)
    return result


def _needed(f: isl.PwAff) -> list[tuple[isl.Set, isl.Aff]]:
    """The forms that a function consists of, each with all places where it is the function; none to spare."""
    forms: list[isl.Aff] = []
    for _, aff in f.get_pieces():
        if not any(aff.plain_is_equal(other) for other in forms):
            forms.append(aff)
    found = [(f.eq_set(isl.PwAff.from_aff(aff)).coalesce(), aff) for aff in forms]
    whole = f.domain()
    for piece in sorted(found, key=lambda piece: piece[0].n_basic_set()):
        others = [where for where, aff in found if aff is not piece[1]]
        if others and whole.is_subset(_union(others)):
            found = [other for other in found if other[1] is not piece[1]]
    return found


def _union(sets: list[isl.Set]) -> isl.Set:
    result = sets[0]
    for each in sets[1:]:
        result = result.union(each)
    return result


def _picked(affs: list[isl.Aff], most: bool) -> isl.PwAff:
    result = isl.PwAff.from_aff(affs[0])
    for aff in affs[1:]:
        other = isl.PwAff.from_aff(aff)
        result = result.max(other) if most else result.min(other)
    return result


def _agrees(candidate: isl.PwAff, f: isl.PwAff) -> bool:
    """True where a function is another on that one's domain."""
    return bool(f.is_equal(candidate.intersect_domain(f.domain())))


def _int(value: isl.Val) -> int:
    text = value.to_str()
    if text is None:  # how isl says here that it took too many steps
        raise isl.Error("a number can't be read")
    return int(text)


def _scaled(value: isl.Val, denominator: int) -> int:
    return _int(value.mul(isl.Val.int_from_si(value.get_ctx(), denominator)))
