"""Which blocks of the compiler a case ran: what a campaign grows further cases by.

In: the packages, whose import this module must precede. Out: HITS, in a worker process; None in all others.

The blocks are marked as ``tests.campaigns.mutate.reached`` marks them, which costs little. What a memo spared is not
seen: a case
may seem to reach less than it does, never more.
"""

from __future__ import annotations

import multiprocessing
from pathlib import Path

from tests.campaigns.mutate.reached import Hits

HITS: Hits | None = None

if multiprocessing.current_process().name != "MainProcess":  # parent_process() is not known yet at this import
    HITS = Hits(Path(__file__).resolve().parents[4])
    HITS.install()
