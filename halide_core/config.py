"""HL_CERTIFY and HL_PROFILE: what a script asks of every compile.

``HL_CERTIFY=1`` certifies each program before code is made of it; where a claim fails that is a CertificateError.
``HL_PROFILE=1`` measures each pipeline, and prints where the time went when the program ends.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from halide_core.errors import HalideError

_MEANING = {"": False, "0": False, "1": True}
_profiled: ContextVar[bool] = ContextVar("profiled", default=False)


def certificates_demanded() -> bool:
    """The setting, read anew each time so that a script can change it. Raises: HalideError for any other value."""
    return _setting("HL_CERTIFY", "every compile is certified")


def profiles_demanded() -> bool:
    """Whether pipelines are compiled to be measured: HL_PROFILE, or ``profiling`` here. Raises: HalideError."""
    return _profiled.get() or _setting("HL_PROFILE", "every pipeline is profiled")


def demands() -> tuple[bool, bool]:
    """Everything here that changes what a compile gives."""
    return certificates_demanded(), profiles_demanded()


@contextmanager
def profiling() -> Iterator[None]:
    """``with profiling():`` what is compiled meanwhile is profiled."""
    token = _profiled.set(True)
    try:
        yield
    finally:
        _profiled.reset(token)


def _setting(name: str, one: str) -> bool:
    setting = os.environ.get(name, "").strip()
    if setting not in _MEANING:
        raise HalideError(f'{name}="{setting}" has no meaning. It can be 1 ({one}), or 0.')
    return _MEANING[setting]
