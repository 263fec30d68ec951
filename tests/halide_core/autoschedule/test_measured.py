"""The constants of a machine: within reason, measured once, and read from the cache folder afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from halide_core.autoschedule.constants import Constants
from halide_core.autoschedule.measured import constants_of_this_machine


def test_constants_are_kept_and_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HL_CACHE_DIR", str(tmp_path / "first"))
    found = constants_of_this_machine()
    file = tmp_path / "first" / "machine.json"
    kept = json.loads(file.read_text(encoding="utf-8"))
    assert Constants(**kept["constants"]) == found
    kept["constants"]["byte_memory"] = 0.125
    other = tmp_path / "second"
    other.mkdir()
    (other / "machine.json").write_text(json.dumps(kept), encoding="utf-8")
    monkeypatch.setenv("HL_CACHE_DIR", str(other))
    assert constants_of_this_machine().byte_memory == 0.125


@pytest.mark.parametrize("damaged", ["", "{}", '{"machine": 1, "constants": {"l1": 2}}', "[1, 2"])
def test_constants_of_another_machine_or_of_a_damaged_file_are_measured(
    damaged: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "machine.json").write_text(damaged, encoding="utf-8")
    monkeypatch.setenv("HL_CACHE_DIR", str(tmp_path))
    found, usual = constants_of_this_machine(), Constants()
    assert found.l1 <= found.l2 <= found.l3
    assert usual.byte_memory <= found.byte_memory <= round(usual.byte_memory * 3, 6)
    assert json.loads((tmp_path / "machine.json").read_text(encoding="utf-8"))["constants"]["l1"] == found.l1


def test_without_a_cache_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HL_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("HL_CACHE", "0")
    constants_of_this_machine()
    assert not any(tmp_path.iterdir())
