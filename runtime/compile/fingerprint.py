"""The key of the compile cache: a hash of everything that the compiled code depends on, taken before lowering.

In: a Request. Out: a hex digest; equal digests mean equal C text, flags and machine.

What it covers: the algorithm and its directives, node by node; the arguments; the C compiler, its flags and the CPU;
and the sources of this compiler itself, so that a developer never runs yesterday's code.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from halide_core.algorithm.digest import ProgramDigest
from halide_core.algorithm.snapshot import snapshot
from halide_core.config import bounds_engine, certificates_demanded, failed_unrolls_permitted, profiles_demanded
from halide_core.errors import HOME
from halide_core.run.backend import Request
from halide_core.runtime.compile.toolchain import CompileOptions, Compiler, cpu_identity


def fingerprint(request: Request, compiler: Compiler, options: CompileOptions) -> str:
    """The digest of a request."""
    digest = hashlib.sha256()
    for text in (own_sources(), compiler.identity, *options.flags(), cpu_identity(), request.name):
        digest.update(text.encode() + b"\0")
    digest.update(f"{bounds_engine()} {isl_identity()}".encode())
    digest.update(b"certified" if certificates_demanded() else b"")
    digest.update(str(request.target).encode() + b"\0")
    digest.update(b"profiled" if profiles_demanded() else b"")
    digest.update(b"unrolled where it can be" if failed_unrolls_permitted() else b"")
    writer = ProgramDigest(digest)
    writer.algorithm(snapshot(request.outputs, request.requirements, request.inputs))
    writer.put([source.name for source in request.inputs])
    return digest.hexdigest()


@cache
def isl_identity() -> str:
    """The identity of the installed isl, another version of which may write a bound otherwise; it is not loaded."""
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
    """The identity of this version of the compiler: the name, size and time of each of its files."""
    folders = sorted(folder for folder, _, _ in os.walk(HOME, followlinks=True))
    return "\n".join(part for folder in folders for part in _identities(Path(folder), (".py", ".c", ".h")))
