"""The thread pool and the errors of the runtime, through cffi and from C."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from halide_core.runtime.compile.target_flags import INCLUDE_FOLDER
from halide_core.runtime.compile.toolchain import CompileOptions, compile_object, find_compiler, make_static_library
from halide_core.runtime.crt.declarations import ABI, DECLARATIONS, abi_text
from halide_core.runtime.crt.runtime_library import FFI, HEADER, SOURCES, load_runtime, runtime
from tests.support.aot import cpp
from tests.support.programs import compile_program, compile_watched

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
FAILED = 8  # halide_core_error_assertion_failed


@pytest.fixture(name="library")
def fixture_library() -> Iterator[Any]:
    """The runtime with 4 threads, whatever the machine has; put back afterwards."""
    library = runtime()
    library.halide_core_set_num_threads(4)
    library.halide_core_clear_error()
    yield library
    library.halide_core_set_num_threads(0)
    library.halide_core_quiet_errors()


def par_for(library: Any, extent: int, task: Callable[[int], int], *, minimum: int = 0) -> int:
    @FFI.callback("int(void *, int64_t)")
    def run(_closure: object, index: int) -> int:
        return task(index)

    result: int = library.halide_core_par_for(run, minimum, extent, FFI.NULL)
    return result


def text(pointer: Any) -> str:
    found = FFI.string(pointer)
    assert isinstance(found, bytes)
    return found.decode()


def last_error(library: Any) -> str:
    return text(library.halide_core_last_error())


def fail(library: Any, message: str, code: int = FAILED) -> int:
    result: int = library.halide_core_error(code, b"%s", FFI.new("char[]", message.encode()))
    return result


def run_python(code: str, **environment: str) -> str:
    """The output of a fresh interpreter, for what can't be tried twice in one process."""
    process = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


# ---- loops


@pytest.mark.parametrize("threads", [1, 2, 4, 9])
@pytest.mark.parametrize("extent", [1, 2, 3, 100])
def test_par_for_runs_each_index_once_when_threads_vary(library: Any, threads: int, extent: int) -> None:
    library.halide_core_set_num_threads(threads)
    counts = [0] * extent

    def task(index: int) -> int:
        counts[index + 5] += 1
        return 0

    assert par_for(library, extent, task, minimum=-5) == 0
    assert counts == [1] * extent


@pytest.mark.parametrize("extent", [0, -1, -(2**63)])
def test_par_for_runs_nothing_when_extent_is_not_positive(library: Any, extent: int) -> None:
    assert par_for(library, extent, lambda _index: FAILED) == 0


def test_par_for_passes_64_bit_indices_when_min_is_large(library: Any) -> None:
    seen: list[int] = []

    def task(index: int) -> int:
        seen.append(index)
        return 0

    assert par_for(library, 3, task, minimum=2**62) == 0
    assert sorted(seen) == [2**62, 2**62 + 1, 2**62 + 2]


def test_par_for_nests_when_tasks_call_it(library: Any) -> None:
    seen: list[tuple[int, int, int]] = []

    def outer(x: int) -> int:
        def middle(y: int) -> int:
            def inner(z: int) -> int:
                seen.append((x, y, z))
                return 0

            return par_for(library, 3, inner)

        return par_for(library, 4, middle)

    assert par_for(library, 5, outer) == 0
    assert sorted(seen) == [(x, y, z) for x in range(5) for y in range(4) for z in range(3)]


def test_par_for_uses_several_threads_when_tasks_take_long(library: Any) -> None:
    meeting = threading.Barrier(4, timeout=30)

    def task(_index: int) -> int:
        meeting.wait()  # passes only if four threads are inside at once
        return 0

    assert par_for(library, 4, task) == 0


def test_par_for_lets_the_waiting_caller_help_when_an_inner_loop_is_slow(library: Any) -> None:
    library.halide_core_set_num_threads(2)
    taken, meeting = threading.Barrier(2, timeout=30), threading.Barrier(2, timeout=30)

    def inner(_index: int) -> int:
        meeting.wait()
        return 0

    def outer(index: int) -> int:
        taken.wait()  # each thread takes one index
        return par_for(library, 2, inner) if index == 1 else 0

    assert par_for(library, 2, outer) == 0


def test_par_for_works_when_several_threads_call_it(library: Any) -> None:
    sums = [0] * 6

    def call(number: int) -> None:
        lock = threading.Lock()

        def add(index: int) -> int:
            with lock:
                sums[number] += index
            return 0

        for _ in range(20):
            assert par_for(library, 30, add) == 0

    callers = [threading.Thread(target=call, args=(number,)) for number in range(len(sums))]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(60)
    assert sums == [20 * sum(range(30))] * len(sums)


# ---- errors


def test_par_for_returns_the_result_when_a_task_fails(library: Any) -> None:
    assert par_for(library, 50, lambda index: 77 if index == 13 else 0) == 77


@pytest.mark.parametrize("threads", [1, 4])
def test_par_for_starts_few_more_indices_when_a_task_fails(library: Any, threads: int) -> None:
    library.halide_core_set_num_threads(threads)
    ran: list[int] = []

    def task(index: int) -> int:
        ran.append(index)
        return FAILED

    assert par_for(library, 10_000, task) == FAILED
    assert len(ran) <= threads


def test_last_error_is_the_worker_s_when_a_task_fails_there(library: Any) -> None:
    caller = threading.get_ident()
    failed: list[int] = []

    def task(index: int) -> int:
        if threading.get_ident() == caller:
            while not failed:
                time.sleep(0.001)
            return 0
        failed.append(index)
        return fail(library, f"task {index} failed")

    assert par_for(library, 200, task) == FAILED
    assert last_error(library) in {f"task {index} failed" for index in failed}


def test_last_error_reaches_the_outermost_caller_when_a_nested_task_fails(library: Any) -> None:
    def outer(x: int) -> int:
        return par_for(library, 8, lambda y: fail(library, "at (2, 3)", 4) if (x, y) == (2, 3) else 0)

    assert par_for(library, 8, outer) == 4
    assert last_error(library) == "at (2, 3)"


def test_last_error_is_empty_when_a_task_fails_without_a_message(library: Any) -> None:
    for _ in range(10):
        assert par_for(library, 20, lambda _index: fail(library, "an old message")) == FAILED
    library.halide_core_clear_error()
    assert par_for(library, 20, lambda _index: 3) == 3
    assert last_error(library) == ""


def test_error_formats_and_truncates_when_the_message_is_long(library: Any) -> None:
    assert library.halide_core_error(5, b"%d is not %s", FFI.cast("int", 3), FFI.new("char[]", b"four")) == 5
    assert last_error(library) == "3 is not four"
    fail(library, "x" * 5000)
    assert last_error(library) == "x" * 1023
    library.halide_core_error(5, b"again: %s", library.halide_core_last_error())
    assert last_error(library) == "again: " + "x" * 1016


def test_error_handler_gets_code_and_message_when_set(library: Any) -> None:
    calls: list[tuple[int, str]] = []

    @FFI.callback("void(int, const char *)")
    def handler(code: int, message: Any) -> None:
        calls.append((code, text(message)))

    before = library.halide_core_set_error_handler(handler)
    fail(library, "first")
    assert library.halide_core_set_error_handler(before) == handler
    fail(library, "second")
    assert calls == [(FAILED, "first")]


def test_error_is_printed_when_the_default_handler_is_restored(library: Any, capfd: pytest.CaptureFixture[str]) -> None:
    fail(library, "quiet")
    library.halide_core_set_error_handler(FFI.NULL)
    fail(library, "loud")
    assert capfd.readouterr().err == "halide_core: loud\n"


# ---- threads


def test_set_num_threads_returns_the_old_number_when_called(library: Any) -> None:
    assert library.halide_core_set_num_threads(3) == 4
    assert library.halide_core_get_num_threads() == 3
    assert library.halide_core_set_num_threads(10**6) == 3
    assert library.halide_core_set_num_threads(0) == 512
    default = library.halide_core_get_num_threads()
    assert library.halide_core_set_num_threads(-7) == default
    assert library.halide_core_get_num_threads() == default


def test_par_for_keeps_to_the_number_of_threads_when_it_is_reduced(library: Any) -> None:
    library.halide_core_set_num_threads(8)
    seen: set[int] = set()

    def task(_index: int) -> int:
        seen.add(threading.get_ident())
        time.sleep(0.001)
        return 0

    assert par_for(library, 100, task) == 0
    library.halide_core_set_num_threads(2)
    seen.clear()
    assert par_for(library, 100, task) == 0
    assert len(seen) <= 2


@pytest.mark.parametrize(
    ("value", "expected"), [("3", 3), ("0", os.cpu_count()), ("many", os.cpu_count()), ("99999", 512)]
)
def test_num_threads_follows_the_environment_when_first_used(value: str, expected: int) -> None:
    code = "from halide_core.runtime.crt.runtime_library import runtime; print(runtime().halide_core_get_num_threads())"
    assert int(run_python(code, HL_NUM_THREADS=value)) == expected


def test_par_for_works_again_when_the_pool_was_shut_down(library: Any) -> None:
    for _ in range(20):
        assert par_for(library, 10, lambda _index: 0) == 0
        library.halide_core_shutdown_thread_pool()
    library.halide_core_shutdown_thread_pool()
    assert par_for(library, 10, lambda _index: 0) == 0


def test_shutdown_is_ignored_when_called_from_a_task(library: Any) -> None:
    def task(_index: int) -> int:
        library.halide_core_shutdown_thread_pool()
        return 0

    assert par_for(library, 20, task) == 0


def test_custom_par_for_is_called_when_set(library: Any) -> None:
    calls: list[tuple[int, int]] = []

    @FFI.callback("int(int (*)(void *, int64_t), int64_t, int64_t, void *)")
    def custom(task: Any, minimum: int, extent: int, closure: Any) -> int:
        calls.append((minimum, extent))
        results: list[int] = []
        thread = threading.Thread(target=lambda: results.extend(task(closure, minimum + i) for i in range(extent)))
        thread.start()
        thread.join(30)
        return next((result for result in results if result), 0)

    library.halide_core_set_custom_par_for(custom)
    try:
        assert par_for(library, 3, lambda index: fail(library, "in custom") if index == 6 else 0, minimum=5) == FAILED
    finally:
        library.halide_core_set_custom_par_for(FFI.NULL)
    assert calls == [(5, 3)]
    assert last_error(library) == "in custom"  # though it failed on another thread
    assert par_for(library, 3, lambda _index: 0) == 0
    assert len(calls) == 1


def test_custom_par_for_can_use_the_pool_when_it_calls_the_default(library: Any) -> None:
    seen: list[int] = []

    @FFI.callback("int(int (*)(void *, int64_t), int64_t, int64_t, void *)")
    def custom(task: Any, minimum: int, extent: int, closure: Any) -> int:
        result: int = library.halide_core_default_par_for(task, minimum, extent, closure)
        return result

    def task(index: int) -> int:
        seen.append(index)
        return 0

    library.halide_core_set_custom_par_for(custom)
    try:
        assert par_for(library, 9, task) == 0
    finally:
        library.halide_core_set_custom_par_for(FFI.NULL)
    assert sorted(seen) == list(range(9))


FORK = """
import os, sys, threading, time
from halide_core.runtime.crt.runtime_library import FFI, runtime
library = runtime()
library.halide_core_set_num_threads(4)
seen = set()

@FFI.callback("int(void *, int64_t)")
def task(_closure, index):
    seen.add(threading.get_ident())
    while len(seen) < 2:  # there are workers, whenever they come
        time.sleep(0.001)
    return 0

def run():
    seen.clear()
    assert library.halide_core_par_for(task, 0, 40, FFI.NULL) == 0

def fork(in_child):
    child = os.fork()
    if child == 0:
        try:
            in_child()
        except BaseException as error:
            sys.stderr.write(repr(error))
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
"""


def test_par_for_works_in_the_child_when_forked() -> None:
    run_python(FORK + "run(); fork(run); run(); fork(lambda: (run(), fork(run), run())); run()")


def test_par_for_works_in_the_child_when_another_thread_is_in_a_loop() -> None:
    run_python(
        FORK
        + """
stop = False
def busy():
    while not stop:
        library.halide_core_par_for(task, 0, 40, FFI.NULL)
thread = threading.Thread(target=busy)
thread.start()
time.sleep(0.05)
for _ in range(10):
    fork(run)
stop = True
thread.join()
run()
"""
    )


def test_par_for_fails_in_the_child_when_a_task_forked_and_returned() -> None:
    code = """
children, inside = [], set()
library.halide_core_set_num_threads(2)
@FFI.callback("int(void *, int64_t)")
def forking(_closure, index):
    inside.add(threading.get_ident())
    if threading.current_thread() is threading.main_thread() and not children:
        while len(inside) < 2:
            time.sleep(0.001)
        children.append(os.fork())
    while not children:  # the other thread is inside when it comes to that
        time.sleep(0.001)
    return 0

result = library.halide_core_par_for(forking, 0, 8, FFI.NULL)
if children[0] == 0:
    os._exit(result)
assert result == 0
assert os.waitstatus_to_exitcode(os.waitpid(children[0], 0)[1]) == 15
"""
    run_python(FORK + code)


# ---- the library and its header


def test_load_runtime_returns_one_library_when_threads_race() -> None:
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(load_runtime())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(library) for library in found}) == 1


def test_load_runtime_rebuilds_when_the_cached_library_is_broken(tmp_path: Path) -> None:
    code = (
        "from halide_core.runtime.crt.runtime_library import runtime;"
        "print(runtime().halide_core_get_num_threads() > 0)"
    )
    assert run_python(code, HL_CACHE_DIR=str(tmp_path)) == "True\n"
    (built,) = tmp_path.glob("??/*/pipeline.so")
    built.write_bytes(b"\0" * built.stat().st_size)
    assert run_python(code, HL_CACHE_DIR=str(tmp_path)) == "True\n"


def test_load_runtime_serves_later_libraries_when_they_use_the_runtime(tmp_path: Path) -> None:
    source = tmp_path / "user.c"
    source.write_text('#include "halide_runtime.h"\nint threads(void) { return halide_core_get_num_threads(); }\n')
    code = f"""
from pathlib import Path
import cffi
from halide_core.runtime.crt.runtime_library import INCLUDE_FOLDER, runtime
from halide_core.runtime.compile.toolchain import CompileOptions, compile_shared
output = Path({str(tmp_path)!r}) / "user.so"
compile_shared([Path({str(source)!r})], output, options=CompileOptions(include_folders=(INCLUDE_FOLDER,)))
runtime().halide_core_set_num_threads(7)
ffi = cffi.FFI()
ffi.cdef("int threads(void);")
print(ffi.dlopen(str(output)).threads())
"""
    assert run_python(code) == "7\n"


def test_declarations_equal_the_header_when_compared() -> None:
    def functions(text: str) -> set[str]:
        plain = re.sub(r"/\*.*?\*/|^\s*#.*?$", "", text, flags=re.DOTALL | re.MULTILINE)
        plain = re.sub(r"\s+", " ", re.sub(r"HALIDE_CORE_PRINTF\(\d, \d\)|__attribute__\(\(\w+\)\)", "", plain))
        return {
            part.strip(" {}").removesuffix(" ") for part in plain.split(";") if re.search(r"halide_core_\w+\)?\(", part)
        }

    header = {re.sub(r'^.*extern "C" ', "", name) for name in functions(HEADER.read_text())}
    assert functions(DECLARATIONS) == header
    assert len(header) == 63


def test_abi_is_made_of_the_declarations() -> None:
    assert ABI.read_text() == abi_text(), "run python -m halide_core.runtime.crt.declarations"


def test_buffer_has_halide_s_layout_when_declared() -> None:
    names = ("device", "device_interface", "host", "flags", "type", "dimensions", "dim", "padding")
    assert [FFI.offsetof("halide_buffer_t", name) for name in names] == [0, 8, 16, 24, 32, 36, 40, 48]
    assert FFI.sizeof("halide_buffer_t") == 56


@pytest.mark.parametrize("language", ["c++11", "c11", "c++17"])
def test_header_compiles_without_warnings_when_the_language_varies(language: str, tmp_path: Path) -> None:
    compiler = cpp() if "++" in language else find_compiler().command
    source = tmp_path / ("user.cpp" if "++" in language else "user.c")
    source.write_text('#include "halide_runtime.h"\nint f(halide_buffer_t *b) { return b->dimensions; }\n')
    flags = ["-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{INCLUDE_FOLDER}", "-c", str(source)]
    subprocess.run([*compiler, f"-std={language}", *flags, "-o", str(tmp_path / "user.o")], check=True, timeout=60)


def test_header_leaves_the_types_alone_when_halide_s_own_came_first(tmp_path: Path) -> None:
    source = tmp_path / "user.c"
    source.write_text(
        "#define HALIDE_HALIDERUNTIME_H\n#include <stdint.h>\n"
        "typedef struct halide_type_t { uint8_t code, bits; uint16_t lanes; } halide_type_t;\n"
        "typedef struct halide_buffer_t { int mine; } halide_buffer_t;\n"
        '#include "halide_runtime.h"\nint main(void) { halide_buffer_t b = {0}; return b.mine; }\n'
    )
    assert compile_program(tmp_path / "user", "-Wall", "-Werror", str(source)).returncode == 0


def test_runtime_is_one_when_two_static_libraries_carry_it(tmp_path: Path) -> None:
    options = CompileOptions(include_folders=(INCLUDE_FOLDER,))
    archives = []
    for name in ("first", "second"):
        source = tmp_path / f"{name}.c"
        source.write_text(
            f'#include "halide_runtime.h"\nint {name}(int n) {{ return halide_core_set_num_threads(n); }}\n'
        )
        objects = []
        for part in (source, *SOURCES):
            objects.append(tmp_path / f"{name}-{part.stem}.o")
            compile_object(part, objects[-1], options=options)
        archives.append(tmp_path / f"lib{name}.a")
        make_static_library(objects, archives[-1])
    main = tmp_path / "main.c"
    main.write_text(
        "int first(int), second(int);\nint main(void) { first(5); return second(6) == 5 && first(0) == 6 ? 0 : 1; }\n"
    )
    # Whole archives: both copies are in the program, as happens when objects are linked by name.
    whole = ["-Wl,--whole-archive", *map(str, archives), "-Wl,--no-whole-archive"]
    if sys.platform == "darwin":
        whole = [f"-Wl,-force_load,{archive}" for archive in archives]
    built = compile_program(tmp_path / "main", str(main), *whole)
    assert built.returncode == 0, built.stderr
    assert subprocess.run([tmp_path / "main"], timeout=60, check=False).returncode == 0


@pytest.mark.parametrize("sanitizer", ["thread", "address,undefined"])
def test_pool_is_clean_when_a_sanitizer_watches(sanitizer: str, tmp_path: Path) -> None:
    program = tmp_path / "stress"
    sources = [str(HERE / "pool_stress.c"), *map(str, SOURCES)]
    compile_watched(program, sanitizer, *sources)
    ran = subprocess.run([program], capture_output=True, text=True, timeout=300, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
