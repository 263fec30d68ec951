"""Figure 2.9, rule by rule: the program with holes that an algorithm is lowered to before it is scheduled."""

from __future__ import annotations

import halide_core as hl
from halide_core import ir
from halide_core.algorithm.snapshot import snapshot
from halide_core.ir import Access, Provide
from halide_core.ir.printer import format_stmt
from halide_core.ir.visitor import stmt_exprs, subexpressions, walk
from halide_core.loop_nest import Program, assemble
from halide_core.lowering.initial import lower_initial

x, y = hl.Var("x"), hl.Var("y")


def lowered(f: hl.Func) -> Program:
    """𝓛 of a pipeline, with nothing inlined."""
    return lower_initial(snapshot(f._functions()))


def text(f: hl.Func) -> list[str]:
    """The tree as lines."""
    return format_stmt(assemble(lowered(f))).splitlines()


def test_pipeline_is_the_sequence_of_its_funcs() -> None:
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x
    f[x] = g[x] + 1
    assert text(f) == [
        "allocate g((?mem g.x.min, ?mem g.x.len))",
        "label g:",
        "    label g.s0:",
        "        for g.s0.x in (?cpu g.s0.x.min, ?cpu g.s0.x.len):",
        "            g[g.s0.x] = int32(g.s0.x)",
        "label f:",
        "    label f.s0:",
        "        for f.s0.x in (?cpu f.s0.x.min, ?cpu f.s0.x.len):",
        "            f[f.s0.x] = g[f.s0.x] + 1",
    ]  # the output's memory is the caller's


def test_body_is_the_sequence_of_its_stages() -> None:
    f = hl.Func("f")
    f[x] = 0
    f[x] += 1
    f[x] += 2
    assert [line.strip() for line in text(f) if "label" in line] == [
        "label f:",
        "label f.s0:",
        "label f.s1:",
        "label f.s2:",
    ]


def test_stage_is_pure_loops_around_reduction_loops_around_a_guarded_assignment() -> None:
    f, r = hl.Func("f"), hl.RDom([(0, 3), (4, 5)], "r")
    r.where(r.x < r.y)
    f[x, y] = 0
    f[x, y] += r.x
    assert [line.strip() for line in text(f)[6:]] == [
        "for f.s1.y in (?cpu f.s1.y.min, ?cpu f.s1.y.len):",
        "for f.s1.x in (?cpu f.s1.x.min, ?cpu f.s1.x.len):",
        "for f.s1.r.y in (4, 5):",
        "for f.s1.r.x in (0, 3):",
        "if int32(f.s1.r.x) < int32(f.s1.r.y):",
        "f[f.s1.x, f.s1.y] = f[f.s1.x, f.s1.y] + int32(f.s1.r.x)",
    ]


def test_domain_without_variables_has_no_loop() -> None:
    f = hl.Func("f")
    f[x] = 0
    f[7] = 1
    assert text(f)[-2:] == ["    label f.s1:", "        f[7] = 1"]


def test_dimension_that_a_stage_does_not_mention_has_no_loop() -> None:
    f, r = hl.Func("f"), hl.RDom([(0, 3)], "r")
    f[x, y] = 0
    f[r.x, y] = 1
    assert [line.strip() for line in text(f)[-3:-1]] == [
        "for f.s1.y in (?cpu f.s1.y.min, ?cpu f.s1.y.len):",
        "for f.s1.r.x in (0, 3):",
    ]


def test_access_of_the_func_itself_means_the_stage_before() -> None:
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x
    g[x] += 1
    f[x] = g[x]
    f[x] += g[x]
    f[x] += 3
    stages = []
    for stmt in walk(assemble(lowered(f))):
        if isinstance(stmt, Provide):
            reads = [e for e in subexpressions(stmt_exprs(stmt)) if isinstance(e, Access)]
            stages.append((stmt.func.name, stmt.stage, [(e.callee.name, e.stage) for e in reads]))
    assert stages == [
        ("g", 0, []),
        ("g", 1, [("g", 0)]),
        ("f", 0, [("g", ir.LAST_STAGE)]),
        ("f", 1, [("f", 0), ("g", ir.LAST_STAGE)]),
        ("f", 2, [("f", 1)]),
    ]


def test_holes_say_what_they_are_of() -> None:
    f = hl.Func("f")
    f[x] = 0
    f[x] += 1
    g = hl.Func("g")
    g[x] = f[x]
    program = lowered(g)
    exprs = [e for stmt in walk(assemble(program)) for e in subexpressions(stmt_exprs(stmt))]
    holes = [e for e in exprs if isinstance(e, ir.Hole)]
    told = {(h.kind.value, h.func.name, h.stage, h.specialization, h.dim, h.end.value) for h in holes}
    ends = ("min", "len")
    assert told == {
        *(("mem", "f", 0, 0, 0, end) for end in ends),
        *(("cpu", name, stage, 0, 0, end) for name, stage in (("f", 0), ("f", 1), ("g", 0)) for end in ends),
    }
