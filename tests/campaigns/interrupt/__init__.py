"""Interruptions: SIGINT at random moments of compiles and runs.

    python -m tests.campaigns.interrupt --times 200

A process without a handler ends as Python's do. One that catches KeyboardInterrupt goes on, and its next run is right.
The signal goes to the process alone, or to its C compiler as well, as that of a terminal does. In the end a process
that starts anew finds every pipeline in the cache, or makes it again, and all answers are right.
"""
