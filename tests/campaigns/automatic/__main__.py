"""Automatic schedules of random programs: never refused, the same bits and the same loops, and proven.

    python -m tests.campaigns.automatic --programs 60 --seed 3
    python -m tests.campaigns.automatic --seed 3 --only 17 --by Model

Each program of ``benchmarks.unseen`` gets a schedule by rules and one by a search. Its values are, bit for bit, those
of every Func at root; the schedule's source, run on the algorithm made anew, gives the same loop nest; and where the
certificate of that plain program is proven, so is that of the scheduled one. Prints a line for each program, and ends
with 1 where there is a defect. ``--kept`` names a file of lines, with which a campaign goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.unseen.case import FAMILIES, Name

_ROOT = Path(__file__).resolve().parents[3]
_KINDS = ("Heuristic", "Model")
_LONGEST_S = 400.0


def judged(seed: int, number: int, kinds: list[str]) -> dict[str, Any]:
    """The answer of a process about a program."""
    command = [sys.executable, "-m", "tests.campaigns.automatic.program", str(seed), str(number), *kinds]
    head: dict[str, Any] = {"seed": seed, "number": number, "family": Name(seed, number, 2).family}
    try:
        done = subprocess.run(command, cwd=_ROOT, text=True, capture_output=True, timeout=_LONGEST_S, check=False)
    except subprocess.TimeoutExpired:
        return {**head, "lost": f"it took more than {_LONGEST_S:.0f} s"}
    if done.returncode:
        return {**head, "lost": f"it ended with {done.returncode}: {done.stderr[-800:]}"}
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def defects(answer: dict[str, Any], kinds: list[str]) -> list[str]:
    """A line for each defect."""
    if "lost" in answer:
        return [answer["lost"]]
    return [f"{by}: {each}" for by in kinds for each in answer[by]["defects"]]


def tell(line: str) -> None:
    """Shows a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Judges, prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=len(FAMILIES))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--only", type=int, help="the number of one program")
    parser.add_argument("--by", default=",".join(_KINDS))
    parser.add_argument("--kept", type=Path, help="a file that the answers are kept in")
    given = parser.parse_args()
    kinds = given.by.split(",")
    known: dict[int, dict[str, Any]] = {}
    if given.kept is not None and given.kept.is_file():
        lines = [json.loads(line) for line in given.kept.read_text(encoding="utf-8").splitlines()]
        known = {each["number"]: each for each in lines if each["seed"] == given.seed}
    numbers = [given.only] if given.only is not None else range(given.first, given.first + given.programs)
    many, unsure = 0, 0
    for number in numbers:
        answer = known.get(number) or judged(given.seed, number, kinds)
        if given.kept is not None and number not in known:
            with given.kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(answer) + "\n")
        found = defects(answer, kinds)
        many, unsure = many + bool(found), unsure + bool(answer.get("plain"))
        took = "".join(f", {by} chosen in {answer[by].get('chosen_s', 0):.2f} s" for by in kinds if by in answer)
        tell(f"{number:4} {answer['family']:14} {'DEFECT' if found else 'as it should be'}{took}")
        for line in found:
            tell(f"       {line}")
    tell(f"{len(numbers)} programs, {many} with defects; {unsure} whose plain program is not proven either")
    return 1 if many else 0


if __name__ == "__main__":
    sys.exit(main())
