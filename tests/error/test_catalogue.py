"""The mistakes that people make, by kind: each is refused where it is made, by a message that names what is wrong.

Each case is a call on one line, the class of its error, what the message names, and a text of the line. Other files of
this folder look at single kinds more closely; here every kind has its cases.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from tests.support.blame import refused

x, y, z = hl.Var("x"), hl.Var("y"), hl.Var("z")
r, q = hl.RDom([(0, 3)], "r"), hl.RDom([(0, 2)], "q")
U8 = hl.u8(x)
nothing: Any = None
place: Any = x
rows: Any = [[1, 2], [3, 4]]
Case = tuple[Callable[[], Any], type[Exception], tuple[str, ...], str]
Definition, Mismatch, Schedule, Run = hl.DefinitionError, hl.TypeMismatchError, hl.ScheduleError, hl.PipelineError


def f(name: str = "f") -> hl.Func:
    made = hl.Func(name)
    made[x, y] = x + y
    return made


def fresh() -> hl.Func:
    return hl.Func("fresh")


def image(name: str = "image") -> hl.ImageParam:
    return hl.ImageParam(hl.UInt(8), 2, name)


def put(func: hl.Func, at: Any, value: Any) -> None:
    """A definition, as a call."""
    func[at] = value


def using(*inputs: Any) -> hl.Func:
    """A Func of the sum of inputs."""
    made, total = hl.Func("sum"), hl.Expr(0)
    for each in inputs:
        total = total + each
    made[x, y] = total
    return made


HELPERS = ("func[at] = value", "total = total + each")
"""The lines at fault where a case goes through a function of this file."""


def used() -> hl.Func:
    made = f()
    put(fresh(), (x, y), made[x, y])
    return made


def ran() -> hl.Func:
    made = f()
    made.realize([2, 2])
    return made


KINDS: dict[str, list[Case]] = {
    "arity": [
        (lambda: f()[x], Definition, ('"f"', "2 dimensions", "1"), "f()[x]"),
        (lambda: f()[x, y, z], Definition, ('"f"', "2 dimensions", "3"), "f()[x, y, z]"),
        (lambda: put(f(), x, 3), Definition, ('"f"', "2 dimensions", "1"), "put(f(), x, 3)"),
        (lambda: image()[x], Definition, ('"image"', "2 dimensions", "1"), "image()[x]"),
    ],
    "types": [
        (lambda: put(f(), (x, 0), hl.f32(1)), Mismatch, ('"f"', "float32", "int32"), "put(f(), (x, 0), hl.f32"),
        (lambda: put(hl.Func(hl.UInt(8), 1, "f"), x, x), Mismatch, ('"f"', "uint8", "int32"), "hl.UInt(8), 1"),
        (lambda: hl.select(x, 1, 2), Mismatch, ("select", "int32", "comparison"), "hl.select(x, 1, 2)"),
        (lambda: hl.cast("int", x), Mismatch, ("cast", "'int'"), 'hl.cast("int", x)'),  # type: ignore[arg-type]
        (lambda: hl.saturating_cast(8, x), Mismatch, ("8",), "cast(8, x)"),  # type: ignore[arg-type]
        (lambda: hl.lerp(U8, hl.f32(3), 0.5), Mismatch, ("lerp", "uint8", "float32"), "hl.lerp(U8"),
        (lambda: hl.popcount(hl.f32(x)), Mismatch, ("popcount", "float32"), "hl.popcount"),
        (lambda: hl.Int(7), Definition, ("Int(7", "8, 16, 32, 64"), "hl.Int(7)"),
        (lambda: hl.Float(17), Definition, ("Float(17",), "hl.Float(17)"),
    ],
    "reused and missing arguments": [
        (lambda: put(fresh(), (x, x), 1), Definition, ('"fresh"', '"x"', "argument 2"), "put(fresh(), (x, x), 1)"),
        (lambda: put(fresh(), x, y), Definition, ('"fresh"', '"y"', '"x"'), "put(fresh(), x, y)"),
        (lambda: f().compile_to_callable([image(), nothing]), Run, ("None",), "[image(), nothing]"),
        (lambda: using(image()[x, y]).compile_to_callable([]), Run, ('"image"', "none"), "compile_to_callable([])"),
    ],
    "indices that are no int32": [
        (lambda: f()[x * 0.5, y], Mismatch, ('"f"', "float32", "hl.i32"), "f()[x * 0.5, y]"),
        (lambda: image()[x, 1.5], Mismatch, ('"image"', "Argument 2", "float32"), "image()[x, 1.5]"),
        (lambda: f()[hl.i64(x), y], Mismatch, ('"f"', "int64"), "f()[hl.i64(x), y]"),
        (lambda: f()[0:3, y], Mismatch, ("slice",), "f()[0:3, y]"),  # type: ignore[index]
        (lambda: f()[nothing, y], Mismatch, ("NoneType",), "f()[nothing, y]"),
    ],
    "definitions after use": [
        (lambda: put(used(), (x, 0), 9), Definition, ('"f"', "used at"), "put(used(), (x, 0), 9)"),
        (lambda: put(ran(), (x, 0), 9), Definition, ('"f"', "used at"), "put(ran(), (x, 0), 9)"),
    ],
    "what is not defined": [
        (lambda: put(fresh(), x, hl.Func("h")[x]), Definition, ('"h"', "not yet been defined"), 'hl.Func("h")[x]'),
        (lambda: fresh().realize([3]), Run, ('"fresh"', "not defined"), "fresh().realize([3])"),
        (lambda: fresh().vectorize(x, 4), Schedule, ('"fresh"', "not defined"), "fresh().vectorize(x, 4)"),
        (lambda: fresh().value(), Definition, ('"fresh"', "not defined"), "fresh().value()"),
        (lambda: fresh().output_buffer(), Definition, ('"fresh"', "not defined"), "fresh().output_buffer()"),
        (lambda: hl.RDom().x, Definition, ("undefined RDom",), "hl.RDom().x"),
        (lambda: hl.RDom() + 1, Definition, ("undefined RDom",), "hl.RDom() + 1"),
        (lambda: hl.sum(hl.RDom(), x), Definition, ("undefined RDom",), "hl.sum(hl.RDom(), x)"),
        (lambda: hl.RDom().where(x > 1), Definition, ("undefined RDom",), "hl.RDom().where(x > 1)"),
        (lambda: hl.Expr() + 1, Definition, ("undefined Expr",), "hl.Expr() + 1"),
    ],
    "left-hand sides of first definitions": [
        (lambda: put(fresh(), x + 1, 3), Definition, ('"fresh"', "x + 1", "not a Var"), "put(fresh(), x + 1, 3)"),
        (lambda: put(fresh(), 3, 3), Definition, ('"fresh"', "3", "not a Var"), "put(fresh(), 3, 3)"),
        (lambda: put(fresh(), r.x, 3), Definition, ('"fresh"', "r.x", "not a Var"), "put(fresh(), r.x, 3)"),
    ],
    "reduction domains": [
        (lambda: put(fresh(), x, r.x), Definition, ('"r.x"', '"fresh"', "update"), "put(fresh(), x, r.x)"),
        (lambda: put(f(), (r.x, 0), q.x), Definition, ('"r.x"', '"q.x"', "single RDom"), "put(f(), (r.x, 0), q.x)"),
        (lambda: hl.RDom([(0, 1.5)]), Definition, ("extent", "1.5"), "hl.RDom([(0, 1.5)])"),
        (lambda: hl.RDom([(0, x)]), Definition, ('"x"', "starts"), "hl.RDom([(0, x)])"),
        (lambda: hl.RDom([3]), Definition, ("3",), "hl.RDom([3])"),  # type: ignore[list-item]
        (lambda: hl.RDom([(0, 3)]).y, Definition, (".y", "1 dimensions"), "hl.RDom([(0, 3)]).y"),
        (lambda: hl.sum(x), Definition, ("sum()", "reduction variable"), "hl.sum(x)"),
    ],
    "constants that would change": [
        (lambda: U8 + 300, Mismatch, ("300", "uint8", "hl.i32"), "U8 + 300"),
        (lambda: U8 < -1, Mismatch, ("-1", "uint8"), "U8 < -1"),
        (lambda: hl.select(x > 3, U8, -1), Mismatch, ("-1", "uint8"), "hl.select(x > 3, U8, -1)"),
        (lambda: hl.clamp(U8, 0, 300), Mismatch, ("clamp", "300", "uint8"), "hl.clamp(U8, 0, 300)"),
        (lambda: hl.clamp(U8, -1, 3), Mismatch, ("clamp", "-1", "uint8"), "hl.clamp(U8, -1, 3)"),
        (lambda: hl.Expr(1 << 70), Mismatch, ("int64",), "hl.Expr(1 << 70)"),
    ],
    "what is no operand": [
        (lambda: x + nothing, Mismatch, ("NoneType",), "x + nothing"),
        (lambda: x + rows, Mismatch, ("list",), "x + rows"),
        (lambda: x + np.zeros(3), Mismatch, ("ndarray",), "x + np.zeros(3)"),  # type: ignore[operator]
        (lambda: math.sin(x), Mismatch, ("hl.sin", "float"), "math.sin(x)"),  # type: ignore[arg-type]
        (lambda: int(x + 1), Mismatch, ("hl.i32", "int"), "int(x + 1)"),
        (lambda: [1, 2][place], Mismatch, ("hl.Buffer(array)[x, y]", "RDom"), "[1, 2][place]"),
        (lambda: range(place), Mismatch, ("RDom", "range()"), "range(place)"),
    ],
    "Python's words": [
        (lambda: x > 3 and y > 3, Definition, ("& for 'and'",), "x > 3 and y > 3"),
        (lambda: x > 3 or y > 3, Definition, ("| for 'or'",), "x > 3 or y > 3"),
        (lambda: not (x > 3), Definition, ("~ for 'not'",), "not (x > 3)"),
        (lambda: 1 if x > 3 else 0, Definition, ("hl.select(c, a, b) for 'if'",), "1 if x > 3 else 0"),
        (lambda: 1 < x < 3, Definition, ("chained comparison",), "1 < x < 3"),
        (lambda: x in [1, 2], Definition, ("truth value",), "x in [1, 2]"),
    ],
    "loops over what has no parts": [
        (lambda: list(f()), hl.NotIterableError, ('"f"', "realize"), "list(f())"),
        (lambda: list(f()[x, y]), hl.NotIterableError, ("f[x, y]",), "list(f()[x, y])"),
        (lambda: list(image()), hl.NotIterableError, ('"image"',), "list(image())"),  # type: ignore[call-overload]
        (lambda: [*hl.Expr(3)], hl.NotIterableError, ("one value",), "[*hl.Expr(3)]"),  # type: ignore[misc]
        (lambda: f()(x, y), Definition, ('"f"', "f[x, y]"), "f()(x, y)"),
    ],
    "names of inputs": [
        (
            lambda: using(hl.Param(hl.Int(32), "p"), hl.Param(hl.Int(32), "p")).compile_jit(),
            Run,
            ('"p"', "Two inputs"),
            'hl.Param(hl.Int(32), "p")',
        ),
        (lambda: using(hl.Param(hl.Int(32), "image"), image()[x, y]).compile_jit(), Run, ('"image"',), "compile_jit"),
    ],
    "promises": [
        (lambda: image().dim(0).set_bounds(0, x), Definition, ('"x"', "starts"), "set_bounds(0, x)"),
        (lambda: image().dim(0).set_min(f()[0, 0]), Definition, ('"f"', "starts"), "set_min(f()[0, 0])"),
        (lambda: image().dim(0).set_stride(1.5), Definition, ("1.5", "integer"), "set_stride(1.5)"),
        (lambda: f().bound(x, 0, y), Schedule, ('"y"', "starts"), "f().bound(x, 0, y)"),
        (lambda: hl.Pipeline(f()).add_requirement(x > 3), Definition, ('"x"', "starts"), "add_requirement(x > 3)"),
        (lambda: f().output_buffer().dim(2), Definition, ('"f"', "no dimension 2"), "output_buffer().dim(2)"),
    ],
    "sizes and outputs": [
        (lambda: f().realize([3]), Run, ('"f"', "2 dimensions", "1"), "f().realize([3])"),
        (lambda: f().realize([2.5, 2]), Run, ("integers", "2.5"), "f().realize([2.5, 2])"),  # type: ignore[list-item]
        (lambda: f().realize([-2, 2]), Run, ("negative", "-2"), "f().realize([-2, 2])"),
        (lambda: f().realize(5), Run, ("list of sizes", "5"), "f().realize(5)"),  # type: ignore[arg-type]
        (lambda: f().realize(5, 5), Run, ("realize([width, height])",), "f().realize(5, 5)"),  # type: ignore[arg-type]
        (lambda: f().realize(nothing), Run, ("None",), "f().realize(nothing)"),
        (lambda: f().realize(rows), Run, ("integers",), "f().realize(rows)"),
        (lambda: f().realize(np.zeros((2, 2))), Run, ('"f"', "int32", "float64"), "f().realize(np.zeros((2, 2)))"),
        (lambda: f().realize(np.zeros(2, np.int32)), Run, ('"f"', "2 dimensions"), "f().realize(np.zeros(2"),
    ],
    "inputs without data, or with others'": [
        (lambda: using(image()[x, y]).realize([2, 2]), Run, ('"image"', "no data", "set()"), "realize([2, 2])"),
        (lambda: using(hl.Param(hl.Int(32), "p")).realize([2, 2]), Run, ('"p"', "no value"), "realize([2, 2])"),
        (lambda: image().set(nothing), Definition, ("NoneType",), "image().set(nothing)"),
        (lambda: image().set(rows), Definition, ("list",), "image().set(rows)"),
        (lambda: image().set(np.zeros((2, 2))), Mismatch, ('"image"', "uint8", "float64"), "set(np.zeros((2, 2)))"),
        (lambda: image().set(np.zeros(2, np.uint8)), Definition, ('"image"', "2 dimensions"), "set(np.zeros(2"),
    ],
    "buffers": [
        (lambda: hl.Buffer(rows), Definition, ("list",), "hl.Buffer(rows)"),
        (lambda: hl.Buffer(nothing), Definition, ("NoneType",), "hl.Buffer(nothing)"),
        (lambda: hl.Buffer(hl.UInt(8), [1 << 31]), hl.HalideError, (str(1 << 31), "int32"), "[1 << 31]"),
        (lambda: hl.Buffer(hl.UInt(8), [1 << 20] * 3), hl.HalideError, ("no memory", str(1 << 60)), "[1 << 20] * 3"),
        (lambda: hl.Buffer(np.zeros((2, 2)))[5, 0], hl.CoordinateError, ("5", "0 to 1"), "[5, 0]"),
    ],
    "calls": [
        (lambda: f().compile_to_callable([]).__call__(), Run, ("1 arguments", "f"), "__call__()"),
        (lambda: f().compile_to_callable([])(1, 2), Run, ("1 arguments", "2"), "compile_to_callable([])(1, 2)"),
        (lambda: f().compile_to_callable([])(3), Run, ('"f"', "Buffer", "3"), "compile_to_callable([])(3)"),
        (lambda: f().compile_to_callable([])(rows), Definition, ("list",), "compile_to_callable([])(rows)"),
        (lambda: f().compile_to_callable([])(np.zeros((2, 2), "i1")), Run, ("int8", "int32"), '(2, 2), "i1")'),
        (lambda: f().compile_to_callable(image()), Run, ("must be a list",), "(image())"),  # type: ignore[arg-type]
        (lambda: f().compile_to_callable([3]), Run, ("Param", "3"), "callable([3])"),  # type: ignore[list-item]
        (lambda: hl.Pipeline([]), Run, ("one Func or a list",), "hl.Pipeline([])"),
    ],
    "schedules": [
        (lambda: f().split(x, y, z, 0), Schedule, ("split", "positive", "0"), "f().split(x, y, z, 0)"),
        (lambda: f().update(), Schedule, ('"f"', "0 update definitions"), "f().update()"),
        (lambda: f().set_estimates([(0, 3)]), Schedule, ('"f"', "2 dimensions", "1"), "set_estimates([(0, 3)])"),
        (lambda: f().split(x, x, y, 4).compile_jit(), Schedule, ('"y"', "new name", "x, y"), "f().split(x, x, y, 4)"),
        (lambda: f().debug_to_file("f.png"), Schedule, ('"f.png"', '".npy"', '".tmp"'), 'debug_to_file("f.png")'),
        (lambda: f().debug_to_file(3), Schedule, ("debug_to_file", "3"), "debug_to_file(3)"),  # type: ignore[arg-type]
    ],
}
CASES = [pytest.param(*case, id=f"{kind}: {case[-1]}") for kind, cases in KINDS.items() for case in cases]


@pytest.mark.parametrize(("call", "error", "named", "at"), CASES)
def test_mistake_is_refused(call: Callable[[], Any], error: Any, named: tuple[str, ...], at: str) -> None:
    with pytest.raises(error) as caught:
        call()
    found = caught.value
    assert isinstance(found, hl.HalideError)
    for each in named:
        assert each in str(found)
    assert found.location.file == __file__
    assert at in found.location.text or found.location.text in HELPERS


def test_mistakes_that_are_seen_when_bounds_are() -> None:
    source, scale = hl.ImageParam(hl.UInt(8), 1, "source"), hl.Param(hl.Float(32), "scale")
    unbounded = hl.Func("unbounded")
    unbounded[x] = source[hl.i32(hl.exp(hl.f32(x) * scale))]
    refused(hl.BoundsError, unbounded.compile_jit, '"source"', "no bound", "hl.clamp", at="unbounded[x] = source[")


def test_a_param_that_bounds_can_not_follow_is_named_before_anything_runs() -> None:
    scale, scaled, source = hl.Param(hl.Float(32), "scale"), hl.Func("scaled"), hl.Func("source")
    source[x] = x
    scaled[x] = source[hl.i32(hl.f32(x) / scale)]
    source.compute_root()
    for value in (0.0, float("nan"), float("inf"), -1e20):
        scale.set(value)
        named = '"scaled" reads "source"', '"scale" is'
        refused(hl.PipelineError, lambda: scaled.realize([4]), *named, at="scaled.realize")


def test_a_buffer_may_be_larger_than_two_gibibytes() -> None:
    array = np.lib.stride_tricks.as_strided(np.zeros(16, np.uint8), (3, 1 << 30), (0, 0))
    buffer = hl.Buffer(array, "large")
    assert buffer.number_of_elements() == 3 << 30


# Warnings.


def test_warnings_have_a_category_of_their_own_and_come_once_a_place() -> None:
    def hidden() -> None:
        func = f()
        func[x, y] = 3

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        for _ in range(5):
            hidden()
            hl.f32(x) * 1e-300
    assert [w.category for w in caught] == [hl.HalideWarning, hl.PrecisionWarning]
    assert all(w.filename == __file__ for w in caught)
    assert issubclass(hl.PrecisionWarning, hl.HalideWarning)
    with warnings.catch_warnings(record=True) as silent:
        warnings.simplefilter("ignore", hl.HalideWarning)
        hidden()
        hl.f32(x) * 1e-300
    assert silent == []


# Names of Halide's that are not here yet.

NAMES = json.loads((Path(__file__).parents[1] / "campaigns" / "peer" / "names.json").read_text(encoding="utf-8"))


def owners() -> dict[str, Any]:
    """Something of each class that Halide's names are asked of."""
    made, arguments = f(), [image()]
    put(made, (x, 0), 1)
    return {
        "hl": hl,
        "Func": made,
        "Stage": made.update(),
        "Pipeline": hl.Pipeline(made),
        "ImageParam": arguments[0],
        "OutputImageParam": made.output_buffer(),
        "Buffer": hl.Buffer(hl.UInt(8), [2]),
        "Parameter": arguments[0].parameter(),
        "Dimension": arguments[0].dim(0),
        "Module": made.compile_to_module([]),
        "Target": hl.Target("host"),
        "Type": hl.Int(8),
        "Param": hl.Param(hl.Int(32), "p"),
        "Expr": x + 1,
    }


@pytest.mark.parametrize("owner", owners())
def test_every_name_of_halide_is_there_or_says_that_it_is_not(owner: str) -> None:
    thing = owners()[owner]
    absent = [name for tier in NAMES.values() for name in tier.get(owner, ()) if not hasattr(thing, name)]
    for name in absent:
        with pytest.raises(hl.NotAvailableError, match=f'"{name}" is not available yet'):
            getattr(thing, name)
    with pytest.raises(AttributeError, match="misspelt"):
        _ = thing.misspelt


ENUMS = {
    "ArgumentKind": "InputScalar InputBuffer OutputBuffer",
    "DeviceAPI": "Host Default_GPU CUDA Vulkan OpenCL Metal Hexagon",
    "LoopAlignStrategy": "AlignStart AlignEnd NoAlign Auto",
    "LinkageType": "External ExternalPlusMetadata ExternalPlusArgv Internal",
    "MemoryType": "Auto Heap Stack Register GPUShared GPUTexture LockedCache VTCM",
    "NameMangling": "Default C CPlusPlus",
    "OutputFileType": "assembly bitcode c_header c_source compiler_log cpp_stub featurization function_info_header "
    "hlpipe llvm_assembly object python_extension pytorch_wrapper registration schedule static_library stmt "
    "conceptual_stmt stmt_html conceptual_stmt_html device_code",
    "Partition": "Auto Never Always",
    "PrefetchBoundStrategy": "Clamp GuardWithIf NonFaulting",
    "StmtOutputFormat": "Text HTML",
    "TailStrategy": "RoundUp GuardWithIf Predicate PredicateLoads PredicateStores ShiftInwards ShiftInwardsAndBlend "
    "RoundUpAndBlend Auto",
    "TargetArch": "ArchUnknown X86 ARM Hexagon POWERPC RISCV WebAssembly",
    "TargetOS": "OSUnknown Linux Windows OSX Android IOS QuRT NoOS wasmrt",
    "TypeCode": "Int UInt Float Handle",
}
"""Halide's, but for its DeviceAPI.None, which is no Python that can be written."""


@pytest.mark.parametrize("enum", ENUMS)
def test_every_member_of_halide_s_is_there_or_says_that_it_is_not(enum: str) -> None:
    found = getattr(hl, enum)
    for name in ENUMS[enum].split():
        if not hasattr(found, name):
            with pytest.raises(hl.NotAvailableError, match=f'"{name}" is not available yet'):
                getattr(found, name)
    with pytest.raises(AttributeError, match="misspelt"):
        _ = found.misspelt


def test_memory_that_is_not_here_is_refused_where_it_is_named() -> None:
    anything: Any = hl.MemoryType
    refused(hl.NotAvailableError, lambda: f().store_in(anything.GPUShared), '"GPUShared"', at="anything.GPUShared")
    assert not hasattr(hl.MemoryType, "VTCM")
    assert [m.name for m in hl.MemoryType] == ["Auto", "Heap", "Stack", "Register"]


def test_wrapper_of_an_output_is_no_name_of_halide_s() -> None:
    buffer: Any = f().output_buffer()
    with pytest.raises(AttributeError, match="'in_'") as caught:
        _ = buffer.in_
    assert not isinstance(caught.value, hl.NotAvailableError)
