"""Scheduling a whole Func: where it is computed and stored, and what is known of its bounds.

In: ``f.compute_at(g, y)``. Out: a frozen record in ``function.directives``, with the user's line.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from halide_core.algorithm.model import Definition, Function, Image
from halide_core.algorithm.rename import Renamed
from halide_core.analysis.simplify import simplify
from halide_core.checks import items, shown
from halide_core.errors import ScheduleError, user_location
from halide_core.func.scheduling.device_copies import check_copy, check_device
from halide_core.func.scheduling.loop_level import LoopLevel, Unplaced, level_of
from halide_core.func.scheduling.stage import FuncHandle
from halide_core.func.scheduling.stage_arguments import VarOrRVar, constant, listed, positive, pure_name
from halide_core.ir import LAST_STAGE, TRUE, Access, IntImm, pure_variable
from halide_core.ir.debug_files import debug_file
from halide_core.ir.memory import MemoryType
from halide_core.lang.arguments.keywords import one_of
from halide_core.lang.arguments.ranges import RangeLike, as_range
from halide_core.lang.coordinates import startup
from halide_core.lang.eviction_key import EvictionKey
from halide_core.lang.expr import ExprLike, Var
from halide_core.run.target_names import DeviceAPI
from halide_core.schedule.directives import (
    AlignBounds,
    Async,
    Bound,
    ComputeAt,
    ComputeInline,
    ComputeRoot,
    DebugToFile,
    Directive,
    Estimate,
    StoreAt,
    StoreRoot,
    Trace,
    Traced,
)
from halide_core.schedule.func_directives import CloneIn, In, InInput, ReadInstead, RFactor, made_before
from halide_core.schedule.storage_directives import (
    AlignStorage,
    BoundStorage,
    FoldStorage,
    HoistStorage,
    HoistStorageRoot,
    Memoize,
    ReorderStorage,
    RingBuffer,
    StoreIn,
)

if TYPE_CHECKING:
    from typing_extensions import Self  # in typing from Python 3.11


class FuncSchedule(FuncHandle):
    """The directives about a Func, besides those about the loops of its first stage."""

    def _add(self, directive: Directive) -> Self:
        self._stage()[0].directives.append(directive)
        return self

    def compute_root(self) -> Self:
        """Computes the Func before anything that uses it, once for all.

        Rewrite: ``label f`` moves to the top of the pipeline.
        """
        return self._add(ComputeRoot(func=self._stage()[0], location=user_location()))

    def compute_inline(self) -> Self:
        """Substitutes the Func's definition where it is used, which is the default without updates.

        Rewrite: ``f[e]`` → the definition's value at ``e``. Legal when: there is no update definition.
        """
        return self._add(ComputeInline(func=self._stage()[0], location=user_location()))

    def store_root(self) -> Self:
        """Keeps the Func's memory for the whole run.

        Rewrite: ``allocate f`` moves to the top of the pipeline.
        """
        return self._add(StoreRoot(func=self._stage()[0], location=user_location()))

    def compute_at(
        self, f: FuncHandle | LoopLevel | None = None, var: VarOrRVar | None = None,
        *, rvar: VarOrRVar | None = None, loop_level: LoopLevel | None = None,
    ) -> Self:
        """Computes what one iteration of a consumer's loop needs, inside that loop. The last call counts, of this,
        ``compute_root`` and ``compute_inline``.

        Args:
            f: the consumer; or a LoopLevel, whose name is ``loop_level``, too.
            var: the loop; of an RVar the name is ``rvar``, too.

        Rewrite: ``label f`` moves to just inside ``for g.s0.var``; where several stages of ``g`` read ``f``, into
        the loop of each, for what that one needs. Legal when: it still stands before every use.
        """
        level_of("compute_at", f, var, rvar, loop_level).give(self._stage()[0], ComputeAt)
        return self

    def store_at(
        self, f: FuncHandle | LoopLevel | None = None, var: VarOrRVar | None = None,
        *, rvar: VarOrRVar | None = None, loop_level: LoopLevel | None = None,
    ) -> Self:
        """Keeps the Func's memory for one iteration of a consumer's loop. The last call counts, of this and
        ``store_root``. Args: as ``compute_at``.

        Rewrite: ``allocate f`` moves to just inside ``for g.s0.var``. Legal when: that is around its computation.
        """
        level_of("store_at", f, var, rvar, loop_level).give(self._stage()[0], StoreAt)
        return self

    def hoist_storage(
        self, f: FuncHandle | LoopLevel | None = None, var: VarOrRVar | None = None,
        *, rvar: VarOrRVar | None = None, loop_level: LoopLevel | None = None,
    ) -> Self:
        """Allocates the Func's memory once for each iteration of a consumer's loop, where it lives for iterations of a
        loop further in (``store_at``): these take it in turn. No value and no bound depends on it. The last call
        counts, of this and ``hoist_storage_root``. Args: as ``compute_at``.

        Rewrite: ``for y: for x: { allocate g; … }`` → ``for y: { allocate g; for x: … }``, as large as the largest.
        Legal when: the loop is around that place, none from it down to there is parallel, vectorized or unrolled, and
        its size has a bound over them.
        """
        level_of("hoist_storage", f, var, rvar, loop_level).give(self._stage()[0], HoistStorage)
        return self

    def hoist_storage_root(self) -> Self:
        """Allocates the Func's memory once a run, whichever loop's iterations it lives for.

        Rewrite: ``for y: { allocate g; … }`` → ``allocate g; for y: …``. Legal when: as of ``hoist_storage``.
        """
        return self._add(HoistStorageRoot(func=self._stage()[0], location=user_location()))

    def _wrapper(self, f: object, fs: object) -> Function:
        """Makes the Func of ``in_``."""
        function, consumers = self._consumers("in_", one_of("in_", ScheduleError, f=f, fs=fs))
        made = made_before(self._stage()[0].directives, In, consumers)
        if made is None:
            at = user_location()
            wrapper = Function(self._name_for(consumers, "in"), function.args, function.types, location=at)
            args = tuple(map(pure_variable, function.args))
            values = tuple([Access(t, function, args, k, LAST_STAGE) for k, t in enumerate(function.types)])
            wrapper.definitions.append(Definition(args, values, None, TRUE, at))
            made = self._instead(In, wrapper, consumers)
        assert isinstance(made, Function)
        return made

    def _clone(self, f: object, fs: object) -> Function:
        """Makes the Func of ``clone_in``."""
        function, consumers = self._consumers("clone_in", one_of("clone_in", ScheduleError, f=f, fs=fs))
        if not consumers:
            raise ScheduleError("clone_in() takes a Func that reads this one, or a list of such Funcs.")
        made = made_before(self._stage()[0].directives, CloneIn, consumers)
        if made is None:
            late = next((d for d in function.directives if isinstance(d, RFactor | Unplaced)), None)
            if late is not None:
                raise ScheduleError(f"clone_in() of a Func with {late.spelled()}: clone it before that.")
            at = user_location()
            clone = Function(self._name_for(consumers, "clone_in"), function.args, function.types, location=at)
            renamed = Renamed({function: clone})
            clone.definitions = [renamed.definition(d) for d in function.definitions]
            clone.extern = renamed.call(function.extern)
            clone.directives = [d.renamed({function: clone}) for d in function.directives if not d.funcs()]
            made = self._instead(CloneIn, clone, consumers)
        assert isinstance(made, Function)
        return made

    def _consumers(self, directive: str, f: object) -> tuple[Function, tuple[Function, ...]]:
        function, _ = self._scheduled()
        consumers = given_consumers(directive, f)
        if function in consumers:
            raise ScheduleError(
                f'Func "{function.name}" can\'t read another in place of itself: {directive}() of itself.'
            )
        return function, consumers

    def _instead(self, kind: type[ReadInstead], made: Function, consumers: tuple[Function, ...]) -> Function:
        function, at = self._stage()[0], user_location()
        made.frozen_by = at
        if function.frozen_by is None:
            function.frozen_by = at
        self._add(kind(func=function, location=at, instead=made, consumers=consumers))
        return made

    def _name_for(self, consumers: tuple[Function, ...], how: str) -> str:
        return "_".join([self._stage()[0].name, how, *(c.name for c in consumers)])

    def fold_storage(self, dim: Var, extent: ExprLike, fold_forward: bool = True) -> Self:
        """Gives the Func's memory ``extent`` slots in a dimension, which its points take in turn.

        Where a Func slides, as much is done without asking, if the number of slots is a constant. What is asked for is
        checked: when compiling, or at start-up where the number is known only then. The last call for a dimension
        counts.

        Args:
            dim: the dimension.
            extent: the number of slots.
            fold_forward: whether points come in ascending order. Either order is right; it need not be told.

        Rewrite: ``allocate f(…)`` → ``allocate f(…) folding x by k``. Legal when: no two points that count at one time
        share a slot.
        """
        function, name = self._dimension("fold_storage", dim)
        slots = positive("The extent of fold_storage()", extent)
        return self._add(
            FoldStorage(
                func=function, location=user_location(), var=name, extent=slots, forward=bool(fold_forward)
            )
        )

    def store_in(self, memory_type: MemoryType) -> Self:
        """Says what kind of memory holds the Func's values.

        Heap memory is never taken from the stack or kept in variables. Stack memory is on the stack where a constant
        bounds its size and there is room (1 MiB for all Funcs), and else memory that the pipeline keeps for its next
        run. Register needs such a bound: it is stack memory that becomes variables where every place in it is known.

        Rewrite: the layout of ``allocate f(…)``.
        """
        if not isinstance(memory_type, MemoryType):
            raise ScheduleError(f"store_in() takes a MemoryType, not {shown(memory_type)}.")
        return self._add(StoreIn(func=self._stage()[0], location=user_location(), memory=memory_type))

    def copy_to_host(self) -> Self:
        """Says that the Func copies another one from a device's memory to the host's. All memory is the host's, so that
        it stays a plain stage.

        Rewrite: none. Legal when: the Func has one value, which is another Func or an input at the same coordinates.

        Raises: ScheduleError: any other Func.
        """
        check_copy("copy_to_host", self._stage()[0])
        return self

    def copy_to_device(self, device_api: DeviceAPI = DeviceAPI.Default_GPU) -> Self:
        """Says that the Func copies another one to a device's memory.

        Args:
            device_api: the device: ``hl.DeviceAPI.Host``, where nothing is copied.

        Rewrite: none. Legal when: as of ``copy_to_host``.

        Raises: ScheduleError: any other Func; NotAvailableError, too, for another device than the host.
        """
        check_copy("copy_to_device", self._stage()[0])
        check_device("copy_to_device", device_api)
        return self

    def trace_stores(self) -> Self:
        """Shows a line for each value that is stored: ``Store f.0(3, 4) = 7``.

        It shows what is computed, which the schedule decides; lanes of a vector one by one. A Func that is inlined
        stores nothing: tracing one is an error.
        """
        return self._trace(Traced.STORES)

    def trace_loads(self) -> Self:
        """Shows a line for each value that a stage of another Func, or an update of this one, reads:
        ``Load f.0(3, 4) = 7``. All that a stage loads for a point is shown before what it stores."""
        return self._trace(Traced.LOADS)

    def trace_realizations(self) -> Self:
        """Shows lines where the Func's memory comes and goes, ``Begin realization f.0(0, 8)``, each dimension by its
        least coordinate and its extent, and where its computation begins and ends, ``Produce f.0(0, 8)``.

        Legal when: the Func isn't computed inside a vectorized loop.
        """
        return self._trace(Traced.REALIZATIONS)

    def add_trace_tag(self, trace_tag: str) -> Self:
        """Shows a line with a text before each realization of the Func: ``Tag f.0() tag = "…"``."""
        if not isinstance(trace_tag, str):
            raise ScheduleError(f"add_trace_tag() takes a text, not {shown(trace_tag)}.")
        return self._trace(Traced.TAG, trace_tag)

    def async_(self) -> Self:
        """Computes the Func in a thread of its own, ahead of what reads it.

        Where its memory lives outside of loops around its computation (``store_root``, ``store_at``), the thread runs
        through these loops by itself, while those that read the Func wait for what they need: it is any number of
        iterations ahead, or with ``fold_storage`` as many as there are slots for. Memory folds only where it is asked
        to. Where it is not proven that nothing is overwritten that is still read, the thread waits for the iteration
        before. The values never change. Other Funcs that only this one reads are computed by its thread too.

        Rewrite: after bounds inference, ``allocate f; s`` -> ``allocate f; fork …: (s of f) beside: (the rest of s)``.
        Legal when: anywhere. A warning says where a thread can't be: outputs; inlined Funcs; where another Func would
        be computed in one thread and read in the other, unless it is ``async_`` itself; in vectorized loops.
        """
        return self._add(Async(func=self._stage()[0], location=user_location()))

    def ring_buffer(self, extent: ExprLike) -> Self:
        """Gives each of so many iterations memory of its own, so that an asynchronous producer can be ahead.

        Iterations are those of the loops between the place where the memory is allocated (``hoist_storage``,
        ``hoist_storage_root``) and the one where it lives: they take turns with the copies.

        Args:
            extent: how many copies, from 1 on.

        Rewrite: after bounds inference, ``for y: allocate f(…)`` -> ``allocate f(…, (0, extent)); for y: …``.
        Legal when: the memory is hoisted out of a loop. A warning says where it has no effect: a Func that is not
        ``async_``, or is an output, or memory that lives outside of loops around the Func's computation.
        """
        steps = positive("The extent of ring_buffer()", extent)
        return self._add(RingBuffer(func=self._stage()[0], location=user_location(), extent=steps))

    def memoize(self, eviction_key: EvictionKey | None = None) -> Self:
        """Keeps the Func's values for runs, and iterations, in which they would be computed again.

        They are kept by all that they depend on: the region, Params, the shapes of buffers. Elements of inputs need a
        tag: ``hl.memoize_tag(im[x, y], version)``. A process keeps so many bytes, 1 MiB or what
        ``hl.memoization_cache_set_size`` says; what was not used for the longest time goes. In C the names are
        ``halide_memoization_cache_set_size``, ``…_evict`` and ``…_cleanup``.

        Args:
            eviction_key: a number by which ``hl.memoization_cache_evict`` gives up what is kept.

        Rewrite: after bounds inference, ``label f: s`` -> ``remember f by (region, Params, tags): label f: s``.
        Legal when: the Func has loops and memory of its own, which lives where it is computed, outside of vectorized
        loops; it is no output, shares no loops and has no thread of its own; and each input that its values depend on
        is tagged, and so is each output that leaves points undefined.

        Raises:
            ScheduleError: with the reason; a second eviction key, or what is none.
        """
        if not isinstance(eviction_key, EvictionKey | None):
            raise ScheduleError(
                f"memoize() takes a hl.EvictionKey, such as hl.EvictionKey(1), not {shown(eviction_key)}."
            )
        function, key = self._stage()[0], None if eviction_key is None else eviction_key.expr
        for d in function.directives:
            if isinstance(d, Memoize) and d.eviction_key is not None and key is not None:
                raise ScheduleError(f'{d.spelled()}: "{function.name}" has this eviction key already.', d.location)
            key = d.eviction_key if isinstance(d, Memoize) and key is None else key
        return self._add(Memoize(func=function, location=user_location(), eviction_key=key))

    def debug_to_file(self, filename: str | os.PathLike[str]) -> Self:
        """Writes the Func's values to a file when its memory goes, after all of its stages.

        The file appears, or is replaced, when it is complete. Where the memory comes and goes several times, the last
        one's values stay; in parallel loops that is any one's. A file has all points of the memory, those that nothing
        needs too. A second call replaces the first.

        Args:
            filename: the path, from the working directory of the run. Its suffix says the format: ``.npy``, which
                ``numpy.load`` reads with axes as ``numpy.asarray`` gives them; ``.mat`` of MATLAB 5; ``.tiff`` and
                ``.tif``, channels one after another; ``.tmp``, five int32 (four extents and the type) before the
                values, dimension 0 densest.

        Legal when: the Func has memory of its own (isn't inlined), outside of vectorized loops, and one value a point.
        Its storage doesn't fold then. Raises: PipelineError, in a run, where the file can't be written.
        """
        function = self._stage()[0]
        return self._add(
            DebugToFile(func=function, location=user_location(), file=debug_file(filename, function))
        )

    def _trace(self, what: Traced, tag: str = "") -> Self:
        return self._add(Trace(func=self._stage()[0], location=user_location(), what=what, tag=tag))

    def reorder_storage(self, *args: Var | Sequence[Var], dims: Sequence[Var] | None = None) -> Self:
        """Lays dimensions out as listed, the dense one first; those not listed keep their places.

        Rewrite: the layout of ``allocate f(…)``.
        """
        flat = listed("reorder_storage", args, "dims", dims)
        names = tuple(self._dimension("reorder_storage", v)[1] for v in flat)
        twice = next((n for n in names if names.count(n) > 1), None)
        if twice is not None:
            raise ScheduleError(f'reorder_storage() names the dimension "{twice}" twice.')
        return self._add(ReorderStorage(func=self._stage()[0], location=user_location(), vars=names))

    def align_storage(self, dim: Var, alignment: ExprLike) -> Self:
        """Makes the length of a dimension in memory a multiple of a constant. The last call for a dimension counts.

        Rewrite: the layout of ``allocate f(…)``.
        """
        function, name = self._dimension("align_storage", dim)
        k = constant("The alignment of align_storage()", alignment)
        return self._add(AlignStorage(func=function, location=user_location(), var=name, alignment=k))

    def bound_storage(self, dim: Var, extent: ExprLike) -> Self:
        """Sets the length of a dimension in memory to a start-up expression; that this is long enough is checked. The
        last call for a dimension counts.

        Rewrite: the layout of ``allocate f(…)``.
        """
        function, name = self._dimension("bound_storage", dim)
        length = positive("The extent of bound_storage()", extent)
        known = simplify(length)  # printed as the number that it is
        length = known if isinstance(known, IntImm) else length
        return self._add(BoundStorage(func=function, location=user_location(), var=name, length=length))

    def bound(self, var: Var, min: ExprLike, extent: ExprLike) -> Self:
        """Promises that exactly ``extent`` values of a dimension from ``min`` are computed; checked at start-up. A
        dimension has one such promise, by this or by ``bound_extent``: a second one is an error when compiling."""
        function, name = self._dimension("bound", var)
        least = startup(min, "The min of bound()", ScheduleError)
        size = positive("The extent of bound()", extent)
        return self._add(Bound(func=function, location=user_location(), var=name, min=least, extent=size))

    def bound_extent(self, var: Var, extent: ExprLike) -> Self:
        """Promises that ``extent`` values of a dimension are computed, wherever they start; checked at start-up. A
        dimension has one such promise, by this or by ``bound``: a second one is an error when compiling."""
        function, name = self._dimension("bound_extent", var)
        size = positive("The extent of bound_extent()", extent)
        return self._add(Bound(func=function, location=user_location(), var=name, min=None, extent=size))

    def align_bounds(self, var: Var, modulus: ExprLike, remainder: ExprLike = 0) -> Self:
        """Grows what is computed of a dimension until its extent is a multiple of ``modulus``, and its minimum is
        ``remainder`` more than one.

        Rewrite: ``assert ?cpu f.x.min % m == r`` and ``assert ?cpu f.x.len % m == 0``, which bounds inference meets.
        """
        return self._align("align_bounds", var, modulus, remainder)

    def align_extent(self, var: Var, modulus: ExprLike) -> Self:
        """Grows what is computed of a dimension until its extent is a multiple of ``modulus``; it starts where it did.

        Rewrite: ``assert ?cpu f.x.len % m == 0``, which bounds inference meets.
        """
        return self._align("align_extent", var, modulus, None)

    def _align(self, directive: str, var: Var, modulus: ExprLike, remainder: ExprLike | None) -> Self:
        function, name = self._dimension(directive, var)
        step = positive(f"The modulus of {directive}()", modulus)
        rest = None if remainder is None else startup(remainder, f"The remainder of {directive}()", ScheduleError)
        return self._add(
            AlignBounds(func=function, location=user_location(), var=name, modulus=step, remainder=rest)
        )

    def set_estimate(self, var: Var, min: ExprLike, extent: ExprLike) -> Self:
        """Notes what is expected of a dimension of an output, for tools that choose schedules. It changes nothing."""
        function, name = self._dimension("set_estimate", var)
        least = startup(min, "The min of set_estimate()", ScheduleError)
        size = startup(extent, "The extent of set_estimate()", ScheduleError)
        return self._add(Estimate(func=function, location=user_location(), var=name, min=least, extent=size))

    def set_estimates(self, estimates: Sequence[RangeLike]) -> Self:
        """Notes what is expected of every dimension: ``set_estimates([(0, 1920), (0, 1080)])``."""
        function, _ = self._scheduled()
        estimates = items(estimates, "set_estimates() takes a list of (min, extent)")
        if len(estimates) != len(function.args):
            raise ScheduleError(
                f'Func "{function.name}" has {len(function.args)} dimensions, '
                f"but set_estimates() is given {len(estimates)} ranges."
            )
        for name, given in zip(function.args, estimates, strict=True):
            range = as_range(given)
            if range.min is None or range.extent is None:
                raise ScheduleError("set_estimates() needs a min and an extent for each dimension.")
            self.set_estimate(Var(name), range.min, range.extent)
        return self

    def _dimension(self, directive: str, var: object) -> tuple[Function, str]:
        function, _ = self._scheduled()
        name = pure_name(directive, var)
        if name not in function.args:
            legal = ", ".join(function.args) or "none"
            raise ScheduleError(
                f'{directive}() of "{name}": Func "{function.name}" has no dimension "{name}"; it has: {legal}.'
            )
        return function, name


def given_consumers(directive: str, f: object) -> tuple[Function, ...]:
    """The Funcs that a call is about: one, several, or none where ``f`` is None.

    Raises: ScheduleError for anything else.
    """
    given = [] if f is None else list(f) if isinstance(f, list | tuple) else [f]
    wrong = next((g for g in given if not isinstance(g, FuncSchedule)), None)
    if wrong is not None or (f is not None and not given):
        raise ScheduleError(f"{directive}() takes a Func that reads this one, or a list of such Funcs, not {shown(f)}.")
    return tuple(dict.fromkeys(g._stage()[0] for g in given if isinstance(g, FuncSchedule)))


def wrapper_of_input(image: Image, f: object) -> Function:
    """Makes the Func of ``ImageParam.in_``: an input's values, which consumers read in its place."""
    consumers = given_consumers("in_", f)
    asked = [d for w in image.wrappers for d in w.directives if isinstance(d, InInput)]
    made = made_before(asked, InInput, consumers)
    if made is None:
        at = user_location()
        args = tuple(f"_{d}" for d in range(image.dimensions))
        name = "_".join([image.name, "in", *(c.name for c in consumers)])
        made = Function(name, args, image.types, location=at)
        made.frozen_by = at
        read = Access(image.types[0], image, tuple(map(pure_variable, args)), 0, LAST_STAGE)
        made.definitions.append(Definition(tuple(map(pure_variable, args)), (read,), None, TRUE, at))
        made.directives.append(InInput(func=made, location=at, instead=made, consumers=consumers, image=image))
        image.wrappers.append(made)
    assert isinstance(made, Function)
    return made
