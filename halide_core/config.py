"""HL_CERTIFY, HL_COMPILE, HL_PROFILE, HL_VERIFY, …: what a script asks of every compile and of every run.

``HL_CERTIFY=1`` certifies each program before code is made of it; where a claim fails that is a CertificateError.
``HL_COMPILE=fast`` runs code that is made soon, until the optimized code is there (``runtime.execute.tiers``).
``HL_PROFILE=1`` measures each pipeline, and prints where the time went when the program ends.
``HL_BOUNDS=interval`` finds bounds with another engine (``bounds.engines.registry``).
``HL_VERIFY=1`` checks the IR after each pass (``ir.verify``), as any HL_DEBUG does; a fault is an InternalError.
``HL_PERMIT_FAILED_UNROLL=1`` runs an unrolled loop whose length is no constant as a serial one.
``HL_NUM_THREADS=4`` gives parallel loops so many threads, the calling one included.

Others are read where they matter: ``HL_DEBUG`` (``debug``: 1 shows passes and times, 2 the program after each),
``HL_JIT_TARGET`` and ``HL_TARGET`` (``run.target``: of runs and of files that name none), ``HL_CACHE_DIR`` and
``HL_CACHE`` (``cache_folder``: 0 keeps nothing), ``HL_CACHE_SIZE`` in MiB (``runtime.compile.cache``).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

from halide_core.errors import HalideError, HalideWarning, warn_user

MOST_THREADS = 512
"""The runtime's limit."""
_MEANING = {"": False, "0": False, "1": True}
_profiled: ContextVar[bool] = ContextVar("profiled", default=False)
_optimized: ContextVar[bool] = ContextVar("optimized", default=False)


def bounds_engine() -> str:
    """The name of the engine that finds bounds, as ``HL_BOUNDS`` has it; there may be none of that name."""
    return os.environ.get("HL_BOUNDS", "").strip() or "chain"


def certificates_demanded() -> bool:
    """The setting, read anew each time so that a script can change it. Raises: HalideError for any other value."""
    return _setting("HL_CERTIFY", "every compile is certified")


def profiles_demanded() -> bool:
    """True where pipelines are compiled to be measured: HL_PROFILE, or ``profiling`` here. Raises: HalideError."""
    return _profiled.get() or _setting("HL_PROFILE", "every pipeline is profiled")


def verification_demanded() -> bool:
    """True where the IR is checked after each pass. It changes nothing of what a compile gives. Raises: HalideError."""
    debugged = os.environ.get("HL_DEBUG", "0") not in ("", "0")
    return _setting("HL_VERIFY", "the IR is checked after each pass") or debugged


def failed_unrolls_permitted() -> bool:
    """True where an unrolled loop without a constant length is a serial one, and no error. Raises: HalideError."""
    return _setting("HL_PERMIT_FAILED_UNROLL", "unrolled loops need no constant length")


def haste_demanded() -> bool:
    """True where first code is wanted soon: HL_COMPILE, but for what is measured. Raises: HalideError for any other
    value."""
    setting = os.environ.get("HL_COMPILE", "").strip()
    if setting not in ("", "fast"):
        raise HalideError(
            f'HL_COMPILE="{setting}" has no meaning. It can be "fast" (pipelines run soon, and are optimized in the '
            f"background), or not be set."
        )
    return setting == "fast" and not (_optimized.get() or profiles_demanded())


def demands() -> tuple[bool, ...]:
    """Everything here that changes what a compile gives."""
    return certificates_demanded(), profiles_demanded(), failed_unrolls_permitted(), haste_demanded()


def profiling() -> AbstractContextManager[None]:
    """``with profiling():`` what is compiled meanwhile is profiled."""
    return _meanwhile(_profiled)


def optimizing() -> AbstractContextManager[None]:
    """``with optimizing():`` what is compiled meanwhile is optimized at once, whatever HL_COMPILE says."""
    return _meanwhile(_optimized)


@contextmanager
def _meanwhile(demand: ContextVar[bool]) -> Iterator[None]:
    token = demand.set(True)
    try:
        yield
    finally:
        demand.reset(token)


def check_thread_count() -> None:
    """Warns where HL_NUM_THREADS is no number of threads: the runtime then takes as many as there are cores."""
    setting = os.environ.get("HL_NUM_THREADS")
    if setting is None or (setting.strip().isdecimal() and 1 <= int(setting) <= MOST_THREADS):
        return
    many = setting.strip().isdecimal() and int(setting) > MOST_THREADS
    warn_user(
        f'HL_NUM_THREADS="{setting}" is no number of threads from 1 to {MOST_THREADS}: parallel loops have '
        f"{MOST_THREADS if many else os.cpu_count()}.",
        HalideWarning,
    )


def _setting(name: str, one: str) -> bool:
    setting = os.environ.get(name, "").strip()
    if setting not in _MEANING:
        raise HalideError(f'{name}="{setting}" has no meaning. It can be 1 ({one}), or 0.')
    return _MEANING[setting]
