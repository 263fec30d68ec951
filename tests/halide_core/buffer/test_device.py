"""Calls about devices, on a machine that computes on its own processor; and views of a Buffer's memory."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl


def test_device_calls_do_nothing() -> None:
    b = hl.Buffer(np.arange(6, dtype=np.int32).reshape(2, 3))
    assert not (b.host_dirty() or b.device_dirty() or b.has_device_allocation())
    b.set_host_dirty()
    assert b.host_dirty()
    b.set_host_dirty(False)
    b.set_device_dirty(True)
    assert (b.host_dirty(), b.device_dirty()) == (False, True)
    done = [
        b.copy_to_host(), b.copy_to_device(), b.copy_to_device(hl.DeviceAPI.CUDA, hl.Target("host")),
        b.device_malloc(hl.Target("host")), b.device_sync(), b.device_free(), b.device_detach_native(),
    ]  # fmt: skip
    b.device_deallocate()
    assert not any(done)
    assert np.asarray(b).tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(AttributeError, match="misspelt"):
        b.misspelt  # type: ignore[attr-defined]  # noqa: B018  # on purpose


def test_view_shares_the_memory() -> None:
    b = hl.Buffer(hl.Int(32), [3, 2])
    b.fill(0)
    view = b.numpy_view()
    assert view.shape == (2, 3)
    view[1, 2] = 7
    assert b[2, 1] == 7
    assert b.numpy_view(reverse_axes=False)[2, 1] == 7


def test_this_machine_has_no_devices() -> None:
    assert hl.host_supports_target_device(hl.get_host_target())
    assert not hl.host_supports_target_device(hl.Target("host-cuda"))
    assert hl.evaluate_may_gpu(hl.Expr(3) + 4) == 7


class Complex:
    """A complex number of one's own: what Halide's tutorial has."""

    def __init__(self, real: hl.Expr, imag: hl.Expr) -> None:
        self.parts = [real, imag]

    def __getitem__(self, at: int) -> hl.Expr:
        return self.parts[at]

    def __len__(self) -> int:
        return 2

    def __mul__(self, other: Complex) -> Complex:
        (a, b), (c, d) = self.parts, other.parts
        return Complex(a * c - b * d, a * d + b * c)


def test_object_with_items_is_several_values() -> None:
    x, f, g = hl.Var("x"), hl.Func("f"), hl.Func("g")
    f[x] = Complex(hl.Expr(x), x + 1)
    square = Complex(f[x][0], f[x][1]) * Complex(f[x][0], f[x][1])
    g[x] = square
    g[x] = Complex(g[x][0] + 1, g[x][1])
    real, imag = g.realize([4])
    wanted = [(k + (k + 1) * 1j) ** 2 + 1 for k in range(4)]
    assert [complex(a, b) for a, b in zip(real, imag, strict=True)] == wanted
