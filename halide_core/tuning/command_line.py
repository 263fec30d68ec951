"""``python -m halide_core tune SCRIPT.py``: runs a script, and tunes each pipeline that it runs without a schedule.

In: the words of the command line. Out: a status for the shell; the store has schedules, for ``schedule="tuned"``.

    python -m halide_core tune --budget 120 filters.py photo.png
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from halide_core.errors import HalideError, NotAvailableError, PipelineError
from halide_core.run.as_halide import run_script
from halide_core.run.automatic import MEASURED, set_default_schedule
from halide_core.tuning.measured import Habit, measuring
from halide_core.tuning.session import Options, Session

_INTERRUPTED = 130


def tune_script(words: Sequence[str]) -> int:
    """Does what the words say.

    Returns: 0; 1 where nothing was tuned, 2 where there is no such script, 130 after Ctrl-C, which keeps all.
    """
    given = _parsed(words)
    options = Options(given.budget, given.trials, given.limit, given.jobs, given.seed)
    count = 0

    def search(session: Session) -> None:
        nonlocal count
        try:
            result = session.tune()
        except (NotAvailableError, PipelineError) as error:
            sys.stderr.write(f"{error}\n")
            raise
        count += 1
        sys.stdout.write(f"{result}\n")
        sys.stdout.flush()
        if result.interrupted:
            raise KeyboardInterrupt

    set_default_schedule(MEASURED)
    try:
        with measuring(Habit(options, search, searches_known=True, quiet=given.quiet)):
            status = run_script([given.script, *given.arguments])
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; what was found is kept\n")
        return _INTERRUPTED
    except HalideError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    finally:
        set_default_schedule(None)
    if not status and not count:
        sys.stderr.write("Nothing was tuned: the script ran no pipeline that has no schedule.\n")
        return 1
    return status


def _parsed(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m halide_core tune", description="Tunes the pipelines of a script.")
    parser.add_argument("--budget", type=_positive, default=60.0, help="seconds for each pipeline (60)")
    parser.add_argument("--trials", type=_count, help="candidates for each, at most")
    parser.add_argument("--limit", type=_positive, default=30.0, help="seconds to compile or to run a candidate (30)")
    parser.add_argument("--jobs", type=_count, default=os.cpu_count() or 1, help="how many compile at once (cores)")
    parser.add_argument("--seed", type=int, default=0, help="of the sampler (0)")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    given = parser.parse_args(list(words))
    if not Path(given.script).is_file():
        parser.error(f"there is no file {given.script}")
    return given


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not value > 0:
        raise argparse.ArgumentTypeError(f'a positive number of seconds is needed, not "{text}"')
    return value


def _count(text: str) -> int:
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f'a positive number is needed, not "{text}"')
    return int(text)
