"""Variables that several places bind are told apart.

In: a statement whose unrolled copies bind the same variables to different values. Out: one in which every let and loop
binds a variable of its own, so that an expression means one thing wherever it stands.

    block: let x = t*2; s[x]   block: let x = t*2 + 1; s[x]   ->   …   block: let x$1 = t*2 + 1; s[x$1]
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from halide_core.algorithm.rename import UniqueNames
from halide_core.ir import NOTHING, Block, ExprNode, For, Fork, If, Label, Let, Remember, Stmt, Variable
from halide_core.ir.visitor import Substitution, walk


def bind_apart(stmt: Stmt, names: UniqueNames) -> Stmt:
    """The statement itself, if every variable is bound once."""
    bound = [s.var for s in walk(stmt) if isinstance(s, Let | For)]
    return stmt if len(set(bound)) == len(bound) else _Apart(names).stmt(stmt, {})


class _Apart:
    def __init__(self, names: UniqueNames) -> None:
        self._names = names
        self._seen: set[Variable] = set()

    def _bind(self, var: Variable, to: dict[ExprNode, ExprNode]) -> Variable:
        """The variable, or a new one where it was bound before; ``to`` says so from here on."""
        to.pop(var, None)
        if var in self._seen:
            fresh = Variable(var.type, self._names.fresh(var.name))
            to[var] = fresh
            var = fresh
        self._seen.add(var)
        return var

    def stmt(self, stmt: Stmt, to: Mapping[ExprNode, ExprNode]) -> Stmt:
        """A statement with its variables renamed."""
        put = Substitution(to)
        match stmt:
            case Block(stmts=stmts):
                inner, result = dict(to), list[Stmt]()
                for s in stmts:
                    if isinstance(s, Let):
                        put = Substitution(inner)
                        value, within = put.expr(s.value), None if s.within is None else put.interval(s.within)
                        result.append(Let(self._bind(s.var, inner), value, within))
                    else:
                        result.append(self.stmt(s, inner))
                return Block(tuple(result))
            case For(loop=loop, var=var, bounds=bounds, kind=kind, pure=pure, body=body):
                over, inner = put.interval(bounds), dict(to)
                return For(loop, self._bind(var, inner), over, kind, pure, self.stmt(body, inner))
            case If(condition=condition, then=then, otherwise=otherwise):
                other = None if otherwise is None else self.stmt(otherwise, to)
                return If(put.expr(condition), self.stmt(then, to), other)
            case Fork(producer=producer, consumer=consumer, semaphores=semaphores):
                return Fork(self.stmt(producer, to), self.stmt(consumer, to), semaphores)
            case Label(func=func, stage=stage, body=body):
                return Label(func, stage, self.stmt(body, to))
            case Remember(body=body):
                outside = put.stmt(replace(stmt, body=NOTHING))
                assert isinstance(outside, Remember)
                return replace(outside, body=self.stmt(body, to))
        return put.stmt(stmt)
