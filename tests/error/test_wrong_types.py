"""Arguments of a Python type that a call doesn't take: each is an error of ours that ends with the user's line."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from halide_core.errors import ArgumentTypeError
from tests.support.blame import refused

x, y = hl.Var("x"), hl.Var("y")
h: Any = hl
HUGE = 10**5000
"""An integer that Python itself refuses to write as a text."""


def _func() -> hl.Func:
    f, r = hl.Func("f"), hl.RDom([(0, 4)], "r")
    f[x, y] = x + y
    f[x, y] += r.x
    return f


def _buffer() -> hl.Buffer:
    return hl.Buffer(np.zeros((4, 4), np.uint8))


Case = tuple[Callable[[], Any], tuple[str, ...]]

CASES: list[Case] = [
    (lambda: h.Buffer(hl.UInt(8), [4]).copy_from(4), ("copy_from() takes a Buffer, not 4",)),
    (lambda: h.Buffer(hl.UInt(8), [4]).same_as(4), ("same_as() of a Buffer takes a Buffer", "4")),
    (lambda: h.Buffer.make_with_shape_of("x"), ("make_with_shape_of() takes a Buffer", "'x'")),
    (lambda: h.Buffer(hl.UInt(8)), ("sizes of a Buffer", "None")),
    (lambda: h.Buffer(np.zeros(3), nam="x"), ("Buffer(array, name, reverse_axes)", "nam")),
    (lambda: h.Buffer(np.zeros(3), 4), ("name of a Buffer", "4")),
    (lambda: h.Buffer(hl.UInt(8), [4]).dim("x"), ('A dimension of Buffer "', "integer, not 'x'")),
    (lambda: h.Buffer(hl.UInt(8), [4]).cropped([4]), ("cropped() takes a (min, extent)", "4")),
    (lambda: h.Buffer(hl.UInt(8), [4]).translate("x"), ("translate() takes a dimension", "'x'")),
    (lambda: h.Buffer(hl.UInt(8), [4]).translate([1, 2]), ("fewer than 2 dimensions",)),
    (lambda: h.Buffer(hl.UInt(8), [4]).contains(None), ("contains() takes a list of integers", "None")),
    (lambda: h.Buffer(hl.UInt(8), [4]).transposed(None), ("transposed() takes two dimensions", "None")),
    (lambda: h.Buffer(hl.UInt(8), [4]).for_each_element(4), ("for_each_element() takes a function", "4")),
    (lambda: h.Var("x").same_as(4), ("same_as() of a Var takes a Var, not 4",)),
    (lambda: h.RDom([(0, 3)]).same_as(4), ("same_as() of an RDom takes an RDom, not 4",)),
    (lambda: h.RDom([(0, 3)])["x"], ("variables", "'x'")),
    (lambda: h.Parameter(hl.Int(8), False, 0).same_as(None), ("Parameter takes a Parameter, not None",)),
    (lambda: h.Parameter(4, False, 0), ("A Parameter is of a hl.Type, not 4",)),
    (lambda: h.Parameter(hl.Int(8), False, 2), ("2 dimensions", "scalar has 0")),
    (lambda: h.Schedule(None), ("A Schedule is of Funcs and Pipelines, not of None",)),
    (lambda: h.Schedule(_func()).source("a b"), ("name of Python's", "'a b'")),
    (lambda: h.Pipeline(_func()).get_func(2**64), ("1 output:", "no output 18446744073709551616")),
    (lambda: h.Pipeline(_func()).get_func(HUGE), ("no output an integer of 16610 bits",)),
    (lambda: h.Pipeline(_func()).get_func("f"), ("get_func() takes the number of an output, not 'f'",)),
    (lambda: h.Target("host").natural_vector_size(2), ("natural_vector_size() takes a hl.Type", "hl.Float(32)", "2")),
    (lambda: h.Target("host").supports_type("int32"), ("supports_type() takes a hl.Type", "'int32'")),
    (lambda: h.Target("host").has_feature("avx2"), ("has_feature() takes a hl.TargetFeature", "TargetFeature.JIT")),
    (lambda: h.Target("host").set_features([1]), ("set_features()", "TargetFeature", "1")),
    (lambda: h.Target(4), ("incompatible constructor arguments", "takes a hl.TargetOS", "TargetOS.Linux", "4")),
    (lambda: h.target_arch_is("x86"), ("target_arch_is() takes a hl.TargetArch", "TargetArch.X86")),
    (lambda: h.Int(8).can_represent("x"), ("can_represent() takes a hl.Type or an integer, not 'x'",)),
    (lambda: h.Int(8).can_represent(None), ("can_represent()", "None")),
    (lambda: h.Int(8).with_bits(10**30), ("no Type", "bits")),
    (lambda: h.Int(8).with_bits("x"), ("A Type is made of a hl.TypeCode, bits and lanes", "'x'")),
    (lambda: h.Int(8).with_code(77), ("no Type of code 77",)),
    (lambda: h.Int("x"), ("Int('x', 1) is not a type", "8, 16, 32, 64")),
    (lambda: h.Int([]), ("Int([], 1) is not a type",)),
    (lambda: h.extract_bits(4, 4, 4), ("extract_bits() needs a type", "4")),
    (lambda: h.f32(10**400), ("can't make a float32", "an integer of 1329 bits")),
    (lambda: _any(_func()).update("x"), ("Update definitions have numbers", "'x'")),
    (lambda: _any(_func()).rvars(None), ("Update definitions have numbers", "None")),
    (lambda: _any(_func()).set_estimates(None), ("set_estimates() takes a list of (min, extent)", "None")),
    (lambda: h.BoundaryConditions.repeat_edge(_buffer(), 4), ("repeat_edge() takes a list of (min, extent)", "4")),
    (lambda: _any(_func()).compile_to({4: "x.o"}, []), ("type 4", "object")),
    (lambda: _any(_func()).compile_to("x.o", []), ("{hl.OutputFileType.object: name, …}", "'x.o'")),
    (lambda: _any(_func()).compile_to_c(None, []), ("name of a file", "None")),
    (lambda: _any(_func()).compile_to_static_library(4, []), ("name of a file", "4")),
    (lambda: h.link_modules("x", [4]), ("link_modules() takes a name and a list of Modules; 4 is none",)),
    (lambda: h.deserialize_pipeline(4), ("serialized pipeline", "4")),
    (lambda: h.memoization_cache_set_size("x"), ("memoization_cache_set_size() takes bytes", "'x'")),
    (lambda: h.load_plugin(4), ("load_plugin() takes a name", "4")),
    (lambda: h.create_callable_from_generator(4, "x"), ("takes a hl.Target, not 4",)),
    (lambda: _any(_func()).realize([4, 4], schedule=[]), ('"auto"', "[]")),
]


def _any(value: object) -> Any:
    return value


@pytest.mark.parametrize(("call", "named"), CASES)
def test_an_argument_of_a_wrong_type_names_the_line_and_what_is_legal(
    call: Callable[[], Any], named: tuple[str, ...]
) -> None:
    refused(hl.HalideError, call, *named, at="lambda:")


def test_it_is_a_type_error_too() -> None:
    for call in (lambda: h.Var("x").same_as(4), lambda: _any(_buffer()).copy_from(4)):
        with pytest.raises(TypeError) as caught:
            call()
        assert isinstance(caught.value, ArgumentTypeError)


def test_autoscheduler_params_that_are_none() -> None:
    f = hl.Func("f")
    f[x, y] = x + y
    f.set_estimates([(0, 64), (0, 64)])
    call = _any(hl.Pipeline(f)).apply_autoscheduler
    refused(hl.HalideError, lambda: call("host", ()), "hl.AutoschedulerParams(name, …)", "()", at="call(")


@pytest.mark.parametrize(
    ("name", "used"), [("int", "int_"), ("printf", "printf_"), ("main", "main_"), ("halide_error", "halide_error__")]
)
def test_a_function_that_c_has_itself_is_renamed_with_a_warning(tmp_path: Path, name: str, used: str) -> None:
    f = hl.Func("f")
    f[x] = x
    with pytest.warns(hl.HalideWarning, match=f'No function .* "{name}": .* It is "{used}"') as told:
        f.compile_to_header(str(tmp_path / "f.h"), [], name)
    assert told[0].filename == __file__
    assert f"int {used}(" in (tmp_path / "f.h").read_text()


def test_an_argument_that_is_a_word_of_c_is_renamed_with_a_warning(tmp_path: Path) -> None:
    f, p = hl.Func("f"), hl.Param(hl.Int(32), "int")
    f[x] = x + p
    with pytest.warns(hl.HalideWarning, match='No argument .* It is "int_"'):
        f.compile_to_header(str(tmp_path / "f.h"), [p], "blur")
    f.compile_to({hl.OutputFileType.stmt: str(tmp_path / "f.stmt")}, [p], "blur")  # no names of C's


# All of them.

WRONG = (None, 4, "x", [], {}, object(), 2**64, -1, math.nan, 10**30, int, HUGE, b"q", [None])
_NOT_CALLED = frozenset(
    """Generator main install_as_halide tune stream compile_standalone_runtime load_plugin profile generator
    set_default_schedule memoization_cache_set_size memoization_cache_cleanup
    memoization_cache_evict give of for_each_element""".split()
)
"""Calls that act on the whole process, are not meant for users, or call the user; and a class to derive from."""
OBJECTS: dict[str, Callable[[], Any]] = {
    "Func": _func,
    "Stage": lambda: _func().update(),
    "RDom": lambda: hl.RDom([(0, 4)]),
    "Expr": lambda: x + 1,
    "Var": lambda: x,
    "FuncRef": lambda: _func()[x, 0],
    "Buffer": _buffer,
    "Param": lambda: hl.Param(hl.Int(32), "p", 3),
    "ImageParam": lambda: hl.ImageParam(hl.UInt(8), 2, "im"),
    "Dimension": lambda: hl.ImageParam(hl.UInt(8), 2, "im").dim(0),
    "OutputBuffer": lambda: _func().output_buffer(),
    "Parameter": lambda: hl.Parameter(hl.Int(32), False, 0, "q"),
    "buffer Parameter": lambda: hl.Parameter(hl.Int(32), True, 2, "q"),
    "Type": lambda: hl.Int(32),
    "Target": hl.get_host_target,
    "LoopLevel": lambda: hl.LoopLevel(_func(), x),
    "Schedule": lambda: hl.Schedule(_func()),
    "Pipeline": lambda: hl.Pipeline(_func()),
    "Argument": lambda: hl.Argument(hl.Param(hl.Int(32), "q")),
}


def _public() -> Iterator[tuple[str, Callable[[], Any]]]:
    for name in hl.__all__:
        found = getattr(hl, name)
        is_type = isinstance(found, type)
        if callable(found) and name not in _NOT_CALLED and not (is_type and issubclass(found, Exception | Enum)):
            yield name, lambda found=found: found  # type: ignore[misc]  # a default argument


def _methods(make: Callable[[], Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    for name in dir(type(make())):
        if not name.startswith("_") and name not in _NOT_CALLED and callable(getattr(type(make()), name, None)):
            yield name, lambda name=name: getattr(make(), name)  # type: ignore[misc]  # a default argument


def _unclear(name: str, get: Callable[[], Any]) -> Iterator[str]:
    """The wrong arguments that give another error than ours, or than Python's about how many there are."""
    parameters = inspect.signature(get()).parameters.values()
    positional = [p for p in parameters if p.kind is not p.KEYWORD_ONLY and p.kind is not p.VAR_KEYWORD]
    needed = [p for p in positional if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]
    counts = {max(1, len(needed)), max(len(needed), min(len(positional), 3))} if positional else set()
    for count, wrong in itertools.product(sorted(counts), WRONG):
        told = _raised(get(), [wrong] * count)
        if told:
            yield f"{name}({type(wrong).__name__}): {told}"


def _raised(call: Callable[..., Any], arguments: list[Any]) -> str:
    """The error of a call that is none of ours."""
    try:
        call(*arguments)
    except hl.HalideError as error:
        return str(error) if isinstance(error, hl.InternalError) else ""
    except Exception as error:  # noqa: BLE001  # any other is what is looked for
        return f"{type(error).__name__}: {error}"
    return ""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.uncertified("sizes that are wrong, too")
@pytest.mark.parametrize("kind", ["names", *OBJECTS])
def test_no_public_call_has_an_unclear_error(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    calls = _public() if kind == "names" else _methods(OBJECTS[kind])
    assert [told for name, get in calls for told in _unclear(name, get)] == []
