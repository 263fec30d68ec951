"""The nests of a stage in a tree: one, or one for each case of a stage that is specialized.

In: what stands under a stage's label. Out: a StageSite for each nest, in the context in which it runs; and the claim
that every run takes a case that has a nest (lemma 2.9).

    label f.s0: if n >= 8: { s[1] } else: { s }   ->   n >= 8 ⇒ s[1];   !(n >= 8) ⇒ s

The conditions are those of the tree: that one nest covers what counts is claimed for each, whatever they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.bounds.verify.vc import Claim, ClaimKind, Context, Text
from halide_core.ir import If, Interval, Stmt
from halide_core.ir.logic import negation
from halide_core.loop_nest import Program, StageKey


@dataclass(frozen=True, slots=True, eq=False)
class StageSite:
    """A nest in the tree: the context, at its stage's label, of its box and of its case; and its loops."""

    key: StageKey
    context: Context
    body: Stmt
    box: tuple[Interval, ...]
    tests: int = 0
    """The number of conditions right around the assignment that are those of its definition."""

    @property
    def func(self) -> Function:
        """The Func that it writes."""
        return self.key.func

    @property
    def stage(self) -> int:
        """The stage that it is a nest of."""
        return self.key.stage


def sites_of_cases(site: StageSite, program: Program) -> tuple[list[StageSite], list[Claim]]:
    """See the module's docstring. ``site``: all that stands under the label."""
    cases = program.cases(site.func, site.stage)
    sites: list[StageSite] = []
    claims: list[Claim] = []
    rest: Stmt | None = site.body
    context = site.context
    for case in cases:
        at = StageKey(site.func, site.stage, case.number)
        if rest is None or case is cases[-1]:
            if rest is None or case.fails:
                claims.append(_never(at, context))
            else:
                sites.append(replace(site, key=at, context=context, body=rest, tests=_tests(program, at)))
            break
        if not isinstance(rest, If):
            claims.append(_never(at, context))
            break
        taken = context.holds(rest.condition)
        if case.fails:
            claims.append(_never(at, taken))
        else:
            sites.append(replace(site, key=at, context=taken, body=rest.then, tests=_tests(program, at)))
        context, rest = context.holds(negation(rest.condition)), rest.otherwise
    return sites, claims


def _tests(program: Program, key: StageKey) -> int:
    """The number of conditions of a nest's assignment. Specialization may leave out some of the definition's."""
    if not program.specialized:
        return len(key.func.definitions[key.stage].conditions())
    core, count = program.nests[key].core, 0
    while isinstance(core, If):
        core, count = core.then, count + 1
    return count


def _never(key: StageKey, context: Context) -> Claim:
    """No run comes to a place without a nest: a start-up check has ended it."""
    text: Text = (f"no run takes a case of stage {key.stage} that has no loops",)
    return Claim(ClaimKind.COVERAGE, key.func.name, text, context, ir.FALSE, key.func.definitions[key.stage].location)
