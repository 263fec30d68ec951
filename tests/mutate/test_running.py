"""Copies of the tree, the log of verdicts, and the report, on made-up trees: the judges themselves have other tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from tests.mutate import report, running
from tests.mutate.attempt import _guarded, _State
from tests.mutate.mutant import Mutant
from tests.mutate.operators import mutants
from tests.mutate.report import Report
from tests.mutate.running import Log, Runner, digest_of_tests
from tests.mutate.shadow import Shadow
from tests.mutate.survivors import Reason, Survivor
from tests.mutate.verdict import Judge, Killed, Verdict

ROOT = Path(__file__).resolve().parents[2]
TEXT = b"def f(a, b):\n    return a < b\n\n\ndef g(a):\n    return a + 1\n"
PATH = "bounds/a.py"
RELATION, SIGN, DOWN, UP = mutants(PATH, TEXT)
TEXTS = {PATH: TEXT}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A tree."""
    for folder in ("bounds", "tests", "docs", ".git"):
        (tmp_path / "tree" / folder).mkdir(parents=True)
    (tmp_path / "tree" / PATH).write_bytes(TEXT)
    (tmp_path / "tree/tests/test_a.py").write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "tree/setup.cfg").write_text("[a]\n", encoding="utf-8")
    return tmp_path / "tree"


@pytest.fixture
def shadow(root: Path) -> Iterator[Shadow]:
    """A copy of it."""
    copy = Shadow(root)
    yield copy
    copy.remove()
    assert not copy.tree.exists()


def test_shadow_changes_the_copy_alone(root: Path, shadow: Shadow) -> None:
    assert (shadow.tree / PATH).read_bytes() == TEXT
    assert (shadow.tree / "setup.cfg").read_text(encoding="utf-8") == "[a]\n"
    assert not (shadow.tree / ".git").exists()
    shadow.change(PATH, RELATION.edit.applied(TEXT))
    assert b"a <= b" in (shadow.tree / PATH).read_bytes()
    assert (root / PATH).read_bytes() == TEXT


def test_changed_file_is_newer_than_any_compiled_form(shadow: Shadow) -> None:
    times = []
    for text in (UP.edit.applied(TEXT), DOWN.edit.applied(TEXT), TEXT):
        shadow.change(PATH, text)
        times.append(int((shadow.tree / PATH).stat().st_mtime))
    assert sorted(set(times)) == times


def test_clear_empties_the_scratch_folder(shadow: Shadow) -> None:
    (shadow.scratch / "state.json").write_text("{}", encoding="utf-8")
    shadow.clear()
    assert list(shadow.scratch.iterdir()) == []


# ---------------------------------------------------------------------------------------------------------
# The log.


def test_log_gives_back_what_it_was_given(tmp_path: Path) -> None:
    path, killed = tmp_path / "log", Verdict(Judge.COST, "more", 1.5)
    Log(path, "tests").add(RELATION, TEXT, killed)
    assert Log(path, "tests").known(RELATION, TEXT) == killed
    assert Log(path, "other tests").known(RELATION, TEXT) == killed
    assert Log(path, "tests").known(SIGN, TEXT) is None


def test_log_forgets_a_kill_when_the_file_changes(tmp_path: Path) -> None:
    path = tmp_path / "log"
    Log(path, "tests").add(RELATION, TEXT, Verdict(Judge.COST, "more"))
    assert Log(path, "tests").known(RELATION, TEXT + b"# more\n") is None


def test_log_forgets_a_survivor_when_the_tests_change(tmp_path: Path) -> None:
    path = tmp_path / "log"
    Log(path, "tests").add(RELATION, TEXT, Verdict(None, ""))
    assert Log(path, "tests").known(RELATION, TEXT) == Verdict(None, "")
    assert Log(path, "other tests").known(RELATION, TEXT) is None


def test_digest_of_tests_sees_every_file(root: Path) -> None:
    before = digest_of_tests(root)
    assert before == digest_of_tests(root)
    (root / "tests/test_b.py").write_text("", encoding="utf-8")
    assert digest_of_tests(root) != before


# ---------------------------------------------------------------------------------------------------------
# Processes: a made-up attempt stands for the judges.

_ATTEMPT = """
import json, os, sys
from pathlib import Path
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
text = Path("bounds/a.py").read_text()
if "--keep-steps" in given:
    Path(given["--keep-steps"]).write_text('{"tiled": 1}')
elif "--keep-tests" in given:
    Path(given["--keep-tests"]).write_text('{"failing": ["tests/a"], "slow": []}')
elif "<=" in text:
    Path(given["--state"]).write_text('{"verdict": {"judge": "cost", "why": "more", "seconds": 0}}')
elif "+ 2" in text:
    Path(given["--state"]).write_text('{"judge": "crash", "at": "tiled"}')
    os.abort()
else:
    Path(given["--state"]).write_text('{"verdict": {"judge": null, "why": "", "seconds": 0}}')
"""


@pytest.fixture
def runner(root: Path) -> Iterator[Runner]:
    """Two jobs on the made-up tree."""
    folder = root / "tests/mutate"
    folder.mkdir()
    for package in (root / "tests", folder):
        (package / "__init__.py").write_text("", encoding="utf-8")
    (folder / "attempt.py").write_text(_ATTEMPT, encoding="utf-8")
    made = Runner(root, 2)
    yield made
    made.close()


def test_runner_tells_kills_deaths_and_survivors_apart(runner: Runner) -> None:
    assert runner.prepare() == {"steps": {"tiled": 1}, "failing": ["tests/a"], "slow": []}
    chosen = [RELATION, UP, DOWN, SIGN]
    found = {m.id: v for m, v in runner.run(chosen, TEXTS, Log(None, ""))}
    assert found[RELATION.id].judge is Judge.COST
    assert found[UP.id].judge is Judge.CRASH
    assert "in tiled" in found[UP.id].why
    assert found[DOWN.id].judge is None
    assert found[SIGN.id].judge is None
    assert (runner.tree / PATH).read_bytes() == TEXT


def test_runner_gives_up_what_does_nothing(runner: Runner) -> None:
    (runner.tree / "tests/mutate/attempt.py").write_text("import time\ntime.sleep(60)\n", encoding="utf-8")
    for shadow in runner._shadows[1:]:
        (shadow.tree / "tests/mutate/attempt.py").write_text("import time\ntime.sleep(60)\n", encoding="utf-8")
    with patch.object(running, "_PATIENCE", 0.2):
        ((_, verdict),) = runner.run([RELATION], TEXTS, Log(None, ""))
    assert verdict.judge is Judge.HANG


def test_runner_doesnt_run_what_the_log_has(runner: Runner, tmp_path: Path) -> None:
    path = tmp_path / "log"
    Log(path, "").add(SIGN, TEXT, Verdict(Judge.TEST, "a test"))
    found = dict(runner.run([SIGN], TEXTS, Log(path, "")))
    assert found == {SIGN: Verdict(Judge.TEST, "a test")}


def test_compiler_that_fails_unchanged_is_an_error(runner: Runner) -> None:
    (runner.tree / "tests/mutate/attempt.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    with pytest.raises(RuntimeError, match="as it is"):
        runner.prepare()


def test_state_is_replaced_in_one_step(tmp_path: Path) -> None:
    state = _State(tmp_path / "state.json")
    state.told(judge="crash", at="a")
    state.told(judge="crash", at="b")
    assert json.loads((tmp_path / "state.json").read_text(encoding="utf-8"))["at"] == "b"
    assert os.listdir(tmp_path) == ["state.json"]


def test_error_that_no_one_foresaw_kills() -> None:
    def fails() -> None:
        raise KeyError("x")

    with pytest.raises(Killed) as killed:
        _guarded(fails, "tiled")
    assert killed.value.judge is Judge.CRASH
    assert killed.value.why.startswith("tiled: KeyError")


# ---------------------------------------------------------------------------------------------------------
# The report.


def made(*verdicts: tuple[Mutant, Judge | None]) -> Report:
    """A report of verdicts."""
    return Report([(m, Verdict(j, "")) for m, j in verdicts], TEXTS, ["tests/test_a.py::test_b"])


def test_report_counts_by_judge_and_operator() -> None:
    told = str(made((RELATION, Judge.REFERENCE), (UP, Judge.TEST), (DOWN, None), (SIGN, Judge.CRASH)))
    assert "3 of 4 killed (75.0 %), 25.0 % by judges that know what a program means" in told
    assert "Not asked, since it fails without any change: tests/test_a.py::test_b" in told
    assert f"survived: {DOWN.id} (line 6)" in told
    assert "+    return a + 0" in told
    assert "NOT EXPLAINED" in told


def test_report_is_good_only_with_every_survivor_explained() -> None:
    killed = [(RELATION, Judge.REFERENCE)] * 39
    assert not made(*killed, (DOWN, None)).good
    why = Survivor("return a + 0", Reason.EQUIVALENT, "nobody reads it.")
    with patch.object(report, "EXPLAINED", {DOWN.id: why}):
        assert made(*killed, (DOWN, None)).good
        assert not made(*killed[:10], (DOWN, None)).good
        assert "equivalent: nobody reads it." in str(made((DOWN, None)))
        assert made((DOWN, None)).as_data()["mutants"][0]["explained"] == "equivalent: nobody reads it."
    stale = Survivor("return a + 7", Reason.EQUIVALENT, "nobody reads it.")
    with patch.object(report, "EXPLAINED", {DOWN.id: stale}):
        assert not made(*killed, (DOWN, None)).good


# ---------------------------------------------------------------------------------------------------------
# The tests as a judge.


_JUDGED = """
import os, signal, sys
from pathlib import Path
from tests.mutate import attempt
attempt._COMPILING, attempt._TEST_SECONDS = "none", 1.0
signal.signal(signal.SIGPROF, attempt._hang)
os.chdir(sys.argv[1])
try:
    state, what = attempt._State(Path("state.json")), ["tests/bounds", "--deselect", "tests/bounds/test_a.py::test_c"]
    print(sorted(attempt.run_tests(state, Path("."), what, stop_at_first=True).failed))
except attempt._Hang:
    print("hang")
except attempt.Killed as killed:
    print(killed.judge.value)
"""


def judged(root: Path, tests: str, conftest: str = "") -> str:
    """What the process of an attempt makes of a folder of tests."""
    folder = root / "tests/bounds"
    folder.mkdir(parents=True)
    (folder / "test_a.py").write_text(tests, encoding="utf-8")
    (folder / "conftest.py").write_text(conftest, encoding="utf-8")
    command = [sys.executable, "-c", _JUDGED, str(root)]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip()


@pytest.mark.parametrize(
    ("tests", "wanted"),
    [
        ("def test_a(): pass\ndef test_c(): assert False\n", "[]"),
        ("def test_a(): pass\ndef test_b(): assert False\n", "['tests/bounds/test_a.py::test_b']"),
        ("import nothing_of_the_kind\n", "['tests/bounds/test_a.py']"),
        ("def test_a():\n    while True: pass\n", "hang"),
        ("", "crash"),
    ],
)
def test_tests_kill(tests: str, wanted: str, tmp_path: Path) -> None:
    assert judged(tmp_path, tests) == wanted


def test_tests_that_cant_start_kill(tmp_path: Path) -> None:
    assert judged(tmp_path, "def test_a(): pass\n", conftest="1/0\n") == "crash"
