"""Parameters: the input behind a Param, an ImageParam or an output's buffer."""

from __future__ import annotations

import numpy as np
import pytest

import halide_core as hl

x = hl.Var("x")


def test_scalar() -> None:
    n = hl.Param(hl.Int(32), "n", 3)
    p = n.parameter()
    assert (p.name(), p.type(), p.is_buffer(), p.dimensions(), p.defined()) == ("n", hl.Int(32), False, 0, True)
    assert p.same_as(n.parameter())
    assert not p.same_as(hl.Parameter(hl.Int(32), False, 0, "n"))
    assert p.scalar() == 3
    assert repr(p.scalar_expr()) == repr(p.default_value()) == "3"
    p.set_scalar(5)
    p.set_scalar(hl.Int(32), 6)
    p.set_min_value(1)
    p.set_max_value(hl.Expr(9))
    p.set_estimate(7)
    assert n.get() == 6
    known = p.get_argument_estimates()
    limits = (known.scalar_def, known.scalar_min, known.scalar_max, known.scalar_estimate)
    assert list(map(repr, limits)) == ["6", "1", "9", "7"]
    assert known.buffer_estimates == []
    p.set_default_value(8)
    assert n.get() == 8
    assert not hl.Param(hl.Int(8)).parameter().estimate().defined()
    with pytest.raises(hl.TypeMismatchError, match="300"):
        hl.Param(hl.UInt(8), "b").parameter().set_scalar(300)
    with pytest.raises(hl.TypeMismatchError, match="int32"):
        p.set_scalar(hl.Int(8), 3)
    with pytest.raises(hl.DefinitionError, match="is a scalar"):
        p.buffer()
    with pytest.raises(hl.DefinitionError, match="must be a constant"):
        p.set_min_value(n + 1)


def test_buffer() -> None:
    image = hl.ImageParam(hl.UInt(8), 2, "image")
    p = image.parameter()
    assert (p.name(), p.type(), p.is_buffer(), p.dimensions(), p.buffer()) == ("image", hl.UInt(8), True, 2, None)
    given = hl.Buffer(np.zeros((4, 4), np.uint8))
    p.set_buffer(given)
    assert image.get() is given
    p.set_min_constraint(0, 1)
    p.set_extent_constraint(1, 4)
    p.set_stride_constraint(1, 8)
    p.set_host_alignment(32)
    assert image.host_alignment() == p.host_alignment() == 32
    shown = [list(map(repr, triple)) for triple in p.buffer_constraints()]
    assert shown == [["1", "(undefined)", "1"], ["(undefined)", "4", "8"]]
    p.set_min_constraint_estimate(0, 2)
    p.set_extent_constraint_estimate(0, 640)
    assert (repr(p.min_constraint_estimate(0)), repr(p.extent_constraint_estimate(0))) == ("2", "640")
    assert not p.min_constraint_estimate(1).defined()
    assert len(p.get_argument_estimates().buffer_estimates) == 2
    with pytest.raises(hl.DefinitionError, match="no dimension 2"):
        p.min_constraint(2)
    with pytest.raises(hl.DefinitionError, match="is a buffer"):
        p.scalar()
    with pytest.raises(hl.TypeMismatchError, match="no data for"):
        p.set_buffer(hl.Buffer(hl.Int(8), [4, 4]))


def test_output_and_arguments() -> None:
    n, f = hl.Param(hl.Int(32), "n"), hl.Func("f")
    f[x] = x + n
    f.set_estimate(x, 0, 640)
    n.set_estimate(12)
    out = f.output_buffer().parameter()
    assert repr(out.extent_constraint_estimate(0)) == "640"
    assert [b.name() for b in f.output_buffers()] == ["f"]
    assert not f.is_extern()
    (argument,) = f.infer_arguments()
    assert repr(argument.argument_estimates.scalar_estimate) == "12"


def test_buffer_of_an_output_that_is_not_defined_yet() -> None:
    f, x, y = hl.Func(hl.Int(32), 2, "f"), hl.Var("x"), hl.Var("y")
    out = f.output_buffer()
    assert (out.type(), out.dimensions(), f.defined(), f.args()) == (hl.Int(32), 2, False, [])
    out.dim(0).set_bounds(0, 10)
    f[x, y] = x + y
    assert [v.name() for v in f.args()] == ["x", "y"]
    assert np.asarray(f.realize([10, 4])).sum() == 10 * 4 * (4.5 + 1.5)
    with pytest.raises(hl.PipelineError, match="must have extent 10"):
        f.realize(hl.Buffer(hl.Int(32), [9, 4]))
    assert len(hl.Func([hl.Int(32), hl.Float(32)], 1, "g").output_buffers()) == 2
