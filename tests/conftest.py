"""Fixtures of every test: a compile cache of its own, certificates, golden files, and property tests that repeat.

    golden("split.txt", text)  # compares with tests/golden/split.txt; --update-golden rewrites it
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import hypothesis
import pytest

from tests.support import durations
from tests.support.certification import FOLDERS, certified

TESTS = Path(__file__).resolve().parent
GOLDEN = TESTS / "golden"
_ENVIRONMENT = tuple(f"HL_{name}" for name in "BOUNDS CACHE CACHE_SIZE CERTIFY COMPILE DEBUG PROFILE VERIFY".split())

hypothesis.settings.register_profile(
    "halide_core", derandomize=True, deadline=None, print_blob=False, database=None, max_examples=100
)
hypothesis.settings.load_profile("halide_core")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="rewrite the files of tests/golden that differ")
    parser.addoption("--fast", action="store_true", help="some tests of each file (tests/support/durations.py)")
    parser.addoption("--update-durations", action="store_true", help="record what the tests of this run take")


_STARTED = pytest.StashKey[float]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what is not in the fast tier."""
    if config.getoption("--fast"):
        chosen = set(durations.fast([(item.nodeid, item) for item in items], durations.read()))
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = [item for item in items if item in chosen]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Notes when a test starts."""
    item.stash[_STARTED] = durations.cpu_seconds()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Says what a test took, in the report that a process hands to the one that started it."""
    report = yield
    if call.when == "teardown":
        report.user_properties.append(("cpu_seconds", durations.cpu_seconds() - item.stash[_STARTED]))
    return report


def pytest_configure(config: pytest.Config) -> None:
    """Records durations in the process that all reports come to."""
    if config.getoption("--update-durations") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Record())


class _Record:
    """Keeps what tests took, and writes it at the end."""

    def __init__(self) -> None:
        self._taken: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keeps what one test took."""
        if report.when == "teardown":
            self._taken[report.nodeid] = dict(report.user_properties)["cpu_seconds"]

    def pytest_sessionfinish(self) -> None:
        """Records everything."""
        durations.write(durations.updated(durations.read(), self._taken, TESTS.parent))


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The compile cache of this run: empty at its start, shared by its tests and by the processes they start."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        for name in _ENVIRONMENT:
            patch.delenv(name, raising=False)
        patch.setenv("HL_CACHE_DIR", str(folder))
        patch.setenv("HL_VERIFY", "1")  # the IR, after each pass
        yield folder


@pytest.fixture(autouse=True)
def certificates(request: pytest.FixtureRequest) -> Iterator[None]:
    """Certifies what tests compile (``tests.support.certification``)."""
    here = request.node.path.relative_to(TESTS).parts[0]
    if here not in FOLDERS or request.node.get_closest_marker("uncertified"):
        yield
        return
    with certified():
        yield


@pytest.fixture
def golden(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """``golden(name, text)`` fails, with the difference, unless ``tests/golden/<name>`` holds the text.

    Files are of machines with registers of 64 bytes."""
    monkeypatch.setattr("halide_core.lowering.driver.register_bytes", lambda target: 64)
    update = bool(request.config.getoption("--update-golden"))

    def compare(name: str, text: str) -> None:
        path = GOLDEN / name
        wanted = path.read_text(encoding="utf-8") if path.exists() else None
        found = text.rstrip("\n") + "\n"
        if found == wanted:
            return
        if update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(found, encoding="utf-8", newline="\n")
            return
        pytest.fail(_difference(name, wanted, found, request.node.nodeid), pytrace=False)

    return compare


def _difference(name: str, wanted: str | None, found: str, test: str) -> str:
    if wanted is None:
        lines = [f'There is no "tests/golden/{name}" yet. It would hold:', "", found.rstrip("\n")]
    else:
        before, after = wanted.splitlines(), found.splitlines()
        shown = difflib.unified_diff(before, after, f"tests/golden/{name}", "this run", lineterm="", n=5)
        lines = [f'The text differs from "tests/golden/{name}":', "", *shown]
    return "\n".join([*lines, "", f'If that is meant: .venv/bin/python -m pytest "{test}" --update-golden', ""])
