"""The prologue of a pipeline's C function, about its arguments: names, checks, and the query's protocol.

In: the arguments. Out: C lines that refuse a wrong argument with a message that names it, and locals for what is
read of the buffers.

    if (__builtin_expect(error = halide_core_check_argument(in, "…", halide_type_uint, 8, 2, 0), 0)) return error;
    const int64_t in_min_0 = in->dim[0].min;
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from halide_core import ir
from halide_core.algorithm.model import Function, Image
from halide_core.errors import InternalError
from halide_core.ir.types import TypeCode
from halide_core.lowering.module import Lowered
from halide_core.run.backend import Argument, ArgumentKind
from halide_core.runtime.codegen.names import Names, scalar, stored, string

TYPE_CODES = {
    TypeCode.Int: "halide_type_int",
    TypeCode.UInt: "halide_type_uint",
    TypeCode.Float: "halide_type_float",
    TypeCode.BFloat: "halide_type_bfloat",
    TypeCode.Handle: "halide_type_handle",
}


def _alignment(argument: Argument) -> int | None:
    """The bytes that a buffer's address is promised to be a multiple of, if any are."""
    return argument.source.alignment if isinstance(argument.source, Image | Function) else None


def _is_buffer(argument: Argument) -> bool:
    return argument.kind is not ArgumentKind.InputScalar


def _short(argument: Argument) -> str:
    role = "output" if argument.kind is ArgumentKind.OutputBuffer else "input"
    return f'{role} buffer "{argument.name}"'


def parameters(arguments: Iterable[Argument], names: Names) -> str:
    """The parameter list of the function."""
    given = [
        f"halide_buffer_t *{names.of('argument', i, a.name)}"
        if _is_buffer(a)
        else f"{'void *' if a.type.is_handle() else f'{scalar(a.type)} '}{names.of('argument', i, a.name)}"
        for i, a in enumerate(arguments)
    ]
    return ", ".join(given) or "void"


def banner(pipeline: str, arguments: Iterable[Argument]) -> str:
    """A comment that lists the arguments."""
    lines = [f"/* {pipeline}: made by halide_core.", " *"]
    for a in arguments:
        if _is_buffer(a):
            lines.append(f" *   {_short(a)}: {a.dimensions} dimensions of {a.type}")
        else:
            lines.append(f' *   scalar "{a.name}": {a.type}')
    return lines[0] + "".join(f"\n{line.replace('*/', '* /')}" for line in lines[1:]) + "\n */\n"


class Prologue:
    """Names the arguments and what is read of them, and checks them."""

    def __init__(self, lowered: Lowered, names: Names) -> None:
        self._pipeline = lowered.name
        self._arguments = lowered.arguments
        self._names = names
        self._error = names.reserve("error")
        parameters(lowered.arguments, names)
        self._position = {id(a): i for i, a in enumerate(lowered.arguments)}
        self._by_name = {a.name: a for a in lowered.arguments if _is_buffer(a)}
        self._used: dict[str, None] = {}
        self._fields: dict[tuple[int, int, ir.Field], str] = {}
        self._addresses: dict[int, str] = {}

    # ---- names ---------------------------------------------------------------------------------------------------

    def name(self, argument: Argument) -> str:
        """The identifier of an argument."""
        return self._names.of("argument", self._position[id(argument)], argument.name)

    def buffer_names(self) -> list[str]:
        """The identifiers of all buffer arguments."""
        return [self.name(a) for a in self._by_name.values()]

    def arguments_of(self, callee: ir.Callee) -> list[Argument]:
        """The arguments that carry a callee: one for each component."""
        found = [a for a in self._arguments if a.source is callee and _is_buffer(a)]
        if not found:
            raise InternalError(f'"{callee.name}" is no argument of pipeline "{self._pipeline}".')
        return found

    def parameter(self, param: ir.Scalar) -> str:
        """The identifier of a scalar argument."""
        for a in self._arguments:
            if a.source is param:
                return self._address(a) if a.type.is_handle() else self.name(a)
        raise InternalError(f'Parameter "{param.name}" is no argument of pipeline "{self._pipeline}".')

    def _address(self, argument: Argument) -> str:
        """The local that holds a pointer as a number."""
        position = self._position[id(argument)]
        if position not in self._addresses:
            self._addresses[position] = self._names.fresh(f"{argument.name}.address")
        return self._addresses[position]

    def field(self, e: ir.BufferField) -> str:
        """The local that holds a field of a buffer's dimension."""
        argument = self.arguments_of(e.buffer)[0]
        if not 0 <= e.dim < argument.dimensions:
            raise InternalError(f'Dimension {e.dim} of "{argument.name}", which has {argument.dimensions}, is read.')
        key = (self._position[id(argument)], e.dim, e.field)
        if key not in self._fields:
            self._fields[key] = self._names.fresh(f"{argument.name}.{e.field.value}.{e.dim}")
        return self._fields[key]

    def data(self, buffer: str) -> str:
        """The pointer to an argument's elements."""
        if buffer not in self._by_name:
            raise InternalError(f'Buffer "{buffer}" is used outside its scope.')
        self._used.setdefault(buffer)
        return self._names.of("data", buffer, f"{buffer}.data")

    def pointer_type(self, buffer: str) -> str:
        """The C type of that pointer."""
        argument = self._by_name[buffer]
        const = "const " if argument.kind is ArgumentKind.InputBuffer else ""
        return f"{const}{stored(argument.type)} *restrict"

    def described(self, argument: Argument) -> str:
        """The start of a message about an argument, as a C string."""
        return string(f'Pipeline "{self._pipeline}": {_short(argument)}')

    # ---- code ----------------------------------------------------------------------------------------------------

    def check(self, call: str) -> str:
        """Returns from the function with what the runtime's function returned, unless it is 0."""
        return f"if (__builtin_expect({self._error} = halide_core_{call}, 0)) return {self._error};"

    def _components(self) -> list[tuple[Argument, Argument]]:
        """The first component of each output of several, with each of its others."""
        outputs = [a for a in self._arguments if a.kind is ArgumentKind.OutputBuffer]
        return [(self.arguments_of(a.source)[0], a) for a in outputs if self._is_later_component(a)]  # type: ignore[arg-type]  # a Callee

    def _is_later_component(self, a: Argument) -> bool:
        return isinstance(a.source, ir.Callee) and self.arguments_of(a.source)[0] is not a

    def _pairs(self) -> list[tuple[Argument, Argument]]:
        """Every two buffers of which one is written, the written one first."""
        output = ArgumentKind.OutputBuffer
        pairs = [p for p in combinations(self._by_name.values(), 2) if output in (p[0].kind, p[1].kind)]
        return [(a, b) if a.kind is output else (b, a) for a, b in pairs]

    def memory_checks(self) -> list[str]:
        """The checks once no buffer asks for its bounds: components are alike, and no output overlaps, another or
        itself."""
        lines = [
            self.check(f"check_alike({self.name(b)}, {self.name(a)}, {self.described(b)}, {string(_short(a))})")
            for a, b in self._components()
        ]
        lines += [
            self.check(f"check_alignment({self.name(a)}, {self.described(a)}, {alignment})")
            for a in self._by_name.values()
            if (alignment := _alignment(a)) is not None
        ]
        lines += [
            self.check(f"check_overlap({self.name(a)}, {self.name(b)}, {self.described(a)}, {string(_short(b))})")
            for a, b in self._pairs()
        ]
        lines += [self.check(f"check_distinct({self.name(a)}, {self.described(a)})") for a in self._outputs()]
        return lines

    def _outputs(self) -> list[Argument]:
        """The buffers that are written, of more than one point."""
        return [a for a in self._by_name.values() if a.kind is ArgumentKind.OutputBuffer and a.dimensions]

    def lines(self, queried: bool) -> list[str]:
        """The start of the function. Where the body answers no query, this is where the memory is checked."""
        buffers = list(self._by_name.values())
        lines = [f"int {self._error};"] if buffers else []
        for a in buffers:
            output = int(a.kind is ArgumentKind.OutputBuffer)
            facts = f"{TYPE_CODES[a.type.code()]}, {a.type.bits()}, {a.dimensions}, {output}"
            lines.append(self.check(f"check_argument({self.name(a)}, {self.described(a)}, {facts})"))
        if not queried:
            lines += [self.check(f"check_host({self.name(a)}, {self.described(a)})") for a in buffers]
            lines += self.memory_checks()
        for key in sorted(self._fields, key=lambda k: (k[0], k[1], k[2].value)):
            position, dim, field = key
            name = self.name(self._arguments[position])
            lines.append(f"const int64_t {self._fields[key]} = {name}->dim[{dim}].{field.value};")
        for position, address in self._addresses.items():
            lines.append(f"const uint64_t {address} = (uintptr_t){self.name(self._arguments[position])};")
        for buffer, a in self._by_name.items():
            if buffer in self._used:
                pointer = self.pointer_type(buffer)
                plain = pointer.removesuffix("restrict")
                lines.append(f"{pointer} {self.data(buffer)} = ({plain}){self.name(a)}->host;")
        return lines
