"""The cache on disk under real pipelines: processes that compile at once, entries that are damaged or vanish."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from halide_core.runtime.compile.cache import CompileCache

pytestmark = pytest.mark.uncertified("about the cache: a certified program has another key")

ROOT = Path(__file__).resolve().parents[3]

PIPELINE = """
import os, sys, time
import numpy as np
import halide_core as hl
from halide_core.runtime.execute.jit import compile_pipeline  # everything is imported before the first fork
x, y = hl.Var("x"), hl.Var("y")

def check(seed):
    f = hl.Func("f")
    f[x] = x * 3 + seed
    assert np.asarray(f.realize([3])).tolist() == [seed, seed + 3, seed + 6], seed
"""

ROUNDS = """
def start(work):
    child = os.fork()
    if child:
        return child
    status = 1
    try:
        work()
        status = 0
    except BaseException:
        import traceback
        traceback.print_exc()
    finally:
        os._exit(status)

def work(number, which):
    # both: the same pipeline and one of their own, the second process the other way round
    seeds = [2 * number, 1000 + 2 * number + which]
    for seed in seeds if which == 0 else reversed(seeds):
        check(seed)

for number in range(int(sys.argv[1])):
    children = [start(lambda which=which: work(number, which)) for which in (0, 1)]
    for child in children:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print("done")
"""


def python(code: str, folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), "HL_CACHE_DIR": str(folder), **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def keys(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("[0-9a-f][0-9a-f]/*"))


def check_sound(folder: Path) -> None:
    """Every entry holds the bytes that were built, and nothing half-made is left."""
    cache = CompileCache(folder)
    assert [key for key in keys(folder) if not cache.verify(key)] == []
    assert list((folder / "tmp").iterdir()) == []


def test_cache_is_sound_when_two_processes_compile_the_same_and_different_pipelines_fifty_times(tmp_path: Path) -> None:
    done = python(PIPELINE + ROUNDS, tmp_path, "50")
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    assert len(keys(tmp_path)) == 1 + 50 * 3  # the runtime, and three pipelines a round
    check_sound(tmp_path)
    before = keys(tmp_path)
    again = python(PIPELINE + "for n in range(0, 100, 2): check(n)", tmp_path, CC="false")  # all of them are hits
    assert again.returncode == 1  # CC is part of the key: nothing is found, and nothing is left
    assert keys(tmp_path) == before
    code = PIPELINE + "import subprocess\nsubprocess.Popen = None\nfor n in range(0, 100, 2): check(n)"
    hits = python(code, tmp_path)
    assert (hits.returncode, hits.stderr) == (0, "")


def test_cache_stays_within_its_bound_when_two_processes_fill_it(tmp_path: Path) -> None:
    # A bound of 0 MiB evicts every entry but the newest, also while the other process has it mapped.
    done = python(PIPELINE + ROUNDS, tmp_path, "4", HL_CACHE_SIZE="0")
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    assert len(keys(tmp_path)) <= 2
    check_sound(tmp_path)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A cache with the runtime and one pipeline, and their keys."""
    folder = tmp_path_factory.mktemp("filled")
    assert python("from halide_core.runtime.crt.runtime_library import runtime; runtime()", folder).returncode == 0
    (first,) = keys(folder)
    assert python(PIPELINE + "check(2)", folder).returncode == 0
    (second,) = set(keys(folder)) - {first}
    return folder, {"runtime": first, "pipeline": second}


@pytest.mark.parametrize("which", ["pipeline", "runtime"])
@pytest.mark.parametrize("damage", ["zeros", "truncated", "text", "empty", "tail"])
def test_damaged_library_is_built_again(
    tmp_path: Path, filled: tuple[Path, dict[str, str]], damage: str, which: str
) -> None:
    shutil.copytree(filled[0], tmp_path, dirs_exist_ok=True)
    key = filled[1][which]
    library = tmp_path / key[:2] / key / "pipeline.so"
    whole = library.read_bytes()
    match damage:
        case "zeros":
            library.write_bytes(bytes(len(whole)))
        case "truncated":
            library.write_bytes(whole[: len(whole) // 2])
        case "text":
            library.write_bytes(b"no library".ljust(len(whole)))
        case "empty":
            library.write_bytes(b"")
        case "tail":
            library.write_bytes(whole[:-100])
    assert not CompileCache(tmp_path).verify(key)
    done = python(PIPELINE + "check(2)", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    check_sound(tmp_path)
    assert CompileCache(tmp_path).verify(key)


HOLDER = """
g, f = hl.Func("g"), hl.Func("f")
f[x, y] = x * 7 + y
f.parallel(y)
call = f.compile_to_callable([])
print("ready", flush=True)
sys.stdin.readline()
out = np.zeros((30, 20), np.int32)
call(out)
assert (out == np.arange(20) * 7 + np.arange(30)[:, None]).all()
f.invalidate_cache()
assert (np.asarray(f.realize([20, 30])) == out).all()  # compiled again
print("done", flush=True)
"""


def write_other(path: Path) -> None:
    """Builds what is no library."""
    path.write_bytes(b"other")


@pytest.mark.parametrize("how", ["evicted", "cleared", "replaced"])
def test_loaded_pipeline_lives_on_when_its_entry_vanishes(tmp_path: Path, how: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HL_CACHE_DIR": str(tmp_path)}
    holder = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", PIPELINE + HOLDER],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "ready\n"
        mapped = keys(tmp_path)
        if how == "cleared":
            assert CompileCache(tmp_path).clear() == len(mapped)
        elif how == "replaced":
            for key in mapped:
                CompileCache(tmp_path).discard(key)
                CompileCache(tmp_path).get_or_build(key, write_other)
        else:
            for key in mapped:  # not used for an hour
                os.utime(tmp_path / key[:2] / key / "entry.json", (time.time() - 3600,) * 2)
            assert python(PIPELINE + "check(3)", tmp_path, HL_CACHE_SIZE="0").returncode == 0
            assert not set(keys(tmp_path)) & set(mapped[:1])
        found, _ = holder.communicate("go\n", timeout=60)
    finally:
        holder.kill()
        holder.wait()
    assert (holder.returncode, found) == (0, "done\n")
    check_sound(tmp_path)
