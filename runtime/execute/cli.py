"""``python -m halide_core``: what can be asked of an installation without writing a program.

In: the words of the command line. Out: text on stdout, and a status for the shell.

    python -m halide_core generate FILE.py -g NAME -o FOLDER   compiles a Generator of a file (halide_core.generate)
    python -m halide_core run SCRIPT.py ARGUMENTS…             runs a script, for which halide is halide_core
    python -m halide_core tune SCRIPT.py ARGUMENTS…            tunes what a script runs (halide_core.tuning)
    python -m halide_core cmake-dir      where the CMake package is, for -Dhalide_core_DIR
    python -m halide_core python-module NAME FUNCTION… -o FILE.c   writes a Python module of compiled functions
    python -m halide_core cache info     where compiled pipelines are kept, how many, and how large they are
    python -m halide_core cache clear    removes them, and what was measured of this machine for choosing schedules;
                                         running programs go on with those that they have loaded
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from halide_core.autoschedule.measured import forget_constants
from halide_core.errors import HalideError
from halide_core.generate.command_line import generate_from
from halide_core.run.as_halide import run_script
from halide_core.run.output_files import install_dir
from halide_core.runtime.ahead.extension import ModuleFunction, emit_module, module_name
from halide_core.runtime.compile.cache import CacheInfo, default_cache
from halide_core.tuning.command_line import tune_script

_MIB = 1 << 20


def run_command(words: Sequence[str]) -> int:
    """Does what the words say; 0 if it worked, 1 if not, 2 (from argparse) if they say nothing that is known."""
    if words[:1] == ["generate"]:
        return generate_from(words[1:])
    if words[:1] == ["run"]:
        return run_script(words[1:])
    if words[:1] == ["tune"]:
        return tune_script(words[1:])
    parser = argparse.ArgumentParser(prog="python -m halide_core", description="Looks after halide_core.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("generate", help="compile a Generator: generate FILE.py -g NAME -o FOLDER …, -help for more")
    commands.add_parser("run", help="run a script that says import halide: run SCRIPT.py [ARGUMENTS …]")
    commands.add_parser("tune", help="tune what a script runs: tune [--budget SECONDS] SCRIPT.py [ARGUMENTS …]")
    commands.add_parser("cmake-dir", help="where the CMake package is, for -Dhalide_core_DIR")
    module = commands.add_parser("python-module", help="write the C source of a Python module of compiled functions")
    module.add_argument("name")
    module.add_argument("function", nargs="+")
    module.add_argument("-o", dest="output", required=True, type=Path)
    cache = commands.add_parser("cache", help="the compile cache on disk")
    actions = cache.add_subparsers(dest="action", required=True)
    actions.add_parser("info", help="where it is, how many entries it has, how large they are")
    actions.add_parser("clear", help="remove every entry")
    chosen = parser.parse_args(list(words))
    if chosen.command == "cmake-dir":
        sys.stdout.write(f"{Path(install_dir(), 'cmake')}\n")
        return 0
    try:
        if chosen.command == "python-module":
            return _write_module(chosen.output, chosen.name, chosen.function)
        return _show() if chosen.action == "info" else _clear()
    except HalideError as error:
        sys.stderr.write(f"{error}\n")
        return 1


def _write_module(output: Path, name: str, functions: Sequence[str]) -> int:
    text = emit_module(module_name(Path(name)), [ModuleFunction(f) for f in functions])
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise HalideError(f'"{output}" can\'t be written: {error.strerror}.') from error
    return 0


def _show() -> int:
    info = default_cache().info()
    if not info.persistent:
        sys.stdout.write(f"{_without_cache()}\n")
        return 0
    sys.stdout.write(
        f"folder   {info.root}\n"
        f"entries  {info.entries}\n"
        f"size     {_mib(info.bytes)} of at most {_mib(info.limit)} (HL_CACHE_SIZE)\n"
    )
    return 0


def _clear() -> int:
    cache = default_cache()
    before = cache.info()
    if not before.persistent:
        sys.stdout.write(f"{_without_cache()} There is nothing to remove.\n")
        return 0
    cache.clear()
    try:
        forget_constants()
    except OSError as error:
        raise HalideError(f'"{error.filename}" can\'t be removed: {error.strerror}.') from error
    after = cache.info()
    removed = max(0, before.entries - after.entries)
    sys.stdout.write(f"removed {_entries(removed)} ({_mib(max(0, before.bytes - after.bytes))}) from {before.root}\n")
    if after.entries:
        sys.stderr.write(f"{_still_there(after)}\n")
        return 1
    return 0


def _without_cache() -> str:
    return "There is no cache on disk (HL_CACHE, HL_CACHE_DIR): compiled pipelines are kept for one process."


def _still_there(info: CacheInfo) -> str:
    return (
        f"{_entries(info.entries)} could not be removed, or came anew meanwhile. "
        f'May this user write to "{info.root}", and is no other process compiling?'
    )


def _entries(count: int) -> str:
    return f"{count} {'entry' if count == 1 else 'entries'}"


def _mib(count: int) -> str:
    return f"{count / _MIB:.1f} MiB"
