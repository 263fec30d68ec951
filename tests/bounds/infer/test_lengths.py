"""The form of lengths: where regions have many cases, the last point stays what was found, and the length is short."""

from __future__ import annotations

import warnings

import numpy as np

import halide_core as hl
from halide_core.bounds.query.answers import Answer
from halide_core.ir.visitor import subexpressions
from tests.support.answered import answers

x, y = hl.Var("x"), hl.Var("y")


def _far(of: hl.Var, scale: hl.Param) -> hl.Expr:
    """A row that a Param scales: bounds know its ends by the Param's sign."""
    return hl.cast(hl.Int(32), hl.round((hl.cast(hl.Float(32), of) + 0.5) * scale))


def _beside() -> hl.Pipeline:
    """Two outputs in one loop over rows, either of which may be empty, over a chain of three Funcs with an update."""
    q, p = hl.Param(hl.Float(32), "q", -0.7), hl.Param(hl.Int(32), "p", 2)
    image = hl.ImageParam(hl.Float(64), 2, "in1")
    image.set(hl.Buffer(np.zeros((3, 5))))
    mirrored = hl.BoundaryConditions.mirror_image(image)
    s, w, o, twin = (hl.Func(name) for name in ("s", "w", "o", "twin"))
    s[x, y] = mirrored[x, y + 1] + mirrored[x + 2, y]
    w[x, y] = s[x + 2, y] * s[x, y]
    r = hl.RDom([(0, hl.clamp(p, hl.i32(0), hl.i32(4)))], "r")
    w[x, hl.clamp(hl.cast(hl.Int(32), s[x, r[0]]), hl.i32(0), hl.i32(3))] = s[x - p, r[0]]
    o[x, y] = w[x - 1, y + 2] + w[x - 1, _far(y, q)]
    twin[x, y] = w[x - 1, y + 2] + w[x - 1, _far(y, q)]
    w.compute_at(o, y).hoist_storage_root()
    s.compute_at(o, y).hoist_storage_root()
    mirrored.compute_root()
    twin.compute_with(o, y)
    return hl.Pipeline([o, twin])


def _nodes(answer: Answer) -> int:
    return len(set(subexpressions([answer.interval.min, answer.interval.len])))


def test_regions_of_many_cases_grow_no_faster_than_their_ends() -> None:
    """Each Func adds what it reads; the cases of those before it are not multiplied out."""
    largest = max(map(_nodes, answers(_beside()).holes))
    assert largest < 250, "a length was multiplied out"


def test_certificate_of_regions_of_many_cases() -> None:
    """z3 finds the first point in a length again."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        certificate = _beside().certify()
    assert certificate.ok, str(certificate)
