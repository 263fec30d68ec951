"""Schedules of the kind that people write: rows or tiles of the output, vectors, threads, unrolled channels; producers
inline, at the top, or inside of the output's loops, some of them sliding.

In: a drawn pipeline. Out: lines of Python, the same for both modules, and run in the names of the pipeline.

    out.tile(x, y, xi, yi, 64, 32).vectorize(xi, 8).parallel(y)
    across.compute_at(out, x).vectorize(x, 8)
"""

from __future__ import annotations

from random import Random

from benchmarks.unseen.drawing import Drawing, Stage

_WIDTHS = (4, 8, 8, 16, 16, 32)


def schedule(d: Drawing, threads: int, *, mode: str) -> list[str]:
    """The lines. ``mode``: "drawn"; "root" computes each Func at the top, and says no more; "none" says nothing."""
    if mode == "none":
        return []
    if mode == "root":
        return [f"{s.name}.compute_root()" for s in d.stages[:-1]]
    return _Scheduler(d, threads).lines()


class _Scheduler:
    def __init__(self, d: Drawing, threads: int) -> None:
        self._d = d
        self._rng: Random = d.rng
        self._threads = threads
        self._lines: list[str] = []
        self._levels: list[str] = []
        """The loops of the output that producers may be computed in, outermost first."""
        self._parallel = 0
        """Inside of how many of them memory must be, as threads run one."""

    def lines(self) -> list[str]:
        """The output's first, then its producers', those that read each other last first."""
        stages = self._d.stages
        self._output(stages[-1])
        where: dict[str, int | None] = {stages[-1].name: len(self._levels)}
        """Of each Func how many of the levels it is inside of; 0 at the top, None where it is inlined."""
        for stage in reversed(stages[:-1]):
            deepest = self._deepest(stage, where)
            where[stage.name] = self._place(stage, deepest)
        return self._lines

    def _deepest(self, stage: Stage, where: dict[str, int | None]) -> int:
        """Inside of how many levels all that read a Func are; those that are inlined pass on where they are read."""
        found = []
        for reader in self._d.stages:
            if stage.name in reader.reads:
                at = where[reader.name]
                found.append(self._deepest(reader, where) if at is None else at)
        return min(found, default=0)

    def _chance(self, p: float) -> bool:
        return self._rng.random() < p

    def _tail(self) -> str:
        return self._rng.choice(["", "", "", "", ", hl.TailStrategy.GuardWithIf", ", hl.TailStrategy.ShiftInwards"])

    def _fitting(self, dimension: str, *sizes: int) -> int:
        """A size of tiles that the output has room for."""
        names = [str(a.name()) for a in self._d.stages[-1].args]
        room = self._d.shape[names.index(dimension)]
        return self._rng.choice([n for n in sizes if n <= room] or [room])

    # -- the output

    def _output(self, stage: Stage) -> None:
        name, args = stage.name, [str(a.name()) for a in stage.args]
        said: list[str] = []
        inner, rest = args[0], args[1:]
        if stage.small is not None:
            inner, rest = self._with_channels(stage, args, said)
        outer = rest[-1] if rest else None
        kind = self._rng.choice(["rows", "strips", "tiles", "tiles", "plain"]) if rest else "plain"
        vector = self._rng.choice(_WIDTHS) if self._chance(0.85) else 0
        if kind == "tiles":
            y = rest[0]
            tx, ty = self._fitting(inner, 16, 32, 64, 100, 128, 256), self._fitting(y, 4, 8, 15, 16, 32, 64)
            said.append(f"tile({inner}, {y}, xi, yi, {tx}, {ty}{self._tail()})")
            self._levels = [*reversed(rest[1:]), y, inner, "yi"]
            if vector:
                said.append(f"vectorize(xi, {min(vector, tx)})")
            if self._chance(0.2):
                said.append("unroll(yi, 2)" if ty % 2 == 0 else "unroll(yi, 3)")
                self._levels.pop()
        elif kind == "strips":
            y = rest[0]
            said.append(f"split({y}, {y}, yi, {self._fitting(y, 4, 8, 16, 30, 32, 64)}{self._tail()})")
            self._levels = [*reversed(rest[1:]), y, "yi"]
            if vector:
                said.append(f"vectorize({inner}, {vector}{self._tail()})")
        else:
            self._levels = list(reversed(rest))
            if vector:
                said.append(f"vectorize({inner}, {vector}{self._tail()})")
            elif self._chance(0.3):
                said.append(f"unroll({inner}, {self._rng.choice([2, 4])})")
        if outer is not None and self._threads > 1 and kind != "plain":
            said.append(f"parallel({outer})")
            self._parallel = self._levels.index(outer) + 1
        if said:
            self._lines.append(f"{name}." + ".".join(said))
        self._updates(stage, at_top=True)
        if stage.updates:
            self._levels = []

    def _with_channels(self, stage: Stage, args: list[str], said: list[str]) -> tuple[str, list[str]]:
        """Channels are unrolled inside of the loop over x, or are a loop outside; or, where they are innermost and
        many, they are the vectors."""
        assert stage.small is not None
        c, extent = args[stage.small], self._d.shape[stage.small]
        others = [a for a in args if a != c]
        if stage.small == 0 and extent >= 8 and self._chance(0.7):
            return c, others
        if extent <= 4 and self._chance(0.6):
            said += [f"bound({c}, 0, {extent})", f"reorder({', '.join([c, *others])})", f"unroll({c})"]
            return others[0], others[1:]
        if stage.small == 0:
            said.append(f"reorder({', '.join([others[0], c, *others[1:]])})")
            return others[0], [*others[1:]]
        return others[0], others[1:]

    # -- producers

    def _place(self, stage: Stage, deepest: int) -> int | None:
        """Says where a Func is computed; gives how many levels it is inside of, or None for inline."""
        name, inner = stage.name, str(stage.args[0].name())
        if stage.pure and self._chance(0.25):
            return None
        depth = 0 if stage.whole or deepest == 0 or self._chance(0.3) else self._rng.randint(1, deepest)
        said = []
        if depth == 0:
            said.append("compute_root()")
        else:
            said.append(f"compute_at(out, {self._levels[depth - 1]})")
            out = self._d.stages[-1].name
            if out != "out":
                said[-1] = said[-1].replace("(out,", f"({out},")
            if depth > self._parallel and self._chance(0.25):
                above = self._rng.randint(self._parallel, depth - 1)
                kind = "store" if self._chance(0.8) else "hoist_storage"
                root = f"{kind}_root()"
                said.append(root if above == 0 else f"{kind}_at({out}, {self._levels[above - 1]})" if kind == "store"
                            else f"{kind}({out}, {self._levels[above - 1]})")  # fmt: skip
        if stage.small == 0:
            inner = str(stage.args[1].name()) if self._chance(0.3) else inner
        if self._chance(0.75):
            said.append(f"vectorize({inner}, {self._rng.choice(_WIDTHS)}{self._tail()})")
        elif self._chance(0.2):
            said.append(f"unroll({inner}, 2)")
        if depth == 0 and self._threads > 1 and len(stage.args) > 1 and self._chance(0.7):
            said.append(f"parallel({stage.args[-1].name()})")
        self._lines.append(f"{name}." + ".".join(said))
        self._updates(stage, at_top=depth == 0)
        return depth

    def _updates(self, stage: Stage, *, at_top: bool) -> None:
        for number, update in enumerate(stage.updates):
            said = []
            pure = [str(a.name()) for a in update.pure]
            reduced = [f"{stage.name}_{number}_{i}" for i in range(len(update.reduced))]
            if pure and reduced and self._chance(0.4):
                order = [*reduced, *pure] if self._chance(0.5) else [pure[0], *reduced, *pure[1:]]
                said.append(f"reorder({', '.join(order)})")
            if pure and self._chance(0.8):
                fits = [n for n in _WIDTHS if stage is not self._d.stages[-1] or n <= self._d.shape[0]]
                said.append(f"vectorize({pure[0]}, {self._rng.choice(fits or [4])})")
            if at_top and self._threads > 1 and len(pure) > 1 and self._chance(0.7):
                said.append(f"parallel({pure[-1]})")
            if said:
                self._lines.append(f"{stage.name}.update({number})." + ".".join(said))
