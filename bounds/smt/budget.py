"""Budgets of a claim before it is given up.

In: nothing. Out: numbers of z3's own steps, which are the same everywhere, and who is asked for how many of them; and
milliseconds, for what z3 counts no steps of.
"""

from __future__ import annotations

from enum import Enum, auto

from halide_core.bounds.smt.z3_api import Arithmetic

BUDGET = 40_000_000
"""z3's steps for one question about one claim."""
TOTAL = 60
"""So many times the budget is all that a prover spends; what is asked after that gets a hundredth of it."""
LOST = 8
"""So many times the budget are for claims that stay undecided, one or all of a certificate's: some 40 s. After that
claims that need start-up checks, or much work, are left undecided: the certificate fails anyway, and somebody waits."""
QUICK = 0.1
"""The solver that walks gets so many times the budget, and so does a claim that is tried on the cheap."""
PATIENCE = 3
AFTER_GIVE_UP = 0.01
"""Where it gave up ``PATIENCE`` times in one context, it gets so many times the budget from there on."""
MINIMIZE = 0.005
"""It gets so many times the budget where only the number of checks that a claim rests on depends on it."""
THOROUGH = 4
"""So many times the budget are for a new solver that is told everything."""
SHARES = (1.0, 0.6, 0.3)
"""Before that, new solvers are told what bears on the claim: facts of which such a share is about it."""
NARROW = {Arithmetic.QUICK: 0.5, Arithmetic.DEEP: 0.1}
"""So many times the budget are for one of those: what it finds it mostly finds in a tenth of that."""
AXIOM_BATCH = 30
"""So many axioms that a state breaks are told at once."""
EXPLAINED = 6
"""Where this many claims have failed, others get no last try with exact products and no look for a counterexample."""
EXPLAINING = 0.25
"""So many times the budget are for one look for a counterexample."""
EXAMPLES = (1, 4, 64)
"""Sizes that a state is looked for with, where there are products."""
LAST_RESORT = 15_000
"""Milliseconds for one question about exact products. z3's procedure for these may be busy with large numbers for an
hour without a step; no proof is known to take a tenth of this."""
LAST_RESORTS = 20_000
"""Milliseconds for all of these questions of one prover that get no answer: a program may have one for each claim.
What is answered is not counted, so that a machine that is busy with something else comes to the same verdicts."""
SMALL = (8, 1 << 12)
"""Counterexamples are looked for among values this small first: people can follow those."""


class Effort(Enum):
    """Who is asked: the solver that walks, for a moment or as long as it takes; new ones too, of what bears on the
    claim; and one of everything."""

    GLANCE = auto()
    WALK = auto()
    NARROW = auto()
    ALL = auto()
