"""Programs in a hash: the algorithm, and its directives where these count.

In: a snapshot, and an object of hashlib. Out: equal digests for equal programs, in every process; where in a file a
line of theirs stands is no part of it.

    ProgramDigest(hashlib.sha256()).algorithm(snapshot([f]))   ->   the compile cache's key has it
"""

from __future__ import annotations

import dataclasses
from enum import Enum
from typing import Any

from halide_core import ir
from halide_core.algorithm.model import Algorithm, Function, Image, ReductionDomain, ScalarParam
from halide_core.errors import InternalError, Location
from halide_core.ir.debug_files import DebugFile
from halide_core.ir.types import Type
from halide_core.ir.visitor import subexpressions
from halide_core.schedule.directives import Branch, Directive


class ProgramDigest:
    """Writes a program into a hash: every node once, under a number, in a deterministic order.

    Args:
        directives: whether the schedule is a part of it, too.
    """

    def __init__(self, digest: Any, *, directives: bool = True) -> None:  # hashlib's objects have no public type
        self._digest = digest
        self._directives = directives
        self._numbers: dict[object, int] = {}

    def put(self, value: object) -> None:
        """Writes one value, so that no two different sequences of values look alike."""
        self._digest.update(f"{value!r};".encode())

    def _number(self, thing: object) -> int:
        return self._numbers.setdefault(thing, len(self._numbers))

    def algorithm(self, algorithm: Algorithm) -> None:
        """The whole program. Names are part of it: they become names in C and in messages."""
        for image in algorithm.images:
            self._leaf("image", image)
        for param in algorithm.params:
            self._leaf("param", param)
        for f in algorithm.functions:
            self._function(f)
        self.put([(self._number(f), f.alignment) for f in algorithm.outputs])
        for c in algorithm.constraints:
            self.put((self._number(c.buffer), c.field.value, c.dim, self._expr(c.value)))
        for r in algorithm.requirements:
            self.put((self._expr(r.condition), [m if isinstance(m, str) else self._expr(m) for m in r.message]))

    def _leaf(self, kind: str, leaf: Image | ScalarParam) -> None:
        if isinstance(leaf, Image):
            facts = (leaf.dimensions, leaf.alignment, leaf.traced)
            self.put((kind, self._number(leaf), leaf.name, str(leaf.types[0]), *facts))
        else:
            self.put((kind, self._number(leaf), leaf.name, str(leaf.type), leaf.low, leaf.high))

    def _function(self, f: Function) -> None:
        self.put(("func", self._number(f), f.name, f.args, tuple(map(str, f.types))))
        for d in f.definitions:
            if d.domain is not None:
                self._domain(d.domain)
            kind = (d.domain is not None, bool(d.partial), d.undefined)
            self.put(("stage", self._all(d.args), self._all(d.values), self._expr(d.predicate), *kind))
            for tag in d.tags:
                self.put(("tag", self._expr(tag.value), self._all(tag.words)))
        for directive in f.directives if self._directives else ():
            values = [getattr(directive, each.name) for each in dataclasses.fields(directive)]
            told = [self._plain(v) for v in values if not isinstance(v, Location | Directive)]  # whose copy it is
            self.put((type(directive).__name__, told))

    def _domain(self, domain: ReductionDomain) -> None:
        number = self._number(domain)
        bounds = [(self._expr(i.min), self._expr(i.len)) for i in domain.bounds]
        self.put(("domain", number, domain.names, bounds, self._expr(domain.predicate), domain.at_once))

    def _all(self, exprs: tuple[ir.ExprNode, ...]) -> list[int]:
        return [self._expr(e) for e in exprs]

    def _expr(self, root: ir.ExprNode) -> int:
        for e in subexpressions([root]):
            if e not in self._numbers:
                values = [getattr(e, each.name) for each in dataclasses.fields(e)]  # type: ignore[arg-type]  # every node class is a dataclass
                fields = [self._plain(v) for v in values if not isinstance(v, Location)]
                self.put((self._number(e), type(e).__name__, fields))
        return self._numbers[root]

    def _plain(self, value: object) -> object:
        """A field as something whose repr is its content."""
        match value:
            case ir.ExprNode():
                return self._expr(value) if value not in self._numbers else self._numbers[value]
            case ir.Callee() | ir.Scalar() | ir.Domain():
                return ("at", self._number(value))
            case Type() | Enum():
                return str(value)
            case tuple():
                return tuple(self._plain(v) for v in value)
            case DebugFile():
                return (value.path, value.format.value)
            case Branch():
                return (value.number, self._plain(value.conditions))
            case str() | int() | float() | None:
                return value
        raise InternalError(f"A {type(value).__name__} can't be part of a cache key.")
