"""The module that lowering hands to the runtime: one function of buffers and scalars, without holes.

In: built by ``driver.lower``. Out: read by ``runtime.codegen.unit``.

    blur(in: uint8[2], w: int32, out: uint8[2]) : { let …; assert …; answer query …; for … }
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from halide_core.ir import Stmt
from halide_core.run.backend import Argument


@dataclass(frozen=True, slots=True, eq=False)
class Lowered:
    """``body`` is flat: Load and Store, no Access, Provide, Hole or Label, no unrolled or vectorized loop.

    ``owners`` says which Func each buffer belongs to, by name, producers first.
    """

    name: str
    arguments: tuple[Argument, ...]
    body: Stmt
    owners: Mapping[str, str] = field(default_factory=dict)
