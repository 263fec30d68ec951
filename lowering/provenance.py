"""The directive that said how a loop is run: for errors that only show after bounds inference.

In: the directives of an algorithm. Out: for a loop, the error of the user's own line.

    f.vectorize(x): its length is not a constant: f.extent.0      at blur.py:9
"""

from __future__ import annotations

from collections.abc import Iterable

from halide_core.algorithm.model import Function
from halide_core.errors import ScheduleError
from halide_core.ir import For, IntImm, LoopName, pure_variable
from halide_core.ir.visitor import accesses_to
from halide_core.schedule.directives import Bound, Directive, Fuse, Rename, Split, StageDirective, Traverse
from halide_core.scheduling.legality import pasted


class Traversals:
    """The last directive about each loop, which may have another name since; and what the user calls the memory."""

    def __init__(self, directives: Iterable[Directive], functions: Iterable[Function]) -> None:
        self._owners = {f.component_name(i): f.own.name for f in functions for i in range(len(f.types))}
        self._of: dict[LoopName, Traverse] = {}
        self._over: dict[LoopName, str] = {}
        """The dimension whose length settles that of a loop; nothing where there is none. A loop that no directive made
        is over the one of its name."""
        self._inner: dict[LoopName, Split] = {}
        for d in directives:
            if isinstance(d, StageDirective):
                self._record(d)

    def _record(self, d: StageDirective) -> None:
        match d:
            case Split():
                dim = self._over.get(_loop(d, d.old), d.old)
                self._over[_loop(d, d.inner)] = ""
                self._over[_loop(d, d.outer)] = dim if isinstance(d.factor, IntImm) else ""
                self._inner[_loop(d, d.inner)] = d
            case Fuse():
                self._over[_loop(d, d.fused)] = ""
            case Rename():
                old, new = _loop(d, d.old), _loop(d, d.new)
                self._over[new] = self._over.get(old, d.old)
                if old in self._of:
                    self._of[new] = self._of[old]
            case Traverse():
                self._of[_loop(d, d.var)] = d

    def error(self, loop: LoopName, reason: str) -> ScheduleError:
        """The error of the directive that made a loop what it is."""
        directive = self._of[loop]
        return ScheduleError(f"{directive.spelled()}: {reason}", directive.location)

    def owner(self, buffer: str) -> str:
        """The name of the user's Func whose memory a buffer is."""
        return self._owners[buffer]

    def constant_length(self, loop: For) -> int:
        """The length of a loop that its directive needs to be constant."""
        if isinstance(loop.bounds.len, IntImm):
            return loop.bounds.len.value
        legal = ", or ".join(self._legal(loop.loop))
        raise self.error(loop.loop, f"the length of the loop is not a constant: {loop.bounds.len}. {legal}.")

    def _legal(self, loop: LoopName) -> list[str]:
        """Directives that would make a length constant, as the user can write them."""
        d = self._of[loop]
        func, own = d.func, d.own
        assert isinstance(func, Function)
        made = self._inner.get(_loop(d, d.var))
        var = d.var if made is None or not d.written or made.written != d.written else made.old
        domain = func.definitions[d.stage].domain
        told = f"{own.subject()}.{d.called()}({pasted(var, () if domain is None else domain.names)}, 8)"
        legal = [f"Give a factor, for example {told}"]
        dim = self._over.get(loop, loop.var)
        if dim in func.args and _sets_length(func, d.stage, dim):
            legal.append(f"fix the length with {own.func.name}.bound_extent({dim}, n)")
        return legal


def _loop(d: StageDirective, var: str) -> LoopName:
    return LoopName(d.func.name, d.stage, d.branch.number, var)


def _sets_length(func: Function, stage: int, dim: str) -> bool:
    """True where ``bound_extent`` sets the length of a dimension in a stage: it is not set yet, and later stages, of
    which the last is the one that it speaks of, need neither more nor less."""
    if any(isinstance(d, Bound) and d.var == dim for d in func.directives):
        return False
    at, same = func.args.index(dim), pure_variable(dim)
    later = func.definitions[stage + 1 :]
    read = [e.args for d in later for e in accesses_to(func, d.exprs())]
    return all(args[at] is same for args in (*(d.args for d in later), *read))
