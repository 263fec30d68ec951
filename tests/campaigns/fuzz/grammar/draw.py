"""The case of an order: drawn towards a cell, or grown from another case.

In: an Order. Out: a Case, the same in every process; its label says which it is. A share of them is of the whole
language, and one of loops that gcc may make vectors of, whatever the cell.

    Order(3, 17, (CONSTANT, STORE_ROOT, VECTOR))   ->   the case "3/17 constant place, store_root, vectors"
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tests.campaigns.fuzz.case import Case
from tests.campaigns.fuzz.draw import draw
from tests.campaigns.fuzz.grammar.axes import Cell, Place, Way, cells_of
from tests.campaigns.fuzz.grammar.extras import with_extras
from tests.campaigns.fuzz.grammar.growing import grown
from tests.campaigns.fuzz.grammar.legal import WILD, bounded, legal
from tests.campaigns.fuzz.grammar.programs import draw_program
from tests.campaigns.fuzz.grammar.schedules import draw_steered
from tests.campaigns.fuzz.made import Made
from tests.campaigns.fuzz.plain.draw import draw_plain

LANGUAGE = 0.08
"""The share of cases that no cell is about: graphs of Funcs, all types, functions and directives, by ``fuzz.draw``."""
PLAIN = 0.16
"""The share of cases whose loops are left to gcc, which compiled code judges wherever there is any."""
_ATTEMPTS = 8
"""So often a case is drawn again that the target is not in, or whose schedule is refused."""


@dataclass(frozen=True, slots=True)
class Order:
    """An order to a worker to draw a case."""

    seed: int
    number: int
    target: Cell
    parent: Case | None = None
    """A case to grow another from."""

    @property
    def label(self) -> str:
        """The name of the case."""
        return f"{self.seed}/{self.number}"


def draw_order(order: Order) -> Case:
    """The case: legal as far as lowering says, but for a few that are drawn wild."""
    return draw_made(order)[0]


def draw_made(order: Order) -> tuple[Case, Made | None]:
    """The case, and what lowering it made, if it was lowered on the way."""
    if is_plain(order.seed, order.number):
        return draw_plain(order.seed, order.number), None
    if order.parent is None and random.Random(f"{order.label}/language").random() < LANGUAGE:
        return draw(order.seed, order.number), None
    case: Case | None = None
    for attempt in range(_ATTEMPTS):
        rng = random.Random(f"{order.label}/{attempt}")
        drawn = _drawn(order, rng)
        if rng.random() < WILD:
            return drawn, None
        if attempt < _ATTEMPTS - 1 and not _is_met(order, drawn):
            continue  # what is left out of it won't meet the target either
        kept, scheduled = legal(drawn)
        if kept is not None and _is_met(order, kept):
            kept, made = bounded(kept, scheduled)
            if made is not None or _is_met(order, kept):
                return kept, made
        case = kept or case
    return case or drawn, None


def is_plain(seed: int, number: int) -> bool:
    """True of a case whose loops are left to gcc."""
    return random.Random(f"{seed}/{number}/plain").random() < PLAIN


def elsewhere(case: Case) -> Iterator[Case]:
    """The case in other windows: an empty or a narrow one, and one of other sizes in another place."""
    rng = random.Random(f"{case.seed}/windows")
    narrow = tuple(tuple((low, rng.choice([0, 1, 1, 2, n])) for low, n in window) for window in case.windows)
    moved = tuple(
        tuple((low + rng.choice([0, -7, -1, 5]), rng.choice([1, n - 1, n + 1, n + 3])) for low, n in window)
        for window in case.windows
    )
    for windows in (narrow, moved):
        if windows != case.windows and all(n >= 0 for window in windows for _, n in window):
            yield replace(case, windows=windows)


def _is_met(order: Order, case: Case) -> bool:
    return order.parent is not None or order.target in cells_of(case)


def _drawn(order: Order, rng: random.Random) -> Case:
    if order.parent is not None:
        return grown(order.parent, order.label, rng)
    shape, place, way = order.target
    reduces = way is Way.RFACTOR or rng.random() < 0.2
    least = 2 if place in (Place.FOLD, Place.AT_OUTER, Place.STORE_AT, Place.REORDER, Place.FUSE) else 1
    program = draw_program(order.label, rng, shape, reduces=reduces, least=least)
    return with_extras(draw_steered(program, rng, place, way), rng)
