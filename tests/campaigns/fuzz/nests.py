"""The model of a program for schedule generators: its stages, their loops, and who reads whom.

In: a Case without directives. Out: for each stage of each Func a Nest, whose loops the directives drawn so far have
made; and the readers of each Func. It is a model of the legality rules, not the rules: where it is wrong, cases are
refused, which the report counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from halide_core.ir import LoopKind
from tests.campaigns.fuzz.case import Border, Case, Definition, Domain, Update
from tests.campaigns.fuzz.terms import Form, Term, name

Stage = tuple[str, int]
_LETTERS = "xyzw"


@dataclass(frozen=True, slots=True)
class LoopModel:
    """One loop. ``extent``: its constant length, if it has one; ``grows``: rounding up and shifting can make it
    longer."""

    name: str
    pure: bool
    extent: int | None = None
    grows: bool = False
    kind: LoopKind = LoopKind.SERIAL


Path = tuple[tuple[Stage, LoopModel], ...]
"""The loops around something, outermost first, each with the stage it belongs to."""


@dataclass(slots=True)
class Nest:
    """The loops of a stage, outermost first."""

    stage: Stage
    loops: list[LoopModel]
    steered: bool
    """True where an index or a condition of the stage reads the stage's own Func."""
    taken: set[str] = field(default_factory=set)
    """Every name that was a loop's, so that new ones are new."""
    cases: list[Nest] = field(default_factory=list)
    """Its specializations."""
    ended: bool = False
    """True where all runs that take no specialization fail."""

    def all_cases(self) -> list[Nest]:
        """The nest and its specializations, and theirs."""
        return [self, *(each for case in self.cases for each in case.all_cases())]

    def shared_loops(self) -> list[LoopModel]:
        """The outer loops that all cases have alike: a level in them is one for every case."""
        running = [each.loops for each in self.all_cases() if not each.ended]
        shared: list[LoopModel] = []
        for heads in zip(*running, strict=False):
            if any(head != heads[0] for head in heads):
                break
            shared.append(heads[0])
        return shared

    def index(self, loop: str) -> int:
        """The place of a loop."""
        return [each.name for each in self.loops].index(loop)

    def replace_loop(self, loop: str, *by: LoopModel) -> None:
        """Puts others in a loop's place."""
        at = self.index(loop)
        self.loops[at : at + 1] = by
        self.taken |= {each.name for each in by}

    def run_as(self, loop: str, kind: LoopKind) -> None:
        """Says how a loop is run."""
        at = self.index(loop)
        self.loops[at] = replace(self.loops[at], kind=kind)

    def reorder(self, names: Sequence[str]) -> None:
        """Nests loops as listed, innermost first, in the places that they have."""
        places = [self.index(n) for n in names]
        before = list(self.loops)
        for place, source in zip(sorted(places, reverse=True), places, strict=True):
            self.loops[place] = before[source]


@dataclass(slots=True)
class Model:
    """The Funcs of a program in order, with their nests and readers."""

    args: dict[str, tuple[str, ...]]
    nests: dict[str, list[Nest]]
    readers: dict[str, list[Stage]]


def model_of(case: Case) -> Model:
    """The model of a program that nothing has been said about."""
    domains = {item.name: item for item in case.items if isinstance(item, Domain)}
    model = Model({}, {}, {})
    for item in case.items:
        match item:
            case Border():
                model.args[item.name] = item.args
                model.nests[item.name] = [_nest((item.name, 0), item.args, [], steered=False)]
                _note_reads(model, (item.name, 0), item.terms(), domains, item.source)
            case Definition():
                model.args[item.name] = item.args
                model.nests[item.name] = [_nest((item.name, 0), item.args, [], steered=False)]
                _note_reads(model, (item.name, 0), item.terms(), domains)
            case Update():
                _add_update(model, item, domains)
    return model


def _add_update(model: Model, update: Update, domains: dict[str, Domain]) -> None:
    args = model.args[update.name]
    stage = (update.name, len(model.nests[update.name]))
    pure = [v for v, at in zip(args, update.point, strict=True) if at == name(v)]
    domain = domains.get(update.domain)
    loops = [] if domain is None else _reduction_loops(domain)
    predicates = () if domain is None else domain.predicates
    deciding = [*update.point, *predicates]
    for term in (*update.terms(), *predicates):
        for node in term:
            if node.form is Form.READ:
                deciding += node.parts
    steered = any(node.form is Form.READ and node.text == update.name for term in deciding for node in term)
    model.nests[update.name].append(_nest(stage, tuple(pure), loops, steered=steered))
    _note_reads(model, stage, (*update.terms(), *predicates), domains)


def _reduction_loops(domain: Domain) -> list[LoopModel]:
    loops = []
    for i, (_, extent) in enumerate(domain.bounds):
        constant = int(extent.text) if extent.form is Form.NUMBER else None
        loops.append(LoopModel(f"{domain.name}.{_LETTERS[i]}", pure=False, extent=constant))
    return loops


def _nest(stage: Stage, pure: tuple[str, ...], reductions: list[LoopModel], *, steered: bool) -> Nest:
    loops = [LoopModel(v, pure=True, grows=True) for v in reversed(pure)] + list(reversed(reductions))
    return Nest(stage, loops, steered, {loop.name for loop in loops})


def _note_reads(model: Model, stage: Stage, terms: Sequence[Term], domains: dict[str, Domain], *sources: str) -> None:
    nodes = [node for term in terms for node in term]
    for over in dict.fromkeys(node.over for node in nodes if node.over):
        nodes += [node for term in domains[over].predicates for node in term]
    read = [*sources, *(node.text for node in nodes if node.form is Form.READ)]
    for each in dict.fromkeys(read):
        if each in model.args and each != stage[0]:
            model.readers.setdefault(each, []).append(stage)
