"""The peer's own environment: Halide's wheel, and for ``bench-peers`` other libraries, made on demand and kept.

In: nothing, or the interpreter that the user names. Out: an interpreter that can import ``halide``, or the reason why
there is none; the benchmarks then run our side alone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

OUT = Path(__file__).resolve().parent / "out"
FOLDER = OUT / "peer"
HALIDE = ("halide==21.0.0", "numpy")
LIBRARIES = {"scipy": "scipy", "cv2": "opencv-python-headless", "numba": "numba", "torch": "torch"}
"""The other libraries: what is imported, and what is installed."""

ON_REQUEST = frozenset({"torch"})
"""Too large to be downloaded unasked (``--install-torch``)."""


class PeerMissingError(Exception):
    """There is no peer; says why, and what can be done."""


def peer_python(named: str | None) -> str:
    """The interpreter of the peer; the first call makes its environment.

    Raises:
        PeerMissingError: pip can't install it, or the interpreter that was named has no ``halide``.
    """
    if named is not None:
        if os.sep in named:
            named = os.path.abspath(named)  # as the user's folder is not the worker's; links stay, they make the venv
        if not _imports(named, "halide"):
            raise PeerMissingError(f'"{named}" can\'t import halide. Install it there: pip install {HALIDE[0]}')
        return named
    python = FOLDER / "bin" / "python"
    if not python.exists() or not _imports(str(python), "halide"):
        _make(python)
    return str(python)


def install(python: str, *, large: bool) -> dict[str, str]:
    """Installs the other libraries into the peer's environment, the large ones only if wanted.

    Returns:
        For each that is absent, why.
    """
    missing = {}
    for module, package in LIBRARIES.items():
        if _imports(python, module):
            continue
        if not Path(python).is_relative_to(FOLDER):
            missing[module] = "not installed in the interpreter that was named"
        elif module in ON_REQUEST and not large:
            missing[module] = "not installed: it is large; --install-torch does it"
        else:
            failed = _pip(python, package)
            if failed:
                missing[module] = failed
    return missing


def _make(python: Path) -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.parent.mkdir(parents=True, exist_ok=True)
    made = _quiet([sys.executable, "-m", "venv", str(FOLDER)])
    failed = made or _pip(str(python), *HALIDE)
    if failed:
        shutil.rmtree(FOLDER, ignore_errors=True)  # nothing half-made is found by the next run
        raise PeerMissingError(
            f"The peer can't be installed: {failed}\nName an interpreter that has it: --peer /path/to/python"
        )


def _pip(python: str, *packages: str) -> str:
    return _quiet([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages])


def _quiet(command: list[str]) -> str:
    """Runs a command; empty if it worked, else the last thing it said."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    if done.returncode == 0:
        return ""
    words = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return words[-1] if words else f"status {done.returncode}"


def _imports(python: str, module: str) -> bool:
    environment = {**os.environ, "PYTHONPATH": ""}  # nothing of ours may stand in for it
    try:
        done = subprocess.run(
            [python, "-c", f"import {module}"], capture_output=True, check=False, env=environment, cwd="/"
        )
    except OSError:
        return False
    return done.returncode == 0
