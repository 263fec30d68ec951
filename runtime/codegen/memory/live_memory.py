"""Heap memory that a function has to free, whether it ends or fails.

In: blocks that are opened and closed, and what is allocated in each. Out: lines of C. A failure goes to where the
memory that is live at that time is freed, once for all failures; each of them would else free all memory by itself,
and a function of many buffers would grow with their square.

    if (!b) { failed = …; goto failed0; }   …   halide_core_free(b); halide_core_free(a);
                                                if (0) { failed1: halide_core_free(b);
                                                         failed0: halide_core_free(a); return failed; }
"""

from __future__ import annotations

from dataclasses import dataclass, field

from halide_core.runtime.codegen.names import Names

FAILED = "failed"
"""The result of a function that failed, while it frees memory."""


@dataclass
class _Held:
    """Memory, the line that frees it, and a label in front of that, if there is a way to it."""

    freed: str
    label: str = ""


@dataclass
class LiveMemory:
    """The memory of the blocks that are open, innermost last."""

    _names: Names
    _blocks: list[list[_Held]] = field(default_factory=list)
    _fails: bool = False

    def open(self) -> None:
        """A block begins."""
        self._blocks.append([])

    def add(self, name: str, then: str) -> None:
        """The innermost block has memory from here on; ``then`` is what follows when it is freed."""
        self._blocks[-1].append(_Held(f"halide_core_free({name});{then}"))

    def returning(self, result: str) -> list[str]:
        """The lines that end the function with a result."""
        last = self._last()
        if last is None:
            return [f"return {result};"]
        self._fails = True
        return [f"{FAILED} = {result};", self._way_to(last)]

    def close(self) -> list[str]:
        """The lines that end the innermost block: they free its memory, and, behind a failure in it, that around."""
        held = self._blocks.pop()
        lines = [each.freed for each in reversed(held)]
        first = next((k for k in reversed(range(len(held))) if held[k].label), None)
        if first is None:
            return lines
        around = self._last()
        lines.append("if (0) {")
        for each in reversed(held[: first + 1]):
            lines += [f"{each.label}:" if each.label else "", f"    {each.freed}"]
        lines += [f"    {f'return {FAILED};' if around is None else self._way_to(around)}", "}"]
        return [line for line in lines if line]

    def declared(self) -> list[str]:
        """The line at the function's head."""
        return [f"    int {FAILED};"] if self._fails else []

    def _last(self) -> _Held | None:
        return next((block[-1] for block in reversed(self._blocks) if block), None)

    def _way_to(self, held: _Held) -> str:
        held.label = held.label or self._names.numbered("failed")
        return f"goto {held.label};"
