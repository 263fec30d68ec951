"""The differential test beside Halide 21: the same source runs with either package, and the results are compared.

In: expressions and small pipelines (``expressions``, ``generate``, ``pipelines``, …). Out: a report, and the exit
status 1 where the two differ in a way that ``differences`` doesn't list. Of these files pytest runs ``test_harness``.

    make peer-test
    python -m tests.campaigns.peer --peer /path/to/a/python/with/halide
"""
