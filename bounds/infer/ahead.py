"""Iterations that an asynchronous producer may be ahead of what reads it.

In: a Func that a thread of its own computes, its compute bounds, slides and folds. Out: by how many iterations of the
loops around it the producer may be further without touching what an iteration behind still reads; None: by any number.

    ?cpu g.y = [y, y + 2] inside loop y, y slides        ->   any number: y + 1 computes row y + 3 alone
                                         and folds by 5  ->   2: rows y to y + 4 have slots of their own

What has to be proven, of one dimension that slides along the only loop that moves: what an iteration computes is above
all that the one before needs, and no iteration needs what is above the needs of a later one. An iteration computes,
then, what is above the needs of all before it. Memory that folds keeps apart what lies closer together than it has
slots. Where it is not proven, or what reads it is rounded up beyond what it needs, the answer is 0: the producer waits
until the iteration before is done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.analysis.prover import Facts
from halide_core.analysis.simplify import Simplifier, simplify
from halide_core.bounds.engines.interface import Ranges
from halide_core.bounds.infer.sliding import windows
from halide_core.bounds.query.answers import Answer, Lead, Slide
from halide_core.bounds.query.query import Query
from halide_core.ir import ExprNode, Interval, IntImm
from halide_core.ir.visitor import Substitution
from halide_core.loop_nest import Loop, path_to, provided

_MOST = 64
"""Further ahead than this of folded memory no producer is let."""


def iterations_ahead(
    query: Query,
    ranges: Ranges,
    known: Sequence[Answer],
    f: Function,
    slides: Sequence[Slide],
    folds: Mapping[int, ExprNode],
) -> Lead:
    """See the module's docstring."""
    program = query.program
    loops = path_to(program, program.computed[f])[len(path_to(program, program.stored[f])) :]
    moving = [loop for loop in loops if simplify(loop.bounds.len) is not ir.ONE]
    if not moving:
        return Lead(None)
    if reads_beyond(query, f):
        return Lead(0)
    best = Lead(0)
    for slide in slides:
        if len(moving) == 1 and slide.loop == moving[0].name and _writes_what_it_covers(query, f, slide.dim):
            window = windows(query, ranges, known, f)[slide.dim]
            count = _MovingWindow(query, ranges, f, moving[0], window).ahead(slide, folds.get(slide.dim))
            if best.count is not None and (count is None or count > best.count):
                best = Lead(count, slide.loop, slide.dim)
    return best


def reads_beyond(query: Query, f: Function) -> bool:
    """True where something reads more of a Func than it needs, as a split that is rounded up does: that must not be
    written meanwhile, though nobody uses it."""
    return any(clause.reader.func is not f for clause in query.needs_memory.get(f, ()))


def _writes_what_it_covers(query: Query, f: Function, d: int) -> bool:
    """True where all stages write, in a dimension, where their loops are."""
    nests = [(key, query.program.nests[key]) for key in query.program.keys(f)]
    return all(
        f.pure_dims(key.stage)[d]
        and (not nest.overcomputes or provided(nest.core).args[d] in [x.var for x in nest.loops])
        for key, nest in nests
    )


class _MovingWindow:
    """A window that moves with a loop."""

    def __init__(self, query: Query, ranges: Ranges, f: Function, loop: Loop, window: Interval) -> None:
        scope = query.scope(query.program.computed[f])
        self._var = loop.var
        known = ranges.facts.at(scope)
        self._every = Facts(known)
        self._later = Facts(known)
        """Of all iterations but the first."""
        self._later.assume_at_least(loop.var, simplify(ir.add(ranges.unholed(loop.bounds.min), ir.ONE)))
        self._low = window.min
        self._high = simplify(ir.sub(ir.add(window.min, window.len), ir.ONE))
        self._ranges = ranges

    def _moved(self, e: ExprNode, by: int) -> ExprNode:
        return simplify(Substitution({self._var: ir.add(self._var, ir.i64(by))}).expr(e))

    def ahead(self, slide: Slide, slots: ExprNode | None) -> int | None:
        """The number of iterations by which a producer may be ahead: what it computes stays above what is needed, and
        apart."""
        start = Simplifier(self._later).expr(self._ranges.unholed(slide.covered.min))
        before = self._moved(self._high, -1)
        above = self._later.proves_le(ir.add(before, ir.ONE), start) and self._later.proves_le(before, self._high)
        if not above:
            return 0
        if slots is None:
            return None
        if not isinstance(slots, IntImm):
            return 0
        apart = (k for k in range(min(slots.value, _MOST), 0, -1) if self._apart(k, slots))
        return next(apart, 0)

    def _apart(self, k: int, slots: ExprNode) -> bool:
        """True where all that so many iterations need, and the one before them, lies within the slots."""
        span = ir.add(ir.sub(self._moved(self._high, k), self._low), ir.ONE)
        return self._every.proves_le(simplify(span), slots)
