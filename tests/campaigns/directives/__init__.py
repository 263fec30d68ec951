"""Evidence of the tests for each directive: ``python -m tests.campaigns.directives [--cases N] [--seed S]``.

In: the directives that the schedule offers, asked of it. Out: a table, directive × (golden dump, legality test, fuzz
count, obligations), and the exit status 1 where a cell is empty.

Nothing is listed by hand. The tests of ``gather.FOLDERS`` are run and watched: which directives a test gives, which it
has refused, which golden file its program is compared with, and how many claims that program's certificate has. A new
directive is a new row by itself; its cells stay empty until a test fills them.
"""
