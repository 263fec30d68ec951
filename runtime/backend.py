"""What the language asks of the layers above it, filled in: see ``halide_core.backend``."""

from __future__ import annotations

from pathlib import Path

from halide_core.backend import Backend, Compiled, OutputKind, Request
from lowering.explain import explain, loop_nest
from runtime.aot import write_files
from runtime.jit import compile_pipeline


class _Runtime:
    def compile(self, request: Request) -> Compiled:
        """Compiles, or takes from the cache on disk, and loads."""
        return compile_pipeline(request)

    def write(self, request: Request, files: dict[OutputKind, Path]) -> None:
        """Writes ahead-of-time outputs; all or none."""
        write_files(request, files)

    def loop_nest(self, request: Request) -> str:
        """The scheduled loops as an indented text."""
        return loop_nest(request)

    def explain(self, request: Request) -> str:
        """T0, each directive's effect, the query, and every hole's answer with its origin."""
        return explain(request)


BACKEND: Backend = _Runtime()
