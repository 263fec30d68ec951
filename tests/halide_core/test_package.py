"""The package's names, its import time's ingredients, and what a shadowed sibling does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import halide_core as hl
from halide_core.pending import MODULE
from halide_core.shadowing import check_siblings

HOME = Path(hl.__file__).resolve().parent.parent


def test_names_are_exported_or_pending_but_not_both() -> None:
    assert all(hasattr(hl, name) for name in hl.__all__)
    assert not [name for name in sorted(MODULE) if hasattr(hl, name)]


def test_name_error_when_it_is_not_available_yet() -> None:
    with pytest.raises(hl.NotAvailableError, match='"memoize_tag" is not available yet'):
        hl.memoize_tag  # type: ignore[attr-defined]  # noqa: B018  # on purpose
    with pytest.raises(AttributeError, match="nonsense"):
        hl.nonsense  # type: ignore[attr-defined]  # noqa: B018  # on purpose


def _run(code: str, path: list[Path], folder: Path = HOME) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path))}
    return subprocess.run(
        [sys.executable, "-c", code], env=env, cwd=folder, capture_output=True, text=True, check=False
    )


def test_import_loads_no_heavy_library() -> None:
    code = (
        "import sys, halide_core; print([m for m in ('sympy', 'z3', 'islpy', 'cffi', 'runtime') if m in sys.modules])"
    )
    assert _run(code, [HOME]).stdout.strip() == "[]"


@pytest.mark.parametrize("form", ["module", "package"])
def test_import_error_when_a_sibling_is_shadowed(tmp_path: Path, form: str) -> None:
    file = tmp_path / "scheduling.py" if form == "module" else tmp_path / "scheduling" / "__init__.py"
    file.parent.mkdir(exist_ok=True)
    file.write_text("")
    ran = _run("import halide_core", [HOME], tmp_path)
    named = file if form == "module" else file.parent
    assert ran.returncode == 1
    assert ran.stderr.strip().splitlines()[-1].startswith("ImportError: ")
    assert str(named) in ran.stderr.splitlines()[-1]


def test_siblings_are_accepted_when_they_stand_beside_us_or_nowhere() -> None:
    check_siblings(HOME)
    check_siblings(HOME, ("a_package_that_nobody_has",))
