"""Mutation testing: does any judge notice when one thing in the compiler is wrong?

    python -m tests.campaigns.mutate --seed 7 --count 200 --jobs 2

In: a seed and a count. Out: so many mutants of ``scheduling/``, ``bounds/`` and ``lowering/``, each with the judge that
killed it; for each survivor its difference from the source, and why it is one (``survivors``).

    operators, swapping    what can be changed, one edit of the source text each; and how a process takes one in
    regions, statements    where it can: not in types, texts and checks on the compiler itself
    choosing               which of the edits are tried, by seed, even over operators and files
    shadow                 a copy of the tree in which one file is changed
    programs               the fixed programs that the first judges look at
    judging, certified     what they compare: reference, refusals, cost, the certificate
    recording, reached     which blocks a program or a test runs, so that a mutant is shown to no others
    looking, attempt       one look by a program or a test; the process in which all of them look at one copy
    running                many such processes, with limits; resumable
    report, survivors      the table; why each survivor is one
"""
