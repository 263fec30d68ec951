"""A C compiler whose optimized code waits at a gate, for tests of the two speeds; and C functions that count calls."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.runtime.execute.levels import Calls
from tests.support.gate import Gate


@pytest.fixture(scope="module", name="made")
def fixture_made(tmp_path_factory: pytest.TempPathFactory) -> Gate:
    """The compiler of a file's tests: each has its runtime once."""
    return Gate.made(tmp_path_factory.mktemp("gated"))


@pytest.fixture(name="gate")
def fixture_gate(made: Gate, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    """Haste, and the gate shut."""
    with made.hurried(monkeypatch) as gate:
        yield gate


@pytest.fixture(scope="session")
def calls(tmp_path_factory: pytest.TempPathFactory) -> Calls:
    """C functions that count their calls, in this process."""
    return Calls.made(tmp_path_factory.mktemp("levels"))
