"""The Generators of a process, by name.

In: ``@hl.generator("name")`` and ``@hl.alias(other={…})`` on classes. Out: Generators for names.

    find("blur")   ->   the class
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable as Function
from collections.abc import Mapping
from typing import Any, TypeVar

from halide_core.checks import of_kind, shown
from halide_core.errors import ArgumentTypeError, DefinitionError
from halide_core.generate.context import GeneratorContext
from halide_core.generate.generator import Generator
from halide_core.run.callable import Callable
from halide_core.run.target import Target

_C = TypeVar("_C", bound=type)
_REGISTERED: dict[str, type[Generator]] = {}


def generator(name: str = "") -> Function[[_C], Any]:
    """Makes a class a Generator, of this name, or of the class's own with the module before it.

    Raises:
        DefinitionError: the name is taken.
    """

    def register(of: _C) -> Any:
        if not isinstance(of, type):
            raise DefinitionError(f"@hl.generator decorates a class, not {of!r}.")
        module = "" if of.__module__ == "__main__" else f"{of.__module__}."
        label = name or module + of.__qualname__
        bases = (of,) if issubclass(of, Generator) else (of, Generator)
        return _register(label, _derived(of.__name__, of, bases, {"_halide_registered_name": label}))

    return register


def alias(**kwargs: Mapping[str, object]) -> Function[[type[Generator]], Any]:
    """Gives a Generator other names, each with values of parameters: ``@hl.alias(soft={"radius": 8})``, above
    ``@hl.generator``.

    Raises:
        DefinitionError: a name that is taken; no dict; the class is no Generator yet.
    """

    def register(of: type[Generator]) -> Any:
        if not (isinstance(of, type) and issubclass(of, Generator) and of._halide_registered_name):
            raise DefinitionError("@hl.alias stands above @hl.generator(…).")
        for name, values in kwargs.items():
            if not isinstance(values, Mapping):
                raise DefinitionError(f'The alias "{name}" is a dict of parameters, not {values!r}.')
            members: dict[str, object] = {"_halide_registered_name": name}
            members["_halide_alias_generator_params"] = dict(values)
            _register(name, _derived(name, of, (of,), members))
        return of

    return register


def _derived(name: str, of: type, bases: tuple[type, ...], members: dict[str, object]) -> type[Generator]:
    return type(name, bases, {"__doc__": of.__doc__, "__module__": of.__module__, **members})


def _register(name: str, of: type[Generator]) -> type[Generator]:
    if name in _REGISTERED and not (hasattr(sys, "ps1") or "ipykernel" in sys.modules):  # notebooks run cells again
        raise DefinitionError(f'The Generator name "{name}" is already in use.')
    _REGISTERED[name] = of
    return of


def names() -> list[str]:
    """The names of all Generators, in the order of their declarations."""
    return list(_REGISTERED)


def find(name: str) -> type[Generator]:
    """The Generator of a name.

    Raises:
        DefinitionError: there is none; the message lists those with similar names, or all.
    """
    if of_kind(name, str, "The name of a Generator is a text") not in _REGISTERED:
        near = difflib.get_close_matches(name, _REGISTERED) or sorted(_REGISTERED)
        raise DefinitionError(f'There is no Generator "{name}"; there is {", ".join(near) or "none at all"}.')
    return _REGISTERED[name]


def create(name: str, context: GeneratorContext, parameters: Mapping[str, object] | None = None) -> Generator:
    """A Generator made for a context."""
    with context:
        return find(name)(parameters)


_get_python_generator_names = names
_create_python_generator = create
"""Halide's names of the two."""


def create_callable_from_generator(
    context: GeneratorContext | Target, name: str, generator_params: Mapping[str, str] | None = None
) -> Callable:
    """Compiles the Generator of a name, with values of its parameters, to a function of its inputs and outputs."""
    where = GeneratorContext(context) if isinstance(context, Target) else context
    if not isinstance(where, GeneratorContext):
        raise ArgumentTypeError(f"create_callable_from_generator() takes a hl.Target, not {shown(context)}.")
    return create(name, where, generator_params).compile_to_callable()
