"""How tight the bounds engines are: points computed and bytes allocated, against isl's exact answer, and their time.

    python -m benchmarks.bounds --seed 5 --count 100

Affine programs, drawn by the fuzzer under random schedules, are filled by each engine. For the drawn windows every
assignment is counted that the filled program would run, and of each Func the largest allocation. The exact answer is
isl's without limits on how long an expression it may write; programs that it can't answer are drawn anew, and counted.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

import halide_core as hl
from bounds.answering import answer_query
from bounds.chain import Ask, ImprovedRanges, Improvement
from bounds.engines import ranges_of
from bounds.extents import Extents
from bounds.fill import fill
from bounds.oracle import Engine, Ranges
from bounds.polyhedral import Limits, Polyhedra
from bounds.quasi_affine import atoms_of
from bounds.query import Binder, Clause, Define, ForAll, Query, Where, extract_query
from halide_core import ir
from halide_core.backend import Request
from halide_core.buffer import Buffer
from halide_core.debug import deep_recursion
from halide_core.ir import Expr, Stmt
from halide_core.pipeline import _value
from halide_core.types import INT64
from halide_core.visit import stmt_exprs, subexpressions, walk
from lowering.driver import Trace, schedule
from tests.fuzz.case import Case, Window
from tests.fuzz.draw import draw
from tests.fuzz.interpreted import request_of
from tests.lowering.integers import value

MEASURED = (Engine.BASELINE, Engine.INTERVAL, Engine.CHAIN, Engine.ISL)
EXACT = Limits(forks=1_000, steps=5_000_000, questions=100_000, nodes=5_000, pieces=500)
MOST_STEPS = 2_000_000
"""Iterations that are counted for one program; larger ones are drawn anew."""


class Unmeasured(Exception):
    """A program that says nothing about the engines: not affine, empty, too large, or without an exact answer."""


# ---------------------------------------------------------------------------------------------------------
# Which programs.


def check_affine(query: Query) -> None:
    """Whether isl knows all that the query says exactly. Raises: Unmeasured."""
    clauses: list[Clause] = [c for group in (query.reads, query.needs_memory) for cs in group.values() for c in cs]
    clauses += [c for cs in query.self_reads.values() for c in cs] + list(query.writes.values())
    for clause in clauses:
        exprs = [e for coordinates in clause.points for e in coordinates]
        exprs += [e for b in clause.path.up_to(query.top) for e in _exprs(b)]
        for e in exprs:
            if not all(_is_plain(atom) for atom in atoms_of(e)):
                raise Unmeasured("not affine")


def _exprs(b: Binder) -> list[Expr]:
    match b:
        case ForAll(bounds=bounds):
            return [bounds.min, bounds.len]
        case Define(value=value, within=within):
            return [value] if within is None else [value, within.min, within.len]
        case Where(condition=condition):
            return [condition]
    return []


def _is_plain(atom: Expr) -> bool:
    match atom:
        case ir.Variable() | ir.Hole() | ir.BufferField():
            return True
        case ir.Cast(a=ir.ParamRef()):
            return atom.type is INT64
    return False


# ---------------------------------------------------------------------------------------------------------
# What a filled program costs.


@dataclass
class Cost:
    """Assignments that run, bytes of memory, and the time that the engine took."""

    points: int = 0
    bytes: int = 0
    seconds: float = 0.0

    def same(self, other: Cost) -> bool:
        """Whether two programs compute and allocate as much."""
        return (self.points, self.bytes) == (other.points, other.bytes)


class _Counter:
    """Runs a filled program without its values."""

    def __init__(self, leaves: Mapping[Expr, int]) -> None:
        self._at: dict[Expr, int] = dict(leaves)
        self._steps = MOST_STEPS
        self._sizes: dict[str, int] = {}
        self.points = 0

    @property
    def bytes(self) -> int:
        """Of each Func's largest allocation."""
        return sum(self._sizes.values())

    def run(self, stmt: Stmt) -> None:
        match stmt:
            case ir.Block(stmts=stmts):
                for s in stmts:
                    self.run(s)
            case ir.Label(body=body):
                self.run(body)
            case ir.Let(var=var, value=e):
                self._at[var] = value(e, self._at)
            case ir.If(condition=condition, then=then, otherwise=otherwise):
                if value(condition, self._at):
                    self.run(then)
                elif otherwise is not None:
                    self.run(otherwise)
            case ir.For():
                self._for(stmt)
            case ir.Provide():
                self.points += 1
            case ir.Allocate(func=func, bounds=bounds):
                size = sum(t.bytes() for t in func.types)
                for i in bounds:
                    size *= max(value(i.len, self._at), 0)
                self._sizes[func.name] = max(self._sizes.get(func.name, 0), size)

    def _for(self, loop: ir.For) -> None:
        low, length = value(loop.bounds.min, self._at), value(loop.bounds.len, self._at)
        self._steps -= length
        if self._steps < 0:
            raise Unmeasured("too large")
        for i in range(low, low + length):
            self._at[loop.var] = i
            self.run(loop.body)


def leaves_of(request: Request, windows: tuple[Window, ...], stmt: Stmt) -> dict[Expr, int]:
    """The values of params, of the inputs' shapes and of the requested windows."""
    leaves: dict[Expr, int] = {}
    shapes = {source.name: _value(source) for source in request.inputs}
    boxes: dict[str, Window] = {f.name: w for f, w in zip(request.outputs, windows, strict=True)}
    for name, given in shapes.items():
        if isinstance(given, Buffer):
            boxes[name] = tuple((d.min(), d.extent()) for d in (given.dim(i) for i in range(given.dimensions())))
    for e in _all_exprs(stmt):
        match e:
            case ir.BufferField(buffer=buffer, field=at, dim=d) if buffer.name in boxes:
                leaves[e] = boxes[buffer.name][d][0 if at is ir.Field.MIN else 1]
            case ir.ParamRef(param=param):
                given = shapes[param.name]
                if isinstance(given, int):  # no index depends on any other
                    leaves[e] = given
    return leaves


def _all_exprs(stmt: Stmt) -> Iterator[Expr]:
    for s in walk(stmt):
        yield from subexpressions(stmt_exprs(s))


# ---------------------------------------------------------------------------------------------------------
# Measuring.


@dataclass
class Program:
    """One drawn program, and what each engine makes of it."""

    name: str
    exact: Cost
    costs: dict[Engine, Cost] = field(default_factory=dict)


class _Reference:
    """isl with hardly any limits, which knows when it had to give up."""

    def __init__(self) -> None:
        self._polyhedra: Polyhedra | None = None

    def ranges(self) -> Ranges:
        return ImprovedRanges(self._open, Ask.ALWAYS)

    def _open(self, extents: Extents) -> Improvement:
        self._polyhedra = Polyhedra(extents, EXACT)
        return self._polyhedra

    def check_exact(self) -> None:
        if self._polyhedra is not None and self._polyhedra.given_up:
            raise Unmeasured("no exact answer")


def measure(case: Case) -> Program:
    """What each engine makes of a case. Raises: Unmeasured; HalideError where the schedule is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hl.HalideWarning)
        outputs, windows = case.build()
    request = request_of(outputs)
    boxes = tuple(tuple(w) for w in windows)
    query = extract_query(schedule(request, Trace()))
    check_affine(query)
    reference = _Reference()
    program = Program(case.seed, cost_of(request, boxes, reference.ranges()))
    reference.check_exact()
    if not program.exact.points:
        raise Unmeasured("empty")
    for engine in MEASURED:
        program.costs[engine] = cost_of(request, boxes, ranges_of(engine))
    return program


def cost_of(request: Request, windows: tuple[Window, ...], ranges: Ranges) -> Cost:
    """What the program costs that one engine fills."""
    program = schedule(request, Trace())
    query = extract_query(program)
    with deep_recursion():
        start = time.process_time()
        answers = answer_query(query, ranges)
        seconds = time.process_time() - start
        stmt = fill(program, answers)
        counter = _Counter(leaves_of(request, windows, stmt))
        counter.run(stmt)
    return Cost(counter.points, counter.bytes, seconds)


def measured(seed: int, count: int, skipped: dict[str, int]) -> Iterator[Program]:
    """The first ``count`` programs of a campaign that can be measured; why the others can't is counted."""
    number = done = 0
    while done < count:
        try:
            program = measure(draw(seed, number))
        except Unmeasured as reason:
            skipped[str(reason)] = skipped.get(str(reason), 0) + 1
        except hl.HalideError:
            skipped["refused"] = skipped.get("refused", 0) + 1
        else:
            done += 1
            yield program
        number += 1


# ---------------------------------------------------------------------------------------------------------
# The report.


def table_of(programs: list[Program]) -> Table:
    """Totals of each engine, and how often it is exact."""
    table = Table("engine", title=f"{len(programs)} affine programs")
    for heading in ("exact", "looser than interval", "points", "bytes", "engine ms a program"):
        table.add_column(heading, justify="right")
    exact = Cost(sum(p.exact.points for p in programs), sum(p.exact.bytes for p in programs))
    seconds = _milliseconds([p.exact for p in programs])
    table.add_row("isl's exact answer", "", "", str(exact.points), str(exact.bytes), seconds)
    for engine in MEASURED:
        costs = [p.costs[engine] for p in programs]
        same = sum(c.same(p.exact) for c, p in zip(costs, programs, strict=True))
        table.add_row(
            engine.value,
            f"{same / len(programs):.0%}",
            str(len(looser(programs, engine))),
            _against(sum(c.points for c in costs), exact.points),
            _against(sum(c.bytes for c in costs), exact.bytes),
            _milliseconds(costs),
        )
    return table


def looser(programs: list[Program], engine: Engine) -> list[str]:
    """The programs for which an engine computes or allocates more than interval arithmetic alone."""
    found = []
    for p in programs:
        ours, interval = p.costs[engine], p.costs[Engine.INTERVAL]
        if ours.points > interval.points or ours.bytes > interval.bytes:
            found.append(p.name)
    return found


def _against(found: int, exact: int) -> str:
    return f"{found} ({found / exact - 1:+.1%})" if exact else str(found)


def _milliseconds(costs: list[Cost]) -> str:
    return f"{1000 * sum(c.seconds for c in costs) / len(costs):.1f}"


def main() -> int:
    """Prints the table; 1 where the chain is exact on fewer than 90 %, or looser than interval arithmetic."""
    parser = argparse.ArgumentParser(description="Points and bytes of each bounds engine, against isl's exact answer.")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--verbose", action="store_true", help="name the programs on which the chain is not exact")
    options = parser.parse_args()
    skipped: dict[str, int] = {}
    programs = list(measured(options.seed, options.count, skipped))
    console = Console(width=140)
    console.print(table_of(programs))
    console.print("drawn anew: " + (", ".join(f"{n} {reason}" for reason, n in skipped.items()) or "none"))
    inexact = [p for p in programs if not p.costs[Engine.CHAIN].same(p.exact)]
    if options.verbose:
        for p in inexact:
            console.print(f"{p.name}: {p.costs[Engine.CHAIN]} instead of {p.exact}")
    worse = looser(programs, Engine.CHAIN)
    if worse:
        console.print(f"the chain is looser than interval arithmetic on {', '.join(worse)}")
    return 1 if worse or 10 * len(inexact) > len(programs) else 0


if __name__ == "__main__":
    sys.exit(main())
