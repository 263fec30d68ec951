"""Pipelines to bytes and files and back: JSON with a version and a checksum.

In: a Pipeline. Out: text that holds its Funcs with their schedules, its inputs without their data, and the Buffers that
stand in definitions; and the Pipeline of such a text.

    data = hl.serialize_pipeline(pipeline);  again = hl.deserialize_pipeline(data, {"image": image.parameter()})
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from halide_core.algorithm.model import Function, Image, Requirement, ScalarParam
from halide_core.algorithm.user_context import is_passed
from halide_core.checks import mapping, shown
from halide_core.debug import deep_recursion
from halide_core.errors import ArgumentTypeError, DefinitionError, HalideError
from halide_core.func.func import Func
from halide_core.func.image_param import ImageParam
from halide_core.lang.param import Param
from halide_core.lang.parameter import Parameter
from halide_core.run.pipeline import Pipeline, Realizable
from halide_core.serialize.read import Restored, restored
from halide_core.serialize.write import written
from halide_core.whole_files import replaced

FORMAT = "halide_core pipeline"
VERSION = 1

_UNREADABLE = (
    AttributeError, IndexError, KeyError, OverflowError, RecursionError, TypeError, UnicodeError, ValueError,
)  # fmt: skip
"""The exceptions that Python raises of data of another form."""


def serialized(outputs: Sequence[Function], requirements: Sequence[Requirement], *, indent: bool = False) -> bytes:
    """The text of a pipeline; with ``indent`` of many lines, for people."""
    with deep_recursion():
        content = written(outputs, requirements)
    whole = {"format": FORMAT, "version": VERSION, "sha256": _checksum(content), "content": content}
    text = json.dumps(whole, indent=1 if indent else None, separators=None if indent else (",", ":"), allow_nan=False)
    return text.encode() + b"\n"


def _checksum(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def serialize_pipeline(
    pipeline: Realizable, filename: str | os.PathLike[str] | None = None, *, get_params: bool | None = None
) -> Any:
    """Writes a pipeline as JSON: its algorithm, its schedule and its inputs, whose data is not part of it.

    Args:
        filename: the file to write; one that ends in ``.json`` gets a text of many lines.
        get_params: whether the inputs are returned, too, by name.

    Returns:
        The bytes, where no file is named; with ``get_params`` a tuple of these and the inputs, or the inputs.

    Raises:
        NotAvailableError: an extern stage, or ``debug_to_file``: they would act where it is read.
        HalideError: the file can't be written.
    """
    if not isinstance(pipeline, Realizable):
        raise DefinitionError(f"serialize_pipeline() takes a Pipeline or a Func, not {shown(pipeline)}.")
    outputs, requirements = pipeline._defined(), pipeline._requirements()
    if not isinstance(filename, str | os.PathLike | None):
        raise ArgumentTypeError(f"serialize_pipeline() takes the path of a file, not {shown(filename)}.")
    path = None if filename is None else Path(filename)
    data = serialized(outputs, requirements, indent=path is not None and path.suffix == ".json")
    if path is not None:
        try:
            with replaced(path) as part:
                part.write_bytes(data)
        except OSError as error:
            raise HalideError(f'"{path}" can\'t be written: {error.strerror}.') from error
    inputs = None
    if get_params:
        free = [s for s in pipeline._request().inputs if is_passed(s)]
        inputs = {s.name: Parameter.of(s) for s in free}
    if path is not None:
        return inputs
    return data if inputs is None else (data, inputs)


def deserialize_pipeline(
    data: bytes | str | os.PathLike[str],
    user_params: Mapping[str, Parameter | Param | ImageParam] | None = None,
    *,
    filename: str | os.PathLike[str] | None = None,
) -> Pipeline:
    """The Pipeline of bytes, or of a file of a name, that ``serialize_pipeline`` wrote.

    Args:
        user_params: inputs that stand for those of their names; for the others there are new ones
            (``deserialize_parameters`` gives a whole set).

    Raises:
        DefinitionError: it is none, of another version, changed since, or an input is of another type.
        HalideError: the file can't be read.
    """
    rule = "The user_params of deserialize_pipeline() are given as {name: Param, ImageParam or Parameter}"
    sources: dict[str, object] = {}
    for name, p in mapping(user_params or {}, rule).items():
        if not isinstance(p, Parameter | Param | ImageParam):
            raise ArgumentTypeError(f"{rule}, not with {shown(p)}.")
        sources[name] = p.source
    given = {name: s for name, s in sources.items() if isinstance(s, Image | ScalarParam)}
    found = _read(data if filename is None else filename, given)
    pipeline = Pipeline([Func._of(f) for f in found.outputs])
    pipeline._required.extend(found.requirements)
    return pipeline


def deserialize_parameters(
    data: bytes | str | os.PathLike[str] = b"", *, filename: str | os.PathLike[str] | None = None
) -> dict[str, Parameter]:
    """New inputs like those of a serialized pipeline, by name: set their values, and give them to
    ``deserialize_pipeline``.

    Raises: as ``deserialize_pipeline`` does.
    """
    found = _read(data if filename is None else filename, {})
    for source in found.inputs.values():
        if isinstance(source, Image):
            source.wrappers.clear()  # Funcs of the pipeline that is read once more
    return {name: Parameter.of(source) for name, source in found.inputs.items()}


def _read(data: bytes | str | os.PathLike[str], given: Mapping[str, Image | ScalarParam]) -> Restored:
    if not isinstance(data, bytes | bytearray | memoryview):
        if not isinstance(data, str | os.PathLike):
            raise ArgumentTypeError(f"A serialized pipeline is bytes, or in a file of a name, not {shown(data)}.")
        try:
            data = Path(data).read_bytes()
        except (OSError, ValueError) as error:
            told = getattr(error, "strerror", None) or error
            raise HalideError(f'"{os.fspath(data)!s}" can\'t be read: {told}.') from error
    try:
        return restored(_content(bytes(data)), given)
    except _UNREADABLE as error:
        told = "it is not of the form of one" if not str(error) else f"{type(error).__name__}: {error}"
        raise DefinitionError(f"This is no serialized pipeline: {told}.") from error


def _content(data: bytes) -> Any:
    if _depth(data) > _DEEPEST:
        raise ValueError("it is nested too deeply")
    whole = json.loads(data, parse_constant=_refuse)
    if not isinstance(whole, dict) or whole.get("format") != FORMAT:
        raise DefinitionError(f'This is no serialized pipeline: it does not say that its format is "{FORMAT}".')
    if whole.get("version") != VERSION:
        raise DefinitionError(
            f"This pipeline was serialized in version {whole.get('version')!r} of the format; this halide_core reads "
            f"version {VERSION}."
        )
    if whole.keys() != {"format", "version", "sha256", "content"} or whole["sha256"] != _checksum(whole["content"]):
        raise DefinitionError("This serialized pipeline was changed since it was written: its checksum is another one.")
    return whole["content"]


_DEEPEST = 40
_STRING, _BRACKET = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL), re.compile(rb"[][{}]")


def _depth(data: bytes) -> int:
    """The depth of nested brackets: Python's reader recurses, and where much recursion is allowed, it crashes."""
    deepest = depth = 0
    for bracket in _BRACKET.findall(_STRING.sub(b"", data)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of one")
