"""The target, and the autoscheduler, that Generators are made for.

In: ``with GeneratorContext(target): …``. Out: what ``active_generator_context()`` gives inside of the block.

    with hl.GeneratorContext(hl.Target("host-no_runtime")): blur = Blur()
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar, Token

from halide_core.checks import mapping, of_kind, shown
from halide_core.errors import DefinitionError
from halide_core.own_name import package_name
from halide_core.run.target import Target, get_jit_target_from_environment
from halide_core.run.target_names import TargetFeature


class AutoschedulerParams:
    """The name of an autoscheduler, and its parameters by name; without a name there is none."""

    def __init__(self, name: str = "", extra: Mapping[str, str] | None = None) -> None:
        self.name = of_kind(name, str, "The name of an autoscheduler is a text")
        self.extra: dict[str, str] = dict(mapping(extra or {}, "Its parameters are given as {name: value}"))

    def __repr__(self) -> str:
        return f"<{package_name()}.AutoschedulerParams {self.name!r} {self.extra!r}>"


class GeneratorContext:
    """Says, inside of a ``with`` block, which target Generators are made for."""

    def __init__(self, target: Target, autoscheduler_params: AutoschedulerParams | None = None) -> None:
        if not isinstance(target, Target):
            raise DefinitionError(f"A GeneratorContext is made of a hl.Target, not of {shown(target)}.")
        self._target = target
        self._autoscheduler = autoscheduler_params or AutoschedulerParams()
        self._entered: list[Token[GeneratorContext | None]] = []

    def target(self) -> Target:
        """The machine that the code is for."""
        return self._target

    def autoscheduler_params(self) -> AutoschedulerParams:
        """The autoscheduler that is asked for."""
        return self._autoscheduler

    def __enter__(self) -> GeneratorContext:
        self._entered.append(_ACTIVE.set(self))
        return self

    def __exit__(self, *raised: object) -> None:
        _ACTIVE.reset(self._entered.pop())

    def __repr__(self) -> str:
        return f"<{package_name()}.GeneratorContext target({self._target})>"


_ACTIVE: ContextVar[GeneratorContext | None] = ContextVar("halide_generator_context", default=None)


def active_generator_context() -> GeneratorContext:
    """The context of the innermost ``with`` block.

    Raises:
        DefinitionError: there is none.
    """
    context = _ACTIVE.get()
    if context is None:
        raise DefinitionError("There is no active GeneratorContext: write `with hl.GeneratorContext(target):`.")
    return context


def context_or_default() -> GeneratorContext:
    """The active context; without one, that of this machine (or of HL_JIT_TARGET)."""
    context = _ACTIVE.get()
    if context is None:
        return GeneratorContext(get_jit_target_from_environment().without_feature(TargetFeature.JIT))
    return context


def _generatorcontext_enter(context: GeneratorContext) -> GeneratorContext:
    """Begins what a ``with`` block begins: Halide's name."""
    return context.__enter__()


def _generatorcontext_exit(context: GeneratorContext) -> None:
    """Ends what a ``with`` block ends."""
    context.__exit__()
