"""Runs the tests that show directives, and notes what each shows.

In: the folders of such tests. Out: an Evidence: for each directive, and each tail strategy, the golden files, the tests
in which it is refused, and the claims of the certificates of the programs in golden files. Only tests that pass count.
"""

from __future__ import annotations

import contextlib
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import halide_core.lowering.certify
from halide_core.bounds.verify.certificate import PipelineCertificate
from halide_core.lowering.certify import certify_program
from tests.campaigns.directives.watch import Given, Watch

TESTS = Path(__file__).resolve().parents[2]
FOLDERS = ("scheduling", "error")
"""Below ``tests``: a test of a directive in one of them is found by itself."""

Row = tuple[str, str]
"""A directive's method, and a tail strategy or an empty string."""


def rows_of(call: Given) -> list[Row]:
    """The rows that a call belongs to."""
    return [(call.method, ""), *([("split", call.tail)] if call.tail else [])]


@dataclass
class Evidence:
    """The findings for each row."""

    golden: dict[Row, dict[str, int]] = field(default_factory=dict)
    """The golden files, each with the number of directives in its program: the fewer, the more it shows of this one."""
    legality: dict[Row, dict[str, int]] = field(default_factory=dict)
    """The tests in which it is refused, each with the number of rows that are refused there."""
    claims: dict[Row, Counter[str]] = field(default_factory=dict)
    """Of the certificates of the programs in its golden files: how many claims ended how."""
    passed: int = 0
    failed: list[str] = field(default_factory=list)


@dataclass
class _Item:
    """The findings of one test."""

    watch: Watch = field(default_factory=Watch)
    golden: list[str] = field(default_factory=list)
    claims: Counter[str] = field(default_factory=Counter)

    def compare(self, real: Any) -> Any:
        """The fixture ``golden``, noting the names of files."""

        def compare(name: str, text: str) -> None:
            real(name, text)
            self.golden.append(name)

        return compare

    def certify(self, *args: Any) -> PipelineCertificate:
        """A certificate, counted."""
        certificate = certify_program(*args)
        self.claims.update(result.status.value for result in certificate.results)
        return certificate


class Recorder:
    """A plugin of pytest's."""

    def __init__(self) -> None:
        self.evidence = Evidence()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Function) -> Iterator[None]:
        """Watches one test."""
        shown = _Item()
        with pytest.MonkeyPatch.context() as patch:
            if "golden" in item.funcargs:
                item.funcargs["golden"] = shown.compare(item.funcargs["golden"])
                patch.setattr(halide_core.lowering.certify, "certify_program", shown.certify)
            else:
                patch.delenv("HL_CERTIFY", raising=False)  # what else is compiled here is certified by `make test`
            try:
                with shown.watch:
                    result = yield
            except BaseException:
                self.evidence.failed.append(item.nodeid)
                raise
        self._note(item, shown)
        return result

    def _note(self, item: pytest.Function, shown: _Item) -> None:
        found = self.evidence
        found.passed += 1
        name = f"{item.path.relative_to(TESTS)}::{item.originalname}"
        refused = {row for call in shown.watch.refused for row in rows_of(call)}
        refused |= {(method, "") for mark in item.iter_markers("always_legal") for method in mark.args}
        for row in refused:
            tests = found.legality.setdefault(row, {})
            tests[name] = max(len(refused), tests.get(name, 0))
        given = {row for call in shown.watch.given for row in rows_of(call)}
        for row in given if shown.golden else ():
            for file in shown.golden:
                found.golden.setdefault(row, {})[file] = len(given)
            found.claims.setdefault(row, Counter()).update(shown.claims)


def gather(paths: list[str] | None = None) -> Evidence:
    """Runs the tests, and says what they show. What pytest prints goes to standard error."""
    recorder = Recorder()
    asked = paths if paths is not None else [str(TESTS / folder) for folder in FOLDERS]
    with contextlib.redirect_stdout(sys.stderr):
        pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", *asked], plugins=[recorder])
    return recorder.evidence
