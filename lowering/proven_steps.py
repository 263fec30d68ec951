"""Filling a program so that its slides and folds are proven, by what did not decide them.

In: a scheduled program, and an engine. Out: the query, its answers, and the filled tree.

    g slides, and what the certificate claims of that is proven without a solver   ->   it slides
    w slides, and w[0, y] += 1 is not proven to leave alone what is kept           ->   w is computed whole

The claims are those of the certificate, about the tree: bounds inference has no say in them but for the boxes, which
need no trust. Nothing is refused here. A Func of which a claim is not proven, because a case stays open or there are
too many, is filled anew, computed and kept whole in each iteration (``lowering.step_proofs``).
"""

from __future__ import annotations

from collections.abc import Mapping

from halide_core.algorithm.model import Function
from halide_core.bounds.engines.interface import Oracle
from halide_core.bounds.infer.substitute import fill
from halide_core.bounds.query.answers import Answers
from halide_core.bounds.query.query import Query, extract_query
from halide_core.errors import IgnoredDirectiveWarning, warn_user
from halide_core.ir import Stmt
from halide_core.loop_nest import Program


def fill_proven(program: Program, oracle: Oracle) -> tuple[Query, Answers, Stmt]:
    """See the module's docstring. Each round is about fewer Funcs, so that it ends."""
    unproven: dict[Function, str] = {}
    while True:
        query = extract_query(program, unproven)
        answers = oracle.answer(query)
        tree = fill(program, answers)
        found = unproven_steps(query, answers, tree)
        if not found:
            _warn_of_lost_folds(program, unproven)
            return query, answers, tree
        unproven |= found


def _warn_of_lost_folds(program: Program, unproven: Mapping[Function, str]) -> None:
    """Warns of folds that were asked for."""
    for func, d in program.folded:
        if func in unproven:
            told = f"{d.spelled()}: {unproven[func]}; all of its memory is kept, so this has no effect."
            warn_user(told, IgnoredDirectiveWarning, d.location)


def unproven_steps(query: Query, answers: Answers, tree: Stmt) -> dict[Function, str]:
    """The Funcs whose slides or folds rest on something that is not proven, with the first such thing."""
    if not answers.folds and all(slide.loop is None for slide in answers.slides):
        return {}
    from halide_core.lowering.step_proofs import first_unproven  # noqa: PLC0415  # see LAZY of the layers' test

    return first_unproven(query, answers, tree)
