"""Tightness of the bounds engines: points computed and bytes allocated, against isl's exact answer, and their time.

    python -m benchmarks.bounds --seed 5 --count 100

Affine programs, drawn by the fuzzer under random schedules, are filled by each engine. For the drawn windows every
assignment is counted that the filled program would run, and of each Func the largest allocation. The exact answer is
isl's with hardly any limit on its steps and on how long an expression it may write; programs that it can't answer are
drawn anew, and counted, but on them too the chain must not be looser than interval arithmetic alone.
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
from halide_core import ir
from halide_core.bounds.engines.chain import Ask, ImprovedRanges, Improvement
from halide_core.bounds.engines.interface import Ranges
from halide_core.bounds.engines.path_ranges import Extents
from halide_core.bounds.engines.polyhedral import Limits, Polyhedra
from halide_core.bounds.engines.quasi_affine import atoms_of
from halide_core.bounds.engines.registry import ranges_of
from halide_core.bounds.infer.inference import answer_query
from halide_core.bounds.infer.substitute import fill
from halide_core.bounds.query.answers import Engine
from halide_core.bounds.query.query import Binder, Clause, Define, ForAll, Query, Where, extract_query
from halide_core.debug import deep_recursion
from halide_core.ir import ExprNode, Stmt
from halide_core.ir.types import INT64
from halide_core.ir.visitor import stmt_exprs, subexpressions, walk
from halide_core.lang.buffer import Buffer
from halide_core.lowering.driver import LoweringTrace, schedule
from halide_core.run.backend import Request
from halide_core.run.pipeline import _value
from tests.campaigns.fuzz.case import Case, Window
from tests.campaigns.fuzz.draw import draw
from tests.campaigns.fuzz.interpreted import request_of
from tests.support.integers import value

MEASURED = (Engine.BASELINE, Engine.INTERVAL, Engine.CHAIN, Engine.ISL)
EXACT = Limits(forks=1_000, steps=5_000_000, questions=100_000, nodes=5_000, pieces=500)
MOST_STEPS = 2_000_000
"""Iterations that are counted for one program; larger ones are drawn anew."""


class Unmeasured(Exception):
    """A program that says nothing about the engines: not affine, empty, or too large."""


# ---------------------------------------------------------------------------------------------------------
# Which programs.


def check_affine(query: Query) -> None:
    """Checks that isl knows exactly all that the query says. Raises: Unmeasured."""
    clauses: list[Clause] = [c for group in (query.reads, query.needs_memory) for cs in group.values() for c in cs]
    clauses += [c for cs in query.self_reads.values() for c in cs] + list(query.writes.values())
    for clause in clauses:
        exprs = [e for coordinates in clause.points for e in coordinates]
        exprs += [e for b in clause.path.up_to(query.top) for e in _exprs(b)]
        for e in exprs:
            if not all(_is_plain(atom) for atom in atoms_of(e)):
                raise Unmeasured("not affine")


def _exprs(b: Binder) -> list[ExprNode]:
    match b:
        case ForAll(bounds=bounds):
            return [bounds.min, bounds.len]
        case Define(value=value, within=within):
            return [value] if within is None else [value, within.min, within.len]
        case Where(condition=condition):
            return [condition]
    return []


def _is_plain(atom: ExprNode) -> bool:
    match atom:
        case ir.Variable() | ir.Hole() | ir.BufferField():
            return True
        case ir.Cast(a=ir.ParamRef()):
            return atom.type is INT64
    return False


# ---------------------------------------------------------------------------------------------------------
# What a filled program costs.


@dataclass
class Footprint:
    """Assignments that run, bytes of memory, and the time that the engine took."""

    points: int = 0
    bytes: int = 0
    seconds: float = 0.0

    def same(self, other: Footprint) -> bool:
        """True where two programs compute and allocate as much."""
        return (self.points, self.bytes) == (other.points, other.bytes)


class _Counter:
    """Runs a filled program without its values."""

    def __init__(self, leaves: Mapping[ExprNode, int]) -> None:
        self._at: dict[ExprNode, int] = dict(leaves)
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


def leaves_of(request: Request, windows: tuple[Window, ...], stmt: Stmt) -> dict[ExprNode, int]:
    """The values of params, of the inputs' shapes and of the requested windows."""
    leaves: dict[ExprNode, int] = {}
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


def _all_exprs(stmt: Stmt) -> Iterator[ExprNode]:
    for s in walk(stmt):
        yield from subexpressions(stmt_exprs(s))


# ---------------------------------------------------------------------------------------------------------
# Measuring.


@dataclass
class Program:
    """One drawn program, and what each engine makes of it. ``exact`` is None where isl has no exact answer."""

    name: str
    exact: Footprint | None
    costs: dict[Engine, Footprint] = field(default_factory=dict)

    def looser(self, engine: Engine) -> str | None:
        """The excess of an engine over interval arithmetic alone, as text; None where it does not."""
        ours, interval = self.costs[engine], self.costs[Engine.INTERVAL]
        if ours.points <= interval.points and ours.bytes <= interval.bytes:
            return None
        return (
            f"{self.name}: {engine.value} computes {ours.points} points and allocates {ours.bytes} bytes; "
            f"interval arithmetic alone {interval.points} and {interval.bytes}"
        )


class _Reference:
    """isl with hardly any limits, which knows when it had to give up."""

    def __init__(self) -> None:
        self._polyhedra: Polyhedra | None = None

    def ranges(self) -> Ranges:
        return ImprovedRanges(self._open, Ask.ALWAYS)

    def _open(self, extents: Extents) -> Improvement:
        self._polyhedra = Polyhedra(extents, EXACT)
        return self._polyhedra

    @property
    def is_exact(self) -> bool:
        return self._polyhedra is None or not self._polyhedra.given_up


def measure(case: Case) -> Program:
    """Measures each engine on a case. Raises: Unmeasured; HalideError where the schedule is refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hl.HalideWarning)
        outputs, windows = case.build()
    request = request_of(outputs)
    boxes = tuple(tuple(w) for w in windows)
    query = extract_query(schedule(request, LoweringTrace()))
    check_affine(query)
    reference = _Reference()
    exact = cost_of(request, boxes, reference.ranges())
    if not exact.points:
        raise Unmeasured("empty")
    program = Program(case.seed, exact if reference.is_exact else None)
    for engine in MEASURED:
        program.costs[engine] = cost_of(request, boxes, ranges_of(engine))
    return program


def cost_of(request: Request, windows: tuple[Window, ...], ranges: Ranges) -> Footprint:
    """The cost of the program that one engine fills."""
    program = schedule(request, LoweringTrace())
    query = extract_query(program)
    with deep_recursion():
        start = time.process_time()
        answers = answer_query(query, ranges)
        seconds = time.process_time() - start
        stmt = fill(program, answers)
        counter = _Counter(leaves_of(request, windows, stmt))
        counter.run(stmt)
    return Footprint(counter.points, counter.bytes, seconds)


@dataclass
class Campaign:
    """Drawn programs: those with an exact answer, those without one, and how many were not measured, by the reason."""

    exact: list[Program] = field(default_factory=list)
    others: list[Program] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)

    @property
    def inexact(self) -> list[Program]:
        """The programs for which the chain is not exact."""
        return [p for p in self.exact if p.exact is None or not p.costs[Engine.CHAIN].same(p.exact)]

    def looser(self, engine: Engine) -> list[str]:
        """Of which programs an engine makes more than interval arithmetic alone does, and what it makes."""
        told = [p.looser(engine) for p in (*self.exact, *self.others)]
        return [text for text in told if text is not None]


def measured(seed: int, count: int) -> Campaign:
    """The programs of a campaign up to the one with which ``count`` of them have an exact answer."""
    campaign = Campaign()
    number = 0
    while len(campaign.exact) < count:
        try:
            program = measure(draw(seed, number))
        except Unmeasured as reason:
            why = str(reason)
        except hl.HalideError:
            why = "refused"
        else:
            (campaign.others if program.exact is None else campaign.exact).append(program)
            why = "no exact answer" if program.exact is None else ""
        if why:
            campaign.skipped[why] = campaign.skipped.get(why, 0) + 1
        number += 1
    return campaign


# ---------------------------------------------------------------------------------------------------------
# The report.


def table_of(campaign: Campaign) -> Table:
    """Totals of each engine, and how often it is exact."""
    programs = campaign.exact
    table = Table("engine", title=f"{len(programs)} affine programs")
    for heading in ("exact", "looser than interval", "points", "bytes", "engine ms a program"):
        table.add_column(heading, justify="right")
    known = [p.exact for p in programs if p.exact is not None]
    exact = Footprint(sum(c.points for c in known), sum(c.bytes for c in known))
    table.add_row("isl's exact answer", "", "", str(exact.points), str(exact.bytes), _milliseconds(known))
    for engine in MEASURED:
        costs = [p.costs[engine] for p in programs]
        same = sum(ours.same(best) for ours, best in zip(costs, known, strict=True))
        table.add_row(
            engine.value,
            f"{same / len(programs):.0%}",
            str(len(campaign.looser(engine))),
            _against(sum(c.points for c in costs), exact.points),
            _against(sum(c.bytes for c in costs), exact.bytes),
            _milliseconds(costs),
        )
    return table


def _against(found: int, exact: int) -> str:
    return f"{found} ({found / exact - 1:+.1%})" if exact else str(found)


def _milliseconds(costs: list[Footprint]) -> str:
    return f"{1000 * sum(c.seconds for c in costs) / len(costs):.1f}"


def main() -> int:
    """Prints the table; 1 where the chain is exact on fewer than 90 %, or anywhere looser than interval arithmetic."""
    parser = argparse.ArgumentParser(description="Points and bytes of each bounds engine, against isl's exact answer.")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--verbose", action="store_true", help="name the programs on which the chain is not exact")
    options = parser.parse_args()
    campaign = measured(options.seed, options.count)
    console = Console(width=140)
    console.print(table_of(campaign))
    skipped = ", ".join(f"{n} {reason}" for reason, n in campaign.skipped.items())
    console.print(f"drawn anew: {skipped or 'none'}")
    if options.verbose:
        for p in campaign.inexact:
            console.print(f"{p.name}: {p.costs[Engine.CHAIN]} instead of {p.exact}")
    worse = campaign.looser(Engine.CHAIN)
    for told in worse:
        console.print(f"looser: {told}")
    return 1 if worse or 10 * len(campaign.inexact) > len(campaign.exact) else 0


if __name__ == "__main__":
    sys.exit(main())
