"""A grammar of draws whose coverage is measured: ``python -m tests.campaigns.fuzz.grammar --cases N --seed S``.

A cell is a shape of an update, a feature of where its Func lives, and a way in which loops run, met together by one
Func of one case (``axes``); what no axis is about is drawn besides (``extras``). A campaign draws towards the
emptiest cells (``table``), asks the compiler which of the drawn directives are legal (``legal``), among them many
that must be refused (``tempting``), grows more programs from those that reached new blocks of the compiler
(``growing``), and keeps what it found on disk, so that it goes on where it stopped (``journal``). With ``--defects``
it runs against the compiler with one defect of the past after another (``defects``), and prints when each was found.
"""
