"""The journal of a campaign on disk, by which it goes on where it stopped.

In: a folder, or none. Out: a Journal: how many cases there were of each outcome, the table, the blocks that were
reached, and the corpus: the cases that reached new ones. A line is appended for each case, and a case that failed is
written at once, so that a campaign that is killed loses none but the last.
"""

from __future__ import annotations

import json
import pickle
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path

from tests.campaigns.fuzz.case import Case
from tests.campaigns.fuzz.grammar.axes import Cell, Place, Shape, Way
from tests.campaigns.fuzz.grammar.serving import Drawn
from tests.campaigns.fuzz.grammar.table import Table
from tests.campaigns.fuzz.verdict import Outcome

_CORPUS = 400
"""So many cases are kept to grow others from; the oldest go first."""


class Journal:
    """The state of a campaign."""

    def __init__(self, folder: Path | None = None, table: Table | None = None) -> None:
        self.table = Table() if table is None else table
        """The campaign's own, or one of several."""
        self.outcomes: Counter[Outcome] = Counter()
        self.kinds: Counter[tuple[Outcome, str]] = Counter()
        self.judged: Counter[str] = Counter()
        """The number of cases of each judge that were neither refused nor asserted."""
        self.asked: Counter[str] = Counter()
        self.failures: dict[str, list[int]] = {}
        self.blocks: set[str] = set()
        self.corpus: list[Case] = []
        self.next = 0
        self.seconds: defaultdict[str, float] = defaultdict(float)
        """The processor time of the cases; by the judges that were asked, as is how many there were."""
        self.runs = 0
        """In how many windows all of them ran."""
        self._file = None if folder is None else folder / "journal.jsonl"
        self._kept = None if folder is None else folder / "corpus"
        self._failed = None if folder is None else folder / "failed"
        if self._kept is not None:
            self._kept.mkdir(parents=True, exist_ok=True)
            self._resume()

    @property
    def cases(self) -> int:
        """The number of judged cases."""
        return sum(self.outcomes.values())

    def add(self, number: int, target: Cell | None, drawn: Drawn, judges: list[str]) -> bool:
        """One more case; whether it reached a block that none had reached."""
        fresh = drawn.blocks - self.blocks
        line = {
            "number": number,
            "outcome": drawn.outcome.name,
            "kind": drawn.kind,
            "target": None if target is None else _named(target),
            "cells": sorted(map(_named, drawn.cells)),
            "blocks": sorted(fresh),
            "judges": judges,
            "seconds": round(drawn.seconds, 3),
            "runs": drawn.runs,
        }
        self._count(line)
        if fresh and drawn.case is not None and drawn.outcome is Outcome.RAN:
            self.corpus = [*self.corpus[-_CORPUS + 1 :], drawn.case]
            if self._kept is not None:
                (self._kept / f"{number}.pickle").write_bytes(pickle.dumps(drawn.case))
        if drawn.case is not None and drawn.outcome is Outcome.MISMATCH and self._failed is not None:
            self._failed.mkdir(exist_ok=True)
            (self._failed / f"{number}.pickle").write_bytes(pickle.dumps(drawn.case))
            told = "".join(f"# {text}\n" for text in f"{drawn.kind}\n{drawn.detail}".splitlines())
            (self._failed / f"{number}.py").write_text(f"{told}\n{drawn.case.source()}", encoding="utf-8")
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
        return bool(fresh)

    def _count(self, line: dict[str, object]) -> None:
        outcome, number = Outcome[str(line["outcome"])], int(str(line["number"]))
        kind = str(line["kind"])
        self.outcomes[outcome] += 1
        if outcome is not Outcome.RAN:
            self.kinds[outcome, kind] += 1
        if outcome is Outcome.MISMATCH:
            self.failures.setdefault(kind, []).append(number)
        cells, target, blocks, judges = (line[key] for key in ("cells", "target", "blocks", "judges"))
        assert isinstance(cells, list)
        assert isinstance(blocks, list)
        assert isinstance(judges, list)
        self.table.add(_cell(target) if isinstance(target, list) else None, map(_cell, cells))
        self.blocks.update(blocks)
        if outcome in (Outcome.RAN, Outcome.MISMATCH):
            self.judged.update(judges)
        self.asked[" + ".join(judges)] += 1
        self.seconds[" + ".join(judges)] += float(str(line["seconds"]))
        self.runs += int(str(line["runs"]))
        self.next = max(self.next, number + 1)

    def _resume(self) -> None:
        assert self._file is not None
        assert self._kept is not None
        if self._file.exists():
            for text in self._file.read_text(encoding="utf-8").splitlines():
                self._count(json.loads(text))
        paths = sorted(self._kept.glob("*.pickle"), key=lambda p: int(p.stem))[-_CORPUS:]
        self.corpus = [pickle.loads(path.read_bytes()) for path in paths]


def merged(journals: Sequence[Journal], table: Table) -> Journal:
    """The findings of several campaigns with one table."""
    whole = Journal(table=table)
    for each in journals:
        whole.outcomes += each.outcomes
        whole.kinds += each.kinds
        whole.judged += each.judged
        whole.asked += each.asked
        for judges, seconds in each.seconds.items():
            whole.seconds[judges] += seconds
        for kind, numbers in each.failures.items():
            whole.failures.setdefault(kind, []).extend(numbers)
        whole.blocks |= each.blocks
        whole.corpus += each.corpus
        whole.runs += each.runs
    return whole


def _named(cell: Cell) -> list[str]:
    return [part.name for part in cell]


def _cell(names: list[str]) -> Cell:
    shape, place, way = names
    return Shape[shape], Place[place], Way[way]
