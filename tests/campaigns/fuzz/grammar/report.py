"""Reports of campaigns, and the verdict on what was asked for.

In: a Journal, of one campaign or of several together; how many cases each judge must have had. Out: text; a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.campaigns.fuzz.grammar.journal import Journal
from tests.campaigns.fuzz.verdict import Outcome

MOST_REFUSED = 0.06
"""The part of the cases that may be refused, or stopped by a start-up check of their own."""


@dataclass(frozen=True, slots=True)
class Asked:
    """So many cases at least: of all of them, and of those that compiled code judged, loaded and under sanitizers."""

    cases: int = 0
    compiled: int = 0
    sanitized: int = 0

    def missing(self, journal: Journal) -> list[str]:
        """The lacks of a journal, a line each."""
        judged = journal.judged
        counts = [
            ("cases", journal.cases, self.cases),
            ("compiled cases", judged["COMPILED"], self.compiled),
            ("cases under sanitizers", judged["EXECUTABLE"], self.sanitized),
        ]
        lines = [f"{found} {name}, not {least}" for name, found, least in counts if found < least]
        wrong = journal.outcomes[Outcome.MISMATCH]
        lines += [f"{wrong} mismatches"] if wrong else []
        holes = len(journal.table.holes())
        lines += [f"{holes} holes"] if holes else []
        refused = share_refused(journal)
        lines += [f"{100 * refused:.1f} % refused or asserted"] if refused > MOST_REFUSED else []
        return lines


def share_refused(journal: Journal) -> float:
    """The part of the cases that was refused, or stopped by a start-up check."""
    refused = journal.outcomes[Outcome.REFUSED] + journal.outcomes[Outcome.ASSERTED]
    return refused / max(1, journal.cases)


def text(journal: Journal) -> str:
    """The report."""
    lines = [f"{journal.cases} cases: " + ", ".join(f"{journal.outcomes[o]} {o.value}" for o in Outcome)]
    lines.append(f"{journal.runs} windows; {100 * share_refused(journal):.1f} % refused or asserted")
    if journal.seconds:
        lines[-1] += f"; {60 * journal.cases / sum(journal.seconds.values()):.0f} cases a minute of one core's time"
    lines.append("judges: " + ", ".join(f"{name} {n}" for name, n in sorted(journal.judged.items())))
    for judges, seconds in sorted(journal.seconds.items()):
        rate = 60 * journal.asked[judges] / seconds if seconds else 0
        lines.append(f"  {journal.asked[judges]:6} cases, {rate:5.0f} a minute: {judges}")
    lines.append(f"{len(journal.blocks)} blocks of the compiler reached, a corpus of {len(journal.corpus)}")
    lines += [f"  {n:5} {o.value}: {kind}" for (o, kind), n in sorted(journal.kinds.items(), key=str)]
    return "\n".join([*lines, journal.table.text()])


def verdict(journal: Journal, asked: Asked) -> str:
    """The last line: whether everything is there."""
    missing = asked.missing(journal)
    return f"NOT SHOWN: {'; '.join(missing)}" if missing else "SHOWN: all cases agree, and no cell is a hole"
