"""Levels as values: a loop, the root, or where a Func is used; to be set later, and more than once.

In: ``LoopLevel(g, y)``, ``LoopLevel.root()``, ``LoopLevel.inlined()``, or ``LoopLevel()``, which is not set yet. Out:
what ``compute_at``, ``store_at`` and ``hoist_storage`` take in place of a Func and a loop.

    level = LoopLevel(); f.compute_at(level); level.set(LoopLevel(g, y))   ->   f.compute_at(g, y)

A directive never changes. A level that is set puts others in the place of those that it was given to, so a schedule
reads as if the level had been what it is now from the start, and a pipeline is compiled again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NoReturn, TypeAlias

from halide_core.algorithm.model import Function
from halide_core.algorithm.placed import note_place
from halide_core.checks import shown
from halide_core.errors import Location, ScheduleError, user_location
from halide_core.func.scheduling.stage import FuncHandle
from halide_core.func.scheduling.stage_arguments import LoopHandle, VarOrRVar, loop_name
from halide_core.ir.names import OUTERMOST
from halide_core.lang.arguments.keywords import one_of
from halide_core.own_name import package_name
from halide_core.schedule.directives import (
    PLAIN,
    ComputeAt,
    ComputeInline,
    ComputeRoot,
    Directive,
    Spelling,
    StoreAt,
    StoreRoot,
)
from halide_core.schedule.storage_directives import HoistStorage, HoistStorageRoot

Kind: TypeAlias = "type[ComputeAt | StoreAt | HoistStorage]"

_AT_ROOT: dict[Kind, type[Directive]] = {ComputeAt: ComputeRoot, StoreAt: StoreRoot, HoistStorage: HoistStorageRoot}


class _Fixed(Enum):
    """The levels that are no loop."""

    ROOT = "root"
    INLINED = "inlined"


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop of a consumer: of one stage, or, where that is -1, of whichever has it."""

    consumer: Function
    var: str
    stage: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Unplaced(Directive):
    """The directive of a call with a level that is not set yet."""

    of: str
    """The call that it will be."""

    def called(self) -> str:
        return self.of

    def arguments(self, to: Spelling) -> list[str]:
        if to is not PLAIN:
            raise ScheduleError(f"{self} can't be written as source.", self.location)
        return ["hl.LoopLevel()"]

    def with_variables(self, to: Mapping[str, str]) -> NoReturn:
        """Raises ScheduleError: the compiler's copy of a program has none."""
        raise ScheduleError(
            f"{self.spelled()}: the level was never set. Set it to a loop, level.set(hl.LoopLevel(g, y)), "
            f"to hl.LoopLevel.root() or to hl.LoopLevel.inlined().",
            self.location,
        )


@dataclass(eq=False)
class _Use:
    """A call that a level was given to, and the directives that it was, the last one now."""

    function: Function
    kind: Kind
    location: Location
    was: list[Directive] = field(default_factory=list)

    def directive(self, at: _Loop | _Fixed | None) -> Directive:
        """The directive that the call records if the level is a place."""
        about: dict[str, Any] = {"func": self.function, "location": self.location}
        verb = self.kind.verb
        if at is None:
            return Unplaced(of=verb, **about)
        if at is _Fixed.ROOT:
            return _AT_ROOT[self.kind](**about)
        if at is _Fixed.INLINED and self.kind is ComputeAt:
            return ComputeInline(**about)
        if at is _Fixed.INLINED:  # memory that lives just as long as the Func is needed there
            return self.kind(consumer=self.function, var=OUTERMOST, **about)
        if at.consumer is self.function and (self.kind is ComputeAt or at.var != OUTERMOST):
            raise ScheduleError(
                f'Func "{self.function.name}" can\'t be placed inside its own loops: {verb}() of itself.'
            )
        if self.kind is ComputeAt:
            note_place(self.function, at.consumer)
        return self.kind(consumer=at.consumer, var=at.var, stage=at.stage, **about)

    def becomes(self, new: Directive) -> None:
        """Puts another directive in the place of those that the call was; nowhere, where these were taken away."""
        given = self.function.directives
        given[:] = [new if any(d is old for old in self.was) else d for d in given]
        self.was.append(new)


class LoopLevel(LoopHandle):
    """A place for a Func's computation or its memory.

    ``LoopLevel(func, var)`` is a loop of a Func, with ``stage_index`` of that stage alone, 0 for the first definition;
    ``LoopLevel()`` has to be ``set`` before anything is compiled with it.

    Raises:
        ScheduleError: not a Func and one of its Vars or RVars; an index below -1.
    """

    def __init__(self, func: FuncHandle | None = None, var: VarOrRVar | None = None, stage_index: int = -1) -> None:
        self._uses: list[_Use] = []
        self._at: _Loop | _Fixed | None = None
        if func is not None or var is not None or stage_index != -1:
            self._at = _loop("LoopLevel", func, var, stage_index)

    @classmethod
    def _of(cls, at: _Loop | _Fixed) -> LoopLevel:
        level = cls()
        level._at = at
        return level

    @classmethod
    def root(cls) -> LoopLevel:
        """Outside of all loops: ``compute_at`` of it is ``compute_root``."""
        return cls._of(_Fixed.ROOT)

    @classmethod
    def inlined(cls) -> LoopLevel:
        """Where the Func is used: ``compute_at`` of it is ``compute_inline``. Memory lives where the Func is
        computed, as it does where nothing is said."""
        return cls._of(_Fixed.INLINED)

    def set(self, loop_level: LoopLevel) -> None:
        """Makes this the level that another one is now, also where it was given to a directive before. What counts is
        what it is when a pipeline is compiled. A clone of a Func keeps the level that it started with.

        Raises:
            ScheduleError: no LoopLevel; a loop of a Func that is to be placed at it.
        """
        if not isinstance(loop_level, LoopLevel):
            raise ScheduleError(f"LoopLevel.set() takes a LoopLevel, not {shown(loop_level)}.")
        made = [use.directive(loop_level._at) for use in self._uses]
        self._at = loop_level._at
        for use, directive in zip(self._uses, made, strict=True):
            use.becomes(directive)

    def stage_index(self) -> int:
        """The stage whose loop this is; -1 where none was named.

        Raises:
            ScheduleError: the level is not set.
        """
        if self._at is None:
            raise ScheduleError("A LoopLevel that is not set has no stage_index().")
        return self._at.stage if isinstance(self._at, _Loop) else -1

    def give(self, function: Function, kind: Kind) -> None:
        """Records the directive that places a Func, or its memory, at this level.

        Raises:
            ScheduleError: a loop of that Func itself.
        """
        use = _Use(function, kind, user_location())
        use.was.append(use.directive(self._at))
        function.directives.extend(use.was)
        self._uses.append(use)

    def _as_loop(self) -> tuple[Function, str, int]:
        if not isinstance(self._at, _Loop):
            raise ScheduleError(f"compute_with() takes a level that is a loop, not {self!r}.")
        return self._at.consumer, self._at.var, self._at.stage

    def __repr__(self) -> str:
        at = self._at
        if at is None:
            return f"<{package_name()}.LoopLevel, not set>"
        stage = "" if self.stage_index() < 0 else f".s{self.stage_index()}"
        told = f"{at.consumer.name}{stage}.{at.var}" if isinstance(at, _Loop) else at.value
        return f"<{package_name()}.LoopLevel {told}>"


def _loop(call: str, func: object, var: object, stage: int = -1) -> _Loop:
    if not isinstance(func, FuncHandle) or var is None:
        alone = "" if call == "LoopLevel" else ", or a hl.LoopLevel"
        given = f"{shown(func)} and {shown(var)}"
        raise ScheduleError(f"{call}() takes a Func and one of its Vars or RVars{alone}, not {given}.")
    if isinstance(stage, bool) or not isinstance(stage, int) or stage < -1:
        raise ScheduleError(f"The stage_index of {call}() is the number of a stage, or -1, not {shown(stage)}.")
    return _Loop(func._stage()[0], loop_name(call, var), stage)


def level_of(
    call: str, f: object, var: VarOrRVar | None, rvar: VarOrRVar | None, loop_level: LoopLevel | None
) -> LoopLevel:
    """The level that a call names: a LoopLevel, or a Func and a loop.

    Raises:
        ScheduleError: neither, or both.
    """
    at = one_of(call, ScheduleError, f=f, loop_level=loop_level)
    loop = one_of(call, ScheduleError, var=var, rvar=rvar)
    if not isinstance(at, LoopLevel):
        return LoopLevel._of(_loop(call, at, loop))
    if loop is not None:
        raise ScheduleError(f"{call}() takes a Func and a loop, or a hl.LoopLevel, which says both.")
    return at
