"""The compiled pipelines of earlier runs, on disk.

In: a key (the hex digest of all that the result depends on) and a function that builds the shared object for it.
Out: the path of that shared object, built now or found.

    CompileCache().get_or_build("3fa9...", lambda path: compile_shared([source], path))
    -> ~/.cache/halide_core/3f/3fa9.../pipeline.so

    root/xx/<key>/pipeline.so, entry.json    an entry: moved here whole; entry.json's mtime is the time of last use
    root/locks/<key>.lock, evict.lock        held while an entry is built, while old ones are removed
    root/tmp/                                builds under way, and what is being removed

A hit takes no lock and starts no process. The file may vanish between the hit and its use (another process evicts), and
it may be damaged: ``loading`` builds it once more then.

Environment: ``HL_CACHE_DIR`` is the root (``""`` or ``0``: no cache), ``HL_CACHE=0``: no cache, ``HL_CACHE_SIZE`` is
the bound in MiB (512).
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import re
import shutil
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from halide_core.cache_folder import cache_folder
from halide_core.errors import ToolchainError

_KEY = re.compile(r"[0-9a-f]{8,128}")
_OBJECT = "pipeline.so"
_RECORD = "entry.json"
_MIB = 1 << 20
_DEFAULT_LIMIT = 512 * _MIB
_STALE_BUILD_S = 3600.0  # longer than any compiler is allowed to run
_STALE_LOCK_S = 86400.0
_EVICTION_WAIT_S = 10.0
_PROBE = b"\0" * 65536


class CacheWarning(UserWarning):
    """The cache can't be used as it was asked for; everything still works, more slowly."""


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """The contents of a cache now. ``persistent`` is False where nothing outlives this process."""

    root: Path
    entries: int
    bytes: int
    limit: int
    persistent: bool


@dataclass(frozen=True, slots=True)
class _Entry:
    folder: Path
    size: int
    last_use: float


class _FolderError(Exception):
    """The cache's own folder failed (not the build): read-only, full, no folder at all."""

    def __init__(self, cause: OSError) -> None:
        super().__init__(str(cause))


class CompileCache:
    """Shared objects by key; safe for any number of threads and processes on one root.

    Args:
        root: the folder; by default the one that the environment asks for.
        limit: the bound on the sum of sizes, in bytes.
        lock_timeout_s: how long to wait for another process that builds the same key.
    """

    def __init__(self, root: Path | None = None, *, limit: int | None = None, lock_timeout_s: float = 600.0) -> None:
        chosen = root if root is not None else cache_folder()
        self._limit = limit if limit is not None else _limit_of_environment()
        self._lock_timeout_s = lock_timeout_s
        self._persistent = chosen is not None
        self._root = chosen if chosen is not None else _private_folder()

    def get_or_build(self, key: str, build: Callable[[Path], None]) -> Path:
        """The shared object of ``key``; if there is none yet, ``build(path)`` has to write it to ``path``.

        Raises:
            ToolchainError: from ``build`` (no entry is left then); another process held the key's lock for too long;
                or not even a temporary folder can be written.
        """
        self._check(key)
        found = self._lookup(key)
        if found is not None:
            return found
        if self._persistent:
            try:
                return self._build(key, build)
            except _FolderError as error:
                self._fall_back(error)
        try:
            return self._build(key, build)
        except _FolderError as error:
            raise ToolchainError(f'The folder for compiled pipelines "{self._root}" can\'t be used: {error}') from error

    def build_apart(self, key: str, build: Callable[[Path], None], moving: AbstractContextManager[object]) -> Path:
        """As ``get_or_build``, without the key's lock: nobody waits for it, and another process may build the same.

        Args:
            moving: what is held while the result is moved to its place.

        Raises:
            ToolchainError: from ``build``; or the folder can't be written.
        """
        self._check(key)
        found = self._lookup(key)
        if found is not None:
            return found
        try:
            with self._work_folder() as work:
                build(work / _OBJECT)
                with moving:
                    path = self._lookup(key) or self._publish(key, work)
            self._tidy(keep=key)
        except _FolderError as error:
            raise ToolchainError(f'The folder for compiled pipelines "{self._root}" can\'t be used: {error}') from error
        return path

    def verify(self, key: str) -> bool:
        """True where the entry exists and its bytes are those that were built (reads the whole file)."""
        self._check(key)
        path = self._folder(key) / _OBJECT
        try:
            record = json.loads((path.parent / _RECORD).read_bytes())
            return bool(record["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest())
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return False

    def discard(self, key: str) -> None:
        """Removes an entry, for instance one that does not load. It is no error if there is none."""
        self._check(key)
        folder = self._folder(key)
        self._remove(folder)
        if folder.exists():  # then it would be found again and again
            self._fall_back(_FolderError(PermissionError(f"a broken entry can't be removed: {folder}")))

    def info(self) -> CacheInfo:
        """Counts the entries (reads the whole folder)."""
        entries = self._entries()
        return CacheInfo(self._root, len(entries), sum(entry.size for entry in entries), self._limit, self._persistent)

    def clear(self) -> int:
        """Removes every entry; returns how many there were. Those that are loaded stay usable."""
        entries = self._entries()
        for entry in entries:
            self._remove(entry.folder)
        return len(entries)

    # ---- one entry

    @staticmethod
    def _check(key: str) -> None:
        if _KEY.fullmatch(key) is None:
            raise ValueError(f'a cache key is a hex digest of 8 to 128 digits, not "{key}"')

    def _folder(self, key: str) -> Path:
        return self._root / key[:2] / key

    def _lookup(self, key: str) -> Path | None:
        """The entry's file if its bytes are those that were built: what is damaged could crash the process."""
        folder = self._folder(key)
        path = folder / _OBJECT
        try:
            record = json.loads((folder / _RECORD).read_bytes())
            if record["sha256"] != hashlib.sha256(path.read_bytes()).hexdigest():
                return None
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        with suppress(OSError):  # a folder that is only read, and shared by others, is fine
            os.utime(folder / _RECORD)
        return path

    def _build(self, key: str, build: Callable[[Path], None]) -> Path:
        with self._locked(key):
            found = self._lookup(key)  # another process was faster
            if found is not None:
                return found
            with self._work_folder() as work:
                try:
                    build(work / _OBJECT)
                except ToolchainError:
                    self._probe(work)  # was it the compiler, or a full disk?
                    raise
                path = self._publish(key, work)
        self._tidy(keep=key)
        return path

    def _publish(self, key: str, work: Path) -> Path:
        """Moves a finished build to its place, in one step."""
        folder = self._folder(key)
        with _folder_errors():
            data = (work / _OBJECT).read_bytes()
            record = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data), "created": time.time()}
            (work / _RECORD).write_text(json.dumps(record), encoding="utf-8")
            folder.parent.mkdir(parents=True, exist_ok=True)
            self._remove(folder)  # what is there failed the lookup
            try:
                os.rename(work, folder)
            except OSError:
                if self._lookup(key) is None:  # else a process without the lock was faster, see _remove_stale
                    raise
        return folder / _OBJECT

    def _remove(self, folder: Path) -> None:
        """Takes an entry away in one step, so that nobody finds half of one."""
        if not folder.exists():
            return
        grave: Path | None = None
        with suppress(OSError):
            grave = Path(tempfile.mkdtemp(prefix="gone-", dir=self._made("tmp")))
            os.rename(folder, grave / "entry")
        if grave is not None:
            shutil.rmtree(grave, ignore_errors=True)

    # ---- the folder

    def _made(self, name: str) -> Path:
        folder = self._root / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    @contextmanager
    def _work_folder(self) -> Iterator[Path]:
        with _folder_errors():
            work = Path(tempfile.mkdtemp(prefix="build-", dir=self._made("tmp")))
        try:
            yield work
        finally:
            shutil.rmtree(work, ignore_errors=True)  # gone already if it was published

    @contextmanager
    def _locked(self, key: str) -> Iterator[None]:
        import filelock  # noqa: PLC0415  # a hit takes no lock

        with _folder_errors():
            lock = filelock.FileLock(self._made("locks") / f"{key}.lock")
            try:
                lock.acquire(timeout=self._lock_timeout_s)
            except filelock.Timeout:
                raise ToolchainError(
                    f"Another process has been building the same pipeline for {self._lock_timeout_s:g} s.\n"
                    f'It holds "{lock.lock_file}". End that process, or set HL_CACHE_DIR to another folder.'
                ) from None
        try:
            yield
        finally:
            lock.release()

    @staticmethod
    def _probe(work: Path) -> None:
        """Raises if the disk is full (compilers report that as an error of their own)."""
        with _folder_errors():
            (work / "probe").write_bytes(_PROBE)

    def _fall_back(self, cause: _FolderError) -> None:
        refused = self._root
        self._root, self._persistent = _private_folder(), False
        _warn_once(
            f'The cache folder "{refused}" can\'t be used ({cause}): compiled pipelines are kept for this process '
            "only. Set HL_CACHE_DIR to a folder that can be written, or HL_CACHE=0 to go without."
        )

    # ---- the bound

    def _entries(self) -> list[_Entry]:
        found = []
        for record in self._root.glob("[0-9a-f][0-9a-f]/*/" + _RECORD):
            with suppress(OSError):  # removed meanwhile
                status = record.stat()
                size = (record.parent / _OBJECT).stat().st_size + status.st_size
                found.append(_Entry(record.parent, size, status.st_mtime))
        return found

    def _tidy(self, *, keep: str) -> None:
        """Removes what was not used for longest while the sum is over the bound, and leftovers of killed builds."""
        import filelock  # noqa: PLC0415  # a hit takes no lock

        try:
            with filelock.FileLock(self._made("locks") / "evict.lock", timeout=_EVICTION_WAIT_S):
                self._evict(keep)
                self._remove_stale("tmp", _STALE_BUILD_S)
                self._remove_stale("locks", _STALE_LOCK_S)
        except (filelock.Timeout, OSError):
            pass  # somebody else is at it, or nothing can be removed: the next insertion tries again

    def _evict(self, keep: str) -> None:
        entries = self._entries()
        total = sum(entry.size for entry in entries)
        for entry in sorted(entries, key=lambda entry: entry.last_use):
            if total <= self._limit:
                return
            if entry.folder.name != keep:
                self._remove(entry.folder)
                total -= entry.size

    def _remove_stale(self, name: str, age_s: float) -> None:
        """A lock that is removed while held costs a second build at worst: entries are moved in whole either way."""
        oldest = time.time() - age_s
        for path in (self._root / name).iterdir():
            with suppress(OSError):
                if path.stat().st_mtime > oldest or path.name == "evict.lock":
                    continue
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink()


def default_cache() -> CompileCache:
    """The cache that the environment asks for; the same object as long as it asks for the same."""
    names = ("HL_CACHE", "HL_CACHE_DIR", "HL_CACHE_SIZE", "XDG_CACHE_HOME", "HOME")
    return _cache_for(tuple(os.environ.get(name) for name in names))


@lru_cache(maxsize=4)
def _cache_for(_environment: tuple[str | None, ...]) -> CompileCache:
    return CompileCache()


@contextmanager
def _folder_errors() -> Iterator[None]:
    """Ignores every OSError: whatever the file system refuses, a cache must not be the reason that a program stops."""
    try:
        yield
    except OSError as error:
        raise _FolderError(error) from error
    except NotImplementedError as error:  # filelock's word for a file system without locks
        raise _FolderError(OSError(str(error))) from error


def _limit_of_environment() -> int:
    text = os.environ.get("HL_CACHE_SIZE", "").strip()
    if not text:
        return _DEFAULT_LIMIT
    if not text.isdecimal():
        _warn_once(f'HL_CACHE_SIZE is "{text}", which is no number of MiB: the bound stays at 512.')
        return _DEFAULT_LIMIT
    return int(text) * _MIB


@lru_cache(maxsize=1)
def _private_folder() -> Path:
    """A folder of this process, removed when it ends."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="halide_core-"))
    except OSError as error:
        raise ToolchainError(f"There is no folder to compile in: {error}") from error
    atexit.register(_remove_private_folder, folder, os.getpid())
    return folder


def _remove_private_folder(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # and not a forked child of it
        shutil.rmtree(folder, ignore_errors=True)


@lru_cache(maxsize=64)
def _warn_once(message: str) -> None:
    warnings.warn(message, CacheWarning, stacklevel=2)
