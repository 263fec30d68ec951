"""A worker of the grammar's campaigns: it draws what is ordered, and judges that, at times by a compiler with a defect.

In: Orders, or Cases, through a pipe. Out: for each a Drawn: the verdict, the case, its cells, and the compiler's blocks
that it ran and no case of this worker did before.

What an order drew runs in other windows too, which costs little beside lowering it.
"""

from __future__ import annotations

import gc
import os
from contextlib import nullcontext
from dataclasses import dataclass
from multiprocessing.connection import Connection

from tests.campaigns.fuzz.grammar.blocks import HITS  # before all that imports the compiler

from tests.campaigns.fuzz.case import Case  # isort: skip
from tests.campaigns.fuzz.grammar.axes import Cell, cells_of
from tests.campaigns.fuzz.grammar.defects import DEFECTS
from tests.campaigns.fuzz.grammar.draw import Order, draw_made, elsewhere
from tests.campaigns.fuzz.judge import Judges, judge
from tests.campaigns.fuzz.verdict import Outcome, Verdict

_GARBAGE = 50_000


@dataclass(frozen=True, slots=True)
class Drawn(Verdict):
    """A verdict, and what it is about."""

    case: Case | None = None
    cells: frozenset[Cell] = frozenset()
    blocks: frozenset[str] = frozenset()
    seconds: float = 0.0
    runs: int = 1
    """In so many windows."""


def serve(pipe: Connection, defect: str = "") -> None:
    """Until None is sent; with a defect of the past in the compiler, if one is named."""
    gc.set_threshold(_GARBAGE)
    seen: set[str] = set()
    if defect and "HL_CACHE_DIR" in os.environ:  # what it compiles is nobody else's: a program's key is its source
        os.environ["HL_CACHE_DIR"] = os.path.join(os.environ["HL_CACHE_DIR"], str(list(DEFECTS).index(defect)))
    with DEFECTS[defect].reintroduced() if defect else nullcontext():
        while (task := pipe.recv()) is not None:
            _, given, judges = task
            pipe.send(_drawn(given, judges, seen))


def _drawn(given: Order | Case, judges: Judges, seen: set[str]) -> Drawn:
    start = _taken()
    if HITS is not None:
        HITS.clear()
    case, made = (given, None) if isinstance(given, Case) else draw_made(given)
    verdict, runs = judge(case, judges, made), 1
    if made is not None and verdict.outcome is Outcome.RAN:
        for other in elsewhere(case):
            found, runs = judge(other, Judges.BRIEF, made), runs + 1
            if found.outcome is Outcome.MISMATCH:
                case, verdict = other, found
                break
    blocks = frozenset(HITS.found() if HITS is not None else ()) - seen
    seen |= blocks
    cells = cells_of(case) if verdict.outcome is Outcome.RAN else frozenset()
    took = _taken() - start
    return Drawn(verdict.outcome, verdict.kind, verdict.detail, verdict.features, case, cells, blocks, took, runs)


def _taken() -> float:
    """The processors' time of this process, and of the C compilers and programs that it waited for."""
    return sum(os.times()[:4])
