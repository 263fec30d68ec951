"""Inputs and outputs that don't fit: sizes, types, dimensions, memory, values that are missing or out of range."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import halide_core as hl
from halide_core.runtime.crt.runtime_library import FFI, runtime
from tests.support.blame import refused

x, y = hl.Var("x"), hl.Var("y")
HERE = __file__


def twice(source: hl.ImageParam) -> hl.Func:
    f = hl.Func("f")
    f[x, y] = source[x, y] * 2
    return f


@pytest.fixture
def source() -> hl.ImageParam:
    """An image of 8 by 6."""
    param = hl.ImageParam(hl.UInt(16), 2, "source")
    param.set(np.arange(48, dtype=np.uint16).reshape(6, 8))
    return param


def zeros(width: int, height: int, dtype: Any = np.uint16) -> Any:
    return np.zeros((height, width), dtype)


# Outputs.


def test_wrong_dtype_of_an_output_is_refused(source: hl.ImageParam) -> None:
    f = twice(source)
    refused(hl.PipelineError, lambda: f.realize(zeros(3, 3, np.int16)), "buffer f ", "uint16", "int16", at="f.realize")
    refused(hl.HalideError, lambda: f.realize(zeros(3, 3, np.complex64)), "complex64", at="f.realize")
    refused(hl.HalideError, lambda: f.realize(zeros(3, 3, ">u2")), ">u2", "byte order", at="f.realize")
    refused(hl.HalideError, lambda: f.realize(zeros(3, 3, object)), "object", at="f.realize")


def test_wrong_dimensions_of_an_output_are_refused(source: hl.ImageParam) -> None:
    f = twice(source)
    refused(hl.PipelineError, lambda: f.realize(np.zeros(3, np.uint16)), "buffer f ", "2 dimensions", at="f.realize")
    refused(hl.PipelineError, lambda: f.realize([3, 3, 3]), '"f"', "2 dimensions", "3", at="f.realize")
    refused(hl.PipelineError, lambda: f.realize([3, -1]), "-1", "negative", at="f.realize")
    refused(hl.PipelineError, lambda: f.realize([2**31, 1]), '"f"', "2147483648", "int32", at="f.realize([2**31, 1])")
    refused(hl.PipelineError, lambda: f.realize(5), at="f.realize(5)")  # type: ignore[arg-type]  # on purpose
    outputs = [zeros(3, 3), zeros(3, 3)]
    refused(hl.PipelineError, lambda: f.realize(outputs), "1 outputs", "2 buffers", at="f.realize(outputs)")


def test_read_only_memory_is_refused_where_it_would_be_written(source: hl.ImageParam) -> None:
    f, fixed = twice(source), zeros(3, 3)
    fixed.flags.writeable = False
    buffer = hl.Buffer(fixed)
    refused(hl.PipelineError, lambda: f.realize(fixed), "Output", '"f"', "read-only", at="f.realize(fixed)")
    refused(hl.PipelineError, lambda: f.realize(buffer), "Output", '"f"', "read-only", at="f.realize(buffer)")
    refused(hl.HalideError, lambda: buffer.fill(1), "read-only", at="buffer.fill(1)")
    refused(hl.HalideError, lambda: buffer.__setitem__((0, 0), 1), "read-only", at="buffer.__setitem__")
    refused(hl.HalideError, lambda: buffer.copy_from(hl.Buffer(zeros(3, 3))), "read-only", at="buffer.copy_from")


def test_read_only_memory_is_read(source: hl.ImageParam, tmp_path: Path) -> None:
    f, values = twice(source), np.arange(9, dtype=np.uint16).reshape(3, 3)
    values.tofile(tmp_path / "values")
    fixed = values.copy()
    fixed.flags.writeable = False
    for made in (
        fixed,
        np.frombuffer(values.tobytes(), np.uint16).reshape(3, 3),
        np.broadcast_to(values[1], (3, 3)),
        np.broadcast_to(values[:, :1], (3, 3)),
        np.memmap(tmp_path / "values", np.uint16, "r", shape=(3, 3)),
    ):
        source.set(made)
        assert np.array_equal(np.asarray(f.realize([3, 3])), 2 * made)
        assert np.asarray(hl.Buffer(made)).flags.writeable is False
    assert list(hl.Buffer(b"abc")) == [97, 98, 99]


def test_memory_that_c_can_t_read_is_refused(source: hl.ImageParam) -> None:
    packed = np.zeros((4, 4), [("a", "u1"), ("b", "u2")])["b"]
    refused(hl.HalideError, lambda: source.set(packed), "copy()", at="source.set(packed)")


def test_output_that_a_consumer_outgrows_is_refused(source: hl.ImageParam) -> None:
    f, g = twice(source), hl.Func("g")
    g[x, y] = f[x + 1, y + 2]
    small = [zeros(4, 4), zeros(4, 4)]
    named = ('Pipeline "f"', '"f"', "from 0 to 4", "only 0 to 3", "dimension 0")
    refused(hl.PipelineError, lambda: hl.Pipeline([f, g]).realize(small), *named, at=".realize(small)")


def test_output_too_small_for_an_update_is_refused() -> None:
    f, r = hl.Func("f"), hl.RDom([(0, 10)])
    f[x] = 0
    f[r.x] = r.x
    small = np.full(5, -1, np.int32)
    named = ('output buffer "f"', "from 0 to 9", "only 0 to 4", "dimension 0")
    refused(hl.PipelineError, lambda: f.realize(small), *named, at="f.realize(small)")
    assert (small == -1).all()
    assert np.asarray(f.realize([5])).tolist() == [0, 1, 2, 3, 4]  # into memory of our own it is fine


# Inputs.


@pytest.mark.parametrize(
    ("dx", "dy", "read", "limits", "dimension"),
    [
        (1, 0, "from 1 to 8", "only 0 to 7", 0),
        (-1, 0, "from -1 to 6", "only 0 to 7", 0),
        (0, 1, "from 1 to 6", "only 0 to 5", 1),
        (0, -3, "from -3 to 2", "only 0 to 5", 1),
        (1000, 0, "from 1000 to 1007", "only 0 to 7", 0),
    ],
)
def test_input_read_out_of_bounds_is_refused(
    source: hl.ImageParam, dx: int, dy: int, read: str, limits: str, dimension: int
) -> None:
    f = hl.Func("f")
    f[x, y] = source[x + dx, y + dy]
    f.vectorize(x, 8)
    named = ('Pipeline "f"', 'input buffer "source"', read, limits, f"dimension {dimension}")
    refused(hl.PipelineError, lambda: f.realize([8, 6]), *named, at="f.realize([8, 6])")
    out = zeros(8, 6)
    out += 7
    refused(hl.PipelineError, lambda: f.realize(out), *named, at="f.realize(out)")
    assert (out == 7).all()


def test_input_read_out_of_bounds_is_refused_where_its_coordinates_are(source: hl.ImageParam) -> None:
    given = hl.Buffer(hl.UInt(16), [8, 6])
    given.set_min([-4, 10])
    source.set(given)
    f = twice(source)
    named = ('"source"', "from 0 to 7", "only -4 to 3", "dimension 0")
    refused(hl.PipelineError, lambda: f.realize([8, 6]), *named, at="f.realize([8, 6])")


def test_input_read_out_of_bounds_is_refused_when_data_lead_there(source: hl.ImageParam) -> None:
    f = hl.Func("f")
    f[x, y] = source[hl.i32(source[x, y]), y]
    named = ('"source"', "from 0 to 65535", "only 0 to 7", "dimension 0")
    refused(hl.PipelineError, lambda: f.realize([8, 6]), *named, at="f.realize([8, 6])")


def test_input_read_out_of_bounds_is_refused_when_a_domain_leads_there(source: hl.ImageParam) -> None:
    n = hl.Param(hl.Int(32), "n", 20)
    f, r = hl.Func("f"), hl.RDom([(0, n)])
    f[y] = hl.u16(0)
    f[y] += source[r.x, y]
    named = ('"source"', "from 0 to 19", "only 0 to 7", "dimension 0")
    refused(hl.PipelineError, lambda: f.realize([6]), *named, at="f.realize([6])")


def test_embedded_image_read_out_of_bounds_is_refused() -> None:
    f = hl.Func("f")
    f[x] = hl.Buffer(np.arange(5, dtype=np.int32), "data")[x + 2]
    named = ('"data"', "from 2 to 6", "only 0 to 4")
    refused(hl.PipelineError, lambda: f.realize([5]), *named, at="f.realize([5])")


def test_image_that_is_not_set_is_refused() -> None:
    unset = hl.ImageParam(hl.UInt(16), 2, "unset")
    f = twice(unset)
    refused(hl.PipelineError, lambda: f.realize([3, 3]), '"unset"', HERE, "set()", at="f.realize([3, 3])")
    unset.set(zeros(3, 3))
    f.realize([3, 3])
    unset.reset()
    refused(hl.PipelineError, lambda: f.realize([3, 3]), '"unset"', at="f.realize([3, 3])")


def test_wrong_image_is_refused(source: hl.ImageParam) -> None:
    refused(hl.TypeMismatchError, lambda: source.set(zeros(3, 3, np.uint8)), '"source"', "uint8", at="source.set")
    refused(hl.DefinitionError, lambda: source.set(np.zeros(3, np.uint16)), '"source"', "2", "1", at="source.set")
    anything: Any = [[1, 2], [3, 4]]
    refused(hl.HalideError, lambda: source.set(anything), "list", at="source.set(anything)")
    assert np.asarray(twice(source).realize([8, 6])).shape == (6, 8)  # the old one is still there


# Params.


def test_param_without_a_value_is_refused() -> None:
    p, f = hl.Param(hl.Int(32), "p"), hl.Func("f")
    f[x] = x + p
    refused(hl.PipelineError, lambda: f.realize([3]), '"p"', HERE, "set()", at="f.realize([3])")
    p.set(2)
    assert np.asarray(f.realize([3])).tolist() == [2, 3, 4]


def test_param_of_another_type_is_refused() -> None:
    p, f = hl.Param(hl.UInt(8), "p"), hl.Func("f")
    f[x] = p
    refused(hl.TypeMismatchError, lambda: p.set(300), '"p"', "300", "uint8", at="p.set(300)")
    refused(hl.TypeMismatchError, lambda: p.set(-1), '"p"', "-1", at="p.set(-1)")
    refused(hl.TypeMismatchError, lambda: p.set(1.5), '"p"', "1.5", at="p.set(1.5)")
    word: Any = "3"
    refused(hl.TypeMismatchError, lambda: p.set(word), '"p"', "str", at="p.set(word)")


@pytest.mark.parametrize(("bits", "most", "value"), [(16, 65504.0, 65520.0), (32, 3.4028234663852886e38, -1e39)])
def test_param_beyond_its_float_is_refused(bits: int, most: float, value: float) -> None:
    """A finite number never becomes infinite on the way in; what is infinite or NaN stays so."""
    p, f = hl.Param(hl.Float(bits), "p"), hl.Func("f")
    f[x] = hl.f64(p)
    refused(hl.TypeMismatchError, lambda: p.set(value), '"p"', f"{value!r}", f"float{bits}", at="p.set(value)")
    for kept in (most, -most, np.inf, -np.inf, np.nan):
        p.set(kept)
        np.testing.assert_equal(np.asarray(f.realize([2])), [kept, kept])
    c = f.compile_to_callable([p])
    refused(hl.TypeMismatchError, lambda: c(value, np.zeros(2)), '"p"', at="c(value, np.zeros(2))")


@pytest.mark.parametrize(("value", "limit"), [(9, "5"), (-1, "0")])
def test_param_outside_its_range_is_refused(value: int, limit: str) -> None:
    p, f = hl.Param(hl.Int(32), "p"), hl.Func("f")
    f[x] = x + p
    p.set_range(0, 5)
    p.set(value)
    refused(hl.PipelineError, lambda: f.realize([3]), 'Pipeline "f"', '"p"', str(value), limit, at="f.realize([3])")
    p.set(5)
    f.realize([3])


def test_two_inputs_of_one_name_are_refused() -> None:
    a, b, f = hl.Param(hl.Int(32), "p", 1), hl.Param(hl.Int(32), "p", 2), hl.Func("f")
    f[x] = a + b
    refused(hl.PipelineError, lambda: f.realize([3]), '"p"', HERE, at="f.realize([3])")


# Callables.


def test_wrong_call_is_refused(source: hl.ImageParam) -> None:
    p = hl.Param(hl.UInt(16), "p")
    f = hl.Func("f")
    f[x, y] = source[x, y] + p
    call = f.compile_to_callable([source, p])
    image, out = zeros(4, 4), zeros(4, 4)
    refused(hl.PipelineError, lambda: call(image, 1), "f", at="call(image, 1)")
    refused(hl.PipelineError, lambda: call(image, 1, out, 2), "4", at="call(image, 1, out, 2)")
    refused(hl.PipelineError, lambda: call(image, 1, out, p=3), "Argument p ", at="call(image, 1, out, p=3)")
    refused(hl.TypeMismatchError, lambda: call(image, 70000, out), '"p"', "70000", at="call(image, 70000, out)")
    refused(hl.PipelineError, lambda: call(image, 1, zeros(4, 4, np.int8)), "buffer f ", at="call(image, 1, zeros")
    refused(hl.PipelineError, lambda: call(image[0], 1, out), "source", "2 dimensions", at="call(image[0], 1, out)")
    refused(hl.PipelineError, lambda: call(zeros(3, 4), 1, out), '"source"', "only 0 to 2", at="call(zeros(3, 4)")
    refused(hl.PipelineError, lambda: f.compile_to_callable([source]), '"p"', at="f.compile_to_callable([source])")
    call(image, 1, out)
    assert (out == 1).all()


# C's own checks, without Python's before them.


def buffer(array: Any, **changes: Any) -> Any:
    """A ``halide_buffer_t`` over an array of two dimensions, with some fields changed."""
    dims = FFI.new("halide_dimension_t[]", [(0, array.shape[1], 1, 0), (0, array.shape[0], array.shape[1], 0)])
    made: Any = FFI.new("halide_buffer_t *")
    made.host = FFI.cast("uint8_t *", array.ctypes.data)
    made.type.code, made.type.bits, made.type.lanes = 1, 16, 1
    made.dimensions, made.dim = 2, dims
    for name, value in changes.items():
        if name in ("code", "bits", "lanes"):
            setattr(made.type, name, value)
        elif name in ("min", "extent", "stride"):
            setattr(dims[0], name, value)
        else:
            setattr(made, name, value)
    KEPT.append((array, dims))
    return made


KEPT: list[Any] = []


@pytest.mark.parametrize(
    ("changes", "code", "named"),
    [
        ({"code": 0}, 2, ["int16", "uint16"]),
        ({"bits": 32}, 2, ["uint32", "uint16"]),
        ({"bits": 200}, 2, ["unknown"]),
        ({"lanes": 4}, 2, ["vectors"]),
        ({"dimensions": 1}, 3, ["1 dimensions", "2 are needed"]),
        ({"dimensions": -5}, 3, ["-5"]),
        ({"dim": FFI.NULL}, 1, ["dimensions"]),
        ({"extent": -1}, 4, ["-1", "dimension 0"]),
        ({"stride": 3}, 5, ["stride 1", "3"]),
        ({"stride": -1}, 5, ["stride 1", "-1"]),
        ({"min": 5}, 6, ["from 0 to 7", "only 5 to 12"]),
        ({"min": 2**31 - 3}, None, []),
        ({"flags": 2}, 10, ["device"]),
    ],
    ids=str,
)
def test_bad_buffers_are_refused_in_c(
    source: hl.ImageParam, changes: dict[str, Any], code: int | None, named: list[str]
) -> None:
    loaded: Any = twice(source).compile_to_callable([source])._compiled
    memory = zeros(8, 60)  # far apart in it, so that no stride makes them overlap
    image, out = buffer(memory[:6], **changes), buffer(memory[-6:])
    pointers = FFI.new("void *[]", [FFI.cast("void *", image), FFI.cast("void *", out)])
    found = loaded._entry(pointers)
    text = FFI.string(runtime().halide_core_last_error()).decode()  # type: ignore[union-attr]  # bytes
    assert found == code or (code is None and found != 0)
    for each in ('Pipeline "f"', '"source"', *named):
        assert each in text


def test_null_arguments_are_refused_in_c(source: hl.ImageParam) -> None:
    loaded: Any = twice(source).compile_to_callable([source])._compiled
    out = buffer(zeros(8, 6))
    assert loaded._entry(FFI.new("void *[]", [FFI.NULL, FFI.cast("void *", out)])) == 1
    assert loaded._entry(FFI.new("void *[]", [FFI.cast("void *", out), FFI.NULL])) == 1


# What is no window, no place, no list.


@pytest.mark.parametrize("window", ["ab", None, 3, [2.5, 1], [("a", 2), 1], [(0, 1, 2), 3]])
def test_what_is_no_window_is_not_evaluated(source: hl.ImageParam, window: Any) -> None:
    refused(hl.PipelineError, lambda: twice(source).evaluate(window), "A window is a list of extents", at="evaluate(")


@pytest.mark.parametrize("mins", [3, "a", [3.5], None])
def test_buffer_starts_at_integers(mins: Any) -> None:
    buffer = hl.Buffer(hl.Int(32), [3])
    refused(hl.DefinitionError, lambda: buffer.set_min(mins), "starts at integers", at="set_min(")
    assert buffer.dim(0).min() == 0


@pytest.mark.parametrize("arguments", [5, None, "ab"])
def test_arguments_are_a_list(source: hl.ImageParam, arguments: Any) -> None:
    refused(hl.PipelineError, lambda: twice(source).compile_to_callable(arguments), "must be a list", at="_callable(")


@pytest.mark.parametrize("convert", [hl.cast, hl.saturating_cast])
@pytest.mark.parametrize("type", [hl.Int(32, 4), hl.Bool(8)])
def test_value_has_no_lanes(type: hl.Type, convert: Any) -> None:
    refused(hl.TypeMismatchError, lambda: convert(type, x), "scalar number type", at="convert(")
