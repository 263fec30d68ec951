"""Explanations: of a loop, an allocation or an input, which access asked for it, by which rule, and why."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import halide_core as hl
from halide_core import ir
from halide_core.bounds.explain.latex import latex_of
from halide_core.ir.types import BOOL, INT64
from tests.support.dumps import histogram, tiled_blur
from tests.support.raising import raised

x, y, xo, xi, yo, yi = (hl.Var(n) for n in ("x", "y", "xo", "xi", "yo", "yi"))
PLACE = re.compile(r"^        at .*test_explain\.py:\d+: ", re.MULTILINE)


def chain() -> hl.Func:
    """``f[x] = g[x] + g[x + 2]``, ``g[x] = in[x - 1] + in[x + 1]``, ``g`` at the root."""
    image = hl.ImageParam(hl.Int(32), 1, "in")
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = image[x - 1] + image[x + 1]
    g.compute_root()
    f[x] = g[x] + g[x + 2]
    return f


def said(explanation: object) -> list[str]:
    """The lines, with the user's lines as ``at …``."""
    return PLACE.sub("        at ", str(explanation)).splitlines()


def test_explanation_of_an_input_leads_to_the_requested_window() -> None:
    assert said(chain().explain(input="in")) == [
        "input in, dimension 0 = (f.min.0 - 1, f.extent.0 + 4)  at the root",
        "    least: g.s0 reads in[g.s0.x - 1], from f.min.0 - 1 to f.min.0 + f.extent.0   [value, by interval]",
        "        at g[x] = image[x - 1] + image[x + 1]",
        "        depends on ?cpu g.s0.x",
        "    most: g.s0 reads in[g.s0.x + 1], from f.min.0 + 1 to f.min.0 + f.extent.0 + 2   [value, by interval]",
        "        at g[x] = image[x - 1] + image[x + 1]",
        "        depends on ?cpu g.s0.x",
        "?cpu g.s0.x = (f.min.0, f.extent.0 + 2)  at the root",
        "    least: f.s0 reads g[f.s0.x], from f.min.0 to f.min.0 + f.extent.0 - 1   [value, by interval]",
        "        at f[x] = g[x] + g[x + 2]",
        "        depends on ?cpu f.s0.x",
        "    most: f.s0 reads g[f.s0.x + 2], from f.min.0 + 2 to f.min.0 + f.extent.0 + 1   [value, by interval]",
        "        at f[x] = g[x] + g[x + 2]",
        "        depends on ?cpu f.s0.x",
        "?cpu f.s0.x = (f.min.0, f.extent.0)  at the root",
        "    least and most: the requested window   [window]",
        "        at f[x] = g[x] + g[x + 2]",
    ]


def test_explanation_of_an_allocation_names_what_is_written() -> None:
    _hist, out, _r = histogram()
    text = str(out.explain(allocation="hist"))
    assert text.startswith("?mem hist.i = (min(out.min.0, 0),")
    assert "hist.s1 writes hist[int64(in[hist.s1.r.x, hist.s1.r.y])], from 0 to 255   [write, by interval]" in text
    assert "points that stage 1 does not write keep their value: ?cpu hist.s1.i is covered   [stages]" in text


def test_explanation_of_a_loop_names_the_directives_that_made_it() -> None:
    _bx, by = tiled_blur()
    lines = str(by.explain(loop="by.y")).splitlines()
    assert lines[:5] == [
        "parallel by.s0.y in (0, (?cpu by.s0.y.len + 7)/8)",
        "    that is (0, (max(by.extent.1, 8) + 7)/8)",
        "    a pure loop of the definition",
        "    then by.split(y, y, yi, 8)",
        "    then by.parallel(y)",
    ]
    assert "    by.tile(x, y, xi, yi, 32, 8): 8 <= ?cpu by.s0.y.len   [assert]" in lines
    assert str(by.explain(loop="yi")).splitlines() == ["for by.s0.yi in (0, 8)", "    made by by.split(y, y, yi, 8)"]


def test_explanation_of_a_loop_over_a_domain() -> None:
    n, f = hl.Param(hl.Int(32), "n"), hl.Func("f")
    r = hl.RDom([(0, n)], "r")
    f[x] = 0
    f[x] += r.x
    assert str(f.explain(loop="f.s1.r.x")).splitlines() == [
        "for f.s1.r.x in (0, int64(n))",
        "    a reduction loop of the definition",
    ]


def test_explanation_names_the_rule_of_an_index_and_of_a_condition() -> None:
    table, im = hl.ImageParam(hl.Int(32), 1, "table"), hl.ImageParam(hl.Int(32), 1, "im")
    f, r = hl.Func("f"), hl.RDom([(0, 9)], "r")
    r.where(im[r.x + 4] > 0)
    f[x] = table[hl.clamp(im[x], 0, 7)]
    f[x] += r.x
    text = str(f.explain(input="im"))
    assert "f.s0 reads im[f.s0.x], from f.min.0 to f.min.0 + f.extent.0 - 1   [index, by interval]" in text
    assert "f.s1 reads im[f.s1.r.x + 4], from 4 to 12   [condition, by interval]" in text


def test_explanation_of_what_lies_inside_a_loop_is_in_terms_of_its_variable() -> None:
    bx, by = tiled_blur()
    assert bx.name() == "bx"
    text = str(by.explain(allocation="bx"))
    assert "?mem bx.y = (by.min.1 + min(by.s0.y.y*8 + 8, max(by.extent.1, 8)) - 9, 10)  inside by.s0.x" in text


def test_closed_form_keeps_holes_when_it_would_be_long() -> None:
    f = hl.Func("f0")
    f[x] = hl.ImageParam(hl.Int(32), 1, "in")[x]
    f.compute_root()
    for i in range(1, 9):
        g = hl.Func(f"f{i}")
        g[x] = f[x / 2 + hl.min(x % 5, i)] + f[hl.max(x, 3) * 2]
        g.compute_root()
        f = g
    assert len(str(f.explain(input="in"))) < 60_000


# -- the whole story


def test_explanation_of_everything_is_text_first() -> None:
    explanation = chain().explain()
    titles = [line for line in str(explanation).splitlines() if line.startswith("==")]
    assert titles[0] == "== T0: the algorithm, lowered with holes"
    assert titles[-3:] == ["== The bounds query", "== The answers", "== The program"]
    assert "input in, dimension 0" in explanation.latex()
    assert r"?cpu g.s0.x" in explanation.latex()


# -- what does not slide


def window() -> tuple[hl.Func, hl.Func]:
    """``f[x, y] = g[x, y - 1] + g[x, y + 1]``, and memory for ``g`` at the root."""
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = x * y
    f[x, y] = g[x, y - 1] + g[x, y + 1]
    g.store_root().compute_at(f, y)
    return g, f


def of_slides(f: hl.Func) -> list[str]:
    """The lines of the loop nest about slides."""
    lines = [line.strip() for line in f.loop_nest().splitlines()]
    return [line[1:-1] for line in lines if line.startswith("(")]


OBSTACLES: list[tuple[Callable[[hl.Func], object], str]] = [
    (lambda g: g.fuse(x, y, xo), "g.fuse(x, y, xo)"),
    (lambda g: g.bound_extent(y, 3).vectorize(x, 4), "g.bound_extent(y, 3)"),
    (lambda g: g.vectorize(y), 'the vectorized loop "y"'),
    (lambda g: g.unroll(y), 'the unrolled loop "y"'),
]


@pytest.mark.parametrize(("schedule", "by"), OBSTACLES, ids=[by for _, by in OBSTACLES])
def test_loop_nest_names_what_rests_on_a_length(schedule: Callable[[hl.Func], object], by: str) -> None:
    g, f = window()
    schedule(g)
    assert of_slides(f) == [f'"y" does not slide: {by} rests on its length']


NEEDED: list[Callable[[hl.Func], object]] = [
    lambda g: g.split(y, yo, yi, 3),
    lambda g: g.specialize(hl.Param(hl.Int(32), "p") > 0).vectorize(y, 4),
]


@pytest.mark.parametrize("schedule", NEEDED, ids=["split", "case"])
def test_loop_nest_names_a_split_that_needs_the_whole_window(schedule: Callable[[hl.Func], object]) -> None:
    g, f = window()
    schedule(g)
    (told,) = of_slides(f)
    assert told.startswith('"y" does not slide along f.s0.y: ')
    assert "shifted split" in told


def test_loop_nest_names_a_split_of_one_stage_of_several() -> None:
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = x * y
    g[x, y] += 1
    f[x, y] = g[x, y - 1] + g[x, y + 1]
    g.store_root().compute_at(f, y).split(y, yo, yi, 2)
    assert of_slides(f) == ['"y" does not slide: g.split(y, yo, yi, 2) rests on its length']


def test_explanation_names_what_rests_on_a_length() -> None:
    g, f = window()
    g.bound_extent(y, 3)
    lines = str(f.explain()).splitlines()
    assert 'g: "y" does not slide: g.bound_extent(y, 3) rests on its length' in lines
    assert not any("g:" in line and '"x"' in line for line in lines)


def test_loop_nest_names_a_func_of_which_each_case_has_a_copy_as_the_user_does() -> None:
    g, f = window()
    g.bound_extent(y, 3)
    f.specialize(hl.Param(hl.Int(32), "p") > 0)
    assert "produce g$1 " in f.loop_nest()
    assert of_slides(f) == ['"y" does not slide: g.bound_extent(y, 3) rests on its length'] * 2


def test_loop_nest_names_the_stage_that_writes_elsewhere() -> None:
    g, f, r = hl.Func("g"), hl.Func("f"), hl.RDom([(1, 6)], "r")
    g[x, y] = x * y
    g[x, 3] = x
    g[x, r.x * 2] += g[x, r.x - 1]
    f[x, y] = g[x, y - 1] + g[x, y + 1]
    g.store_root().compute_at(f, y)
    assert of_slides(f) == ['"y" does not slide: stage 1 writes at 3, not at y']


def test_loop_nest_is_silent_of_what_does_not_move() -> None:
    g, f = window()
    g.vectorize(x, 4)
    assert of_slides(f) == ['"y" slides along f.s0.y']
    g, f = window()
    g.bound(y, 0, 30)
    assert of_slides(f) == ['"x" slides along f.s0.y']


def test_loop_nest_sees_what_moves_by_a_split_loop() -> None:
    g, f = window()
    f.split(y, yo, yi, 3)
    g.compute_at(f, yi).bound_extent(y, 3)
    assert of_slides(f) == ['"y" does not slide: g.bound_extent(y, 3) rests on its length']


def test_loop_nest_says_of_each_dimension_that_moves_what_it_does() -> None:
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = x * y
    f[x, y] = g[x - 1, y - 1] + g[x + 1, y + 1]
    g.store_root().compute_at(f, x).unroll(x)
    assert of_slides(f) == [
        '"x" does not slide: the unrolled loop "x" rests on its length',
        '"y" slides along f.s0.y',
    ]


def test_loop_nest_names_all_that_is_in_the_way_where_nothing_moves() -> None:
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x
    f[x, y] = g[x] + g[x + 1]
    g.store_root().compute_at(f, y)
    assert of_slides(f) == ['"x" slides along f.s0.y']
    g.bound_extent(x, 20)
    assert of_slides(f) == ['"x" does not slide: g.bound_extent(x, 20) rests on its length']


# -- wrong names


def test_question_error_when_nothing_has_the_name() -> None:
    f = chain()
    raised(hl.PipelineError, lambda: f.explain(input="out"), 'no input "out"', 'input="in"')
    raised(hl.PipelineError, lambda: f.explain(allocation="f"), 'no allocation "f"', 'allocation="g"')
    raised(hl.PipelineError, lambda: f.explain(loop="z"), 'no loop "z"', 'loop="g.s0.x", loop="f.s0.x"')
    raised(hl.PipelineError, lambda: f.explain(loop="x"), 'more than one loop "x"', 'loop="g.s0.x", loop="f.s0.x"')


def test_question_error_when_there_is_nothing_to_ask_about() -> None:
    f = hl.Func("f")
    f[x] = x
    raised(hl.PipelineError, lambda: f.explain(allocation="g"), "It has no allocations.")


def test_question_error_when_there_are_two() -> None:
    raised(hl.PipelineError, lambda: chain().explain(loop="x", input="in"), "one question at a time")


# -- notebooks


def test_latex_of_a_bound() -> None:
    assert chain().explain(loop="f.x").latex() == (
        "\\begin{aligned}\n"
        "\\text{loop f.s0.x} &= \\left[\\mathrm{f.min}_{0},\\; "
        "\\mathrm{f.extent}_{0} + \\mathrm{f.min}_{0} - 1\\right] \\\\\n"
        "\\text{?cpu f.s0.x} &= \\left[\\mathrm{f.min}_{0},\\; "
        "\\mathrm{f.extent}_{0} + \\mathrm{f.min}_{0} - 1\\right]\n"
        "\\end{aligned}"
    )


def test_latex_of_every_kind_of_expression() -> None:
    a, b = ir.index_variable("f.s0.x_o"), ir.index_variable("b")
    eight = ir.i64(8)
    assert latex_of(ir.div(ir.add(a, ir.ONE), eight)) == r"\left\lfloor{\frac{\mathrm{f.s0.x\_o} + 1}{8}}\right\rfloor"
    assert latex_of(ir.mod(a, eight)) == r"\mathrm{f.s0.x\_o} \bmod 8"
    assert latex_of(ir.div(a, b)) == r"\mathrm{div}{\left(\mathrm{f.s0.x\_o},\mathrm{b} \right)}"
    assert latex_of(ir.minimum(ir.maximum(a, b), eight)) == (
        r"\min\left(8, \max\left(\mathrm{b}, \mathrm{f.s0.x\_o}\right)\right)"
    )
    choice = ir.Select(INT64, ir.conjunction(ir.less(a, b), ir.Not(BOOL, ir.equal(a, b))), a, b)
    assert latex_of(choice).startswith(r"\begin{cases} \mathrm{f.s0.x\_o} & \text{for}\:")
    byte = ir.Cast(INT64, ir.Variable(hl.UInt(8), "u"))
    assert latex_of(byte) == r"\mathrm{u}"  # widening keeps the value
    assert latex_of(ir.Cast(hl.UInt(8), a)) == r"\mathrm{uint8}{\left(\mathrm{f.s0.x\_o} \right)}"


def test_notebooks_show_a_table_and_formulas() -> None:
    explanation = chain().explain(input="in")
    html = explanation._repr_html_()
    assert "<caption>The input in</caption>" in html
    assert "<td>input in, dimension 0</td><td>$\\mathrm{f.min}_{0} - 1$</td>" in html
    assert "least: g.s0 reads in[g.s0.x - 1]" in html
    assert "&lt;" not in html or "<script" not in html
    shown = explanation._repr_latex_()
    assert shown is not None
    assert shown.startswith("$\\displaystyle \\begin{aligned}")


def test_html_escapes_what_users_wrote() -> None:
    f = hl.Func("f")
    f[x] = hl.select(x < 3, 1, 2)
    assert "<" not in re.sub(r"</?(table|caption|tr|th|td|br|details|summary|pre)>", "", f.explain()._repr_html_())


def test_text_is_there_without_sympy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "halide_core.bounds.explain.latex")
    monkeypatch.setitem(sys.modules, "sympy", None)
    explanation = chain().explain(input="in")
    assert str(explanation).startswith("input in")
    raised(hl.HalideError, lambda: explanation.latex() + "", "sympy", "halide-core[bounds]")
    assert explanation._repr_latex_() is None
    assert "<code>f.min.0 - 1</code>" in explanation._repr_html_()


@pytest.mark.uncertified("certifying loads z3")
def test_sympy_is_not_loaded_for_text() -> None:
    script = (
        "import sys, halide_core as hl\n"
        "x, f = hl.Var('x'), hl.Func('f')\n"
        "f[x] = x\n"
        "str(f.explain()); str(f.explain(loop='x')); f.bounds_query().to_smtlib(answered=True)\n"
        "assert 'sympy' not in sys.modules and 'z3' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, cwd=Path(__file__).resolve().parents[3])
