"""Statements (figure 2.7): the imperative half of the grammar in ``ir``. Frozen; equality is identity.

    For(loop, x, Interval(ZERO, n), LoopKind.SERIAL, True, body)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from halide_core.ir.debug_files import DebugFile
from halide_core.ir.expr_nodes import Callee, ExprNode, Variable, format_node
from halide_core.ir.memory import Layout, MemoryType, PrefetchBoundStrategy
from halide_core.ir.types import Type

# ---------------------------------------------------------------------------------------------------------
# Statements.


@dataclass(frozen=True, slots=True)
class Interval:
    """A range as figure 2.7 writes it: a minimum and a length."""

    min: ExprNode
    len: ExprNode


@dataclass(frozen=True, slots=True)
class LoopName:
    """The identity of a loop for scheduling (lemma 2.4)."""

    func: str
    stage: int
    specialization: int
    var: str

    def __str__(self) -> str:
        special = f"[{self.specialization}]" if self.specialization else ""
        return f"{self.func}.s{self.stage}{special}.{self.var}"


class LoopKind(Enum):
    """Traversal orders (figure 2.7), and the two of section 2.8.6; and AT_ONCE, of a definition that gives several
    points values at once: all iterations read what they read before any of them writes, in order."""

    SERIAL = "for"
    PARALLEL = "parallel"
    VECTORIZED = "vectorized"
    UNROLLED = "unrolled"
    AT_ONCE = "at once"


class Stmt:
    """A statement. Equality is identity."""

    __slots__ = ("__weakref__",)

    def __repr__(self) -> str:
        return format_node(self)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Block(Stmt):
    """Statements in order. A let or an allocate scopes over those that follow it."""

    stmts: tuple[Stmt, ...]

    def __iter__(self) -> Iterator[Stmt]:
        return iter(self.stmts)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Let(Stmt):
    """``let var = value``. ``within`` is what the path guarantees of the value, where the rewrite that made
    the let knows more than the value shows: a shifted split never leaves the old loop."""

    var: Variable
    value: ExprNode
    within: Interval | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Allocate(Stmt):
    """``allocate f(I, …)``: memory for every component of a Func, until the block ends.

    ``folds``: of each dimension the number of its slots, or None where each coordinate has one. A coordinate's slot is
    its remainder; a point loses its value when another one of the same slots is written. Empty where nothing folds.

    ``computed``: the points that its computation gives the values that are read; kept where these are remembered.
    """

    func: Callee
    bounds: tuple[Interval, ...]
    folds: tuple[ExprNode | None, ...] = ()
    layout: Layout | None = None
    computed: tuple[Interval, ...] = ()

    def fold(self, dim: int) -> ExprNode | None:
        """The number of slots of a dimension, if it folds."""
        return self.folds[dim] if self.folds else None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Label(Stmt):
    """``label f: s`` (``stage`` None) or ``label f.s1: s``: a handle for scheduling."""

    func: Callee
    stage: int | None
    body: Stmt


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class For(Stmt):
    """``for var in (min, len): body``. ``pure`` as in definition 2.16."""

    loop: LoopName
    var: Variable
    bounds: Interval
    kind: LoopKind
    pure: bool
    body: Stmt


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class If(Stmt):
    """``if condition: then else: otherwise``."""

    condition: ExprNode
    then: Stmt
    otherwise: Stmt | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Provide(Stmt):
    """``f[args] = values``: stage ``stage`` of ``func`` writes one point, all components at once. ``atomic``: between
    what the values read of that point and the write no other iteration writes it."""

    func: Callee
    stage: int
    args: tuple[ExprNode, ...]
    values: tuple[ExprNode, ...]
    atomic: bool = False


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Fork(Stmt):
    """Two statements that run at the same time, each in a thread of its own; it ends when both have. ``semaphores``:
    those by which they wait for one another, each with its first count."""

    producer: Stmt
    consumer: Stmt
    semaphores: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Remember(Stmt):
    """``body`` computes all values of ``func``; where memory was kept of an equal ``key``, that is put in place of what
    ``body`` would compute. ``evicted``: a number by which what is kept can be given up; else None. ``size``: the
    elements of each component, once memory is flat."""

    func: Callee
    key: tuple[ExprNode, ...]
    evicted: ExprNode | None
    size: ExprNode | None
    body: Stmt

    def exprs(self) -> tuple[ExprNode, ...]:
        """The key, and what else is there of the others."""
        return (*self.key, *(e for e in (self.evicted, self.size) if e is not None))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Acquire(Stmt):
    """Waits until a semaphore's count is positive, and takes one of it."""

    semaphore: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Release(Stmt):
    """Adds one to a semaphore's count."""

    semaphore: str


class Failure(Enum):
    """Why a start-up check can fail; the values are those of ``enum halide_core_error_code``."""

    ARGUMENT_BOUNDS = "argument_bounds"
    ARGUMENT_EXTENT = "argument_extent"
    ARGUMENT_STRIDE = "argument_stride"
    ASSERTION = "assertion_failed"
    INDEX_OVERFLOW = "index_overflow"
    PARAMETER_RANGE = "parameter_range"
    SPECIALIZE_FAIL = "specialize_fail"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Assert(Stmt):
    """``assert condition``; ``message`` mixes text with the values to print in it."""

    condition: ExprNode
    failure: Failure
    message: tuple[str | ExprNode, ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AnswerQuery(Stmt):
    """Where an argument's host pointer is null: write the region it needs into it, and end the run."""

    regions: tuple[tuple[Callee, tuple[Interval, ...]], ...]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WriteFile(Stmt):
    """Writes a Func's memory to a file, for people: to the program it is nothing. ``box``: the points that it holds.
    ``strides``: the distances between them, once memory is flat."""

    func: Callee
    file: DebugFile
    box: tuple[Interval, ...]
    strides: tuple[ExprNode, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PrefetchRegion(Stmt):
    """Asks the machine to bring near what the rest of the block will read of ``func`` when the loop variable ``var`` is
    ``offset`` further on. To the program it is nothing: no value depends on it. ``box``: those points, once bounds are
    known; the strategy has taken those away by then that have no memory, unless it is NonFaulting."""

    func: Callee
    var: Variable
    offset: ExprNode
    strategy: PrefetchBoundStrategy
    box: tuple[Interval, ...] | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PrefetchLine(Stmt):
    """Asks the machine to bring ``buffer[index]`` near, in flat memory; ``index`` is a number modulo 2^64. ``inside``:
    whether that element is there."""

    buffer: str
    index: ExprNode
    inside: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AllocateFlat(Stmt):
    """``size`` elements of flat memory until the block ends; ``limit`` is a constant upper bound, if there is one.
    ``zeroed``: whether they begin as 0 in C, for a file that shows those which nothing writes. ``within``: the buffer
    in whose memory they are, where they have none of their own; nothing in that memory is in use any more."""

    buffer: str
    type: Type
    size: ExprNode
    limit: int | None
    memory: MemoryType = MemoryType.Auto
    zeroed: bool = False
    within: str | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Store(Stmt):
    """``buffer[index] = value`` on flat memory, for one element or lanes of them. ``atomic`` as of a Provide."""

    buffer: str
    index: ExprNode
    value: ExprNode
    atomic: bool = False


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FirstLanes(Stmt):
    """``body``, of stores of lanes, for the first ``count`` of them alone, of which there is one at least. The others
    read and write nothing."""

    count: ExprNode
    body: Stmt


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Stores(Stmt):
    """The stores of a point of a Tuple, at once: every index and value is read before anything is written."""

    stores: tuple[Store, ...]


NOTHING = Block(())
