"""Loops around calls of C functions: the windows of a Func that its outer loops go through, one after another.

In: a stage of a Func, one of its loops, and a region. Out: the part of the region that each iteration computes.

    f.tile(x, y, xo, yo, xi, yi, 8, 4), loop xo, region 16 × 4   ->   ((0, 8), (0, 4)), ((8, 8), (0, 4))

An iteration computes a window where the loops from the outermost one to the given one are the outer parts of dimensions
and not of reductions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.errors import Location, ScheduleError
from halide_core.run.backend import Box
from halide_core.schedule.directives import (
    Directive,
    Fuse,
    Rename,
    Reorder,
    Split,
    StageDirective,
    TailStrategy,
    Traverse,
)

_CUT = (TailStrategy.GuardWithIf, TailStrategy.Predicate, TailStrategy.PredicateLoads, TailStrategy.PredicateStores)
"""Strategies by which the last window is a smaller one; by the others it is moved inwards."""


@dataclass(frozen=True, slots=True)
class WindowLoop:
    """One loop of windows: each has ``length`` points of dimension ``dim``; the last one may be moved or cut."""

    dim: int
    length: int
    moved: bool


@dataclass(frozen=True, slots=True)
class _StageLoop:
    """The course of a loop: windows of a dimension, or what two loops do that were fused."""

    step: WindowLoop | None = None
    fused: tuple[_StageLoop, ...] = ()
    real: bool = False
    """True where an extern stage's function is called for each iteration: the outer part of a split, or one that is
    said to be serial or parallel."""


@dataclass(slots=True, eq=False)
class Loops:
    """The loops of a stage, the outermost first, as its directives leave them."""

    order: list[str]
    loops: dict[str, _StageLoop] = field(default_factory=dict)

    def steps(self, var: str) -> tuple[WindowLoop, ...] | None:
        """The loops from the outermost one to a given one; None where their iterations compute no windows."""
        if var not in self.order:
            return None
        at = self.order.index(var) + 1
        found: list[WindowLoop] = []
        for step in self._steps(self.order[:at]):
            if step is None or any(s.dim == step.dim and s.length < step.length for s in found):
                return None
            found.append(step)
        within = self._steps(self.order[at:])
        if any(w is not None and w.dim == s.dim and w.length > s.length for s in found for w in within):
            return None
        return tuple(found)

    def _steps(self, names: Sequence[str]) -> list[WindowLoop | None]:
        """The windows that some loops go through, those of fused ones one after another; None for a loop of none."""
        found: list[WindowLoop | None] = []
        waiting = [self.loops.get(name, _StageLoop()) for name in reversed(names)]
        while waiting:
            loop = waiting.pop()
            waiting += reversed(loop.fused)
            found += [] if loop.fused else [loop.step]
        return found

    def take(self, d: Directive) -> None:
        """Applies a directive."""
        match d:
            case Split() if d.old in self.order:
                self._split(d)
            case Fuse() if d.outer in self.order and d.inner in self.order:
                self.order[self.order.index(d.outer)] = d.fused
                self.order.remove(d.inner)
                parts = [self.loops.pop(name, _StageLoop()) for name in (d.outer, d.inner)]
                self.loops[d.fused] = _StageLoop(fused=tuple(parts), real=any(part.real for part in parts))
            case Rename() if d.old in self.order:
                self._replace(d.old, [d.new])
                if d.old in self.loops:
                    self.loops[d.new] = self.loops.pop(d.old)
            case Reorder():
                places = sorted(self.order.index(v) for v in d.vars if v in self.order)
                listed = [v for v in reversed(d.vars) if v in self.order]
                for place, v in zip(places, listed, strict=True):
                    self.order[place] = v
            case Traverse() if d.var in self.loops:
                loop = self.loops[d.var]
                self.loops[d.var] = _StageLoop(loop.step, loop.fused, real=True)
            case _:
                pass

    def _split(self, d: Split) -> None:
        self._replace(d.old, [d.outer, d.inner])
        old = self.loops.pop(d.old, None)
        if old is not None and old.step is not None and isinstance(d.factor, ir.IntImm):
            step, moved = old.step, d.tail not in _CUT
            self.loops[d.inner] = _StageLoop(step)
            self.loops[d.outer] = _StageLoop(WindowLoop(step.dim, step.length * d.factor.value, moved), real=True)

    def _replace(self, name: str, by: Sequence[str]) -> None:
        at = self.order.index(name)
        self.order[at : at + 1] = by


def loops_of(f: Function, stage: int) -> Loops:
    """The loops of a stage without its specializations: those of dimensions around those of reductions, as at first,
    then as each directive says."""
    found = _undirected(f, stage)
    for d in f.directives:
        if isinstance(d, StageDirective) and d.stage == stage and not d.branch.number:
            found.take(d)
    return found


def _undirected(f: Function, stage: int) -> Loops:
    definition = f.definitions[stage]
    pure = [(n, d) for d, n in enumerate(f.args) if f.pure_dims(stage)[d]]
    reductions = list(reversed(definition.domain.names)) if definition.domain else []
    found = Loops([n for n, _ in reversed(pure)] + reductions)
    found.loops = {n: _StageLoop(WindowLoop(d, 1, moved=True)) for n, d in pure}
    return found


def within_window(f: Function, steps: Sequence[WindowLoop]) -> list[StageDirective]:
    """The directives about a Func's loops, for one window of some of them: a split into loops of which all iterations
    but one are other windows has a smaller factor.

        f.split(y, yo, yi, 4), windows of loop yi   ->   f.split(y, yo, yi, 1)
    """
    lengths: dict[int, int] = {}
    for step in steps:
        lengths[step.dim] = min(step.length, lengths.get(step.dim, step.length))
    states: dict[tuple[int, int], Loops] = {}
    found: list[StageDirective] = []
    for d in f.directives:
        if not isinstance(d, StageDirective):
            continue
        general = states.setdefault((d.stage, 0), _undirected(f, d.stage))
        loops = states.setdefault((d.stage, d.branch.number), Loops(list(general.order), dict(general.loops)))
        old = loops.loops.get(d.old) if isinstance(d, Split) else None
        if isinstance(d, Split) and old is not None and old.step is not None and isinstance(d.factor, ir.IntImm):
            length = lengths.get(old.step.dim)
            if length is not None and old.step.length * d.factor.value > length:
                factor = max(length // old.step.length, 1)
                d = replace(d, factor=ir.IntImm(d.factor.type, factor), tail=TailStrategy.GuardWithIf)
        loops.take(d)
        found.append(d)
    return found


def calls(e: Function) -> tuple[WindowLoop, ...]:
    """The loops around calls of an extern stage's function.

    Raises:
        ScheduleError: a loop that the function runs through is outside of one that calls it, or is a vector.
    """
    found = loops_of(e, 0)
    for d in e.directives:
        if isinstance(d, Traverse) and d.kind not in (ir.LoopKind.SERIAL, ir.LoopKind.PARALLEL):
            raise _refused(e, d.spelled(), "its loops call a C function, or run inside of it.", d.location)
    real = [k for k, name in enumerate(found.order) if (loop := found.loops.get(name)) is not None and loop.real]
    if not real:
        return ()
    last = real[-1]
    steps = found.steps(found.order[last])
    inside = [name for k, name in enumerate(found.order[:last]) if k not in real and not found.loops[name].fused]
    if steps is None or inside:
        d = next(d for d in reversed(e.directives) if isinstance(d, StageDirective))
        name = found.order[last]
        raise _refused(
            e, d.spelled(), f'loop "{name}" is inside of one that the C function itself runs through. Reorder them, so '
            f"that those which call it are the outermost.", d.location,
        )  # fmt: skip
    return steps


def _refused(e: Function, spelled: str, why: str, at: Location) -> ScheduleError:
    return ScheduleError(f'{spelled}: "{e.name}" is an extern stage: {why}', at)


def windows(steps: Sequence[WindowLoop], region: Box) -> Iterator[Box]:
    """The windows of a region, in the order of the loops; all of them together are the region."""
    if not steps:
        yield region
        return
    step = steps[0]
    low, extent = region[step.dim]
    for at in range(low, low + extent, step.length):
        first = max(low, min(at, low + extent - step.length)) if step.moved else at
        size = min(step.length, low + extent - first)
        part = (*region[: step.dim], (first, size), *region[step.dim + 1 :])
        yield from windows(steps[1:], part)
