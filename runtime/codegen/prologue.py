"""What a pipeline's C function does with its arguments before it computes: names, checks, and the query's protocol.

In: the arguments. Out: C lines that refuse a wrong argument with a message that names it, and locals for what is
read of the buffers.

    if ((error = check_argument(in, "Pipeline …: input buffer …", halide_type_uint, 8, 2, 0))) return error;
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

_TYPE_CODES = {
    TypeCode.Int: "halide_type_int",
    TypeCode.UInt: "halide_type_uint",
    TypeCode.Float: "halide_type_float",
    TypeCode.BFloat: "halide_type_bfloat",
}

_CHECK_ARGUMENT = """\
static const char *type_name(unsigned code, unsigned bits) {
    static const char *const names[3][4] = {
        {"int8", "int16", "int32", "int64"},
        {"uint8", "uint16", "uint32", "uint64"},
        {"an unknown type", "float16", "float32", "float64"},
    };
    if (code == halide_type_uint && bits == 1) return "bool";
    if (code == halide_type_bfloat && bits == 16) return "bfloat16";
    if (code > 2 || (bits != 8 && bits != 16 && bits != 32 && bits != 64)) return "an unknown type";
    return names[code][bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3];
}

static int check_argument(const halide_buffer_t *b, const char *what, unsigned code, unsigned bits, int dimensions,
                          int output) {
    if (!b) {
        return halide_core_error(halide_core_error_argument_null, "%s is NULL.", what);
    }
    if (b->type.code != code || b->type.bits != bits || b->type.lanes != 1) {
        return halide_core_error(halide_core_error_argument_type, "%s has type %s%s, but %s is needed.", what,
                                 type_name(b->type.code, b->type.bits), b->type.lanes == 1 ? "" : " in vectors",
                                 type_name(code, bits));
    }
    if (b->dimensions != dimensions) {
        return halide_core_error(halide_core_error_argument_dimensions,
                                 "%s has %d dimensions, but %d are needed.", what, (int)b->dimensions, dimensions);
    }
    if (dimensions && !b->dim) {
        return halide_core_error(halide_core_error_argument_null, "%s has no array of dimensions.", what);
    }
    for (int d = 0; (b->host || output) && d < dimensions; d++) {
        if (b->dim[d].extent < 0) {
            return halide_core_error(halide_core_error_argument_extent,
                                     "%s has extent %d in dimension %d, but an extent can't be negative.", what,
                                     (int)b->dim[d].extent, d);
        }
    }
    if (b->host && (b->flags & halide_buffer_flag_device_dirty)) {
        return halide_core_error(halide_core_error_argument_device,
                                 "%s has its newest data on a device; copy it to the host first.", what);
    }
    return 0;
}

"""
_ANSWER_QUERY = """\
static int answer_query(halide_buffer_t *b, const char *what, const int64_t *region) {
    int64_t stride = 1;
    for (int d = 0; d < b->dimensions; d++) {
        const int64_t min = region[2 * d], extent = region[2 * d + 1];
        const bool fits = min >= INT32_MIN && min <= INT32_MAX && extent >= 0 && extent <= INT32_MAX &&
                          min + extent - 1 <= INT32_MAX && stride <= INT32_MAX;
        if (!fits) {
            return halide_core_error(halide_core_error_index_overflow,
                                     "%s would need min %lld, extent %lld and stride %lld in dimension %d, "
                                     "which don't fit int32.",
                                     what, (long long)min, (long long)extent, (long long)stride, d);
        }
        b->dim[d].min = (int32_t)min;
        b->dim[d].extent = (int32_t)extent;
        b->dim[d].stride = (int32_t)stride;
        stride *= extent ? extent : 1;
    }
    return 0;
}

"""
_CHECK_HOST = """\
static int check_host(const halide_buffer_t *b, const char *what) {
    return b->host ? 0 : halide_core_error(halide_core_error_argument_null, "%s has no memory (host is NULL).", what);
}

"""
_CHECK_ALIKE = """\
static int check_alike(const halide_buffer_t *a, const halide_buffer_t *b, const char *what, const char *other) {
    for (int d = 0; d < a->dimensions; d++) {
        const halide_dimension_t x = a->dim[d], y = b->dim[d];
        if (x.min != y.min || x.extent != y.extent) {
            return halide_core_error(halide_core_error_argument_bounds,
                                     "%s has min %d and extent %d in dimension %d, but %s has min %d and extent %d.",
                                     what, (int)x.min, (int)x.extent, d, other, (int)y.min, (int)y.extent);
        }
        if (x.stride != y.stride) {
            return halide_core_error(halide_core_error_argument_stride,
                                     "%s has stride %d in dimension %d, but %s has %d.", what, (int)x.stride, d, other,
                                     (int)y.stride);
        }
    }
    return 0;
}

"""
_CHECK_OVERLAP = """\
static void byte_range(const halide_buffer_t *b, uintptr_t *begin, uintptr_t *end) {
    int64_t first = 0, last = 0;
    *begin = *end = 0;
    for (int d = 0; d < b->dimensions; d++) {
        if (b->dim[d].extent == 0) return;
        const int64_t span = (int64_t)b->dim[d].stride * (b->dim[d].extent - 1);
        int64_t *const grown = span < 0 ? &first : &last;
        *grown = (int64_t)((uint64_t)*grown + (uint64_t)span);
    }
    const uint64_t bytes = (b->type.bits + 7u) / 8u;
    *begin = (uintptr_t)b->host + (uintptr_t)((uint64_t)first * bytes);
    *end = (uintptr_t)b->host + (uintptr_t)(((uint64_t)last + 1) * bytes);
}

static int check_overlap(const halide_buffer_t *a, const halide_buffer_t *b, const char *what, const char *other) {
    uintptr_t a_begin, a_end, b_begin, b_end;
    byte_range(a, &a_begin, &a_end);
    byte_range(b, &b_begin, &b_end);
    if (a_begin >= b_end || b_begin >= a_end) return 0;
    return halide_core_error(halide_core_error_argument_alias, "%s overlaps %s in memory.", what, other);
}

"""


_CHECK_DISTINCT = """\
/* From the least stride on, each steps over all that the dimensions before it span. */
static int check_distinct(const halide_buffer_t *b, const char *what) {
    int64_t span = 0, stride = 0;
    for (int d = 0; d < b->dimensions; d++) {
        if (b->dim[d].extent == 0) return 0;
    }
    for (int last = -1, next; ; last = next) {
        int64_t least = INT64_MAX;
        next = -1;
        for (int d = 0; d < b->dimensions; d++) {
            const int64_t s = b->dim[d].stride < 0 ? -(int64_t)b->dim[d].stride : b->dim[d].stride;
            if (b->dim[d].extent > 1 && s < least && (s > stride || (s == stride && d > last))) {
                least = s;
                next = d;
            }
        }
        if (next < 0) return 0;
        if (least <= span) {
            return halide_core_error(halide_core_error_argument_alias,
                                     "%s has points that share memory: stride %d in dimension %d.", what,
                                     (int)b->dim[next].stride, next);
        }
        const uint64_t grown = (uint64_t)span + (uint64_t)least * (uint64_t)(b->dim[next].extent - 1);
        span = grown > (uint64_t)INT64_MAX ? INT64_MAX : (int64_t)grown;
        stride = least;
    }
}

"""
_CHECK_ALIGNMENT = """\
static int check_alignment(const halide_buffer_t *b, const char *what, uintptr_t bytes) {
    if ((uintptr_t)b->host % bytes == 0) return 0;
    return halide_core_error(halide_core_error_argument_stride, "%s is not aligned to %llu bytes.", what,
                             (unsigned long long)bytes);
}

"""


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
        else f"{scalar(a.type)} {names.of('argument', i, a.name)}"
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
                return self.name(a)
        raise InternalError(f'Parameter "{param.name}" is no argument of pipeline "{self._pipeline}".')

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
        """Returns from the function with what a call returned, unless it is 0."""
        return f"if (({self._error} = {call})) return {self._error};"

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
        """What is checked once no buffer asks for its bounds: components are alike, and no output overlaps, another or
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
            facts = f"{_TYPE_CODES[a.type.code()]}, {a.type.bits()}, {a.dimensions}, {output}"
            lines.append(self.check(f"check_argument({self.name(a)}, {self.described(a)}, {facts})"))
        if not queried:
            lines += [self.check(f"check_host({self.name(a)}, {self.described(a)})") for a in buffers]
            lines += self.memory_checks()
        for key in sorted(self._fields, key=lambda k: (k[0], k[1], k[2].value)):
            position, dim, field = key
            name = self.name(self._arguments[position])
            lines.append(f"const int64_t {self._fields[key]} = {name}->dim[{dim}].{field.value};")
        for buffer, a in self._by_name.items():
            if buffer in self._used:
                pointer = self.pointer_type(buffer)
                plain = pointer.removesuffix("restrict")
                lines.append(f"{pointer} {self.data(buffer)} = ({plain}){self.name(a)}->host;")
        return lines

    def helpers(self, queried: bool) -> str:
        """The C functions that the checks call."""
        if not self._by_name:
            return ""
        parts = [_CHECK_ARGUMENT, _ANSWER_QUERY if queried else _CHECK_HOST]
        parts += [_CHECK_ALIKE] if self._components() else []
        parts += [_CHECK_ALIGNMENT] if any(_alignment(a) is not None for a in self._by_name.values()) else []
        parts += [_CHECK_OVERLAP] if self._pairs() else []
        parts += [_CHECK_DISTINCT] if self._outputs() else []
        return "".join(parts)
