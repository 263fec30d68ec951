"""The query as SMT-LIB 2: z3 reads the scripts, and refutes every conjunct of those with answers."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
import z3

import halide_core as hl
from halide_core import ir
from halide_core.algorithm.model import Image
from halide_core.analysis import interval
from halide_core.analysis.simplify import simplify
from halide_core.bounds.query.answers import Answer
from halide_core.bounds.query.smtlib import answered_script
from halide_core.bounds.query.smtlib_terms import Symbols, Writer
from halide_core.errors import UNKNOWN_LOCATION
from halide_core.ir import Access, Binary, BinaryOp, Cast, ExprNode, Hole, HoleKind, Interval, Not, Select
from halide_core.ir.types import BOOL, INT32, Type, UInt
from halide_core.reference.scalar_ops import binary_function, cast_function
from halide_core.run.pipeline import Realizable
from tests.support.dumps import blur, histogram, tiled_blur, traced

x, y, xo, xi, yo, yi = (hl.Var(n) for n in ("x", "y", "xo", "xi", "yo", "yi"))
Tail = hl.TailStrategy
STEPS = 50_000_000
"""z3's budget for a script, in its own steps."""


def run(script: str) -> list[str]:
    """z3's answers, one for each ``(check-sat)``."""
    context = z3.Context()
    said: str = z3.Z3_eval_smtlib2_string(context.ref(), f"(set-option :rlimit {STEPS})\n{script}")
    return said.split("\n")[:-1]


def told(script: str) -> list[str]:
    """The comment above each ``(check-sat)``."""
    chunks = script.split("(check-sat)")[:-1]
    return [[line for line in chunk.splitlines() if line.startswith(";")][-1] for chunk in chunks]


def consumer(g: hl.Func, value: Callable[[hl.Func], hl.Expr]) -> hl.Func:
    """``f[x] = value(g)``."""
    f = hl.Func("f")
    f[x] = value(g)
    return f


def ramp() -> hl.Func:
    """``g[x] = x*3``, computed at the root."""
    g = hl.Func("g")
    g[x] = x * 3
    g.compute_root()
    return g


def image(type: Type | None = None, dimensions: int = 1) -> hl.ImageParam:
    """An input called ``im``."""
    return hl.ImageParam(type or hl.Int(32), dimensions, "im")


def plain_blur() -> Realizable:
    bx, by, _x, _y = blur()
    bx.compute_root()
    return by


def vectorized_tiles() -> Realizable:
    return tiled_blur()[1]


def histogram_of_an_image() -> Realizable:
    return histogram()[1]


def rounded_stencil() -> Realizable:
    g = ramp()
    f = consumer(g, lambda g: g[x - 1] + g[x + 1])
    f.split(x, xo, xi, 8, Tail.RoundUp)
    g.compute_at(f, xo).split(x, xo, xi, 4, Tail.RoundUp)
    return f


def guarded_stencil() -> Realizable:
    g = ramp()
    f = consumer(g, lambda g: g[x] + g[x + 2])
    f.split(x, xo, xi, 8, Tail.GuardWithIf).parallel(xo)
    g.compute_at(f, xo)
    return f


def pyramid() -> Realizable:
    down, up = hl.Func("down"), hl.Func("up")
    im = image()
    down[x] = im[2 * x] + im[2 * x + 1]
    up[x] = down[x / 2] + down[(x + 1) / 2]
    down.compute_root()
    return up


def scan() -> Realizable:
    f, r = hl.Func("f"), hl.RDom([(1, 9)], "r")
    f[x] = image()[x]
    f[r.x] = f[r.x - 1] + f[r.x]
    f.compute_root()
    return consumer(f, lambda f: f[x] + 1)


def triangle() -> Realizable:
    n = hl.Param(hl.Int(32), "n")
    r = hl.RDom([(0, n), (0, n)], "r")
    r.where(r.x <= r.y)
    f = hl.Func("f")
    f[x] = 0
    f[x] += image(dimensions=2)[r.x, r.y]
    return f


def matrix_product() -> Realizable:
    a, b = (hl.ImageParam(hl.Float(32), 2, n) for n in "ab")
    c, r = hl.Func("c"), hl.RDom([(0, a.width())], "r")
    c[x, y] = 0.0
    c[x, y] += a[r.x, y] * b[x, r.x]
    c.update().tile(x, y, xi, yi, 8, 4)
    return c


def gather_by_a_table() -> Realizable:
    table, im = hl.ImageParam(hl.UInt(16), 1, "table"), image(hl.UInt(8))
    g = hl.Func("g")
    g[x] = hl.u8(im[x] / 2 + 3)
    g.compute_root()
    return consumer(g, lambda g: table[hl.i32(g[x])])


def gather_by_floats() -> Realizable:
    im, weights = image(hl.Float(32)), hl.ImageParam(hl.Int(32), 1, "weights")
    return consumer(ramp(), lambda g: weights[hl.clamp(hl.i32(im[x] * 3.5), 0, 255)])


def predicate_on_floats() -> Realizable:
    im, f, r = image(hl.Float(32)), hl.Func("f"), hl.RDom([(0, 20)], "r")
    r.where(im[r.x] > 0.5)
    f[x] = 0
    f[hl.clamp(hl.i32(im[r.x]), 0, 15)] += 1
    return f


def bounded() -> Realizable:
    g = ramp()
    f = consumer(g, lambda g: g[x + 1])
    f.bound(x, 0, 64).split(x, xo, xi, 16)
    g.compute_at(f, xo)
    return f


def stored_outside() -> Realizable:
    g, f = ramp(), hl.Func("f")
    f[x, y] = g[x + y] + g[x + y + 1]
    g.compute_at(f, x).store_at(f, y)
    return f


def two_outputs() -> Realizable:
    g = ramp()
    h = hl.Func("h")
    h[x] = g[x + 5]
    return hl.Pipeline([consumer(g, lambda g: g[x - 5]), h])


def parameters() -> Realizable:
    n = hl.Param(hl.UInt(8), "n")
    return consumer(ramp(), lambda g: g[x + hl.i32(n) * 2] + g[x % 16 + hl.i32(n)])


PROGRAMS = [
    plain_blur,
    vectorized_tiles,
    histogram_of_an_image,
    rounded_stencil,
    guarded_stencil,
    pyramid,
    scan,
    triangle,
    matrix_product,
    gather_by_a_table,
    gather_by_floats,
    predicate_on_floats,
    bounded,
    stored_outside,
    two_outputs,
    parameters,
]


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_answered_script_is_refuted_conjunct_by_conjunct(make: Callable[[], Realizable]) -> None:
    script = make().bounds_query().to_smtlib(answered=True)
    said = run(script)
    wrong = [t for t, s in zip(told(script), said, strict=True) if s != "unsat"]
    assert not wrong
    assert len(said) >= 6


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_answered_script_takes_nothing_for_granted_that_is_impossible(make: Callable[[], Realizable]) -> None:
    script = make().bounds_query().to_smtlib(answered=True)
    head = script[: script.index("(push 1)")]
    assert run(f"{head}\n(check-sat)") == ["sat"]


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_open_script_is_read_by_z3(make: Callable[[], Realizable]) -> None:
    script = make().bounds_query().to_smtlib()
    assertions = z3.parse_smt2_string(script, ctx=z3.Context())
    assert len(assertions) >= script.count(":named")
    assert script.count("(check-sat)") == 1


def test_open_script_has_an_answer_for_a_window() -> None:
    f = hl.Func("f")
    f[x] = x
    script = f.bounds_query().to_smtlib()
    window = "(assert (and (= |f.min.0| 5) (= |f.extent.0| 10)))\n(check-sat)"
    assert run(script.replace("(check-sat)", window)) == ["sat"]


def test_open_script_has_no_answer_that_is_too_small() -> None:
    g = ramp()
    f = consumer(g, lambda g: g[x - 1] + g[x + 1])
    script = f.bounds_query().to_smtlib()
    given = "(assert (and (= |f.min.0| 0) (= |f.extent.0| 10) (= |?cpu f.s0.x.min| 0) (= |?cpu f.s0.x.len| 10)))\n"
    exact = "(assert (and (= |?cpu g.s0.x.min| (- 1)) (= |?cpu g.s0.x.len| 12)))\n(check-sat)"
    short = "(assert (and (= |?cpu g.s0.x.min| (- 1)) (= |?cpu g.s0.x.len| 11)))\n(check-sat)"
    assert run(script.replace("(check-sat)", given + exact)) == ["sat"]
    assert run(script.replace("(check-sat)", given + short)) == ["unsat"]


def test_open_script_makes_holes_functions_of_the_loops_around_them() -> None:
    g, f = ramp(), hl.Func("f")
    f[x, y] = g[x]
    g.compute_at(f, x).store_at(f, y)
    script = f.bounds_query().to_smtlib()
    assert "(declare-fun |?cpu f.s0.x.min| () Int)" in script
    assert "(declare-fun |?mem g.x.min| (Int) Int)" in script
    assert "(declare-fun |?cpu g.s0.x.min| (Int Int) Int)" in script


# -- a wrong answer is found


def _answers(f: Realizable, change: Callable[[Answer], Answer]) -> tuple[list[str], list[str]]:
    """The script's verdicts, and the comments above them, with changed answers."""
    trace = traced(f)
    assert trace.query is not None and trace.answers is not None
    trace.answers.holes[:] = [change(a) for a in trace.answers.holes]
    script = answered_script("f", trace.query, trace.answers)
    return run(script), told(script)


@pytest.mark.parametrize("make", PROGRAMS[:6], ids=lambda make: make.__name__)
@pytest.mark.parametrize("kind", [HoleKind.CPU, HoleKind.MEM])
def test_answered_script_finds_an_answer_that_is_too_short(make: Callable[[], Realizable], kind: HoleKind) -> None:
    def shorter(a: Answer) -> Answer:
        if a.kind is not kind:
            return a
        return replace(a, interval=Interval(a.interval.min, simplify(ir.sub(a.interval.len, ir.ONE))))

    said, _ = _answers(make(), shorter)
    assert "sat" in said


def test_answered_script_names_the_conjunct_that_fails() -> None:
    f = consumer(ramp(), lambda g: g[x - 1] + g[x + 1])

    def later(a: Answer) -> Answer:
        moved = Interval(simplify(ir.add(a.interval.min, ir.ONE)), a.interval.len)
        return replace(a, interval=moved) if a.func.name == "g" and a.kind is HoleKind.CPU else a

    said, comments = _answers(f, later)
    failed = [c for s, c in zip(said, comments, strict=True) if s == "sat"]
    assert any("g[f.s0.x - 1 | f.s0.x + 1] in ?cpu g.s0   [value]" in c for c in failed)


# -- terms


TYPES = [hl.UInt(8), hl.Int(8), hl.UInt(16), hl.Int(32), hl.UInt(32), hl.Int(64)]
LEAVES = {t: [Access(t, Image(f"{t}_{i}", t, 0, UNKNOWN_LOCATION), (), 0, 0) for i in range(2)] for t in TYPES}
_OPERATORS = [BinaryOp.ADD, BinaryOp.SUB, BinaryOp.MUL, BinaryOp.DIV, BinaryOp.MOD, BinaryOp.MIN, BinaryOp.MAX]


class _Draw:
    """Random integer expressions, none of them uninterpreted."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def expr(self, type: Type, depth: int) -> ExprNode:
        r = self.rng
        if depth == 0:
            return r.choice(LEAVES[type]) if r.random() < 0.7 else self.constant(type)
        match r.randint(0, 6):
            case 0:
                return Cast(type, self.expr(r.choice(TYPES), depth - 1))
            case 1:
                return Select(type, self.condition(depth - 1), self.expr(type, depth - 1), self.expr(type, depth - 1))
            case 2:
                op = r.choice([BinaryOp.SHL, BinaryOp.SHR])
                return Binary(type, op, self.expr(type, depth - 1), ir.const(r.randint(0, 6), hl.Int(type.bits())))
            case 3:
                return Binary(type, BinaryOp.BIT_AND, self.expr(type, depth - 1), ir.const(7, type))
        return Binary(type, r.choice(_OPERATORS), self.expr(type, depth - 1), self.expr(type, depth - 1))

    def condition(self, depth: int) -> ExprNode:
        r = self.rng
        t = r.choice(TYPES)
        op = r.choice([BinaryOp.LT, BinaryOp.LE, BinaryOp.EQ, BinaryOp.NE])
        test: ExprNode = Binary(BOOL, op, self.expr(t, depth), self.expr(t, depth))
        if r.random() < 0.3:
            test = Binary(BOOL, r.choice([BinaryOp.AND, BinaryOp.OR]), test, self.condition(0))
        return Not(BOOL, test) if r.random() < 0.3 else test

    def constant(self, type: Type) -> ExprNode:
        low, high = type.range
        return ir.const(self.rng.choice([low, high, 0, 1, 2, 3, 8, high // 2]), type)


def _value(e: ExprNode, leaves: dict[ExprNode, int]) -> int:
    match e:
        case ir.IntImm(value=number):
            return number
        case Access():
            return leaves[e]
        case Cast(type=type, a=a):
            return int(cast_function(a.type, type)(_value(a, leaves)))
        case Not(a=a):
            return int(not _value(a, leaves))
        case Select(condition=condition, a=a, b=b):
            return _value(a if _value(condition, leaves) else b, leaves)
        case Binary(op=op, a=a, b=b):
            return int(binary_function(op, a.type)(_value(a, leaves), _value(b, leaves)))
    raise AssertionError(e)


def _no_hole(h: Hole) -> str:
    raise AssertionError(h)


@pytest.mark.parametrize("seed", range(6))
def test_terms_have_the_values_of_the_semantics(seed: int) -> None:
    draw = _Draw(seed)
    for _ in range(60):
        type = draw.rng.choice(TYPES)
        e = draw.expr(type, 3)
        writer = Writer(Symbols(), _no_hole)
        text = writer.term(e)
        leaves = {v: draw.rng.choice([*t.range, 0, 1, draw.rng.randint(*t.range)]) for t in TYPES for v in LEAVES[t]}
        given = [Binary(BOOL, BinaryOp.EQ, v, ir.const(n, v.type)) for v, n in leaves.items()]
        asserted = [f"(assert {writer.term(g)})" for g in given]
        expected = ir.const(_value(e, leaves), type)
        facts = [f"(assert {writer.term(fact)})" for fact in writer.facts(e)]
        lines = [*writer.functions.values(), *writer.helpers.values(), *asserted, *facts]
        same = f"(assert (= {text} {writer.term(expected)}))\n(check-sat)"
        differs = f"(assert (distinct {text} {writer.term(expected)}))\n(check-sat)"
        script = "\n".join([*lines, "(push 1)", same, "(pop 1)", differs])
        assert run(script) == ["sat", "unsat"], script


@pytest.mark.parametrize(("a", "b"), [(0, 1), (1, 0)])
def test_range_of_a_choice_holds_both(a: int, b: int) -> None:
    operands = (ir.const(5, INT32), Cast(INT32, ir.Variable(UInt(8), "u")))
    choice = Select(INT32, ir.Variable(BOOL, "c"), operands[a], operands[b])
    assert Writer(Symbols(), _no_hole)._exact(choice) == (0, 255)


def test_terms_share_what_occurs_twice() -> None:
    e: ExprNode = ir.index_variable("x")
    for _ in range(200):
        e = ir.add(e, e)
    text = Writer(Symbols(), _no_hole).term(e)
    assert len(text) < 20_000


def test_script_when_names_are_those_of_the_language() -> None:
    div, im = hl.Param(hl.Int(32), "div"), hl.ImageParam(hl.Int(32), 1, "store")
    g, f = hl.Func("and"), hl.Func("Int")
    g[x] = im[x + div]
    g.compute_root()
    f[x] = g[hl.clamp(hl.i32(hl.f32(im[x])), 0, 9) / 2]
    assert set(run(f.bounds_query().to_smtlib(answered=True))) == {"unsat"}


def test_symbols_are_distinct_when_things_have_one_name() -> None:
    symbols = Symbols()
    assert symbols.of("a", "n") == "|n|"
    assert symbols.of("b", "n") == "|n #2|"
    assert symbols.of("a", "n") == "|n|"
    assert symbols.of("c", "a|b\\é") == "|a_b__|"


@pytest.mark.parametrize(
    ("known", "fits"),
    [((-128, 127), True), ((-129, 0), False), ((0, 128), False), ((3, 4), True), ((-128, -128), True)],
)
def test_value_at_an_end_of_its_type_is_not_wrapped(known: tuple[int, int], *, fits: bool) -> None:
    assert interval.fits(known, hl.Int(8)) is fits
