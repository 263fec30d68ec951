"""A certificate tells what its claims took: the steps of its provers, all of them."""

from __future__ import annotations

from unittest.mock import patch

from bounds.claims import Claim, Kind, Result
from bounds.claims_memory import Memory
from bounds.solver import Prover
from lowering import certify
from lowering.driver import certify as certified
from tests.mutate.programs import PROGRAMS


def test_steps_of_all_kinds_are_those_of_the_provers() -> None:
    provers: list[Prover] = []
    taken: list[int] = []
    made, possible = certify._prover, Prover.possible

    def kept(memory: Memory) -> Prover:
        provers.append(made(memory))
        return provers[-1]

    def counted(prover: Prover, claim: Claim) -> Result:
        taken.append(sum(p.steps for p in provers))
        return possible(prover, claim)

    with patch.object(certify, "_prover", kept), patch.object(Prover, "possible", counted):
        spent = certified(PROGRAMS["split_of_split"]()[0]._request()).spent
    assert [sum(s.steps for s in spent.values())] == taken
    assert all(s.steps >= 0 and 0 <= s.seconds < 600 for s in spent.values())
    assert spent[Kind.QUERY].steps > 0
