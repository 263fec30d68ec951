"""Memoized extern stages, and Funcs that depend on such: what was made is kept with what memoized Funcs keep, by the
same rules.

In: a stage, a region, and what a run is given. Out: the values that were kept of an equal key.

    KeptStage(e, …).recall(((0, 8),), known)   ->   a Buffer, or None where the function has to be called
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from halide_core import ir
from halide_core.algorithm.memo_key import memo_key
from halide_core.algorithm.model import Function
from halide_core.errors import IgnoredDirectiveWarning, ScheduleError, warn_user
from halide_core.lang.buffer import Buffer
from halide_core.run.backend import Box
from halide_core.runtime.crt.runtime_library import FFI, runtime
from halide_core.runtime.execute.descriptor import describe
from halide_core.runtime.execute.extern_calls import FuncImage, Known, scalar
from halide_core.schedule.storage_directives import Memoize

_numbers = itertools.count(1)


def kept_stage(stage: Function) -> KeptStage | None:
    """The memory kept of an extern stage, or a Func that depends on one, where it is memoized; None, with a warning,
    where it reads what is computed outside of a loop that it is in itself, which a key can't hold.

    Raises: as ``KeptStage``.
    """
    asked = [d for d in stage.directives if isinstance(d, Memoize)]
    if not asked:
        return None
    outside = [image.told for image in memo_key(stage).inputs if isinstance(image, FuncImage)]
    if outside:
        warn_user(
            f'{asked[-1].spelled()}: "{stage.name}" is computed in a loop and reads "{outside[0]}", which is computed '
            f"outside of it, so its values are not kept.",
            IgnoredDirectiveWarning,
            asked[-1].location,
        )
        return None
    return KeptStage(stage, asked[-1])


class KeptStage:
    """The memory kept of one extern stage, or of a Func that depends on one, of one compiled pipeline.

    Raises:
        ScheduleError: an input, or an output that leaves points undefined, is passed, or read by what is passed,
            without a tag; a pointer is passed.
    """

    def __init__(self, stage: Function, directive: Memoize) -> None:
        key = memo_key(stage)
        if untold := key.untold():
            read = (*key.inputs, *key.kept)[0].own.name
            raise ScheduleError(
                f'{directive.spelled()}: "{stage.name}" depends on {untold}, which a key can\'t hold. Pass '
                f"a Func of what is tagged: hl.memoize_tag({read}[…], version).",
                directive.location,
            )
        pointers = [w.param.name for w in key.words if isinstance(w, ir.ParamRef) and w.param.type.is_handle()]
        if pointers:
            raise ScheduleError(
                f'{directive.spelled()}: the C function of "{stage.name}" may read what the pointer "{pointers[0]}" '
                f"points to, which a key can't hold.",
                directive.location,
            )
        self._words, self._group = key.words, directive.eviction_key
        self._name = f"{stage.name} {next(_numbers)}".encode()

    def _key(self, region: Box, known: Known) -> bytes:
        numbers = b"".join(number.to_bytes(8, "little", signed=True) for each in region for number in each)
        return b"\0".join((self._name, numbers, self._bytes(self._words, known)))

    def _bytes(self, words: Iterable[ir.ExprNode], known: Known) -> bytes:
        return b"".join(bytes(scalar(word, known)) for word in words)

    def recall(self, region: Box, buffers: Sequence[Buffer], known: Known) -> bool:
        """Fills new Buffers of a region, one for each component, with what was kept; False where nothing was."""
        key = self._key(region, known)
        return bool(runtime().halide_core_memo_recall(key, len(key), _parts(buffers), len(buffers)))

    def keep(self, region: Box, buffers: Sequence[Buffer], known: Known) -> None:
        """Keeps the values of a region."""
        key = self._key(region, known)
        group = 0 if self._group is None else int(scalar(self._group, known).value)
        parts = _parts(buffers)
        runtime().halide_core_memo_keep(key, len(key), parts, len(buffers), self._group is not None, group)


def _parts(buffers: Sequence[Buffer]) -> Any:
    parts: Any = FFI.new(f"struct halide_core_memo_part[{len(buffers)}]")
    for part, buffer in zip(parts, buffers, strict=True):
        described: Any = FFI.cast("halide_buffer_t *", describe(buffer).pointer)
        part.host = described.host
        part.bytes = buffer.size_in_bytes()
    return parts
