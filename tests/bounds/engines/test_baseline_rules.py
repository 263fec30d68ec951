"""Figure 2.10b, rule by rule: β₀ over paths that are made by hand, and over the query of a whole pipeline."""

from __future__ import annotations

import pytest

import halide_core as hl
from halide_core import ir
from halide_core.algorithm.model import Function, Image
from halide_core.analysis.simplify import simplify
from halide_core.bounds.engines.baseline import BaselineRanges
from halide_core.bounds.infer.oracles import oracle_of
from halide_core.bounds.query.answers import Answer, Engine
from halide_core.bounds.query.query import Choice, Define, ForAll, Path, Where, extract_query
from halide_core.errors import UNKNOWN_LOCATION
from halide_core.ir import ExprNode, HoleKind, Interval, i64
from halide_core.ir.printer import format_interval
from halide_core.ir.types import INT32, INT64
from halide_core.loop_nest import hole
from halide_core.lowering.driver import LoweringTrace, schedule
from halide_core.run.pipeline import Realizable

x, y, n = (ir.index_variable(name) for name in "xyn")
TOP = Path(None, None)


def over(low: int, length: int, var: ir.Variable = x, path: Path = TOP) -> Path:
    """∀ var ∈ (low, length), below a path."""
    return path.then(ForAll(var, Interval(i64(low), i64(length))))


def interval(e: ExprNode, path: Path) -> tuple[str, str]:
    """β₀'s interval of an expression: its least and greatest value, as text; ``None`` where it knows none."""
    ends = BaselineRanges().ends(e, path, TOP)
    low, high = (None if end is None else simplify(end) for end in (ends.low, ends.high))
    return repr(low), repr(high)


def answers(f: Realizable) -> list[Answer]:
    """β₀'s answers to a pipeline's query."""
    return oracle_of(Engine.BASELINE).answer(extract_query(schedule(f._request(), LoweringTrace()))).holes


def cpu(f: Realizable, name: str) -> str:
    """β₀'s compute bounds of a Func of one dimension and stage."""
    (found,) = [a for a in answers(f) if a.func.name == name and a.kind is HoleKind.CPU]
    return format_interval(found.interval)


# -- β₀ of a predicate


def test_forall_binds_the_variable_to_its_interval() -> None:
    assert interval(x, over(3, 5)) == ("3", "7")
    inner = over(0, 4, y, over(3, 5)).then(ForAll(n, Interval(x, y)))
    assert interval(n, inner) == ("3", "9")  # from the least x to the greatest x + y - 1


def test_conjunction_keeps_what_both_sides_ask_for() -> None:
    pure, g, f = hl.Var("x"), hl.Func("g"), hl.Func("f")
    g[pure] = pure
    g.compute_root()
    f[pure] = g[pure - 2] + g[3 * pure]
    assert cpu(f, "g").startswith("(min(f.min.0 - 2, f.min.0*3),")


def test_implication_is_taken_without_its_premise() -> None:
    guarded = over(0, 100).then(Where(ir.less(x, i64(10))))
    assert interval(x, guarded) == ("0", "99")


def test_exists_changes_nothing() -> None:
    f = Function("f", ("x",), (INT32,))
    assert interval(x, over(3, 5).then(Choice(f))) == interval(x, over(3, 5))


def test_let_binds_the_variable_to_the_interval_of_its_value() -> None:
    path = over(3, 5).then(Define(y, ir.add(ir.mul(x, i64(2)), i64(1)), None))
    assert interval(y, path) == ("7", "15")
    # Each variable ranges by itself: that y comes from x is forgotten.
    assert interval(ir.sub(y, ir.mul(x, i64(2))), path) == ("-7", "9")


def test_membership_widens_the_hole() -> None:
    pure, f = hl.Var("x"), hl.Func("f")
    f[pure] = 0
    f[3] = 1
    f.compute_root()
    reader = hl.Func("reader")
    reader[pure] = f[pure]
    # Written at what is asked for, and at 3.
    (memory,) = [a for a in answers(reader) if a.kind is HoleKind.MEM]
    start, end = "min(reader.min.0, 3)", "max(reader.min.0 + reader.extent.0, 4)"
    assert format_interval(memory.interval) == f"({start}, {end} - {start})"
    holes = hole(HoleKind.CPU, Function("k", ("x",), (INT32,)), 0, 0)
    ranges = BaselineRanges()
    ranges.record(holes.min, i64(4))
    assert ranges.use(holes.min) is holes.min  # it stands for itself, as it is bound by then


# -- the interval of an expression


def test_sum_adds_the_ends() -> None:
    path = over(0, 4, y, over(3, 5))
    assert interval(ir.add(x, y), path) == ("3", "10")
    assert interval(ir.sub(x, y), path) == ("0", "7")
    assert interval(ir.sub(x, x), path) == ("-4", "4")  # correlated terms don't cancel


def test_other_operators_take_the_corners() -> None:
    path = over(-2, 4, y, over(3, 5))
    assert interval(ir.mul(x, y), path) == ("-14", "7")
    assert interval(ir.minimum(x, y), path) == ("-2", "1")
    assert interval(ir.maximum(x, i64(5)), path) == ("5", "7")
    assert interval(ir.mod(x, i64(4)), path) == ("0", "3")
    assert interval(ir.Select(INT64, ir.less(x, y), x, y), path) == ("-2", "7")


def test_quotient_has_the_magnitude_of_its_numerator() -> None:
    assert interval(ir.div(x, y), over(3, 5)) == ("-7", "7")
    assert interval(ir.div(x, i64(100)), over(3, 5)) == ("-7", "7")
    # Numerators that are negative throughout, and the end that the figure's length 2M - 1 leaves out.
    assert interval(ir.div(x, i64(-1)), over(-7, 5)) == ("-7", "7")


def test_access_may_be_anything() -> None:
    image = Image("in", INT32, 1, UNKNOWN_LOCATION)
    read = ir.Cast(INT64, ir.Access(INT32, image, (x,), 0, 0))
    assert interval(read, over(0, 4)) == ("None", "None")
    assert interval(ir.minimum(read, i64(9)), over(0, 4)) == ("None", "9")


def test_variable_has_the_interval_that_it_is_bound_to() -> None:
    assert interval(x, over(3, 5)) == ("3", "7")
    assert interval(y, over(3, 5)) == ("y", "y")  # of a loop outside: it stays symbolic


def test_constant_is_itself() -> None:
    assert interval(i64(11), over(3, 5)) == ("11", "11")


def test_baseline_refuses_what_it_can_not_bound() -> None:
    pure, f = hl.Var("x"), hl.Func("f")
    image = hl.ImageParam(hl.Int(32), 1, "in")
    f[pure] = image[image[pure]]
    with pytest.raises(hl.BoundsError, match="has no bound"):
        answers(f)
