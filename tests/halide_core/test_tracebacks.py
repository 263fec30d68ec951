"""Tracebacks of errors that nobody caught: the user's frames, unless HL_DEBUG asks for all."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

import pytest

import halide_core as hl
from halide_core import tracebacks

SPLIT = """
import halide_core as hl

def blurred():
    x, y = hl.vars("x y")
    f = hl.Func("f")
    f[x, y] = x + y
    f.split(x, x, y, 0)

blurred()
"""


def shown(tmp_path: Path, script: str, **environment: str) -> str:
    """The stderr of a script that fails."""
    file = tmp_path / "user.py"
    file.write_text(script)
    done = subprocess.run(
        [sys.executable, str(file)], capture_output=True, text=True, check=False, env={"PATH": "", **environment}
    )
    return done.stderr


def test_ends_at_the_users_line(tmp_path: Path) -> None:
    text = shown(tmp_path, SPLIT)
    assert text.count('  File "') == 2, text
    assert "in blurred\n    f.split(x, x, y, 0)\nhalide_core.errors.ScheduleError: " in text
    assert text.rstrip().endswith("f.split(x, x, y, 0)")


def test_debug_shows_all(tmp_path: Path) -> None:
    assert shown(tmp_path, SPLIT, HL_DEBUG="0").count('  File "') == 2
    assert "stage.py" in shown(tmp_path, SPLIT, HL_DEBUG="1")


def test_of_threads(tmp_path: Path) -> None:
    started = "import threading; t = threading.Thread(target=blurred); t.start(); t.join()"
    script = SPLIT.replace("\nblurred()", f"\n{started}")
    text = shown(tmp_path, script)
    assert "Exception in thread" in text
    assert "stage.py" not in text
    assert "in blurred\n    f.split(x, x, y, 0)\nhalide_core.errors.ScheduleError: " in text


def test_of_what_it_came_of(tmp_path: Path) -> None:
    script = SPLIT.replace("\nblurred()", "\ntry: blurred()\nexcept hl.HalideError as e: raise KeyError('mine') from e")
    assert "stage.py" in shown(tmp_path, script)  # a KeyError is not ours to shorten
    script = script.replace("KeyError", "hl.HalideError")
    text = shown(tmp_path, script)
    assert "stage.py" not in text
    assert "in blurred\n    f.split(x, x, y, 0)\nhalide_core.errors.ScheduleError: " in text
    assert "The above exception was the direct cause" in text


@pytest.mark.parametrize(("kind", "frames"), [("InternalError", 2), ("PipelineError", 1)])
def test_internal_errors_show_all(tmp_path: Path, kind: str, frames: int) -> None:
    fault = f"raise errors.{kind}('here')"
    script = f'from halide_core import errors\nexec(compile("{fault}", errors.__file__, "exec"))\n'
    assert shown(tmp_path, script).count('  File "') == frames


def test_frames_are_kept_and_other_hooks_called(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[list[str]] = []

    def files(at: TracebackType | None) -> list[str]:
        return [] if at is None else [at.tb_frame.f_code.co_filename, *files(at.tb_next)]

    monkeypatch.setattr(sys, "excepthook", lambda kind, error, at: seen.append(files(at)))
    tracebacks.install()
    hook = sys.excepthook
    tracebacks.install()
    assert sys.excepthook is hook  # once
    f, x = hl.Func("f"), hl.Var("x")
    f[x] = x
    with pytest.raises(hl.ScheduleError) as caught:
        f.split(x, x, hl.Var("i"), 0)
    whole = files(caught.value.__traceback__)
    hook(hl.ScheduleError, caught.value, caught.value.__traceback__)
    assert len(seen[0]) == 1 < len(whole)
    assert files(caught.value.__traceback__) == whole


class _Shell:
    """IPython's shell, as far as the handler needs it."""

    def __init__(self) -> None:
        self.custom_exceptions: tuple[type[BaseException], ...] = ()
        self.shown: list[TracebackType] = []

    def set_custom_exc(self, kinds: tuple[type[BaseException], ...], handler: Any) -> None:
        self.custom_exceptions, self.handler = kinds, handler

    def showtraceback(self, error: tuple[Any, Any, TracebackType], tb_offset: int | None = None) -> None:
        self.shown.append(error[2])


def test_in_ipython(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = _Shell()
    module = type(sys)("IPython")
    monkeypatch.setattr(module, "get_ipython", lambda: shell, raising=False)
    monkeypatch.setitem(sys.modules, "IPython", module)
    tracebacks.install()
    assert shell.custom_exceptions == (hl.HalideError,)
    f, x = hl.Func("f"), hl.Var("x")
    f[x] = x
    with pytest.raises(hl.ScheduleError) as caught:
        f.split(x, x, hl.Var("i"), 0)
    shell.handler(shell, hl.ScheduleError, caught.value, caught.value.__traceback__)
    assert shell.shown[0].tb_next is None
    assert shell.shown[0].tb_frame.f_code.co_filename == __file__
