"""Defects that the compiler once had, each to be put back into it, so that a campaign can be seen to find them.

In: nothing. Out: DEFECTS: for each one the commit that mended it, a function, and an edit of its text that undoes the
mend.

    with DEFECTS["hoisted predicates"].reintroduced(): …
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from halide_core.analysis import index
from halide_core.bounds.infer import folding, sliding
from halide_core.bounds.query import query
from halide_core.lowering import proven_steps
from halide_core.lowering.passes import hoist
from halide_core.lowering.passes.memory import hoist_storage
from halide_core.runtime.codegen import expr, gcc_sums
from halide_core.runtime.codegen.vector import gcc_masked_loads, gcc_signed_zero, gcc_truths
from halide_core.scheduling import tails
from tests.support.spoiling import spoilt


@dataclass(frozen=True)
class Defect:
    """A defect: ``old`` becomes ``new`` in ``function`` of ``owner``, a module or a class."""

    mended: str
    owner: Any
    function: str
    old: str
    new: str
    unproven: bool = False
    """The compile proves its slides and folds since, and would not take this one: it is found where that is left
    out."""
    by_gcc: bool = False
    """The C compiler makes it, of what the emitter no longer hides from it: compiled cases alone can find it, and it is
    looked for in those whose loops are left to gcc."""

    @contextmanager
    def reintroduced(self) -> Iterator[None]:
        """The compiler as it was before the mend."""
        proofs = spoilt(*_PROOFS) if self.unproven else nullcontext()
        with spoilt(self.owner, self.function, self.old, self.new), proofs:
            yield


_PROOFS = (proven_steps, "unproven_steps", "if not answers.folds and", "if True or not answers.folds and")


DEFECTS: dict[str, Defect] = {
    "slide over an update elsewhere": Defect(
        "bd95f5d", sliding._Sliding, "_refusal",
        'self._elsewhere(d, at, step) if at < self._last else ""', '""', unproven=True,
    ),
    "hoisted predicates": Defect("aa0d793", hoist, "_reads_memory", "has(e, Access)", "False"),
    "memory of rounded self-reads": Defect(
        "29fbe2c", query._Extraction, "_group",
        "self._needs_memory.setdefault(callee, []).append(clause)",
        "self._needs_memory.setdefault(callee, []).extend([] if own else [clause])",
    ),
    "hoisted memory lost with a loop of one iteration": Defect(
        "187eec7", hoist_storage, "_places",
        "if loop.loop in around), None)", "if (loop.loop,) == around[-1:]), whole if around else None)",
    ),
    "hoisted memory twice in blocks of a peeled iteration": Defect(
        "bbccc4b", hoist_storage, "_allocations", "s.buffer == buffer", "False"
    ),
    "fold where an update writes anywhere": Defect(
        "9deb9af", folding.Folding, "refusal", "not f.pure_dims(key.stage)[d]", "False", unproven=True
    ),
    "rounding up loops that can't grow": Defect("3adac86", tails, "_reason", "(old.fused or not grows)", "False"),
    "shifted updates": Defect("0362971", tails, "_reason", "key.stage > 0", "False"),
    "rounding up what steers itself": Defect(
        "b930470", tails, "_reason", "_steers_itself(key.func, key.stage)", "False"
    ),
    "arithmetic of values as if it were of indices": Defect(
        "29fbe2c", index.TargetExprs, "rewrite_Binary", "e.type is INT64 and e.op in _RING", "False"
    ),
    "loads under the first vector's mask": Defect(
        "e6a952ec", gcc_masked_loads, "stays_one_by_one", "grouped and choices > 0", "False", by_gcc=True
    ),
    "conditions that are places": Defect(
        "e76bf6c7", expr.ExprEmitter, "_hidden", "self._lookups is None", "True", by_gcc=True
    ),
    "choices that become places": Defect(
        "c4d0e757", gcc_truths, "is_number", "e.type.is_scalar()", "False", by_gcc=True
    ),
    "quotients that are conditions": Defect(
        "4d7041ed", gcc_truths, "is_quotient", "e.op in (BinaryOp.DIV, BinaryOp.MOD)", "False", by_gcc=True
    ),
    "conditions that memory holds": Defect(
        "c4d0e757", expr.ExprEmitter, "_decided", "e.type.is_scalar()", "False", by_gcc=True
    ),
    "integers taken from what is zero": Defect(
        "6d7b3dc9", gcc_signed_zero, "is_negation", "not known and", "False and", by_gcc=True
    ),
    "floats added in another order than they lie in": Defect(
        "1be82ab6", gcc_sums, "confuses_sums", "max(steps.values(), default=0) > 1", "False", by_gcc=True
    ),
    "sums of numbers with a sign": Defect(
        "1be82ab6", gcc_sums, "confuses_sums", "signed.total() > 1", "False", by_gcc=True
    ),
}  # fmt: skip
