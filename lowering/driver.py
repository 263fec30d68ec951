"""The driver: lowering as a list of passes, and the record that ``explain`` shows.

In: a Request. Out: a Lowered pipeline; with ``trace``, every step on the way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from halide_core.algorithm.fused_products import fuse_products
from halide_core.algorithm.memo_key import with_memo_keys
from halide_core.algorithm.model import Algorithm
from halide_core.algorithm.snapshot import snapshot
from halide_core.analysis.prover import shared_proofs
from halide_core.bounds.engines.interface import Oracle
from halide_core.bounds.engines.registry import chosen_engine
from halide_core.bounds.infer.oracles import oracle_of
from halide_core.bounds.query.answers import Answers
from halide_core.bounds.query.query import Query
from halide_core.config import certificates_demanded, verification_demanded
from halide_core.debug import Stopwatch, deep_recursion, show, without_collections
from halide_core.ir import Stmt
from halide_core.ir.types import UInt
from halide_core.loop_nest import Program, assemble
from halide_core.lowering.initial import lower_initial
from halide_core.lowering.laws import check_laws
from halide_core.lowering.module import Lowered
from halide_core.lowering.passes.asynchronous.fork import Ahead, fork_producers
from halide_core.lowering.passes.asynchronous.ring import make_rings, ring_leads, rings_of
from halide_core.lowering.passes.constant_lengths import make_lengths_constant
from halide_core.lowering.passes.flatten import flatten_storage
from halide_core.lowering.passes.hoist import hoist_invariants
from halide_core.lowering.passes.hoist_divisions import hoist_divisions
from halide_core.lowering.passes.jam import jam_loops
from halide_core.lowering.passes.layout_checks import check_layouts, propose_promised
from halide_core.lowering.passes.memory.hoist_storage import hoist_allocations
from halide_core.lowering.passes.memory.remember import remember
from halide_core.lowering.passes.memory.reuse import reuse_memory
from halide_core.lowering.passes.narrow.arithmetic import narrow_arithmetic
from halide_core.lowering.passes.narrow.conversions import use_float_ranges
from halide_core.lowering.passes.narrow.limits import narrow_limits
from halide_core.lowering.passes.needed.trim import trim_producers
from halide_core.lowering.passes.partition.once import run_once
from halide_core.lowering.passes.partition.partition import partition_loops
from halide_core.lowering.passes.peel_first_iteration import separate_warm_ups
from halide_core.lowering.passes.prefetch import place_prefetches
from halide_core.lowering.passes.simplify_stmt import simplify_tree
from halide_core.lowering.passes.skip_producers import skip_producers
from halide_core.lowering.passes.trace import is_shown, show_realizations
from halide_core.lowering.passes.unroll import join_at_once, unroll_loops
from halide_core.lowering.passes.vectorize.interchange import interchange_loops
from halide_core.lowering.passes.vectorize.side_by_side import vectorize_copies
from halide_core.lowering.passes.vectorize.vectorize import vectorize_loops
from halide_core.lowering.proven_steps import fill_proven
from halide_core.lowering.provenance import Traversals
from halide_core.run.backend import Request, arguments
from halide_core.run.target import INSTRUCTIONS, Target, get_host_target, traces_pipeline, wants_strict_floats
from halide_core.scheduling.phase0.atomic_laws import atomic_laws
from halide_core.scheduling.phase0.factor import factor_reductions
from halide_core.scheduling.phase0.inline import inline_functions
from halide_core.scheduling.phase0.trace import trace_everything
from halide_core.scheduling.phase0.wrappers import wrap_calls
from halide_core.scheduling.phases import ScheduleStep, apply_schedule
from halide_core.scheduling.prefetch import refuse_prefetches_of_others
from halide_core.scheduling.specialize import for_every_case

if TYPE_CHECKING:
    from halide_core.bounds.verify.certificate import PipelineCertificate
    from halide_core.lowering.verification import Verification

CERTIFIED = "layout_checks"
"""The pass whose program a certificate is about: the first one that has all start-up checks."""


@dataclass(slots=True, eq=False)
class LoweringTrace:
    """Everything that lowering went through."""

    initial: Program | None = None
    steps: list[ScheduleStep] = field(default_factory=list)
    query: Query | None = None
    answers: Answers | None = None
    passes: list[tuple[str, Stmt]] = field(default_factory=list)


def register_bytes(target: Target | None) -> int:
    """The bytes of the registers of a target, or of this machine: C compilers are bad at wider vectors."""
    return (target or get_host_target()).natural_vector_size(UInt(8))


def masks_lanes(target: Target | None) -> bool:
    """True of a target, or of this machine, where registers of every type are loaded and stored in part: as of AVX-512
    with bytes."""
    with_masks = (f for f, words in INSTRUCTIONS.items() if "avx512bw" in words)
    return (target or get_host_target()).features_any_of(with_masks)


def lower(request: Request, *, oracle: Oracle | None = None, trace: LoweringTrace | None = None) -> Lowered:
    """Lowers a pipeline.

    Raises: ScheduleError or BoundsError, at the user's line.
    """
    with deep_recursion(), without_collections(), shared_proofs():
        return _lowered(request, oracle or oracle_of(chosen_engine()), trace or LoweringTrace())


def lower_scheduled(
    request: Request, program: Program, trace: LoweringTrace, *, oracle: Oracle | None = None
) -> Lowered:
    """The second half: what ``lower`` makes of a program that ``schedule`` made, with the trace of both."""
    with deep_recursion(), without_collections(), shared_proofs():
        return _finished(request, program, oracle or oracle_of(chosen_engine()), trace)


def _lowered(request: Request, oracle: Oracle, trace: LoweringTrace) -> Lowered:
    """Both halves. A function of its own, so that the trees of all passes are gone before collections begin again."""
    return _finished(request, _schedule(request, trace), oracle, trace)


def _finished(request: Request, program: Program, oracle: Oracle, trace: LoweringTrace) -> Lowered:
    stmt = _fill(program, oracle, trace)
    checked = _verification(program.algorithm, "fill")
    watch = Stopwatch()
    assert trace.answers is not None
    for name, run in _passes(program, trace.answers.ahead, request):
        stmt = run(stmt)
        _report(name, stmt, watch, checked)
        trace.passes.append((name, stmt))
        if name == CERTIFIED and certificates_demanded():
            from halide_core.lowering.certify import demand  # noqa: PLC0415  # see LAZY of the layers' test

            demand(_certificate(request, stmt, trace))
    algorithm = program.algorithm
    owners = {f.component_name(k): f.name for f in algorithm.functions for k in range(len(f.types))}
    return Lowered(request.name, arguments(request, algorithm), stmt, owners)


def _verification(algorithm: Algorithm, last: str) -> Verification | None:
    """The verifier of the passes after ``last``, where it is asked for."""
    if not verification_demanded():
        return None
    from halide_core.lowering.verification import Verification  # noqa: PLC0415  # see LAZY of the layers' test

    return Verification(algorithm, last)


def _report(name: str, stmt: Stmt, watch: Stopwatch, checked: Verification | None) -> None:
    """Shows and checks the tree after a pass."""
    show(name, stmt, watch.lap())
    if checked is not None:
        checked.after(name, stmt)
        watch.lap()


def certify(request: Request, *, oracle: Oracle | None = None) -> PipelineCertificate:
    """The certificate of a pipeline: of the program that ``lower`` makes of it, after the pass CERTIFIED.

    Raises: ScheduleError, BoundsError; HalideError where z3 is not installed.
    """
    trace = LoweringTrace()
    with deep_recursion(), shared_proofs():
        program = _schedule(request, trace)
        stmt = check_layouts(_fill(program, oracle or oracle_of(chosen_engine()), trace), program.algorithm)
        return _certificate(request, stmt, trace)


def certify_lowered(request: Request, trace: LoweringTrace) -> PipelineCertificate:
    """The certificate of what ``lower`` recorded: the same as ``certify`` gives, without lowering again."""
    return _certificate(request, dict(trace.passes)[CERTIFIED], trace)


def _certificate(request: Request, stmt: Stmt, trace: LoweringTrace) -> PipelineCertificate:
    assert trace.query is not None and trace.answers is not None
    from halide_core.lowering.certify import certify_program  # noqa: PLC0415  # see LAZY of the layers' test

    return certify_program(request.name, trace.query, trace.answers, stmt)


def schedule(request: Request, trace: LoweringTrace) -> Program:
    """The first half: the scheduled program with its holes."""
    with deep_recursion():
        return _schedule(request, trace)


def _algorithm(request: Request) -> Algorithm:
    """The snapshot of a request after phase 0."""
    algorithm = with_memo_keys(snapshot(request.outputs, request.requirements, request.inputs))
    trace_everything(algorithm, request.target)
    algorithm = atomic_laws(factor_reductions(algorithm))
    if not wants_strict_floats(request.target):
        algorithm = fuse_products(algorithm)
    algorithm = wrap_calls(algorithm)
    refuse_prefetches_of_others(algorithm)
    return inline_functions(algorithm)


def _schedule(request: Request, trace: LoweringTrace) -> Program:
    algorithm = _algorithm(request)
    watch = Stopwatch()
    trace.initial = lower_initial(algorithm)
    checked = _verification(algorithm, "initial")
    _report("initial", assemble(trace.initial), watch, checked)
    trace.steps = apply_schedule(trace.initial)
    program = trace.steps[-1].program if trace.steps else trace.initial
    check_laws(program.algorithm.laws, request.target)
    _report("schedule", assemble(program), watch, checked)
    return program


def _fill(program: Program, oracle: Oracle, trace: LoweringTrace) -> Stmt:
    watch = Stopwatch()
    trace.query, trace.answers, filled = fill_proven(program, oracle)
    _report("fill", filled, watch, _verification(program.algorithm, "initial"))
    trace.passes.append(("fill", filled))
    return filled


def _passes(program: Program, ahead: Ahead, request: Request) -> list[tuple[str, Callable[[Stmt], Stmt]]]:
    """The optimising passes in order; vectors are no wider than the registers of the request's target.

    What nobody reads is left out, first of loops and then whole, before events are traced. Threads are apart before
    their loops change, as each changes its own. First iterations of slides are apart before all that follows, so that
    others don't ask whether they are one. Reductions go inside of lanes before guards move outwards, which then are
    outside of them. Guards are decided before they move, so that only those that can fail do; loops unroll while points
    are still points, so that each copy simplifies on its own; loops are divided before lanes are vectors, so that the
    steady part has none of their clamps; flattening comes before vectorizing, since lanes are positions. Iterations go
    in step once lanes are vectors, as the registers that they need can be counted then. Memory is shared where no
    statement moves any more. Floats are taken for numbers last: other rules know casts.
    """
    algorithm, traversals = program.algorithm, Traversals(for_every_case(program), program.algorithm.functions)
    policies, widest = program.partitions(), register_bytes(request.target)
    masks = masks_lanes(request.target)
    name, whole = request.name, traces_pipeline(request.target)
    shown = whole or is_shown(algorithm)
    memory = [c.component_name(k) for c in (*algorithm.images, *algorithm.functions) for k in range(len(c.types))]
    hoisted = {f.component_name(k): h for f, h in program.hoisted.items() for k in range(len(f.types))}
    return [
        ("layout_checks", lambda s: check_layouts(s, algorithm)),
        *([("proposals", lambda s: propose_promised(s, algorithm))] if algorithm.constraints else []),
        ("trim", lambda s: trim_producers(s, algorithm)),
        ("skip", lambda s: skip_producers(s, algorithm)),
        *([("traced", lambda s: show_realizations(s, algorithm, name, whole=whole))] if shown else []),
        *([("prefetch", place_prefetches)] if program.prefetches else []),
        ("simplify", simplify_tree),
        ("constant_lengths", make_lengths_constant),
        *([("fork", lambda s: _fork(s, ahead, program))] if ahead else []),
        ("warm_up", lambda s: separate_warm_ups(s, policies)),
        ("interchange", interchange_loops),
        ("hoist", hoist_invariants),
        ("copies", lambda s: vectorize_copies(s, algorithm.constraints)),
        ("unroll", lambda s: unroll_loops(s, traversals)),
        ("partition", lambda s: partition_loops(s, policies)),
        *([("remember", lambda s: remember(s, program.remembered))] if program.remembered else []),
        ("flatten", lambda s: flatten_storage(s, algorithm.outputs, algorithm.constraints)),
        *([("join", join_at_once)] if _has_several_at_once(algorithm) else []),
        *([("hoist_storage", lambda s: hoist_allocations(s, hoisted))] if hoisted else []),
        ("narrow", narrow_arithmetic),
        ("vectorize", lambda s: vectorize_loops(s, widest, traversals, memory, masks=masks)),
        ("jam", lambda s: jam_loops(s, widest, memory)),
        ("simplify_again", simplify_tree),
        ("divisions", lambda s: hoist_divisions(s, memory)),
        ("reuse", reuse_memory),
        ("limits", narrow_limits),
        ("conversions", use_float_ranges),
        ("once", run_once),
    ]


def _has_several_at_once(algorithm: Algorithm) -> bool:
    domains = [d.domain for f in algorithm.functions for d in f.definitions]
    return any(domain is not None and domain.at_once for domain in domains)


def _fork(stmt: Stmt, ahead: Ahead, program: Program) -> Stmt:
    """The producers of rings, and others, in threads of their own."""
    rings = rings_of(program, ahead)
    ringed, made = make_rings(stmt, rings)
    others = {f: lead for f, lead in ahead.items() if f not in made}
    return fork_producers(ringed, {**others, **ring_leads(rings, made)})
