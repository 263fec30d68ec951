"""Refusals, and what they offer: that this is legal is seen to by ``refusal``; here, that it is all there is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import halide_core as hl
from tests.support.offers import Names, offers, refusal, schedule


def scope() -> Names:
    """The names in lines of schedules, besides Funcs; ``n`` is as long as any window, ``p`` is 4 in each run."""
    names = "x y z xo xi yo yi t u w".split()
    return {"hl": hl, "n": 16, "p": hl.Param(hl.Int(32), "p", 4), **{name: hl.Var(name) for name in names}}


def pair() -> Names:
    """``f`` reads ``g`` above and below; ``h`` is no part of it."""
    made, (g, f, h) = scope(), (hl.Func(name) for name in "gfh")
    x, y = made["x"], made["y"]
    g[x, y] = x * y
    h[x, y] = x
    f[x, y] = g[x, y - 1] + g[x, y + 1]
    return made | {"g": g, "f": f, "h": h}


def chain() -> Names:
    """``f`` reads ``k``, which reads ``g``, and then ``g`` too."""
    made, (g, k, f) = scope(), (hl.Func(name) for name in "gkf")
    x, y = made["x"], made["y"]
    g[x, y] = x * y
    k[x, y] = g[x, y] + g[x + 1, y]
    f[x, y] = k[x, y] - 1
    f[x, y] += g[x, y]
    return made | {"g": g, "k": k, "f": f}


def updated(kind: str) -> Callable[[], Names]:
    """``f`` over two dimensions, with an update of a kind, which may be over ``r``."""

    def build() -> Names:
        made, f, r = scope(), hl.Func("f"), hl.RDom([(1, 8), (0, 6)], "r")
        x, y = made["x"], made["y"]
        f[x, y] = {"pairs": (x, y), "truth": x > y}.get(kind, x + y)
        match kind:
            case "sum":
                f[x, y] += r.x * r.y
            case "in order":
                f[x, y] = f[x, y] * 2 + r.x + r.y
            case "meeting":
                f[r.x, y] = f[r.x - 1, y] + r.y
            case "steered":
                f[x, hl.clamp(f[x, 0], 0, 3)] = 7
            case "pairs":
                f[x, y] = (f[x, y][0] + r.x, f[x, y][1] + r.x * r.y)
            case "truth":
                f[x, y] = f[x, y] | (r.x > x)
        return made | {"f": f, "r": r, **{name: hl.RVar(name) for name in ("rxo", "rxi")}}

    return build


def tails(message: str) -> str:
    """The strategies that a message offers, without what they have in common."""
    return ", ".join(offer.removeprefix("hl.TailStrategy.") for offer in offers(message))


def test_offers_of_a_message() -> None:
    text = 'f.split(x, xo, xi, 8): no. Legal: hl.TailStrategy.RoundUp, f.update().atomic(), g.at(f, hl.Var("x.v")).'
    assert offers(text) == ["f.update().atomic()", 'g.at(f, hl.Var("x.v"))', "hl.TailStrategy.RoundUp"]


# -- levels


def test_levels_in_a_loop_that_a_factor_made() -> None:
    message = refusal(pair, "f.vectorize(x, 4)", "g.compute_at(f, z)")
    levels = ["f, y", "f, x", 'f, hl.Var("x.v")']
    assert offers(message) == ["g.compute_root()", *(f"g.compute_at({level})" for level in levels)]


def test_loops_that_a_factor_made_are_listed_as_arguments() -> None:
    message = refusal(pair, "f.unroll(x, 4)", "f.parallel(z)")
    assert message.endswith('Its loops, innermost first: hl.Var("x.u"), x, y.')


@pytest.mark.parametrize("var", ["x", "hl.Var.outermost()"])
def test_place_at_a_func_without_loops(var: str) -> None:
    for build, consumer in ((pair, "h"), (chain, "k")):
        line = f"g.compute_at({consumer}, {var})"
        message = refusal(build, line)
        assert message.startswith(f'{line}: "{consumer}" has no loops here: it is inlined where it is used, or no part')


def test_place_where_not_every_use_is() -> None:
    line = "g.compute_at(k, hl.Var.outermost())"
    message = refusal(chain, "k.compute_at(f, x)", line)
    assert message.startswith(f'{line}: not every use of "g" is where "k" is computed. The legal levels:')
    assert offers(message) == ["g.compute_root()"]


MEMORY = [("store_at", "store_root"), ("hoist_storage", "hoist_storage_root")]
STORED = pytest.mark.parametrize(("verb", "root"), MEMORY)


@STORED
@pytest.mark.parametrize("place", ["hl.Var.outermost()", "x"])
def test_memory_at_a_func_without_loops(verb: str, root: str, place: str) -> None:
    message = refusal(pair, "g.compute_at(f, x)", f"g.{verb}(h, {place})")
    assert offers(message) == [f"g.{root}()", f"g.{verb}(f, y)", f"g.{verb}(f, x)"]


@STORED
def test_memory_levels_are_those_of_every_case(verb: str, root: str) -> None:
    given = ("f.specialize(p > 3).split(y, yo, yi, 2)", "g.compute_at(f, x)")
    message = refusal(pair, *given, f"g.{verb}(f, z)")
    assert offers(message) == [f"g.{root}()", f"g.{verb}(f, x)"]


# -- tails


@pytest.mark.parametrize("tail", ["ShiftInwards", "ShiftInwardsAndBlend", "RoundUp"])
@pytest.mark.parametrize(
    ("build", "given", "subject", "but"),
    [
        (pair, "f.fuse(x, y, t)", "f.split(t", "ShiftInwards ShiftInwardsAndBlend RoundUp"),
        (pair, "f.split(x, xo, t, 8)", "f.split(t", "RoundUp"),
        (pair, "f.split(x, xo, t, p)", "f.split(t", "ShiftInwards ShiftInwardsAndBlend RoundUp"),
        (updated("sum"), "f.update().split(x, xo, t, 8)", "f.update().split(t", "ShiftInwards RoundUp"),
        (updated("steered"), "pass", "f.update().split(x", "ShiftInwards RoundUp"),
        (updated("sum"), "pass", "f.update().split(x", "ShiftInwards"),
        (updated("sum"), "pass", "f.update().split(r.x", "ShiftInwards ShiftInwardsAndBlend RoundUp RoundUpAndBlend"),
    ],
    ids=["fused", "inner", "inner by a Param", "inner of an update", "steered", "update", "reduction"],
)
def test_tails(build: Callable[[], Names], given: str, subject: str, but: str, tail: str) -> None:
    line = f"{subject}, u, w, 3, hl.TailStrategy.{tail})"
    legal = [each.name for each in hl.TailStrategy if each.name not in (*but.split(), "Auto")]
    if tail in legal:
        scheduled(build(), given, line)
    else:
        assert tails(refusal(build, given, line)) == ", ".join(legal)


def scheduled(names: Names, *lines: str) -> None:
    """Gives some lines, and applies them."""
    schedule(names, *lines)
    names["f"].loop_nest()


def test_every_tail_of_a_loop_that_divides() -> None:
    for tail in hl.TailStrategy:
        scheduled(updated("sum")(), f"f.update().split(r.x, rxo, rxi, 4, hl.TailStrategy.{tail.name})")


def test_tail_by_a_param_of_a_loop_of_constant_length() -> None:
    line = "f.split(t, u, w, p, hl.TailStrategy.ShiftInwards)"
    message = refusal(pair, "f.split(x, xo, t, 8)", line)
    assert '"t" takes 8 steps, and the factor, which is not a constant, may be greater.' in message


# -- lengths


@pytest.mark.parametrize("verb", ["vectorize", "unroll"])
@pytest.mark.parametrize(
    ("build", "lines", "legal"),
    [
        (pair, ["f.{}(x)"], ["f.{}(x, 8)", "f.bound_extent(x, n)"]),
        (pair, ["f.{}(x, p)"], ["f.{}(x, 8)"]),
        (pair, ["f.split(x, xo, xi, 8)", "f.{}(xo)"], ["f.{}(xo, 8)", "f.bound_extent(x, n)"]),
        (pair, ["f.split(x, xo, xi, p)", "f.{}(xo)"], ["f.{}(xo, 8)"]),
        (pair, ["f.split(x, xo, xi, p)", "f.{}(xi)"], ["f.{}(xi, 8)"]),
        (pair, ["f.split(x, xo, x, p)", "f.{}(x)"], ["f.{}(x, 8)"]),
        (pair, ["f.fuse(x, y, x)", "f.{}(x)"], ["f.{}(x, 8)"]),
        (pair, ["f.rename(x, z)", "f.{}(z)"], ["f.{}(z, 8)", "f.bound_extent(x, n)"]),
        (pair, ["f.{}(x)", "f.rename(x, z)"], ["f.{}(x, 8)", "f.bound_extent(x, n)"]),
        (pair, ["f.parallel(x, p)", 'f.{}(hl.Var("x.t"))'], ['f.{}(hl.Var("x.t"), 8)']),
        (pair, ["f.bound_extent(x, p + 12)", "f.{}(x)"], ["f.{}(x, 8)"]),
        (pair, ["f.specialize(p > 3)", "g.compute_at(f, y)", "g.{}(x)"], ["g.{}(x, 8)", "g.bound_extent(x, n)"]),
        (pair, ["f.specialize(p > 3).{}(x)"], ["f.specialize(3 < p).{}(x, 8)", "f.bound_extent(x, n)"]),
        (updated("sum"), ["f.{}(x)"], ["f.{}(x, 8)", "f.bound_extent(x, n)"]),
        (updated("sum"), ["f.update().{}(x)"], ["f.update().{}(x, 8)", "f.bound_extent(x, n)"]),
        (updated("meeting"), ["f.{}(x)"], ["f.{}(x, 8)"]),
        (updated("meeting"), ["f.{}(y)"], ["f.{}(y, 8)", "f.bound_extent(y, n)"]),
    ],
)  # fmt: skip
def test_lengths_that_are_not_constant(
    build: Callable[[], Names], lines: list[str], legal: list[str], verb: str
) -> None:
    message = refusal(build, *(line.format(verb) for line in lines))
    assert offers(message) == [each.format(verb) for each in legal]


def test_length_of_a_reduction_loop() -> None:
    def build() -> Names:
        made, f = scope(), hl.Func("f")
        r = hl.RDom([(0, made["p"])], "r")
        f[made["x"], made["y"]] = 0
        f[made["x"], made["y"]] += r.x
        return made | {"f": f, "r": r}

    assert offers(refusal(build, "f.update().unroll(r.x)")) == ["f.update().unroll(r.x, 8)"]


# -- prefetches


@pytest.mark.parametrize(
    ("given", "line", "legal"),
    [
        ("g.compute_at(f, y)", "f.prefetch(g, y, y)", ["g.store_root()", "f.prefetch(g, x, y, 1)"]),
        ("g.compute_at(f, x)", "f.prefetch(g, x, y, 2)", ["g.store_root()", "g.store_at(f, y)"]),
        ("f.parallel(y); g.compute_at(f, x)", "f.prefetch(g, y, y)", ["g.compute_root()"]),
        ("f.parallel(y); g.compute_at(f, x)", "f.prefetch(g, x, x)", ["g.store_at(f, y)"]),
        ("f.parallel(y); g.compute_at(f, x).store_at(f, x)", "f.prefetch(g, y, y)", []),
        ("f.vectorize(x, 4); g.compute_root()", 'f.prefetch(g, hl.Var("x.v"), x)',
         ["f.prefetch(g, y, y, 1)", "f.prefetch(g, x, x, 1)"]),
        ("f.unroll(x, 4); g.compute_at(f, x)", "f.prefetch(g, x, x, 1, hl.PrefetchBoundStrategy.Clamp)",
         ["g.store_root()", "g.store_at(f, y)", 'f.prefetch(g, hl.Var("x.u"), x, 1, hl.PrefetchBoundStrategy.Clamp)']),
        ("f.specialize(p > 3).reorder(y, x); g.compute_at(f, y)", "f.prefetch(g, y, y)", ["g.store_root()"]),
    ],
)  # fmt: skip
def test_prefetches(given: str, line: str, legal: list[str]) -> None:
    message = refusal(pair, given, line)
    assert offers(message) == legal
    assert bool(legal) is not message.endswith("none")


# -- reduction loops at once


@pytest.mark.parametrize(
    ("kind", "call", "turns"),
    [
        ("sum", "parallel", True),
        ("sum", "vectorize", True),
        ("in order", "parallel", False),
        ("meeting", "parallel", False),
        ("pairs", "parallel", True),
        ("pairs", "vectorize", True),
        ("truth", "parallel", True),
        ("truth", "vectorize", True),
    ],
)
def test_atomic_is_offered_where_it_is_legal(kind: str, call: str, turns: bool) -> None:
    message = refusal(updated(kind), f"f.update().{call}(r.x)")
    assert offers(message) == ["f.update().atomic()"] * turns + ["f.update().allow_race_conditions()"]


def test_offers_are_about_the_user_s_own_stage() -> None:
    def build() -> Names:
        made, k = updated("sum")(), hl.Func("f")
        k[made["x"], made["y"]] = made["f"][made["x"], made["y"]]
        return made | {"g": made["f"], "f": k}

    with pytest.raises(hl.ScheduleError) as caught:
        scheduled(build(), "f.specialize(p > 3); g.compute_at(f, y); g.update().parallel(r.x)")
    assert "$" not in caught.value.message


def test_place_around_all_loops_is_written_as_users_write_it() -> None:
    made = pair()
    schedule(made, "g.compute_at(f, hl.Var.outermost())")
    given = hl.Schedule(made["f"])
    assert given.directives() == ["g.compute_at(f, hl.Var.outermost())"]
    again = pair()
    schedule(again, given.source(), "schedule(g, f)")
    assert hl.Schedule(again["f"]).directives() == given.directives()
