"""Recording of the compiler as it is: each step and test once, with its processor time and the blocks that it runs.

In: marked blocks, the tests as pytest read them. Out: data for ``record.Record``.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import tempfile
import time
import traceback
from collections.abc import Callable
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, NoReturn
from unittest.mock import patch

from tests.campaigns.mutate.looking import Looker
from tests.campaigns.mutate.reached import Hits

Tell = Callable[[Any], NoReturn]
"""Tells what was found, and ends the process."""
_Told = tuple[str, float, list[str], bool, bool]
"""A test's name, processor time and blocks; whether it fails, and whether it is slow or starts processes."""

SLOW = 2.0
"""Tests that take more processor time are not shown to mutants: others see the same sooner."""


def record_part(part: str, hits: Hits, looker: Looker) -> dict[str, Any]:
    """The steps, or the tests."""
    imported = hits.found()
    gc.collect()
    gc.freeze()
    if looker.failed:
        raise RuntimeError(f"The tests can't be read: {looker.failed}")
    found = _steps(hits) if part == "steps" else _tests(hits, looker)
    names = sorted({b for _, blocks in found["items"].values() for b in blocks})
    number = {name: i for i, name in enumerate(names)}
    items = {n: (seconds, [number[b] for b in blocks]) for n, (seconds, blocks) in found["items"].items()}
    return {**found, "imported": imported, "blocks": names, "items": items}


def _steps(hits: Hits) -> dict[str, Any]:
    from tests.campaigns.mutate.judging import steps  # noqa: PLC0415  # its imports are to be marked

    items, results = {}, {}
    for name, look, _ in steps(None):

        def looked(tell: Tell, look: Callable[[], Any] = look) -> None:
            hits.clear()
            start = time.process_time()
            result = look()
            tell((result, (time.process_time() - start, hits.found())))

        results[name], items[name] = _apart(looked)
    return {"items": items, "found": results, "failing": [], "left_out": []}


def _tests(hits: Hits, looker: Looker) -> dict[str, Any]:
    items: dict[str, Any] = {}
    failing: list[str] = []
    left_out: list[str] = []
    starts = _Starts()
    for _, group in groupby(looker.items, key=lambda name: name.partition("::")[0]):
        names = list(group)
        while names:
            looked = partial(_in_turn, names, hits, looker, starts)
            found = _apart(looked)
            for name, seconds, blocks, failed, slow in found:
                if slow:
                    left_out.append(name)
                elif failed:
                    failing.append(name)
                else:
                    items[name] = (seconds, blocks)
            names = names[len(found) :]
    return {"items": items, "found": {}, "failing": failing, "left_out": left_out}


class _Starts:
    """Notes tests that try to start a process: a compiler takes long, and Python sees no code that was swapped."""

    met = False

    def refuse(self, *arguments: object, **options: object) -> None:
        """In place of starting one."""
        self.met = True
        raise OSError("no processes here")


def _in_turn(names: list[str], hits: Hits, looker: Looker, starts: _Starts, tell: Tell) -> None:
    """Tells of tests up to the first that takes too long: none can follow it, for it leaves things in any state."""
    found: list[_Told] = []

    def out_of_time(*_: object) -> None:
        tell([*found, (names[len(found)], SLOW, [], False, True)])

    signal.signal(signal.SIGPROF, out_of_time)
    with patch.object(subprocess.Popen, "__init__", starts.refuse):
        for name, following in pairwise([*names, None]):
            assert name is not None
            found.append(_test(name, following, hits, looker, starts))
    tell(found)


def _test(name: str, following: str | None, hits: Hits, looker: Looker, starts: _Starts) -> _Told:
    hits.clear()
    starts.met = False
    start = time.process_time()
    looker.test(name, following, SLOW)
    seconds = time.process_time() - start
    return name, seconds, hits.found(), name in looker.failed, starts.met or seconds > SLOW


def _apart(run: Callable[[Tell], None]) -> Any:
    """The data that it tells in a process of its own, so that no memo of an earlier one spares it anything."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "found.json"

        def end(**told: Any) -> NoReturn:
            path.write_text(json.dumps(told), encoding="utf-8")
            os._exit(0)

        child = os.fork()
        if child == 0:
            try:
                run(lambda found: end(found=found))
            except BaseException:  # noqa: BLE001  # whatever it is, it is told
                end(failed=traceback.format_exc())
            end(failed="It told nothing.")
        os.waitpid(child, 0)
        told = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"failed": "It died."}
        if "failed" in told:
            raise RuntimeError(f"The judges fail on the compiler as it is. {told['failed']}")
        return told["found"]
