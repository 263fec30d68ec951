"""The translation units of a pipeline: packed, as the cache keeps them for the second compile, and compiled.

In: C texts. Out: bytes, and a shared object.

    compile_units(unpacked(packed(["int halide_core_entry…"])), Path("pipeline.so"), options, compiler)
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from pathlib import Path

from halide_core.runtime.compile.processes import Stoppable
from halide_core.runtime.compile.toolchain import CompileOptions, Compiler, compile_shared, scratch_folder

_LEVEL = 1
"""Of compression: a tenth of the size in a few milliseconds."""


def packed(texts: Sequence[str]) -> bytes:
    """The texts as bytes."""
    return zlib.compress(json.dumps(texts).encode(), _LEVEL)


def unpacked(data: bytes) -> list[str]:
    """The texts again."""
    texts: list[str] = json.loads(zlib.decompress(data))
    return texts


def compile_units(
    texts: Sequence[str], output: Path, options: CompileOptions, compiler: Compiler, within: Stoppable | None = None
) -> None:
    """Compiles the units into one shared object. Raises: ToolchainError."""
    with scratch_folder(output) as folder:
        sources = [folder / f"pipeline_{number}.c" for number in range(len(texts))]
        for source, text in zip(sources, texts, strict=True):
            source.write_text(text, encoding="utf-8")
        compile_shared(sources, output, options=options, compiler=compiler, within=within)
