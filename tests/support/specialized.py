"""Random programs whose schedules specialize stages, align bounds and rename loops; each a function of one seed.

In: a seed. Out: a SpecializedCase: the program, the window, the values of the Params, and whether a run must end at a
``specialize_fail``. The algorithm is drawn as in ``generate``, with values that depend on the Params.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import halide_core as hl
from tests.support.generate import TAILS, Case, _Draw

Condition = tuple[hl.Expr, str, bool]
"""A condition, its text, and whether it holds in this case."""


@dataclass
class SpecializedCase(Case):
    """``fails``: a stage that is computed ends the run. ``used``: how often each directive was given."""

    fails: bool = False
    used: dict[str, int] = field(default_factory=dict)


class _Loops:
    """The loops of one nest while directives are drawn for it."""

    def __init__(self, names: list[str], pure: list[str]) -> None:
        self.names, self.pure = names, pure

    def copy(self) -> _Loops:
        return _Loops(list(self.names), list(self.pure))


class _DrawSpecialized(_Draw):
    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self.flag = hl.Param(hl.Bool(), "flag", bool(self.rng.randint(0, 1)))
        self.used: dict[str, int] = {}
        self.fails = False
        self.fresh = 0

    def count(self, directive: str, text: str) -> None:
        self.used[directive] = self.used.get(directive, 0) + 1
        self.log.append(text)

    # -- conditions

    def condition(self) -> Condition:
        r, p, k = self.rng, self.param, self.rng.randint(0, 3)
        value, flag = int(p.get() or 0), bool(self.flag.get())
        plain: list[Condition] = [
            (p >= k, f"p >= {k}", value >= k),
            (p < k, f"p < {k}", value < k),
            (p == k, f"p == {k}", value == k),
            (p != k, f"p != {k}", value != k),
            (hl.Expr(self.flag), "flag", flag),
            (~hl.Expr(self.flag), "~flag", not flag),
            (p % 2 == 0, "p % 2 == 0", value % 2 == 0),
        ]
        one, other = r.choice(plain), r.choice(plain)
        match r.randint(0, 5):
            case 0:
                return one[0] & other[0], f"({one[1]}) & ({other[1]})", one[2] and other[2]
            case 1:
                return one[0] | other[0], f"({one[1]}) | ({other[1]})", one[2] or other[2]
        return one

    def operand(self, sources):  # type: ignore[no-untyped-def]
        e = super().operand(sources)
        if self.rng.random() < 0.25:
            other = super().operand(sources)
            return hl.select(self.condition()[0], e, hl.cast(e.type() if isinstance(e, hl.Expr) else _type(e), other))
        return e

    # -- schedules

    def directives(self, told: str, handle: hl.Stage | hl.Func, loops: _Loops, most: int) -> None:
        """Draws directives about loops, and keeps account of the loops that they leave."""
        r = self.rng
        for _ in range(r.randint(0, most)):
            if not loops.pure:
                return
            old = r.choice(loops.pure)
            self.fresh += 1
            match r.randint(0, 6):
                case 0 | 1 | 2:
                    outer, inner, k = f"{old[0]}o{self.fresh}", f"{old[0]}i{self.fresh}", r.randint(1, 8)
                    tail = r.choice(TAILS if ".update(" not in told else [TAILS[0], TAILS[1], TAILS[3]])
                    if tail is hl.TailStrategy.RoundUp and "i" in old:
                        tail = hl.TailStrategy.GuardWithIf
                    try:
                        handle.split(hl.Var(old), hl.Var(outer), hl.Var(inner), k, tail)
                    except hl.ScheduleError:  # it shifts a loop that is too short
                        continue
                    self.count("split", f"{told}.split({old}, {outer}, {inner}, {k}, {tail.name})")
                    at = loops.names.index(old)
                    loops.names[at : at + 1] = [outer, inner]
                    loops.pure.remove(old)
                    loops.pure += [outer, inner]
                    if r.random() < 0.4:
                        kind = r.choice(["vectorize", "unroll"])
                        getattr(handle, kind)(hl.Var(inner))
                        self.count(kind, f"{told}.{kind}({inner})")
                        loops.pure.remove(inner)
                case 3:
                    handle.parallel(hl.Var(old))
                    self.count("parallel", f"{told}.parallel({old})")
                    loops.pure.remove(old)
                case 4:
                    new = f"{old[0]}n{self.fresh}"
                    handle.rename(hl.Var(old), hl.Var(new))
                    self.count("rename", f"{told}.rename({old}, {new})")
                    loops.names[loops.names.index(old)] = new
                    loops.pure[loops.pure.index(old)] = new
                case 5 if len(loops.pure) > 1:
                    other = r.choice([n for n in loops.pure if n != old])
                    handle.reorder(hl.Var(old), hl.Var(other))
                    self.count("reorder", f"{told}.reorder({old}, {other})")
                    a, b = loops.names.index(old), loops.names.index(other)
                    if a < b:
                        loops.names[a], loops.names[b] = loops.names[b], loops.names[a]

    def cases(self, told: str, handle: hl.Stage | hl.Func, loops: _Loops, depth: int, taken: bool) -> list[list[str]]:
        """Draws a stage's directives and specializations. The names of the loops of each case that may run."""
        r = self.rng
        self.directives(told, handle, loops, 2)
        found: list[list[str]] = []
        given: list[str] = []
        for _ in range(r.choice([0, 0, 1, 2] if depth == 0 else [0, 0, 0, 1]) if depth < 3 else 0):
            condition, text, holds = self.condition()
            if text in given:  # the same condition again is the same case, whose loops may differ by now
                continue
            given.append(text)
            branch = handle.specialize(condition)
            self.count("specialize", f"{told}.specialize({text})")
            before = len(found)
            found += self.cases(f"{told}.specialize({text})", branch, loops.copy(), depth + 1, taken and holds)
            taken = taken and not holds
            assert len(found) > before
            self.directives(told, handle, loops, 1)
        if found and r.random() < 0.15:
            handle.specialize_fail("no case fits")
            self.count("specialize_fail", f"{told}.specialize_fail('no case fits')")
            self.fails = self.fails or taken
        else:
            found.append(loops.names)
        return found

    def bounds(self, f: hl.Func) -> None:
        r, v, k = self.rng, self.rng.choice([self.x, self.y]), self.rng.randint(1, 9)
        if r.random() < 0.5:
            rest = r.randint(-3, 9)
            f.align_bounds(v, k, rest)
            self.count("align_bounds", f"{f.name()}.align_bounds({v.name()}, {k}, {rest})")
        else:
            f.align_extent(v, k)
            self.count("align_extent", f"{f.name()}.align_extent({v.name()}, {k})")

    def schedule(self, output: hl.Func) -> None:
        r = self.rng
        levels: dict[str, list[str]] = {}
        for f in reversed(self.funcs):
            placed = f is output
            consumers = [g for g in self.funcs if levels.get(g.name())]
            if f is not output and r.random() < 0.75:
                placed = True
                if consumers and r.random() < 0.7:
                    g = r.choice(consumers)
                    v = r.choice(levels[g.name()])
                    f.compute_at(g, hl.Var(v))
                    self.count("compute_at", f"{f.name()}.compute_at({g.name()}, {v})")
                else:
                    f.compute_root()
                    self.count("compute_root", f"{f.name()}.compute_root()")
            if not placed and not f.has_update_definition():
                continue
            if r.random() < 0.35:
                self.bounds(f)
            if r.random() < 0.1:
                f.set_estimate(self.x, 0, 100)
            common: list[str] = []
            for stage in range(f.num_update_definitions() + 1):
                definition = f.function.definitions[stage]
                pure = [n for n, p in zip(f.function.args, f.function.pure_dims(stage), strict=True) if p]
                rvars = list(definition.domain.names) if definition.domain is not None else []
                loops = _Loops([*reversed(pure), *reversed(rvars)], list(pure))
                told = f.name() if stage == 0 else f"{f.name()}.update({stage - 1})"
                cases = self.cases(told, f if stage == 0 else f.update(stage - 1), loops, 0, True)
                common += [n for n in cases[0] if all(n in c for c in cases)]
            levels[f.name()] = common


def _type(e: object) -> hl.Type:
    return hl.Expr(e).type()  # type: ignore[arg-type]  # a FuncRef


def draw_specialized(seed: int) -> SpecializedCase:
    """The case of a seed."""
    d = _DrawSpecialized(seed)
    sources = [d.source() for _ in range(d.rng.randint(1, 2))]
    output: hl.Func | None = None
    for _ in range(d.rng.randint(1, 4)):
        output = d.stage(sources)
        sources.append(output)
    assert output is not None
    d.schedule(output)
    d.settle(output)
    r = d.rng
    window = [(r.choice([0, 0, -3, 5]), r.choice([1, 2, 5, 7, 8, 13, 16])) for _ in range(2)]
    return SpecializedCase(output, window, d.log, d.refused, d.fails, d.used)
