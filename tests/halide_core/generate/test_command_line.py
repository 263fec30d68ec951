"""The command line of Generators: which files it writes, and what it says where it can't."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import halide_core as hl
from halide_core.generate import command_line
from tests.support.gallery import GALLERY, ROOT, gallery
from tests.support.symbols import symbols


@pytest.fixture(scope="module", autouse=True)
def names() -> Iterator[None]:
    """The gallery's Generators, and no others."""
    with gallery():
        yield


def files(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def test_files_are_those_that_are_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["-g", "brighten", "-o", str(tmp_path / "out"), "-e", "c_source,c_header,stmt,conceptual_stmt,stmt_html"]
    assert command_line.run([*words, "-f", "lighter", "-v", "1", "target=host", "factor=3"]) == 0
    expected = "lighter.conceptual.stmt lighter.h lighter.halide_generated.c lighter.stmt lighter.stmt.html".split()
    assert files(tmp_path / "out") == ["halide_runtime.h", *expected]
    assert "int lighter(halide_buffer_t *source, uint8_t offset, halide_buffer_t *out);" in (
        tmp_path / "out" / "lighter.h"
    ).read_text()
    listed = capsys.readouterr().out.split()
    assert sorted(Path(name).name for name in listed) == expected
    assert command_line.run([*words[:-1], "c_source", "-n", "other", "-f", "some_name"]) == 0
    assert "int some_name(" in (tmp_path / "out" / "other.halide_generated.c").read_text()


def test_autoscheduler_of_a_plugin_chooses_the_schedule(tmp_path: Path) -> None:
    hl.load_plugin("autoschedule_mullapudi2016")

    @hl.generator("squares")
    class Squares:
        source = hl.InputBuffer(hl.UInt(8), 2)
        out = hl.OutputBuffer(hl.UInt(16), 2)

        def generate(g) -> None:  # type: ignore[no-untyped-def]  # as users write them
            x, y = hl.Var("x"), hl.Var("y")
            g.out[x, y] = hl.u16(g.source[x, y]) * g.source[x, y]
            for buffer in (g.source, g.out):
                buffer.set_estimates([(0, 640), (0, 480)])

    words = ["-g", "squares", "-o", str(tmp_path), "-e", "schedule", "target=host"]
    assert command_line.run(words) == 0
    plain = (tmp_path / "squares.schedule.py").read_text()
    plugins = ["-p", "libautoschedule_mullapudi2016.so", "autoscheduler=Mullapudi2016", "autoscheduler.parallelism=2"]
    assert command_line.run([*words, *plugins]) == 0
    chosen = (tmp_path / "squares.schedule.py").read_text()
    assert "vectorize" in chosen and "vectorize" not in plain


def test_runtime_is_apart_where_the_target_says_so(tmp_path: Path) -> None:
    words = ["-g", "axpy", "-o", str(tmp_path), "target=host-no_runtime"]
    assert command_line.run(words) == 0
    assert command_line.run(["-r", "the_runtime", "-o", str(tmp_path), "target=host"]) == 0
    assert {"axpy.a", "axpy.h", "the_runtime.a", "halide_runtime.h"} <= set(files(tmp_path))
    weak = {
        name: {s.name for s in symbols(tmp_path / f"{name}.a") if s.weak and s.defined}
        for name in ("axpy", "the_runtime")
    }
    assert "halide_core_malloc" not in weak["axpy"] and "halide_core_malloc" in weak["the_runtime"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "-g names a Generator, or -r a runtime to write. The Generators are: axpy, brighten, blur"),
        (["-g", "brighten"], "-o names the folder"),
        (["-g", "brihgten", "-o", "."], 'There is no Generator "brihgten"; there is brighten'),
        (["-g", "brighten", "-o", ".", "-e", "object,nothing"], '"nothing" is no kind of file for -e; these are:'),
        (["-g", "brighten", "-o", ".", "-e", "bitcode"], 'A file of the kind "bitcode" can\'t be written; these can'),
        (["-g", "brighten", "-o", ".", "factr=3"], "no GeneratorParam 'factr'; it has factor"),
        (["-g", "brighten", "-o", ".", "factor=x"], "GeneratorParam \"factor\" is an integer, not 'x'"),
        (["-g", "brighten", "-o", ".", "factor=1", "factor=2"], '"factor" is set twice'),
        (["-g", "brighten", "-o", ".", "-f", "a::b"], '"a::b" can\'t be the name of a C function'),
        (["-g", "brighten", "-o", ".", "-f", "grün"], '"grün" can\'t be the name of a C function'),
        (["-g", "convert", "-o", "."], 'No type is set of "source"'),
        (["-g", "brighten", "-o", ".", "target=host-nothing"], '"nothing" in the target'),
        (["-g", "brighten", "-o", ".", "target=host,arm-64-linux"], "are for one machine"),
        (["-g", "brighten", "-o", ".", "autoscheduler=Best"], 'There is no autoscheduler "Best"'),
        (["-g", "brighten", "-o", ".", "-p", "some.so"], 'There is no plugin "some.so"'),
        (["-q", "brighten"], "Unknown flag: -q"),
        (["-g"], "-g needs a value"),
        (["brighten"], '"brighten" is no flag, and no PARAMETER=VALUE'),
        (["-g", "brighten", "-o", ".", "-t", "soon"], "-t takes a number of seconds"),
        (["-g", "brighten", "-o", "/dev/null/x"], "The folder /dev/null/x can't be made"),
    ],
)
def test_errors_are_told(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.run(words) == 1
    shown = capsys.readouterr()
    assert shown.err.startswith("Error: ") and told in shown.err and shown.out == ""


def test_main_ends_with_a_status(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["gallery.py", "-g", "brighten"])
    with pytest.raises(SystemExit) as ended:
        hl.main()
    assert ended.value.code == 1
    monkeypatch.setattr(sys, "argv", ["gallery.py", "-help"])
    hl.main()
    told = capsys.readouterr().out
    assert "usage: [-g GENERATOR]" in told and "Generators: axpy, brighten," in told and "xor_mask" in told


def test_time_limit_ends_what_takes_too_long() -> None:
    limit = command_line._time_limit(0.05)
    with pytest.raises(hl.HalideError, match=r"The time that -t gives, 0\.05 s, is over"), limit:
        time.sleep(10)
    with command_line._time_limit(0):
        pass


def test_file_of_generators_is_found_by_the_package(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "halide_core", "generate"]
    done = subprocess.run(
        [*command, str(GALLERY), "-g", "xor_mask", "-o", "here", "-e", "c_header"],
        cwd=tmp_path, env=env, capture_output=True, text=True, check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert files(tmp_path / "here") == ["halide_runtime.h", "xor_mask.h"]


def test_file_that_can_not_be_loaded_is_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command_line.generate_from([]) == 2
    assert "generate needs a Python file" in capsys.readouterr().err
    assert command_line.generate_from([str(tmp_path / "none.py")]) == 1
    assert "none.py can't be loaded" in capsys.readouterr().err
    assert command_line.generate_from(["no_such_module_at_all"]) == 1
    assert "no_such_module_at_all can't be loaded" in capsys.readouterr().err
