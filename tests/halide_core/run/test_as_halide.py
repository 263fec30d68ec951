"""Scripts that say ``import halide``: run as they are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """\
import sys
import halide as hl
from halide import imageio
import halide.imageio as again
import halide_core, beside
assert hl is halide_core and again is imageio and imageio.__name__ == "halide_core.imageio", imageio
x, f = hl.Var("x"), hl.Func("f")
f[x] = x * beside.TWO
print(list(f.realize([4])), sys.argv, __name__)
hl.Expr(1) % hl.Expr(1.5) and 1
"""


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "halide_core", "run", *words], cwd=folder, capture_output=True, text=True, check=False
    )


def test_script_runs_as_it_is(tmp_path: Path) -> None:
    inner = tmp_path / "scripts"
    inner.mkdir()
    (inner / "script.py").write_text(SCRIPT, encoding="utf-8")
    (inner / "beside.py").write_text("TWO = 2\n", encoding="utf-8")
    done = run(tmp_path, "scripts/script.py", "-v", "3")
    assert done.stdout == "[0, 2, 4, 6] ['scripts/script.py', '-v', '3'] __main__\n", done.stderr
    assert done.returncode == 1
    last = [line for line in done.stderr.splitlines() if line.startswith("  File ")][-1]
    assert 'script.py", line 10' in last, "the error is at the script's own line"


def test_status_is_the_script_s(tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text("import halide, sys; sys.exit(7)", encoding="utf-8")
    assert run(tmp_path, "ends.py").returncode == 7
    missing = run(tmp_path, "none.py")
    assert (missing.returncode, missing.stderr.strip().rpartition(": ")[2]) == (2, "there is no file none.py")
    assert run(tmp_path).returncode == 2


def test_package_that_was_imported_before_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "halide.py").write_text("", encoding="utf-8")
    (tmp_path / "early.py").write_text(
        "import halide_core as hl\nimport halide\n"
        "try: hl.install_as_halide()\n"
        "except hl.HalideError as error: print(error)\n",
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, "early.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert '"halide" is imported already, from ' in done.stdout
    assert "halide.py" in done.stdout, done.stderr


def test_names_that_halide_has_not_are_no_modules(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "import halide_core as hl\nhl.install_as_halide(); hl.install_as_halide()\n"
        "import halide\n"
        "try: import halide.nonsense\n"
        "except ModuleNotFoundError as error: print(error)\n",
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, "a.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "No module named 'halide.nonsense'\n", done.stderr


OBJECTS = """\
import halide as hl
import warnings
x, f = hl.Var("x"), hl.Func("f")
print(hl.Buffer(), hl.Buffer(hl.UInt(8), [2, 3]), repr(f), repr(hl.Target("x86-64-linux")))
print(repr(x), x, repr(hl.Int(32, 8)), hl.Int(32), hl.RDom(), hl.Pipeline(), hl.ImageParam(), hl.OutputImageParam())
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    f[x] = hl.f64(0.1) + 0.5
    assert not caught
    hl.f32(x) * 0.1
    assert [issubclass(w.category, RuntimeWarning) for w in caught] == [True]
"""


def test_objects_and_warnings_are_as_scripts_know_them(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(OBJECTS, encoding="utf-8")
    done = run(tmp_path, "a.py")
    buffer = "<halide.Buffer of type uint8 shape:[[0,2,1],[0,3,2]]>"
    target = "<halide.Target x86-64-linux>"
    values = "<halide.Var 'x'> x <halide.Type int32x8> int32"
    undefined = " ".join(f"<halide.{name} {name}()>" for name in ("RDom", "Pipeline", "ImageParam", "OutputImageParam"))
    expected = f"<undefined halide.Buffer> {buffer} <halide.Func 'f'> {target}\n{values} {undefined}\n"
    assert done.stdout == expected, done.stderr
    assert done.returncode == 0, done.stderr


def test_our_own_constants_lose_no_digits(tmp_path: Path) -> None:
    """Of functions that are made of others a script sees no warning."""
    (tmp_path / "ours.py").write_text(
        "import warnings, halide as hl\n"
        "warnings.simplefilter('error')\n"
        "x = hl.f32(hl.Var('x'))\n"
        "taken = [f for f in vars(hl).values() if getattr(f, '__module__', '').startswith('halide_core.lang.ops')]\n"
        "for f in taken:\n"
        "    for count in (1, 2, 3):\n"
        "        try: f(*[x] * count)\n"
        "        except (TypeError, hl.HalideError): pass\n"
        "print(len(taken) > 20)\n"
        "try: x * 0.1\n"
        "except hl.PrecisionWarning: print('told')\n",
        encoding="utf-8",
    )
    done = run(tmp_path, "ours.py")
    assert done.stdout == "True\ntold\n", done.stderr
