"""The documents of the compiler: the table of chapter 2 misses no rule, and what they name exists."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TITLE = "# Every rule of chapter 2, and where it is"
INTERNALS = ROOT / "docs" / "internals"
MOST_LINES = 150

PACKAGES = {"halide_core", "bounds", "lowering", "runtime", "scheduling"}
RULES = {
    "Figure 2.6": "[REALIZE] [CONST-EVAL] [FUNC-ARG-EVAL] [OP-EVAL] [FUNC-SKIP] [FUNC-EVAL] [UPDATE-EVAL] [RDOM-ERR] "
    "[RDOM-EVAL]",
    "Figure 2.8": "[REDUCE] [VAR] [NOP] [ASSERT-TRUE] [LET] [REALIZE] [END] [FOR-ITER] [FOR-STOP] [IF-T] [IF-F] [ASSN] "
    "[ALLOC] [READ] [EVAL]",
    "Figure 2.9": "𝓛(pipeline) 𝓛(fun) 𝓛_B 𝓛_U 𝓛_R 𝓛_P",
    "Figure 2.10a": "𝓑(pipeline) 𝓑(assert) 𝓑(nop) 𝓑(allocate) 𝓑(s; 𝓑(label) 𝓑(let) 𝓑(if) 𝓑(for) 𝓑(assignment) 𝓑_cpu "
    "𝓑_mem",
    "Figure 2.10b": "β₀(∀) β₀(∧) β₀(⇒) β₀(∃) β₀(let) β₀(∈) I(+) I(elided) I(div) I(access) I(variable) I(constant)",
    "Figure 2.11": "schedule loop traversal φ_Guard φ_Shift φ_Round specialize split fuse swap traverse compute-at "
    "store-at bound bound-extent align-bounds",
}
"""The rules of each figure, by the first word of their rows."""

NUMBERED = [
    *(f"Definition 2.{n}" for n in range(1, 18)),
    *(f"Theorem 2.{n}" for n in (1, 2)),
    *(f"Lemma 2.{n}" for n in range(3, 18)),
]


@dataclass(frozen=True)
class Row:
    """One rule, the files that hold it, and (file, test) pairs."""

    rule: str
    files: tuple[str, ...]
    tests: tuple[tuple[str, str], ...]


def read_rows(text: str) -> list[Row]:
    """The rows of the table in a page."""
    lines = text[text.index(TITLE) :].splitlines()
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in lines if line.startswith("| ")]
    return [_row(*each) for each in cells[1:]]


def _row(rule: str, files: str, tests: str) -> Row:
    named = re.findall(r"`([^`]+)`", tests)
    pairs = tuple((path, name) for path, _, name in (each.partition("::") for each in named))
    return Row(rule, tuple(re.findall(r"`([^`]+)`", files)), pairs)


def missing_rules(rows: list[Row]) -> list[str]:
    """Rules without a row."""
    wanted = [f"{figure} {word}" for figure, words in RULES.items() for word in words.split()] + NUMBERED
    found = {" ".join(row.rule.split()[:3]) for row in rows} | {" ".join(row.rule.split()[:2]) for row in rows}
    return [each for each in wanted if each not in found]


@cache
def named_tests(path: Path) -> frozenset[str]:
    """The test functions of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(s.name for s in tree.body if isinstance(s, ast.FunctionDef) and s.name.startswith("test_"))


def faults(rows: list[Row]) -> Iterator[str]:
    """Names in rows that do not exist, and rows that name nothing."""
    for row in rows:
        if not row.files or not row.tests:
            yield f"{row.rule}: names no file or no test"
        for file in row.files:
            if not (ROOT / file).is_file():
                yield f"{row.rule}: {file} does not exist"
        for file, name in row.tests:
            path = ROOT / "tests" / file
            if not path.is_file():
                yield f"{row.rule}: tests/{file} does not exist"
            elif name not in named_tests(path):
                yield f"{row.rule}: tests/{file} has no {name}"


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return read_rows((INTERNALS / "chapter-2.md").read_text(encoding="utf-8"))


def test_table_misses_no_rule(rows: list[Row]) -> None:
    assert missing_rules(rows) == []
    assert len({row.rule for row in rows}) == len(rows)


def test_files_and_tests_of_the_table_exist(rows: list[Row]) -> None:
    assert list(faults(rows)) == []


def unknown_names(text: str) -> list[str]:
    """Paths and full names of modules on a page that do not exist."""
    named = dict.fromkeys(re.findall(r"`([\w./]+)`", text))
    paths = [n for n in named if "/" in n and n.partition("/")[0] in PACKAGES | {"tests", "docs", "benchmarks"}]
    modules = [n for n in named if n.partition(".")[0] in PACKAGES and n.count(".") > 1]
    gone = [n for n in paths if not any((ROOT / each).exists() for each in (n, f"{n}.py"))]
    return gone + [n for n in modules if not _is_module(n)]


def _is_module(name: str) -> bool:
    """True where a dotted name is that of a module, or of something in one."""
    place = ROOT.joinpath(*name.split("."))
    if place.is_dir() or place.with_suffix(".py").is_file():
        return True
    owner = place.parent.with_suffix(".py")
    return owner.is_file() and re.search(rf"\b{place.name}\b", owner.read_text(encoding="utf-8")) is not None


@pytest.mark.parametrize("path", [ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", *sorted(INTERNALS.glob("*.md"))])
def test_what_pages_name_exists(path: Path) -> None:
    assert unknown_names(path.read_text(encoding="utf-8")) == []


def test_names_are_checked() -> None:
    text = "`bounds/query/query.py`, `bounds/nowhere.py`; `bounds.query.query.Query`, `bounds.query.nothing`, `f.0`"
    assert unknown_names(text) == ["bounds/nowhere.py", "bounds.query.nothing"]


def test_map_is_short_and_shows_every_page() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MOST_LINES
    assert [p.name for p in INTERNALS.glob("*.md") if f"(docs/internals/{p.name})" not in text] == []


def test_table_is_checked() -> None:
    text = f"{TITLE}\n\n| rule | files | tests |\n|---|---|---|\n"
    text += "| Lemma 2.3 (x) | `halide_core/errors.py`, `nowhere.py` | `test_layers.py::test_no`, `none.py::test_a` |\n"
    text += "| Lemma 2.4 (y) | | `test_layers.py::test_packages_are_all_there` |\n"
    found = read_rows(text)
    assert "Lemma 2.5" in missing_rules(found)
    assert "Figure 2.8 [LET]" in missing_rules(found)
    assert not {"Lemma 2.3", "Lemma 2.4"} & set(missing_rules(found))
    assert list(faults(found)) == [
        "Lemma 2.3 (x): nowhere.py does not exist",
        "Lemma 2.3 (x): tests/test_layers.py has no test_no",
        "Lemma 2.3 (x): tests/none.py does not exist",
        "Lemma 2.4 (y): names no file or no test",
    ]
