"""Reports of campaigns.

In: verdicts. Out: counts and a text, the same for the same cases whatever the number of jobs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.campaigns.fuzz.coverage import OUTLIVES, SLIDES, Feature, Group
from tests.campaigns.fuzz.modes import Mode
from tests.campaigns.fuzz.registry import all_features
from tests.campaigns.fuzz.verdict import Outcome, Verdict

ENOUGH = 400
"""A campaign of so many cases must have met everything."""
LEAST_SHARE = 0.85
"""The part of the cases that must run without a refusal or a failed start-up check."""


@dataclass(slots=True)
class Report:
    """The verdicts of a campaign, by number."""

    verdicts: dict[int, Verdict] = field(default_factory=dict)
    mode: Mode = Mode.LANGUAGE
    """Cases of the others need not meet everything."""

    def add(self, number: int, verdict: Verdict) -> None:
        """One more case."""
        self.verdicts[number] = verdict

    def count(self, outcome: Outcome) -> int:
        """Counts the cases with an outcome."""
        return sum(v.outcome is outcome for v in self.verdicts.values())

    def failures(self) -> dict[str, list[int]]:
        """The mismatches by kind, each with its cases."""
        found: dict[str, list[int]] = {}
        for number, verdict in sorted(self.verdicts.items()):
            if verdict.outcome is Outcome.MISMATCH:
                found.setdefault(verdict.kind, []).append(number)
        return found

    def exercised(self) -> Mapping[Feature, int]:
        """The number of cases that ran and met each feature."""
        counts = Counter[Feature]()
        for verdict in self.verdicts.values():
            counts.update(verdict.features)
        return {feature: counts[feature] for feature in all_features()}

    def missing(self) -> list[Feature]:
        """The features that no case met, though there were enough cases."""
        if self.mode is not Mode.LANGUAGE or len(self.verdicts) < ENOUGH:
            return []
        return [feature for feature, n in self.exercised().items() if not n]

    @property
    def share(self) -> float:
        """The part of the cases that ran."""
        return self.count(Outcome.RAN) / max(1, len(self.verdicts))

    @property
    def ok(self) -> bool:
        """No mismatch, nothing missed, and enough cases that ran."""
        few = len(self.verdicts) < ENOUGH
        return not self.count(Outcome.MISMATCH) and not self.missing() and (few or self.share >= LEAST_SHARE)

    def text(self) -> str:
        """The report."""
        lines = [f"{len(self.verdicts)} cases: " + ", ".join(f"{self.count(o)} {o.value}" for o in Outcome)]
        lines.append(f"{100 * self.share:.1f} % ran")
        if self.mode is Mode.SLIDING:
            outlive, slide = (sum(f in v.features for v in self.verdicts.values()) for f in (OUTLIVES, SLIDES))
            share = 100 * slide / max(1, outlive)
            lines.append(f"memory outlives a loop in {outlive} of them; in {slide} something slides: {share:.1f} %")
        for outcome in (Outcome.REFUSED, Outcome.ASSERTED, Outcome.TOO_LONG, Outcome.MISMATCH):
            kinds = Counter(v.kind for _, v in sorted(self.verdicts.items()) if v.outcome is outcome)
            lines += [f"  {n:5} {outcome.value}: {kind}" for kind, n in sorted(kinds.items())]
        lines.append("exercised, by cases that ran:")
        counts = self.exercised()
        for group in Group:
            each = ", ".join(f"{name} {n}" for (g, name), n in counts.items() if g is group)
            lines.append(f"  {group.value}: {each}")
        lines += [f"NEVER exercised: {name}, of the {group.value}" for group, name in self.missing()]
        return "\n".join(lines)
