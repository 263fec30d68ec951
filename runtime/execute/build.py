"""A shared object for a pipeline that the cache doesn't have: everything from lowering to the C compiler.

In: a Request, or what lowering made of it. Out: the file.

    build_pipeline(request, options, compiler, Path("pipeline.so"))

A run whose pipeline the cache has imports none of this: that is half of what such a run would import.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from halide_core.config import profiles_demanded
from halide_core.debug import deep_recursion, without_collections
from halide_core.lowering.driver import lower
from halide_core.lowering.module import Lowered
from halide_core.run.backend import Request
from halide_core.runtime.codegen.entry import emit_entry, emit_hiding
from halide_core.runtime.codegen.unit import emit_units
from halide_core.runtime.compile.processes import processors
from halide_core.runtime.compile.toolchain import CompileOptions, Compiler, compile_shared


def build_pipeline(
    request: Request, options: CompileOptions, compiler: Compiler, output: Path, made: Lowered | None = None
) -> None:
    """Compiles the request, or what was made of it, into ``output``.

    Raises: ScheduleError, BoundsError, ToolchainError.
    """
    with deep_recursion(), without_collections():
        texts = _texts(made or lower(request))
    with tempfile.TemporaryDirectory(prefix="halide_core_") as folder:
        sources = [Path(folder) / f"pipeline_{number}.c" for number in range(len(texts))]
        for source, text in zip(sources, texts, strict=True):
            source.write_text(text, encoding="utf-8")
        bare = not (request.flags or profiles_demanded())
        compile_shared(sources, output, options=replace(options, bare=bare), compiler=compiler)


def _texts(lowered: Lowered) -> list[str]:
    """The translation units: the pipeline, under a symbol that clashes with nobody's, and its entry, in the first."""
    hiding, entry = (emit(lowered.name, lowered.arguments) for emit in (emit_hiding, emit_entry))
    first, *others = emit_units(lowered, processors(), profile=profiles_demanded())
    return [hiding + first + entry, *others]
