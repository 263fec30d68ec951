"""Specializations: which directives a case has, what its condition does for it, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import halide_core as hl
from halide_core.ir import For, IntImm, LoopName, Select
from halide_core.ir.visitor import stmt_exprs, subexpressions, walk
from halide_core.loop_nest import StageKey
from tests.scheduling.test_legality import refused
from tests.support.answered import cpu, output_regions, region
from tests.support.dumps import after, pixels, producer_and_consumer, scheduled
from tests.support.raising import raised

xo, xi, yo, yi, z = (hl.Var(n) for n in ("xo", "xi", "yo", "yi", "z"))


def param(value: int = 0) -> hl.Param:
    return hl.Param(hl.Int(32), "n", value)


def loops(f: hl.Func, case: int, stage: int = 0) -> list[str]:
    """The loops of a case, outermost first."""
    program = scheduled(f)
    key = StageKey(program.named[f.name()], stage, case)
    return [loop.name.var for loop in program.nests[key].loops]


# -- which directives a case has


def test_case_starts_with_the_directives_given_so_far() -> None:
    f, x, y = pixels()
    f.split(x, xo, xi, 4)
    wide = f.specialize(param() >= 8)
    f.reorder(y, xi)
    wide.split(y, yo, yi, 2)
    assert loops(f, 0) == ["xi", "xo", "y"]
    assert loops(f, 1) == ["yo", "yi", "xo", "xi"]


def test_nested_case_starts_with_what_its_case_has() -> None:
    n = param()
    f, x, _y = pixels()
    wide = f.specialize(n >= 8)
    wide.rename(x, z)
    wider = wide.specialize(n >= 16)
    wide.rename(z, xo)
    wider.rename(z, xi)
    assert (loops(f, 0), loops(f, 1), loops(f, 2)) == (["y", "x"], ["y", "xo"], ["y", "xi"])


def test_same_condition_gives_the_same_case() -> None:
    n = param()
    f, x, y = pixels()
    f.specialize(n >= 8).rename(x, z)
    f.specialize(n >= 8).rename(y, yo)
    assert loops(f, 1) == ["yo", "z"]
    program = scheduled(f)
    assert len(program.cases(program.named["f"], 0)) == 2


def test_specialize_gives_a_stage() -> None:
    f, x, _y = pixels()
    case = f.specialize(param() >= 8)
    assert isinstance(case, hl.Stage) and case.name() == "f"
    assert case.vectorize(x, 8) is case
    assert hl.Stage(case).specialize(param() >= 9).name() == "f"


def test_first_condition_that_holds_is_taken() -> None:
    n = param()
    f, x, y = pixels()
    f.specialize(n >= 4).reorder(y, x)
    f.specialize(n >= 2).rename(x, z)
    assert f.loop_nest().splitlines() == [
        "produce f:",
        "  if 4 <= n:",
        "    for x:",
        "      for y:",
        "        f(..., ...) = ...",
        "  else:",
        "    if 2 <= n:",
        "      for y:",
        "        for z:",
        "          f(..., ...) = ...",
        "    else:",
        "      for y:",
        "        for x:",
        "          f(..., ...) = ...",
    ]


@pytest.mark.parametrize("n", [0, 3, 8, 100])
def test_specialized_values(n: int) -> None:
    p = param(n)
    g, f, x, y = producer_and_consumer()
    g.compute_at(f, y).vectorize(x, 4)
    wide = f.specialize(p >= 8)
    wide.vectorize(x, 8).parallel(y)
    wide.specialize(p >= 100).unroll(y, 2)
    f.specialize(p == 3).reorder(x, y)
    assert np.array_equal(np.asarray(f.realize([13, 7])), f.evaluate([(0, 13), (0, 7)]))


# -- what the condition does


def test_condition_decides_a_select_in_both_cases() -> None:
    n, x = param(), hl.Var("x")
    f = hl.Func("f")
    f[x] = hl.select(n > 3, x, x * 2)
    f.specialize(n > 3)
    assert not [e for s in walk(after(f, "simplify")) for e in subexpressions(stmt_exprs(s)) if isinstance(e, Select)]


INSIDE: dict[str, tuple[Callable[[hl.Expr], hl.Expr], Callable[[hl.Expr], hl.Expr], int, tuple[int, int]]] = {
    "a weaker one": (lambda p: p > 73, lambda p: p > 50, 100, (10, 1)),
    "a weaker one by its end": (lambda p: p >= 51, lambda p: p > 50, 51, (10, 1)),
    "one that is ruled out": (lambda p: p > 73, lambda p: p == 73, 74, (1, 10)),
    "one that is ruled out where it does not hold": (lambda p: p > 50, lambda p: p > 73, 40, (1, 10)),
    "a part of it": (lambda p: (p > 60) & (p < 70), lambda p: p != 80, 65, (10, 1)),
    "one that it says too little of": (lambda p: p >= 50, lambda p: p > 50, 51, (10, 10)),
}


@pytest.mark.parametrize("type", [hl.Int(32), hl.UInt(8), hl.Int(64)], ids=str)
@pytest.mark.parametrize("name", INSIDE)
def test_condition_decides_what_it_implies(name: str, type: hl.Type) -> None:
    when, inner, value, size = INSIDE[name]
    p, im, f, x = hl.Param(type, "p"), hl.ImageParam(hl.Int(32), 2, "im"), hl.Func("f"), hl.Var("x")
    f[x] = hl.select(inner(p), im[x, 0], im[0, x])
    f.specialize(when(p))
    p.set(value)
    f.infer_input_bounds([10])
    assert (im.get().width(), im.get().height()) == size
    im.set(hl.Buffer(np.arange(100, dtype=np.int32).reshape(10, 10)))
    for each in (value, 0, 50, 51, 60, 70, 73, 74, 80, 127):
        p.set(each)
        np.testing.assert_array_equal(np.asarray(f.realize([10])), f.evaluate([10]))
    assert hl.Pipeline([f]).certify().ok


def test_condition_that_fixes_a_length_allows_to_unroll_it() -> None:
    n, x = param(), hl.Var("x")
    r = hl.RDom([(0, n)], "r")
    f = hl.Func("f")
    f[x] = 0
    f[x] += x * r.x
    f.update().specialize(n == 3).unroll(r.x)
    n.set(3)
    assert list(np.asarray(f.realize([4]))) == [0, 3, 6, 9]
    n.set(5)
    assert list(np.asarray(f.realize([4]))) == [0, 10, 20, 30]


def test_condition_holds_in_what_is_computed_inside() -> None:
    flag, x, y = hl.Param(hl.Bool(), "flag"), hl.Var("x"), hl.Var("y")
    image = hl.ImageParam(hl.Int(32), 2, "in")
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = hl.select(hl.Expr(flag), image[x, y], image[x + 50, y])
    f[x, y] = g[x, y] + g[x + 1, y]
    g.compute_at(f, y)
    f.specialize(hl.Expr(flag))
    assert region(f, "in") == ("(select(flag, f.min.0, f.min.0 + 50), f.extent.0 + 1)", "(f.min.1, f.extent.1)")


def test_output_that_is_wide_enough_is_not_rounded_up() -> None:
    f, x, _y = pixels()
    f.specialize(f.output_buffer().width() >= 8).vectorize(x, 8)
    assert region(f, "f") == ("(f.min.0, f.extent.0)", "(f.min.1, f.extent.1)")
    small = hl.Buffer(hl.Int(32), [5, 3])
    f.realize(small)
    assert np.array_equal(np.asarray(small), f.evaluate([(0, 5), (0, 3)]))


def test_only_the_case_that_rounds_up_needs_more() -> None:
    n = param()
    f, x, _y = pixels()
    f.specialize(n == 1).split(x, xo, xi, 8, hl.TailStrategy.RoundUp)
    n.set(1)
    assert output_regions(f, [(0, 5), (0, 2)]) == [((0, 8), (0, 2))]
    n.set(0)
    assert output_regions(f, [(0, 5), (0, 2)]) == [((0, 5), (0, 2))]


def test_need_that_all_cases_share_is_no_choice() -> None:
    f, x, y = pixels()
    f.split(x, xo, xi, 4)
    f.specialize(param() >= 8).parallel(y)
    assert cpu(f, "f", "x") == "(f.min.0, max(f.extent.0, 4))"


def test_producer_at_the_root_is_computed_for_the_case_that_is_taken() -> None:
    flag, x = hl.Param(hl.Bool(), "flag"), hl.Var("x")
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x * x
    f[x] = hl.select(hl.Expr(flag), g[x], x)
    g.compute_root()
    f.specialize(hl.Expr(flag))
    assert cpu(f, "g", "x") == "(f.min.0, select(flag, f.extent.0, 0))"


def test_func_that_only_one_case_reads_is_computed_there() -> None:
    flag, x, y = hl.Param(hl.Bool(), "flag", True), hl.Var("x"), hl.Var("y")
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = x * y
    f[x, y] = hl.select(hl.Expr(flag), g[x, y], x)
    g.compute_at(f, y)
    f.specialize(hl.Expr(flag))
    assert f.loop_nest().count("produce g") == 1
    assert np.array_equal(np.asarray(f.realize([4, 3])), f.evaluate([(0, 4), (0, 3)]))


def test_chain_inside_a_specialized_loop_is_copied_whole() -> None:
    n = param(9)
    x, y = hl.Var("x"), hl.Var("y")
    h, g, f = hl.Func("h"), hl.Func("g"), hl.Func("f")
    h[x, y] = x + y
    g[x, y] = h[x, y] + h[x + 1, y]
    f[x, y] = g[x, y] + h[x, y + 1]
    h.compute_at(f, y)
    g.compute_at(f, x)
    f.specialize(n > 5).tile(x, y, xi, yi, 4, 2)
    program = scheduled(f)
    assert sorted(program.named) == ["f", "g", "g$1", "h", "h$1"]
    assert program.computed[program.named["g$1"]] == LoopName("f", 0, 1, "x")
    assert program.computed[program.named["h$1"]] == LoopName("f", 0, 1, "y")
    for value in (3, 9):
        n.set(value)
        assert np.array_equal(np.asarray(f.realize([9, 5])), f.evaluate([(0, 9), (0, 5)]))


def test_copy_of_a_specialized_func_is_specialized_too() -> None:
    n, x, y = param(), hl.Var("x"), hl.Var("y")
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = x + y
    f[x, y] = g[x, y] + g[x + 1, y]
    g.compute_at(f, y).specialize(n > 2).vectorize(x, 4)
    f.specialize(n > 1).unroll(x, 2)
    assert f.loop_nest().count("vectorized") == 2
    for value in (0, 2, 4):
        n.set(value)
        assert np.array_equal(np.asarray(f.realize([9, 5])), f.evaluate([(0, 9), (0, 5)]))


# -- specialize_fail


def test_specialize_fail_ends_a_run_that_no_case_fits() -> None:
    n = param(3)
    f, _x, _y = pixels()
    f.specialize(n >= 8)
    f.specialize_fail("n must be at least 8")
    with pytest.raises(hl.SpecializeFailError, match="n must be at least 8") as caught:
        f.realize([4, 4])
    assert isinstance(caught.value, hl.PipelineError)
    n.set(8)
    assert np.asarray(f.realize([4, 4]))[1, 2] == 102


def test_specialize_fail_of_a_nested_case() -> None:
    n = param(8)
    f, _x, _y = pixels()
    wide = f.specialize(n >= 8)
    wide.specialize(n >= 16)
    wide.specialize_fail("between 8 and 15")
    with pytest.raises(hl.SpecializeFailError, match="between 8 and 15"):
        f.realize([4, 4])
    for value in (7, 16):
        n.set(value)
        assert np.asarray(f.realize([4, 4]))[1, 2] == 102


def test_specialize_fail_of_a_producer_ends_the_run_at_its_start() -> None:
    n = param(3)
    g, f, _x, y = producer_and_consumer()
    g.compute_at(f, y).specialize(n >= 8)
    g.specialize_fail("n must be at least 8")
    with pytest.raises(hl.SpecializeFailError, match="n must be at least 8"):
        f.realize([4, 4])


# -- what is refused


@pytest.mark.parametrize(
    ("condition", "named"),
    [
        (lambda f, x: x > 3, 'depends on the variable "x"'),
        (lambda f, x: f[0, 0] > 3, 'depends on a point of "f"'),
        (lambda f, x: param(), "must be a condition, not n of int32"),
        (lambda f, x: 3, "must be a condition"),
        (lambda f, x: "wide", "must be a condition"),
    ],
)
def test_condition_that_is_none(condition: Callable[[hl.Func, hl.Var], object], named: str) -> None:
    f, x, _y = pixels()
    g, _, _ = pixels("g")
    g.function.directives.clear()
    raised(hl.ScheduleError, lambda: g.specialize(condition(f, x)), named)  # type: ignore[arg-type]  # on purpose


def test_loop_that_a_case_lacks() -> None:
    f, x, _y = pixels()
    case = f.specialize(param() >= 8)
    f.split(x, xo, xi, 4)
    named = ("f.specialize(8 <= n).vectorize(xi)", 'no loop "xi"', "innermost first: x, y")
    refused(lambda: case.vectorize(xi), f, *named)


def test_directive_that_only_an_heir_has_is_told_as_it_was_written() -> None:
    n = param()
    f, x, _y = pixels()
    wide = f.specialize(n >= 8)
    wide.vectorize(x)
    wide.specialize(n >= 16)
    wide.specialize_fail("between 8 and 15")
    with pytest.raises(hl.ScheduleError) as caught:
        f.compile_jit()
    assert caught.value.message.startswith("f.specialize(8 <= n).vectorize(x): ")


def test_level_that_one_case_lacks() -> None:
    g, f, x, _y = producer_and_consumer()
    f.specialize(param() >= 8).split(x, xo, xi, 4)
    message = refused(lambda: g.compute_at(f, xo), f, 'g.compute_at(f, xo): not every use of "g"')
    assert "    g.compute_root()\n    g.compute_at(f, y)\n" in message
    assert "f.s0 where n < 8: f.s0.y > f.s0.x" in message
    assert "$" not in message


def test_pasted_level_is_legal() -> None:
    g, f, x, y = producer_and_consumer()
    f.specialize(param() >= 8).split(x, xo, xi, 4)
    g.compute_at(f, y)
    assert np.array_equal(np.asarray(f.realize([9, 5])), f.evaluate([(0, 9), (0, 5)]))


def test_specialize_after_specialize_fail() -> None:
    f, _x, _y = pixels()
    f.specialize(param() >= 8)
    f.specialize_fail("no")
    raised(hl.ScheduleError, lambda: f.specialize(param() >= 9), "specialize() can't follow f.specialize_fail('no')")
    raised(hl.ScheduleError, lambda: f.specialize_fail("again"), "specialize_fail() can't follow")


def test_specialize_fail_without_a_case() -> None:
    f, _x, _y = pixels()
    refused(lambda: f.specialize_fail("always"), f, "f.specialize_fail('always')", "f.specialize(condition)")


def test_specialize_fail_takes_a_text() -> None:
    f, _x, _y = pixels()
    raised(hl.ScheduleError, lambda: f.specialize_fail(3), "takes a message")  # type: ignore[arg-type]  # on purpose


def test_directive_of_a_case_that_fails() -> None:
    f, x, _y = pixels()
    f.specialize(param() >= 8)
    f.specialize_fail("no")
    refused(lambda: f.vectorize(x, 4), f, "f.vectorize(x, 4)", "would have no effect")


def test_specialize_of_an_inlined_func() -> None:
    g, f, _x, _y = producer_and_consumer()
    refused(lambda: g.specialize(param() > 1), f, "g.specialize(1 < n)", "g.compute_root()")


def test_vectorized_length_that_is_no_constant_in_a_case() -> None:
    f, x, _y = pixels()
    f.specialize(param() >= 8).vectorize(x)
    with pytest.raises(hl.ScheduleError, match=r"f\.specialize\(8 <= n\)\.vectorize\(x\): the length"):
        f.compile_jit()


def test_vectorized_length_that_is_no_constant_in_a_copy() -> None:
    g, f, x, y = producer_and_consumer()
    g.compute_at(f, y).vectorize(x)
    f.specialize(param() == 8)
    with pytest.raises(hl.ScheduleError, match=r"^g\.vectorize\(x\): the length"):
        f.compile_jit()


def test_shape_of_what_is_no_output() -> None:
    g, f, x, _y = producer_and_consumer()
    f.compute_root()
    h = hl.Func("h")
    h[x] = f[x, 0]
    refused_shape(lambda: f.specialize(f.output_buffer().width() > 3), h)
    g.compute_root()


def refused_shape(directive: Callable[[], object], output: hl.Func) -> None:
    directive()
    with pytest.raises(hl.ScheduleError, match='"f" is no output of the pipeline'):
        output.compile_jit()


def test_shape_of_an_output_in_a_definition() -> None:
    f, x, y = pixels()
    g = hl.Func("g")

    def define() -> None:
        g[x, y] = f.output_buffer().width()

    with pytest.raises(hl.DefinitionError, match='defined by the shape of output "f"'):
        define()
    assert not g.defined()


def test_lanes_of_a_specialized_loop_have_a_constant_length() -> None:
    f, x, _y = pixels()
    f.specialize(param() >= 8).vectorize(x, 8)
    lanes = [s for s in walk(after(f, "simplify")) if isinstance(s, For) and s.loop.var == "x.v"]
    assert [s.bounds.len for s in lanes] == [IntImm(lanes[0].bounds.len.type, 8)]
