"""The profile of a pipeline with extern stages: what its segments measured of themselves, and what is between them.

In: the times of C functions and of whole runs, the memory that lies between segments, and the segments' profiles. Out:
one Profile.

    g's pipeline; box3 for e; f's pipeline   ->   rows "g", "e", "f", and the rest: bounds queries, checks
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from time import perf_counter_ns

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.lang.buffer import Buffer
from halide_core.run.backend import Compiled
from halide_core.run.profile_data import FuncProfile, Profile


@dataclass(slots=True)
class _Sums:
    """The sums and peaks of one Func."""

    seconds: float = 0.0
    visits: int = 0
    allocations: int = 0
    peak_bytes: int = 0
    stack_bytes: int = 0

    def add(self, f: FuncProfile) -> None:
        """Adds what a segment measured."""
        self.seconds += f.seconds
        self.visits += f.visits
        self.allocations += f.allocations
        self.peak_bytes = max(self.peak_bytes, f.peak_bytes)
        self.stack_bytes = max(self.stack_bytes, f.stack_bytes)

    def of(self, name: str) -> FuncProfile:
        """The row, by its Func's name."""
        return FuncProfile(name, self.seconds, self.visits, self.allocations, self.peak_bytes, self.stack_bytes)


class StagedProfile:
    """The counts of one pipeline since they were taken last. Runs may overlap, in threads of their own: so there is a
    lock. Rows are in the order of the Funcs given."""

    def __init__(self, name: str, order: Sequence[Function]) -> None:
        self._name = name
        self._order = {f.name: k for k, f in enumerate(order)}
        self._lock = Lock()
        self._rows: dict[str, _Sums] = {}
        self._runs, self._seconds = 0, 0.0

    @contextmanager
    def run(self) -> Iterator[None]:
        """A whole run; one that fails is none."""
        begin = perf_counter_ns()
        yield
        with self._lock:
            self._runs += 1
            self._seconds += (perf_counter_ns() - begin) * 1e-9

    @contextmanager
    def call(self, stage: Function) -> Iterator[None]:
        """A call of the C function of a stage."""
        begin = perf_counter_ns()
        yield
        with self._lock:
            row = self._row(stage.name)
            row.seconds += (perf_counter_ns() - begin) * 1e-9
            row.visits += 1

    def holds(self, made: ir.Callee, buffers: Sequence[Buffer]) -> None:
        """Memory for what is computed apart from what reads it."""
        with self._lock:
            row = self._row(made.name)
            row.allocations += len(buffers)
            row.peak_bytes = max(row.peak_bytes, sum(b.array.nbytes for b in buffers))

    def take(self, segments: Sequence[Compiled]) -> Profile:
        """The measurements since the last call, the segments' among them. Raises: as ``Compiled.take_profile``."""
        taken = [each.take_profile() for each in segments]
        with self._lock:
            rows, runs, seconds = self._rows, self._runs, self._seconds
            self._rows, self._runs, self._seconds = {}, 0, 0.0
        held = sum(row.peak_bytes for row in rows.values())
        called = sum(row.seconds for row in rows.values())
        rest = _Sums(max(seconds - called - sum(p.seconds for p in taken), 0.0), runs)
        for f in (f for profile in taken for f in profile.funcs):
            (rows.setdefault(f.name, _Sums()) if f.name else rest).add(f)
        names = sorted(rows, key=lambda name: self._order.get(name, len(self._order)))
        peak = held + max(p.peak_bytes for p in taken)
        found = (*(rows[name].of(name) for name in names), rest.of(""))
        return Profile(self._name, runs, seconds, peak, found)

    def _row(self, name: str) -> _Sums:
        return self._rows.setdefault(name, _Sums())
