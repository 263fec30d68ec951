"""A C compiler that says what it is asked for, and makes optimized pipelines only while a gate is open.

In: a folder. Out: a script for $CC, and the Gate.

    gate = Gate.made(folder);  gate.shut();  f.realize([4]);  gate.asked()   ->   ["soon", "optimized"]
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from halide_core.runtime.compile.toolchain import find_compiler
from halide_core.runtime.execute.background import BACKGROUND

_COMPILER = """#!/bin/sh
case "$*" in
*-O1*pipeline_*)
    if [ -e {folder}/refused ]; then echo "not even soon"; exit 8; fi
    echo soon >> {folder}/log ;;
*-o*pipeline.so*pipeline_*)
    echo optimized >> {folder}/log
    while [ -e {folder}/shut ]; do sleep 0.02; done
    if [ -e {folder}/broken ]; then echo "not today"; exit 7; fi ;;
esac
exec {real} "$@"
"""


@dataclass(frozen=True)
class Gate:
    """The wait of optimized pipelines, and a record of what the compiler was asked for. Files named "refused" and
    "broken" in its folder make first and optimized pipelines fail."""

    folder: Path

    @classmethod
    def made(cls, folder: Path) -> Gate:
        """Writes the compiler."""
        script = cls(folder).compiler
        script.write_text(_COMPILER.format(folder=folder, real=shlex.join(find_compiler().command)))
        script.chmod(0o755)
        return cls(folder)

    @property
    def compiler(self) -> Path:
        """The script."""
        return self.folder / "gated"

    @contextmanager
    def hurried(self, patch: pytest.MonkeyPatch) -> Iterator[Gate]:
        """HL_COMPILE=fast with that compiler, the gate shut."""
        patch.setenv("CC", str(self.compiler))
        patch.setenv("HL_COMPILE", "fast")
        (self.folder / "log").unlink(missing_ok=True)
        self.shut()
        yield self
        self.settled()
        for trouble in ("broken", "refused"):
            (self.folder / trouble).unlink(missing_ok=True)

    def shut(self) -> None:
        """From now on they wait."""
        (self.folder / "shut").touch()

    def open(self) -> None:
        """They wait no longer."""
        (self.folder / "shut").unlink(missing_ok=True)

    def settled(self) -> None:
        """Opens, and waits until all is compiled."""
        self.open()
        BACKGROUND.wait()

    def asked(self) -> list[str]:
        """The pipelines' compiles so far, in order."""
        log = self.folder / "log"
        return log.read_text().split() if log.exists() else []

    def await_asked(self, what: str, times: int = 1) -> None:
        """Waits until so many compiles have begun."""
        end = time.monotonic() + 60
        while self.asked().count(what) < times:
            assert time.monotonic() < end, self.asked()
            time.sleep(0.01)
