"""Runs mutants, several at a time, each in a process and a copy of the tree of its own.

In: mutants, the number of jobs. Out: their Verdicts, as they come; with a file to resume from, those it holds first.
"""

from __future__ import annotations

import hashlib
import json
import queue
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.campaigns.mutate.mutant import Mutant
from tests.campaigns.mutate.processes import COLD, Server, execute, kill_all
from tests.campaigns.mutate.record import Record
from tests.campaigns.mutate.shadow import Shadow
from tests.campaigns.mutate.verdict import Judge, Verdict


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
    """Copies of the tree, a process in each that has the compiler as it is, and the record of it."""

    def __init__(self, root: Path, jobs: int) -> None:
        self._shadows = [Shadow(root) for _ in range(jobs)]
        self._free: queue.SimpleQueue[_Place] = queue.SimpleQueue()
        self._found = self._shadows[0].scratch.parent / "found.json"
        self._proven: dict[str, set[str]] = {}
        self.record = Record()
        for shadow in self._shadows:
            self._free.put(_Place(shadow, self._found))

    @property
    def tree(self) -> Path:
        """A copy of the tree without any change, until mutants run."""
        return self._shadows[0].tree

    def close(self) -> None:
        """Deletes the copies."""
        for shadow in self._shadows:
            shadow.remove()

    def prepare(self) -> Record:
        """Records the compiler as it is. Raises: RuntimeError where its own programs go wrong without a change."""
        with ThreadPoolExecutor(len(self._shadows)) as pool:
            parts = [
                pool.submit(_keep, s, part) for s, part in zip(_both(self._shadows), ("steps", "tests"), strict=True)
            ]
            self.record = Record.of([part.result() for part in parts])
        for shadow in self._shadows:
            shadow.clear()
        self._found.write_text(json.dumps(self.record.found), encoding="utf-8")
        return self.record

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
                kill_all()

    def _attempt(self, mutant: Mutant, text: bytes) -> Verdict:
        place = self._free.get()
        try:
            proven = self._proven.setdefault(mutant.path, set())
            queue = self.record.queue(mutant, tuple(proven))
            verdict = place.attempt(mutant, text, queue, served=self.record.is_swappable(mutant))
            name = verdict.why.partition(": ")[0]
            if name in self.record.items:
                proven.add(name)
            return verdict
        finally:
            self._free.put(place)


class _Place:
    """A copy of the tree, and what runs there, one mutant at a time."""

    def __init__(self, shadow: Shadow, found: Path) -> None:
        self._shadow = shadow
        self._found = found
        self._server: Server | None = None

    def attempt(self, mutant: Mutant, text: bytes, queue: list[tuple[str, float]], *, served: bool) -> Verdict:
        """A mutant's verdict. Where ``served``, by a process that has imported the compiler already."""
        shadow = self._shadow
        state, given = shadow.scratch / "state.json", ["--scratch", str(shadow.scratch), "--found", str(self._found)]
        request = {"path": mutant.path, "before": text.decode(), "queue": queue, "state": str(state)}
        try:
            if served and self._server is None:
                self._server = Server(shadow, given)
            shadow.change(mutant.path, mutant.edit.applied(text))
            ended: int | None = COLD
            seconds = more = 0.0
            if served and self._server is not None:
                ended, seconds = self._server.asked(request)
            if ended == COLD:
                file = shadow.scratch / "request.json"
                file.write_text(json.dumps(request), encoding="utf-8")
                ended, more = execute(shadow, [*given, "--request", str(file)])
            if ended is None:
                self._server = None
            return replace(_verdict(state, ended), seconds=round(seconds + more, 1))
        finally:
            shadow.change(mutant.path, text)
            shadow.clear()


def _both(shadows: Sequence[Shadow]) -> tuple[Shadow, Shadow]:
    return shadows[0], shadows[-1]


def _verdict(state: Path, ended: int | None) -> Verdict:
    """The verdict that the process wrote last; where that is no verdict, it died on the way."""
    data = json.loads(state.read_text(encoding="utf-8")) if state.exists() else {}
    if "verdict" in data:
        return Verdict.from_data(data["verdict"])
    if ended is None or -ended in (signal.SIGXCPU, signal.SIGALRM):
        return Verdict(Judge.HANG, f"{data.get('at')}: hangs")
    return Verdict(Judge.CRASH, f"{data.get('at', 'its start')}: the process ended with {ended}")


def _keep(shadow: Shadow, part: str) -> Any:
    """A part of the record."""
    kept = shadow.scratch / f"{part}.json"
    given = ["--scratch", str(shadow.scratch), "--part", part, "--keep", str(kept)]
    ended, _ = execute(shadow, given, output=None)
    if ended != 0 or not kept.exists():
        raise RuntimeError("The judges fail on the compiler as it is; see above.")
    return json.loads(kept.read_text(encoding="utf-8"))
