"""The values of lets in scope, by which the distance of two coordinates is known.

In: lets and loops in program order. Out: the distance of two coordinates, with lets put in where more cancels than
appears.

    let a = xo*64;  let x = a + 3    distance(x, a)  ->  3
"""

from __future__ import annotations

from halide_core.analysis.linear import Linear, difference, linear_of, to_expr
from halide_core.analysis.simplify import simplify
from halide_core.ir import ExprNode, Variable
from halide_core.ir.types import INT64
from halide_core.ir.visitor import Substitution, free_variables

_TERMS = 8
"""A let of more terms stands for itself: putting it in would make more than it cancels."""


class Lets:
    """The values of let variables. A name that is bound again, in a copy of a loop's body, has its last value; or
    none, where a loop binds it."""

    def __init__(self) -> None:
        self._values: dict[ExprNode, ExprNode] = {}
        self._forms: dict[ExprNode, Linear] = {}

    def bind(self, var: Variable, value: ExprNode) -> bool:
        """Takes in a let. Whether the variable stood for something else before."""
        known = self._values.get(var)
        self._values[var] = value
        if var.type is INT64:
            form = linear_of(value)
            if len(form.terms) <= _TERMS:
                self._forms[var] = form
            else:
                self._forms.pop(var, None)
        return known is not None and known is not value

    def release(self, var: Variable) -> bool:
        """Takes in a loop, in which its variable has no one value. Whether it stood for one before, as in a first
        iteration that is peeled off the same loop."""
        self._forms.pop(var, None)
        return self._values.pop(var, None) is not None

    def substituted(self, e: ExprNode) -> ExprNode:
        """An expression with values in place of variables, one step."""
        if self._values.keys().isdisjoint(free_variables(e)):
            return e  # and no table of all lets is made for it
        return Substitution(self._values).expr(e)

    def distance(self, a: ExprNode, b: ExprNode) -> ExprNode:
        """``a - b``, in terms of the variables' values where that is shorter."""
        plain = difference(a, b)
        expanded = self._expanded(plain)
        return simplify(to_expr(expanded if len(expanded.terms) < len(plain.terms) else plain))

    def _expanded(self, form: Linear) -> Linear:
        """Forms are kept as the lets say them, since a variable in them can be bound again: chains are short."""
        result = Linear({}, form.const)
        for atom, c in form.terms.items():
            known = self._forms.get(atom)
            result = result.plus(Linear({atom: 1}, 0) if known is None else self._expanded(known), c)
        return result
