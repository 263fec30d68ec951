"""Buffers: numpy's memory with x first, coordinates that start anywhere, and errors that name the coordinate."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided

import halide_core as hl
from halide_core.algorithm.model import Image
from tests.support.raising import raised

x, y = hl.Var("x"), hl.Var("y")


def counted() -> hl.Buffer:
    """4 by 3, counting along x."""
    return hl.Buffer(np.arange(12, dtype=np.int16).reshape(3, 4), "b")


def shape(b: hl.Buffer) -> list[tuple[int, int, int]]:
    dims = [b.dim(i) for i in range(b.dimensions())]
    return [(d.min(), d.extent(), d.stride()) for d in dims]


def test_axes_are_reversed_when_an_array_is_viewed() -> None:
    a = np.arange(12, dtype=np.int16).reshape(3, 4)
    b = hl.Buffer(a)
    assert shape(b) == [(0, 4, 1), (0, 3, 4)]
    assert b[1, 2] == a[2, 1] == 9
    b[1, 2] = 7
    assert a[2, 1] == 7
    assert np.shares_memory(np.asarray(b), a)
    assert hl.Buffer(a, reverse_axes=False)[2, 1] == 7
    assert (b.width(), b.height(), b.channels(), b.right(), b.bottom()) == (4, 3, 1, 3, 2)
    assert (b.number_of_elements(), b.size_in_bytes(), b.type()) == (12, 24, hl.Int(16))


def test_allocation_when_given_type_and_sizes() -> None:
    b = hl.Buffer(hl.UInt(8), [3, 4], "q")
    assert (b.name(), shape(b)) == ("q", [(0, 3, 1), (0, 4, 3)])
    assert [s for _, _, s in shape(hl.Buffer(hl.UInt(8), [3, 4, 5], [2, 0, 1]))] == [5, 15, 1]
    assert [s for _, _, s in shape(hl.Buffer.make_interleaved(hl.UInt(8), 3, 4, 3))] == [3, 9, 1]
    assert hl.Buffer(type=hl.Float(32), sizes=[2], name="n").type() is hl.Float(32)
    assert hl.Buffer.make_scalar(hl.UInt(8))[()] == 0
    assert shape(hl.Buffer(hl.UInt(8), [3, 0])) == [(0, 3, 1), (0, 0, 3)]


@pytest.mark.parametrize(
    "cut",
    [
        lambda a: a[::2], lambda a: a[::-1, ::-2], lambda a: a.T, lambda a: a[1:, 1:3], lambda a: a[:0],
        lambda a: a[:, :1],
    ],
)  # fmt: skip
def test_view_is_accepted_when_it_is_strided(cut: Callable[[np.ndarray], np.ndarray]) -> None:
    a = cut(np.arange(24, dtype=np.int32).reshape(4, 6))
    b = hl.Buffer(a)
    assert np.asarray(b).__array_interface__ == a.__array_interface__
    for v, u in np.ndindex(a.shape):
        assert b[u, v] == a[v, u]


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: np.zeros(3, np.complex64), "complex64"),
        (lambda: np.zeros(3, ">i4"), "byte order"),
        (lambda: np.zeros(3, "U1"), "<U1"),
        (lambda: np.zeros(5, [("a", "u1"), ("b", "<i4")])["b"], "copy()"),
        (lambda: as_strided(np.zeros(9, np.int32), (3,), (6,)), "copy()"),
        (lambda: as_strided(np.zeros(1, np.int8), (2**31,), (0,)), "int32"),
        (lambda: [1, 2], "list"),
    ],
)
def test_memory_error_when_no_pipeline_could_use_it(make: Callable[[], object], named: str) -> None:
    source = make()
    raised(hl.HalideError, lambda: hl.Buffer(source), named)


def test_shape_error_when_it_leaves_int32() -> None:
    b = counted()
    raised(hl.HalideError, lambda: b.set_min([2**31 - 2]), "max", "int32")
    assert b.left() == 0
    raised(hl.HalideError, lambda: hl.Buffer(hl.UInt(8), [3, -4]), "negative")
    raised(hl.HalideError, lambda: hl.Buffer(hl.UInt(8), 3), "list")  # type: ignore[call-overload]  # on purpose


def test_element_error_when_outside() -> None:
    b = counted()
    found = raised(hl.HalideError, lambda: b[4, 2], "index 4 is out of bounds for axis 0", '"b"')
    assert isinstance(found, IndexError)
    raised(hl.HalideError, lambda: b[-1, 2], "index -1 is out of bounds")
    raised(hl.HalideError, lambda: b[1, 3], "axis 1")
    raised(hl.DefinitionError, lambda: b[1], "2 dimensions")
    raised(ValueError, lambda: b[1, 2, 3], "2 dimensions")
    raised(hl.TypeMismatchError, lambda: b[1.5, 2], "1.5")
    raised(hl.TypeMismatchError, lambda: b.__setitem__((1, 2), 70000), "70000", "int16")
    raised(hl.TypeMismatchError, lambda: b.__setitem__((1, 2), 0.5), "0.5")
    raised(hl.HalideError, lambda: b.__setitem__((10, 2), 1), "index 10 ")


def test_elements_are_python_numbers_when_read() -> None:
    assert isinstance(counted()[np.int64(1), 2], int)
    assert isinstance(hl.Buffer(np.zeros(1))[0], float)
    assert isinstance(hl.Buffer(np.zeros(1, np.bool_))[0], bool)
    assert list(hl.Buffer(np.arange(3))) == [0, 1, 2]
    with pytest.raises(TypeError):
        list(counted())


def test_expression_when_a_coordinate_is_one() -> None:
    b = counted()
    e = b[x, 2]
    assert (repr(e), e.type()) == ("b[x, 2]", hl.Int(16))
    assert isinstance(b.image, Image)
    assert b.image is b.image
    assert b.image.embedded
    assert b.image.bound is b
    raised(hl.DefinitionError, lambda: b.slice(0), "stands in a definition")


def test_coordinates_when_moved() -> None:
    b = counted()
    b.set_min([2, 3])
    assert (b.left(), b.top(), b[2, 3], b.mins) == (2, 3, 0, (2, 3))
    b.translate(0, 1)
    b.translate([1, 1])
    assert b.mins == (4, 4)
    assert b.translated(1, -4).mins == (4, 0)
    assert b.contains([4, 4])
    assert not b.contains([0, 0])


def test_views_when_taken() -> None:
    b = counted()
    assert shape(b.cropped(0, 1, 2)) == [(1, 2, 1), (0, 3, 4)]
    assert b.cropped(0, 1, 2)[1, 1] == 5
    assert shape(b.cropped([(1, 2), (2, 1)])) == [(1, 2, 1), (2, 1, 4)]
    assert (shape(b.sliced(0, 1)), b.sliced(0, 1)[2]) == ([(0, 3, 4)], 9)
    assert b.sliced(1, 1)[2] == 6
    assert (shape(b.transposed(0, 1)), b.transposed([1, 0])[2, 1]) == ([(0, 3, 4), (0, 4, 1)], 9)
    assert b.reverse_axes()[2, 1] == 9
    assert b.embedded(1, 5)[1, 5, 2] == 9
    assert b.sliced(0, 1).sliced(0, 2)[()] == 9
    raised(hl.HalideError, lambda: b.cropped(0, 1, 20), "outside")
    raised(hl.HalideError, lambda: b.sliced(0, 9), "outside")
    raised(hl.HalideError, lambda: b.transposed([0, 0]), "order")
    view = b.cropped(0, 1, 2)
    view.fill(0)
    assert b[1, 1] == 0
    assert b[3, 1] == 7


def test_views_when_taken_in_place() -> None:
    b = counted()
    b.crop(0, 1, 2)
    b.transpose(0, 1)
    b.slice(0, 2)
    b.add_dimension()
    assert [(low, size) for low, size, _ in shape(b)] == [(1, 2), (0, 1)]
    assert b[1, 0] == 9


def test_contents_when_copied() -> None:
    b = counted()
    c = b.copy()
    assert not np.shares_memory(np.asarray(b), np.asarray(c))
    assert np.array_equal(np.asarray(b), np.asarray(c))
    c.fill(3)
    assert c.all_equal(3)
    c.translate([2, 0])
    c.copy_from(b)
    assert c[2, 0] == b[2, 0]
    assert c[4, 0] == 3
    seen: list[list[int]] = []
    hl.Buffer.make_with_shape_of(b.cropped([(1, 2), (1, 2)])).for_each_element(seen.append)
    assert seen == [[1, 1], [2, 1], [1, 2], [2, 2]]
    raised(hl.TypeMismatchError, lambda: b.fill(300000), "300000")


def test_memory_is_given_up_and_made_again() -> None:
    b = hl.Buffer.make_interleaved(hl.Float(32), 4, 3, 2)
    b.set_min([1, 2, 3])
    before = shape(b)
    b.deallocate()
    assert shape(b) == before and not b.has_memory() and not b.cropped(0, 2, 1).has_memory()
    raised(hl.HalideError, lambda: b[1, 2, 3], "no memory", "allocate()")
    raised(hl.HalideError, lambda: np.asarray(b), "no memory")
    raised(hl.HalideError, lambda: b.fill(1), "no memory")
    raised(hl.HalideError, lambda: b.transposed(0, 1).copy(), "no memory")
    b.allocate()
    assert shape(b) == before and b.all_equal(0)


def test_bounds_query_gets_the_region_that_is_needed() -> None:
    f, image = hl.Func("f"), hl.ImageParam(hl.UInt(8), 2, "image")
    f[x, y] = image[x - 1, y] + image[x + 2, y + 3]
    query = hl.Buffer.make_bounds_query(hl.UInt(8), [1, 1])
    image.set(query)
    assert f.realize([8, 4]) is None
    assert shape(query) == [(-1, 11, 1), (0, 7, 11)]
    image.set(query)
    out = hl.Buffer(hl.UInt(8), [2, 2])
    f.realize(out)
    assert shape(query) == [(-1, 5, 1), (0, 5, 5)] and out.all_equal(0)
    query.allocate()
    query.fill(9)
    f.realize(out)
    assert out.all_equal(18)


def test_bounds_query_of_a_window_knows_what_realize_rounds_up() -> None:
    f, g, image = hl.Func("f"), hl.Func("g"), hl.ImageParam(hl.UInt(8), 1, "image")
    f[x] = image[x - 1] + image[x + 2]
    g[x] = f[x] + f[x // 2]
    f.compute_root()
    g.vectorize(x, 8, hl.TailStrategy.RoundUp)
    query = hl.Buffer.make_bounds_query(hl.UInt(8), [1])
    image.set(query)
    assert g.realize([5]) is None
    assert shape(query) == [(-1, 11, 1)]
    query.allocate()
    query.fill(9)
    assert np.asarray(g.realize([5])).tolist() == [36] * 5


def test_bounds_query_of_an_output_gets_what_is_written() -> None:
    f = hl.Func("f")
    f[x] = x
    f.vectorize(x, 8, hl.TailStrategy.RoundUp)
    query = hl.Buffer.make_bounds_query(hl.Int(32), [5])
    f.compile_to_callable([])(query)
    assert shape(query) == [(0, 8, 1)]


def test_argument_is_made_of_what_it_carries() -> None:
    p, image, f = hl.Param(hl.Int(32), "p"), hl.ImageParam(hl.UInt(8), 1, "image"), hl.Func("f")
    f[x] = image[x] + hl.u8(p)
    told = [(a.name, a.kind, a.type, a.dimensions) for a in map(hl.Argument, (image, p, f.output_buffer()))]
    assert told == [
        ("image", hl.ArgumentKind.InputBuffer, hl.UInt(8), 1),
        ("p", hl.ArgumentKind.InputScalar, hl.Int(32), 0),
        ("f", hl.ArgumentKind.OutputBuffer, hl.UInt(8), 1),
    ]
    data, out = np.arange(3, dtype=np.uint8), np.zeros(3, np.uint8)
    f.compile_to_callable([hl.Argument(p), hl.Argument(image)])(5, data, out)
    assert out.tolist() == [5, 6, 7]


def test_buffer_that_is_none_yet() -> None:
    none = hl.Buffer()
    assert not none.defined()
    assert repr(none) == "<undefined halide_core.Buffer>"
    assert hl.Buffer(hl.UInt(8), [2]).defined()
    with pytest.raises(hl.HalideError, match="undefined"):
        none[0]
    assert not pickle.loads(pickle.dumps(hl.Buffer(none))).defined()
