"""The memory of the runtime: blocks, and those that are kept after they were freed; through cffi and from C."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from halide_core.runtime.crt.runtime_library import FFI, SOURCES, runtime
from tests.support.programs import compile_program, compile_watched

STRESS = Path(__file__).resolve().parent / "memory_stress.c"
of_glibc = pytest.mark.skipif(sys.platform != "linux", reason="blocks are kept where the C library tells their sizes")


@pytest.mark.parametrize("size", [0, 1, 127, 4096, 10**7, (32 << 20) - 129, (32 << 20) - 128, (34 << 20) + 4097])
def test_malloc_is_aligned_and_has_slack_when_size_varies(size: int) -> None:
    library = runtime()
    library.halide_core_release_memory()
    pointer = library.halide_core_malloc(size)
    assert pointer != FFI.NULL
    huge_pages = sys.platform == "linux" and size + 128 >= 32 << 20
    assert int(FFI.cast("uintptr_t", pointer)) % ((2 << 20) if huge_pages else 128) == 0
    FFI.memmove(pointer, b"x" * (size + 128), size + 128)
    library.halide_core_free(pointer)


@pytest.mark.parametrize("size", [-1, -(2**63), 2**63 - 1, 2**62])
def test_malloc_returns_null_when_size_is_impossible(size: int) -> None:
    assert runtime().halide_core_malloc(size) == FFI.NULL


@of_glibc
def test_freed_block_comes_again_when_large() -> None:
    library = runtime()
    library.halide_core_release_memory()
    first = library.halide_core_malloc(1 << 20)
    other = library.halide_core_malloc(1 << 20)
    library.halide_core_free(first)
    library.halide_core_free(other)
    # The C library may have left more behind one of them, and then the other one comes first.
    assert {library.halide_core_malloc((1 << 20) - 100), library.halide_core_malloc(1 << 20)} == {first, other}
    for pointer in (first, other):
        library.halide_core_free(pointer)


@of_glibc
def test_block_used_last_comes_first_when_sizes_vary() -> None:
    """It is in the caches, of its thread; large blocks are in none, and those are not wasted."""
    library = runtime()
    library.halide_core_release_memory()
    least, middle, most = (library.halide_core_malloc(size) for size in (300_000, 500_000, 1_000_000))
    for pointer in (middle, least, most):
        library.halide_core_free(pointer)
    assert library.halide_core_malloc(290_000) == most
    library.halide_core_free(most)
    threads = ThreadPoolExecutor(1)
    other = threads.submit(lambda: library.halide_core_malloc(450_000)).result()
    assert other == most  # of the other thread's there is none
    threads.submit(library.halide_core_free, other).result()
    assert library.halide_core_malloc(290_000) == least
    assert threads.submit(lambda: library.halide_core_malloc(290_000)).result() == most
    assert library.halide_core_malloc(100_000) not in (most, middle)  # so much would be wasted
    for pointer in (least, most):
        library.halide_core_free(pointer)
    large, larger = (library.halide_core_malloc(size) for size in (5_000_000, 6_000_000))
    library.halide_core_free(large)
    library.halide_core_free(larger)
    assert library.halide_core_malloc(4_900_000) == large


@of_glibc
def test_freed_block_comes_again_when_small() -> None:
    library = runtime()
    library.halide_core_release_memory()
    large = library.halide_core_malloc(3000)
    small = library.halide_core_malloc(1000)
    library.halide_core_free(small)
    library.halide_core_free(large)
    assert library.halide_core_malloc(900) == small
    assert library.halide_core_malloc(900) == large
    assert library.halide_core_malloc(900) not in (small, large)


@of_glibc
def test_kept_memory_is_bounded_and_released_when_threads_fork(tmp_path: Path) -> None:
    built = compile_program(tmp_path / "stress", str(STRESS), *map(str, SOURCES))
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([tmp_path / "stress", "plain"], capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


@of_glibc
@pytest.mark.parametrize("sanitizer", ["thread", "leak", "address,undefined"])
def test_memory_is_clean_when_a_sanitizer_watches(sanitizer: str, tmp_path: Path) -> None:
    compile_watched(tmp_path / "stress", sanitizer, str(STRESS), *map(str, SOURCES))
    ran = subprocess.run([tmp_path / "stress"], capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
