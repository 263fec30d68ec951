"""The linkage of a pipeline: its function's name, its namespaces, and whether the caller's context comes first.

In: a pipeline's name, its target. Out: a Linkage, which writes the function's parameters and its declarations.

    Linkage.of("imaging::blur", target)   ->   namespace imaging { int blur(halide_buffer_t *in, …); }
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from halide_core.algorithm.user_context import USER_CONTEXT
from halide_core.errors import PipelineError
from halide_core.run.backend import Argument, ArgumentKind
from halide_core.run.target import Target
from halide_core.run.target_names import TargetFeature, TargetOS
from halide_core.runtime.codegen.mangling import BUFFER, POINTERS, UNKNOWN, Layers, mangle, scalar_layers
from halide_core.runtime.codegen.names import RUNTIME_INCLUDES, Names, symbol
from halide_core.runtime.codegen.prologue import parameters

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
CONTEXT = USER_CONTEXT.name
"""The parameter that a context is."""
_LONG_SYSTEMS = (TargetOS.OSX, TargetOS.IOS, TargetOS.Windows)
"""Systems of 64 bits where an ``int64_t`` is a ``long long`` all the same."""


@dataclass(frozen=True, slots=True)
class Linkage:
    """The linkage of a pipeline."""

    function: str
    """The function as C names it."""
    namespaces: tuple[str, ...] = ()
    context: bool = False
    """True where the first parameter is what the caller gets back where the runtime calls it."""
    mangled: bool = False
    """True where the symbols are those of C++."""
    label_prefix: str = ""
    """The prefix that the system puts before a symbol."""
    long_is_64: bool = True

    @classmethod
    def of(cls, name: str, target: Target | None) -> Linkage:
        """The linkage of a pipeline for a target; None is this machine.

        Raises:
            PipelineError: a namespace that C++ can't have.
        """
        context = target is not None and target.has_feature(TargetFeature.UserContext)
        if target is None or not target.has_feature(TargetFeature.CPlusPlusMangling):
            return cls(symbol(name), context=context)
        *namespaces, function = name.split("::")
        for each in namespaces:
            if not _IDENTIFIER.fullmatch(each) or each == "std":
                raise PipelineError(f'"{name}" can\'t be a function of C++: "{each}" can\'t be its namespace.')
        return cls(
            symbol(function),
            tuple(namespaces),
            context,
            mangled=True,
            label_prefix="_" if target.os in (TargetOS.OSX, TargetOS.IOS) else "",
            long_is_64=target.bits == 64 and target.os not in _LONG_SYSTEMS,
        )

    @property
    def called(self) -> str:
        """The function as a caller in C++ names it, from wherever it stands."""
        return "::".join(["", *self.namespaces, self.function])

    def inside(self, ending: str) -> Linkage:
        """A function of C beside this one, of its own file alone, which takes no context."""
        return Linkage(f"{self.function}_{ending}")

    def version(self, suffix: str) -> Linkage:
        """A version of this function, a function of C."""
        name = "_".join([*self.namespaces, self.function, suffix])
        return replace(self, function=name, namespaces=(), mangled=False)

    def parameters(self, arguments: Sequence[Argument], names: Names) -> str:
        """The parameter list."""
        if not self.context:
            return parameters(arguments, names)
        return f"const void *{CONTEXT}{', ' if arguments else ''}{parameters(arguments, names) if arguments else ''}"

    def passed(self, arguments: Sequence[Argument], names: Names) -> str:
        """The same names, as they are passed on."""
        context = [CONTEXT] if self.context else []
        return ", ".join([*context, *(names.of("argument", i, a.name) for i, a in enumerate(arguments))])

    def declared(self, arguments: Sequence[Argument]) -> str:
        """Declarations of the function, its ``_argv`` and its ``_metadata``, for callers."""
        names = Names()
        names.reserve(self.function)
        f = self.function
        lines = (
            f"int {f}({self.parameters(arguments, names)});\nint {f}_argv(void **arguments);\n"
            f"const struct halide_filter_metadata_t *{f}_metadata(void);\n"
        )
        before = "".join(f"namespace {n} {{\n" for n in self.namespaces)
        after = "".join(f"}}  // namespace {n}\n" for n in reversed(self.namespaces))
        return f"{before}{lines}{after}"

    def labels(self, arguments: Sequence[Argument]) -> str:
        """Declarations that give the definitions behind them the symbols of C++, where they have these."""
        if not self.mangled:
            return ""
        scalars = [scalar_layers(a.type, long_is_64=self.long_is_64) for a in arguments]
        kinds = [s if a.kind is ArgumentKind.InputScalar else BUFFER for a, s in zip(arguments, scalars, strict=True)]
        taken = [*([UNKNOWN] if self.context else []), *kinds]
        names = Names()
        names.reserve(self.function)
        metadata = "const struct halide_filter_metadata_t *"
        return (
            f"{RUNTIME_INCLUDES}"
            f"int {self.function}({self.parameters(arguments, names)}) {self._label('', taken)};\n"
            f"int {self.function}_argv(void **arguments) {self._label('_argv', [POINTERS])};\n"
            f"{metadata}{self.function}_metadata(void) {self._label('_metadata', [])};\n"
        )

    def _label(self, ending: str, taken: Sequence[Layers]) -> str:
        return f'__asm__("{self.label_prefix}{mangle(self.namespaces, self.function + ending, taken)}")'
