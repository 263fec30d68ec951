"""The fuzzer: random programs under random schedules, judged by every semantics that there is.

    python -m tests.campaigns.fuzz --cases 400 --seed 1           the reference against the interpreter after each pass
    python -m tests.campaigns.fuzz --cases 50 --seed 2 --compiled     and against compiled code
    python -m tests.campaigns.fuzz --cases 100 --seed 4 --sliding     stencils, with memory outside their loops
    python -m tests.campaigns.fuzz --cases 100 --seed 5 --wide        rows of whole vectors, compiled code alone (wide)
    python -m tests.campaigns.fuzz --cases 100 --seed 6 --plain       loops that are left to gcc, compiled alone (plain)
    python -m tests.campaigns.fuzz.grammar --cases 1000 --kept DIR   updates × places × ways of loops, steered (grammar)

A case is data (``case``): it is drawn (``draw``), rendered as Python source and built from that (``case``), judged
(``judge``), and, where it fails, made small (``shrink``) and written as a test (``write``).
"""
