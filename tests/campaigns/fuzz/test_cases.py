"""Cases as data: the same ones for the same seed, source that says what they are, types that are what terms claim."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings

import pytest

import halide_core as hl
from tests.campaigns.fuzz.case import Case, Definition
from tests.campaigns.fuzz.draw import draw
from tests.campaigns.fuzz.draw_algorithm import used_items
from tests.campaigns.fuzz.draw_terms import TYPES
from tests.campaigns.fuzz.terms import Form, call, cast, infix, name, number, prefix, read, reduction, shift, source

SEVERAL = range(60)


@pytest.fixture(autouse=True)
def quiet() -> None:
    """Drawn programs do odd things: an update that hides another, a number that float32 rounds."""
    warnings.simplefilter("ignore")


def test_case_is_the_same_in_another_process() -> None:
    code = (
        "from tests.campaigns.fuzz.draw import draw;print(hash('x'), *[draw(5, i).source() for i in range(8)], sep='')"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True, text=True, check=True,
        ).stdout.partition("def")[2]
        for seed in ("1", "2")
    }  # fmt: skip
    assert texts == {"".join(draw(5, i).source() for i in range(8)).partition("def")[2] + "\n"}


def test_cases_differ_by_seed_and_number() -> None:
    assert len({draw(seed, i).source() for seed in (1, 2) for i in range(20)}) == 40


def test_case_survives_a_journey_to_another_process() -> None:
    for i in SEVERAL:
        case = draw(2, i)
        assert pickle.loads(pickle.dumps(case)) == case


def test_definitions_have_the_types_that_terms_claim() -> None:
    for i in SEVERAL:
        case = draw(3, i)
        space: dict[str, object] = {}
        text = case.source().replace("    return result", "    return locals()", 1)
        exec("import numpy as np\nimport halide_core as hl\n" + text, space)
        made = space["build"](False)  # type: ignore[operator]  # the function that the source defines
        for item in case.items:
            if isinstance(item, Definition):
                assert made[item.name].types() == [value.type for value in item.terms()], item.lines()


def test_every_case_builds_with_and_without_its_schedule() -> None:
    for i in SEVERAL:
        case = draw(4, i)
        for scheduled in (False, True):
            outputs, windows = case.build(scheduled=scheduled)
            assert [f.name() for f in outputs] == list(case.outputs)
            assert [tuple(w) for w in windows] == list(case.windows)
        directives = sum(len(f.function.directives) for f in case.build(scheduled=False)[0])
        assert directives == 0


def test_line_of_a_directive_is_blamed_on_it() -> None:
    case = next(c for c in map(draw, [6] * 40, range(40)) if len(c.directives) > 3)
    lines = case.source().splitlines()
    for i, told in enumerate(case.directives):
        line = next(n for n, text in enumerate(lines, 1) if text.strip() == told.line())
        assert case.blamed(hl.errors.Location(case.file, line)) == told.method, i
    assert not case.blamed(hl.errors.Location(case.file, 2))
    assert not case.blamed(hl.errors.Location("elsewhere.py", line))


def test_items_that_nothing_needs_are_dropped() -> None:
    i32 = hl.Int(32)
    items = tuple(Definition(n, ("x",), v) for n, v in [("f", number(1, i32)), ("g", read("f", i32, name("x")))])
    case = Case("0/0", items, ("f",), (((0, 1),),))
    assert [item.name for item in used_items(case)] == ["f"]


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (infix("+", name("x"), number(-3, hl.Int(32))), "x + -3"),
        (infix("+", number(1, hl.Int(32)), number(2, hl.Int(32))), "hl.i32(1) + 2"),
        (infix("*", number(2, hl.Int(32)), infix("-", name("x"), name("y"))), "2 * (x - y)"),
        (shift("<<", name("p", hl.UInt(8)), number(2, hl.Int(32))), "p << hl.i32(2)"),
        (prefix("~", number(5, hl.Int(32))), "~hl.i32(5)"),
        (read("f", hl.Int(8)), "f[()]"),
        (cast(hl.Bool(), read("f", hl.Int(8), name("x"))), "hl.cast(hl.Bool(), f[x])"),
        (call("mux", hl.Int(32), name("x"), number(1, hl.Int(32))), "hl.mux(x, [hl.i32(1)])"),
        (reduction("sum", "r", name("r[0]", of="r")), "hl.sum(r, r[0])"),
        (number(float("nan"), hl.Float(32)), 'hl.cast(hl.Float(32), float("nan"))'),
    ],
)
def test_term_is_written_as(term, text: str) -> None:
    assert source(term) == text


def test_number_keeps_its_type_and_value() -> None:
    for kind in TYPES:
        values = (0, 1) if kind.is_bool() else (-2.5, 1e9) if kind.is_float() else kind.range
        for value in values:
            made = hl.Expr(eval(source(number(value, kind)), {"hl": hl}))  # noqa: S307  # what it writes
            assert made.type() is kind
            assert number(value, kind).form is Form.NUMBER
