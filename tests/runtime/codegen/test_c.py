"""C in files: each is whole by itself, and some unit is made of it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from halide_core.errors import InternalError
from halide_core.runtime import codegen
from halide_core.runtime.codegen import c
from halide_core.runtime.compile.target_flags import INCLUDE_FOLDER
from halide_core.runtime.compile.toolchain import find_compiler

FILES = sorted(path.name for path in (*c.FOLDER.glob("*.h"), *INCLUDE_FOLDER.glob("cffi_*.h")))


@pytest.mark.parametrize("name", FILES)
def test_file_compiles_by_itself(name: str, tmp_path: Path) -> None:
    folder = c.FOLDER if (c.FOLDER / name).exists() else INCLUDE_FOLDER
    flags = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", "-c", "-o", str(tmp_path / "unit.o")]
    unit = tmp_path / "unit.c"
    unit.write_text(f'#include "{folder / name}"\nint unit;\n')
    command = [*find_compiler().command, *flags, f"-I{INCLUDE_FOLDER}", str(unit)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_each_file_is_emitted() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in Path(codegen.__file__).parent.rglob("*.py"))
    unused = [p.name for p in c.FOLDER.glob("*.h") if f'"{p.name}"' not in text and f'"{p.stem}"' not in text]
    assert unused == []
    assert all(c.resource(p.name) for p in c.FOLDER.glob("*.h"))


def test_error_when_a_file_has_no_mark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "unmarked.h").write_text("int x;\n")
    monkeypatch.setattr(c, "FOLDER", tmp_path)
    with pytest.raises(InternalError, match=r'"unmarked\.h" has no line'):
        c.resource("unmarked.h")
