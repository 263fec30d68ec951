"""The laws that factored reductions and atomic updates rest on: checked when compiling, claimed in a certificate.

In: the laws of an algorithm after phase 0. Out: nothing, or a ScheduleError at the user's line; Results.

    f.update().rfactor(ro, u) of an argmin   ->   z3 proves "(x1 <= y1 …) is associative", once a compile

An operator of the table needs no solver, so the default compile loads none. No law holds of floats to the last bit: it
is the user's word that this will do, unless the target asks for ``strict_float``. It must hold of numbers that are not
rounded: ``min(x + y, 1000)`` is associative of neither.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

from halide_core import ir
from halide_core.algorithm.law import Law
from halide_core.algorithm.model import AlgebraicLaw, Function
from halide_core.bounds.verify.vc import Assumption, Claim, ClaimKind, Result, Status, nothing
from halide_core.errors import ScheduleError
from halide_core.ir import ExprNode
from halide_core.ir.visitor import stmt_exprs, subexpressions, walk
from halide_core.loop_nest import Level, Order, Program, path_to, provided
from halide_core.run.target import Target, wants_strict_floats
from halide_core.schedule.access_directives import Atomic

Z3 = threading.Lock()
"""z3's expressions live in one context, which only one thread at a time may touch."""


def check_laws(laws: Sequence[AlgebraicLaw], target: Target | None) -> None:
    """Raises ScheduleError for a law of floats under ``strict_float``, and for one that is not known or proven."""
    strict = wants_strict_floats(target)
    for each in laws:
        d, law = each.directive, each.law
        if law is None:
            continue  # on the user's word
        if not law.exact and strict:
            raise ScheduleError(
                f"{d.spelled()}: {law.told()} is of floats, which it would bracket in another way, and so round "
                f"otherwise; the target asks for strict_float. The legal choices: no {d.call().partition('(')[0]}, or "
                f"a target without strict_float.",
                d.location,
            )
        if not law.known:
            with Z3:
                parts = _parts(law)
            for told, status in parts:
                if status is not Status.PROVEN:
                    found = "is false" if status is Status.REFUTED else "could not be proven within the budget"
                    raise ScheduleError(
                        f"{d.spelled()}: of {law.told()}{_meant(law)}, that {told}: this {found}. The legal choice: an "
                        f"operator that is known, or can be proven, to be associative, such as +, *, min, max, or an "
                        f"argmin.",
                        d.location,
                    )


def law_results(laws: Sequence[AlgebraicLaw]) -> list[Result]:
    """The results of the claims about laws. The table isn't taken for granted here; to be called under ``Z3``."""
    results: list[Result] = []
    for each in laws:
        d, law = each.directive, each.law
        if law is None:
            claim = _claim(each, "the order of updates does not matter")
            said = isinstance(d, Atomic) and d.override
            word = (Assumption(d.spelled(), d.location),)
            results.append(Result(claim, Status.ASSUMED, (), None, word) if said else Result(claim, Status.REFUTED))
        else:
            parts = [] if law.known and not law.exact else _parts(law)
            told = f"of {law.told()}{_meant(law)}, "
            results += [Result(_claim(each, told + part), status) for part, status in parts]
            if not law.exact:
                claim = _claim(each, f"of {law.told()}, floats may be bracketed in another way, NaN among them")
                results.append(Result(claim, Status.ASSUMED, (), None, (Assumption(d.spelled(), d.location),)))
    return results


def order_results(program: Program) -> list[Result]:
    """The results of the claims that updates which may come in any order, or whose iterations take turns, have a law
    among those that ``law_results`` is about, which says that any order will do."""
    laws = [each for each in program.algorithm.laws if each.law is None or each.law.commutes]
    known = {(each.directive.func.own, each.directive.stage) for each in laws}
    results: list[Result] = []
    for (func, stage, _), nest in program.nests.items():
        if nest.order is Order.COMMUTATIVE or provided(nest.core).atomic:
            told = (f"the order of the updates of stage {stage} rests on a law",)
            claim = Claim(ClaimKind.ORDER, func.name, told, nothing(), ir.TRUE, func.definitions[stage].location)
            results.append(Result(claim, Status.PROVEN if (func.own, stage) in known else Status.REFUTED))
    return results


def memo_results(program: Program) -> list[Result]:
    """The results of the claims about memoized Funcs, of their keys and of what is left out. The key was made of
    definitions; what the nests read, after inlining, has to be in it. That a tag stands for what is below it is the
    user's word."""
    results: list[Result] = []
    for func, each in program.remembered.items():
        d = each.directive
        told = ("equal keys are of equal values",)
        claim = Claim(ClaimKind.MEMOIZED, func.name, told, nothing(), ir.TRUE, d.location)
        if each.tagged:
            results.append(Result(claim, Status.ASSUMED, (), None, (Assumption(d.spelled(), d.location),)))
        else:
            missed = _read_for(program, func) - set(each.words)
            results.append(Result(claim, Status.REFUTED if missed else Status.PROVEN))
        told = ("all that is left out with it is kept for it alone",)
        claim = Claim(ClaimKind.MEMOIZED, func.name, told, nothing(), ir.TRUE, d.location)
        results.append(Result(claim, Status.REFUTED if _is_kept_longer(program, func) else Status.PROVEN))
    return results


def _is_kept_longer(program: Program, func: Function) -> bool:
    """True where a Func is computed in the loops of a memoized one, with memory that outlives these."""
    loops = {loop.name for key in program.keys(func) for loop in program.nests[key].loops}

    def inside(level: Level) -> bool:
        return any(loop.name in loops for loop in path_to(program, level))

    return any(inside(place) and not inside(program.stored[g]) for g, place in program.computed.items())


def _read_for(program: Program, func: Function) -> set[ExprNode]:
    """The Params, shapes and elements of inputs and of outputs' buffers that a Func's values are computed of."""
    found: set[ExprNode] = set()
    reached, waiting = {func}, [func]
    while waiting:
        for key in program.keys(waiting.pop()):
            nest = program.nests[key]
            ends = [e for loop in nest.loops if not loop.pure for e in (loop.bounds.min, loop.bounds.len)]
            for e in subexpressions([*ends, *(e for s in walk(nest.core) for e in stmt_exprs(s))]):
                if isinstance(e, ir.Access) and isinstance(e.callee, Function):
                    if e.callee.keeps:  # it has elements of the caller's buffer
                        found.add(e)
                    if e.callee not in reached:
                        reached.add(e.callee)
                        waiting.append(e.callee)
                elif isinstance(e, ir.ParamRef | ir.BufferField | ir.Access):
                    found.add(e)
    return found


def _meant(law: Law) -> str:
    return "" if law.exact else ", as if floats were not rounded"


def _claim(each: AlgebraicLaw, told: str) -> Claim:
    return Claim(ClaimKind.LAW, each.directive.func.name, (told,), nothing(), ir.TRUE, each.directive.location)


def _parts(law: Law) -> list[tuple[str, Status]]:
    try:
        from halide_core.bounds.smt.laws import prove_law  # noqa: PLC0415  # z3 takes long to import
    except ImportError as missing:
        raise ScheduleError(
            f'That {law.told()} is associative needs the z3 solver, which is not installed: '
            f'pip install "halide-core[bounds]".'
        ) from missing
    return prove_law(law)
