"""What the compiler as it is does: each step and test once, with its processor time and the blocks that it runs.

In: marked blocks, the tests as pytest read them. Out: data for ``record.Record``.
"""

from __future__ import annotations

import gc
import json
import os
import subprocess
import tempfile
import time
import traceback
from collections.abc import Callable
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

from tests.mutate.looking import Hang, Looker
from tests.mutate.reached import Hits

SLOW = 1.0
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
    from tests.mutate.judging import steps  # noqa: PLC0415  # its imports are to be marked

    items, results = {}, {}
    for name, look, _ in steps(None):

        def looked(look: Callable[[], Any] = look) -> Any:
            hits.clear()
            start = time.process_time()
            result = look()
            return result, (time.process_time() - start, hits.found())

        results[name], items[name] = _apart(looked)
    return {"items": items, "found": results, "failing": [], "left_out": []}


def _tests(hits: Hits, looker: Looker) -> dict[str, Any]:
    items: dict[str, Any] = {}
    failing: list[str] = []
    left_out: list[str] = []
    starts = _Starts()
    for _, group in groupby(looker.items, key=lambda name: name.partition("::")[0]):
        names = list(group)

        def looked(names: list[str] = names) -> Any:
            with patch.object(subprocess.Popen, "__init__", starts.refuse):
                return [
                    _test(name, following, hits, looker, starts) for name, following in pairwise([*names, None]) if name
                ]

        for name, seconds, blocks, failed, slow in _apart(looked):
            if slow:
                left_out.append(name)
            elif failed:
                failing.append(name)
            else:
                items[name] = (seconds, blocks)
    return {"items": items, "found": {}, "failing": failing, "left_out": left_out}


class _Starts:
    """Whether a test tries to start a process: a compiler takes long, and Python sees no code that was swapped."""

    met = False

    def refuse(self, *arguments: object, **options: object) -> None:
        """In place of starting one."""
        self.met = True
        raise OSError("no processes here")


def _test(
    name: str, following: str | None, hits: Hits, looker: Looker, starts: _Starts
) -> tuple[str, float, list[str], bool, bool]:
    """A test's name, processor time and blocks; whether it fails, and whether it is slow or starts processes."""
    hits.clear()
    Hang.met = starts.met = False
    start = time.process_time()
    looker.test(name, following, SLOW)
    seconds = time.process_time() - start
    return name, seconds, hits.found(), name in looker.failed, starts.met or Hang.met or seconds > SLOW


def _apart(run: Callable[[], Any]) -> Any:
    """What it gives in a process of its own, so that no memo of an earlier one spares it anything."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "found.json"
        child = os.fork()
        if child == 0:
            try:
                told = {"found": run()}
            except BaseException:  # noqa: BLE001  # whatever it is, it is told
                told = {"failed": traceback.format_exc()}
            path.write_text(json.dumps(told), encoding="utf-8")
            os._exit(0)
        os.waitpid(child, 0)
        told = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"failed": "It died."}
        if "failed" in told:
            raise RuntimeError(f"The judges fail on the compiler as it is. {told['failed']}")
        return told["found"]
