"""Definitions as text, and as mathematics for notebooks."""

from __future__ import annotations

import pytest

import halide_core as hl

x, y = hl.Var("x"), hl.Var("y")


def test_print_shows_every_definition() -> None:
    f, r = hl.Func("f"), hl.RDom([(0, 10)], "r")
    assert str(f) == "f: not defined"
    assert repr(f) == "<halide_core.Func 'f'>"
    r.where(r.x % 2 == 0)
    f[x, y] = hl.select(x > 3, x * y, 0)
    f[r.x, 1] += 2
    assert str(f).splitlines() == [
        "f[x, y] = select(3 < x, x*y, 0)",
        "f[r.x, 1] = f[r.x, 1] + 2   for r.x in (0, 10) where r.x%2 == 0",
    ]


@pytest.mark.parametrize(
    ("value", "latex"),
    [
        (x + y * 2, "x + y \\cdot 2"),
        ((x + y) * 2, "\\left(x + y\\right) \\cdot 2"),
        (x - (y - 1), "x - \\left(y - 1\\right)"),
        (x / 2, "\\left\\lfloor \\frac{x}{2} \\right\\rfloor"),
        (hl.f32(x) / 2, "\\frac{\\mathrm{float32}\\left(x\\right)}{2.0}"),
        (hl.min(x, -3), "\\min\\left(x, -3\\right)"),
        (~((x < 3) & (y == 2)), "\\lnot \\left(x < 3 \\land y = 2\\right)"),
        (hl.select(x > 3, 1, y), "\\begin{cases} 1 & 3 < x \\\\ y & \\text{otherwise} \\end{cases}"),
        (hl.Param(hl.Int(32), "my_n") + 0, "\\mathrm{my\\_n} + 0"),
        (hl.ImageParam(hl.Int(32), 2, "im")[x, y], "\\mathrm{im}\\left(x, y\\right)"),
        (x == 3, "x = 3"),
    ],
)
def test_notebook_shows_mathematics(value: hl.Expr, latex: str) -> None:
    assert value._repr_latex_() == f"${latex}$"


def test_notebook_shows_a_func() -> None:
    f = hl.Func("f")
    assert f._repr_latex_() is None
    f[x] = x * x
    f[3] = 0
    assert f._repr_latex_() == r"$$\begin{aligned} f(x) &= x \cdot x \\ f(3) &= 0 \end{aligned}$$"
    assert hl.Expr()._repr_latex_() is None


def test_what_is_too_long_to_be_read_is_left_out() -> None:
    value = x + 1
    for _ in range(60):
        value = value * value  # written out, 2 to the 60th factors
    f = hl.Func("f")
    f[x] = value
    assert str(f) == "f[x] = <int32: a long expression>"
    assert f._repr_latex_() is value._repr_latex_() is None
