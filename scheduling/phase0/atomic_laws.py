"""Atomic updates: whether the order in which iterations take their turns matters.

In: an algorithm, or a program and a directive. Out: the laws that its atomic stages rest on; the program with a stage
whose updates are each one step.

    f.update().atomic():   f[x] = f[x] + g[r]   ->   atomic f[x] = f[x] + g[r]
"""

from __future__ import annotations

from dataclasses import replace

from halide_core.algorithm.model import AlgebraicLaw, Algorithm, Function
from halide_core.analysis.associativity import law_of, updates_points
from halide_core.errors import DependenceError
from halide_core.ir import If, Provide, Stmt
from halide_core.loop_nest import Program
from halide_core.schedule.access_directives import Atomic
from halide_core.scheduling.legality import refuse, stage_key

_OPERATORS = "+, *, min, max, &, | or ^"


def atomic_laws(algorithm: Algorithm) -> Algorithm:
    """The algorithm with the laws of its atomic stages, each once.

    Raises: ScheduleError for a stage whose steps can't be told apart from their order.
    """
    found: list[AlgebraicLaw] = []
    for f in algorithm.functions:
        asked = {d.stage: d for d in f.directives if isinstance(d, Atomic)}
        found += [check_law(f, d) for d in asked.values()]
    return replace(algorithm, laws=(*algorithm.laws, *found)) if found else algorithm


def check_law(f: Function, d: Atomic) -> AlgebraicLaw:
    """The law that an atomic stage rests on.

    Raises: ScheduleError, where there is none and the user's word isn't given.
    """
    known = f.definitions[d.stage] if d.stage < len(f.definitions) else None
    if known is not None and known.domain is not None and known.domain.at_once:
        told = "the definition gives several points values at once (hl.scatter), which is no one step."
        refuse(d, told, DependenceError)
    if d.override or d.stage >= len(f.definitions) or not updates_points(f, f.definitions[d.stage]):
        return AlgebraicLaw(d, None)  # the loops phase refuses it
    law = law_of(f, f.definitions[d.stage])
    word = f"{d.own.subject()}.atomic(True) takes your word that the order does not matter"
    if law is None or not law.commutes:
        told = "the update" if law is None else law.told()
        refuse(
            d,
            f"{told} is not known to be associative and commutative, so the order of steps shows. Operators that are: "
            f"{_OPERATORS}. {word}.",
            DependenceError,
        )
    return AlgebraicLaw(d, law)


def atomic(program: Program, d: Atomic) -> Program:
    """Makes the updates of a stage atomic.

    Args:
        program: the program.
        d: the stage.

    Rewrite: see the module's docstring. Directives after this one may make reduction loops parallel or vectorized.

    Legal when: the stage reads its Func where it writes it, and nowhere else. That its operator is associative and
    commutative was checked (``atomic_laws``), or is the user's word.

    Raises: ScheduleError.
    """
    key = stage_key(program, d)
    if not updates_points(key.func, key.func.definitions[key.stage]):
        name = key.func.own.name
        refuse(
            d,
            f'an atomic step reads one point of "{name}" and writes it, and the stage does not: it must read '
            f'"{name}" where it writes it, and nowhere else.',
            DependenceError,
        )
    nest = program.nests[key]
    return program.with_nest(key, replace(nest, core=_marked(nest.core)))


def _marked(core: Stmt) -> Stmt:
    if isinstance(core, If):
        return replace(core, then=_marked(core.then))
    assert isinstance(core, Provide)
    return replace(core, atomic=True)
