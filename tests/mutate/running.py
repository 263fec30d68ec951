"""Runs mutants, several at a time, each in a process and a copy of the tree of its own.

In: mutants, the number of jobs. Out: their Verdicts, as they come; with a file to resume from, those it holds first.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.mutate.mutant import Mutant
from tests.mutate.shadow import Shadow
from tests.mutate.verdict import Judge, Verdict

_PATIENCE = 1800.0
"""Seconds after which a process that uses no processor time is given up."""


class Log:
    """Verdicts on disk, one a line. A kill counts for as long as the mutant's text is the same; a survivor for as long
    as the tests are, too."""

    def __init__(self, path: Path | None, tests: str) -> None:
        self._path = path
        self._tests = tests
        self._known: dict[tuple[str, str], dict[str, Any]] = {}
        if path is not None and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                data = json.loads(line)
                self._known[data["id"], data["text"]] = data

    def known(self, mutant: Mutant, text: bytes) -> Verdict | None:
        """The verdict that the file has."""
        data = self._known.get((mutant.id, _digest(mutant.edit.applied(text))))
        if data is None or (data["verdict"]["judge"] is None and data["tests"] != self._tests):
            return None
        return Verdict.from_data(data["verdict"])

    def add(self, mutant: Mutant, text: bytes, verdict: Verdict) -> None:
        """Writes a verdict."""
        if self._path is not None:
            changed = _digest(mutant.edit.applied(text))
            data = {"id": mutant.id, "text": changed, "tests": self._tests, "verdict": verdict.as_data()}
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(data) + "\n")


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:16]


def digest_of_tests(root: Path) -> str:
    """A hash of all tests."""
    found = hashlib.sha256()
    for path in sorted((root / "tests").rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            found.update(path.relative_to(root).as_posix().encode())
            found.update(path.read_bytes())
    return found.hexdigest()[:16]


class Runner:
    """Copies of the tree, and the record of the compiler as it is."""

    def __init__(self, root: Path, jobs: int) -> None:
        self._shadows = [Shadow(root) for _ in range(jobs)]
        self._free: queue.SimpleQueue[Shadow] = queue.SimpleQueue()
        self.record = self._shadows[0].scratch.parent / "record.json"
        for shadow in self._shadows:
            self._free.put(shadow)

    @property
    def tree(self) -> Path:
        """A copy of the tree without any change, until mutants run."""
        return self._shadows[0].tree

    def close(self) -> None:
        """Deletes the copies."""
        for shadow in self._shadows:
            shadow.remove()

    def prepare(self) -> dict[str, Any]:
        """Records the compiler as it is. Raises: RuntimeError where its own programs go wrong without a change."""
        folder = self.record.parent
        with ThreadPoolExecutor(len(self._shadows)) as pool:
            steps = pool.submit(_keep, self._shadows[0], folder, "steps")
            tests = pool.submit(_keep, self._shadows[-1], folder, "tests")
            found = {"steps": steps.result(), **tests.result()}
        for shadow in self._shadows:
            shadow.clear()
        self.record.write_text(json.dumps(found), encoding="utf-8")
        return found

    def run(self, mutants: Sequence[Mutant], texts: dict[str, bytes], log: Log) -> Iterator[tuple[Mutant, Verdict]]:
        """The verdict of each mutant, in the order in which they come."""
        with ThreadPoolExecutor(len(self._shadows)) as pool:
            waiting = {}
            for m in mutants:
                known = log.known(m, texts[m.path])
                if known is not None:
                    yield m, known
                else:
                    waiting[pool.submit(self._attempt, m, texts[m.path])] = m
            try:
                for done in as_completed(waiting):
                    mutant, verdict = waiting[done], done.result()
                    log.add(mutant, texts[mutant.path], verdict)
                    yield mutant, verdict
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
                _kill_all()

    def _attempt(self, mutant: Mutant, text: bytes) -> Verdict:
        shadow = self._free.get()
        state = shadow.scratch / "state.json"
        try:
            shadow.change(mutant.path, mutant.edit.applied(text))
            given = ["--path", mutant.path, "--state", str(state), "--record", str(self.record)]
            ended, seconds = _execute(shadow, given)
            return replace(_verdict(state, ended), seconds=round(seconds, 1))
        finally:
            shadow.change(mutant.path, text)
            shadow.clear()
            self._free.put(shadow)


def _verdict(state: Path, ended: int | None) -> Verdict:
    """What the process wrote last; where that is no verdict, it died on the way."""
    data = json.loads(state.read_text(encoding="utf-8")) if state.exists() else {}
    if "verdict" in data:
        return Verdict.from_data(data["verdict"])
    if ended is None:
        return Verdict(Judge.HANG, f"in {data.get('at')}")
    return Verdict(Judge.CRASH, f"the process ended with {ended} in {data.get('at', 'its start')}")


def _keep(shadow: Shadow, folder: Path, what: str) -> Any:
    """A part of the record."""
    state, kept = shadow.scratch / f"{what}.json", folder / f"{what}.json"
    ended, _ = _execute(shadow, ["--state", str(state), f"--keep-{what}", str(kept)], keep_compiled=True)
    if ended != 0 or not kept.exists():
        raise RuntimeError("The judges fail on the compiler as it is; see above.")
    return json.loads(kept.read_text(encoding="utf-8"))


_started: set[subprocess.Popen[bytes]] = set()
"""The processes that run now."""


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Ends a process and what it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _kill_all() -> None:
    """Ends what still runs: nothing, unless the run is cut short."""
    for process in list(_started):
        _kill(process)


def _execute(shadow: Shadow, arguments: list[str], *, keep_compiled: bool = False) -> tuple[int | None, float]:
    """The exit status of an attempt, None where it was given up; and its processor time, children included."""
    environment = os.environ | {"HL_CACHE_DIR": str(shadow.scratch / "cache"), "PYTHONHASHSEED": "0"}
    if not keep_compiled:
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
    command = [sys.executable, "-m", "tests.mutate.attempt", *arguments]
    output = None if keep_compiled else subprocess.DEVNULL
    process = subprocess.Popen(
        command, cwd=shadow.tree, env=environment, stdout=output, stderr=output, start_new_session=True
    )
    gave_up = threading.Event()

    def give_up() -> None:
        gave_up.set()
        _kill(process)

    timer = threading.Timer(_PATIENCE, give_up)
    timer.start()
    _started.add(process)
    try:
        _, status, used = os.wait4(process.pid, 0)
    finally:
        timer.cancel()
        _started.discard(process)
    process.returncode = os.waitstatus_to_exitcode(status)
    return None if gave_up.is_set() else process.returncode, used.ru_utime + used.ru_stime
