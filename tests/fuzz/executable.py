"""A stand-alone executable as a judge: the emitted C and a drawn main, under the address and undefined sanitizers."""

from __future__ import annotations

from tests.fuzz.case import Case
from tests.fuzz.compare import Array


def run(case: Case) -> list[Array]:
    raise NotImplementedError
