"""Interrupts processes one after the other, and tells what became of them; see the package."""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[3]
_PIPELINES = 2
"""Of one process."""
_ANEW = 20
"""Of a process that looks at what is in the cache."""
_DELIVERY_S = 0.02
"""The time in which a process that is about to end notices a signal."""
_LONGEST_S = 120
"""A process that takes longer hangs."""


@dataclass(frozen=True, slots=True)
class Ended:
    """A process that has ended: what it told, when the signal was sent, and how long after that it ended."""

    code: int
    lines: list[str]
    errors: str
    sent: float
    after: float


def started(first: int, count: int, *, catches: bool) -> subprocess.Popen[str]:
    """A process that is about to compile its first pipeline."""
    command = [sys.executable, "-m", "tests.campaigns.interrupt.worker", str(first), str(count)]
    process = subprocess.Popen(
        [*command, "catches" if catches else "ends"],
        cwd=_ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line == "ready\n", f"{line!r}: it did not start"
    return process


def interrupted(first: int, delay: float, *, catches: bool, group: bool) -> Ended:
    """A process that got a signal after ``delay`` seconds; ``group``: its C compiler as well."""
    process = started(first, _PIPELINES, catches=catches)
    time.sleep(delay)
    start = time.monotonic()
    if process.poll() is None:
        (os.killpg if group else os.kill)(process.pid, signal.SIGINT)
    return _ended(process, start)


def _ended(process: subprocess.Popen[str], start: float) -> Ended:
    try:
        out, errors = process.communicate(timeout=_LONGEST_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, errors = process.communicate()
        errors += "\nit hung"
    return Ended(process.returncode, out.splitlines(), errors, start, time.monotonic() - start)


def outcome(ended: Ended, *, catches: bool) -> str:
    """The outcome of a process, in a word; what is wrong with it starts with WRONG."""
    if "hung" in ended.errors or "AddressSanitizer" in ended.errors:
        return f"WRONG: {ended.errors[-600:]}"
    if ended.code == 0 and ended.lines[-1:] == ["right"]:
        if "interrupted" in ended.lines:
            return "went on"
        if float(ended.lines[-2]) < ended.sent + _DELIVERY_S:
            return "had finished"
        if "Exception ignored" in ended.errors:
            return "swallowed by a callback"
        return f"WRONG: it never noticed: {ended.errors[-1500:]}"
    if not catches and ended.code == -signal.SIGINT and ended.errors.rstrip().endswith("KeyboardInterrupt"):
        return "ended"
    return f"WRONG: exit status {ended.code}, {ended.lines}: {ended.errors[-1500:]}"


def sound(count: int) -> str:
    """The complaints of new processes about all pipelines; empty where they find them right."""
    for first in range(0, count, _ANEW):
        ended = _ended(started(first, min(_ANEW, count - first), catches=False), time.monotonic())
        if ended.code != 0 or ended.lines[1:] != ["right"]:
            return f"from {first} on: {ended.code}: {ended.errors[-1500:]}"
    return ""


def main() -> int:
    """The campaign; 0 where nothing was wrong."""
    parser = argparse.ArgumentParser("python -m tests.campaigns.interrupt")
    parser.add_argument("--times", type=int, default=200, metavar="N", help="processes (200)")
    parser.add_argument("--seed", type=int, default=1, metavar="S")
    given = parser.parse_args()
    rng, found = random.Random(given.seed), Counter[str]()
    latest = 0.0
    with tempfile.TemporaryDirectory(prefix="interrupt_") as cache:
        os.environ["HL_CACHE_DIR"] = cache
        began = time.monotonic()
        whole = _ended(started(_PIPELINES * given.times, _PIPELINES, catches=False), began)
        assert whole.code == 0, whole.errors
        longest = 1.1 * whole.after
        for number in range(given.times):
            catches, group = rng.random() < 0.5, rng.random() < 0.5
            ended = interrupted(_PIPELINES * number, rng.uniform(0, longest), catches=catches, group=group)
            told = outcome(ended, catches=catches)
            found[told] += 1
            if told == "ended":
                latest = max(latest, ended.after)
            if told.startswith("WRONG"):
                sys.stdout.write(f"{given.seed}/{number} catches={catches} group={group}: {told}\n")
                sys.stdout.flush()
        left = sound(_PIPELINES * given.times)
        files = sorted(Path(cache).rglob("*"))
    for told, times in found.most_common():
        sys.stdout.write(f"{times:5} {told.splitlines()[0]}\n")
    sys.stdout.write(f"ended at the latest {latest:.2f} s after the signal\n{len(files)} files in the cache\n")
    sys.stdout.write(f"the cache is {f'NOT sound: {left}' if left else 'sound'}\n")
    return 1 if left or any(told.startswith("WRONG") for told in found) else 0


if __name__ == "__main__":
    sys.exit(main())
