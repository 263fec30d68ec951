"""13. Types: which one an expression has, and what happens at their ends.

Two operands are brought to a common type; a Python number takes the type of what it meets. Integers wrap, saturating
casts do not, and a constant that would change its value is an error.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from showing import save, table

import halide_core as hl

x = hl.Var("x")
u8, u16, i16, i32, f32, f64 = hl.u8(x), hl.u16(x), hl.i16(x), hl.i32(x), hl.f32(x), hl.f64(x)
table(
    ["expression", "type", "why"],
    [
        ["u8 + 1", (u8 + 1).type(), "a Python number takes the other type"],
        ["u8 * 0.5", (u8 * 0.5).type(), "a float does not fit an integer"],
        ["u8 + u16", (u8 + u16).type(), "the wider of two alike"],
        ["i16 * u8", (i16 * u8).type(), "signed, where one is"],
        ["f32 + f64", (f32 + f64).type(), "the wider"],
        ["i32 / 2", (i32 / 2).type(), "integers stay integers: rounded down"],
        ["u8 < 3", (u8 < 3).type(), "a truth value"],
        ["abs(i16)", hl.abs(i16).type(), "no value of it is negative"],
    ],
)
print()
rows = [
    ["u8(255) + 1 wraps", hl.evaluate(hl.u8(255) + 1), 0],
    ["u8_sat(300)", hl.evaluate(hl.u8_sat(hl.i32(300))), 255],
    ["saturating_add(u8 250, 9)", hl.evaluate(hl.saturating_add(hl.u8(250), hl.u8(9))), 255],
    ["-7 / 2", hl.evaluate(hl.Expr(-7) / 2), -4],
    ["-7 % 2", hl.evaluate(hl.Expr(-7) % 2), 1],
    ["7 / 0 is defined", hl.evaluate(hl.Expr(7) / hl.Expr(0)), 0],
    ["i8(200), the same bits", hl.evaluate(hl.i8(hl.i32(200))), -56],
]
table(["value", "is", "expected"], rows)
assert all(value == wanted for _, value, wanted in rows)



def show_error(mistake: Callable[[], object]) -> None:
    """Makes a mistake, and prints what it is told."""
    try:
        mistake()
    except hl.DefinitionError as error:
        print("\n" + str(error))


show_error(lambda: u8 + 300)
show_error(lambda: u8 & f32)
show_error(lambda: bool(x > 3))

# Wrapping, seen: x*x of int32 in eight bits.
y, moire = hl.Var("y"), hl.Func("moire")
moire[x, y] = hl.u8(x * x + y * y)
picture = np.asarray(moire.realize([160, 120]))
assert picture[119, 159] == (159**2 + 119**2) % 256
save("13_wrapping.png", picture)
