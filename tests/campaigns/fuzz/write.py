"""A failing case as a file that pytest runs.

In: a case made small, the verdict on it, the judges that found it. Out: the text of a test; or the file, in a folder.

    tests/campaigns/fuzz/corpus/test_seed_1_case_53.py
"""

from __future__ import annotations

from pathlib import Path

from tests.campaigns.fuzz.case import Case
from tests.campaigns.fuzz.judge import Judges
from tests.campaigns.fuzz.verdict import Verdict

CORPUS = Path(__file__).parent / "corpus"


def test_text(case: Case, verdict: Verdict, judges: Judges) -> str:
    """The file's text: the program as the user would write it, and the check."""
    asked = " | ".join(f"Judges.{each.name}" for each in Judges if each in judges) or "Judges(0)"
    found = [line.rstrip() for line in (verdict.detail.strip().splitlines() or [""])[:20]]
    told = "\n".join(f"# {line[:110]}".rstrip() for line in [f"{verdict.kind}:", *found])
    return f'''"""Found by the fuzzer as case {case.seed}, and made small."""

# ruff: noqa: E501, RET504

from __future__ import annotations

import numpy as np  # noqa: F401  # inputs are made with it

import halide_core as hl
from tests.campaigns.fuzz.case import Built
from tests.campaigns.fuzz.judge import Judges
from tests.campaigns.fuzz.past import check

{told}


{case.source().replace("def build(scheduled):", "def build(scheduled: bool) -> Built:")}

def test_judges_agree() -> None:
    check(build, {asked})
'''


def write_test(case: Case, verdict: Verdict, judges: Judges, folder: Path) -> Path:
    """Writes the test and gives its path."""
    folder.mkdir(parents=True, exist_ok=True)
    seed, _, at = case.seed.partition("/")
    path = folder / f"test_seed_{seed}_case_{at}.py"
    path.write_text(test_text(case, verdict, judges), encoding="utf-8")
    return path
