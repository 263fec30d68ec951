"""The isl engine: exact ranges of quasi-affine expressions over a path.

In: an expression, a path and a stop, and the range that interval arithmetic has found. Out: the exact range, written as
a short expression; or the range as it was, where the path is not quasi-affine, isl takes too many steps, or the
expression would be long. The points of the path are one set, whose parameters are what is bound at the stop; isl gives
the greatest and the least value over it as piecewise affine functions of these.

    x - x/2*2 + y  for x in (0, 8), y in (x, 3)   ->   [0, 10]

What is not affine (a product, a value from memory) is a variable of its own, within its range: looser, never wrong.
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from halide_core import ir
from halide_core.analysis.prover import Facts
from halide_core.analysis.simplify import Simplifier
from halide_core.bounds.engines.conditions import of_numbers
from halide_core.bounds.engines.elimination import ACCESS, mentions
from halide_core.bounds.engines.path_ranges import Extents
from halide_core.bounds.engines.polyhedral_terms import PiecewiseTerms
from halide_core.bounds.engines.quasi_affine import Forks, atoms_of
from halide_core.bounds.engines.question_shapes import QuestionShape, Shapes
from halide_core.bounds.query.answers import Ends, Engine
from halide_core.bounds.query.query import Choice, Define, ForAll, Path, Where
from halide_core.ir import Binary, BinaryOp, ExprNode, Hole, Interval, Select, Variable
from halide_core.ir.types import INT64
from halide_core.ir.visitor import has, subexpressions

_SHORT = 4
"""A range that is exact and has so few nodes is not written anew."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on questions to isl: forks in one question (``quasi_affine.Forks``), constraints of the set whose ends are
    asked for, operations for it, questions in one query; and what is still written as an expression: nodes, and pieces
    of a function. An end with conditions in it must gain more than ``negligible`` points somewhere.

    Operations are a last resort. Where they run out, isl may go on without a result that it needs, and end the process
    (seen once, where it computes divisions). Of sets with more constraints it hardly ever finds the ends in time."""

    forks: int = 10
    constraints: int = 160
    steps: int = 100_000
    questions: int = 2_000
    nodes: int = 60
    pieces: int = 6
    negligible: int = 0


CHAINED = Limits(negligible=2)
"""In the chain two points are not worth a condition, which makes everything downstream longer."""


_FAR = 1 << 31
"""Constant facts beyond this say only what type a value has."""


class Polyhedra:
    """Ranges along the paths of one query, by isl, given the holes answered so far."""

    def __init__(self, extents: Extents, limits: Limits = Limits()) -> None:
        self._extents = extents
        self._limits = limits
        self._asked = 0
        self.given_up = 0
        """The number of ends that stayed as they were because of a limit."""
        self._shapes = Shapes()
        self._too_long: set[QuestionShape] = set()
        """Questions that took too many steps, by what isl sees of them: those of a picture's height are mostly those of
        its width. How an end is written may depend on more; that a question isn't asked only costs an end."""
        self._context = isl.Context()
        self._context.set_on_error(isl.on_error.CONTINUE)
        self._context.set_max_operations(limits.steps)

    def ends(self, e: ExprNode, path: Path, stop: Path, known: Ends) -> Ends:
        """The range of ``e``, given one that is sound: each end is isl's where that one is tighter, or shorter."""
        self._asked += 1
        if self._asked > self._limits.questions:
            self.given_up += 1
            return known
        self._context.reset_operations()
        question = _Question(self._context, self._extents, self._limits, path, stop)
        try:
            gathered = question.gather(e, known)
            if gathered and self._too_long and question.shape(self._shapes) in self._too_long:
                gathered, question.given_up = False, 1
            found = question.answer() if gathered else known
        except isl.Error:  # too many steps
            found, question.given_up = known, 1
            self._too_long.add(question.shape(self._shapes))
        self.given_up += question.given_up
        return found

    def greatest(self, e: ExprNode) -> int | None:
        """The greatest value of ``e`` over all values of its atoms; None where there is none."""
        if Forks().add([e]) > self._limits.forks:
            self.given_up += 1
            return None
        self._context.reset_operations()
        terms = PiecewiseTerms(self._context)
        terms.gather(e)
        try:
            most = terms.function(e).max_val()
            return int(most.to_python()) if most.is_int() else None
        except isl.Error:  # too many steps
            self.given_up += 1
            return None


@dataclass(frozen=True, slots=True, eq=False)
class _Row:
    """Something that every point of the path meets: ``low <= e <= high``, or a condition."""

    e: ExprNode
    low: ExprNode | None = None
    high: ExprNode | None = None

    def exprs(self) -> list[ExprNode]:
        return [e for e in (self.e, self.low, self.high) if e is not None]


_Contexts = tuple[isl.Set, isl.Set]
"""Sets of the values at the stop: where the path has points, and in any case."""


class _Question:
    """One expression over one path."""

    def __init__(self, context: isl.Context, extents: Extents, limits: Limits, path: Path, stop: Path) -> None:
        self._extents = extents
        self._limits = limits
        self.given_up = 0
        self._path = path
        self._stop = stop
        self._inside, self._outside = extents.facts.at(path), extents.facts.at(stop)
        self._terms = PiecewiseTerms(context)
        binders = list(path.up_to(stop))
        self._binders = binders
        self._bound = frozenset(b.var for b in binders if isinstance(b, ForAll | Define))
        self._chosen = frozenset(b.func for b in binders if isinstance(b, Choice))
        self._rows: list[_Row] = []
        self._forks = Forks()
        self._asked: ExprNode = ir.ZERO
        self._ends: list[ExprNode] = []
        self._known = Ends(None, None, Engine.INTERVAL)
        self._context: tuple[list[_Row], list[_Row]] = [], []

    def gather(self, e: ExprNode, known: Ends) -> bool:
        """Takes in an expression, its known range, and all that the path says of them; False where that is too much to
        be asked."""
        self._known = known
        self._asked = e = self._extents.closed(e, self._chosen)
        self._ends = [end for end in (known.low, known.high) if end is not None]
        if self._forks.add([e, *self._ends]) > self._limits.forks or not self._gather(e):
            self.given_up += 1
            return False
        for end in self._ends:
            self._terms.gather(end)
        self._context = self._context_rows(self._inside), self._context_rows(self._outside)
        return True

    def shape(self, shapes: Shapes) -> QuestionShape:
        """All that decides what isl is asked, and in which order."""
        atoms, known = self._terms.atoms, dict[ExprNode, int]()
        rows = [
            tuple([shapes.of(e, atoms, known) for row in some for e in (row.e, row.low, row.high)])
            for some in (self._rows, *self._context)
        ]
        ends = [
            (end is None or _nodes(end), shapes.of(end, atoms, known)) for end in (self._known.low, self._known.high)
        ]
        kinds = [(self._varies(atom), atom.op if isinstance(atom, Binary) else None) for atom in atoms]
        return (shapes.of(self._asked, atoms, known), *rows, *ends, *kinds)

    def answer(self) -> Ends:
        """The range, as far as it is better than what was known."""
        e, known = self._asked, self._known
        points = self._set(self._rows)
        outside, certain = self._context
        context = self._set(outside)
        terms = self._terms
        value = isl.Set.from_pw_aff(terms.function(e)).intersect_params(points.intersect(context))
        inner = [i for atom, i in terms.atoms.items() if self._varies(atom)]
        for i in reversed(inner):
            value = value.project_out(isl.dim_type.param, i, 1)
        if value.is_empty():
            return known
        if sum(part.n_constraint() for part in value.get_basic_sets()) > self._limits.constraints:
            self.given_up += 1
            return known
        contexts = (context, self._set(certain))
        low = self._end(value, known.low, contexts, most=False)
        high = self._end(value, known.high, contexts, most=True)
        if low is known.low and high is known.high:
            return known
        return Ends(low, high, Engine.ISL)

    # -- the set of points

    def _varies(self, atom: ExprNode) -> bool:
        """True where an atom has no one value at the stop."""
        return atom.type is not INT64 or self._is_inside(atom)

    def _is_inside(self, e: ExprNode) -> bool:
        """True where an expression means something only below the stop."""
        return any(
            part in self._bound or part is ACCESS or (isinstance(part, Hole) and part.func in self._chosen)
            for part in mentions(e)
        )

    def _gather(self, e: ExprNode) -> bool:
        """The atoms of ``e`` that vary, what the path says of them, and of what they depend on; False as soon as all
        that makes too many forks."""
        waiting = [a for a in self._terms.gather(e) if self._varies(a)]
        given = [self._extents.closed(b.condition, self._chosen) for b in self._binders if isinstance(b, Where)]
        wheres = [of_numbers(condition, self._inside) for condition in given]
        by_variable = {b.var: b for b in self._binders if isinstance(b, ForAll | Define)}
        seen: set[ExprNode] = set()
        while waiting:
            atom = waiting.pop(0)
            seen.add(atom)
            rows = self._rows_of(atom, by_variable)
            told = [w for w in wheres if not seen.isdisjoint(mentions(w))]
            wheres = [w for w in wheres if seen.isdisjoint(mentions(w))]
            for row in [*rows, *map(_Row, told)]:
                self._rows.append(row)
                if self._forks.add(row.exprs()) > self._limits.forks:
                    return False
                for part in row.exprs():
                    waiting += [a for a in self._terms.gather(part) if self._varies(a)]
        return True

    def _rows_of(self, atom: ExprNode, binders: dict[Variable, ForAll | Define]) -> list[_Row]:
        match binders.get(atom) if isinstance(atom, Variable) else None:
            case ForAll(bounds=bounds):
                return [self._within(atom, bounds)]
            case Define(value=value, within=within):
                exact = self._extents.closed(value, self._chosen)
                rows = [_Row(atom, exact, exact)]
                return rows if within is None else [*rows, self._within(atom, within)]
        if atom.type.is_bool():
            return [_Row(atom, ir.ZERO, ir.ONE)]
        low, high = self._extents.of(atom, self._path, self._stop)
        return [_Row(atom, _plain(low), _plain(high))]

    def _within(self, atom: ExprNode, bounds: Interval) -> _Row:
        low, length = (self._extents.closed(end, self._chosen) for end in (bounds.min, bounds.len))
        return _Row(atom, low, ir.sub(ir.add(low, length), ir.ONE))

    def _context_rows(self, facts: Facts) -> list[_Row]:
        """Rows for the facts about atoms that do not vary."""
        rows: list[_Row] = []
        waiting = [a for a in self._terms.atoms if not self._varies(a)]
        first = len(waiting)
        for i, atom in enumerate(waiting):
            low, high = facts.constant_range(atom)
            near = [ir.i64(int(v)) if abs(v) < _FAR else None for v in (low, high)]
            rows.append(_Row(atom, near[0], near[1]))
            if i >= first:
                continue  # what is known of what is known is left out: it is seldom needed
            lows, highs = facts.bounds_of(atom)
            for row in [*(_Row(atom, b, None) for b in lows), *(_Row(atom, None, b) for b in highs)]:
                bound = row.low if row.low is not None else row.high
                assert bound is not None
                if not self._is_inside(bound) and self._is_short(bound):
                    rows.append(row)
                    waiting += self._terms.gather(bound)
        return rows

    def _set(self, rows: list[_Row]) -> isl.Set:
        terms = self._terms
        result = terms.universe()
        for row in rows:
            if row.low is None and row.high is None and row.e.type.is_bool():
                result = result.intersect(terms.holds(row.e))
                continue
            f = terms.function(row.e)
            if row.low is not None and row.low is row.high:
                result = result.intersect(f.sub(terms.function(row.low)).zero_set())
                continue
            if row.low is not None:
                result = result.intersect(f.sub(terms.function(row.low)).nonneg_set())
            if row.high is not None:
                result = result.intersect(terms.function(row.high).sub(f).nonneg_set())
        return result

    # -- the ends

    def _end(self, value: isl.Set, known: ExprNode | None, contexts: _Contexts, *, most: bool) -> ExprNode | None:
        """The greatest or least value of a set, as an expression; the known one where that is as good."""
        context, certain = contexts
        # What the facts of the path say need not hold where it has no points. A product is any number to isl: there the
        # known range may only seem to be tighter, and a short one is worth more.
        opaque = [] if known is None else [atom for atom in atoms_of(known) if isinstance(atom, Binary)]
        facts = self._inside if opaque else self._outside
        try:
            end = value.dim_max(0) if most else value.dim_min(0)
        except isl.Error:  # it has none, or that takes too many steps
            self.given_up += known is not None
            return known
        end = end.align_params(context.get_space()).coalesce()
        same = known is not None and end.is_equal(self._terms.function(known).intersect_domain(end.domain()))
        if same and known is not None and _nodes(known) <= _SHORT:
            return known
        written = self._terms.expression(end.gist(context), self._inside, self._limits.nodes, self._limits.pieces)
        if same and known is not None:
            if written is None or _nodes(written) >= _nodes(known):
                return known
            if opaque:
                return written
            return known if self._looser(written, known, end, certain, most=most) else written
        self.given_up += written is None
        if written is None or known is None:
            return known if written is None else written
        if self._limits.negligible and has(written, Select):
            other = self._terms.function(known)
            gain = (other.sub(end) if most else end.sub(other)).max_val()
            if gain.is_int() and gain.le(isl.Val.int_from_si(gain.get_ctx(), self._limits.negligible)):
                return known
        # Interval arithmetic knows more of a quotient than that it is some number.
        quotients = any(atom.op in (BinaryOp.DIV, BinaryOp.MOD) for atom in opaque)
        tighter = quotients and self._beyond(written, known, context, most=most)
        if not tighter and not self._looser(written, known, end, context if opaque else certain, most=most):
            return written
        simplifier = Simplifier(facts)
        return simplifier.minimum(written, known) if most else simplifier.maximum(written, known)

    def _looser(self, written: ExprNode, known: ExprNode, end: isl.PwAff, certain: isl.Set, *, most: bool) -> bool:
        """True where what was written for an end may be looser than the known range where the path has no points: there
        it could be anything."""
        if certain.is_subset(end.domain()):
            return False
        return self._beyond(written, known, certain, most=most)

    def _beyond(self, written: ExprNode, known: ExprNode, where: isl.Set, *, most: bool) -> bool:
        """True where an end lies beyond the known one somewhere, as far as is known."""
        if any(atom not in self._terms.atoms for atom in atoms_of(written)):
            return True
        ours, theirs = self._terms.function(written), self._terms.function(known)
        beyond = ours.gt_set(theirs) if most else ours.lt_set(theirs)
        return not beyond.intersect(where).is_empty()

    def _is_short(self, e: ExprNode) -> bool:
        return _nodes(e) <= self._limits.nodes


def _nodes(e: ExprNode) -> int:
    return sum(1 for _ in subexpressions([e]))


def _plain(e: ExprNode | None) -> ExprNode | None:
    """A range of what is not affine, unless it is not affine either."""
    if e is None or any(isinstance(p, Binary) for p in atoms_of(e)):
        return None
    return e
