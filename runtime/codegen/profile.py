"""Instrumentation of a profiled pipeline: a clock that knows which Func it is in, and counts of memory.

In: the flat program, and which Func each buffer belongs to. Out: C text, which ``emit_c`` puts between its statements,
and three functions that ``runtime.execute.profiler`` calls. A pipeline that is not profiled has none of this.

    halide_core_profile_at(&profile_clock, 2);      the time from here on belongs to Func 2
    for (int64_t across_s0_y = …) …

Each C function has a clock of its own, on its stack, and adds it to the totals when it ends; so threads don't disturb
one another, and a mark costs some ten nanoseconds at most. Time that is nobody's (checks, starting tasks, waiting for
other threads) belongs to number 0.
"""

from __future__ import annotations

from collections.abc import Mapping

from halide_core import ir
from halide_core.runtime.codegen.c import resource
from halide_core.runtime.codegen.names import string

CLOCK = "profile_clock"
_PREFIX = "halide_core_profile_"
_OWN = """
all allocated at clock count current freed funcs leave name names ns peak pipeline read register run self stack start
stop take ticks totals word
"""
NAMES = (CLOCK, *(_PREFIX + name for name in _OWN.split()))
"""Identifiers that no Func or variable may get."""

OVERHEAD = 0
"""The number of what belongs to no Func."""

_HEAD = """\
#include <string.h>
#include <time.h>

enum { halide_core_profile_all = @COUNT@ };
static const char *const halide_core_profile_names[] = {@NAMES@};
static const int64_t halide_core_profile_stack[] = {@STACK@};

"""


class Instrumentation:
    """The Funcs of a unit as the profile knows them: their numbers, and the bytes that their arrays take on the stack.
    Where it is ``registered`` under a name, the runtime is told of it, and nobody calls the library."""

    def __init__(self, owners: Mapping[str, str], registered: str = "") -> None:
        self._owners, self._registered = owners, registered
        self._numbers = {f: i for i, f in enumerate(dict.fromkeys(owners.values()), OVERHEAD + 1)}
        self._stack = [0] * (len(self._numbers) + 1)

    def of_buffer(self, buffer: str) -> int:
        """The Func that a buffer belongs to."""
        return self._numbers.get(self._owners.get(buffer, ""), OVERHEAD)

    def owner(self, stmt: ir.Stmt) -> int | None:
        """The Func that a statement computes; None where it depends on what is inside it."""
        match stmt:
            case ir.For(loop=loop):
                return self._numbers.get(loop.func, OVERHEAD)
            case ir.Store(buffer=buffer) | ir.AllocateFlat(buffer=buffer):
                return self.of_buffer(buffer)
            case ir.Stores(stores=stores):
                return self.of_buffer(stores[0].buffer)
            case ir.PrefetchLine(buffer=buffer):
                return self.of_buffer(buffer)
            case ir.WriteFile(func=func):
                return self.of_buffer(func.name)
        return None

    def on_stack(self, buffer: str, count: int) -> None:
        """An array of so many bytes is on a stack."""
        self._stack[self.of_buffer(buffer)] += count

    def text(self) -> str:
        """The C text that stands before the functions."""
        names = ", ".join(map(string, ("", *self._numbers)))
        stack = ", ".join(map(str, self._stack))
        count = str(len(self._numbers) + 1)
        head = _HEAD.replace("@COUNT@", count).replace("@NAMES@", names).replace("@STACK@", stack)
        if not self._registered:
            return head + resource("profile.h") + resource("profile_calls.h")
        named = f"static const char halide_core_profile_pipeline[] = {string(self._registered)};\n\n"
        return head + resource("profile.h") + named + resource("profile_registration.h")


class Marks:
    """The clock of one C function: which Func it is in at the point that the emitter has reached."""

    def __init__(self, unit: Instrumentation, at: int) -> None:
        self.unit, self.at = unit, at

    def start(self) -> list[str]:
        """At the head of the function."""
        return [
            f"struct halide_core_profile_clock {CLOCK} __attribute__((cleanup(halide_core_profile_leave)));",
            f"halide_core_profile_start(&{CLOCK}, {self.at});",
        ]

    def stop(self, *, whole: bool) -> list[str]:
        """Before it returns; ``whole`` where it is the pipeline's own function."""
        return [f"halide_core_profile_stop(&{CLOCK}, {int(whole)});"]

    def move(self, to: int | None) -> list[str]:
        """From here on the time belongs to a Func."""
        if to is None or to == self.at:
            return []
        self.at = to
        return [f"halide_core_profile_at(&{CLOCK}, {to});"]
