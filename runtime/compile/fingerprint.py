"""The key of the compile cache: a hash of everything that the compiled code depends on, taken before lowering.

In: a Request. Out: a hex digest; equal digests mean equal C text, flags and machine.

What it covers: the algorithm and its directives, node by node; the arguments; the C compiler, its flags and the CPU;
and the sources of this compiler itself, so that a developer never runs yesterday's code.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib.util
import os
from collections.abc import Iterator
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any

from halide_core import ir
from halide_core.algorithm.model import Algorithm, Function, Image, ReductionDomain, ScalarParam, snapshot
from halide_core.config import bounds_engine, certificates_demanded, failed_unrolls_permitted, profiles_demanded
from halide_core.errors import HOME, InternalError, Location
from halide_core.ir.debug_files import DebugFile
from halide_core.ir.types import Type
from halide_core.ir.visitor import subexpressions
from halide_core.run.backend import Request
from halide_core.run.target import wants_strict_floats
from halide_core.runtime.compile.toolchain import CompileOptions, Compiler, cpu_identity
from halide_core.schedule.directives import Branch, Directive


def fingerprint(request: Request, compiler: Compiler, options: CompileOptions) -> str:
    """The digest of a request."""
    digest = hashlib.sha256()
    for text in (own_sources(), compiler.identity, *options.flags(), cpu_identity(), request.name):
        digest.update(text.encode() + b"\0")
    digest.update(f"{bounds_engine()} {isl_identity()}".encode())
    digest.update(b"certified" if certificates_demanded() else b"")
    digest.update(b"strict" if wants_strict_floats(request.target) else b"")
    digest.update(b"profiled" if profiles_demanded() else b"")
    digest.update(b"unrolled where it can be" if failed_unrolls_permitted() else b"")
    writer = _HashWriter(digest)
    writer.algorithm(snapshot(request.outputs, request.requirements))
    writer.put([source.name for source in request.inputs])
    return digest.hexdigest()


@cache
def isl_identity() -> str:
    """What identifies the installed isl, another version of which may write a bound otherwise; it is not loaded."""
    spec = importlib.util.find_spec("islpy")
    if spec is None or spec.origin is None:
        return "none"
    return "\n".join(_identities(Path(spec.origin).parent, (".py", ".so", ".pyd")))


def _identities(folder: Path, suffixes: tuple[str, ...]) -> Iterator[str]:
    """Name, size and time of the files of a folder."""
    for path in sorted(folder.iterdir()):
        if path.suffix in suffixes:
            stat = path.stat()
            yield f"{folder.name}/{path.name}:{stat.st_size}:{stat.st_mtime_ns}"


@cache
def own_sources() -> str:
    """What identifies this version of the compiler: the name, size and time of each of its files."""
    folders = sorted(folder for folder, _, _ in os.walk(HOME, followlinks=True))
    return "\n".join(part for folder in folders for part in _identities(Path(folder), (".py", ".c", ".h")))


class _HashWriter:
    """Writes a program into a hash: every node once, under a number, in a deterministic order."""

    def __init__(self, digest: Any) -> None:  # hashlib's objects have no public type
        self._digest = digest
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
            kind = (d.domain is not None, bool(d.partial))
            self.put(("stage", self._all(d.args), self._all(d.values), self._expr(d.predicate), *kind))
            for tag in d.tags:
                self.put(("tag", self._expr(tag.value), self._all(tag.words)))
        for directive in f.directives:
            values = [getattr(directive, each.name) for each in dataclasses.fields(directive)]
            told = [self._plain(v) for v in values if not isinstance(v, Location | Directive)]  # whose copy it is
            self.put((type(directive).__name__, told))

    def _domain(self, domain: ReductionDomain) -> None:
        number = self._number(domain)
        bounds = [(self._expr(i.min), self._expr(i.len)) for i in domain.bounds]
        self.put(("domain", number, domain.names, bounds, self._expr(domain.predicate)))

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
