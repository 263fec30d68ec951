"""Scheduling the loops of one stage: each call records one directive as data, or several.

In: ``f.update().vectorize(x, 8)``. Out: frozen records in ``function.directives``, with the user's line. Here Python's
types are checked; ``lowering.at_call`` says at once what the loops of the stage can tell, and ``scheduling``, as the
pipeline is compiled, the rest.

    f.vectorize(x, 8)   ->   f.split(x, x, x.v, 8); f.vectorize(x.v)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict, overload

from halide_core.algorithm.model import Function
from halide_core.algorithm.sources import Source
from halide_core.checks import shown
from halide_core.errors import ScheduleError, user_location
from halide_core.func.scheduling.partial_results import partial_results
from halide_core.func.scheduling.stage_arguments import (
    AUTO,
    AlignLike,
    LoopHandle,
    VarOrRVar,
    alignments,
    factor_text,
    listed,
    loop_name,
    new_names,
    positive,
    pure_name,
    tail_text,
    tile_groups,
)
from halide_core.ir import IntImm, LoopKind
from halide_core.ir.memory import PrefetchBoundStrategy
from halide_core.lang.arguments.keywords import one_of
from halide_core.lang.coordinates import startup, startup_condition
from halide_core.lang.expr import ExprLike, Var, as_node
from halide_core.run.implementation import implementation
from halide_core.schedule.access_directives import Atomic, Partition, PartitionLoop, Prefetch
from halide_core.schedule.directives import (
    GENERAL,
    AllowRaceConditions,
    Branch,
    ComputeWith,
    Fuse,
    LoopAlignStrategy,
    Rename,
    Reorder,
    Specialize,
    SpecializeFail,
    Split,
    StageDirective,
    TailStrategy,
    Traverse,
)
from halide_core.schedule.specialization import made_case, next_number, refuse_after_fail
from halide_core.unsupported import STAGE, Pending

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack  # in typing from Python 3.11

_From = TypedDict("_From", {"from": VarOrRVar}, total=False)
"""Halide's name of an argument, which Python allows as ``**{"from": y}`` alone."""


class StageSchedule(Pending):
    """The directives about the loops of one stage, shared by Func (its first stage) and Stage."""

    _pending = STAGE

    def _stage(self) -> tuple[Function, int]:
        """The Func and the stage that the directives are about."""
        raise NotImplementedError  # Func and Stage say

    def _scheduled(self) -> tuple[Function, int]:
        function, stage = self._stage()
        if stage >= len(function.definitions):
            raise ScheduleError(f'Func "{function.name}" has no loops to schedule: it is not defined.')
        return function, stage

    def _branch(self) -> Branch:
        """The specialization that the directives are about."""
        return GENERAL

    def _record(self, *directives: StageDirective) -> Self:
        branch, function = self._branch(), self._stage()[0]
        given = [replace(d, branch=branch) for d in directives]
        implementation().check(function, given)
        function.directives.extend(given)
        return self

    def _fresh(self, old: str, suffix: str) -> str:
        """A name for an inner loop that no loop of the Func has, the same in every run."""
        function, _ = self._stage()
        taken = new_names(function.directives) | set(function.args)
        for definition in function.definitions:
            taken |= set(definition.domain.names if definition.domain is not None else ())
        name, number = f"{old}.{suffix}", 1
        while name in taken:
            number += 1
            name = f"{old}.{suffix}{number}"
        return name

    def _split(self, directive: str, old: str, outer: str, inner: str, factor: ExprLike, tail: TailStrategy) -> Split:
        function, stage = self._scheduled()
        if not isinstance(tail, TailStrategy):
            raise ScheduleError(f"The tail of {directive}() must be a hl.TailStrategy, not {tail!r}.")
        if outer == inner:
            raise ScheduleError(f'{directive}() can\'t make two loops that are both called "{inner}".')
        steps = positive(f"The factor of {directive}()", factor)
        return Split(
            func=function, stage=stage, location=user_location(),
            old=old, outer=outer, inner=inner, factor=steps, tail=tail,
        )  # fmt: skip

    def _traverse(self, var: str, kind: LoopKind) -> Traverse:
        function, stage = self._scheduled()
        return Traverse(func=function, stage=stage, location=user_location(), var=var, kind=kind)

    def _reorder(self, directive: str, names: tuple[str, ...]) -> Reorder:
        function, stage = self._scheduled()
        twice = next((n for n in names if names.count(n) > 1), None)
        if twice is not None:
            raise ScheduleError(f'{directive}() names the loop "{twice}" twice.')
        return Reorder(func=function, stage=stage, location=user_location(), vars=names)

    def split(
        self, old: VarOrRVar, outer: VarOrRVar, inner: VarOrRVar, factor: ExprLike, tail: TailStrategy = AUTO
    ) -> Self:
        """Splits a loop in two.

        Args:
            old: the loop; its name may be used again for one of the two.
            outer, inner: the new loops; ``inner`` takes ``factor`` steps.
            factor: a positive start-up expression.
            tail: what becomes of the rest where ``factor`` doesn't divide the extent.

        Rewrite: ``for x in (m, n): s`` → ``for xo in (0, ceil(n/k)): for xi in (0, k): let x = m + xo*k + xi; s``

        Legal when: the stage has the loop, it is neither vectorized nor unrolled, and the tail fits it
        (``scheduling``). Of a parallel loop the outer one stays parallel, and the inner one is serial.

        Raises:
            ScheduleError: an argument of the wrong type, a factor below 1, two loops of one name.
        """
        names = [loop_name("split", v) for v in (old, outer, inner)]
        return self._record(self._split("split", names[0], names[1], names[2], factor, tail))

    def fuse(self, inner: VarOrRVar, outer: VarOrRVar, fused: VarOrRVar) -> Self:
        """Makes one loop of two, ``inner`` changing fastest.

        Rewrite: ``for y in (my, ny): for x in (mx, nx): s`` →
        ``for t in (0, nx*ny): let x = mx + t % nx; let y = my + t / nx; s``

        Legal when: both are serial, since how they are run is said of the fused loop; and both are loops of
        dimensions, or ``inner`` is immediately inside ``outer``, or may be brought there. A loop of a dimension and a
        reduction loop make a reduction loop.
        """
        names = [loop_name("fuse", v) for v in (inner, outer, fused)]
        function, stage = self._scheduled()
        if names[0] == names[1]:
            raise ScheduleError(f'fuse() needs two loops, not "{names[0]}" twice.')
        at = user_location()
        return self._record(
            Fuse(func=function, stage=stage, location=at, inner=names[0], outer=names[1], fused=names[2])
        )

    def reorder(self, *args: VarOrRVar | Sequence[VarOrRVar], vars: Sequence[VarOrRVar] | None = None) -> Self:
        """Nests loops as listed, innermost first; loops that aren't listed keep their places.

        Rewrite: ``reorder(y, x)``: ``for y: for x: s`` → ``for x: for y: s``
        """
        flat = listed("reorder", args, "vars", vars)
        return self._record(self._reorder("reorder", tuple(loop_name("reorder", v) for v in flat)))

    @overload
    def tile(
        self, x: VarOrRVar, y: VarOrRVar, xo: VarOrRVar, yo: VarOrRVar, xi: VarOrRVar, yi: VarOrRVar,
        xfactor: ExprLike, yfactor: ExprLike, tail: TailStrategy = ...,
    ) -> Self: ...
    @overload
    def tile(
        self, x: VarOrRVar, y: VarOrRVar, xi: VarOrRVar, yi: VarOrRVar, xfactor: ExprLike, yfactor: ExprLike,
        tail: TailStrategy = ...,
    ) -> Self: ...
    @overload
    def tile(
        self, previous: Sequence[VarOrRVar], outers: Sequence[VarOrRVar], inners: Sequence[VarOrRVar],
        factors: Sequence[ExprLike], tail: TailStrategy = ...,
    ) -> Self: ...
    @overload
    def tile(
        self, previous: Sequence[VarOrRVar], inners: Sequence[VarOrRVar], factors: Sequence[ExprLike],
        tail: TailStrategy = ...,
    ) -> Self: ...
    def tile(self, *args: object, tail: TailStrategy = AUTO, **named: object) -> Self:
        """Splits two loops, or a list of loops, and nests all inner ones inside all outer ones.

        Args: ``(x, y, xo, yo, xi, yi, xfactor, yfactor)``, ``(x, y, xi, yi, xfactor, yfactor)``,
            ``(previous, outers, inners, factors)`` or ``(previous, inners, factors)``, these being lists; and a tail.

        Rewrite: as ``split`` for each, then ``reorder(xi, yi, xo, yo)``.
        """
        if args and isinstance(last := args[-1], TailStrategy):
            args, tail = args[:-1], last
        old, outer, inner, factors = tile_groups(args, named)
        if not len(old) == len(outer) == len(inner) == len(factors):
            raise ScheduleError("The lists given to tile() must have one length.")
        o, t, i = ([loop_name("tile", v) for v in group] for group in (old, outer, inner))
        steps: list[Any] = factors
        splits = [self._split("tile", a, b, c, k, tail) for a, b, c, k in zip(o, t, i, steps, strict=True)]
        shown = [*o, *(t if t != o else []), *i, *(repr(as_node(k)) for k in steps)]
        written = f"tile({', '.join(shown)}{tail_text(tail)})"
        return self._record(*(replace(d, written=written) for d in (*splits, self._reorder("tile", (*i, *t)))))

    def vectorize(self, var: VarOrRVar, factor: ExprLike | None = None, tail: TailStrategy = AUTO) -> Self:
        """Runs all iterations of a loop, or of an inner loop of ``factor`` steps, at once as lanes of vectors. Of such
        loops inside one another the innermost has the lanes, and the others say how many vectors there are."""
        return self._inner("vectorize", "v", LoopKind.VECTORIZED, var, factor, tail)

    def unroll(self, var: VarOrRVar, factor: ExprLike | None = None, tail: TailStrategy = AUTO) -> Self:
        """Writes out all iterations of a loop, or of an inner loop of ``factor`` steps."""
        return self._inner("unroll", "u", LoopKind.UNROLLED, var, factor, tail)

    def _inner(
        self, verb: str, suffix: str, kind: LoopKind, var: VarOrRVar, factor: ExprLike | None, tail: TailStrategy
    ) -> Self:
        name = loop_name(verb, var)
        if factor is None:
            return self._record(self._traverse(name, kind))
        inner = self._fresh(name, suffix)
        both = (self._split(verb, name, name, inner, factor, tail), self._traverse(inner, kind))
        return self._record(*(replace(d, written=factor_text(verb, name, factor, tail)) for d in both))

    def parallel(self, var: VarOrRVar, task_size: ExprLike | None = None, tail: TailStrategy = AUTO) -> Self:
        """Spreads the iterations of a loop, or tasks of ``task_size`` of them, over the threads."""
        name = loop_name("parallel", var)
        run = self._traverse(name, LoopKind.PARALLEL)
        if task_size is None:
            return self._record(run)
        both = (self._split("parallel", name, name, self._fresh(name, "t"), task_size, tail), run)
        return self._record(*(replace(d, written=factor_text("parallel", name, task_size, tail)) for d in both))

    def serial(self, var: VarOrRVar) -> Self:
        """Runs the iterations of a loop one after another, as all loops do that nothing else is said of."""
        return self._record(self._traverse(loop_name("serial", var), LoopKind.SERIAL))

    def allow_race_conditions(self) -> Self:
        """Lets directives given after this one make reduction loops of the stage parallel or vectorized, without a
        proof that no two iterations write one point. That is then the user's word: a certificate calls it assumed.

        Where iterations do meet, which of them comes last is left open, and so is the answer.
        """
        function, stage = self._scheduled()
        return self._record(AllowRaceConditions(func=function, stage=stage, location=user_location()))

    def atomic(self, override_associativity_test: bool = False) -> Self:
        """Makes each update of a point one step, so that directives given after this one may make reduction loops of
        the stage parallel or vectorized: iterations that meet take turns.

        Args:
            override_associativity_test: take the user's word, and no proof, that the order of steps doesn't matter.

        Legal when: always, and without effect, while no iterations that may meet run at once. Where some do, the update
        must read its Func at the point that it writes, and nowhere else, and its operator be associative and
        commutative, as ``rfactor`` has it, floats included. In threads a point of several values is updated under a
        lock.
        """
        function, stage = self._scheduled()
        override = bool(override_associativity_test)
        return self._record(Atomic(func=function, stage=stage, location=user_location(), override=override))

    def rename(self, old_name: VarOrRVar, new_name: VarOrRVar) -> Self:
        """Gives a loop another name, by which later directives know it.

        Rewrite: ``for x: s`` → ``for z: s``, the iterations being the same.
        """
        old, new = loop_name("rename", old_name), loop_name("rename", new_name)
        function, stage = self._scheduled()
        return self._record(Rename(func=function, stage=stage, location=user_location(), old=old, new=new))

    def partition(self, var: VarOrRVar, partition_policy: Partition) -> Self:
        """Says whether a loop is divided into a head, a steady part without the clamps and guards of its ends, and a
        tail. No value depends on it: a divided loop runs faster, and its code is longer.

        Args:
            var: the loop. What later directives split it into, or fuse it into, is meant too.
            partition_policy: Auto divides innermost loops where that pays; Never leaves the loop whole; Always divides
                it wherever it stands, with a warning where no clamp or guard in it can be decided so.

        Raises:
            ScheduleError: an argument of the wrong type.
        """
        if not isinstance(partition_policy, Partition):
            raise ScheduleError(f"partition() takes a hl.Partition, not {shown(partition_policy)}.")
        return self._record(self._policy(loop_name("partition", var), partition_policy))

    def never_partition(
        self, *args: VarOrRVar | Sequence[VarOrRVar], vars: Sequence[VarOrRVar] | None = None
    ) -> Self:
        """Leaves loops whole: ``partition(var, Partition.Never)`` for each."""
        return self._each("never_partition", listed("never_partition", args, "vars", vars), Partition.Never)

    def always_partition(
        self, *args: VarOrRVar | Sequence[VarOrRVar], vars: Sequence[VarOrRVar] | None = None
    ) -> Self:
        """Divides loops wherever they stand: ``partition(var, Partition.Always)`` for each."""
        return self._each("always_partition", listed("always_partition", args, "vars", vars), Partition.Always)

    def never_partition_all(self) -> Self:
        """Leaves whole every loop that the stage has at this point of its schedule."""
        return self._record(self._policy(None, Partition.Never))

    def always_partition_all(self) -> Self:
        """Divides all loops that the stage has at this point of its schedule and that can be."""
        return self._record(self._policy(None, Partition.Always))

    def partition_all(self, policy: Partition) -> Self:
        """``partition`` of every loop that the stage has at this point of its schedule.

        Raises:
            ScheduleError: no hl.Partition.
        """
        if not isinstance(policy, Partition):
            raise ScheduleError(f"partition_all() takes a hl.Partition, not {shown(policy)}.")
        return self._record(self._policy(None, policy))

    def _each(self, directive: str, vars: list[object], policy: Partition) -> Self:
        names = [loop_name(directive, v) for v in vars]
        written = f"{directive}({', '.join(names)})"
        return self._record(*[self._policy(name, policy, written) for name in names])

    def _policy(self, var: str | None, policy: Partition, written: str = "") -> PartitionLoop:
        function, stage = self._scheduled()
        return PartitionLoop(
            func=function, stage=stage, location=user_location(), written=written, var=var, policy=policy
        )

    def prefetch(
        self, func: StageSchedule | Source | None = None, at: VarOrRVar | None = None, from_: VarOrRVar | None = None,
        offset: ExprLike = 1, strategy: PrefetchBoundStrategy = PrefetchBoundStrategy.GuardWithIf,
        *, image: Source | None = None, **named: Unpack[_From],
    ) -> Self:
        """Asks the machine, ahead of time, for memory that later iterations read. No value depends on it.

        Args:
            func: the Func or ImageParam that is read; an ImageParam's name is ``image``, too.
            at: the loop in each iteration of which it is asked for.
            from_: that loop or one around it, whose iteration ``offset`` further on will read it; ``from``, too.
            offset: a start-up expression, not negative.
            strategy: of points that have no memory, Clamp leaves them out, GuardWithIf asks for nothing at all where
                there are any, NonFaulting asks for them too, which a machine ignores.

        Rewrite: ``for y: s`` → ``for y: prefetch g for y + offset; s``

        Legal when: its memory is there when an iteration begins, and no loop around is vectorized. A warning says
        where the loop's body does not read it, and nothing is asked for.

        Raises:
            ScheduleError: an argument of the wrong type; a constant offset below 0.
        """
        function, stage = self._scheduled()
        if unknown := sorted({*named} - {"from"}):
            raise TypeError(f"prefetch() got an unexpected keyword argument {unknown[0]!r}")
        read = one_of("prefetch", ScheduleError, func=func, image=image)
        source = one_of("prefetch", ScheduleError, from_=from_, **named)
        if not isinstance(read, StageSchedule | Source):
            raise ScheduleError(f"prefetch() takes a Func or an ImageParam that is read, not {shown(read)}.")
        if not isinstance(strategy, PrefetchBoundStrategy):
            raise ScheduleError(f"The strategy of prefetch() is a PrefetchBoundStrategy, not {shown(strategy)}.")
        names = [loop_name("prefetch", v) for v in (at, source)]
        distance = startup(offset, "The offset of prefetch()", ScheduleError)
        if isinstance(distance, IntImm) and distance.value < 0:
            raise ScheduleError(f"The offset of prefetch() can't be negative: {distance.value}.")
        fetched = read._stage()[0] if isinstance(read, StageSchedule) else read._buffer()
        given: dict[str, Any] = {"fetched": fetched, "at": names[0], "source": names[1]}
        at_line = user_location()
        return self._record(
            Prefetch(func=function, stage=stage, location=at_line, offset=distance, strategy=strategy, **given)
        )

    def _factored(self, r: object, v: Var | None, preserved: object) -> Function:
        """The Func of partial results that ``rfactor`` makes."""
        function, stage = self._scheduled()
        given = one_of("rfactor", ScheduleError, r=r, preserved=preserved)
        pairs = given if v is None else [(given, v)]
        if not isinstance(pairs, list | tuple) or not all(isinstance(p, list | tuple) and len(p) == 2 for p in pairs):
            raise ScheduleError("rfactor() takes a reduction loop and a Var, or a list of such pairs.")
        factors = tuple([(loop_name("rfactor", p[0]), pure_name("rfactor", p[1])) for p in pairs])
        if self._branch() != GENERAL:
            raise ScheduleError("rfactor() is of a stage, before it is specialized, and not of a specialization.")
        made = partial_results(function, stage, factors)
        self._record(made)
        assert isinstance(made.partial, Function)
        return made.partial

    def _specialized(self, condition: ExprLike) -> tuple[Function, int, Branch]:
        """The stage, and the case of it that ``specialize`` makes."""
        function, stage = self._scheduled()
        node = startup_condition(condition, "The condition of specialize()", ScheduleError)
        mine, given = self._branch(), function.directives
        made = made_case(given, stage, mine, node)
        if made is None:
            refuse_after_fail(given, stage, mine, "specialize")
            made = Specialize(
                func=function, stage=stage, branch=mine, location=user_location(), condition=node,
                number=next_number(given, stage),
            )  # fmt: skip
            given.append(made)
        return function, stage, made.made()

    def specialize_fail(self, message: str) -> None:
        """Ends, at start-up and with a message, every run that takes none of the specializations given so far.

        Raises:
            ScheduleError: no text, or a second time.
        """
        function, stage = self._scheduled()
        if not isinstance(message, str):
            raise ScheduleError(f"specialize_fail() takes a message, not {shown(message)}.")
        refuse_after_fail(function.directives, stage, self._branch(), "specialize_fail")
        self._record(SpecializeFail(func=function, stage=stage, location=user_location(), message=message))

    def compute_with(
        self, stage: StageSchedule | LoopHandle | None = None, var: VarOrRVar | AlignLike | None = None,
        align: AlignLike | None = None, *, loop_level: LoopHandle | None = None,
    ) -> Self:
        """Runs the stage in the outermost loops of a stage of another Func, each iteration after that one's.

        Args:
            stage: the other stage, or a Func for its first; or a LoopLevel, whose name is ``loop_level``, too.
            var: the innermost loop that both have, by the other one's name; a LoopLevel says it.
            align: where this stage's iterations are, if it has fewer or others: at the shared loop's own places
                (``NoAlign``, and ``Auto``), or moved to begin (``AlignStart``) or to end (``AlignEnd``) with the other
                stage's; of ``var``, or a list of pairs of a loop and a LoopAlignStrategy.

        Rewrite: ``for y: f[y] = …;  for y: g[y] = …`` → ``for y: { f[y] = …; g[y] = … }``, each in its own iterations.
        Legal when: none of the two Funcs needs the other; both are computed at one place; their loops down to that one
        are alike. What is computed in a shared loop is placed in the other stage's (``p.compute_at(f, y)``). Vectorized
        loops, and all those of a specialized stage, stay each stage's own.

        Raises:
            ScheduleError: no stage and one of its loops.
        """
        function, number = self._scheduled()
        at = one_of("compute_with", ScheduleError, stage=stage, loop_level=loop_level)
        if isinstance(at, LoopHandle):
            if align is None:
                align = var  # type: ignore[assignment]  # the second argument, where the first one has the loop
            other, name, other_stage = at._as_loop()
        elif isinstance(at, StageSchedule) and var is not None:
            if at._branch().number:
                raise ScheduleError("compute_with() takes a stage, not a specialization of one.")
            other, other_stage = at._stage()
            name = loop_name("compute_with", var)
        else:
            raise ScheduleError(f"compute_with() takes a Stage and one of its loops, or a LoopLevel, not {shown(at)}.")
        aligned = tuple([
            (loop, strategy) for loop, strategy in alignments(name, align) if strategy is not LoopAlignStrategy.Auto
        ])
        return self._record(
            ComputeWith(
                func=function, stage=number, location=user_location(),
                other=other, other_stage=max(other_stage, 0), var=name, aligned=aligned,
            )
        )  # fmt: skip

    def unscheduled(self) -> None:
        """Says that a stage has no directives on purpose.

        Raises:
            ScheduleError: it has one.
        """
        function, stage = self._scheduled()
        for d in function.directives:
            if isinstance(d, StageDirective) and d.stage == stage and d.branch == self._branch():
                raise ScheduleError(f"unscheduled() is said of a stage that has a schedule: {d.spelled()}.")


class FuncHandle(StageSchedule):
    """A Func as the calls see it that take one."""
