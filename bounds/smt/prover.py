"""Claims to verdicts, by z3.

In: Claims. Out: a Result for each, in order: PROVEN without start-up checks, ASSERTED with the fewest that do, REFUTED
with a counterexample that evaluation confirms, else UNDECIDED. What a context takes from claims made before (that sizes
are numbers of int64) is taken as it stands: those have results of their own.

One solver walks from context to context, so that what claims have in common is said once; the claims of one context are
tried together first. The budget is z3's own count of steps (``rlimit``), never time: verdicts are the same everywhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import z3

from halide_core import ir
from halide_core.analysis.prune_selects import has_cases, without_idle_cases
from halide_core.bounds.smt.budget import (
    AFTER_GIVE_UP,
    AXIOM_BATCH,
    BUDGET,
    EXAMPLES,
    EXPLAINED,
    EXPLAINING,
    LAST_RESORT,
    LAST_RESORTS,
    LOST,
    MINIMIZE,
    NARROW,
    PATIENCE,
    QUICK,
    SHARES,
    SMALL,
    THOROUGH,
    TOTAL,
    Effort,
)
from halide_core.bounds.smt.by_ranges import checks_by_ranges, range_lemmas
from halide_core.bounds.smt.corners import corner_lemmas
from halide_core.bounds.smt.formulas import boolean, both, implies, opposite
from halide_core.bounds.smt.premise_selection import relevant
from halide_core.bounds.smt.terms import Z3Terms
from halide_core.bounds.smt.z3_api import Arithmetic, new_solver, number_of, say, steps_of, valued
from halide_core.bounds.verify.counterexample import confirmed
from halide_core.bounds.verify.vc import Claim, ClaimKind, Context, Counterexample, Result, Status, fails, on_the_word
from halide_core.ir import Assert, ExprNode, Promise
from halide_core.ir.logic import all_of, alternatives, any_of, negation, provable_parts

_MINIMIZED = 6
"""The most checks among which those that a claim can do without are looked for."""


@dataclass(frozen=True, slots=True, eq=False)
class SolverAnswer:
    """z3's answer to a question, and the checks and promises that an "unsat" rests on."""

    status: Any
    core: tuple[Assert, ...] = ()
    promises: tuple[Promise, ...] = ()

    @property
    def impossible(self) -> bool:
        """True where no state meets what was asked for."""
        return bool(self.status == z3.unsat)

    def proven(self, claim: Claim) -> Result:
        """A claim that holds, as its opposite is impossible."""
        status = Status.ASSUMED if self.promises else Status.ASSERTED if self.core else Status.PROVEN
        return Result(claim, status, self.core, assumptions=on_the_word(self.promises))


class Prover:
    """One solver, and the claims' unknowns in it. Variables with one name are one thing to it."""

    def __init__(
        self,
        invented: Collection[ExprNode] = (),
        ranges: Mapping[ExprNode, tuple[float, float]] | None = None,
        words: Collection[ExprNode] = (),
        budget: int = BUDGET,
        lost: int = 0,
    ) -> None:
        """
        Args:
            invented: unknowns that stand for values of Funcs, which need not be able to take every value.
            ranges: finite ranges of unknowns, for what is made of floats.
            words: unknowns that are int64 words of memory.
            budget: z3's steps for one question.
            lost: steps that other provers of one certificate have spent on claims that stayed undecided.
        """
        self._invented = invented
        self._budget = budget
        self._context = z3.Context()
        """Of its own: what z3 does depends on the numbers of its objects, and so on all that a context has seen. And
        threads can share none."""
        self._terms = Z3Terms(ranges, words, self._context)
        self._closed = Z3Terms(ranges, words, self._context)
        """Variables whose values have cases are unknowns here: many a claim holds whatever they are worth. Its names
        are those of ``_terms`` with other meanings: no solver is told of both."""
        self._solver = new_solver(self._context)
        self._stack: list[Context] = []
        self._said: list[list[int]] = [[]]
        self._told: set[int] = set()
        self._switches: dict[Assert, Any] = {}
        self._growing = boolean("products!", self._context)
        """Switches on what compares products."""
        self._switched: dict[int, Any] = {}
        """Axioms that do, under that switch."""
        self._certain: dict[ExprNode, bool | None] = {}
        """Conditions in the present context: certain, ruled out, or neither."""
        self._open: set[ExprNode] = set()
        """Conditions that states of the present context may meet, as far as the solver that walks can tell without
        checks."""
        self._stuck = 0
        """The number of times that it gave up in the present context."""
        self._failed = 0
        self._spent = 0
        self._counted = 0
        """The context's count of steps when it was last asked."""
        self._lost = lost
        self._until: int | None = None
        """The count of steps at which the claim that is worked on is given up."""
        self._resorted = 0.0
        """The milliseconds that questions about exact products have taken which got no answer."""

    @property
    def steps(self) -> int:
        """The z3 steps spent so far."""
        return self._spent

    @property
    def lost(self) -> int:
        """The steps spent on claims that stayed undecided, other provers' among them."""
        return self._lost

    def prove(self, claims: Sequence[Claim]) -> list[Result]:
        """The verdicts, in the order of the claims."""
        results: list[Result] = []
        for _, run in groupby(claims, key=lambda c: id(c.context)):
            results += [r.waived() for r in self._group(list(run))]
        return results

    def possible(self, claim: Claim) -> Result:
        """The claim that some state meets a context's facts, its start-up checks among them. Where none does, every
        claim about the context holds, and says nothing."""
        if self._left <= 0:
            return Result(claim, Status.UNDECIDED)
        self._enter(claim.context)
        checks = self._push_checks()
        answer = z3.sat if self._has_example(claim.conclusion, checks) else self._ask(claim.conclusion, checks).status
        if answer == z3.unknown:
            never = replace(claim, conclusion=negation(claim.conclusion))
            found = self._exact(never, claim.conclusion, checks).status
            answer = {Status.REFUTED: z3.sat, Status.UNDECIDED: z3.unknown}.get(found, z3.unsat)
        self._pop()
        if answer == z3.unknown:
            return Result(claim, Status.UNDECIDED)
        return Result(claim, Status.PROVEN if answer == z3.sat else Status.REFUTED)

    # -- contexts

    def _enter(self, context: Context) -> None:
        """Goes to a context: up to what it has in common with the present one, and down."""
        wanted = context.below(None)
        same = 0
        while same < min(len(wanted), len(self._stack)) and wanted[same] is self._stack[same]:
            same += 1
        if same < max(len(wanted), len(self._stack)):
            self._certain.clear()
            self._open.clear()
            self._stuck = 0
        for _ in range(len(self._stack) - same):
            self._pop()
        del self._stack[same:]
        for node in wanted[same:]:
            self._push()
            self._stack.append(node)
            if node.variable is not None:
                self._terms.define(node.variable, node.fact)
                if not has_cases(node.fact):
                    self._closed.define(node.variable, node.fact)
            elif node.check is None:
                say(self._solver, self._formula(node.fact))

    def _push(self) -> None:
        self._solver.push()
        self._said.append([])

    def _pop(self) -> None:
        self._solver.pop()
        self._told.difference_update(self._said.pop())

    def _push_checks(self) -> list[Assert]:
        """Says the start-up checks of the present context, each under a switch, until the next pop."""
        checks = []
        self._push()
        for node in self._stack:
            if node.check is not None:
                checks.append(node.check)
                switch = self._switches.setdefault(node.check, boolean(f"check!{len(self._switches)}", self._context))
                say(self._solver, implies(switch, self._formula(node.fact)))
        return checks

    def _formula(self, e: ExprNode) -> Any:
        """An expression as a z3 truth value, with what holds of its unknowns said at the present level."""
        term = self._terms.of(e)
        new = term.axioms - self._told
        for number in (*sorted(new), *self._terms.products.comparisons(new, self._told)):
            say(self._solver, self._axiom(number))
            self._said[-1].append(number)
        self._told |= new
        return term.z

    # -- questions

    def _ask(
        self, e: ExprNode, checks: Sequence[Assert] = (), *, trusting: bool = False, effort: Effort = Effort.ALL
    ) -> SolverAnswer:
        """Asks for a state of the present context that meets ``e``; ``trusting``: for one that keeps promises.

        What the solver has learned on its walk can hold it up, and of products it knows less: where it gives up, or
        finds a state of them, new ones are asked.
        """
        self._push()
        say(self._solver, self._formula(e))
        promises = self._terms.promises if trusting else {}
        switches = [*(self._switches[c] for c in checks), *promises.values()]
        solver = self._solver
        times = MINIMIZE if effort is Effort.GLANCE else AFTER_GIVE_UP if self._stuck >= PATIENCE else QUICK
        answer = self._without_and_with_growth(solver, switches, times)
        self._stuck += answer == z3.unknown and effort is not Effort.GLANCE
        rough = answer == z3.sat and effort is Effort.ALL and not self._told.isdisjoint(self._terms.axioms.growing)
        if not self._gives_up and (rough or (answer == z3.unknown and effort in (Effort.NARROW, Effort.ALL))):
            solver, answer = self._afresh(e, checks, switches, effort)
        found = self._resting(solver, checks, promises) if answer == z3.unsat and switches else SolverAnswer(answer)
        self._pop()
        return found

    def _resting(self, solver: Any, checks: Sequence[Assert], promises: Mapping[Promise, Any]) -> SolverAnswer:
        """A solver's last "unsat", and what it rests on."""
        needed = {switch.get_id() for switch in solver.unsat_core()}
        return SolverAnswer(
            z3.unsat,
            tuple(c for c in checks if self._switches[c].get_id() in needed),
            tuple(p for p, switch in promises.items() if switch.get_id() in needed),
        )

    def _afresh(self, e: ExprNode, checks: Sequence[Assert], switches: list[Any], effort: Effort) -> tuple[Any, Any]:
        """A new solver and its answer: of the facts that bear on ``e`` most, of more, of all."""
        facts = [n for n in self._stack if n.variable is None and (n.check is None or n.check in checks)]
        before = -1
        for share in SHARES if effort is Effort.NARROW else (*SHARES, 0):
            near = relevant(facts, lambda node: self._terms.depends(node.fact), self._terms.depends(e), share)
            for arithmetic in Arithmetic if len(near) > before else ():
                solver, answer = self._of_some(e, near, switches, self._terms, NARROW[arithmetic], arithmetic)
                if answer == z3.unsat or (answer == z3.sat and len(near) == len(facts)):
                    return solver, answer
                if answer == z3.sat:
                    break
            before = len(near)
        if effort is Effort.NARROW:
            return None, z3.unknown
        solver = new_solver(self._context)
        say(solver, *self._solver.assertions())
        return solver, self._without_and_with_growth(solver, switches, THOROUGH)

    def _of_some(
        self,
        e: ExprNode,
        facts: Iterable[Context],
        switches: list[Any],
        terms: Z3Terms,
        times: float,
        arithmetic: Arithmetic = Arithmetic.QUICK,
    ) -> tuple[Any, Any]:
        """A new solver, and its answer to whether a state meets ``e`` and some facts.

        What tells cases apart, and what compares products, is told only when a state that was found does not keep to
        it: most of it is never needed.
        """
        told = [terms.of(e)]
        solver = new_solver(self._context, arithmetic)
        for node in facts:
            term = terms.of(node.fact)
            say(solver, term.z if node.check is None else implies(self._switches[node.check], term.z))
            told.append(term)
        axioms = frozenset().union(*(t.axioms for t in told))
        seldom = axioms & (terms.axioms.cases | terms.axioms.growing)
        say(solver, told[0].z, *(terms.axioms[n] for n in sorted(axioms - seldom)))
        untold = [terms.axioms[n] for n in sorted(seldom)]
        before = self._spent
        while self._spent < before + times * self._budget and not self._gives_up:
            answer = self._bounded_check(solver, switches, times)
            if answer != z3.sat:
                return solver, answer
            model = solver.model()
            broken = [a for a in untold if not z3.is_true(model.eval(a, model_completion=True))][:AXIOM_BATCH]
            if not broken:
                state = valued(model)
                numbers = terms.products.broken(axioms, state, AXIOM_BATCH)
                numbers = numbers or terms.placed.broken(axioms, state, AXIOM_BATCH)
                broken = [terms.axioms[n] for n in numbers]
            if not broken:
                return solver, z3.sat
            say(solver, *broken)
            gone = {a.get_id() for a in broken}
            untold = [a for a in untold if a.get_id() not in gone]
        return solver, z3.unknown

    def _axiom(self, number: int) -> Any:
        if number not in self._terms.axioms.growing:
            return self._terms.axioms[number]
        if number not in self._switched:
            self._switched[number] = implies(self._growing, self._terms.axioms[number])
        return self._switched[number]

    def _without_and_with_growth(self, solver: Any, switches: list[Any], times: float) -> Any:
        """z3's answer where nothing compares products; failing that, where something does."""
        answer = self._bounded_check(solver, [opposite(self._growing), *switches], times)
        if answer != z3.unsat and self._terms.axioms.growing:
            answer = self._bounded_check(solver, [self._growing, *switches], times)
        return answer

    def _bounded_check(self, solver: Any, switches: list[Any], times: float = 1) -> Any:
        budget = int(self._budget * times)
        little = self._gives_up or self._spent >= TOTAL * self._budget
        solver.set("rlimit", budget // 100 if little else budget)
        answer = solver.check(*switches)
        counted = max(steps_of(solver), self._counted)
        self._spent += counted - self._counted
        self._counted = counted
        return answer

    def _last_check(self, solver: Any, switches: list[Any], times: float = 1) -> Any:
        """An answer about exact products, within the time that there is for them."""
        left = LAST_RESORTS - self._resorted
        if left < 1:
            return z3.unknown
        solver.set("timeout", int(min(LAST_RESORT, left)))
        begun = time.monotonic()
        answer = self._bounded_check(solver, switches, times)
        if answer == z3.unknown:
            self._resorted += 1000 * (time.monotonic() - begun)
        return answer

    def _group(self, claims: list[Claim]) -> list[Result]:
        """The claims of one context: together; then one by one; those that fail, with the start-up checks."""
        found = {c: r for c in claims if c.kind is ClaimKind.INT64 and (r := _by_ranges(c)) is not None}
        rest = [c for c in claims if c.conclusion is not ir.TRUE and c not in found]
        if rest:
            self._enter(rest[0].context)
            if len(rest) > 1 and self._ask(fails(rest), effort=Effort.WALK).impossible:
                rest = []
            rest = [c for c in rest if not self._holds(c)]
        if rest and self._left > 0:
            checks = self._push_checks()
            for c in rest:
                found[c] = self._checked(c, checks)
            self._pop()
        elif rest:
            found |= {c: Result(c, Status.UNDECIDED) for c in rest}
        return [found.get(c) or Result(c, Status.PROVEN) for c in claims]

    def _holds(self, claim: Claim) -> bool:
        """True where a claim is easily proven without start-up checks."""
        failing = fails([claim])
        if self._ask(failing, effort=Effort.WALK).impossible:
            return True
        self._open.add(failing)
        return False

    @property
    def _left(self) -> int:
        """The steps that there are for claims that stay undecided."""
        return LOST * self._budget - self._lost

    @property
    def _gives_up(self) -> bool:
        """True where a claim has taken all of these."""
        return self._until is not None and self._spent >= self._until

    def _checked(self, claim: Claim, checks: list[Assert]) -> Result:
        """The verdict on a claim that needs start-up checks, or much work, if it is true at all: that of the first
        strategy that has one."""
        before = self._spent
        result: Result | None = None
        for strategy in _STRATEGIES:
            self._until = before + self._left
            result = strategy(self, claim, checks)
            if result is not None:
                break
        self._until = None
        if (result is None or result.status is Status.UNDECIDED) and claim.waiver is None:
            self._lost += self._spent - before
        return result or Result(claim, Status.UNDECIDED)

    # -- strategies, each of which proves a claim, refutes it, or leaves it to the next

    def by_fewest_checks(self, claim: Claim, checks: list[Assert]) -> Result | None:
        """A proof by few start-up checks: of the whole claim where that is easy, else of each of its parts."""
        needed = self._easily(claim.conclusion, checks) if len(provable_parts(claim.conclusion)) > 1 else None
        if needed is None or len(needed) > _MINIMIZED:
            in_parts = self._part_by_part(claim.conclusion, checks)
            needed = needed if in_parts is None else in_parts
        return None if needed is None else _by_checks(claim, needed)

    def by_ends(self, claim: Claim, checks: list[Assert]) -> Result | None:
        """A proof that takes products, and what is made of floats, for unknowns between their ends."""
        lemmas = all_of([*corner_lemmas(claim), *range_lemmas(claim)])
        if lemmas is ir.TRUE:
            return None
        needed: dict[Assert, None] = {}
        for part in provable_parts(claim.conclusion):
            failing = ir.conjunction(lemmas, negation(part))
            verdict = self._ask(failing, checks)
            if not verdict.impossible:
                return None
            needed.update(dict.fromkeys(self._fewest(failing, verdict)))
        return _by_checks(claim, needed)

    def by_promises(self, claim: Claim, checks: list[Assert]) -> Result | None:
        """A proof that rests on the user's word too, where he gave it."""
        if not self._terms.promises:
            return None
        verdict = self._ask(fails([claim]), checks, trusting=True)
        return verdict.proven(claim) if verdict.impossible else None

    def by_exact_products(self, claim: Claim, checks: list[Assert]) -> Result | None:
        """The verdict where products are what they are, with a counterexample; not of many claims that fail."""
        if self._failed >= EXPLAINED:
            return None
        self._until = None  # its last try, with a budget of its own
        result = self._exact(claim, fails([claim]), checks)
        self._failed += result.status in (Status.REFUTED, Status.UNDECIDED)
        return result

    # -- proofs in parts

    def _part_by_part(
        self, e: ExprNode, checks: list[Assert], effort: Effort = Effort.ALL
    ) -> dict[Assert, None] | None:
        """The checks that a condition rests on, if each of its parts can be proven by itself; of alternatives the
        first, or all together."""
        needed: dict[Assert, None] = {}
        for part in provable_parts(e):
            if self._gives_up:
                return None
            if needed and self._ask(negation(part), list(needed), effort=Effort.GLANCE).impossible:
                continue
            more = self._easily(part, checks)
            if more is None and self._anyway(part):
                more = {}
            if more is None:
                # what is left has fewer ways to hold: its proof is one of the part
                part = any_of(filter(self._conceivable, alternatives(without_idle_cases(part, self._decide))))
                first, *others = alternatives(part)
                more = self._part_by_part(first, checks, Effort.NARROW) if others else None
            if more is None:
                verdict = self._ask(negation(part), checks, effort=effort)
                if not verdict.impossible:
                    return None
                more = dict.fromkeys(self._fewest(negation(part), verdict))
            needed.update(more)
        return needed

    def _conceivable(self, e: ExprNode) -> bool:
        """True where a condition can hold at all; of alternatives that can't, there is nothing to prove."""
        return bool(self._of_some(e, (), [], self._closed, QUICK)[1] != z3.unsat)

    def _anyway(self, e: ExprNode) -> bool:
        """True where a condition holds whatever variables with cases are worth: by itself, or as far as facts that bear
        on it tell."""
        failing, closed = negation(e), self._closed
        if not self._conceivable(failing):
            return True
        facts = [n for n in self._stack if n.variable is None and n.check is None]
        near = relevant(facts, lambda node: closed.depends(node.fact), closed.depends(failing), SHARES[-1])
        return bool(self._of_some(failing, near, [], closed, QUICK)[1] == z3.unsat)

    def _easily(self, e: ExprNode, checks: list[Assert]) -> dict[Assert, None] | None:
        """The checks that a condition rests on, if it has an easy proof."""
        verdict = self._ask(negation(e), checks, effort=Effort.WALK)
        return dict.fromkeys(self._fewest(negation(e), verdict)) if verdict.impossible else None

    def _decide(self, condition: ExprNode) -> bool | None:
        """True where a condition is easily proven, or its opposite, without start-up checks."""
        if self._gives_up:
            return None
        if condition not in self._certain:
            tried = ((True, negation(condition)), (False, condition))
            found = (holds for holds, against in tried if self._ask(against, effort=Effort.WALK).impossible)
            self._certain[condition] = next(found, None)
        return self._certain[condition]

    def _fewest(self, failing: ExprNode, verdict: SolverAnswer) -> tuple[Assert, ...]:
        """Of the checks that a verdict rests on, some that no quick proof does without; all, if many."""
        kept = list(verdict.core)
        for check in reversed(verdict.core if len(verdict.core) <= _MINIMIZED else ()):
            others = [c for c in kept if c is not check]
            if (others or failing not in self._open) and self._ask(failing, others, effort=Effort.GLANCE).impossible:
                kept = others
        return tuple(kept)

    # -- the last try: products as they are, and a model

    def _has_example(self, e: ExprNode, checks: list[Assert]) -> bool:
        """True where some state meets ``e`` whose products are none, as windows have a small size and begin at 0."""
        told = [self._terms.of(e)]
        facts = []
        for node in self._stack:
            if node.variable is None:
                term = self._terms.of(node.fact)
                told.append(term)
                facts.append(term.z if node.check is None else implies(self._switches[node.check], term.z))
        axioms = frozenset().union(*(t.axioms for t in told))
        fixed = self._terms.inside_products()
        for size in EXAMPLES if fixed else ():
            solver = z3.Solver(ctx=self._context)
            solver.set("random_seed", 0)
            say(solver, told[0].z, *facts, *self._terms.products.exact())
            say(solver, *(self._terms.axioms[n] for n in sorted(axioms - self._terms.axioms.growing)))
            say(solver, *(z == (0 if begins else size) for z, begins in fixed))
            if self._last_check(solver, [self._switches[c] for c in checks], QUICK) == z3.sat:
                return True
        return False

    def _exact(self, claim: Claim, failing: ExprNode, checks: list[Assert]) -> Result:
        promises = self._terms.promises
        switches = [*(self._switches[c] for c in checks), *promises.values()]
        self._push()
        say(self._solver, self._formula(failing))
        facts = list(self._solver.assertions())
        self._pop()
        for solver, times in ((z3.SimpleSolver(ctx=self._context), QUICK), (z3.Solver(ctx=self._context), 1)):
            solver.set("random_seed", 0)
            say(solver, self._growing, *facts, *self._terms.products.exact())
            if self._terms.products.exact():
                if self._last_check(solver, [], times) == z3.unsat:
                    return Result(claim, Status.PROVEN)
                if switches and self._last_check(solver, switches, times) == z3.unsat:
                    return self._resting(solver, checks, promises).proven(claim)
        counterexample = self._counterexample(claim, solver, switches)
        if counterexample is not None and counterexample.certain:
            return Result(claim, Status.REFUTED, counterexample=counterexample)
        return Result(claim, Status.UNDECIDED, counterexample=counterexample)

    def _counterexample(self, claim: Claim, solver: Any, switches: list[Any]) -> Counterexample | None:
        leaves = list(self._terms.leaves.items())
        best: Counterexample | None = None
        for most in (*SMALL, None):
            solver.push()
            if most is not None:
                say(solver, *(both(z >= -most, z <= most) for _, z in leaves if z3.is_int(z)))
            if self._last_check(solver, switches, EXPLAINING) == z3.sat:
                model = solver.model()
                values = {e: number_of(model.eval(z, model_completion=True)) for e, z in leaves}
                found = confirmed(claim, values, self._invented)
                best = found if found.certain else best or found
            solver.pop()
            if best is not None and best.certain:
                break
        return best


def _by_ranges(claim: Claim) -> Result | None:
    """A claim that constant ranges show: products hold a solver up, and mostly for nothing."""
    checks = checks_by_ranges(claim)
    return None if checks is None else _by_checks(claim, checks)


def _by_checks(claim: Claim, needed: Iterable[Assert]) -> Result:
    checks = tuple(needed)
    return Result(claim, Status.ASSERTED if checks else Status.PROVEN, checks)


Strategy = Callable[[Prover, Claim, list[Assert]], Result | None]
"""A way to a verdict on a claim, with start-up checks said under switches; None where it leads to none."""

_STRATEGIES: tuple[Strategy, ...] = (
    Prover.by_fewest_checks,
    Prover.by_ends,
    Prover.by_promises,
    Prover.by_exact_products,
)
"""Cheapest first. What rests on a promise is ASSUMED, and so comes after what rests on checks alone; a counterexample
is looked for where no proof was found."""
