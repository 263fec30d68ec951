"""Terms of the solver against evaluation: for given values of its unknowns, a term has one value, the expression's."""

from __future__ import annotations

import z3

from halide_core.bounds.smt.terms import Z3Terms
from halide_core.ir import ExprNode
from halide_core.reference.concrete import evaluate


def check_term(e: ExprNode, values: dict[ExprNode, int | float]) -> None:
    """The term of an expression has its value, and no other."""
    wanted = evaluate(e, values)
    terms = Z3Terms()
    term = terms.of(e)
    solver = z3.Solver()
    solver.add(*(terms.axioms[n] for n in sorted(term.axioms)), *terms.products.exact())
    for leaf, z in terms.leaves.items():
        solver.add(z == (z3.BoolVal(bool(values[leaf])) if leaf.type.is_bool() else int(values[leaf])))
    here = z3.BoolVal(bool(wanted)) if e.type.is_bool() else z3.IntVal(int(wanted))
    solver.push()
    solver.add(term.z == here)
    assert solver.check() == z3.sat, f"{e} can't be {wanted}"
    solver.pop()
    solver.add(term.z != here)
    assert solver.check() == z3.unsat, f"{e} can be other than {wanted}"
    assert term.range[0] <= int(wanted) <= term.range[1]
