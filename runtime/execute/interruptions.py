"""Ctrl-C while a pipeline runs.

In: a call of a pipeline by the main thread. Out: nothing; a SIGINT meanwhile ends the run.

    f.realize([100000, 100000]), then Ctrl-C   ->   KeyboardInterrupt, as anywhere in Python

Python calls handlers of signals in the main thread alone, between two steps of the interpreter, and a whole run is one
step of it. Its own handler of SIGINT raises KeyboardInterrupt, so a run that it waits for has no use: it ends at once,
and the interpreter raises. A handler of the user's may want it to go on: it is called when the run is over.
"""

from __future__ import annotations

import signal
import threading
from _signal import getsignal  # type: ignore[import-not-found]  # that of signal looks for a name of the handler: 2 µs

from halide_core.runtime.crt.runtime_library import runtime


def begin_run() -> None:
    """Lets SIGINT end what the main thread is about to run. What came before is raised by the interpreter first."""
    if threading.current_thread() is threading.main_thread():
        runtime().halide_core_begin_run(getsignal(signal.SIGINT) is signal.default_int_handler)
