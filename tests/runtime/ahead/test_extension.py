"""Python extensions: what they take, what they say of what they don't, and what they need."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from halide_core.runtime.ahead.extension import SUPPORT
from halide_core.runtime.compile.target_flags import INCLUDE_FOLDER
from halide_core.runtime.compile.toolchain import find_compiler
from tests.support.aot import WARNINGS, loaded
from tests.support.checking import same, variables
from tests.support.symbols import shown

x, y = variables("x y")
EXTENSION = hl.OutputFileType.python_extension


def shifted() -> tuple[hl.Func, list[Any]]:
    """A picture and a number of each kind; the output is one smaller than the picture."""
    source = hl.ImageParam(hl.UInt(16), 2, "source")
    kinds = (hl.Int(8), hl.UInt(64), hl.Bool(), hl.Float(32), hl.Float(64), hl.Int(64))
    numbers = [hl.Param(kind, name) for kind, name in zip(kinds, "small large flag real wide far".split(), strict=True)]
    small, large, flag, real, wide, far = numbers
    small.set_range(-100, 100)
    f = hl.Func("shifted")
    whole = hl.i64(small) + hl.i64(large) + hl.select(flag, 1000, 0) + far
    f[x, y] = hl.f64(source[x + 1, y + 1]) + hl.f64(whole) + hl.f64(real) + wide
    return f, [source, *numbers]


@pytest.fixture(scope="module")
def module(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """Two functions in one module."""
    a, arguments = shifted()
    b = hl.Func("slow")
    r, n = hl.RDom([(0, 1 << 28)]), hl.Param(hl.UInt(32), "n")
    b[()] = hl.u32(0)
    b[()] = b[()] * n + hl.u32(r)
    c, bits = hl.Func("halved"), hl.ImageParam(hl.BFloat(16), 1, "bits")
    c[x] = hl.cast(hl.BFloat(16), hl.f32(bits[x]) / 2.0)
    path = tmp_path_factory.mktemp("extension") / "three.abi3.so"
    modules = [a.compile_to_module(arguments), b.compile_to_module([n]), c.compile_to_module([bits])]
    hl.link_modules("three", modules).compile({EXTENSION: str(path)})
    return loaded(path)


NUMBERS: tuple[Any, ...] = (-3, (1 << 63) + 4, True, 0.5, -0.25, -(1 << 63))
PICTURE = np.arange(30, dtype=np.uint16).reshape(5, 6)


def out() -> Any:
    return np.zeros((4, 5))


def test_call_computes(module: ModuleType) -> None:
    found, wanted = out(), PICTURE[1:, 1:] + np.float64(-3 + 4 + 1000 + 0.5 - 0.25)
    assert module.shifted(PICTURE, *NUMBERS, found) is None
    same(found, wanted)
    by_name = out()
    module.shifted(PICTURE, *NUMBERS[:3], shifted=by_name, far=NUMBERS[5], wide=NUMBERS[4], real=NUMBERS[3])
    same(by_name, wanted)


@pytest.mark.parametrize("flag", [np.True_, np.array(True), np.False_, False, np.int32(1), 0])
def test_bool_may_be_of_numpy(flag: Any, module: ModuleType) -> None:
    found, wanted = out(), PICTURE[1:, 1:] + np.float64(-3 + 4 + 1000 * int(flag) + 0.5 - 0.25)
    module.shifted(PICTURE, *NUMBERS[:2], flag, *NUMBERS[3:], found)
    same(found, wanted)


def test_module_says_what_it_has(module: ModuleType) -> None:
    assert [name for name in dir(module) if not name.startswith("_")] == ["halved", "shifted", "slow"]
    assert module.shifted.__text_signature__ == "($module, source, small, large, flag, real, wide, far, shifted)"
    assert "source: an array of uint16 of 2 dimensions\nsmall: a number of int8" in module.shifted.__doc__
    assert "shifted: filled: an array of float64" in module.shifted.__doc__


def in_bytes() -> memoryview:
    return memoryview(bytearray(PICTURE.tobytes())).cast("B").cast("H", [5, 6])


class ByDLPack:
    """An object whose memory only DLPack tells of."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __dlpack__(self) -> object:
        return self.array.__dlpack__()


@pytest.mark.parametrize(
    "given",
    [
        lambda: PICTURE[::-1][::-1], lambda: np.pad(PICTURE, 2)[2:-2, 2:-2], in_bytes, lambda: ByDLPack(PICTURE.copy()),
        lambda: ByDLPack(np.pad(PICTURE, 2)[2:-2, 2:-2]), lambda: memoryview(PICTURE),
    ],
    ids=["turned twice", "part", "bytes", "dlpack", "part by dlpack", "memoryview"],
)
def test_anything_with_memory_is_taken(given: Callable[[], Any], module: ModuleType) -> None:
    found, wanted = out(), out()
    module.shifted(PICTURE, *NUMBERS, wanted)
    module.shifted(given(), *NUMBERS, ByDLPack(found))
    same(found, wanted)


class Nothing:
    """An array without elements and without an address, as PyTorch has."""

    def __init__(self, size: int) -> None:
        self.shape = (ctypes.c_int64 * 1)(size)
        # Of a DLManagedTensor: the address, the CPU and one axis, uint16, the shape; no strides, no end.
        self.words = (ctypes.c_int64 * 8)(0, 1, 1 | 1 << 32 | 16 << 40 | 1 << 48, ctypes.addressof(self.shape))

    def __dlpack__(self) -> object:
        capsule = ctypes.pythonapi.PyCapsule_New
        capsule.restype, capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return capsule(ctypes.addressof(self.words), b"dltensor", None)


def test_array_without_address_asks_for_no_bounds(tmp_path: Path) -> None:
    f, source = hl.Func("lengths"), hl.ImageParam(hl.UInt(16), 1, "source")
    f[x] = x + source.dim(0).extent()
    f.compile_to({EXTENSION: str(tmp_path / "lengths.abi3.so")}, [source])
    module, found = loaded(tmp_path / "lengths.abi3.so"), np.full(4, -1, np.int32)
    module.lengths(Nothing(0), found)
    assert found.tolist() == [0, 1, 2, 3]
    with pytest.raises(ValueError, match='"source" has no memory'):
        module.lengths(Nothing(3), found)


def test_functions_of_one_symbol_are_refused(tmp_path: Path) -> None:
    modules = []
    for factor, name in ((2, "printf"), (3, "printf_")):
        f = hl.Func("f")
        f[x] = x * factor
        modules.append(f.compile_to_module([], name))
    with pytest.raises(hl.PipelineError, match=r'"printf" and "printf_" can.t be linked: .* "printf_"'):
        hl.link_modules("both", modules).compile({EXTENSION: str(tmp_path / "both.so")})


def test_walks_backwards_where_strides_are_negative(module: ModuleType) -> None:
    found, wanted = out(), out()
    module.shifted(PICTURE[::-1].copy(), *NUMBERS, wanted)
    module.shifted(PICTURE[::-1], *NUMBERS, found)
    same(found, wanted)


def test_bfloat16_is_a_record_of_its_bits(module: ModuleType) -> None:
    bits = np.array([0x4000, 0xC040], np.uint16)  # 2 and -3
    found = np.zeros(2, hl.BFloat(16).dtype)
    module.halved(bits.view(hl.BFloat(16).dtype), found)
    assert found.view(np.uint16).tolist() == [0x3F80, 0xBFC0]
    with pytest.raises(TypeError, match=r'argument "bits" must be of bfloat16, not of uint16'):
        module.halved(bits, found)


def read_only() -> Any:
    found = out()
    found.flags.writeable = False
    return found


def unaligned() -> Any:
    return np.frombuffer(b"x" + PICTURE.tobytes(), np.uint8)[1:].view(np.uint16).reshape(5, 6)


def odd_stride() -> Any:
    table = np.zeros((5, 6), np.dtype([("a", np.uint16), ("b", np.uint8)]))
    return table["a"]


REFUSED: dict[str, tuple[dict[int, Any], type[Exception], str]] = {
    "type": ({0: PICTURE.astype(np.int16)}, TypeError, '"source" must be of uint16, not of int16'),
    "other byte order": ({0: PICTURE.astype(">u2")}, TypeError, '"source" must be of uint16, not of another type'),
    "complex": ({0: PICTURE.astype(np.complex64)}, TypeError, '"source" must be of uint16, not of another type'),
    "no numbers": ({0: PICTURE.astype("M8[s]")}, TypeError, '"source" has no elements that are numbers'),
    "type by dlpack": ({0: ByDLPack(np.zeros((5, 6), np.int8))}, TypeError, '"source" must be of uint16, not of int8'),
    "dimensions": ({0: PICTURE[0]}, ValueError, '"source" must have 2 dimensions, not 1'),
    "dimensions by dlpack": ({0: ByDLPack(PICTURE[0].copy())}, ValueError, '"source" must have 2 dimensions, not 1'),
    "size": ({0: PICTURE[:3]}, ValueError, 'buffer "source" is read from 1 to 4 in dimension 1, but it has only 0'),
    "stride": ({0: PICTURE.T.copy().T}, ValueError, 'buffer "source" must have stride 1 in dimension 0, not 5'),
    "odd stride": ({0: odd_stride()}, ValueError, '"source" has a stride along axis 1 that is no multiple'),
    "alignment": ({0: unaligned()}, ValueError, '"source" is not aligned to its elements of 2 bytes'),
    "no array": ({0: [[1, 2]]}, TypeError, "\"source\" must be an array, .* this is: <class 'list'>"),
    "read-only": ({7: read_only()}, ValueError, '"shifted" is an output, and read-only'),
    "too large": ({1: 128}, OverflowError, '"small" is of int8, which can\'t hold 128'),
    "too small": ({1: -129}, OverflowError, '"small" is of int8, which can\'t hold -129'),
    "negative": ({2: -1}, OverflowError, '"large" is of uint64, which can\'t hold -1'),
    "more than 64 bits": ({6: 1 << 63}, OverflowError, '"far" is of int64, which can\'t hold'),
    "no truth": ({3: 2}, OverflowError, '"flag" is of bool, which can\'t hold 2'),
    "no bool": ({3: np.uint8([1])}, TypeError, '"flag" must be an integer, not array'),
    "no integer": ({1: 1.5}, TypeError, '"small" must be an integer, not 1.5'),
    "no number": ({4: "1"}, TypeError, "\"real\" must be a number, not '1'"),
    "too large a float": ({4: 1e300}, OverflowError, '"real" is of float32, which can\'t hold 1e'),
    "range": ({1: 101}, ValueError, '"small"'),
}


@pytest.mark.parametrize("name", REFUSED)
def test_wrong_argument_is_named(name: str, module: ModuleType) -> None:
    changed, error, told = REFUSED[name]
    values: list[Any] = [PICTURE, *NUMBERS, out()]
    for i, value in changed.items():
        values[i] = value
    with pytest.raises(error, match=told):
        module.shifted(*values)
    assert not np.asarray(values[7]).any()


class Unready:
    """A number whose value can't be had now."""

    def __index__(self) -> int:
        raise RuntimeError("not yet")

    __float__ = __index__


@pytest.mark.parametrize("position", [1, 3, 4])
def test_what_an_argument_raises_is_kept(position: int, module: ModuleType) -> None:
    values: list[Any] = [PICTURE, *NUMBERS, out()]
    values[position] = Unready()
    with pytest.raises(RuntimeError, match="not yet"):
        module.shifted(*values)


@pytest.mark.parametrize(
    ("args", "named", "told"),
    [
        ((1, 2, 3, 4, 5, 6, 7, 8, 9), {}, r"shifted\(\) takes 8 arguments, not 9"),
        ((1, 2), {}, r'shifted\(\) needs the argument "large"'),
        ((1, 2), {"small": 3}, r"shifted\(\) is given 'small' twice"),
        ((), {"smal": 3}, r"shifted\(\) has no argument 'smal'"),
    ],
)
def test_call_of_another_form_is_refused(args: Any, named: Any, told: str, module: ModuleType) -> None:
    with pytest.raises(TypeError, match=told):
        module.shifted(*args, **named)


def test_memory_is_given_back(module: ModuleType) -> None:
    picture, found = PICTURE.copy(), out()
    held = sys.getrefcount(picture), sys.getrefcount(found)
    for _ in range(10):
        module.shifted(picture, *NUMBERS, found)
        module.shifted(ByDLPack(picture), *NUMBERS, found)
        with pytest.raises(TypeError):
            module.shifted(picture, *NUMBERS, PICTURE)
    assert (sys.getrefcount(picture), sys.getrefcount(found)) == held
    room = bytearray(2 * 30)
    module.shifted(memoryview(room).cast("H", [5, 6]), *NUMBERS, found)
    room.append(1)  # an error while anybody looks at it


def test_other_threads_run_meanwhile(module: ModuleType) -> None:
    found = np.zeros((), np.uint32)
    running = threading.Thread(target=module.slow, args=(3, found))
    running.start()
    steps = 0
    while running.is_alive():
        time.sleep(0.001)
        steps += 1
    assert steps > 10


def test_module_needs_neither_this_package_nor_numpy(module: ModuleType, tmp_path: Path) -> None:
    assert module.__file__ is not None
    path = Path(module.__file__)
    code = (
        "import three, sys; from array import array\n"
        "source, out = (memoryview(array(t, n * [3])).cast('B').cast(t, s) "
        "for t, n, s in (('H', 30, [5, 6]), ('d', 20, [4, 5])))\n"
        "three.shifted(source, 1, 2, False, 0, 0.5, 10, out)\n"
        "print(out[3, 4], [m for m in ('numpy', 'cffi', 'halide_core') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(path.parent)!r}); {code}"],
                          capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("16.5 []\n", "")
    needed = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
    assert "python" not in needed


def test_module_shows_nothing_but_its_start(module: ModuleType) -> None:
    assert module.__file__ is not None
    assert shown(Path(module.__file__)) == ["PyInit_three"]


def test_source_of_a_module_compiles_without_python(tmp_path: Path) -> None:
    f, arguments = shifted()
    library = str(tmp_path / "own.a")
    f.compile_to({EXTENSION: str(tmp_path / "own.c"), hl.OutputFileType.static_library: library}, arguments)
    assert (tmp_path / "halide_runtime.h").is_file()
    command = [*find_compiler().command, *WARNINGS, "-shared", "-fPIC", "own.c", "own.a", "-lm", "-o", "own.abi3.so"]
    subprocess.run(command, cwd=tmp_path, check=True)
    found = out()
    loaded(tmp_path / "own.abi3.so").shifted(PICTURE, *NUMBERS, found)
    assert found.any()


def test_support_is_c_that_a_compiler_sees(tmp_path: Path) -> None:
    command = [*find_compiler().command, "-Wall", "-Wextra", "-Wno-unused-function", "-Werror", f"-I{INCLUDE_FOLDER}"]
    source = tmp_path / "support.c"  # zig compiles no header
    source.write_text(f'#include "{SUPPORT}"\n')
    subprocess.run([*command, "-c", str(source), "-o", str(tmp_path / "support.o")], check=True)


def test_modules_that_can_not_be_are_refused(tmp_path: Path) -> None:
    f, arguments = shifted()
    with pytest.raises(hl.PipelineError, match=r'"two-words.so" can\'t be the file of a Python module'):
        f.compile_to({EXTENSION: str(tmp_path / "two-words.so")}, arguments)
    half, g = hl.Param(hl.Float(16), "half"), hl.Func("g")
    g[x] = hl.f32(half)
    with pytest.raises(hl.NotAvailableError, match='scalar "half" of float16'):
        g.compile_to({EXTENSION: str(tmp_path / "g.so")}, [half])
    assert list(tmp_path.iterdir()) == []
