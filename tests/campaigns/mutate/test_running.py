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

from tests.campaigns.mutate import processes, report
from tests.campaigns.mutate.looking import State, _compare
from tests.campaigns.mutate.mutant import Mutant
from tests.campaigns.mutate.operators import mutants
from tests.campaigns.mutate.record import SECONDS, Item, Record
from tests.campaigns.mutate.report import Report
from tests.campaigns.mutate.running import Log, Runner, digest_of_tests
from tests.campaigns.mutate.shadow import Shadow
from tests.campaigns.mutate.survivors import Reason, Survivor
from tests.campaigns.mutate.verdict import Judge, Killed, Verdict

ROOT = Path(__file__).resolve().parents[3]
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
import json, os, sys, time
from pathlib import Path
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
scratch = Path(given["--scratch"])

def decide(state):
    text = Path("bounds/a.py").read_text()
    if "<=" in text:
        verdict = {"judge": "cost", "why": "tiled: more", "seconds": 0}
    elif "+ 2" in text:
        Path(state).write_text('{"judge": "crash", "at": "tiled"}')
        os.abort()
    elif "+ 0" in text:
        time.sleep(60)
    else:
        verdict = {"judge": None, "why": "", "seconds": 0}
    Path(state).write_text(json.dumps({"verdict": verdict}))

if "--keep" in given:
    item = {"tiled": [0.5, [0]]} if given["--part"] == "steps" else {"tests/bounds/a": [0.1, [1]]}
    found = {"tiled": 1} if given["--part"] == "steps" else {}
    data = {"items": item, "blocks": ["bounds/a.py:2", "bounds/a.py:6"], "imported": [], "found": found}
    Path(given["--keep"]).write_text(json.dumps({**data, "failing": [], "left_out": []}))
elif "--request" in given:
    decide(json.loads(Path(given["--request"]).read_text())["state"])
else:
    for line in sys.stdin:
        request = json.loads(line)
        if "- b" in Path("bounds/a.py").read_text():
            print(json.dumps({"ended": 75, "seconds": 1.0}), flush=True)
            continue
        child = os.fork()
        if child == 0:
            decide(request["state"])
            os._exit(0)
        ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(json.dumps({"ended": ended, "seconds": 1.0}), flush=True)
"""


@pytest.fixture
def runner(root: Path) -> Iterator[Runner]:
    """Two jobs on the made-up tree."""
    folder = root / "tests/campaigns/mutate"
    folder.mkdir(parents=True)
    for package in (root / "tests", folder.parent, folder):
        (package / "__init__.py").write_text("", encoding="utf-8")
    (folder / "attempt.py").write_text(_ATTEMPT, encoding="utf-8")
    made = Runner(root, 2)
    yield made
    made.close()


def test_runner_tells_kills_deaths_and_survivors_apart(runner: Runner) -> None:
    record = runner.prepare()
    assert record.found == {"tiled": 1}
    assert set(record.items) == {"tiled", "tests/bounds/a"}
    with patch.object(processes, "_PATIENCE", 3.0):
        found = {m.id: v for m, v in runner.run([RELATION, UP, DOWN, SIGN], TEXTS, Log(None, ""))}
    assert found[RELATION.id].judge is Judge.COST
    assert found[UP.id].judge is Judge.CRASH
    assert found[UP.id].why.startswith("tiled: ")
    assert found[DOWN.id].judge is Judge.HANG
    assert found[SIGN.id].judge is None
    assert (runner.tree / PATH).read_bytes() == TEXT


def test_runner_doesnt_run_what_the_log_has(runner: Runner, tmp_path: Path) -> None:
    path = tmp_path / "log"
    Log(path, "").add(SIGN, TEXT, Verdict(Judge.TEST, "a test"))
    found = dict(runner.run([SIGN], TEXTS, Log(path, "")))
    assert found == {SIGN: Verdict(Judge.TEST, "a test")}


def test_compiler_that_fails_unchanged_is_an_error(runner: Runner) -> None:
    for shadow in runner._shadows:
        (shadow.tree / "tests/campaigns/mutate/attempt.py").write_text("raise SystemExit(3)\n", encoding="utf-8")
    with pytest.raises(RuntimeError, match="as it is"):
        runner.prepare()


def test_state_is_replaced_in_one_step(tmp_path: Path) -> None:
    state = State(tmp_path / "state.json")
    state.told(judge="crash", at="a")
    state.told(judge="crash", at="b")
    assert json.loads((tmp_path / "state.json").read_text(encoding="utf-8"))["at"] == "b"
    assert os.listdir(tmp_path) == ["state.json"]


def test_error_that_no_one_foresaw_kills() -> None:
    def fails() -> None:
        raise KeyError("x")

    with pytest.raises(Killed) as killed:
        _compare("tiled", fails, lambda before, now: None, None, 1.0)
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
    why = Survivor(Reason.EQUIVALENT, "nobody reads it.")
    with patch.object(report, "EXPLAINED", {(f"{PATH}:g", "return a + 1", "return a + 0"): why}):
        assert made(*killed, (DOWN, None)).good
        assert not made(*killed[:10], (DOWN, None)).good
        assert "equivalent: nobody reads it." in str(made((DOWN, None)))
        assert made((DOWN, None)).as_data()["mutants"][0]["explained"] == "equivalent: nobody reads it."
    with patch.object(report, "EXPLAINED", {(f"{PATH}:g", "return a + 7", "return a + 0"): why}):
        assert not made(*killed, (DOWN, None)).good


# ---------------------------------------------------------------------------------------------------------
# The tests as a judge.


_JUDGED = """
import os, signal, sys
from pathlib import Path
from tests.campaigns.mutate import attempt, judging, looking
os.chdir(sys.argv[1])
signal.signal(signal.SIGPROF, looking.hang)

def loop(looker):
    queue = [[name, 1.0] for name in looker.items]
    looker.look({"path": "bounds/a.py", "queue": queue}, {}, looking.State(Path("state.json")))

def run():
    attempt._run(looking.Looker(loop), ["tests/bounds"], Path("scratch"))

verdict = looking.decide(run)
print(verdict.judge.value if verdict.judge else "survived", verdict.why.partition(":")[0])
"""


def judged(root: Path, tests: str, conftest: str = "", script: str = _JUDGED) -> str:
    """The verdict of an attempt's process on a folder of tests."""
    folder = root / "tests/bounds"
    folder.mkdir(parents=True)
    (folder / "test_a.py").write_text(tests, encoding="utf-8")
    profile = "import hypothesis\nhypothesis.settings.register_profile('halide_core')\n"
    (folder / "conftest.py").write_text(profile + conftest, encoding="utf-8")
    command = [sys.executable, "-c", script, str(root)]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip()


@pytest.mark.parametrize(
    ("tests", "wanted"),
    [
        ("def test_a(): pass\n", "survived"),
        ("def test_a(): pass\ndef test_b(): assert False\n", "test tests/bounds/test_a.py"),
        ("import nothing_of_the_kind\n", "crash tests/bounds/test_a.py can't be read"),
        ("def test_a():\n    while True: pass\n", "hang"),
    ],
)
def test_tests_kill(tests: str, wanted: str, tmp_path: Path) -> None:
    assert judged(tmp_path, tests) == wanted


_RECORDED = """
import os, sys
from pathlib import Path
from tests.campaigns.mutate import attempt, looking, recording
os.chdir(sys.argv[1])
recording.SLOW = 0.3

class Nothing:
    def clear(self): pass
    def found(self): return []

found = {}

def loop(looker):
    found.update(recording._tests(Nothing(), looker))

attempt._run(looking.Looker(loop), ["tests/bounds"], Path("scratch"))
print("left out", *found["left_out"], "failing", *found["failing"], "kept", *found["items"])
"""
_INTERRUPTED = """
seen = []
def test_a(): seen.append(1)
def test_b():
    seen.append(1)
    while True: pass
def test_c(): assert not seen
def test_d(): assert False
"""


def test_no_test_is_recorded_where_another_was_interrupted(tmp_path: Path) -> None:
    told = judged(tmp_path, _INTERRUPTED, script=_RECORDED)
    a, b, c, d = (f"tests/bounds/test_a.py::test_{name}" for name in "abcd")
    assert f"left out {b} failing {d} kept {a} {c}" in told


_SLOWLY_TOLD = """
import time
import pytest
@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(call):
    end = time.process_time() + (1.3 if call.when == "call" else 0)
    while time.process_time() < end: pass
    return (yield)
"""


def test_time_that_telling_takes_is_not_the_tests(tmp_path: Path) -> None:
    assert judged(tmp_path, "def test_a(): assert False\n", conftest=_SLOWLY_TOLD).startswith("test ")


def test_tests_that_cant_start_kill(tmp_path: Path) -> None:
    assert judged(tmp_path, "def test_a(): pass\n", conftest="1/0\n").startswith("crash")


# ---------------------------------------------------------------------------------------------------------
# Who is shown a mutant.

_MARKED = """
import sys
from pathlib import Path
from tests.campaigns.mutate.reached import Hits
hits = Hits(Path.cwd())
hits.install()
from halide_core.bounds.query import describe
from halide_core import ir
from halide_core.scheduling import legality
imported = hits.found()
hits.clear()
describe.tell(ir.ONE)
print(imported, *hits.found())
"""


def test_blocks_that_run_are_found() -> None:
    command = [sys.executable, "-c", _MARKED]
    told = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.split()
    assert told[0] == "[]"
    assert told[1:]
    assert all(block.startswith("bounds/query/describe.py:") for block in told[1:])


def test_mutant_names_the_block_that_reaches_it() -> None:
    text = b"""A = 1


@d
def f(a, e=3):
    def g():
        return a < b
    if c < d:
        a.append(1)
        return g


class C:
    x = 2
"""
    reached = {m.edit.applied(text).splitlines()[m.line - 1].strip(): m.reached for m in mutants("bounds/a.py", text)}
    assert reached[b"A = 2"] is None
    assert reached[b"def f(a, e=4):"] is None
    assert reached[b"return a <= b"] == "bounds/a.py:7"
    assert reached[b"if c <= d:"] == "bounds/a.py:6"
    assert reached[b"a.append(2)"] == "bounds/a.py:9"
    assert reached[b"pass"] == "bounds/a.py:9"
    assert reached[b"x = 3"] is None


def record(**items: tuple[float, str]) -> Record:
    """Steps, with their seconds and the one block that each runs."""
    return Record({name: Item(s, frozenset([block]), is_step=True) for name, (s, block) in items.items()})


def test_mutant_is_shown_to_those_that_reach_it_the_quick_ones_first() -> None:
    everyone = record(slow=(2.0, "bounds/a.py:2"), quick=(0.1, "bounds/a.py:2"), other=(0.1, "bounds/a.py:6"))
    assert RELATION.reached == "bounds/a.py:2"
    assert [n for n, _ in everyone.queue(RELATION)] == ["quick", "slow"]
    assert [n for n, _ in everyone.queue(RELATION, ["slow"])] == ["quick", "slow"]
    alike = record(a=(0.1, "bounds/a.py:2"), b=(0.2, "bounds/a.py:2"))
    assert [n for n, _ in alike.queue(RELATION, ["b"])] == ["b", "a"]


def test_mutant_that_no_one_reaches_is_shown_to_those_that_reach_its_file() -> None:
    everyone = record(a=(0.1, "bounds/a.py:9"), b=(1.95, "bounds/a.py:9"), c=(0.1, "bounds/c.py:2"))
    assert [n for n, _ in everyone.queue(RELATION)] == ["a"]


def test_mutant_is_shown_to_no_more_than_the_limit() -> None:
    everyone = record(**{f"n{i}": (1.0, "bounds/a.py:2") for i in range(30)})
    assert len(everyone.queue(RELATION)) == SECONDS
    assert all(limit == 10.0 for _, limit in everyone.queue(RELATION))


# ---------------------------------------------------------------------------------------------------------
# Code that takes the place of other code.

_SWAPPED = """
import importlib, sys
from pathlib import Path
from tests.campaigns.mutate.swapping import swap
path = Path(sys.argv[1])
sys.path.insert(0, str(path.parent))
module = importlib.import_module(path.stem)
before = path.read_bytes()
print(swap(path, before, before.replace(*[t.encode() for t in sys.argv[2:4]])), module.f(3), module.C().g(3))
"""
_MODULE = """
A = 1


class C:
    def g(self, a):
        return [b for b in (a,) if b < 3]


def f(a, b=5):
    return a + 1 + b
"""


@pytest.mark.parametrize(
    ("old", "new", "wanted"),
    [
        ("+ 1", "+ 2", "True 10 []"),
        ("b < 3", "b <= 3", "True 9 [3]"),
        ("A = 1", "A = 2", "False 9 []"),
        ("b=5", "b=6", "False 9 []"),
        ("+ 1", "+ 1", "False 9 []"),
    ],
)
def test_functions_get_the_code_of_the_changed_file(old: str, new: str, wanted: str, tmp_path: Path) -> None:
    path = tmp_path / "swapped_module.py"
    path.write_text(_MODULE, encoding="utf-8")
    command = [sys.executable, "-c", _SWAPPED, str(path), old, new]
    assert subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT).stdout.strip() == wanted
