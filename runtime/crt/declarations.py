"""The C functions that Python calls, and the types they take; ``runtime.crt.abi`` is made of it.

In: ``cffi_runtime.h`` and ``cffi_pipelines.h``. Out: ``runtime/crt/abi.py``, which needs no parser of C where a process
starts.

    python -m halide_core.runtime.crt.declarations        # after a change
"""

from __future__ import annotations

import ast
import pprint
import tempfile
from pathlib import Path
from typing import Final

import cffi

_FOLDER: Final = Path(__file__).resolve().parent


def _declared(file: str) -> str:
    """The declarations of a file, without the directives, which cffi doesn't read."""
    lines = (_FOLDER / file).read_text(encoding="ascii").splitlines(keepends=True)
    return "".join([line for line in lines if not line.startswith("#")])


DECLARATIONS: Final = _declared("cffi_runtime.h")
OF_PIPELINES: Final = _declared("cffi_pipelines.h")

ABI: Final = _FOLDER / "abi.py"
_MODULE = "halide_core.runtime.crt"
_DOCSTRING = f'"""The declarations as cffi keeps them. By ``python -m {_MODULE}.declarations``; a test compares."""'


def abi_text() -> str:
    """The text that ``abi.py`` has to have."""
    ffi = cffi.FFI()
    ffi.cdef(DECLARATIONS + OF_PIPELINES)
    ffi.set_source(f"{_MODULE}.abi", None)
    with tempfile.TemporaryDirectory(prefix="halide_core_") as folder:
        made = Path(folder) / "abi.py"
        ffi.emit_python_code(str(made))
        tree = ast.parse(made.read_text(encoding="ascii"))
    (call,) = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    parts = [f"    {ast.literal_eval(each)!r}," for each in call.args]
    for keyword in call.keywords:
        value = pprint.pformat(ast.literal_eval(keyword.value), width=110)
        lines = value.replace("\n", "\n    ")
        parts.append(f"    {keyword.arg}={lines},")
    inside = "\n".join(parts)
    return f"{_DOCSTRING}\n\nimport _cffi_backend\n\nFFI = _cffi_backend.FFI(\n{inside}\n)\n"


if __name__ == "__main__":
    ABI.write_text(abi_text(), encoding="ascii")
