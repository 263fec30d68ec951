"""Files that ``debug_to_file`` writes: their formats, and what each can hold.

In: a path, and the Func whose values it is to have. Out: a DebugFile, data for lowering and for the runtime.

    debug_file("rows.npy", f)   ->   DebugFile("rows.npy", FileFormat.NPY)

    .npy   what numpy.load reads: every type, axes reversed as in ``numpy.asarray(buffer)``
    .mat   MATLAB 5: an array of the file's name, dimension 0 first; everything but floats of 16 bits
    .tiff  a picture of up to three dimensions, or with depth of four, as Halide writes it: the last one is the channel,
           each channel a strip; everything but floats of 16 bits. Also .tif
    .tmp   five int32, the extents of four dimensions and the number of the type, then the values, dimension 0 densest
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from enum import Enum

from halide_core.checks import shown
from halide_core.errors import ScheduleError
from halide_core.ir.expr_nodes import Callee
from halide_core.ir.types import BFloat, Bool, Float, Int, Type, UInt


class FileFormat(Enum):
    """The formats; a value is the suffix of the path, and the name in ``halide_core_file_format``."""

    NPY = "npy"
    MAT = "mat"
    TMP = "tmp"
    TIFF = "tiff"


_SUFFIXES = {**{format.value: format for format in FileFormat}, "tif": FileFormat.TIFF}
_MOST_DIMENSIONS = {FileFormat.NPY: 64, FileFormat.MAT: 32, FileFormat.TMP: 4, FileFormat.TIFF: 4}
_NUMBERS: dict[Type, int] = {
    Float(32): 0, Float(64): 1, UInt(8): 2, Int(8): 3, UInt(16): 4, Int(16): 5, UInt(32): 6, Int(32): 7, UInt(64): 8,
    Int(64): 9, Bool(): 2,
}  # fmt: skip
"""The number of a type in a .tmp file. A bool is a byte."""
_MATLAB: dict[Type, tuple[int, int]] = {
    Float(32): (7, 7), Float(64): (6, 9), UInt(8): (9, 2), Int(8): (8, 1), UInt(16): (11, 4), Int(16): (10, 3),
    UInt(32): (13, 6), Int(32): (12, 5), UInt(64): (15, 13), Int(64): (14, 12), Bool(): (9, 2),
}  # fmt: skip
"""The class of an array and the type of its data in a .mat file. A bool is a byte."""


@dataclass(frozen=True, slots=True)
class DebugFile:
    """Where a Func's values are written, and how."""

    path: str
    format: FileFormat

    def name(self) -> str:
        """The name of the array: the file's, made an identifier of MATLAB's."""
        stem = re.sub(r"[^0-9A-Za-z_]", "_", os.path.basename(self.path)[: -len(".mat")])
        return (stem if re.match("[A-Za-z]", stem) else f"v_{stem}")[:63]

    def told(self, type: Type) -> tuple[str, int]:
        """The text and the number that the file's header has of a type."""
        match self.format:
            case FileFormat.NPY:
                return _description(type), 0
            case FileFormat.MAT:
                kind, data = _MATLAB[type]
                return self.name(), kind << 8 | data
            case FileFormat.TIFF:
                return "", 3 if type.is_float() else 2 if type.is_int() else 1
            case FileFormat.TMP:
                return "", _NUMBERS[type]


def debug_file(filename: object, f: Callee) -> DebugFile:
    """The file of a call of ``debug_to_file``.

    Raises: ScheduleError for what is no path, for a suffix that stands for no format, and for a Func that the format
    can't hold: of several values, of 16-bit floats, of too many dimensions.
    """
    path = os.fspath(filename) if isinstance(filename, str | os.PathLike) else filename
    if not isinstance(path, str) or not path or "\0" in path or not _is_unicode(path):
        raise ScheduleError(f"debug_to_file() takes the path of a file, not {shown(filename)}.")
    suffix = os.path.splitext(path)[1].lower().removeprefix(".")
    if suffix not in _SUFFIXES:
        suffixes = ", ".join(f'".{legal}"' for legal in _SUFFIXES)
        raise ScheduleError(
            f'debug_to_file(): the suffix of "{path}" stands for no format. The legal ones: {suffixes}.'
        )
    format = _SUFFIXES[suffix]
    if len(f.types) > 1:
        raise ScheduleError(
            f'debug_to_file() of "{f.name}", which has {len(f.types)} values a point: a file holds one. Write Funcs '
            f"that take one value each."
        )
    if f.types[0].is_narrow_float() and format is not FileFormat.NPY:
        raise ScheduleError(f'debug_to_file() of "{f.name}": only ".npy" files hold {f.types[0]}, "{path}" can\'t.')
    if f.dimensions > _MOST_DIMENSIONS[format]:
        raise ScheduleError(
            f'debug_to_file() of "{f.name}", which has {f.dimensions} dimensions: a ".{format.value}" file holds at '
            f"most {_MOST_DIMENSIONS[format]}."
        )
    return DebugFile(path, format)


def _is_unicode(text: str) -> bool:
    """True where a text can stand in C."""
    return not any("\ud800" <= c <= "\udfff" for c in text)


def _description(type: Type) -> str:
    """A type as the header of a .npy file has it; numpy has no bfloat16, see ``halide_core.ir.float16``."""
    if type == BFloat(16):
        return "[('bfloat16', '<u2')]"
    if type.is_bool():
        return "'|b1'"
    kind = "f" if type.is_float() else "i" if type.is_int() else "u"
    return f"'{'|' if type.bytes() == 1 else '<'}{kind}{type.bytes()}'"
