"""Survivors that were looked at, each with the reason why no judge can, or need, see it.

In: nothing. Out: EXPLAINED: the reason for a file and function, a line of it, and that line as the mutant has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tests.mutate.mutant import Key


class Reason(Enum):
    """Why a mutant survives."""

    EQUIVALENT = "equivalent"
    """The program does the same for every input."""
    LIMIT = "limit"
    """It moves a limit that trades time for exactness or size, and that could as well be the other number."""
    TWICE = "checked twice"
    """Something else catches what this would have."""
    TEXT = "text"
    """Only what people read changes."""


@dataclass(frozen=True, slots=True)
class Survivor:
    """Why no judge sees it."""

    reason: Reason
    why: str


def _same(why: str) -> Survivor:
    return Survivor(Reason.EQUIVALENT, why)


EXPLAINED: dict[Key, Survivor] = {
    (
        "bounds/extents.py:_Climb._define",
        "self._conditions.meet(ir.less_equal(first, value))",
        "self._conditions.meet(ir.less_equal(value, last))",
    ): _same("of a variable the one gives a lower bound, the other an upper one, and these are lists of their own."),
    (
        "bounds/conditions.py:Conditions.meet",
        "self.meet(Not(condition.type, a))",
        "self.meet(Not(condition.type, b))",
    ): _same("both are met; the bounds that they give are joined by min and max, which have no order."),
    (
        "bounds/claims_program.py:program_claims",
        "walked.run(tree)",
        "claims = walked.claims",
    ): _same("`claims` is the list itself, which `run` fills; it is read after both."),
    (
        "lowering/interpreter.py:_Machine.__init__",
        "self._allocations[callee] = (allocation, 0)",
        "self._allocations.update({a.name: (allocation, k) for k, (a, _) in enumerate(components)})",
    ): _same("the keys differ, a callee and its buffers' names, and nothing asks for the order of keys."),
    (
        "lowering/partition.py:_Steady.look",
        "self._lets[var] = self._steady[value]",
        "self._steady[var] = self._steady[value] if value.type is INT64 else var",
    ): _same("a let's value is not the variable that it binds: both read the entry of `value`."),
    (
        "bounds/solver.py:Prover._exact",
        'solver.set("random_seed", 0)',
        "solver.add(*facts, *self._terms.exact_products())",
    ): _same("nothing is solved in between, and z3 reads the seed when it solves."),
    (
        "lowering/interpreter_code.py:Code.run",
        "if self.lanes == 1:",
        "if self.lanes == 0:",
    ): _same("the way for several lanes gives the same for one; this one is quicker."),
    (
        "bounds/polyhedral.py:_Question.answer",
        "if forks([*asked, *(part for row in self._rows for part in row.exprs())]) > self._limits.forks:",
        "if forks([*asked, *(part for row in self._rows for part in row.exprs())]) >= self._limits.forks:",
    ): Survivor(Reason.LIMIT, "isl is asked of expressions with one fork less; intervals answer either way."),
}
