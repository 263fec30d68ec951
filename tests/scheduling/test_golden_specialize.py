"""Golden dumps of specializations, aligned bounds and rename: the program with holes, and with the answers filled in.

Each was read against sections 2.8.1 and 2.8.5. ``--update-golden`` rewrites them; read the difference before.
"""

from __future__ import annotations

from collections.abc import Callable

import halide_core as hl
from halide_core.ir.printer import format_stmt
from tests.support.dumps import after, both, pixels, producer_and_consumer, query

Golden = Callable[[str, str], None]

xo, xi, z = (hl.Var(n) for n in ("xo", "xi", "z"))


def param() -> hl.Param:
    return hl.Param(hl.Int(32), "n")


def test_specialize(golden: Golden) -> None:
    f, x, _y = pixels()
    f.specialize(param() >= 8).split(x, xo, xi, 8)
    golden("specialize.txt", both(f))


def test_specialize_copies_what_is_computed_inside(golden: Golden) -> None:
    g, f, x, y = producer_and_consumer()
    g.compute_at(f, y)
    f.specialize(f.output_buffer().width() >= 8).split(x, xo, xi, 8)
    golden("specialize_producer.txt", f"{both(f)}\n-- query\n{query(f)}\n")


def test_specialize_nested_in_specializations(golden: Golden) -> None:
    n = param()
    f, x, y = pixels()
    f.split(x, xo, xi, 4)
    wide = f.specialize(n >= 8)
    wide.parallel(y)
    wide.specialize(n >= 16).vectorize(xi)
    f.specialize(n == 3).reorder(y, xi)
    golden("specialize_nested.txt", both(f))


def test_specialize_uses_the_condition_in_the_body(golden: Golden) -> None:
    image, flag, x = hl.ImageParam(hl.Int(32), 1, "in"), hl.Param(hl.Bool(), "flag"), hl.Var("x")
    f = hl.Func("f")
    f[x] = hl.select(hl.Expr(flag), image[x], image[x + 100])
    f.specialize(hl.Expr(flag))
    golden("specialize_body.txt", f"{both(f)}\n-- query\n{query(f)}\n")


def test_specialize_an_update(golden: Golden) -> None:
    x, r = hl.Var("x"), hl.RDom([(0, 5)], "r")
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x
    f[x] = 0
    f[x] += g[x + r.x]
    g.compute_at(f, x)
    f.update().specialize(param() == 1).split(x, xo, x, 4)
    golden("specialize_update.txt", both(f))


def test_specialize_fail(golden: Golden) -> None:
    f, x, _y = pixels()
    f.specialize(param() >= 8).split(x, xo, xi, 8)
    f.specialize_fail("n is too small")
    golden("specialize_fail.txt", both(f))


def test_align_bounds_of_an_output(golden: Golden) -> None:
    f, x, _y = pixels()
    f.align_bounds(x, 8).split(x, xo, xi, 8)
    golden("align_bounds_output.txt", f"{both(f)}\n-- after simplification\n{format_stmt(after(f, 'simplify'))}\n")


def test_align_bounds_of_a_producer(golden: Golden) -> None:
    g, f, x, y = producer_and_consumer()
    g.compute_at(f, y).align_bounds(x, 8, 3).split(x, xo, xi, 4, hl.TailStrategy.GuardWithIf)
    golden("align_bounds.txt", f"{both(f)}\n-- after simplification\n{format_stmt(after(f, 'simplify'))}\n")


def test_align_extent(golden: Golden) -> None:
    g, f, x, _y = producer_and_consumer()
    g.compute_root().align_extent(x, 16)
    golden("align_extent.txt", both(f))


def test_align_bounds_to_a_param(golden: Golden) -> None:
    g, f, x, _y = producer_and_consumer()
    g.compute_root().align_bounds(x, param())
    golden("align_bounds_param.txt", both(f))


def test_rename(golden: Golden) -> None:
    f, x, _y = pixels()
    f.rename(x, z).split(z, xo, xi, 8, hl.TailStrategy.RoundUp)
    golden("rename.txt", both(f))
