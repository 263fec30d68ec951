"""A file is written as a whole, or stays as it was."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest

import halide_core as hl
from halide_core.whole_files import replaced

x, y = hl.Var("x"), hl.Var("y")


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def test_what_is_written_takes_the_place_of_what_was(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with replaced(path) as part:
        part.write_text("one")
        assert not path.exists()
        assert part.suffix == ".txt"
    path.chmod(0o600)
    with replaced(path) as part:
        part.write_text("two")
        assert path.read_text() == "one"
    assert (path.read_text(), path.stat().st_mode & 0o777) == ("two", 0o600)
    assert names(tmp_path) == ["a.txt"]


def fill(part: Path) -> None:
    part.write_text("tw")
    raise OSError("full")


def test_an_error_in_the_middle_leaves_what_was(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("one")
    with pytest.raises(OSError, match="full"), replaced(path) as part:
        fill(part)
    assert path.read_text() == "one"
    assert names(tmp_path) == ["a.txt"]


def test_a_link_stays_one_and_a_pipe_is_written_to(tmp_path: Path) -> None:
    path, link, pipe = tmp_path / "a.txt", tmp_path / "link", tmp_path / "pipe"
    path.write_text("one")
    link.symlink_to(path)
    with replaced(link) as part:
        part.write_text("two")
    assert link.is_symlink()
    assert path.read_text() == "two"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    with replaced(pipe) as part:
        part.write_text("three")
    reader.join()
    assert read == ["three"]


def write(f: hl.Func, path: Path) -> None:
    if path.suffix == ".png":
        hl.imageio.imwrite(path, np.zeros((3, 4), np.uint8))
    else:
        hl.serialize_pipeline(f, path)


@pytest.mark.parametrize("name", ["picture.png", "p.json", "p.hlpipe"])
def test_pictures_and_pipelines_that_do_not_fit_leave_the_file_that_was(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / name
    path.write_text("one")
    f = hl.Func("f")
    f[x, y] = hl.u8(x + y)

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(hl.HalideError, match="can't be written"):
        write(f, path)
    assert path.read_text() == "one"
    assert names(tmp_path) == [name]
