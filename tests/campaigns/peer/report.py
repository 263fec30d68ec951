"""The verdict on each case, and the text that says where the two packages stand.

In: a ``Verdict`` for each case. Out: a report: unlisted differences first, then listed ones by kind, then names.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from tests.campaigns.peer.case import Case
from tests.campaigns.peer.differences import DIFFERENCES, ON_SOME_MACHINES, Kind
from tests.campaigns.peer.names import Name, coverage


class State(Enum):
    """The state of a case."""

    EQUAL = "equal"
    LISTED = "differs as listed"
    UNLISTED = "differs"
    STALE = "listed as a difference, but equal"


@dataclass(frozen=True)
class Verdict:
    """A case, what differs (None where nothing does), and the names that it used."""

    case: Case
    difference: str | None
    names: tuple[Name, ...]

    @property
    def state(self) -> State:
        """The state of the case."""
        listed = self.case.name in DIFFERENCES
        if self.difference is None:
            return State.STALE if listed and self.case.name not in ON_SOME_MACHINES else State.EQUAL
        return State.LISTED if listed else State.UNLISTED


def passed(verdicts: Sequence[Verdict]) -> bool:
    """True where every case is equal, or differs as listed."""
    return all(v.state in (State.EQUAL, State.LISTED) for v in verdicts)


def report(verdicts: Sequence[Verdict]) -> str:
    """The whole text."""
    lines = []
    for state in (State.UNLISTED, State.STALE):
        found = [v for v in verdicts if v.state is state]
        if found:
            lines += [f"{len(found)} cases: {state.value} (ours | peer's)"]
            lines += [f"  {v.case.name}\n      {v.difference}" for v in found]
    for kind in Kind:
        of_kind = [v for v in verdicts if v.state is State.LISTED and DIFFERENCES[v.case.name][0] is kind]
        if of_kind:
            lines += ["", f"Listed, {kind.value}: {len(of_kind)}"]
            lines += [f"  {v.case.name}\n      {DIFFERENCES[v.case.name][1]}\n      {v.difference}" for v in of_kind]
    return "\n".join([*lines, "", *_names(verdicts), "", summary(verdicts)])


def _names(verdicts: Sequence[Verdict]) -> list[str]:
    used = [name for v in verdicts if v.state is State.EQUAL for name in v.names]
    lines = []
    for tier, found in coverage(used).items():
        lines.append(f"Names, {tier}: {found.percent:.1f} % of {found.counted} are in equal cases; not:")
        owners = dict.fromkeys(owner for owner, _ in found.missing)
        lines += [f"  {owner}: {' '.join(name for o, name in found.missing if o == owner)}" for owner in owners]
    return lines


def summary(verdicts: Sequence[Verdict]) -> str:
    """The counts in one line for expressions and one for pipelines."""
    lines = []
    for what, is_pipeline in (("expressions", False), ("pipelines", True)):
        those = [v for v in verdicts if (v.case.function is not None) is is_pipeline]
        counts = ", ".join(f"{sum(v.state is s for v in those)} {s.value}" for s in State)
        lines.append(f"{len(those)} {what}: {counts}")
    return "\n".join(lines)
