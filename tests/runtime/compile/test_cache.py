"""The cache on disk: hits, builds by several processes, the bound, and folders that can't be used."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import filelock
import pytest

from halide_core.errors import ToolchainError
from halide_core.runtime.compile import cache as cache_module
from halide_core.runtime.compile.cache import CacheWarning, CompileCache, default_cache

pytestmark = pytest.mark.uncertified("about the cache: a certified program has another key")

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(autouse=True)
def fixture_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("HL_CACHE", "HL_CACHE_DIR", "HL_CACHE_SIZE"):
        monkeypatch.delenv(name, raising=False)
    cache_module._warn_once.cache_clear()
    yield


def digest(name: object) -> str:
    return hashlib.sha256(str(name).encode()).hexdigest()


def writer(content: bytes, calls: list[Path] | None = None) -> Callable[[Path], None]:
    def build(path: Path) -> None:
        if calls is not None:
            calls.append(path)
        path.write_bytes(content)

    return build


def refuse(_path: Path) -> None:
    raise AssertionError("built again")


def set_last_use(path: Path, age_s: float) -> None:
    then = time.time() - age_s
    os.utime(path.parent / "entry.json", (then, then))


# ---- entries


def test_get_or_build_builds_once_when_asked_twice(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path)
    path = cache.get_or_build(digest("a"), writer(b"code"))
    assert path == tmp_path / digest("a")[:2] / digest("a") / "pipeline.so"
    assert path.read_bytes() == b"code"
    assert cache.get_or_build(digest("a"), refuse) == path
    assert CompileCache(tmp_path).get_or_build(digest("a"), refuse) == path
    assert list((tmp_path / "tmp").iterdir()) == []


def test_get_or_build_records_size_and_hash_when_built(tmp_path: Path) -> None:
    path = CompileCache(tmp_path).get_or_build(digest("a"), writer(b"code"))
    record = json.loads((path.parent / "entry.json").read_text())
    assert record["size"] == 4
    assert record["sha256"] == hashlib.sha256(b"code").hexdigest()
    assert abs(record["created"] - time.time()) < 60


@pytest.mark.parametrize("key", ["", "abc", "../../../etc/passwd", "ABCDEF0123456789", "g" * 64])
def test_get_or_build_refuses_when_the_key_is_no_digest(tmp_path: Path, key: str) -> None:
    with pytest.raises(ValueError, match="hex digest"):
        CompileCache(tmp_path).get_or_build(key, refuse)


@pytest.mark.parametrize("damage", ["truncate", "no object", "no record", "bad record", "other record"])
def test_get_or_build_builds_again_when_the_entry_is_broken(tmp_path: Path, damage: str) -> None:
    cache = CompileCache(tmp_path)
    path = cache.get_or_build(digest("a"), writer(b"code"))
    record = path.parent / "entry.json"
    match damage:
        case "truncate":
            path.write_bytes(b"co")
        case "no object":
            path.unlink()
        case "no record":
            record.unlink()
        case "bad record":
            record.write_text("{")
        case _:
            record.write_text("[1]")
    assert not cache.verify(digest("a"))
    assert cache.get_or_build(digest("a"), writer(b"new code")).read_bytes() == b"new code"
    assert cache.verify(digest("a"))


def test_entry_is_built_anew_when_bytes_changed_but_not_the_size(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path)
    path = cache.get_or_build(digest("a"), writer(b"code"))
    path.write_bytes(b"c0de")
    assert not cache.verify(digest("a"))
    assert cache.get_or_build(digest("a"), writer(b"code")).read_bytes() == b"code"
    assert cache.verify(digest("a"))


def test_discard_makes_the_next_call_build_when_an_entry_does_not_load(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path)
    cache.get_or_build(digest("a"), writer(b"code"))
    cache.discard(digest("a"))
    cache.discard(digest("a"))
    assert cache.get_or_build(digest("a"), writer(b"more code")).read_bytes() == b"more code"


def test_get_or_build_leaves_nothing_when_the_build_fails(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path)

    def fail(path: Path) -> None:
        path.write_bytes(b"half")
        raise ToolchainError("no such instruction")

    with pytest.raises(ToolchainError, match="no such instruction"):
        cache.get_or_build(digest("a"), fail)
    assert cache.info().entries == 0
    assert list((tmp_path / "tmp").iterdir()) == []
    assert cache.get_or_build(digest("a"), writer(b"code")).read_bytes() == b"code"


def test_clear_removes_all_entries_when_called(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path, limit=1000)
    for name in range(5):
        cache.get_or_build(digest(name), writer(b"x"))
    info = cache.info()
    assert (info.root, info.entries, info.limit, info.persistent) == (tmp_path, 5, 1000, True)
    assert cache.clear() == 5
    assert cache.info().entries == 0
    assert cache.info().bytes == 0


# ---- several threads and processes


def test_get_or_build_builds_once_when_threads_race(tmp_path: Path) -> None:
    calls: list[Path] = []

    def build(path: Path) -> None:
        calls.append(path)
        time.sleep(0.05)
        path.write_bytes(b"code")

    threads = [
        threading.Thread(target=lambda: CompileCache(tmp_path).get_or_build(digest("a"), build)) for _ in range(6)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(calls) == 1


RACE = """
import hashlib, os, sys
from pathlib import Path
from halide_core.runtime.compile.cache import CompileCache
root, rounds, limit = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
built = 0
for number in range(rounds):
    content = b"code %d " % number * 1000
    key = hashlib.sha256(content).hexdigest()
    def build(path):
        global built
        built += 1
        with open(path, "wb") as file:
            for start in range(0, len(content), 1000):
                file.write(content[start : start + 1000])
                file.flush()
    try:
        found = CompileCache(root, limit=limit).get_or_build(key, build).read_bytes()
    except FileNotFoundError:  # evicted by another process before it was read
        assert limit < 10**6
        continue
    assert found == content
print(built)
"""


def race(root: Path, rounds: int, limit: int) -> int:
    """The number of builds that four processes did between them."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", RACE, str(root), str(rounds), str(limit)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    outputs = [process.communicate(timeout=120)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * 4
    return sum(map(int, outputs))


def test_get_or_build_builds_each_key_once_when_processes_race(tmp_path: Path) -> None:
    assert race(tmp_path, 60, 10**9) == 60
    assert CompileCache(tmp_path).info().entries == 60
    assert list((tmp_path / "tmp").iterdir()) == []


def test_get_or_build_never_shows_half_an_entry_when_processes_evict(tmp_path: Path) -> None:
    assert race(tmp_path, 60, 50_000) >= 60
    assert CompileCache(tmp_path).info().entries <= 10
    assert list((tmp_path / "tmp").iterdir()) == []


def test_get_or_build_gives_up_with_advice_when_a_lock_is_never_released(tmp_path: Path) -> None:
    (tmp_path / "locks").mkdir()
    with (
        filelock.FileLock(tmp_path / "locks" / f"{digest('a')}.lock"),
        pytest.raises(ToolchainError, match=r"for 0\.1 s[^$]*HL_CACHE_DIR"),
    ):
        CompileCache(tmp_path, lock_timeout_s=0.1).get_or_build(digest("a"), refuse)


# ---- the bound


def test_get_or_build_evicts_the_least_recently_used_when_over_the_limit(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path, limit=3600)
    paths = [cache.get_or_build(digest(name), writer(b"x" * 1000)) for name in range(3)]
    for age, path in zip((300, 200, 100), paths, strict=True):
        set_last_use(path, age)
    cache.get_or_build(digest(0), refuse)  # used now: the second is the oldest
    newest = cache.get_or_build(digest(3), writer(b"x" * 1000))
    assert [path.exists() for path in (*paths, newest)] == [True, False, True, True]


def test_get_or_build_keeps_what_it_built_when_that_alone_is_over_the_limit(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path, limit=10)
    for name in range(3):
        assert cache.get_or_build(digest(name), writer(b"x" * 1000)).exists()
        assert cache.info().entries == 1


def test_get_or_build_removes_leftovers_when_they_are_old(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path)
    old, young = tmp_path / "tmp" / "build-old", tmp_path / "tmp" / "build-young"
    for folder in (old, young):
        folder.mkdir(parents=True)
        (folder / "pipeline.so").write_bytes(b"x")
    then = time.time() - 7200
    os.utime(old, (then, then))
    cache.get_or_build(digest("a"), writer(b"code"))
    assert not old.exists()
    assert young.exists()


def test_limit_follows_the_environment_when_it_is_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert CompileCache(tmp_path).info().limit == 512 << 20
    monkeypatch.setenv("HL_CACHE_SIZE", "7")
    assert CompileCache(tmp_path).info().limit == 7 << 20
    monkeypatch.setenv("HL_CACHE_SIZE", "lots")
    with pytest.warns(CacheWarning, match='HL_CACHE_SIZE is "lots"'):
        assert CompileCache(tmp_path).info().limit == 512 << 20


# ---- folders that can't be used


def test_get_or_build_falls_back_with_one_warning_when_the_folder_can_t_exist(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    cache = CompileCache(file / "cache")
    with pytest.warns(CacheWarning, match="can't be used") as caught:
        path = cache.get_or_build(digest("fallback"), writer(b"code"))
    assert len(caught) == 1
    assert path.read_bytes() == b"code"
    assert not cache.info().persistent
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert cache.get_or_build(digest("fallback"), refuse) == path
        assert CompileCache(file / "cache").get_or_build(digest("fallback 2"), writer(b"code")).exists()


@pytest.mark.parametrize("code", [errno.EROFS, errno.EACCES, errno.ENOSPC, errno.EDQUOT])
@pytest.mark.parametrize("function", ["mkdir", "rename", "open"])
def test_get_or_build_falls_back_when_the_system_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, function: str
) -> None:
    cache = CompileCache(tmp_path)
    real = getattr(os, function)

    def refusing(path: object, *arguments: object, **options: object) -> object:
        if str(tmp_path) in str(path):
            raise OSError(code, os.strerror(code), str(path))
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, function, refusing)
    with pytest.warns(CacheWarning):
        path = cache.get_or_build(digest((code, function)), writer(b"code"))
    assert path.read_bytes() == b"code"
    assert tmp_path not in path.parents


def test_get_or_build_falls_back_when_the_compiler_fails_on_a_full_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = CompileCache(tmp_path)

    def build(path: Path) -> None:
        if tmp_path in path.parents:
            raise ToolchainError("No space left on device")
        path.write_bytes(b"code")

    def write_bytes(path: Path, data: bytes) -> int:
        if tmp_path in path.parents:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(path, data)

    real = Path.write_bytes
    monkeypatch.setattr(Path, "write_bytes", write_bytes)
    with pytest.warns(CacheWarning, match="No space left"):
        assert cache.get_or_build(digest("full"), build).read_bytes() == b"code"


def test_get_or_build_hits_when_last_use_can_t_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = CompileCache(tmp_path)
    path = cache.get_or_build(digest("a"), writer(b"code"))

    def utime(*_arguments: object) -> None:
        raise OSError(errno.EROFS, "read-only")

    monkeypatch.setattr(os, "utime", utime)
    assert cache.get_or_build(digest("a"), refuse) == path


def test_discard_leaves_the_folder_when_a_broken_entry_can_t_be_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = CompileCache(tmp_path)
    cache.get_or_build(digest("stuck"), writer(b"broken"))

    def rename(*_arguments: object) -> None:
        raise OSError(errno.EROFS, "read-only")

    with monkeypatch.context() as patch, pytest.warns(CacheWarning):
        patch.setattr(os, "rename", rename)
        cache.discard(digest("stuck"))
    assert cache.get_or_build(digest("stuck"), writer(b"whole")).read_bytes() == b"whole"


@pytest.mark.parametrize(("name", "value"), [("HL_CACHE", "0"), ("HL_CACHE_DIR", ""), ("HL_CACHE_DIR", "0")])
def test_get_or_build_uses_a_private_folder_when_the_cache_is_off(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cache = CompileCache()
        path = cache.get_or_build(digest((name, value)), writer(b"code"))
    assert not cache.info().persistent
    assert path.read_bytes() == b"code"


def test_private_folder_is_removed_when_the_process_ends() -> None:
    code = (
        "import os, sys; from halide_core.runtime.compile.cache import CompileCache; cache = CompileCache()\n"
        "cache.get_or_build('0' * 64, lambda path: path.write_bytes(b'x') and None)\n"
        "root = cache.info().root\n"
        "if os.fork() == 0: sys.exit(0)\n"
        "os.wait(); assert root.exists(); print(root)"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HL_CACHE": "0"}
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    assert not Path(ran.stdout.strip()).exists()


def test_default_cache_follows_the_environment_when_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HL_CACHE_DIR", str(tmp_path / "one"))
    one = default_cache()
    assert default_cache() is one
    assert one.info().root == tmp_path / "one"
    monkeypatch.setenv("HL_CACHE_DIR", str(tmp_path / "two"))
    assert default_cache().info().root == tmp_path / "two"


# ---- without the lock


def test_build_apart_publishes_what_nobody_has_and_waits_for_nobody(tmp_path: Path) -> None:
    cache, held = CompileCache(tmp_path), threading.Lock()

    def build(path: Path) -> None:
        assert not held.locked()
        path.write_bytes(b"code")

    with filelock.FileLock((tmp_path / "locks").mkdir() or tmp_path / "locks" / f"{digest('a')}.lock"):
        path = cache.build_apart(digest("a"), build, held)
    assert cache.verify(digest("a")) and path.read_bytes() == b"code"
    assert cache.build_apart(digest("a"), refuse, held) == path
    assert list((tmp_path / "tmp").iterdir()) == []


def test_build_apart_leaves_what_another_was_faster_with(tmp_path: Path) -> None:
    cache = CompileCache(tmp_path)

    def build(path: Path) -> None:
        CompileCache(tmp_path).get_or_build(digest("a"), writer(b"faster"))
        path.write_bytes(b"slower")

    assert cache.build_apart(digest("a"), build, threading.Lock()).read_bytes() == b"faster"
    assert list((tmp_path / "tmp").iterdir()) == []


def test_build_apart_fails_as_its_build_does(tmp_path: Path) -> None:
    def build(_path: Path) -> None:
        raise ToolchainError("no such luck")

    with pytest.raises(ToolchainError, match="no such luck"):
        CompileCache(tmp_path).build_apart(digest("a"), build, threading.Lock())
    assert not CompileCache(tmp_path).verify(digest("a")) and list((tmp_path / "tmp").iterdir()) == []
    (tmp_path / "file").touch()
    with pytest.raises(ToolchainError, match=r"folder .* can't be used"):
        CompileCache(tmp_path / "file").build_apart(digest("a"), writer(b"code"), threading.Lock())
