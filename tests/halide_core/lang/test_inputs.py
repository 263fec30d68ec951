"""Params and ImageParams: values, ranges, shapes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import halide_core as hl
from tests.support.raising import raised

x, y = hl.Var("x"), hl.Var("y")


def test_param_when_constructed_in_each_way() -> None:
    assert hl.Param(hl.Int(32), "p").name() == "p"
    assert hl.Param(hl.Int(32), 3).get() == 3
    assert hl.Param(hl.Int(32), "p", 4).get() == 4
    assert hl.Param(hl.Int(32), name="p", value=5).get() == 5
    assert hl.Param(hl.Int(32)).name() != hl.Param(hl.Int(32)).name()
    assert hl.Param(hl.Int(32)).get() is None


@pytest.mark.parametrize(
    ("type", "value", "stored"),
    [
        (hl.UInt(8), 255, 255), (hl.Int(32), np.int16(-3), -3), (hl.Float(32), 2, 2.0), (hl.Float(64), 0.1, 0.1),
        (hl.Bool(), True, 1), (hl.Bool(), np.False_, 0), (hl.Float(32), np.float64(0.5), 0.5), (hl.Int(32), True, 1),
    ],
)  # fmt: skip
def test_param_value_when_it_fits(type: hl.Type, value: object, stored: float) -> None:
    p = hl.Param(type, "p")
    p.set(value)  # type: ignore[arg-type]  # several kinds of number
    assert p.get() == stored


@pytest.mark.parametrize(
    ("type", "value"),
    [
        (hl.UInt(8), 300),
        (hl.UInt(8), -1),
        (hl.Int(32), 2.5),
        (hl.Int(32), np.float32(3)),
        (hl.Bool(), 2),
        (hl.Int(8), "a"),
    ],
)
def test_param_error_when_the_value_does_not_fit(type: hl.Type, value: object) -> None:
    p = hl.Param(type, "p")
    raised(hl.TypeMismatchError, lambda: p.set(value), 'Param "p"', str(type))  # type: ignore[arg-type]  # on purpose
    assert p.get() is None


def test_param_range_when_set() -> None:
    p = hl.Param(hl.UInt(8), "p")
    assert not p.min_value().defined()
    p.set_range(1, hl.Expr(20))
    assert (repr(p.min_value()), repr(p.max_value())) == ("1:uint8", "20:uint8")
    raised(hl.DefinitionError, lambda: p.set_range(20, 1), "empty")
    real = hl.Param(hl.Float(32), "real")
    for limited in (lambda: real.set_range(math.nan, 1.0), lambda: real.set_max_value(math.nan)):
        raised(hl.DefinitionError, limited, "must be a number, not NaN")
    for each in (p, real):
        raised(hl.TypeMismatchError, lambda each=each: each.set(10**5000), "An integer of 16610 bits")
    raised(hl.TypeMismatchError, lambda: p.set_max_value(300), "300")
    raised(hl.DefinitionError, lambda: p.set_min_value(x + 0), "constant")


def test_param_as_an_operand() -> None:
    p = hl.Param(hl.UInt(8), "p")
    assert (p + 1).type() is hl.UInt(8)
    assert repr(p + 1) == "p + 1:uint8"


def test_image_param_when_indexed() -> None:
    ip = hl.ImageParam(hl.UInt(8), 2, "ip")
    assert repr(ip[x + 1, hl.u8(y)]) == "ip[x + 1, int32(uint8(y))]"
    assert ip[x, y].type() is hl.UInt(8)
    raised(hl.DefinitionError, lambda: ip[x], '"ip"', "2 dimensions")
    raised(hl.TypeMismatchError, lambda: ip[x, 1.5], "argument 2", '"ip"')
    with pytest.raises(TypeError):
        list(ip)  # type: ignore[call-overload]  # on purpose


def test_image_param_shape_when_asked_for() -> None:
    ip = hl.ImageParam(hl.UInt(8), 3, "ip")
    assert repr(ip.dim(0).min()) == "int32(ip.min.0)"
    assert repr(ip.dim(1).stride()) == "int32(ip.stride.1)"
    assert repr(ip.right()) == "int32(ip.min.0) + int32(ip.extent.0) - 1"
    assert [repr(e) for e in (ip.width(), ip.height(), ip.channels())] == [f"int32(ip.extent.{i})" for i in range(3)]
    assert ip.width().type() is hl.Int(32)
    raised(hl.DefinitionError, lambda: hl.ImageParam(hl.UInt(8), 2).channels(), "dimension 2")
    assert ip.dim(0).set_stride(3).dim(1).set_min(0).dim(1) is not None


def test_image_param_data_when_bound() -> None:
    ip = hl.ImageParam(hl.UInt(8), 2, "ip")
    assert ip.get() is None
    array = np.zeros((3, 4), np.uint8)
    ip.set(array)
    bound = ip.get()
    assert bound is not None
    assert np.shares_memory(np.asarray(bound), array)
    ip.reset()
    assert ip.get() is None
    raised(hl.TypeMismatchError, lambda: ip.set(np.zeros((3, 4), np.int8)), '"ip"', "uint8", "int8")
    raised(hl.DefinitionError, lambda: ip.set(np.zeros(3, np.uint8)), '"ip"', "2 dimensions")


def test_image_param_without_a_type_is_undefined() -> None:
    ip = hl.ImageParam()
    assert not ip.defined() and hl.ImageParam(hl.UInt(8), 1).defined() and not hl.OutputImageParam().defined()
    assert repr(ip) == "<halide_core.ImageParam ImageParam()>"
    raised(hl.DefinitionError, lambda: ip[x], "undefined ImageParam")
    raised(hl.DefinitionError, lambda: hl.OutputImageParam().name(), "undefined OutputImageParam")
    raised(hl.DefinitionError, lambda: hl.ImageParam(hl.UInt(8)), "number of dimensions")
