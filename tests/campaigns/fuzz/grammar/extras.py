"""Extras that no axis is about, added to a case: hints of bounds, threads ahead, prefetching, partitions, atomic
reductions, loops of two Funcs in one, stages in loops of several.

In: a case with a schedule. Out: the case with some directives more, where their generators find a place for them.
"""

from __future__ import annotations

import random
from dataclasses import replace

from tests.campaigns.fuzz.case import Case, Definition, Told
from tests.campaigns.fuzz.directives import draw_hint
from tests.campaigns.fuzz.families import METHODS
from tests.campaigns.fuzz.grammar.twins import with_twin

_OTHERS = [method for method in METHODS if method not in ("compute_with", "rfactor", "in_", "clone_in")]
"""Those that no axis and no share of its own is for."""
_WEIGHTS = [3 if method in ("async_", "ring_buffer") else 1 for method in _OTHERS]
"""Threads ahead meet more than others do: places, folds, what rounds up."""
_HINTS = 0.08
_SHARE = 0.25
TOGETHER = 0.2
"""So often ``compute_with`` is drawn; a part of that is legal."""
_PRODUCERS = 0.5
"""So often it is between producers inside of another Func's loops, where there are any."""


def with_extras(case: Case, rng: random.Random) -> Case:
    """The case, mostly as it is."""
    if rng.random() < TOGETHER:
        case = (with_twin(case, rng) if rng.random() < _PRODUCERS else None) or _together(case, rng)
    if rng.random() < _HINTS:
        case = _hinted(case, rng)
    if rng.random() < _SHARE:
        (method,) = rng.choices(_OTHERS, _WEIGHTS)
        case = METHODS[method].draw(case, rng) or case
    return case


def _together(case: Case, rng: random.Random) -> Case:
    """The case with loops of two Funcs in one, which have no other directives about loops; mostly there are none such
    but where those of the outputs are left out."""
    draw_compute_with = METHODS["compute_with"].draw
    bare = replace(case, directives=tuple(t for t in case.directives if t.func not in case.outputs))
    return draw_compute_with(case, rng) or draw_compute_with(bare, rng) or case


def _hinted(case: Case, rng: random.Random) -> Case:
    """The case with something said of the bounds of a Func."""
    funcs = [item for item in case.items if isinstance(item, Definition)]
    func, told = rng.choice(funcs), list[Told]()
    draw_hint(case, rng, func.name, func.args, told)
    return replace(case, directives=(*told, *case.directives))
