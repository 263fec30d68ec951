"""Random programs, schedules and windows, each a function of one seed.

In: a seed. Out: a Case: outputs with a schedule applied, the window, and what was drawn, as text for a report.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np

import halide_core as hl
from halide_core.algorithm.model import realization_order
from halide_core.schedule.directives import ComputeAt

TYPES = [hl.UInt(8), hl.UInt(16), hl.Int(16), hl.Int(32), hl.Float(32)]
TAILS = [hl.TailStrategy.Auto, hl.TailStrategy.GuardWithIf, hl.TailStrategy.ShiftInwards, hl.TailStrategy.RoundUp]


@dataclass
class Case:
    """One drawn program. ``log`` names every directive tried, refused ones with the reason."""

    output: hl.Func
    window: list[tuple[int, int]]
    log: list[str] = field(default_factory=list)
    refused: int = 0


class _Draw:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.x, self.y = hl.Var("x"), hl.Var("y")
        self.funcs: list[hl.Func] = []
        self.log: list[str] = []
        self.refused = 0
        self.images = 0
        self.param = hl.Param(hl.Int(32), "p", self.rng.randint(0, 3))

    # -- the algorithm

    def source(self) -> hl.Func | hl.ImageParam:
        r = self.rng
        if r.random() < 0.4:
            f = hl.Func(f"src{len(self.funcs)}")
            type = r.choice(TYPES)
            f[self.x, self.y] = hl.cast(type, (self.x * r.randint(1, 9) + self.y * r.randint(1, 9)) % 251)
            self.funcs.append(f)
            return f
        image = hl.ImageParam(r.choice(TYPES), 2, f"in{self.images}")
        self.images += 1
        numbers = np.random.default_rng(r.randint(0, 10**6)).integers(0, 200, (24, 31))
        image.set(hl.Buffer(np.ascontiguousarray(numbers.astype(image.type().dtype))))
        return hl.BoundaryConditions.repeat_edge(image)

    def at(self, f, dx=0, dy=0):
        return f[self.x + dx, self.y + dy]

    def coordinate(self, v):
        r = self.rng
        match r.randint(0, 7):
            case 0:
                return v * 2 + r.randint(0, 1)
            case 1:
                return v // 2
            case 2:
                return hl.clamp(v + r.randint(-2, 2), r.randint(-4, 0), r.randint(1, 9))
            case 3:
                return hl.min(v, r.randint(0, 9)) - 1
            case 4:
                return v % r.randint(1, 7)
            case 5:
                return -v
        return v + r.randint(-3, 3)

    def operand(self, sources):
        r = self.rng
        f = r.choice(sources)
        match r.randint(0, 5):
            case 0:
                return f[self.coordinate(self.x), self.coordinate(self.y)]
            case 1:
                g = r.choice(sources)
                index = hl.i32(hl.u8(self.at(g, r.randint(-1, 1)))) % 16
                return f[index, self.y] if r.random() < 0.5 else f[self.x, hl.clamp(hl.i32(self.at(g)), 0, 5)]
            case _:
                return self.at(f, r.randint(-2, 2), r.randint(-2, 2))

    def value(self, sources, type):
        r = self.rng
        e = hl.cast(type, self.operand(sources))
        for _ in range(r.randint(0, 3)):
            o = hl.cast(type, self.operand(sources))
            match r.randint(0, 7):
                case 0:
                    e = hl.min(e, o)
                case 1:
                    e = hl.max(e, o)
                case 2:
                    e = e - o
                case 3:
                    e = e * hl.cast(type, r.randint(1, 3))
                case 4:
                    e = hl.select(self.x + self.y * 2 < r.randint(-5, 20), e, o)
                case 5 if not type.is_float():
                    e = e // hl.cast(type, r.randint(1, 5))
                case 6 if not type.is_float():
                    e = e % hl.cast(type, r.randint(1, 9))
                case _:
                    e = e + o
        return e

    def stage(self, sources):
        r = self.rng
        f = hl.Func(f"f{len(self.funcs)}")
        type = r.choice(TYPES)
        f[self.x, self.y] = self.value(sources, type)
        if r.random() < 0.4:
            self.update(f, sources, type)
            if r.random() < 0.3:
                self.update(f, sources, type)
        self.funcs.append(f)
        return f

    def update(self, f, sources, type):
        r = self.rng
        n = r.choice([1, 2, 3, self.param, self.param + 1])
        rd = hl.RDom([(r.randint(-2, 2), n)], f"r{f.num_update_definitions()}")
        g = r.choice(sources)
        match r.randint(0, 5):
            case 0:
                f[self.x, self.y] += hl.cast(type, g[self.x + rd.x, self.y])
            case 1:
                f[self.x, rd.x] = f[self.x, rd.x - 1] + hl.cast(type, g[self.x, rd.x])
            case 2:
                bin = hl.i32(hl.u8(g[rd.x, self.y])) % 8
                f[bin, self.y] += hl.cast(type, 1)
            case 3:
                rd.where(rd.x + 1 > 0)
                f[self.x, self.y] = hl.max(f[self.x, self.y], hl.cast(type, g[self.x, self.y + rd.x]))
            case 4:
                f[self.x, self.y] = f[self.x, self.y] + hl.cast(type, self.operand(sources))
            case 5:
                f[rd.x, self.y] = hl.cast(type, g[rd.x, self.y]) + f[rd.x, self.y]

    # -- the schedule

    def attempt(self, told: str, act) -> bool:
        try:
            act()
        except hl.HalideError as error:
            self.log.append(f"{told}  # refused: {error.message}")
            self.refused += 1
            return False
        self.log.append(told)
        return True

    def loops(self, f: hl.Func, stage: int, handle) -> list[str]:
        """Draws loop directives for one stage; gives back the loop names, outermost first."""
        r = self.rng
        definition = f._function.definitions[stage]
        pure = [n for n, p in zip(f._function.args, f._function.pure_dims(stage), strict=True) if p]
        rvars = list(definition.domain.names) if definition.domain is not None else []
        names = list(reversed(pure)) + list(reversed(rvars))
        told = f.name() if stage == 0 else f"{f.name()}.update({stage - 1})"
        for i in range(r.randint(0, 3)):
            candidates = [n for n in names if n in pure]
            if not candidates:
                break
            old = r.choice(candidates)
            match r.randint(0, 5):
                case 0 | 1 | 2:
                    outer, inner, k = f"{old}o{i}", f"{old}i{i}", r.randint(1, 8)
                    tail = r.choice(TAILS if stage == 0 else [TAILS[0], TAILS[1], TAILS[3]])
                    try:
                        handle.split(hl.Var(old), hl.Var(outer), hl.Var(inner), k, tail)
                    except hl.ScheduleError:  # it rounds up what must not grow
                        continue
                    self.log.append(f"{told}.split({old}, {outer}, {inner}, {k}, {tail.name})")
                    at = names.index(old)
                    names[at : at + 1] = [outer, inner]
                    pure.remove(old)
                    pure += [outer, inner]
                    if r.random() < 0.5:
                        kind = r.choice(["vectorize", "unroll"])
                        getattr(handle, kind)(hl.Var(inner))
                        self.log.append(f"{told}.{kind}({inner})")
                        pure.remove(inner)
                case 3:
                    handle.parallel(hl.Var(old))
                    self.log.append(f"{told}.parallel({old})")
                    pure.remove(old)
                case 4 if len(candidates) > 1:
                    other = r.choice([n for n in candidates if n != old])
                    handle.reorder(hl.Var(old), hl.Var(other))
                    self.log.append(f"{told}.reorder({old}, {other})")
                    a, b = names.index(old), names.index(other)
                    if a < b:
                        names[a], names[b] = names[b], names[a]
                case 5 if len(candidates) > 1:
                    other = r.choice([n for n in candidates if n != old])
                    fused = f"t{i}"
                    handle.fuse(hl.Var(old), hl.Var(other), hl.Var(fused))
                    self.log.append(f"{told}.fuse({old}, {other}, {fused})")
                    names[names.index(old)] = fused
                    names.remove(other)
                    pure.remove(old)
                    pure.remove(other)
                    pure.append(fused)
        return names

    def schedule(self, output: hl.Func) -> None:
        r = self.rng
        all_loops: dict[str, list[str]] = {}
        for f in reversed(self.funcs):
            placed = f is output
            if f is not output:
                match r.randint(0, 3):
                    case 0:
                        f.compute_root()
                        self.log.append(f"{f.name()}.compute_root()")
                        placed = True
                    case 1 | 2:
                        later = [g for g in self.funcs if all_loops.get(g.name())]
                        if later:
                            g = r.choice(later)
                            v = r.choice(all_loops[g.name()])
                            f.compute_at(g, hl.Var(v))
                            self.log.append(f"{f.name()}.compute_at({g.name()}, {v})")
                            placed = True
                            if r.random() < 0.2:
                                f.store_root()
                                self.log.append(f"{f.name()}.store_root()")
            loops: list[str] = []
            if placed or f.has_update_definition():
                for stage in range(f.num_update_definitions() + 1):
                    if r.random() < 0.6:
                        loops += self.loops(f, stage, f if stage == 0 else f.update(stage - 1))
                    else:
                        loops += ["y", "x"]
            all_loops[f.name()] = loops if placed else []


    def settle(self, output: hl.Func) -> None:
        """Takes back the placement of Funcs whose drawn level is illegal, and counts the refusals.

        Nothing stays of what was said of Funcs that the output does not use.
        """
        used = realization_order([output._function])
        for f in self.funcs:
            if f._function not in used:
                f._function.directives.clear()
        for _ in range(3 * len(self.funcs)):
            error = _refusal(output)
            if error is None:
                return
            self.refused += 1
            self.log.append(f"# refused: {error.message.splitlines()[0]}")
            for f in self.funcs:
                kept = [d for d in f._function.directives if error.message.startswith(f"{d}:")]
                f._function.directives[:] = [d for d in f._function.directives if d not in kept]
                if any(isinstance(d, ComputeAt) for d in kept):
                    f.compute_root()


def _refusal(output: hl.Func) -> hl.ScheduleError | None:
    """Why the schedule is illegal, if it is."""
    try:
        output.loop_nest()
    except hl.ScheduleError as error:
        return error
    return None


def draw(seed: int) -> Case:
    """The case of a seed."""
    d = _Draw(seed)
    sources = [d.source() for _ in range(d.rng.randint(1, 2))]
    output = None
    for _ in range(d.rng.randint(1, 4)):
        output = d.stage(sources)
        sources.append(output)
    assert output is not None
    d.schedule(output)
    d.settle(output)
    r = d.rng
    window = [(r.choice([0, 0, -3, 5]), r.choice([1, 2, 5, 7, 8, 13, 16])) for _ in range(2)]
    return Case(output, window, d.log, d.refused)
