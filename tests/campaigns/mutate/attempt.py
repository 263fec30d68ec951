"""The compiler before its judges: the processes that ``running`` starts.

    python -m tests.campaigns.mutate.attempt --keep tests.json --part tests      the compiler as it is, with its blocks
    marked
    python -m tests.campaigns.mutate.attempt --found record.json --serve         requests on stdin, each in a process of
    its own
    python -m tests.campaigns.mutate.attempt --found record.json --request a.json   one, in this process

In: the tree that it runs in, in which one file may be changed; a request: ``path``, ``before`` (the file's text without
the change), ``queue`` (names of steps and tests, with limits) and ``state``, a file. Out: there, while it runs, who is
looking; at its end, the verdict. ``--serve`` answers each request with a line: how the process ended, and its
processor time.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import pkgutil
import resource
import signal
import sys
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import pytest

from tests.campaigns.mutate.looking import Looker, State, decide, hang
from tests.campaigns.mutate.mutant import PACKAGES
from tests.campaigns.mutate.processes import COLD
from tests.campaigns.mutate.reached import Hits
from tests.campaigns.mutate.recording import record_part
from tests.campaigns.mutate.swapping import swap
from tests.campaigns.mutate.verdict import Judge, Killed, Verdict

TESTS = ("tests/scheduling", "tests/lowering", "tests/bounds", "tests/property", "tests/error")
_IGNORED = ("tests/property/test_random_pipelines.py", "tests/error/test_toolchain.py")
"""They compile C, or start processes."""
_MEMORY = 8 << 30
_SECONDS, _PATIENCE = 120, 1800
"""Processor time and time that a mutant never needs."""
_LIBRARIES = ("islpy", "z3", "sympy")
_OPTIONS = ("-q", "-p", "no:cacheprovider", "--tb=native", "-W", "ignore::pytest.PytestAssertRewriteWarning")
"""Of the other styles of tracebacks each parses whole files, which takes longer than most tests, and where memory is
collected meanwhile, Python 3.11 can fail."""


def _import_all(root: Path) -> None:
    """Every module of the packages, and the libraries that they import when they first need them."""
    for name in _LIBRARIES:
        import_module(name)
    for package in PACKAGES:
        for module in pkgutil.walk_packages([str(root / package)], f"halide_core.{package}."):
            import_module(module.name)
    import_module("tests.campaigns.mutate.judging")
    # What a compile loads before it lowers: tests of errors get no further, and no test that is asked may start gcc.
    import_module("halide_core.runtime.crt.runtime_library").load_runtime()
    # Tests certify nothing by the way: steps, and tests of certificates, do.
    vars(import_module("tests.support.certification"))["FOLDERS"] = ()
    vars(import_module("tests.support.blame"))["RUNS_AFTERWARDS"] = False


def _run(looker: Looker, what: list[str], scratch: Path) -> None:
    """Has pytest read the tests, and hands them to ``looker``. Raises: what that does."""
    options = [*_OPTIONS, "--basetemp", str(scratch / "tests")]
    for path in _IGNORED:
        options += ["--ignore", path]
    with Path(os.devnull).open("w", encoding="utf-8") as nothing:
        streams, sys.stdout, sys.stderr = (sys.stdout, sys.stderr), nothing, nothing
        try:
            ended = pytest.main([*options, *what], plugins=[looker])
        finally:
            sys.stdout, sys.stderr = streams
    if not looker.started:
        raise Killed(Judge.CRASH, f"the tests can't be read: pytest ended with {ended!s}")
    if looker.ended is not None:
        raise looker.ended


def serve(found: dict[str, Any], requests: IO[str], replies: IO[str], scratch: Path) -> None:
    """Reads the tests once; then each request in a process that has them."""
    _import_all(Path.cwd())

    def loop(looker: Looker) -> None:
        gc.collect()
        gc.freeze()
        for line in iter(requests.readline, ""):
            request = json.loads(line)
            child = os.fork()
            if child == 0:
                _in_child(looker, request, found)
            _, status, used = os.wait4(child, 0)
            reply = {"ended": os.waitstatus_to_exitcode(status), "seconds": used.ru_utime + used.ru_stime}
            replies.write(json.dumps(reply) + "\n")
            replies.flush()

    _run(Looker(loop), list(TESTS), scratch)


def _in_child(looker: Looker, request: dict[str, Any], found: dict[str, Any]) -> None:
    """One mutant; never returns."""
    ended = 1
    try:
        _limit()
        path = Path.cwd() / request["path"]
        state = State(Path(request["state"]))
        if not swap(path, request["before"].encode(), path.read_bytes()):
            ended = COLD
        else:
            state.told(verdict=decide(lambda: looker.look(request, found, state)).as_data())
            ended = 0
    finally:
        os._exit(ended)


def once(request: dict[str, Any], found: dict[str, Any], scratch: Path) -> Verdict:
    """One mutant, which this process imports."""
    state = State(Path(request["state"]))
    _limit()
    state.told(judge=Judge.CRASH.value, at="import")
    files = sorted({name.partition("::")[0] for name, _ in request["queue"] if "::" in name})
    looker = Looker(lambda looker: looker.look(request, found, state))

    def run() -> None:
        try:
            _import_all(Path.cwd())
        except Exception as error:  # whatever a mutant does
            raise Killed(Judge.CRASH, f"import: {type(error).__name__}: {str(error)[:200]}") from error
        _run(looker, files or ["tests/scheduling/test_legality.py"], scratch)

    return decide(run)


def _limit() -> None:
    signal.signal(signal.SIGPROF, hang)
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS + 5))
    signal.alarm(_PATIENCE)
    sys.dont_write_bytecode = True


def main(arguments: list[str]) -> int:
    """The process."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scratch", type=Path, required=True)
    parser.add_argument("--found", type=Path)
    parser.add_argument("--part", choices=("steps", "tests"))
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--keep", type=Path)
    what.add_argument("--request", type=Path)
    what.add_argument("--serve", action="store_true")
    given = parser.parse_args(arguments)
    if given.keep is not None:
        signal.signal(signal.SIGPROF, hang)
        hits = Hits(Path.cwd())
        hits.install()
        _import_all(Path.cwd())
        looker = Looker(lambda looker: given.keep.write_text(json.dumps(record_part(given.part, hits, looker))))
        _run(looker, list(TESTS) if given.part == "tests" else ["tests/scheduling/test_legality.py"], given.scratch)
        return 0
    found = json.loads(given.found.read_text(encoding="utf-8"))
    if given.serve:
        replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
        requests = os.fdopen(os.dup(0), encoding="utf-8")
        serve(found, requests, replies, given.scratch)
        return 0
    request = json.loads(given.request.read_text(encoding="utf-8"))
    State(Path(request["state"])).told(verdict=once(request, found, given.scratch).as_data())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
