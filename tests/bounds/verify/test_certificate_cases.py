"""Certificates of specialized, aligned and renamed programs; and that they find cases that are wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

import halide_core as hl
from halide_core import ir
from halide_core.bounds.infer.oracles import oracle_of
from halide_core.bounds.infer.substitute import fill
from halide_core.bounds.query.answers import Answers, Engine
from halide_core.bounds.query.query import Query, extract_query
from halide_core.bounds.verify.certificate import PipelineCertificate
from halide_core.bounds.verify.definitions import _Same
from halide_core.bounds.verify.memory import MemoryReads, Reads
from halide_core.bounds.verify.vc import ClaimKind, Status
from halide_core.ir import BinaryOp, Interval, Provide, Stmt
from halide_core.ir.logic import any_of, negation
from halide_core.ir.types import Float
from halide_core.ir.visitor import free_variables
from halide_core.loop_nest import Nest, Program, StageKey
from halide_core.lowering.certify import certify_program
from halide_core.lowering.driver import certify
from halide_core.lowering.passes.layout_checks import check_layouts
from halide_core.reference.concrete import evaluate
from tests.support.dumps import scheduled
from tests.support.specialized import draw_specialized

x, y, xo, xi, t = (hl.Var(n) for n in ("x", "y", "xo", "xi", "t"))
GUARD, SHIFT = hl.TailStrategy.GuardWithIf, hl.TailStrategy.ShiftInwards


def number() -> hl.Param:
    return hl.Param(hl.Int(32), "n")


def source(type: hl.Type, dimensions: int = 1) -> hl.ImageParam:
    return hl.ImageParam(type, dimensions, "in")


# -- programs


def shifted() -> hl.Func:
    f, n = hl.Func("f"), number()
    f[x, y] = x + y * 100
    f.specialize(n >= 8).split(x, xo, xi, 8, SHIFT)
    return f


def vectorized_where_wide() -> hl.Func:
    f, image = hl.Func("f"), source(hl.Float(32), 2)
    f[x, y] = image[x, y] * 2.0
    f.specialize(f.output_buffer().width() >= 8).vectorize(x, 8)
    f.parallel(y)
    return f


def simplified_integers() -> hl.Func:
    f, n, image = hl.Func("f"), number(), source(hl.UInt(8))
    f[x] = hl.select(n >= 4, hl.i32(image[x]) * n, hl.i32(image[x + 1]))
    f.specialize(n == 8).vectorize(x, 4, GUARD)
    f.specialize(n < 4)
    return f


def simplified_floats() -> hl.Func:
    f, n, image = hl.Func("f"), number(), source(hl.Float(32))
    f[x] = image[x] * hl.f32(n) + hl.select(n == 2, image[x + 1], 0.0)
    f.specialize(n == 2).vectorize(x, 4, GUARD)
    return f


def simplified_reads() -> hl.Func:
    f, n = hl.Func("f"), number()
    image = hl.BoundaryConditions.repeat_edge(source(hl.UInt(8)))
    f[x] = hl.select(n > 0, image[hl.clamp(hl.i32(image[x - 1]), 0, 9) - 1], 0)
    f.specialize(n > 0)
    return f


def simplified_choices() -> hl.Func:
    f, n, image = hl.Func("f"), number(), source(hl.Int(32))
    f[x] = hl.select(n > 0, image[x + n] * n, 7)
    f.specialize(n == 1)
    return f


def producer_in_each_case() -> hl.Func:
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = x * y
    f[x, y] = g[x, y - 1] + g[x, y + 1]
    f.specialize(f.output_buffer().width() >= 8).split(x, xo, xi, 8)
    g.compute_at(f, y)
    return f


def parallel_with_a_producer() -> hl.Func:
    f, g, n = hl.Func("f"), hl.Func("g"), number()
    g[x, y] = x + y
    f[x, y] = g[x, y] + g[x, y + 1]
    f.specialize(n > 3).parallel(y).vectorize(x, 4, GUARD)
    g.compute_at(f, y).vectorize(x, 4, GUARD)
    return f


def update() -> hl.Func:
    f, n, r, image = hl.Func("f"), number(), hl.RDom([(0, 10)], "r"), source(hl.Int(32))
    f[x] = 0
    f[x] += image[x + r] * n
    f.update().specialize(n == 1).split(x, xo, xi, 4, GUARD)
    f.specialize(n > 1)
    return f


def simplified_conditions() -> hl.Func:
    f, n, image = hl.Func("f"), number(), source(hl.Int(32))
    r = hl.RDom([(0, 10)], "r")
    r.where((n > 0) & (image[r] > n))
    f[x] = 0
    f[image[r] & 7] += r
    f.update().specialize(n > 0)
    f.update().specialize(n == -1)
    return f


def failing() -> hl.Func:
    f, n = hl.Func("f"), number()
    f[x] = x
    f.specialize(n >= 8).split(x, xo, xi, 8, GUARD)
    f.specialize(n == 4)
    f.specialize_fail("n is neither 4 nor large")
    return f


def failing_within() -> hl.Func:
    f, n = hl.Func("f"), number()
    f[x] = x
    inner = f.specialize(n >= 8)
    inner.specialize(n == 9)
    inner.specialize_fail("n is large, and not 9")
    return f


def nested() -> hl.Func:
    f, g, n, flag = hl.Func("f"), hl.Func("g"), number(), hl.Param(hl.Bool(), "flag")
    g[x] = x
    f[x] = hl.select(flag, g[x], g[x + 1])
    f.specialize(flag).specialize(n > 0).split(x, x, xi, 4, GUARD)
    g.compute_at(f, x)
    return f


def aligned() -> hl.Func:
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x
    f[x] = g[x - 1] + g[x + 1]
    g.compute_root().align_bounds(x, 8).split(x, xo, xi, 8, GUARD)
    return f


def aligned_in_tiles() -> hl.Func:
    g, f = hl.Func("g"), hl.Func("f")
    g[x, y] = x
    f[x, y] = g[x - 1, y] + g[x + 1, y + 1]
    f.split(x, xo, xi, 30)
    g.compute_at(f, xo).align_bounds(x, 8, 3).align_extent(y, 4).split(x, xo, xi, 8, GUARD)
    return f


def aligned_output() -> hl.Func:
    f = hl.Func("f")
    f[x, y] = x + y
    f.align_bounds(x, 8).vectorize(x, 8)
    return f


def aligned_to_a_param() -> hl.Func:
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x
    f[x] = g[x - 1] + g[x + 1]
    g.compute_root().align_bounds(x, number())
    return f


def aligned_extent() -> hl.Func:
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x
    f[x] = g[x - 1] + g[x + 1]
    g.compute_root().align_extent(x, 4).split(x, xo, xi, 4, SHIFT)
    return f


def renamed() -> hl.Func:
    f = hl.Func("f")
    f[x, y] = x
    f.rename(x, t).split(t, xo, xi, 4, GUARD)
    f.set_estimate(x, 0, 100)
    return f


PROGRAMS: list[Callable[[], hl.Func]] = [
    shifted,
    vectorized_where_wide,
    simplified_integers,
    simplified_floats,
    simplified_reads,
    simplified_choices,
    producer_in_each_case,
    parallel_with_a_producer,
    update,
    simplified_conditions,
    failing,
    failing_within,
    nested,
    aligned,
    aligned_in_tiles,
    aligned_output,
    aligned_to_a_param,
    aligned_extent,
    renamed,
]


@pytest.mark.parametrize("make", PROGRAMS, ids=lambda make: make.__name__)
def test_every_claim_is_proven_or_asserted(make: Callable[[], hl.Func]) -> None:
    certificate = make().certify()
    assert certificate.ok, str(certificate)


@pytest.mark.parametrize("engine", [Engine.ISL, Engine.BASELINE])
@pytest.mark.parametrize("make", [shifted, producer_in_each_case, update, failing, nested, aligned_in_tiles])
def test_every_engine_answers_for_each_case(make: Callable[[], hl.Func], engine: Engine) -> None:
    certificate = certify(make()._request(), oracle=oracle_of(engine))
    assert certificate.ok, str(certificate)


@pytest.mark.parametrize("seed", range(12))
def test_random_specialized_programs_are_certified(seed: int) -> None:
    case = draw_specialized(seed)
    try:
        certificate = case.output.certify()
    except hl.HalideError:  # the schedule is not legal
        return
    assert certificate.ok, "\n".join([*case.log, str(certificate)])


def claims_of(f: hl.Func, kind: ClaimKind) -> int:
    return sum(r.claim.kind is kind for r in certificate_of(scheduled(f)).results)


def test_other_iterations_are_numbered_from_one() -> None:
    f = hl.Func("f")
    f[x] = 0
    f[x] += 1
    f.update().parallel(x)
    names = {v.name for r in certify(f._request()).results for v in free_variables(r.claim.conclusion)}
    assert {name.partition("@")[2] for name in names if name.endswith("'")} == {"1'", "2'"}


def test_read_at_a_point_that_only_the_condition_makes_the_same_is_certified() -> None:
    n = number()
    g, f = hl.Func("g"), hl.Func("f")
    g[x] = x * 2
    f[x] = g[x + hl.min(n, 5)]
    g.compute_root()
    f.specialize(n > 7)
    certificate = certify(f._request())
    assert certificate.ok, str(certificate)


def test_choices_of_floats_of_which_a_condition_leaves_some_out_are_certified() -> None:
    n = number()
    f = hl.Func("f")
    f[x] = hl.mux(n, [hl.f32(v) for v in (0.5, 1.5, 2.5, 3.5)]) * 2.0
    f.specialize(n >= 2)
    certificate = certify(f._request())
    assert certificate.ok, str(certificate)


def test_choices_by_other_conditions_are_the_same_where_they_choose_alike() -> None:
    n, near, far = ir.index_variable("n"), ir.const(1.0, Float(32)), ir.const(2.0, Float(32))
    one, other = (ir.Select(Float(32), ir.less(n, ir.i64(end)), near, far) for end in (2, 3))
    told = _Same(Reads(MemoryReads())).of(one, other)
    assert [evaluate(told, {n: value}) for value in (1, 2, 3)] == [True, False, True]


def test_numbers_built_alike_are_the_same_where_their_innermost_parts_are() -> None:
    """Or where they are, whatever they are made of: no part in between is asked for."""
    a, b, c = (ir.index_variable(name) for name in "abc")
    one, other = (ir.mul(ir.add(v, ir.ONE), c) for v in (a, b))
    assert _Same(Reads(MemoryReads())).of(one, other) is any_of((ir.equal(a, b), ir.equal(one, other)))


def test_each_case_has_claims_of_its_own() -> None:
    f, g = hl.Func("f"), hl.Func("g")
    f[x] = x
    g[x] = x
    g.specialize(number() > 1)
    assert claims_of(g, ClaimKind.COVERAGE) == 2 * claims_of(f, ClaimKind.COVERAGE) == 2
    assert claims_of(g, ClaimKind.DEFINITION) == 2 * claims_of(f, ClaimKind.DEFINITION)


# -- programs that are wrong


def certificate_of(program: Program, spoiled: Callable[[Query, Answers], None] | None = None) -> PipelineCertificate:
    """The certificate of a program that no directive made, or of answers that no engine gave."""
    query = extract_query(program)
    answers = oracle_of(Engine.INTERVAL).answer(query)
    if spoiled is not None:
        spoiled(query, answers)
    tree = check_layouts(fill(program, answers), program.algorithm)
    return certify_program("f", query, answers, tree)


def refuted(certificate: PipelineCertificate) -> list[ClaimKind]:
    return list(dict.fromkeys(r.claim.kind for r in certificate.results if r.status is Status.REFUTED))


def key_of(program: Program, specialization: int, stage: int = 0) -> StageKey:
    return StageKey(program.named["f"], stage, specialization)


def with_value(nest: Nest, value: ir.ExprNode) -> Nest:
    core: Stmt = nest.core
    assert isinstance(core, Provide)
    return replace(nest, core=replace(core, values=(value,)))


@pytest.mark.parametrize("specialization", [0, 1])
def test_case_with_another_value_is_refuted(specialization: int) -> None:
    program = scheduled(simplified_integers())
    key = key_of(program, specialization)
    zero = ir.const(0, key.func.types[0])
    broken = program.with_nest(key, with_value(program.nests[key], zero))
    assert refuted(certificate_of(broken)) == [ClaimKind.DEFINITION]


@pytest.mark.parametrize("specialization", [0, 1])
def test_case_without_its_condition_is_refuted(specialization: int) -> None:
    program = scheduled(simplified_conditions())
    key = key_of(program, specialization, 1)
    nest = program.nests[key]
    assert isinstance(nest.core, ir.If)
    assert ClaimKind.DEFINITION in refuted(certificate_of(program.with_nest(key, replace(nest, core=nest.core.then))))


def test_case_of_floats_with_another_value_is_refuted() -> None:
    program = scheduled(simplified_floats())
    key = key_of(program, 1)
    nest = program.nests[key]
    assert isinstance(nest.core, Provide)
    twice = ir.binary(BinaryOp.ADD, nest.core.values[0], nest.core.values[0])
    assert refuted(certificate_of(program.with_nest(key, with_value(nest, twice)))) == [ClaimKind.DEFINITION]


def test_case_simplified_by_a_condition_that_it_does_not_have_is_refuted() -> None:
    program = scheduled(simplified_integers())
    at = (program.named["f"], 0)
    one, other, last = program.specialized[at]
    swapped = (replace(one, condition=other.condition), replace(other, condition=one.condition), last)
    assert ClaimKind.DEFINITION in refuted(certificate_of(replace(program, specialized={at: swapped})))


@pytest.mark.parametrize("specialization", [0, 1])
def test_case_whose_loop_is_too_short_is_refuted(specialization: int) -> None:
    program = scheduled(vectorized_where_wide())
    key = key_of(program, specialization)
    nest = program.nests[key]
    first = nest.loops[0]
    shorter = replace(first, bounds=Interval(first.bounds.min, ir.maximum(ir.sub(first.bounds.len, ir.ONE), ir.ZERO)))
    broken = program.with_nest(key, replace(nest, loops=(shorter, *nest.loops[1:])))
    assert ClaimKind.COVERAGE in refuted(certificate_of(broken))


@pytest.mark.parametrize("make", [failing, failing_within])
def test_failing_case_without_its_check_is_refuted(make: Callable[[], hl.Func]) -> None:
    program = scheduled(make())
    needed = tuple(o for o in program.obligations if o.failure is not ir.Failure.SPECIALIZE_FAIL)
    assert len(needed) < len(program.obligations)
    assert refuted(certificate_of(replace(program, obligations=needed))) == [ClaimKind.COVERAGE]


def test_producer_that_one_case_asks_less_of_is_refuted() -> None:
    def spoiled(_query: Query, answers: Answers) -> None:
        at = next(i for i, a in enumerate(answers.holes) if a.func.name == "g$1" and a.dim == 1)
        answers.holes[at] = replace(answers.holes[at], interval=Interval(answers.holes[at].interval.min, ir.ONE))

    kinds = refuted(certificate_of(scheduled(producer_in_each_case()), spoiled))
    assert ClaimKind.QUERY in kinds and ClaimKind.COMPUTED in kinds


def test_need_of_a_case_that_the_answer_does_not_meet_is_refuted() -> None:
    def spoiled(_query: Query, answers: Answers) -> None:
        at = next(i for i, a in enumerate(answers.holes) if a.dim == 0)
        extent = ir.BufferField(ir.ZERO.type, answers.holes[at].func, ir.Field.EXTENT, 0)
        answers.holes[at] = replace(answers.holes[at], interval=Interval(answers.holes[at].interval.min, extent))
        answers.checks.clear()  # they are about the answers that were

    assert ClaimKind.OBLIGATION in refuted(certificate_of(scheduled(shifted()), spoiled))


def test_answer_that_is_not_aligned_is_refuted() -> None:
    def spoiled(_query: Query, answers: Answers) -> None:
        at = next(i for i, a in enumerate(answers.holes) if a.func.name == "g")
        length = ir.add(answers.holes[at].interval.len, ir.ONE)
        answers.holes[at] = replace(
            answers.holes[at], interval=Interval(answers.holes[at].interval.min, length), multiple=1
        )

    assert ClaimKind.OBLIGATION in refuted(certificate_of(scheduled(aligned()), spoiled))


# -- values made of floats


def test_range_of_an_integer_made_of_a_float_of_a_param() -> None:
    """It rests on the range that the Param is declared to have."""
    p, g, f, h = hl.Param(hl.Int(32), "p", -2), hl.Func("g"), hl.Func("f"), hl.Func("h")
    p.set_range(-2, 6)
    f[x] = hl.cast(hl.UInt(32), hl.cast(hl.Float(64), p) * hl.cast(hl.Float(64), hl.clamp(x, -4, 2)))
    g[x] = x * 2
    h[x] = g[hl.clamp(hl.i32(hl.i16(f[x])), 0, 5)]
    f.compute_root()
    g.compute_root()
    assert h.certify().ok


def test_range_of_an_integer_made_of_a_wide_integer_by_way_of_a_float() -> None:
    """2^63 - 1 is 2^63 as a float, and so it is for the solver."""
    source_, f, h = source(hl.Int(64)), hl.Func("f"), hl.Func("h")
    f[x] = hl.min(hl.cast(hl.UInt(64), hl.cast(hl.Float(64), source_[x])), hl.cast(hl.UInt(64), hl.i32(x)))
    h[x] = source_[hl.clamp(hl.i32(hl.u8(f[x])) >> 5, 0, 1)]
    f.compute_root()
    assert h.certify().ok


# -- products of coordinates


def test_coordinate_that_a_param_of_either_sign_multiplies() -> None:
    """The ends of a product by one factor are two, not four corners for each variable that is eliminated."""
    n, w, f = number(), hl.Func("w"), hl.Func("f")
    w[x, y] = hl.BoundaryConditions.repeat_edge(source(hl.UInt(8), 2))[(x + 2) * n, y + 2]
    f[x, y] = w[x, y] + w[x, y + 1]
    f[x, y] += w[1 - x, y]
    w.compute_root().split(x, xo, xi, 3, hl.TailStrategy.PredicateStores)
    w.vectorize(xo, 2, hl.TailStrategy.ShiftInwardsAndBlend)
    assert f.certify().ok


@pytest.mark.parametrize("at_root", [False, True])
def test_int64s_of_memory_in_values_and_coordinates(at_root: bool) -> None:
    """Values wrap; of coordinates it is known what the Funcs that they are made of can hold."""
    table, f, g = source(hl.Int(32)), hl.Func("f"), hl.Func("g")
    f[x] = hl.i64(hl.i16(x))
    f[x] += hl.i64(x % 5)
    if at_root:
        f.compute_root()
    g[x] = hl.i64(table[hl.clamp(hl.i32(f[x] * f[x + 1] - 5), 0, 9)]) + f[x - 1] * hl.i64(3)
    assert g.certify().ok


def test_argument_has_its_region_in_each_branch_of_a_choice() -> None:
    """A stage without loops reads in both at one moment, but what is checked of the one says nothing of the other."""
    f, n, image = hl.Func("f"), number(), source(hl.Int(32))
    f[()] = hl.select(n > 1, image[1], image[4])
    f.specialize(n > 1)
    program = scheduled(f)
    taken = program.taken(key_of(program, 1))

    def checked_in_one_case(_: Query, answers: Answers) -> None:
        answers.checks = [
            replace(check, condition=any_of((negation(taken), check.condition))) for check in answers.checks
        ]

    assert not refuted(certificate_of(program))
    assert refuted(certificate_of(program, checked_in_one_case)) == [ClaimKind.REGION]
