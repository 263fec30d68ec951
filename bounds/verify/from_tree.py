"""Claims about the program that runs: the filled tree, walked with what its own loops, lets and conditions say.

In: a tree without holes, and a box of each stage in which its values count (``bounds.verify.sites.Boxes``). Out:
Claims: every
read and write lies in memory that is there (theorem 2.1); sizes and loops are not negative (definitions 2.12, 2.13);
each value that counts was computed before it is read (lemma 2.5).

The boxes need no trust: they are any for which the claims hold. Where a stage writes beyond its box, what it reads must
be memory, but need not have been computed (the assignment rule): no value inside a box depends on one outside of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.analysis.constant_ranges import ConstantRanges
from halide_core.bounds.query.answers import Lead
from halide_core.bounds.verify.arithmetic import fits_int64, has_length, overflowing
from halide_core.bounds.verify.cases import StageSite, sites_of_cases
from halide_core.bounds.verify.definitions import AssignmentPlace, definition_claims
from halide_core.bounds.verify.memory import MemoryReads, Reads, accesses_in, certain_accesses
from halide_core.bounds.verify.scope import Scope
from halide_core.bounds.verify.sites import Boxes, Entered, Touch, ValueSite
from halide_core.bounds.verify.sliding import KeptMemory, Windows
from halide_core.bounds.verify.startup import StartupArithmetic
from halide_core.bounds.verify.vc import Claim, ClaimKind, Context, Text, listed, nothing
from halide_core.errors import Location
from halide_core.ir import Access, Callee, ExprNode, Interval, Provide, Stmt
from halide_core.ir.boxes import contains, fields, window_of, within_limit
from halide_core.ir.logic import all_of, negation, within
from halide_core.ir.types import INT64
from halide_core.ir.visitor import stmt_exprs, walk
from halide_core.loop_nest import LENGTH_LIMIT, Program, StageKey


class TreeClaims:
    """Walks one tree. Besides claims it leaves what other claims are made from: stages, touches, values."""

    def __init__(
        self, program: Program, boxes: Boxes, windows: Windows, leads: Mapping[Function, Lead], memory: MemoryReads
    ) -> None:
        self._outputs = program.algorithm.outputs
        self._program = program
        self._nests: dict[Stmt, StageSite] = {}
        self._boxes = boxes
        self._windows = windows
        self._leads = leads
        self._memory = memory
        self.claims: list[Claim] = []
        self.stages: list[StageSite] = []
        self.touches: list[Touch] = []
        self.values: list[ValueSite] = []
        self._ranges = ConstantRanges()
        self.started: Context | None = None
        """The context after the start-up checks."""
        self._late = 0
        self._startup = StartupArithmetic(self._ranges)
        self._regions: dict[Callee, tuple[Interval, ...]] = {}
        self._fitted: dict[tuple[Callee, Reads], list[Context]] = {}
        """Arguments that are known to have their regions, by the moment at which that was claimed, and where."""
        self._done: dict[Function, list[Stmt]] = {}
        """All iterations of the stages of each Func so far: a later stage stands in none of it."""
        self._missing: dict[Function, None] = dict.fromkeys(self._outputs)
        """Outputs that are not computed."""

    def run(self, stmt: Stmt) -> None:
        """Everything about the tree."""
        self._stmt(stmt, Scope(nothing(), Reads(self._memory)))
        for f in self._missing:
            self._claim(ClaimKind.COMPUTED, f.name, ("it is computed",), nothing(), ir.FALSE)
        early = ir.FALSE if self._late else ir.TRUE
        self._claim(ClaimKind.STARTUP, "", ("no check stands inside a loop",), nothing(), early)

    def _claim(
        self,
        kind: ClaimKind,
        name: str,
        text: Text,
        context: Context,
        holds: ExprNode,
        location: Location | None = None,
        advice: str = "",
        step: Function | None = None,
    ) -> None:
        self.claims.append(Claim(kind, name, text, context, holds, location, advice, step=step))

    # -- statements

    def _stmt(self, stmt: Stmt, scope: Scope) -> None:
        """One statement; what it brings into scope is added to ``scope``."""
        if not isinstance(stmt, Provide | ir.If):
            scope.reads = Reads(self._memory)
            self._no_memory(stmt, scope)
            self._indices(stmt, scope)
        match stmt:
            case ir.Block(stmts=stmts):
                inner = scope.inner()
                for s in stmts:
                    self._stmt(s, inner)
            case ir.Let(var=var, value=value, within=kept):
                scope.context = scope.context.defines(var, scope.reads.expr(value))
                self._ranges.let(var, scope.reads.expr(value))
                if kept is not None:
                    text: Text = (f"{var.name} stays in the loop that it stands for",)
                    self._claim(
                        ClaimKind.LET, self._about(scope), text, scope.context, within(var, kept), self._line(scope)
                    )
            case ir.Assert():
                self._late += bool(scope.loops) or self.started is not None
                scope.context = scope.context.checked(stmt)
            case ir.AnswerQuery(regions=regions):
                for callee, box in regions:
                    scope.boxes[callee], scope.private[callee] = box, 0
                    self._regions[callee] = box
            case ir.Allocate():
                self._allocate(stmt, scope)
            case ir.Label():
                self._label(stmt, scope)
            case ir.For():
                self._for(stmt, scope)
            case ir.If():
                self._if(stmt, scope)
            case Provide():
                self._provide(stmt, scope)
            case ir.PrefetchRegion(func=f):
                text = (f'what is prefetched of "{f.name}" is memory that is there',)
                there = ir.TRUE if f in scope.boxes else ir.FALSE
                self._claim(ClaimKind.MEMORY, self._about(scope), text, scope.context, there, self._line(scope))
            case _:
                self._claim(
                    ClaimKind.STARTUP, "", (f"{type(stmt).__name__} has a meaning here",), scope.context, ir.FALSE
                )

    def _about(self, scope: Scope) -> str:
        return "" if scope.stage is None else scope.stage.func.name

    def _line(self, scope: Scope) -> Location | None:
        if scope.stage is None:
            return None
        return scope.stage.func.definitions[scope.stage.stage].location

    def _no_memory(self, stmt: Stmt, scope: Scope) -> None:
        """Bounds and sizes may not depend on what memory holds."""
        found = accesses_in(stmt_exprs(stmt))
        if found:
            text: Text = (f"a {type(stmt).__name__.lower()} does not depend on memory: ", found[0])
            self._claim(ClaimKind.STARTUP, self._about(scope), text, scope.context, ir.FALSE, self._line(scope))

    def _indices(self, stmt: Stmt, scope: Scope) -> None:
        """Index arithmetic stays in int64: most of it by the constant ranges of its parts, those that are read among
        them."""
        if self.started is None:
            self._startup.meet(stmt, scope.reads)
            return
        exprs = [scope.reads.expr(e) for e in stmt_exprs(stmt)]
        risky = overflowing(exprs, self._ranges)
        if risky:
            risky = overflowing(exprs, self._ranges.where(scope.context.unchecked()))
        if risky:
            text: Text = ("index arithmetic stays in int64: ", risky[0])
            if isinstance(stmt, ir.For):
                self._lengths(overflowing([scope.reads.expr(stmt.bounds.len)], self._ranges), scope)
            context = scope.context.holds(*scope.sizes)
            self._claim(
                ClaimKind.INT64, self._about(scope), text, context, fits_int64(risky, context), self._line(scope)
            )

    def _lengths(self, lengths: Iterable[ExprNode], scope: Scope) -> None:
        """Claims that a fused loop's length is no more than ``fuse`` checked: from here on, that is known."""
        for e in lengths:
            limit = ir.less_equal(e, ir.i64(LENGTH_LIMIT))
            context = scope.context.holds(*scope.sizes)
            holds = has_length(limit, context)
            if holds is not limit:  # some check is about so many lengths
                text: Text = ("a fused loop's iterations can be counted: ", e)
                self._claim(ClaimKind.INT64, self._about(scope), text, context, holds, self._line(scope))
                scope.sizes = (*scope.sizes, limit)

    def _start(self, scope: Scope) -> None:
        """The start-up checks are over: what they say of every program is claimed, once."""
        if self.started is not None:
            return
        self.started = scope.context
        for f in self._outputs:
            text: Text = (f'windows of "{f.name}" beyond ±2^30 are refused',)
            where = f.definitions[-1].location
            self._claim(ClaimKind.STARTUP, f.name, text, scope.context, within_limit(f), where)
        scope.context = scope.context.holds(*map(within_limit, self._outputs))
        self.claims += self._startup.claims(self.started)

    def _allocate(self, stmt: ir.Allocate, scope: Scope) -> None:
        self._start(scope)
        f, box = stmt.func, tuple(map(scope.reads.interval, stmt.bounds))
        for d, i in enumerate(box):
            text: Text = (f'the memory of "{f.name}" has a length in dimension {d}',)
            self._claim(ClaimKind.SIZE, f.name, text, scope.context, ir.less_equal(ir.ZERO, i.len))
        self._laid_out(stmt, box, scope)
        if f in self._program.remembered:
            assert isinstance(f, Function)
            text = ("what is kept of it for later runs is told apart by all that is computed",)
            told, needed = tuple(map(scope.reads.interval, stmt.computed)), self._boxes[f, len(f.definitions) - 1]
            whole = contains(told, needed) if len(told) == len(needed) else ir.FALSE
            self._claim(ClaimKind.MEMOIZED, f.name, text, scope.context, whole)
        if f in scope.boxes:
            text = (f'"{f.name}" has memory once',)
            self._claim(ClaimKind.MEMORY, f.name, text, scope.context, ir.FALSE)
        scope.boxes[f], scope.private[f] = box, len(scope.loops)
        scope.folds = {**scope.folds, f: tuple([None if k is None else scope.reads.expr(k) for k in stmt.folds])}
        if len(box) > 1:
            # An allocation whose size leaves int64 is refused where it stands: below it, the size is a number. Only
            # what is said of int64 may rest on that.
            size = box[0].len
            for i in box[1:]:
                size = ir.mul(size, i.len)
            scope.sizes = (*scope.sizes, ir.less_equal(size, ir.i64(INT64.range[1])))

    def _laid_out(self, stmt: ir.Allocate, box: tuple[Interval, ...], scope: Scope) -> None:
        """Points have places of their own: each dimension is laid out once, and none is longer than was set."""
        f, layout = stmt.func, stmt.layout
        if layout is None:
            return
        once = ir.TRUE if sorted(layout.order) == list(range(len(box))) else ir.FALSE
        self._claim(ClaimKind.MEMORY, f.name, ("each dimension has its place in memory",), scope.context, once)
        for d, (i, length) in enumerate(zip(box, layout.extents, strict=True)):
            if length is not None and stmt.fold(d) is None:
                text: Text = (f"dimension {d} has room in its length in memory: ", length)
                self._claim(ClaimKind.SIZE, f.name, text, scope.context, ir.less_equal(i.len, length))

    def _label(self, stmt: ir.Label, scope: Scope) -> None:
        self._start(scope)
        f = stmt.func
        assert isinstance(f, Function)
        inner = scope.inner()
        if stmt.stage is None:
            self._whole(f, stmt, scope, inner)
            return
        shared = scope.loops[scope.labels.get(f, 0) :]
        text: Text = (f"stage {stmt.stage} follows the one before it",)
        nests = self._done.setdefault(f, [])
        amid = bool(shared) and any(s is shared[0].loop for nest in nests for s in walk(nest))
        follows = f in scope.labels and stmt.stage == len(scope.done[f]) and not amid
        self._claim(ClaimKind.COMPUTED, f.name, text, scope.context, ir.TRUE if follows else ir.FALSE)
        nests.append(shared[0].loop if shared else stmt.body)
        scope.done[f].append(stmt.stage)
        inner.stage, inner.tests, inner.outside = StageKey(f, stmt.stage), (), ()
        box = self._boxes[f, stmt.stage]
        label = StageSite(inner.stage, scope.context, stmt.body, box)
        if shared:  # its outermost loops are another stage's: they stand around the label
            label = replace(label, context=shared[0].outside, body=shared[0].loop)
        sites, claims = sites_of_cases(label, self._program)
        self.stages += sites
        self.claims += claims
        self._nests.update((stmt.body if shared else site.body, site) for site in sites)
        inner.site = self._nests.get(stmt.body)
        self._nested(f, stmt.stage, box, label.context)
        self._stmt(stmt.body, inner)

    def _whole(self, f: Function, stmt: ir.Label, scope: Scope, inner: Scope) -> None:
        """All stages of a Func. An output's stand outside all loops, and under no condition but that its window is not
        empty."""
        inner.labels[f], inner.done, inner.stage = len(scope.loops), {**scope.done, f: []}, None
        self.claims += self._kept(f, scope).at_label(scope.context, scope.loops, scope.private.get(f, 0))
        self._stmt(stmt.body, inner)
        text: Text = ("all of its stages are computed",)
        complete = ir.TRUE if inner.done[f] == list(range(len(f.definitions))) else ir.FALSE
        self._claim(ClaimKind.COMPUTED, f.name, text, scope.context, complete)
        scope.computed |= {f} | (inner.computed if isinstance(stmt.body, ir.Label) else frozenset())
        if f in self._outputs:
            self._missing.pop(f, None)
            asked = nothing()
            if len(self._outputs) == 1:
                asked = asked.holds(*(ir.less(ir.ZERO, extent) for _, extent in fields(f)))
            always = all_of(map(scope.reads.expr, scope.tests)) if not scope.loops else ir.FALSE
            self._claim(ClaimKind.COMPUTED, f.name, ("it is computed for every window",), asked, always)

    def _nested(self, f: Function, stage: int, box: tuple[Interval, ...], context: Context) -> None:
        """A point that a stage leaves as it was has its value from the stage before; the window is computed."""
        if stage:
            text: Text = (f"what stage {stage} leaves as it was, stage {stage - 1} computed",)
            holds = contains(self._boxes[f, stage - 1], box)
            self._claim(ClaimKind.COMPUTED, f.name, text, context, holds, step=self._slid(f))
        if f in self._outputs and stage == len(f.definitions) - 1:
            asked = contains(box, window_of(f))
            self._claim(ClaimKind.COMPUTED, f.name, ("the requested window is computed",), context, asked)

    def _for(self, stmt: ir.For, scope: Scope) -> None:
        self._start(scope)
        over = scope.reads.interval(stmt.bounds)
        text: Text = (f'loop "{stmt.loop}" has no negative length',)
        self._claim(
            ClaimKind.SIZE, self._about(scope), text, scope.context, ir.less_equal(ir.ZERO, over.len),
            self._line(scope), "An RDom whose extent is not negative.",
        )
        inner = scope.inner()
        inner.loops = (*scope.loops, Entered(stmt, scope.context))
        inner.context = scope.context.ranges(stmt.var, over)
        self._ranges.loop(stmt.var, over)
        self._stmt(stmt.body, inner)

    def _if(self, stmt: ir.If, scope: Scope) -> None:
        """A condition. What it reads is of one moment with what further conditions and the assignment right below read;
        any other statement starts anew, since memory may have changed."""
        self._accessed((stmt.condition,), (), scope)
        self._indices(stmt, scope)
        condition = scope.reads.expr(stmt.condition)
        for branch, holds in ((stmt.then, condition), (stmt.otherwise, negation(condition))):
            if branch is None:
                continue
            inner = scope.inner()
            inner.context = scope.context.holds(holds)
            inner.tests = (*scope.tests, stmt.condition)
            inner.outside = (*scope.outside, scope.context)
            if branch in self._nests:
                inner.site = self._nests[branch]
                inner.stage = inner.site.key
            self._stmt(branch, inner)

    # -- memory

    def _provide(self, stmt: Provide, scope: Scope) -> None:
        f = stmt.func
        assert isinstance(f, Function)
        if scope.stage is None or (scope.stage.func, scope.stage.stage) != (f, stmt.stage):
            text: Text = (f'"{f.name}" is written inside its own label',)
            self._claim(ClaimKind.COMPUTED, f.name, text, scope.context, ir.FALSE)
            return
        valid = self._accessed(stmt.args, stmt.values, scope, stmt)
        self._indices(stmt, scope)
        point = tuple([scope.reads.expr(a) for a in stmt.args])
        self._in_memory(f, point, "writes", scope)
        self.touches.append(self._touch(f, point, stmt, scope))
        label = scope.labels.get(f, 0)
        around, further = scope.loops[:label], scope.loops[label:]
        self.claims += self._kept(f, scope).at_write(stmt.stage, point, scope.context, around, further)
        self._separate(stmt, scope)
        self._definition(stmt, scope, valid)
        values = tuple([scope.reads.expr(v) for v in stmt.values])
        read = tuple(accesses_in(stmt.values))
        self.values.append(ValueSite(f, stmt.stage, valid, values, scope.reads, read))

    def _kept(self, f: Function, scope: Scope) -> KeptMemory:
        last = len(f.definitions) - 1
        window, folds, lead = self._windows.get(f), scope.folds.get(f, ()), self._leads.get(f)
        return KeptMemory(f, window, self._boxes[f, 0], self._boxes[f, last], folds, lead)

    def _definition(self, stmt: Provide, scope: Scope, valid: Context) -> None:
        """The assignment of a nest is what its definition says."""
        if scope.site is None:
            f, text = stmt.func, ("each assignment is one of a nest",)
            self._claim(ClaimKind.DEFINITION, f.name, text, scope.context, ir.FALSE, self._line(scope))
            return
        first = max(len(scope.tests) - scope.site.tests, 0)
        place = AssignmentPlace(
            scope.site.key, stmt, scope.tests[first:], (*scope.outside, scope.context)[first], valid
        )
        self.claims += definition_claims(place, scope.reads, simplified=bool(self._program.specialized))

    def _touch(self, callee: Callee, point: tuple[ExprNode, ...], writer: Provide | None, scope: Scope) -> Touch:
        assert scope.stage is not None
        private = scope.private.get(callee, 0)
        return Touch(callee, point, writer, scope.stage, scope.context, scope.loops, private, scope.labels)

    def _accessed(
        self, always: tuple[ExprNode, ...], values: tuple[ExprNode, ...], scope: Scope, at: Provide | None = None
    ) -> Context:
        """Claims for the reads of one statement. Gives back the context of an instance that counts."""
        if scope.stage is None:
            return scope.context
        certain = certain_accesses(always, values)
        for e in (*always, *values):
            scope.reads.expr(e)
        scope.context = scope.context.holds(*scope.reads.facts(certain))
        f, stage = scope.stage.func, scope.stage.stage
        valid = scope.context
        if at is not None:
            own = zip(at.args, self._boxes[f, stage], strict=True)
            valid = valid.holds(*(within(scope.reads.expr(a), i) for a, i in own))
        steering = set(certain)
        rest = [e for e in accesses_in(values) if e not in steering]
        for e in (*certain, *rest):
            point = tuple([scope.reads.expr(a) for a in e.args])
            self._in_memory(e.callee, point, "reads", scope)
            if isinstance(e.callee, Function):
                self.touches.append(self._touch(e.callee, point, None, scope))
        for group, context in ((certain, scope.context), (rest, valid)):
            for e in group:
                if isinstance(e.callee, Function):
                    self._computed(e, e.callee, at, scope, context)
        return valid

    def _in_memory(self, callee: Callee, point: tuple[ExprNode, ...], verb: str, scope: Scope) -> None:
        assert scope.stage is not None
        f, stage = scope.stage.func, scope.stage.stage
        box = scope.boxes.get(callee)
        if callee in self._regions:
            self._fits(callee, self._regions[callee], scope)
        advice = "hl.clamp(…) around the coordinate, or hl.BoundaryConditions around what is read."
        for d, e in enumerate(point):
            holds = ir.FALSE if box is None else within(e, box[d])
            text: Text = (f"stage {stage} {verb} {callee.name}[", *listed(point), f"], in its memory in dimension {d}")
            self._claim(ClaimKind.MEMORY, f.name, text, scope.context, holds, f.definitions[stage].location, advice)
        if not point:
            text = (f"stage {stage} {verb} {callee.name}, which has memory",)
            there = ir.FALSE if box is None else ir.TRUE
            self._claim(ClaimKind.MEMORY, f.name, text, scope.context, there, f.definitions[stage].location)

    def _fits(self, callee: Callee, region: tuple[Interval, ...], scope: Scope) -> None:
        """Where an argument is accessed it has the region that the bounds query tells: start-up checks see to it. Once
        for all accesses of one moment below a place: those in the other branch of a choice are not."""
        assert scope.stage is not None
        claimed = self._fitted.setdefault((callee, scope.reads), [])
        if claimed and not set(claimed).isdisjoint(scope.context.below(None)):
            return
        claimed.append(scope.context)
        f, stage = scope.stage.func, scope.stage.stage
        fits = contains(window_of(callee), region)
        text: Text = (f'"{callee.name}" has the region that stage {stage} of "{f.name}" accesses',)
        advice = f'A larger buffer for "{callee.name}", or hl.clamp(…) around the coordinates.'
        location = f.definitions[stage].location
        self._claim(ClaimKind.REGION, callee.name, text, scope.context, fits, location, advice)

    def _computed(self, e: Access, callee: Function, at: Provide | None, scope: Scope, context: Context) -> None:
        """A read of a Func has a value there: its label is complete, and the point counts."""
        assert scope.stage is not None
        f, stage = scope.stage.func, scope.stage.stage
        point = tuple([scope.reads.expr(a) for a in e.args])
        location = f.definitions[stage].location
        if callee is f:
            there, box = stage > 0 or f.keeps, self._boxes[f, stage]
        else:
            there = callee in scope.computed and callee in scope.boxes
            window = self._windows.get(callee)
            box = self._boxes[callee, len(callee.definitions) - 1] if window is None else window.needed
        read = (f"stage {stage} reads {callee.name}[", *listed(point), "]")
        text: Text = (*read, " after it is computed")
        self._claim(ClaimKind.COMPUTED, f.name, text, context, ir.TRUE if there else ir.FALSE, location)
        for d, (a, over) in enumerate(zip(point, box, strict=True)):
            text = (*read, f" where it is computed in dimension {d}")
            step = self._slid(callee)
            self._claim(ClaimKind.COMPUTED, f.name, text, context, within(a, over), location, step=step)

    def _slid(self, f: Function) -> Function | None:
        """The Func, where what is known of its points may rest on how it slides."""
        return f if f in self._windows else None

    def _separate(self, stmt: Provide, scope: Scope) -> None:
        """A stage reads itself only where its own pure coordinates are (definition 2.7), so that no iteration at other
        ones has a say in its values."""
        assert scope.stage is not None
        f, stage = scope.stage.func, scope.stage.stage
        pure = f.pure_dims(stage)
        own = [e for e in accesses_in((*scope.tests, *stmt.args, *stmt.values)) if e.callee is f]
        keeps = all_of(
            scope.reads.expr(ir.equal(a, b))
            for e in own
            for a, b, p in zip(e.args, stmt.args, pure, strict=True)
            if p and a is not b
        )
        if own and any(pure):
            text: Text = (f"stage {stage} reads itself only at its own pure coordinates",)
            self._claim(ClaimKind.COMPUTED, f.name, text, scope.context, keeps, f.definitions[stage].location)
