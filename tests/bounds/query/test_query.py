"""The bounds query 𝓑 (figure 2.10a and its corrections), rule by rule, as it prints.

Each test is a program no larger than the rule needs, and the conjuncts that the rule must give, word for word.
"""

from __future__ import annotations

from dataclasses import replace

import halide_core as hl
from halide_core import ir
from halide_core.bounds.query.conjuncts import format_conjunct, format_query, list_conjuncts
from halide_core.bounds.query.query import Rule, extract_query
from halide_core.loop_nest import Guard, Program, StageKey
from halide_core.lowering.driver import LoweringTrace, schedule
from halide_core.run.pipeline import Realizable

x, y, xo, xi, t = (hl.Var(n) for n in ("x", "y", "xo", "xi", "t"))
Tail = hl.TailStrategy

WINDOW = "forall f.s0.x in (?cpu f.s0.x.min, ?cpu f.s0.x.len): "
TILES = "forall f.s0.x.xo in (0, (?cpu f.s0.x.len + 3)/4): forall f.s0.x.xi in (0, 4): "
ROUNDED = f"{TILES}let f.s0.x = ?cpu f.s0.x.min + f.s0.x.xo*4 + f.s0.x.xi: "


def program(f: Realizable) -> Program:
    """The program with holes, after scheduling."""
    return schedule(f._request(), LoweringTrace())


def text(f: Realizable) -> list[str]:
    """The whole query, a line for each conjunct and each place."""
    return str(f.bounds_query()).splitlines()


def conjuncts(f: Realizable, rule: Rule) -> list[str]:
    """The conjuncts that one rule gives."""
    return of_rule(program(f), rule)


def of_rule(scheduled: Program, rule: Rule) -> list[str]:
    """The conjuncts that one rule gives for a program, without the rule's own name at the end."""
    found = [c for c in list_conjuncts(extract_query(scheduled)) if c.rule is rule]
    return [format_conjunct(c).replace(f"   [{rule.value}]", "") for c in found]


def identity() -> hl.Func:
    """``f[x] = x``."""
    f = hl.Func("f")
    f[x] = x
    return f


def image() -> hl.ImageParam:
    """A one-dimensional int32 input."""
    return hl.ImageParam(hl.Int(32), 1, "im")


def producer() -> hl.Func:
    """``g[x] = x``, computed at the root."""
    g = hl.Func("g")
    g[x] = x
    g.compute_root()
    return g


# -- pipeline, sequence, allocate, label


def test_query_of_a_pipeline_covers_every_parameter_and_window() -> None:
    n, f = hl.Param(hl.Int(32), "n"), hl.Func("f")
    f[x] = x + n
    assert text(f)[0] == "forall n, the window of f:"
    assert conjuncts(f, Rule.WINDOW) == ["window of f in ?cpu f.s0"]


def test_query_of_a_sequence_is_the_conjunction_of_its_parts() -> None:
    g, f = producer(), hl.Func("f")
    f[x] = g[x] + 1
    whole = text(f)
    assert whole == [
        "forall the window of f:",
        "exists ?cpu f at the root:",
        "    window of f in ?cpu f.s0   [window]",
        "    0 <= ?cpu f.s0.x.len   [length]",
        f"    {WINDOW}(f.s0.x) is an iteration of f.s0   [loops]",
        f"    {WINDOW}f[f.s0.x] in ?mem f   [write]",
        "    ?cpu f.s0 in ?mem f   [memory]",
        "exists ?mem g, ?cpu g at the root:",
        f"    {WINDOW}g[f.s0.x] in ?cpu g.s0   [value]",
        "    0 <= ?cpu g.s0.x.len   [length]",
        "    forall g.s0.x in (?cpu g.s0.x.min, ?cpu g.s0.x.len): (g.s0.x) is an iteration of g.s0   [loops]",
        "    forall g.s0.x in (?cpu g.s0.x.min, ?cpu g.s0.x.len): g[g.s0.x] in ?mem g   [write]",
        "    ?cpu g.s0 in ?mem g   [memory]",
    ]


def test_query_of_allocations_and_labels_binds_holes_where_they_stand() -> None:
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x
    f[x, y] = g[x - 1] + g[x] + g[x + 1]
    g.compute_at(f, x).store_at(f, y)
    assert "exists ?mem g inside f.s0.y, ?cpu g inside f.s0.x:" in text(f)
    # Below its label one point is asked for at a time; its memory has to do for a whole row.
    assert conjuncts(f, Rule.VALUE) == ["g[f.s0.x - 1 | f.s0.x + 1] in ?cpu g.s0"]
    assert conjuncts(f, Rule.WRITE)[1] == (
        f"{WINDOW}forall g.s0.x in (?loop g.x.min, ?loop g.x.len): g[g.s0.x] in ?mem g"
    )


# -- let, if, for, assert


def test_query_of_a_let_binds_it_on_the_way_down() -> None:
    f, g = hl.Func("f"), producer()
    f[x] = g[x]
    f.split(x, xo, xi, 4, Tail.RoundUp)
    assert conjuncts(f, Rule.WRITE)[0] == f"{ROUNDED}f[f.s0.x] in ?mem f"


def test_query_of_a_let_asks_for_what_its_value_reads() -> None:
    g, f = producer(), identity()
    both = program(hl.Pipeline([g, f]))
    key = StageKey(both.named["f"], 0)
    nest = both.nests[key]
    read = ir.cast(ir.ZERO.type, ir.Access(both.named["g"].types[0], both.named["g"], (nest.loops[0].var,), 0, 0))
    changed = both.with_nest(key, replace(nest, steps=(ir.Let(ir.index_variable("k"), read, None),)))
    assert of_rule(changed, Rule.LET) == [f"{WINDOW}g[f.s0.x] in ?cpu g.s0"]
    assert of_rule(changed, Rule.WRITE)[0] == f"{WINDOW}let k = int64(g[f.s0.x]): f[f.s0.x] in ?mem f"


def test_query_of_a_guard_asks_for_what_it_reads_and_assumes_it_below() -> None:
    g, f = producer(), identity()
    both = program(hl.Pipeline([g, f]))
    key = StageKey(both.named["f"], 0)
    nest = both.nests[key]
    read = ir.Access(both.named["g"].types[0], both.named["g"], (nest.loops[0].var,), 0, 0)
    guard = Guard(ir.less(ir.const(0, read.type), read))
    changed = both.with_nest(key, replace(nest, steps=(guard,)))
    assert of_rule(changed, Rule.CONDITION) == [f"{WINDOW}g[f.s0.x] in ?cpu g.s0"]
    assert of_rule(changed, Rule.WRITE)[0] == f"{WINDOW}0 < g[f.s0.x] => f[f.s0.x] in ?mem f"


def test_query_of_an_if_asks_for_what_it_reads_and_assumes_it_below() -> None:
    g, f, r = producer(), hl.Func("f"), hl.RDom([(0, 10)], "r")
    r.where(g[r.x] > 0)
    f[x] = 0
    f[x] += image()[r.x]
    loops = "forall f.s1.x in (?cpu f.s1.x.min, ?cpu f.s1.x.len): forall f.s1.r.x in (0, 10): "
    assert conjuncts(f, Rule.CONDITION) == [f"{loops}g[f.s1.r.x] in ?cpu g.s0"]
    assert conjuncts(f, Rule.VALUE) == [f"{loops}0 < g[f.s1.r.x] => im[f.s1.r.x] in ?input im"]
    assert conjuncts(f, Rule.WRITE)[1] == f"{loops}0 < g[f.s1.r.x] => f[f.s1.x] in ?mem f"


def test_query_of_an_if_inside_an_index_of_a_condition() -> None:
    g, f, r = producer(), hl.Func("f"), hl.RDom([(0, 10)], "r")
    r.where(image()[g[r.x] % 4] > 0)
    f[x] = 0
    f[x] += r.x
    loops = "forall f.s1.x in (?cpu f.s1.x.min, ?cpu f.s1.x.len): forall f.s1.r.x in (0, 10): "
    assert conjuncts(f, Rule.CONDITION) == [
        f"{loops}g[f.s1.r.x] in ?cpu g.s0",
        f"{loops}im[int64(g[f.s1.r.x])%4] in ?input im",
    ]


def test_query_of_a_for_asks_for_a_length_and_holds_for_every_iteration() -> None:
    n, f = hl.Param(hl.Int(32), "n"), hl.Func("f")
    r = hl.RDom([(2, n), (0, 5)], "r")
    f[x] = 0
    f[x] += image()[r.x]
    outside = "forall f.s1.x in (?cpu f.s1.x.min, ?cpu f.s1.x.len): forall f.s1.r.y in (0, 5): "
    assert conjuncts(f, Rule.LENGTH) == [
        "0 <= ?cpu f.s0.x.len",
        "0 <= int64(n) => 0 <= ?cpu f.s1.x.len",
        f"0 <= int64(n) => {outside}0 <= int64(n)",
    ]
    inside = f"{outside}forall f.s1.r.x in (2, int64(n)): "
    assert conjuncts(f, Rule.VALUE) == [f"0 <= int64(n) => {inside}im[f.s1.r.x] in ?input im"]


def test_query_of_an_assertion_is_its_condition() -> None:
    f = identity()
    f.bound(x, 0, 16).split(x, xo, xi, 4, Tail.ShiftInwards)
    assert [line for line in text(f) if "assert" in line] == [
        "    4 <= ?cpu f.s0.x.len   [assert: f.split(x, xo, xi, 4, TailStrategy.ShiftInwards)]",
        "    ?cpu f.s0.x.min == 0   [assert: f.bound(x, 0, 16)]",
        "    ?cpu f.s0.x.len == 16   [assert: f.bound(x, 0, 16)]",
    ]


# -- assignment


def test_query_of_an_assignment_asks_for_memory_and_for_what_the_value_reads() -> None:
    f = hl.Func("f")
    f[x] = image()[x - 2] + image_at(x + 3)
    assert conjuncts(f, Rule.WRITE) == [f"{WINDOW}f[f.s0.x] in ?mem f"]
    assert conjuncts(f, Rule.VALUE) == [
        f"{WINDOW}im[f.s0.x - 2] in ?input im",
        f"{WINDOW}other[f.s0.x + 3] in ?input other",
    ]


def image_at(at: hl.Expr) -> hl.Expr:
    """A point of a second input."""
    return hl.ImageParam(hl.Int(32), 1, "other")[at]


def test_query_of_a_rounded_assignment_asks_outside_the_compute_bounds_for_memory_only() -> None:
    g, f = producer(), hl.Func("f")
    f[x] = g[x + 1]
    f.split(x, xo, xi, 4, Tail.RoundUp)
    inside = "?cpu f.s0.x.min <= f.s0.x => f.s0.x < ?cpu f.s0.x.min + ?cpu f.s0.x.len => "
    assert conjuncts(f, Rule.VALUE) == [f"{ROUNDED}{inside}g[f.s0.x + 1] in ?cpu g.s0"]
    assert conjuncts(f, Rule.OUTSIDE) == [f"{ROUNDED}g[f.s0.x + 1] in ?mem g"]


def test_query_of_an_access_inside_an_index_asks_for_it_always() -> None:
    g, f = producer(), hl.Func("f")
    f[x] = image()[hl.clamp(g[x], 0, 9)]
    f.split(x, xo, xi, 4, Tail.RoundUp)
    # Rounding up runs into points without a value: what steers an index there must have one all the same.
    assert conjuncts(f, Rule.INDEX) == [f"{ROUNDED}g[f.s0.x] in ?cpu g.s0"]


def test_query_of_an_access_inside_the_index_that_is_written_asks_for_it_always() -> None:
    g, f, r = hl.Func("g"), hl.Func("f"), hl.RDom([(0, 10)], "r")
    g[x] = hl.u8(x)
    g.compute_root()
    f[x] = 0
    f[hl.i32(g[r.x])] = 1
    assert conjuncts(f, Rule.INDEX) == ["forall f.s1.r.x in (0, 10): g[f.s1.r.x] in ?cpu g.s0"]
    assert conjuncts(f, Rule.WRITE)[1] == "forall f.s1.r.x in (0, 10): f[int64(g[f.s1.r.x])] in ?mem f"


def test_query_lists_an_access_once_that_stands_on_both_sides() -> None:
    f, r = hl.Func("f"), hl.RDom([(0, 10)], "r")
    f[x] = 0
    f[hl.clamp(image()[r.x], 0, 9)] += 1
    assert conjuncts(f, Rule.INDEX) == ["forall f.s1.r.x in (0, 10): im[f.s1.r.x] in ?input im"]


# -- corrections


def test_query_keeps_what_a_stage_does_not_write() -> None:
    f = hl.Func("f")
    f[x] = 0
    f[3] = 1
    f[4] = 2
    assert conjuncts(f, Rule.STAGES) == ["?cpu f.s2 in ?cpu f.s1", "?cpu f.s1 in ?cpu f.s0"]


def test_query_keeps_compute_bounds_in_memory() -> None:
    g, f = producer(), hl.Func("f")
    f[x] = g[x]
    assert conjuncts(f, Rule.MEMORY) == ["?cpu f.s0 in ?mem f", "?cpu g.s0 in ?mem g"]


def test_query_of_a_scan_keeps_what_the_stage_itself_wrote() -> None:
    f, r = hl.Func("f"), hl.RDom([(1, 9)], "r")
    f[x] = 0
    f[r.x] = f[r.x - 1] + 1
    assert conjuncts(f, Rule.VALUE) == ["forall f.s1.r.x in (1, 9): f[f.s1.r.x - 1] in ?cpu f.s1"]


def test_query_covers_compute_bounds_by_loops_that_were_not_split() -> None:
    assert conjuncts(identity(), Rule.LOOPS) == [f"{WINDOW}(f.s0.x) is an iteration of f.s0"]


def test_query_covers_compute_bounds_by_the_iterations_of_a_split() -> None:
    f = identity()
    f.split(x, xo, xi, 4, Tail.GuardWithIf)
    (covered,) = [c for c in list_conjuncts(extract_query(program(f))) if c.rule is Rule.LOOPS]
    assert format_conjunct(covered) == (
        f"{WINDOW}let f.s0.x.xo = (f.s0.x - ?cpu f.s0.x.min)/4: "
        "let f.s0.x.xi = f.s0.x - ?cpu f.s0.x.min - f.s0.x.xo*4: "
        "(f.s0.x.xo, f.s0.x.xi) is an iteration of f.s0   [loops]"
    )
    told = repr(covered.conclusion)
    assert "f.s0.x.xi < 4" in told
    assert "f.s0.x.xo < (?cpu f.s0.x.len + 3)/4" in told
    assert "f.s0.x == ?cpu f.s0.x.min + f.s0.x.xo*4 + f.s0.x.xi" in told
    assert "f.s0.x < ?cpu f.s0.x.min + ?cpu f.s0.x.len" in told  # the guard lets the point through


def test_query_covers_compute_bounds_by_the_iterations_of_a_fused_loop() -> None:
    f = hl.Func("f")
    f[x, y] = x
    f.fuse(x, y, t)
    (told,) = conjuncts(f, Rule.LOOPS)
    assert told.endswith("*?cpu f.s0.x.len + f.s0.x - ?cpu f.s0.x.min: (f.s0.x.t) is an iteration of f.s0")


def test_query_covers_the_whole_domain_of_a_reduction() -> None:
    f, r = hl.Func("f"), hl.RDom([(0, 6), (1, 7)], "r")
    f[x] = 0
    f[x] += r.x * r.y
    assert conjuncts(f, Rule.LOOPS)[1] == (
        "forall f.s1.x in (?cpu f.s1.x.min, ?cpu f.s1.x.len): forall f.s1.r.x in (0, 6): forall f.s1.r.y in (1, 7): "
        "(f.s1.x, f.s1.r.y, f.s1.r.x) is an iteration of f.s1"
    )


# -- the object that users hold


def test_query_is_there_when_it_has_no_answer() -> None:
    f = hl.Func("f")
    f[x] = hl.ImageParam(hl.Int(32), 1, "im")[image_at(x)]
    query = f.bounds_query()
    assert "im[int64(other[f.s0.x])] in ?input im   [value]" in str(query)
    assert "(check-sat)" in query.to_smtlib()


def test_query_of_an_endless_expression_is_short() -> None:
    f, e = hl.Func("f"), x + 0
    for _ in range(60):
        e = e + e
    f[x] = image()[hl.clamp(e, 0, 9)]
    assert len(str(f.bounds_query())) < 5_000
    assert len(f.bounds_query().to_smtlib()) < 50_000


def test_query_text_does_not_depend_on_what_was_made_before() -> None:
    f, g = identity(), identity()
    f.split(x, xo, xi, 4)
    g.split(x, xo, xi, 4)
    assert format_query(extract_query(program(f))) == str(g.bounds_query())
