"""The package's names, its import time's ingredients, and modules of the user's that have a package's name."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import halide_core as hl
from halide_core.unsupported import MODULE

ROOT = Path(__file__).resolve().parents[2]
HOME = Path(hl.__file__).resolve().parent.parent


def test_names_are_exported_or_pending_but_not_both() -> None:
    assert all(hasattr(hl, name) for name in hl.__all__)
    assert not [name for name in sorted(MODULE) if hasattr(hl, name)]


def test_name_error_when_it_is_not_available_yet() -> None:
    with pytest.raises(hl.NotAvailableError, match='"propagate_adjoints" is not available yet'):
        hl.propagate_adjoints  # type: ignore[attr-defined]  # noqa: B018  # on purpose
    with pytest.raises(AttributeError, match="nonsense"):
        hl.nonsense  # type: ignore[attr-defined]  # noqa: B018  # on purpose


def test_version_is_told() -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", hl.__version__)
    assert f"## {hl.__version__}\n" in (HOME / "CHANGELOG.md").read_text(encoding="utf-8")


def test_source_distribution_keeps_every_link() -> None:
    folders = [HOME / "src", HOME / "halide_core"]
    links = [p.relative_to(HOME).as_posix() for folder in folders for p in folder.iterdir() if p.is_symlink()]
    text = (HOME / "setup.py").read_text(encoding="utf-8")
    (named,) = [node.value for node in ast.parse(text).body if isinstance(node, ast.Assign)]
    assert sorted(links) == sorted(eval(compile(ast.Expression(named), "setup.py", "eval"), {}))  # noqa: S307  # ours


def _run(code: str, path: list[Path], folder: Path = HOME) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    return subprocess.run(
        [sys.executable, "-c", code], env=env, cwd=folder, capture_output=True, text=True, check=False
    )


def test_import_loads_no_heavy_library() -> None:
    code = (
        "import sys, halide_core;"
        "print([m for m in ('sympy', 'z3', 'islpy', 'cffi', 'halide_core.runtime') if m in sys.modules])"
    )
    assert _run(code, [HOME]).stdout.strip() == "[]"


def test_run_that_the_cache_has_loads_nothing_that_makes_code() -> None:
    code = (
        "import sys, halide_core as hl; x, f = hl.Var('x'), hl.Func('f_in_the_cache'); f[x] = x + 40;"
        "f.vectorize(x, 4); made = ('filelock', 'halide_core.lowering.driver', 'halide_core.runtime.codegen.unit');"
        "print(f.realize([8])[2], [m for m in made if m in sys.modules])"
    )
    _run(code, [HOME])
    assert _run(code, [HOME]).stdout.strip() == "42 []"


def test_src_holds_the_package_and_nothing_else() -> None:
    assert [p.name for p in (ROOT / "src").iterdir() if not p.name.endswith(".egg-info")] == ["halide_core"]
    assert (ROOT / "src/halide_core").samefile(ROOT / "halide_core")


@pytest.mark.parametrize("home", [ROOT, ROOT / "src"], ids=["checkout", "editable installation"])
def test_modules_of_the_users_may_have_the_names_of_packages(home: Path, tmp_path: Path) -> None:
    for name in ("bounds", "lowering", "runtime", "scheduling", "ir", "analysis"):
        (tmp_path / f"{name}.py").write_text("raise ImportError\n")
    code = (
        "import halide_core as hl, sys; x, f = hl.Var('x'), hl.Func('f'); f[x] = x;"
        "print(f.realize([3])[2], [m for m in ('bounds', 'lowering', 'runtime', 'scheduling') if m in sys.modules])"
    )
    ran = _run(code, [tmp_path, home], tmp_path)
    assert (ran.stdout.strip(), ran.stderr) == ("2 []", "")
