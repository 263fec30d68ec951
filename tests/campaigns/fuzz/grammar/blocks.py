"""The blocks of the compiler that a case ran: what a campaign grows further cases by.

In: the packages, whose import this module must precede. Out: HITS; None in processes that have the compiler already, as
the parent has.

The blocks are marked as ``tests.campaigns.mutate.reached`` marks them, which costs little. What a memo spared is not
seen: a case may seem to reach less than it does, never more.
"""

from __future__ import annotations

import sys
from pathlib import Path

from tests.campaigns.mutate.reached import Hits

HITS: Hits | None = None

if "halide_core" not in sys.modules:
    HITS = Hits(Path(__file__).resolve().parents[4])
    HITS.install()
