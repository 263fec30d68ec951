"""[Γ]T: from a program with holes and the answers to a program without.

In: a Program and Answers. Out: a tree in which every hole is a variable that a let binds at the hole's scope, headed
by the start-up checks and the reply to bounds queries.

    label f: for f.s0.x in (?cpu f.s0.x.min, …): …
    ->  let f.s0.x.min = out.min.0 - 1;  label f: for f.s0.x in (f.s0.x.min, …): …
"""

from __future__ import annotations

from dataclasses import replace

from halide_core import ir
from halide_core.algorithm.model import Function
from halide_core.algorithm.rename import UniqueNames
from halide_core.analysis.linear import Linear, linear_of, to_expr
from halide_core.bounds.query.answers import Answer, Answers
from halide_core.errors import InternalError
from halide_core.ir import Allocate, AnswerQuery, Block, BufferField, ExprNode, Field, Hole, If, Let, Stmt
from halide_core.ir.printer import dim_name
from halide_core.ir.types import INT64
from halide_core.ir.visitor import Rewriter, Substitution, nodes_of, stmt_exprs, walk
from halide_core.loop_nest import Level, Program, Prologue, assemble, hole, no_prologue


def fill(program: Program, answers: Answers, also: Prologue = no_prologue) -> Stmt:
    """The program with its holes filled. ``also``: what stands at the head of each level besides, over holes.

    Raises: InternalError if an engine left one open.
    """
    filled = _Filling(answers, program)
    # The answers meet the obligations, or start-up checks stand for them: the tree need not repeat them.
    rest = assemble(replace(program, obligations=()), lambda level: [*filled.prologue(level), *also(level)])
    body = _Folds(answers).stmt(filled.substitution.stmt(rest))
    regions = tuple((callee, box) for callee, box in answers.regions.items())
    head = filled.lets(None)
    head.append(filled.substitution.stmt(AnswerQuery(regions)))
    checks = [filled.substitution.stmt(c) for c in answers.checks]
    full = Block((*head, _unless_empty(program, Block((*checks, body)))))
    _refuse_holes(full)
    return full


class _Folds(Rewriter):
    """Tells allocations how they fold."""

    def __init__(self, answers: Answers) -> None:
        super().__init__()
        self._folds = answers.folds

    def expr(self, expr: ExprNode) -> ExprNode:
        """Expressions stay."""
        return expr

    def rewrite_Allocate(self, s: Allocate) -> Stmt:
        """The allocation with its folds."""
        assert isinstance(s.func, Function)
        found = self._folds.get(s.func, {})
        return replace(s, folds=tuple([found.get(d) for d in range(len(s.bounds))])) if found else s


def hole_values(program: Program, answers: Answers) -> Substitution:
    """The substitution by which ``fill`` replaces holes."""
    return _Filling(answers, program).substitution


def _unless_empty(program: Program, body: Stmt) -> Stmt:
    """Nothing at all happens for an empty window of the only output: no point is read, so no check applies."""
    outputs = program.algorithm.outputs
    if len(outputs) != 1 or not outputs[0].dimensions:
        return body
    condition: ExprNode = ir.TRUE
    for d in range(outputs[0].dimensions):
        some = ir.less(ir.ZERO, BufferField(INT64, outputs[0], Field.EXTENT, d))
        condition = some if condition is ir.TRUE else ir.conjunction(condition, some)
    return If(condition, body, None)


class _Filling:
    """Names the holes, and keeps their lets by level, in the order of answering."""

    def __init__(self, answers: Answers, program: Program) -> None:
        names = UniqueNames(_loop_variables(program))
        self._lets: dict[Level, list[Stmt]] = {}
        bound: dict[tuple[Level, ExprNode], ExprNode] = {}
        values: dict[ExprNode, ExprNode] = {}
        for answer in answers.holes:
            holes = hole(answer.kind, answer.func, answer.stage, answer.dim)
            for h, value in ((holes.min, answer.interval.min), (holes.len, answer.interval.len)):
                assert isinstance(h, Hole)
                value = Substitution(values).expr(value)
                if isinstance(value, ir.IntImm | ir.Variable | BufferField):
                    values[h] = value
                    continue
                if (answer.level, value) in bound:  # memory is most often exactly what is computed
                    values[h] = bound[answer.level, value]
                    continue
                var = ir.index_variable(names.fresh(_name(answer, h)))
                quotient = _quotient(value, answer.multiple)
                if quotient is not None:  # what is named is the quotient, so that all can see the multiple
                    values[h] = bound[answer.level, value] = _times(var, value, answer.multiple)
                    self._lets.setdefault(answer.level, []).append(Let(var, quotient, None))
                    continue
                values[h] = bound[answer.level, value] = var
                self._lets.setdefault(answer.level, []).append(Let(var, value, None))
        self.substitution = Substitution(values)

    def lets(self, level: Level) -> list[Stmt]:
        """The lets of one level."""
        return list(self._lets.get(level, []))

    def prologue(self, level: Level) -> list[Stmt]:
        """The lets at the head of a level; those of the top stand before the start-up checks instead."""
        return [] if level is None else self.lets(level)


def _quotient(value: ExprNode, multiple: int) -> ExprNode | None:
    """A bound that a directive put on multiples, divided; None where its form does not show the multiple."""
    form = linear_of(value)
    if multiple == 1 or not form.terms or any(c % multiple for c in form.terms.values()):
        return None
    return to_expr(Linear({atom: c // multiple for atom, c in form.terms.items()}, form.const // multiple))


def _times(var: ExprNode, value: ExprNode, multiple: int) -> ExprNode:
    """The bound again, of its quotient."""
    return to_expr(Linear({var: multiple}, linear_of(value).const % multiple))


def _loop_variables(program: Program) -> list[str]:
    """The names that loops and the lets of splits have already."""
    found = []
    for nest in program.nests.values():
        found += [loop.var.name for loop in nest.loops]
        found += [step.var.name for step in nest.steps if isinstance(step, Let)]
    return found


def _name(answer: Answer, h: Hole) -> str:
    """The name of a hole's let, unless a loop has the name; never read back."""
    func: Function = answer.func
    dim = dim_name(func, answer.dim)
    if answer.kind is ir.HoleKind.MEM:
        return f"{func.name}.{dim}.{h.end.value}"
    if answer.kind is ir.HoleKind.LOOP:
        return f"{func.name}.new.{dim}.{h.end.value}"
    return f"{func.name}.s{answer.stage}.{dim}.{h.end.value}"


def _refuse_holes(stmt: Stmt) -> None:
    for s in walk(stmt):
        for e in nodes_of(stmt_exprs(s), Hole):
            raise InternalError(f"The hole {e} was not answered.")
