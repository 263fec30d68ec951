"""A certificate: why a compiled program is right, claim by claim.

In: claims and their verdicts. Out: a table for people, JSON for programs.

    certificate.ok   ->   True      nothing is refuted, and nothing is left open
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from halide_core.bounds.verify.vc import Assumption, Claim, ClaimKind, Result, Status, brief_line
from halide_core.ir import Assert

SCHEMA = 1
"""The version of the JSON."""

_BAD = (Status.REFUTED, Status.UNDECIDED)


@dataclass(frozen=True, slots=True)
class Spent:
    """The cost of the claims of one kind: z3's steps, the same everywhere, and seconds, which are not."""

    steps: int
    seconds: float


@dataclass(frozen=True, slots=True, eq=False)
class PipelineCertificate:
    """Implements ``halide_core.run.backend.Certificate``."""

    name: str
    results: tuple[Result, ...]
    spent: Mapping[ClaimKind, Spent]

    @property
    def ok(self) -> bool:
        """True where no claim is refuted or undecided."""
        return not self.failures

    @property
    def failures(self) -> tuple[Result, ...]:
        """The claims that are refuted or undecided."""
        return tuple(r for r in self.results if r.status in _BAD)

    @property
    def proven_share(self) -> float:
        """The part of the claims that holds without any start-up check."""
        return self.count(Status.PROVEN) / len(self.results) if self.results else 1.0

    @property
    def seconds(self) -> float:
        """The time of all claims."""
        return sum(s.seconds for s in self.spent.values())

    @property
    def assumptions(self) -> tuple[Assumption, ...]:
        """The promises of the user's that some claim rests on, in the order of first need."""
        return tuple(dict.fromkeys(a for r in self.results for a in r.assumptions))

    @property
    def checks(self) -> tuple[Assert, ...]:
        """The start-up checks that some claim needs, in the order of first need."""
        return tuple(dict.fromkeys(c for r in self.results for c in r.checks))

    def count(self, status: Status) -> int:
        """Counts the claims with a status."""
        return sum(r.status is status for r in self.results)

    def __str__(self) -> str:
        return "\n".join(_lines(self))

    def to_json(self) -> str:
        """The certificate as JSON; the same in every process but for the seconds."""
        return json.dumps(_as_data(self), indent=1)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{escape(about)}</td>" + "".join(f"<td>{n or ''}</td>" for n in counts) + "</tr>"
            for about, counts in _counts(self.results)
        )
        heads = "".join(f"<th>{escape(h)}</th>" for h in ("", *(s.value for s in Status)))
        notes = "".join(f"<li>{escape(line)}</li>" for line in _notes(self))
        return f"<b>{escape(_title(self))}</b><table><tr>{heads}</tr>{rows}</table><ul>{notes}</ul>"


def check_text(check: Assert) -> str:
    """A start-up check's message, with expressions in braces."""
    return "".join(m if isinstance(m, str) else f"{{{brief_line(m)}}}" for m in check.message)


def _title(c: PipelineCertificate) -> str:
    verdict = "certified" if c.ok else "NOT CERTIFIED"
    assumed = f", {c.count(Status.ASSUMED)} assumed on the user's word" if c.count(Status.ASSUMED) else ""
    return (
        f'"{c.name}" is {verdict}: {len(c.results)} claims, {100 * c.proven_share:.1f} % proven, '
        f"{c.count(Status.ASSERTED)} asserted at start-up{assumed}; {c.seconds:.2f} s"
    )


def _counts(results: Sequence[Result]) -> list[tuple[str, list[int]]]:
    """For each Func or input, how many of its claims ended how."""
    rows: dict[str, dict[Status, int]] = {}
    for r in results:
        row = rows.setdefault(r.claim.func or "(start-up)", dict.fromkeys(Status, 0))
        row[r.status] += 1
    return [(about, list(row.values())) for about, row in rows.items()]


def _lines(c: PipelineCertificate) -> list[str]:
    rows = _counts(c.results)
    width = max([len(about) for about, _ in rows], default=0)
    lines = [_title(c), " " * (width + 4) + "".join(f"{s.value:>11}" for s in Status)]
    lines += [f"    {about:<{width}}" + "".join(f"{n or '':>11}" for n in counts) for about, counts in rows]
    spent = ", ".join(f"{kind.value} {s.seconds * 1e3:.0f} ms" for kind, s in c.spent.items())
    return [*lines, *(f"  {line}" for line in _notes(c)), f"  time: {spent}"]


def _notes(c: PipelineCertificate) -> list[str]:
    """Notes on what is not proven outright, and why."""
    lines: list[str] = []
    asserted: dict[tuple[Assert, ...], list[Claim]] = {}
    for r in c.results:
        if r.status is Status.ASSERTED:
            asserted.setdefault(r.checks, []).append(r.claim)
    for checks, claims in asserted.items():
        told = " and ".join(f"“{check_text(check)}”" for check in checks)
        some = "; ".join(f"{claim.func}: {claim.told()}" for claim in claims[:3])
        more = f"; and {len(claims) - 3} more" if len(claims) > 3 else ""
        lines.append(f"asserted: {some}{more}: unless {told}")
    lines += [_assumed_text(r) for r in c.results if r.status is Status.ASSUMED]
    lines += [failure_text(r) for r in c.failures]
    return lines


def _assumed_text(r: Result) -> str:
    """A claim that rests on the user's word, whose, and for which values it would not hold without."""
    text = f"assumed: {r.claim.func}: {r.claim.told()}: on the word of {' and '.join(map(str, r.assumptions))}"
    if r.checks:
        text += ", unless " + " and ".join(f"“{check_text(check)}”" for check in r.checks)
    return text if r.counterexample is None else f"{text}; it fails for {r.counterexample}"


def failure_text(r: Result) -> str:
    """A claim that does not hold, or was not shown to: which, where, and for which values."""
    text = f"{r.status.value}: {r.claim.func}: {r.claim.kind.value}: {r.claim.told()}"
    if r.counterexample is not None:
        word = "fails for" if r.counterexample.certain else "might fail for"
        text += f"; {word} {r.counterexample}"
    return text if r.claim.location is None else f"{text}\n    at {r.claim.location}"


def _as_data(c: PipelineCertificate) -> dict[str, Any]:
    checks = {check: i for i, check in enumerate(c.checks)}
    return {
        "schema": SCHEMA,
        "pipeline": c.name,
        "ok": c.ok,
        "proven_share": round(c.proven_share, 4),
        "checks": [{"failure": check.failure.value, "text": check_text(check)} for check in checks],
        "assumptions": [{"text": a.told, "at": f"{a.location.file}:{a.location.line}"} for a in c.assumptions],
        "claims": [_result_data(r, checks) for r in c.results],
        "spent": {k.value: {"steps": s.steps, "seconds": round(s.seconds, 4)} for k, s in c.spent.items()},
    }


def _result_data(r: Result, checks: Mapping[Assert, int]) -> dict[str, Any]:
    data: dict[str, Any] = {
        "kind": r.claim.kind.value,
        "about": r.claim.func,
        "claim": r.claim.told(),
        "status": r.status.value,
    }
    if r.claim.location is not None:
        data["at"] = f"{r.claim.location.file}:{r.claim.location.line}"
    if r.checks:
        data["checks"] = [checks[check] for check in r.checks]
    if r.assumptions:
        data["assumptions"] = [str(a) for a in r.assumptions]
    if r.counterexample is not None:
        data["counterexample"] = dict(r.counterexample.values)
        data["confirmed"] = r.counterexample.certain
    return data
