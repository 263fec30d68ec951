"""Claims that iterations of a parallel or vectorized loop never meet.

In: the reads and writes of a tree. Out: for each such loop, and each write in it to memory that its iterations share,
Claims that no other iteration writes or reads the same point.

    parallel y in (0, n): for x in (0, m): f[x, y] = …
    ->  0 <= y < n, 0 <= x < m, 0 <= y' < n, 0 <= x' < m, y != y'  ⇒  x != x' || y != y'

Of a reduction loop that runs so because the user allowed race conditions the claims about its own Func have a waiver.
Of one whose updates are atomic they are about single steps, which take turns.
Memory allocated inside the loop is an iteration's own. Two iterations may write one point if they must write one value:
a pure definition's, which is a function of the point alone. A read in a condition or an index counts as any other.
"""

from __future__ import annotations

from collections.abc import Sequence

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.bounds.verify.memory import MemoryReads
from halide_core.bounds.verify.sites import Touch
from halide_core.bounds.verify.vc import Assumption, Claim, ClaimKind, Context, Text
from halide_core.ir import Callee, ExprNode, For, LoopKind, Provide, Variable
from halide_core.ir.boxes import differs
from halide_core.ir.visitor import Substitution, accesses_to, free_variables, subexpressions
from halide_core.loop_nest import Program, StageKey

_CONCURRENT = frozenset({LoopKind.PARALLEL, LoopKind.VECTORIZED})


def race_claims(program: Program, touches: Sequence[Touch], memory: MemoryReads) -> list[Claim]:
    """See the module's docstring."""
    races = _Races(program, touches, memory)
    claims: list[Claim] = []
    loops: dict[For, int] = {}
    for touch in touches:
        for depth, entered in enumerate(touch.loops):
            if entered.loop.kind in _CONCURRENT:
                loops.setdefault(entered.loop, depth)
    for loop, depth in loops.items():
        claims += races.of(loop, depth)
    return claims


class _Races:
    def __init__(self, program: Program, touches: Sequence[Touch], memory: MemoryReads) -> None:
        self._waivers = {
            key: Assumption(d.spelled(), d.location)
            for key, nest in program.nests.items()
            if (d := nest.waiver) is not None
        }
        self._named = program.named
        self._touches = touches
        self._memory = memory
        self._copies = 0

    def of(self, loop: For, depth: int) -> list[Claim]:
        """The claims about one loop, which stands inside ``depth`` others."""
        shared: dict[Callee, list[Touch]] = {}
        for t in self._touches:
            if depth < len(t.loops) and t.loops[depth].loop is loop and t.private <= depth:
                shared.setdefault(t.callee, []).append(t)
        claims: list[Claim] = []
        for callee, found in shared.items():
            waiver = self._waiver(loop, callee)
            own = not loop.pure and callee is self._named[loop.loop.func]
            writes = [t for t in found if t.writer is not None]
            reads = _distinct([t for t in found if t.writer is None])
            for i, write in enumerate(writes):
                for other in writes[i:]:
                    told: Text = (f'loop "{loop.loop}": no two iterations write {callee.name} at one point',)
                    if own and other is write and _is_one_step(write, reads):
                        told = (f'loop "{loop.loop}": iterations that meet in {callee.name} take turns, in any order',)
                        claims.append(self._claim(write, told, write.context, ir.TRUE, None))
                    elif other is write and _is_function_of_the_point(write, depth):
                        told = (f'loop "{loop.loop}": iterations that write {callee.name} at one point agree',)
                        claims.append(self._claim(write, told, write.context, ir.TRUE, None))
                    else:
                        claims.append(self._apart(loop, depth, write, other, told, waiver))
                for read in reads:
                    if own and _is_one_step(write, [read]):
                        continue  # it is part of the step
                    told = (f'loop "{loop.loop}": no iteration writes {callee.name} where another reads it',)
                    claims.append(self._apart(loop, depth, write, read, told, waiver))
        return claims

    def _waiver(self, loop: For, callee: Callee) -> Assumption | None:
        """The user's word that iterations of a reduction loop never meet in the memory of its own Func."""
        name = loop.loop
        if loop.pure or callee is not self._named[name.func]:
            return None
        return self._waivers.get(StageKey(self._named[name.func], name.stage, name.specialization))

    def _claim(self, touch: Touch, told: Text, context: Context, holds: ExprNode, waiver: Assumption | None) -> Claim:
        f, stage = touch.reader.func, touch.reader.stage
        advice = "A serial loop there, or memory inside the loop (store_at)."
        return Claim(ClaimKind.RACE, f.name, told, context, holds, f.definitions[stage].location, advice, waiver)

    def _apart(self, loop: For, depth: int, one: Touch, other: Touch, told: Text, waiver: Assumption | None) -> Claim:
        """One iteration's access and another's, with all that they bind under other names."""
        self._copies += 1
        nodes = other.context.below(other.loops[depth].outside)
        names = self._others(nodes, other, depth)
        context = one.context.again(nodes, names)
        context = context.holds(ir.binary(ir.BinaryOp.NE, loop.var, names.expr(loop.var)))
        return self._claim(one, told, context, differs(one.point, [names.expr(e) for e in other.point]), waiver)

    def _others(self, nodes: Sequence[Context], touch: Touch, depth: int) -> Substitution:
        """New names for all that is not fixed outside the loop: its variable, those of lets and inner loops, and what
        memory holds, which another iteration reads at another time."""
        fixed = {n.variable for n in touch.loops[depth].outside.below(None) if n.variable is not None}
        fixed |= {entered.loop.var for entered in touch.loops[:depth]}
        roots: list[ExprNode] = [n.variable for n in nodes if n.variable is not None]
        roots += [n.fact for n in nodes]
        renamed: dict[ExprNode, ExprNode] = {}
        for v in subexpressions((*roots, *touch.point)):
            if isinstance(v, Variable) and v not in fixed:
                renamed[v] = Variable(v.type, f"{v.name} @{self._copies}'")
                if v in self._memory.invented:
                    self._memory.invented[renamed[v]] = None
                if v in self._memory.words:
                    self._memory.words[renamed[v]] = None
        return Substitution(renamed)


def _is_one_step(write: Touch, reads: Sequence[Touch]) -> bool:
    """True where an assignment is atomic, and all that is read of its Func is the point that it writes, by itself: what
    its conditions read is read before the step. That the order of such steps does not matter is a claim about its
    operator (``lowering.laws``)."""
    writer = write.writer
    assert isinstance(writer, Provide)
    here = [
        t.reader == write.reader
        and t.context is write.context
        and all(a is b for a, b in zip(t.point, write.point, strict=True))
        for t in reads
    ]
    return writer.atomic and all(here)


def _distinct(reads: list[Touch]) -> list[Touch]:
    """Reads of one point in one place count once."""
    found: dict[tuple[object, ...], Touch] = {}
    for t in reads:
        found.setdefault((t.point, t.context), t)
    return list(found.values())


def _is_function_of_the_point(write: Touch, depth: int) -> bool:
    """True where an assignment gives a point the same value in every iteration of a loop: it is a pure definition's,
    the loop is one of its own, and what it says depends on the coordinates and on what is outside the loop only."""
    f, writer = write.callee, write.writer
    assert isinstance(f, Function) and isinstance(writer, Provide)
    if writer.stage or write.labels[f] > depth:
        return False
    if accesses_to(f, (*writer.args, *writer.values)):
        return False
    bound = {n.variable for n in write.context.below(write.loops[depth].outside) if n.variable is not None}
    bound |= {entered.loop.var for entered in write.loops[depth:]}
    free = frozenset().union(*(free_variables(v) for v in writer.values))
    return (free & bound) <= set(writer.args)
