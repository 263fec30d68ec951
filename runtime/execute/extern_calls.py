"""Calls of the C functions that compute extern stages, by Halide's protocol.

In: an extern stage, a region, and what is passed. Out: the regions that the function asks for, or a filled Buffer.

    ExternFunction(e).ask(((0, 8),), {})   ->   (((0, 8),), {0: ((-1, 10),)})
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, TypeAlias

from halide_core import ir
from halide_core.algorithm.model import Definition, Function, Image, ScalarParam
from halide_core.errors import UNKNOWN_LOCATION, PipelineError
from halide_core.ir.float16 import pattern_of
from halide_core.ir.types import Type
from halide_core.lang.buffer import Buffer
from halide_core.reference import evaluate
from halide_core.run.backend import Box
from halide_core.runtime.crt.runtime_library import FFI
from halide_core.runtime.execute.descriptor import copied, describe, unknown

Value: TypeAlias = "Buffer | int | float | None"
Known: TypeAlias = "Mapping[Image | ScalarParam | Function, Value]"


class FuncImage(Image):
    """An image that a segment reads in place of a Func of the pipeline. Whoever asks a C function for bounds passes it
    as a Func, without memory, also where its values are there: a function may look at its inputs alone."""

    def __init__(self, name: str, type: Type, stands_for: Function, told: str) -> None:
        super().__init__(name, type, stands_for.dimensions, stands_for.location or UNKNOWN_LOCATION)
        self.told = told
        """The name that messages know it by."""


class ExternFunction:
    """The C function of one extern stage.

    Raises:
        PipelineError: no function of the name is in the process.
    """

    def __init__(self, stage: Function) -> None:
        assert stage.extern is not None
        self._stage = stage
        self._call = stage.extern
        try:
            self._function = ctypes.CDLL(None)[stage.extern.name]
        except (AttributeError, OSError) as absent:
            raise PipelineError(
                f'Func "{stage.name}", made at {stage.location}, is computed by the C function '
                f'"{stage.extern.name}", which is not in this process. Load its library first: '
                f"ctypes.CDLL(path, ctypes.RTLD_GLOBAL)."
            ) from absent
        self._function.restype = ctypes.c_int

    def ask(self, region: Box, known: Known) -> tuple[Box, dict[int, Box]]:
        """The region of the output that is computed, and those needed of Funcs and of what is not there yet, by
        position. The function is asked in any case, as by Halide: it may widen the region.

        Raises:
            PipelineError: the function fails, or needs elements that an input does not have.
        """
        asked: dict[int, list[Any]] = {}
        there: dict[int, tuple[Box, Any]] = {}
        given: list[Any] = []
        for k, param in enumerate(self._call.params):
            if isinstance(param, ir.ExprNode):
                given.append(scalar(param, known))
                continue
            assert isinstance(param, Image | Function)
            values = known.get(param)
            if isinstance(values, Buffer) and not isinstance(param, FuncImage):  # a copy: it may be written into
                there[k] = _box_of(values), copied(describe(values))
                given.append(_address(there[k][1][0]))
            else:
                asked[k] = [unknown(type, [(0, 0, 0, 0)] * param.dimensions) for type in param.types]
                given += [_address(each[0]) for each in asked[k]]
        outputs = [unknown(type, _dense(region)) for type in self._stage.types]
        self._invoke([*given, *(_address(each[0]) for each in outputs)])
        needed = {k: _around(buffers) for k, buffers in asked.items()}
        if not is_empty(region):
            for k, (box, buffer) in there.items():
                self._check(k, _box(buffer[0]), box)
            for k, box in needed.items():
                param = self._call.params[k]
                values = known.get(param) if isinstance(param, FuncImage) else None
                if isinstance(values, Buffer):
                    self._check(k, box, _box_of(values))
        return _around(outputs), needed

    def fill(self, results: Sequence[Buffer], buffers: Mapping[int, Sequence[Buffer]], known: Known) -> None:
        """Computes the values in the region of some Buffers, one for each component."""
        given: list[Any] = []
        keep = []  # C reads them: a Buffer keeps its last descriptor alone, and some get one each time
        for k, param in enumerate(self._call.params):
            if isinstance(param, ir.ExprNode):
                given.append(scalar(param, known))
            else:
                described = [describe(each) for each in buffers[k]]
                keep += described
                given += [_address(each.pointer) for each in described]
        written = [describe(each) for each in results]
        self._invoke([*given, *(_address(each.pointer) for each in written)])

    def _invoke(self, given: list[Any]) -> None:
        code = self._function(*given)
        if code:
            raise PipelineError(
                f'The C function "{self._call.name}", which computes Func "{self._stage.name}", failed: '
                f"it returned {code}."
            )

    def _check(self, k: int, needed: Box, box: Box) -> None:
        """Refuses an input that has too few elements."""
        param = self._call.params[k]
        for d, ((first, length), (low, extent)) in enumerate(zip(needed, box, strict=True)):
            if length > 0 and (first < low or first + length > low + extent):
                assert isinstance(param, Image)
                what = f'"{param.told}"' if isinstance(param, FuncImage) else f'input "{param.name}"'
                raise PipelineError(
                    f'The C function "{self._call.name}", which computes Func "{self._stage.name}", needs '
                    f"{what} from {first} to {first + length - 1} in dimension {d}, but it has only "
                    f"{low} to {low + extent - 1}."
                )


def scalar(e: ir.ExprNode, known: Known) -> Any:
    """A value as its C type."""
    params = {p: v for p, v in known.items() if isinstance(p, ScalarParam)}
    images = {i: (v.array, v.mins) for i, v in known.items() if isinstance(i, Image) and isinstance(v, Buffer)}
    value = Definition((), (e,), None, ir.TRUE, UNKNOWN_LOCATION)
    found = evaluate.evaluate(Function("value", (), (e.type,), [value]), [], params=params, images=images)
    assert not isinstance(found, tuple)
    return _c_type(e.type)(found.item() if not e.type.is_narrow_float() else pattern_of(float(found), e.type))


def _c_type(type: Type) -> Any:
    if type.is_bool():
        return ctypes.c_bool
    if type.is_narrow_float():
        return ctypes.c_uint16
    if type.is_float():
        return ctypes.c_float if type.bits() == 32 else ctypes.c_double
    return getattr(ctypes, f"c_{'' if type.is_int() else 'u'}int{type.bits()}")


def _address(pointer: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(int(FFI.cast("uintptr_t", pointer)))


def _dense(box: Box) -> list[tuple[int, int, int, int]]:
    dims, stride = [], 1
    for low, extent in box:
        dims.append((low, extent, min(stride, (1 << 31) - 1), 0))
        stride *= max(extent, 1)
    return dims


def _box(buffer: Any) -> Box:
    """The box of a buffer's dimensions now."""
    return tuple((buffer.dim[d].min, buffer.dim[d].extent) for d in range(buffer.dimensions))


def _box_of(buffer: Buffer) -> Box:
    return tuple([(buffer.dim(d).min(), buffer.dim(d).extent()) for d in range(buffer.dimensions())])


def is_empty(box: Box) -> bool:
    """True where a region has no points."""
    return any(n == 0 for _, n in box)


def hull(a: Box, b: Box) -> Box:
    """The smallest region around two; an empty one counts for nothing."""
    if is_empty(a) or is_empty(b):
        return b if is_empty(a) else a
    ends = [(min(x, y), max(x + m, y + n)) for (x, m), (y, n) in zip(a, b, strict=True)]
    return tuple((low, high - low) for low, high in ends)


def _around(buffers: Sequence[Any]) -> Box:
    """The region around those of several components."""
    return reduce(hull, [_box(buffer) for buffer, _ in buffers])
