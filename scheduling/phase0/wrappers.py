"""Phase 0, second: wrappers and clones, Alg -> Alg.

In: an algorithm. Out: one in which consumers read the Funcs that ``in_`` and ``clone_in`` made in place of the one that
they were written with, and these directives are gone.

    g.in_(f)         ->   fun w(x) = g(x);    fun f(x) = w(x) + w(x + 1)
    im.in_(f)        ->   fun w(_0) = im(_0);  fun f(x) = w(x)                 where im is an input
    g.clone_in(f)    ->   fun c(x) = x*2;     fun f(x) = c(x) + c(x + 1)      where g(x) = x*2
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from halide_core.algorithm.model import Algorithm, Function, realization_order
from halide_core.algorithm.rename import Renamed
from halide_core.errors import HalideWarning, warn_user
from halide_core.ir import BufferField, Callee, ExprNode
from halide_core.ir.visitor import accesses_to
from halide_core.schedule.directives import Estimate
from halide_core.schedule.func_directives import CloneIn, InInput, ReadInstead
from halide_core.scheduling.legality import refuse


def wrap_calls(algorithm: Algorithm) -> Algorithm:
    """Applies every ``in_`` and ``clone_in``.

    Rewrite: ``f`` reads the directive's Func, whose values are the same, where it read ``g``. One without consumers is
    about all that have none of their own.

    Legal when: each consumer that is part of the pipeline reads the Func. What others read is no matter here: so a Func
    that several pipelines share can be realized with one of them at a time. Nor does it matter where nobody reads a
    wrapper: it may be an output itself, as the copy that gives a reduction's result out is. A Func that leaves points
    undefined has there what the caller's buffer has, if it is an output, and 0 if it is none: it is no output where a
    clone of it is read, and neither is the clone.

    Raises: ScheduleError, with those that do.
    """
    warn_of_readers_beside(algorithm)
    inputs: dict[Callee, list[ReadInstead]] = {}
    for f in algorithm.functions:
        for d in f.directives:
            if isinstance(d, InInput):
                inputs.setdefault(d.image, []).append(d)
    for image, made in inputs.items():
        _wrap(algorithm, image, made)
    for f in algorithm.functions:
        f.directives = [d for d in f.directives if not isinstance(d, InInput)]
    wrapped = bool(inputs)
    for f in algorithm.functions:  # a Func before what wraps it, which may be wrapped in turn
        given = [d for d in f.directives if isinstance(d, ReadInstead)]
        if given:
            wrapped = True
            _wrap(algorithm, f, given)
            f.directives = [d for d in f.directives if d not in given]
    if not wrapped:
        return algorithm
    functions = tuple(realization_order(algorithm.outputs))
    return replace(algorithm, functions=functions, directives=tuple(d for f in functions for d in f.directives))


def warn_of_readers_beside(algorithm: Algorithm) -> None:
    """Warns of a directive about ``hl.Func(im)`` where others read the ImageParam itself. In Halide the two are one."""
    made = {f: f.stands_for for f in algorithm.functions if f.stands_for is not None}
    for f, image in made.items():
        asked = [d for d in f.directives if not isinstance(d, Estimate)]
        if not asked:
            continue
        wrappers = [g for g in algorithm.functions if any(isinstance(d, InInput) for d in g.directives)]
        others = [g for g in algorithm.functions if g not in (*made, *wrappers) and _reads(g, image)]
        if others:
            names = " and ".join(f'"{g.name}"' for g in others)
            told = f'{names} read{"s" * (len(others) == 1)} "{image.name}" itself, of which this says nothing'
            way = f"Schedule {image.name}.in_(), which all read, or read {f.name} there"
            warn_user(f"{asked[0].spelled()}: {told}. {way}.", HalideWarning, asked[0].location)


def _wrap(algorithm: Algorithm, f: Callee, given: list[ReadInstead]) -> None:
    made = [d.instead for d in given]
    readers = [g for g in algorithm.functions if g is not f and g not in made and _reads(g, f)]
    served: list[Function] = []
    for d in sorted(given, key=lambda d: not d.consumers):  # one for all comes last
        named = [g for g in algorithm.functions if g in d.consumers and g is not d.instead and _reads(g, f)]
        consumers = named if d.consumers else [g for g in readers if g not in served]
        missing = [c.name for c in d.consumers if c in algorithm.functions and c not in consumers]
        if missing:
            legal = ", ".join(g.name for g in readers if g not in served) or "none"
            told = f'"{missing[0]}" does not read it in this pipeline'
            refuse(d, f"{told}. Those that do, and read nothing in its place yet: {legal}.")
        served += consumers
        assert isinstance(d.instead, Function)
        if consumers and isinstance(d, CloneIn):
            _refuse_of_outputs(d, algorithm.outputs)
        to = _Reading({f: d.instead})
        for g in consumers:
            g.definitions = [to.definition(stage) for stage in g.definitions]
            g.extern = to.call(g.extern)


def _refuse_of_outputs(d: CloneIn, outputs: Sequence[Function]) -> None:
    """Refuses a clone that would have other values where the definition leaves points undefined."""
    keeping = next((g for g in (d.func, d.instead) if g in outputs and isinstance(g, Function) and g.keeps), None)
    if keeping is not None:
        refuse(
            d,
            f'"{keeping.name}" is an output that leaves points undefined: it has there what the caller\'s buffer has, '
            f"and a clone would not. in_() makes a Func that reads the same memory.",
        )


def _reads(g: Function, f: Callee) -> bool:
    """True where a Func reads another one, or an input, at a point: the shape of an input is no matter here."""
    exprs = [e for d in g.definitions for e in d.exprs()]
    return bool(accesses_to(f, exprs))


class _Reading(Renamed):
    """Reads another callee. The shape of an input stays that of the input."""

    def rewrite_BufferField(self, e: BufferField) -> ExprNode:
        """The field as it is."""
        return e
