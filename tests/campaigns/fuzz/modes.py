"""Modes of campaigns: what is drawn, and who judges it.

In: a mode, a campaign's seed and a number. Out: a Case; the judges that every case of the mode has.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

from tests.campaigns.fuzz.case import Case
from tests.campaigns.fuzz.draw import draw
from tests.campaigns.fuzz.draw_sliding import draw_sliding
from tests.campaigns.fuzz.judge import INTERPRETED, Judges
from tests.campaigns.fuzz.plain.draw import draw_plain
from tests.campaigns.fuzz.wide.draw import draw_wide


class Mode(Enum):
    """A kind of program to draw."""

    LANGUAGE = "the whole language"
    SLIDING = "stencils that may slide"
    WIDE = "rows of whole vectors"
    PLAIN = "loops that no schedule makes vectors of"

    def case(self, seed: int, number: int) -> Case:
        """A case of a campaign."""
        return _DRAW[self](seed, number)

    @property
    def judges(self) -> Judges:
        """The judges of a case without a compiler."""
        return _JUDGES[self]


_DRAW: dict[Mode, Callable[[int, int], Case]] = {
    Mode.LANGUAGE: draw,
    Mode.SLIDING: draw_sliding,
    Mode.WIDE: draw_wide,
    Mode.PLAIN: draw_plain,
}
_JUDGES = {
    Mode.LANGUAGE: INTERPRETED,
    # Without a schedule all is inlined, and a chain of stencils becomes too large.
    Mode.SLIDING: INTERPRETED & ~Judges.UNSCHEDULED,
    Mode.WIDE: Judges.NATIVE | Judges.COMPILED,
    Mode.PLAIN: Judges.NATIVE | Judges.COMPILED,
}
