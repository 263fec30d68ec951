"""Survivors that were looked at, each with the reason why no judge can, or need, see it.

In: nothing. Out: EXPLAINED: the reason for a file and function, a line of it, and that line as the mutant has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from tests.campaigns.mutate.mutant import Key


class Reason(Enum):
    """Why a mutant survives."""

    EQUIVALENT = "equivalent"
    """The program does the same for every input."""
    LIMIT = "limit"
    """It moves a limit that trades time for exactness or size, and that could as well be the other number."""


@dataclass(frozen=True, slots=True)
class Survivor:
    """Why no judge sees it."""

    reason: Reason
    why: str


def _same(why: str) -> Survivor:
    return Survivor(Reason.EQUIVALENT, why)


EXPLAINED: dict[Key, Survivor] = {
    (
        "bounds/smt/terms.py:Z3Terms._leaf",
        "self._fresh += 1",
        'term = Term(boolean(f"b!{self._fresh}", self._context), TRUTH, frozenset())',
    ): _same("names only have to differ, and each still has a number of its own."),
    (
        "bounds/verify/from_query.py:_QueryClaims._function",
        "for stage in range(last, -1, -1):",
        "for stage in range(last, -0, -1):",
    ): _same("a pure definition doesn't read its own Func: the first stage has no such clauses."),
    (
        "bounds/verify/program.py:program_claims",
        "walked.run(tree)",
        "claims = walked.claims",
    ): _same("`claims` is the list itself, which `run` fills; it is read after both."),
    (
        "lowering/interpreter/writes.py:FlatWrite.__init__",
        'self._lanes = Races(ir.LoopName(stmt.buffer, 0, 0, "lanes")) if code.lanes > 1 else None',
        'self._lanes = Races(ir.LoopName(stmt.buffer, 0, 0, "lanes")) if code.lanes > 0 else None',
    ): _same("a single lane meets no other; asking it only takes longer."),
    (
        "lowering/interpreter/code.py:Coder.code",
        "lanes = max([e.type.lanes() for e in (*strict, *roots)], default=1)",
        "lanes = min([e.type.lanes() for e in (*strict, *roots)], default=1)",
    ): _same("the index and the value of a store have as many lanes, which is checked; all else is of one lane."),
    (
        "lowering/interpreter/memory_model.py:Memory.position",
        "return index if 0 <= index < self.size else OUTSIDE",
        "return index if -1 <= index < self.size else OUTSIDE",
    ): _same("OUTSIDE is -1."),
    (
        "bounds/smt/prover.py:Prover._exact",
        'solver.set("random_seed", 0)',
        "say(solver, self._growing, *facts, *self._terms.products.exact())",
    ): _same("nothing is solved in between, and z3 reads the seed when it solves."),
    (
        "bounds/smt/z3_api.py:new_solver",
        'solver.set("random_seed", 0, "arith.solver", arithmetic.value, "arith.nl", False)',
        'solver.set("random_seed", -1, "arith.solver", arithmetic.value, "arith.nl", False)',
    ): Survivor(Reason.LIMIT, "any seed is as good, and each is the same in every process."),
    (
        "lowering/interpreter/code.py:Code.run",
        "if self.lanes == 1:",
        "if self.lanes == 0:",
    ): _same("the way for several lanes gives the same for one; this one is quicker."),
    (
        "bounds/engines/polyhedral.py:_Question._end",
        "if same and known is not None and _nodes(known) <= _SHORT:",
        "if same and _nodes(known) <= _SHORT:",
    ): _same("`same` has it that one is known; the type checker is told again."),
    (
        "bounds/smt/formulas.py:<module>",
        "_INT64 = range(-(1 << 63), 1 << 63)",
        "_INT64 = range(-(0 << 63), 1 << 63)",
    ): _same("what fits no int64 is made another way, of its digits: the same number, only not as quickly."),
    (
        "bounds/smt/products.py:Products.of",
        "self._about[min(axioms)] = (m, x, y)",
        "self._about[max(axioms)] = (m, x, y)",
    ): _same("the axioms of a product have numbers of their own and are told together: any of them stands for it."),
    (
        "scheduling/phase0/wrappers.py:wrap_calls",
        "_wrap(algorithm, f, given)",
        "f.directives = [d for d in f.directives if d not in given]",
    ): _same("what wraps reads the directives that it is given, and where it refuses, nothing of this is kept."),
}
