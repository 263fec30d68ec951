"""The documentation's pages name modules that exist, and every public name of the package stands on one of them."""

from __future__ import annotations

import re
from pathlib import Path

import halide_core as hl

ROOT = Path(__file__).resolve().parents[1]
PAGES = {page.stem: page.read_text(encoding="utf-8") for page in (ROOT / "docs").glob("*.rst")}
MODULES = [name for text in PAGES.values() for name in re.findall(r"automodule:: (\S+)", text)]


def test_each_module_is_on_one_page() -> None:
    assert len(MODULES) == len(set(MODULES))
    for name in MODULES:
        path = ROOT / name.replace(".", "/")
        assert path.with_name(f"{path.name}.py").is_file() or (path / "__init__.py").is_file(), name


def test_every_public_name_is_documented() -> None:
    absent = []
    for name in hl.__all__:
        thing = getattr(hl, name)
        module = getattr(thing, "__module__", None) or getattr(thing, "__name__", "")
        if isinstance(thing, hl.Var):  # the implicit variables
            continue
        if module not in MODULES and getattr(thing, "__name__", "") not in MODULES:
            absent.append(f"{name} of {module}")
    assert absent == []


def test_pages_are_in_the_table_of_contents_and_show_every_script() -> None:
    assert all(re.search(rf"^   {page}$", PAGES["index"], re.MULTILINE) for page in PAGES if page != "index")
    for script in (ROOT / "examples" / "tutorial").glob("t[0-9]*.py"):
        assert f"literalinclude:: ../examples/tutorial/{script.name}" in PAGES["tutorial"]
