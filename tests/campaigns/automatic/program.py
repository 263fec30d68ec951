"""One random program under automatic schedules, in a process of its own.

    python -m tests.campaigns.automatic.program 3 17 Heuristic   ->   {"plain": [], "Heuristic": {"defects": [], …}, …}

The plain program is that of every Func at root.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any, cast

import numpy as np

import halide_core as hl
from benchmarks.unseen.case import Case, Name, make
from halide_core.errors import HalideError
from tests.support.pasting import paste, set_inputs

_SHOWN = 6
"""Claims that are told of a certificate which isn't proven."""


def drawn(seed: int, number: int, mode: str = "none") -> Case:
    """A program, with its inputs."""
    case = make(hl, Name(seed, number, 2, mode))
    set_inputs(case.arguments, case.inputs)
    return case


def unproven(output: Any) -> list[str]:
    """The claims that a certificate leaves open."""
    failures = cast(Any, output.certify()).failures
    return [f"{r.claim.kind.name} {r.status.name}: {r.claim}"[:300] for r in failures]


def judged(seed: int, number: int, by: str, plain: np.ndarray[Any, Any], open_claims: list[str]) -> dict[str, Any]:
    """The defects of one schedule, and what it took."""
    case, again = drawn(seed, number), drawn(seed, number)
    defects: list[str] = []
    told: dict[str, Any] = {"defects": defects}
    case.output.set_estimates([(0, extent) for extent in case.shape])
    start = time.process_time()
    try:
        case.output.apply_autoscheduler(None, hl.AutoschedulerParams(by))
        told["chosen_s"] = time.process_time() - start
        schedule = hl.Schedule(case.output)
        told["schedule"] = schedule.source()
        paste(schedule, again.output)
        if again.output.loop_nest() != case.output.loop_nest():
            defects.append("the source gives other loops")
        found = np.asarray(case.output.realize(list(case.shape)))
        if not np.array_equal(found, plain, equal_nan=found.dtype.kind == "f"):
            defects.append(f"WRONG: {np.count_nonzero(found != plain)} of {found.size} points")
        start = time.process_time()
        left = [] if open_claims else unproven(case.output)
        told["certified_s"] = time.process_time() - start
        if left:
            defects.append(f"{len(left)} claims are not proven: " + "; ".join(left[:_SHOWN]))
    except HalideError as error:
        defects.append(f"refused: {type(error).__name__}: {error}")
    return told


def main() -> None:
    """Judges, prints."""
    seed, number, kinds = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    rooted = drawn(seed, number, "root")
    plain = np.asarray(rooted.output.realize(list(rooted.shape)))
    open_claims = unproven(rooted.output)
    answer: dict[str, Any] = {"seed": seed, "number": number, "family": Name(seed, number, 2).family}
    answer["plain"] = open_claims[:_SHOWN]
    for by in kinds:
        answer[by] = judged(seed, number, by, plain, open_claims)
    sys.stdout.write(f"{json.dumps(answer)}\n")


if __name__ == "__main__":
    main()
