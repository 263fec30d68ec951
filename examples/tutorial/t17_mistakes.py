"""17. Mistakes: what an error looks like.

Every error names what is wrong, why, what would be legal, and your own line. Errors are found as early as they can be:
most where you write them, schedules when they are compiled, wrong data when a pipeline starts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import halide_core as hl

x, y, z = hl.Var("x"), hl.Var("y"), hl.Var("z")


def sums() -> tuple[hl.Func, hl.Func]:
    """A producer and its consumer."""
    f, g = hl.Func("f"), hl.Func("g")
    f[x, y] = x + y
    g[x, y] = f[x, y] + f[x + 1, y]
    return f, g


def one_coordinate_too_few() -> object:
    return sums()[0][x]


def a_variable_that_is_not_there() -> object:
    f = hl.Func("f")
    f[x] = x + y
    return f


def an_if_in_a_definition() -> object:
    return 1 if x > 3 else 0


def a_level_that_does_not_hold_every_use() -> object:
    f, g = sums()
    f.compute_at(g, z)
    return g.realize([8, 8])


def a_loop_that_would_race() -> object:
    f, r = hl.Func("f"), hl.RDom([(1, 9)], "r")
    f[x] = x
    f[r.x] = f[r.x - 1] + f[r.x]
    f.update().vectorize(r.x, 4)
    return f.realize([10])


def an_input_that_is_too_small() -> object:
    image, f = hl.ImageParam(hl.UInt(8), 2, "image"), hl.Func("f")
    f[x, y] = image[x + 1, y]
    image.set(np.zeros((4, 4), np.uint8))
    return f.realize([4, 4])


def an_output_of_another_type() -> object:
    return sums()[1].realize(np.zeros((4, 4), np.float32))


MISTAKES: list[Callable[[], object]] = [
    one_coordinate_too_few,
    a_variable_that_is_not_there,
    an_if_in_a_definition,
    a_level_that_does_not_hold_every_use,
    a_loop_that_would_race,
    an_input_that_is_too_small,
    an_output_of_another_type,
]


def show_error(mistake: Callable[[], object]) -> None:
    """Makes a mistake, and prints what it is told, and where."""
    try:
        mistake()
    except hl.HalideError as error:
        print(f"{mistake.__name__.replace('_', ' ')}\n  {type(error).__name__}: {error}\n")
        if error.location.file == __file__:
            return
    raise SystemExit(f"{mistake.__name__} is accepted, or blamed on another file.")


for mistake in MISTAKES:
    show_error(mistake)
