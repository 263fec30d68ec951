"""The one upward call of the house: what implements the backend, found by its name on first use."""

from __future__ import annotations

import importlib
from typing import Any

from halide_core.errors import InternalError


def implementation() -> Any:
    """The runtime's ``BACKEND``; ``run.backend`` says what it is."""
    module = importlib.import_module("halide_core.runtime.execute.backend")
    found = getattr(module, "BACKEND", None)
    if found is None:
        raise InternalError(f'"{module.__file__}" defines no BACKEND.')
    return found
