"""The result of a run, for people and for programs.

In: mutants with their verdicts. Out: a table of operators and judges, and every survivor with its difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.campaigns.mutate.mutant import Mutant, Operator
from tests.campaigns.mutate.survivors import EXPLAINED, Survivor
from tests.campaigns.mutate.verdict import SEMANTIC, Judge, Verdict

WANTED = 0.95
"""The share that must be killed."""


@dataclass(frozen=True, slots=True)
class Report:
    """``results`` in the order of drawing; ``failing``: tests that failed without any change, and didn't count."""

    results: Sequence[tuple[Mutant, Verdict]]
    texts: Mapping[str, bytes]
    failing: Sequence[str]

    @property
    def survivors(self) -> list[Mutant]:
        """The mutants that no judge killed."""
        return [m for m, v in self.results if v.judge is None]

    @property
    def killed_share(self) -> float:
        """The part that was killed."""
        return 1 - len(self.survivors) / len(self.results) if self.results else 1.0

    @property
    def semantic_share(self) -> float:
        """The part that was killed by judges that know what programs mean."""
        return self._count(*SEMANTIC) / len(self.results) if self.results else 1.0

    @property
    def good(self) -> bool:
        """True where enough are killed, and every survivor is explained."""
        return self.killed_share >= WANTED and all(self.explanation(m) for m in self.survivors)

    def explanation(self, mutant: Mutant) -> Survivor | None:
        """Why a mutant survives, if someone looked at it as it is now."""
        return EXPLAINED.get(mutant.key(self.texts[mutant.path]))

    def _count(self, *judges: Judge | None, operator: Operator | None = None) -> int:
        return sum(v.judge in judges for m, v in self.results if operator in (None, m.operator))

    def __str__(self) -> str:
        judges: list[Judge | None] = [*Judge, None]
        heads = [j.value if j else "survived" for j in judges]
        lines = [f"{'':<12}{'mutants':>9}" + "".join(f"{h:>12}" for h in heads)]
        rows: list[tuple[str, Operator | None]] = [*((o.value, o) for o in Operator), ("all", None)]
        for name, operator in rows:
            counts = [self._count(j, operator=operator) for j in judges]
            lines.append(f"{name:<12}{sum(counts):>9}" + "".join(f"{n or '':>12}" for n in counts))
        total, left = len(self.results), self.survivors
        lines.append(
            f"{total - len(left)} of {total} killed ({100 * self.killed_share:.1f} %), "
            f"{100 * self.semantic_share:.1f} % by judges that know what a program means "
            f"({', '.join(j.value for j in SEMANTIC)}); "
            f"{sum(v.seconds for _, v in self.results) / max(total, 1):.1f} s of processor time each"
        )
        lines += [f"Not asked, since it fails without any change: {test}" for test in self.failing]
        for m in left:
            lines += ["", f"survived: {m.id} (line {m.line})", *m.diff(self.texts[m.path]).splitlines()[2:]]
            known = self.explanation(m)
            lines.append(f"  {known.reason.value}: {known.why}" if known else "  NOT EXPLAINED")
        return "\n".join(lines)

    def as_data(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "killed_share": round(self.killed_share, 4),
            "semantic_share": round(self.semantic_share, 4),
            "not_asked": list(self.failing),
            "mutants": [self._mutant_data(m, v) for m, v in self.results],
        }

    def _mutant_data(self, mutant: Mutant, verdict: Verdict) -> dict[str, Any]:
        known = self.explanation(mutant) if verdict.judge is None else None
        return {
            "id": mutant.id,
            "line": mutant.line,
            "diff": mutant.diff(self.texts[mutant.path]),
            **verdict.as_data(),
            "explained": None if known is None else f"{known.reason.value}: {known.why}",
        }
