"""Wrappers of inputs, read by the Funcs that they are for: an input has no directives that a copy could rename.

In: outputs. Out: copies of which those that read an input through a wrapper do so in their definitions.

    image.in_(f) is w   ->   w(_0) = image(_0);  f(x) = w(x) + w(x + 1)
"""

from __future__ import annotations

from collections.abc import Sequence

from halide_core import ir
from halide_core.algorithm.model import Function, realization_order, with_made_funcs
from halide_core.algorithm.rename import Renamed
from halide_core.blocks.reductions import copied
from halide_core.ir.visitor import accesses_to
from halide_core.schedule.func_directives import InInput


def without_input_wrappers(outputs: Sequence[Function]) -> tuple[Function, ...]:
    """Outputs that read what ``image.in_(…)`` made."""
    if not any(isinstance(d, InInput) for f in with_made_funcs(realization_order(outputs)) for d in f.directives):
        return tuple(outputs)
    to = copied(outputs, {}, wrappers=True)
    given = [d for f in to.values() for d in f.directives if isinstance(d, InInput)]
    for image in dict.fromkeys(d.image for d in given):
        _wrap(list(to.values()), image, [d for d in given if d.image is image])
    for f in to.values():
        f.directives = [d for d in f.directives if not isinstance(d, InInput)]
    return tuple(to[f] for f in outputs)


def _wrap(functions: Sequence[Function], image: ir.Callee, given: Sequence[InInput]) -> None:
    made = [d.instead for d in given]
    waiting = [g for g in functions if g not in made and _reads(g, image)]
    for d in sorted(given, key=lambda d: not d.consumers):  # one for all comes last
        for g in [g for g in waiting if not d.consumers or g in d.consumers]:
            to = _OfWrapper({image: d.instead})
            g.definitions = [to.definition(stage) for stage in g.definitions]
            waiting.remove(g)


def _reads(g: Function, image: ir.Callee) -> bool:
    return bool(accesses_to(image, [e for d in g.definitions for e in d.exprs()]))


class _OfWrapper(Renamed):
    """Reads a wrapper. The shape of an input stays that of the input."""

    def rewrite_BufferField(self, e: ir.BufferField) -> ir.ExprNode:
        """The field as it is."""
        return e
