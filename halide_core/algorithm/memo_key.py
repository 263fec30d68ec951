"""Memo keys: what all values of a Func depend on, and can be remembered by.

In: a Func. Out: start-up expressions, and the inputs whose elements are read without a tag.

    f[x] = g[x] * p,  g[x] = memoize_tag(im[x], version)   ->   (p, version)

Values are functions of a point, of Params, of the shapes of buffers, of the elements of inputs, and of those of buffers
for outputs that leave points undefined; those of a point are told apart by where it is. A tag stands for all that is
below it: on the user's word.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from halide_core import ir
from halide_core.algorithm.model import Algorithm, Definition, Function, Image, MemoKey
from halide_core.ir import ExprNode
from halide_core.ir.visitor import parts
from halide_core.schedule.storage_directives import Memoize


def with_memo_keys(algorithm: Algorithm) -> Algorithm:
    """The algorithm with the keys of its memoized Funcs, as their definitions are now: inlining takes tags away."""
    asked = [f for f in algorithm.functions if is_memoized(f)]
    return replace(algorithm, memo_keys={f: memo_key(f) for f in asked}) if asked else algorithm


def is_memoized(f: Function) -> bool:
    """True where the values of a Func may be those of an earlier run."""
    return any(isinstance(d, Memoize) for d in f.directives)


def memo_key(function: Function) -> MemoKey:
    """The key of a Func."""
    words: dict[ExprNode, None] = {}
    inputs: dict[Image, None] = {}
    tagged = False
    reached = {function: None}
    waiting = [function]
    while waiting:
        for d in waiting.pop().definitions:
            tags: dict[ExprNode, tuple[ExprNode, ...]] = {}
            for tag in d.tags:
                tags[tag.value] = (*tags.get(tag.value, ()), *tag.words)
            for e in _below(d, tags):
                if e in tags:
                    tagged = True
                    words.update(dict.fromkeys(tags[e]))
                elif isinstance(e, ir.ParamRef | ir.BufferField):
                    words.setdefault(e)
                elif isinstance(e, ir.Access) and isinstance(e.callee, Image):
                    inputs.setdefault(e.callee)
                elif isinstance(e, ir.Access) and isinstance(e.callee, Function) and e.callee not in reached:
                    reached.setdefault(e.callee)
                    waiting.append(e.callee)
    return MemoKey(tuple(words), tagged, tuple(inputs), tuple([f for f in reached if f.keeps]))


def _below(d: Definition, tags: dict[ExprNode, tuple[ExprNode, ...]]) -> Iterator[ExprNode]:
    """Every expression of a stage, each once, but for those below tags."""
    ends = () if d.domain is None else tuple(e for i in d.domain.bounds for e in (i.min, i.len))
    partial = tuple(e for p in d.partial for e in (p.value, p.where))
    waiting = [*d.exprs(), *ends, *partial]
    seen = set(waiting)
    while waiting:
        e = waiting.pop()
        yield e
        for part in () if e in tags else parts(e):
            if part not in seen:
                seen.add(part)
                waiting.append(part)
