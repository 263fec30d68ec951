"""Linear forms of index expressions: ``Σ cᵢ·aᵢ + c`` over atoms that are not sums.

In: an int64 expression. Out: its linear form, and an expression back. Sums and differences of correlated terms
cancel here, which is what keeps bounds exact.

    linear_of(2*(x + 1) - x)   ->   {x: 1}, 2
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from halide_core import ir
from halide_core.ir import Binary, BinaryOp, ExprNode, IntImm
from halide_core.ir.expr_nodes import remembered


class Linear:
    """An immutable linear form; ``terms`` maps atoms to nonzero coefficients, in a deterministic order."""

    __slots__ = ("const", "terms")

    def __init__(self, terms: Mapping[ExprNode, int], const: int) -> None:
        self.terms = terms
        self.const = const

    def plus(self, other: Linear, scale: int = 1) -> Linear:
        """``self + scale·other``."""
        if not scale:
            return self
        if not other.terms:
            return Linear(self.terms, self.const + scale * other.const)
        terms = dict(self.terms)
        _add(terms, other, scale)
        return Linear(terms, self.const + scale * other.const)

    def times(self, scale: int) -> Linear:
        """``scale·self``."""
        if scale == 0:
            return Linear({}, 0)
        return Linear({a: c * scale for a, c in self.terms.items()}, self.const * scale)

    def replacing(self, atom: ExprNode, by: Linear) -> Linear:
        """The form with an atom replaced by another form."""
        terms = dict(self.terms)
        scale = terms.pop(atom)
        _add(terms, by, scale)
        return Linear(terms, self.const + scale * by.const)

    def __repr__(self) -> str:
        return repr(to_expr(self))


def _add(terms: dict[ExprNode, int], other: Linear, scale: int) -> None:
    """Adds ``scale·other``, but for its constant, to terms that nobody else holds."""
    for atom, c in other.terms.items():
        total = terms.get(atom, 0) + scale * c
        if total:
            terms[atom] = total
        else:
            terms.pop(atom, None)


class Literal(Linear):
    """The form of a number; a class of its own, to be cheap to build and to be told apart."""

    __slots__ = ()

    def __init__(self, const: int) -> None:
        super().__init__({}, const)


def linear_of(e: ExprNode) -> Linear:
    """The linear form of an int64 expression."""
    if isinstance(e, IntImm):
        return Literal(e.value)
    form = _sum_of(e) if isinstance(e, Binary) else None
    return Linear({e: 1}, 0) if form is None else form


def atoms_of(e: ExprNode) -> Iterable[ExprNode]:
    """The atoms of an int64 expression's linear form."""
    if isinstance(e, IntImm):
        return ()
    form = _sum_of(e) if isinstance(e, Binary) else None
    return (e,) if form is None else form.terms


@remembered("_linear")
def _sum_of(e: Binary) -> Linear | None:
    """The linear form of a sum, a difference or a multiple; None for an atom, whose form would hold the atom."""
    form: Linear | None = None
    match e.op:
        case BinaryOp.ADD:
            form = linear_of(e.a).plus(linear_of(e.b))
        case BinaryOp.SUB:
            form = linear_of(e.a).plus(linear_of(e.b), -1)
        case BinaryOp.MUL:
            a, b = linear_of(e.a), linear_of(e.b)
            if not b.terms:
                form = a.times(b.const)
            elif not a.terms:
                form = b.times(a.const)
    return form


def to_expr(form: Linear) -> ExprNode:
    """The form as an expression: positive terms first, so that no unary minus is needed."""
    result: ExprNode | None = None
    for atom, c in form.terms.items():
        if c > 0:
            term = atom if c == 1 else ir.mul(atom, ir.i64(c))
            result = term if result is None else ir.add(result, term)
    if result is None:
        result = ir.i64(form.const)
        const = 0
    else:
        const = form.const
    for atom, c in form.terms.items():
        if c < 0:
            result = ir.sub(result, atom if c == -1 else ir.mul(atom, ir.i64(-c)))
    if const > 0:
        return ir.add(result, ir.i64(const))
    if const < 0:
        return ir.sub(result, ir.i64(-const))
    return result


def difference(a: ExprNode, b: ExprNode) -> Linear:
    """``a - b``."""
    return linear_of(a).plus(linear_of(b), -1)
