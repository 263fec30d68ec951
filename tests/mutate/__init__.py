"""Mutation testing: does any judge notice when one thing in the compiler is wrong?

    python -m tests.mutate --seed 7 --count 200 --jobs 2

In: a seed and a count. Out: so many mutants of ``scheduling/``, ``bounds/`` and ``lowering/``, each with the judge that
killed it; for each survivor its difference from the source, and why it is one (``survivors``).

    operators   what can be changed: one edit of the source text each
    regions     where it can: not in types, texts and checks on the compiler itself
    choosing    which of the edits are tried, by seed, even over operators and files
    shadow      a copy of the tree in which one file is changed
    corpus      the fixed programs that the first judges look at
    judges      what they compare: reference, refusals, exactness, the certificate
    reached     which of their programs and tests call a function, so that a mutant is shown to no others
    attempt     the process that puts one copy of the tree before all judges
    running     many such processes, with limits; resumable
    report      the table
"""
