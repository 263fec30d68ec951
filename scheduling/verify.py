"""Lemmas 2.4 and 2.5 as checks: loop names are unique, and memory and values exist before they are used.

In: a program after a phase. Out: nothing, or an InternalError, since a legal directive can't break either.
"""

from __future__ import annotations

from halide_core.algorithm.model import Function
from halide_core.errors import InternalError
from halide_core.ir import Access, Allocate, Block, For, If, Label, Let, LoopName, Provide, Stmt, Variable
from halide_core.ir.visitor import nodes_of, stmt_exprs
from halide_core.loop_nest import Program, assemble


def check_dominance(program: Program) -> None:
    """Walks the tree once, with what is in scope at each place."""
    check = _Walk(program)
    check.visit(assemble(program))


class _Walk:
    def __init__(self, program: Program) -> None:
        self._outputs = set(program.algorithm.outputs)
        self._allocated: set[object] = set(self._outputs)
        self._computed: set[object] = set()
        self._inside: list[object] = []
        self._loops: set[LoopName] = set()
        self._variables: set[Variable] = set()

    def visit(self, stmt: Stmt) -> None:
        """Checks a statement; what it brings into scope ends with its block."""
        for f in _reads(stmt):
            if f not in self._computed and f not in self._inside:
                raise InternalError(f'"{f.name}" is read before it is computed.')
        match stmt:
            case Block(stmts=stmts):
                allocated: set[object] = set()
                computed: set[object] = set()
                for s in stmts:
                    if isinstance(s, Allocate) and s.func not in self._allocated:
                        allocated.add(s.func)
                        self._allocated.add(s.func)
                    self.visit(s)
                    new = {f for f in _labelled(s) if f not in self._computed}
                    computed |= new
                    self._computed |= new
                self._allocated -= allocated
                self._computed -= computed
            case Label(func=func, body=body):
                if func not in self._allocated:
                    raise InternalError(f'"{func.name}" is computed before its memory is allocated.')
                self._inside.append(func)
                self.visit(body)
                self._inside.pop()
            case For(loop=loop, body=body):
                if loop in self._loops:
                    raise InternalError(f'Two loops are named "{loop}".')
                self._loops.add(loop)
                self._bind(stmt.var)
                self.visit(body)
            case Let(var=var):
                self._bind(var)
            case If(then=then, otherwise=otherwise):
                self.visit(then)
                if otherwise is not None:
                    self.visit(otherwise)
            case Provide(func=func):
                if func not in self._inside:
                    raise InternalError(f'"{func.name}" is written outside its label.')

    def _bind(self, var: Variable) -> None:
        if var in self._variables:
            raise InternalError(f'Two variables are named "{var.name}".')
        self._variables.add(var)


def _labelled(stmt: Stmt) -> list[object]:
    """The Funcs that a statement computes: those that share loops have their labels right inside one another."""
    found: list[object] = []
    while isinstance(stmt, Label) and stmt.stage is None:
        found.append(stmt.func)
        stmt = stmt.body
    return found


def _reads(stmt: Stmt) -> list[Function]:
    found: dict[Function, None] = {}
    for e in nodes_of(stmt_exprs(stmt), Access):
        if isinstance(e.callee, Function):
            found.setdefault(e.callee)
    return list(found)
