"""Generators: a class that declares parameters, inputs and outputs, and defines the outputs in ``generate``.

In: a class, and values of its parameters. Out: a Pipeline, a Callable, files; or Funcs, where it is called in another::

    @hl.generator("brighten")
    class Brighten:
        by = hl.GeneratorParam(10)
        source, out = hl.InputBuffer(hl.UInt(8), 2), hl.OutputBuffer(hl.UInt(8), 2)
        def generate(g): g.out[x, y] = g.source[x, y] + g.by
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from halide_core.errors import DefinitionError, HalideWarning, warn_user
from halide_core.func.func import Func
from halide_core.func.image_param import ImageParam
from halide_core.generate.arg_info import ArgInfo, ArgInfoDirection, TypeLike, as_types, checked_name
from halide_core.generate.context import AutoschedulerParams, GeneratorContext, context_or_default
from halide_core.generate.members import GeneratorParam, InputBuffer, InputScalar, OutputBuffer, Port, resolved
from halide_core.lang.expr import ExprLike
from halide_core.lang.param import Param
from halide_core.run.callable import Callable
from halide_core.run.pipeline import Pipeline
from halide_core.run.target import Target


class Generator(ABC):
    """The base class of Generators. Classes that ``@hl.generator`` decorates have it anyway.

    Args:
        generator_params: values of parameters by name, and ``name.type`` and ``name.dim`` of inputs and outputs that
            leave them open.

    Raises:
        DefinitionError: a parameter that is not there, or not of that kind; something that stays open.
    """

    _halide_registered_name: ClassVar[str] = ""
    _halide_alias_generator_params: ClassVar[Mapping[str, object]] = {}

    def __init__(self, generator_params: Mapping[str, object] | None = None) -> None:
        context = context_or_default()
        self._target, asked = context.target(), context.autoscheduler_params()
        self._autoscheduler = AutoschedulerParams(asked.name, asked.extra)
        self._fixed: frozenset[str] = frozenset()
        self._infos: dict[str, ArgInfo] = {}
        self._ports: dict[str, Port] = {}
        self._required: list[tuple[ExprLike, tuple[ExprLike | str, ...]]] = []
        self._pipeline: Pipeline | None = None
        self._configuring = False
        if not isinstance(generator_params, Mapping | None):
            raise DefinitionError(f"generator_params must be a dict, not {generator_params!r}.")
        given = {**self._halide_alias_generator_params, **(generator_params or {})}
        self._choose_autoscheduler(given)
        parameters = self._set_parameters(given)
        self._declare(given)
        if given:
            raise DefinitionError(
                f"Generator {self._name()} has no GeneratorParam {', '.join(map(repr, given))}; "
                f"it has {', '.join(parameters) or 'none'}."
            )
        self._configuring = True
        self.configure()
        self._configuring = False
        if not self._arguments(ArgInfoDirection.Output):
            raise DefinitionError(f"Generator {self._name()} must declare an output.")
        self._fixed = frozenset(parameters) | frozenset(self._infos)

    # What a Generator writes.

    def configure(self) -> None:  # noqa: B027  # to be overridden, or not
        """Adds inputs and outputs that depend on parameters, by ``add_input`` and ``add_output``."""

    @abstractmethod
    def generate(self) -> None:
        """Defines every output, and gives a schedule."""

    def allow_out_of_order_inputs_and_outputs(self) -> bool:
        """True where outputs may be declared before inputs without a warning. All inputs are passed first anyway."""
        return False

    # What it can ask.

    def context(self) -> GeneratorContext:
        """The target and the autoscheduler that it is made for."""
        return GeneratorContext(self._target, self._autoscheduler)

    def target(self) -> Target:
        """The machine that the code is for."""
        return self._target

    def autoscheduler(self) -> AutoschedulerParams:
        """The autoscheduler that is asked for; without a name there is none."""
        return self._autoscheduler

    def using_autoscheduler(self) -> bool:
        """True where an autoscheduler is asked for, so that a schedule would be in its way."""
        return bool(self._autoscheduler.name)

    def natural_vector_size(self, type: TypeLike) -> int:
        """The number of values of a type in a vector register of the target."""
        return self._target.natural_vector_size(as_types(type)[0])

    def add_requirement(self, condition: ExprLike, *args: ExprLike | str) -> None:
        """Demands of every run that a condition on Params and on the shapes of inputs and outputs holds."""
        if self._pipeline is not None:
            raise DefinitionError("add_requirement() comes before the end of generate().")
        self._required.append((condition, args))

    def add_input(self, name: str, io: InputBuffer | InputScalar) -> None:
        """Adds an input, after those that there are; from then on it is an attribute. Only in ``configure``."""
        self._add("add_input", name, io, InputBuffer | InputScalar)

    def add_output(self, name: str, io: OutputBuffer) -> None:
        """Adds an output, after those that there are; from then on it is an attribute. Only in ``configure``."""
        self._add("add_output", name, io, OutputBuffer)

    # What it is made into.

    @classmethod
    def call(cls, *args: object, **kwargs: Any) -> Any:
        """The outputs for some inputs, as Funcs to go on with: one, or a tuple of several.

        Args:
            args, kwargs: the inputs in their order, or by name: ImageParams, Funcs or Buffers, and Params, numbers or
                expressions. generator_params: values of parameters, by name.

        Raises:
            DefinitionError: too many or too few inputs, or one of another kind, type, or number of dimensions.
        """
        generator = cls(kwargs.pop("generator_params", None))
        names = [info.name for info in generator._arguments(ArgInfoDirection.Input)]
        who = f"Generator {generator._name()}"
        if len(args) > len(names):
            raise DefinitionError(f"{who} allows at most {len(names)} positional args, but {len(args)} were specified.")
        values = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in names:
                has = ", ".join(names) or "none"
                raise DefinitionError(f"Unknown input '{name}' specified via keyword argument: {who} has {has}.")
            if name in values:
                raise DefinitionError(f"Input {name} specified multiple times.")
            values[name] = value
        absent = [name for name in names if name not in values]
        if absent:
            given = len(names) - len(absent)
            raise DefinitionError(
                f"{who} requires {len(names)} args, but {given} were specified. Not given: {', '.join(absent)}."
            )
        for name, value in values.items():
            generator.__dict__[name] = generator._ports[name].bound_to(generator._infos[name], value)
        generator._build_pipeline()
        outputs = generator._output_funcs()
        return outputs[0] if len(outputs) == 1 else outputs

    def compile_to_callable(self) -> Callable:
        """Compiles to a function of the inputs and the outputs, in the order of their declarations."""
        pipeline = self._build_pipeline()
        return pipeline.compile_to_callable(self._inputs(), self._target)

    # What the rest of the package asks.

    def _name(self) -> str:
        return self._halide_registered_name or type(self).__name__

    def _arguments(self, direction: ArgInfoDirection) -> list[ArgInfo]:
        return [info for info in self._infos.values() if info.dir is direction]

    def _get_arginfos(self) -> list[ArgInfo]:
        """The inputs, then the outputs."""
        return [*self._arguments(ArgInfoDirection.Input), *self._arguments(ArgInfoDirection.Output)]

    def _inputs(self) -> list[ImageParam | Param]:
        """The inputs, to be the arguments of a function."""
        return [self.__dict__[info.name] for info in self._arguments(ArgInfoDirection.Input)]

    def _output_funcs(self) -> tuple[Func, ...]:
        return tuple(self.__dict__[info.name] for info in self._arguments(ArgInfoDirection.Output))

    def _build_pipeline(self) -> Pipeline:
        """The Pipeline; the first call runs ``generate``."""
        if self._pipeline is not None:
            return self._pipeline
        with self.context():
            self.generate()
        for info in self._arguments(ArgInfoDirection.Output):
            f: Func = self.__dict__[info.name]
            if not f.defined():
                raise DefinitionError(
                    f'generate() of Generator {self._name()} does not define the output "{info.name}", declared at '
                    f"{self._ports[info.name].location}."
                )
        pipeline = Pipeline(self._output_funcs())
        for condition, message in self._required:
            pipeline.add_requirement(condition, *message)
        if self.using_autoscheduler():
            pipeline.apply_autoscheduler(self._target, self._autoscheduler)
        self._pipeline = pipeline
        return pipeline

    # How it is set up.

    def _choose_autoscheduler(self, given: dict[str, object]) -> None:
        """Takes the name of an autoscheduler, and its parameters, out of those that are given."""
        if "autoscheduler" in given:
            if self._autoscheduler.name:
                raise DefinitionError(f'Generator {self._name()} has the autoscheduler "{self._autoscheduler.name}".')
            self._autoscheduler.name = str(given.pop("autoscheduler"))
        for key in [k for k in given if k.startswith("autoscheduler.")]:
            self._autoscheduler.extra[key.partition(".")[2]] = str(given.pop(key))

    def _set_parameters(self, given: dict[str, object]) -> list[str]:
        """Gives parameters their values, which are taken out of those that are given. Returns: their names."""
        names = []
        for name, member in _members(type(self)):
            if isinstance(member, GeneratorParam):
                names.append(checked_name(name))
                self.__dict__[name] = member.parsed(name, given.pop(name)) if name in given else member.value
        return names

    def _declare(self, given: dict[str, object]) -> None:
        """Makes the inputs and outputs that the class declares, with what parameters say of their types."""
        seen_output = False
        for name, port in _members(type(self)):
            if not isinstance(port, Port):
                continue
            checked_name(name)
            if port.direction is ArgInfoDirection.Output:
                seen_output = True
            elif seen_output and not self.allow_out_of_order_inputs_and_outputs():
                warn_user(
                    f'Generator {self._name()} declares the input "{name}" after an output; all inputs are passed '
                    f"before all outputs.",
                    HalideWarning,
                    port.location,
                )
            self._make(name, port, given)

    def _make(self, name: str, port: Port, given: dict[str, object]) -> None:
        types, dimensions = given.pop(f"{name}.type", None), given.pop(f"{name}.dim", None)
        self._infos[name] = info = resolved(name, port, types, dimensions)
        self._ports[name] = port
        self.__dict__[name] = port.made(info)

    def _add(self, method: str, name: str, io: object, kinds: Any) -> None:
        if not self._configuring:
            raise DefinitionError(f"{method}() can be called in configure() only.")
        if hasattr(self, name):
            raise DefinitionError(f'{method}("{name}"): Generator {self._name()} has an attribute of this name.')
        if not isinstance(io, kinds):
            raise DefinitionError(f'{method}("{name}") can\'t take {io!r}.')
        assert isinstance(io, Port)
        self._make(checked_name(name), io, {})

    def __setattr__(self, name: str, value: object) -> None:
        if name in self.__dict__.get("_fixed", ()):
            raise AttributeError(f"Invalid write to field {name!r}: parameters, inputs and outputs can't be replaced.")
        super().__setattr__(name, value)


def _members(of: type) -> Iterator[tuple[str, object]]:
    """The members of a class in the order of their declarations, those of its base classes first."""
    found: dict[str, object] = {}
    for each in reversed(of.__mro__):
        found.update(vars(each))
    yield from found.items()
