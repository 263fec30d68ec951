"""Implements what the language asks of the layers above it: see ``halide_core.run.backend``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from halide_core.algorithm.model import Function
from halide_core.lowering.at_call import check
from halide_core.run.backend import (
    Backend,
    BoundsQuery,
    Certificate,
    Compiled,
    Explanation,
    OutputKind,
    Question,
    Request,
)
from halide_core.run.target import Target
from halide_core.runtime.compile.cross import unreached
from halide_core.runtime.compile.toolchain import cpu_features
from halide_core.runtime.crt.runtime_library import runtime
from halide_core.runtime.execute.extern_segments import has_externs
from halide_core.runtime.execute.extern_stages import compile_with_externs
from halide_core.runtime.execute.jit import compile_pipeline
from halide_core.runtime.execute.profiler import show_at_exit
from halide_core.schedule.directives import StageDirective


class _Runtime:
    def check(self, function: Function, directives: Sequence[StageDirective]) -> None:
        """Refuses directives about loops that the Func's own stages show to be illegal."""
        check(function, directives)

    def compile(self, request: Request) -> Compiled:
        """Compiles, or takes from the cache on disk, and loads."""
        compiled = compile_with_externs(request) if has_externs(request) else compile_pipeline(request)
        show_at_exit(compiled)
        return compiled

    def write(self, requests: Sequence[Request], files: dict[OutputKind, Path]) -> None:
        """Writes ahead-of-time outputs; all or none."""
        from halide_core.runtime.ahead.write import write_files  # noqa: PLC0415  # a run needs none of it

        write_files(requests, files)

    def write_versions(
        self, requests: Sequence[Request], files: dict[OutputKind, Path], suffixes: Sequence[str] = ()
    ) -> None:
        """Writes one function for several targets; all files or none."""
        from halide_core.runtime.ahead.write import write_versions  # noqa: PLC0415  # a run needs none of it

        write_versions(requests, files, suffixes)

    def write_runtime(self, target: Target | None, files: dict[OutputKind, Path]) -> None:
        """Writes the runtime alone; all files or none."""
        from halide_core.runtime.ahead.write import write_runtime  # noqa: PLC0415  # a run needs none of it

        write_runtime(target, files)

    def cpu_features(self) -> frozenset[str]:
        """The instructions that this machine's processor has."""
        return cpu_features()

    def unreached(self, target: Target) -> str:
        """Why no code is made for a machine; empty where it is."""
        return unreached(target)

    def set_threads(self, count: int) -> None:
        """Sets the threads of the pool."""
        runtime().halide_core_set_num_threads(count)

    def forget(self, group: int | None) -> None:
        """Gives up what memoized Funcs keep: that of one eviction key, or all."""
        if group is None:
            runtime().halide_core_memo_cleanup()
        else:
            runtime().halide_core_memo_evict(group & (1 << 64) - 1)

    def remember(self, size: int) -> None:
        """Sets how many bytes memoized Funcs keep."""
        runtime().halide_core_memo_set_size(size)

    def certify(self, request: Request) -> Certificate:
        """Every claim about the compile, with its verdict."""
        from halide_core.lowering.driver import certify  # noqa: PLC0415  # a run that the cache has needs none of it

        return certify(request)

    def command(self, words: Sequence[str]) -> int:
        """The command line."""
        from halide_core.runtime.execute.cli import run_command  # noqa: PLC0415  # a run needs none of it

        return run_command(words)

    def loop_nest(self, request: Request) -> str:
        """The scheduled loops as an indented text."""
        from halide_core.lowering.report.explain import loop_nest  # noqa: PLC0415  # a run needs none of it

        return loop_nest(request)

    def explain(self, request: Request, question: Question | None = None) -> Explanation:
        """T0, each directive's effect, the query, and every hole's answer with its origin; or one question's answer."""
        from halide_core.lowering.report.explain import explain  # noqa: PLC0415  # a run needs none of it

        return explain(request, question)

    def bounds_query(self, request: Request) -> BoundsQuery:
        """The query that bounds inference answers."""
        from halide_core.lowering.report.bounds_query import PipelineQuery  # noqa: PLC0415  # a run needs none of it

        return PipelineQuery(request)


BACKEND: Backend = _Runtime()
