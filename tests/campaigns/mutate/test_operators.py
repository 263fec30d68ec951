"""Mutants are what their operator says, and each is a program of its own."""

from __future__ import annotations

import pytest

from tests.campaigns.mutate.mutant import Operator
from tests.campaigns.mutate.operators import mutants

_PARTS = ["return (a or b)", "return (a) and (c)", "return (b) and (c)", "return (c)"]


def changed(text: str, operator: Operator) -> list[str]:
    """The mutants that an operator makes of a function's body of one line."""
    body = f"def f():\n    {text}\n"
    found = [m for m in mutants("a.py", body.encode()) if m.operator is operator]
    return [m.edit.applied(body.encode()).decode().partition("\n")[2].strip() for m in found]


@pytest.mark.parametrize(
    ("operator", "text", "wanted"),
    [
        (Operator.RELATION, "return a < b", ["return a <= b"]),
        (Operator.RELATION, "return (a) >= (b)", ["return (a) > (b)"]),
        (Operator.RELATION, "return 0 <= a < b", ["return 0 < a < b", "return 0 <= a <= b"]),
        (Operator.RELATION, "return a is not b", ["return a is b"]),
        (Operator.RELATION, "return a not in b", ["return a in b"]),
        (Operator.RELATION, "return a is None", []),
        (Operator.RELATION, "return ir.less(a, b)", ["return ir.less_equal(a, b)"]),
        (Operator.RELATION, "return BinaryOp.LT", ["return BinaryOp.LE"]),
        (Operator.OFFSET, "return a[1]", ["return a[0]", "return a[2]"]),
        (Operator.OFFSET, "return a[0]", ["return a[1]"]),
        (Operator.OFFSET, "return 0", ["return 1", "return -1"]),
        (Operator.OFFSET, "return ir.ONE, True", ["return ir.ZERO, True"]),
        (Operator.SIGN, "return a + b - c", ["return a + b + c", "return a - b - c"]),
        (Operator.SIGN, "a += b", ["a -= b"]),
        (Operator.SIGN, "return a + [b]", []),
        (Operator.SIGN, "return ir.add(a, b)", ["return ir.sub(a, b)"]),
        (Operator.EXTREME, "return max(a, b)", ["return min(a, b)"]),
        (Operator.EXTREME, "return self._simplifier.minimum(a)", ["return self._simplifier.maximum(a)"]),
        (Operator.EXTREME, "return bounds.min", []),
        (Operator.EXTREME, "return Field.MIN", []),
        (Operator.CONJUNCT, "return a and b and c", ["return a and b", "return a and c", "return b and c"]),
        (Operator.CONJUNCT, "return (a or b) and (c)", _PARTS),
        (Operator.CONJUNCT, "return [i for i in a if i]", ["return [i for i in a ]"]),
        (Operator.CONJUNCT, "return [i for i in (a if b else c) if (i)]", ["return [i for i in (a if b else c) ]"]),
        (Operator.CONJUNCT, "return ir.conjunction(a, b)", ["return a", "return b"]),
        (Operator.OBLIGATION, "checks.append(a)", ["pass"]),
        (Operator.OBLIGATION, "raise E(a)", ["pass"]),
        (Operator.OBLIGATION, "raise InternalError(a)", []),
        (Operator.OBLIGATION, "raise AssertionError(a)", []),
        (Operator.OBLIGATION, "yield a", ["pass"]),
        (Operator.OBLIGATION, "return (*a, *b, c)", ["return (*a, *b)", "return (*a, c)", "return (*b, c)"]),
        (Operator.OBLIGATION, "return (*a, b)", ["return (*a,)", "return (b,)"]),
        (Operator.OBLIGATION, "return [*a, b]", ["return [*a]", "return [b]"]),
        (Operator.OBLIGATION, "return (a, b)", []),
        (Operator.SWAP, "a.append(b); a.append(c)", ["a.append(c); a.append(b)"]),
        (Operator.SWAP, "a = a + 1; b.append(a)", ["b.append(a); a = a + 1"]),
        (Operator.SWAP, "a = b; c = a", []),
        (Operator.SWAP, "a = b; c = a.d", []),
        (Operator.SWAP, "a.append(b); c.append(b)", []),
        (Operator.SWAP, "a['k'] = b; a['l'] = b", []),
        (Operator.SWAP, "self._a.b.add(c); self._a.d.add(c)", []),
        (Operator.SWAP, "self._a.b[c] = d; e = f(self._a)", ["e = f(self._a); self._a.b[c] = d"]),
        (Operator.SWAP, "self.a(b); self.a(c)", ["self.a(c); self.a(b)"]),
        (Operator.SWAP, "self._a = b; self._c = d", []),
        (Operator.SWAP, "a.f(b); c = a.d", ["c = a.d; a.f(b)"]),
        (Operator.SWAP, "self._a.add(b); self._a.clear()", ["self._a.clear(); self._a.add(b)"]),
    ],
)
def test_operator_changes_what_it_says(operator: Operator, text: str, wanted: list[str]) -> None:
    assert sorted(changed(text, operator)) == sorted(wanted)


def test_guard_of_a_case_is_dropped() -> None:
    text = b"def f():\n    match a:\n        case B(c=c) if c > d:\n            return c\n"
    (found,) = [m for m in mutants("a.py", text) if m.operator is Operator.CONJUNCT]
    assert b"case B(c=c) :" in found.edit.applied(text)


@pytest.mark.parametrize(
    "text",
    [
        "def f(a: tuple[Literal[1], 2] = None) -> Literal[3]:\n    b: Literal[4]\n",
        'def f():\n    """1 < 2."""\n',
        "def f():\n    assert a < 1\n",
        'def f():\n    return f"{a + 1}"\n',
        "def f() -> str:\n    return a[1:]\n",
        "@g(1)\nclass C:\n    pass\n",
        "if TYPE_CHECKING:\n    A = 1\n",
        "A: TypeAlias = T[1]\n",
        "def f():\n    text: Text = (*a, 1)\n",
        "class A(Enum):\n    B = 1\n",
    ],
)
def test_types_texts_and_checks_of_the_compiler_stay(text: str) -> None:
    assert mutants("a.py", text.encode()) == []


def test_message_of_an_error_stays_but_the_error_may_go() -> None:
    found = mutants("a.py", b"def f():\n    raise E(a + 1)\n    refuse(a[1])\n")
    assert [m.operator for m in found] == [Operator.OBLIGATION] * 2


def test_id_counts_within_the_function_and_operator() -> None:
    found = mutants("a.py", b"class C:\n    def f(self):\n        return a < b < 1\ndef g():\n    return a < b\n")
    assert [m.id for m in found if m.operator is Operator.RELATION] == [
        "a.py:C.f:relation:1",
        "a.py:C.f:relation:2",
        "a.py:g:relation:1",
    ]


def test_statements_that_trade_places_are_the_functions_own() -> None:
    found = mutants("a.py", b"def f():\n    a.append(b)\n    a.append(c)\n")
    assert [m.id for m in found if m.operator is Operator.SWAP] == ["a.py:f:swap:1"]


def test_edits_count_bytes() -> None:
    text = "def f():\n    return 'ε_mem', a < b  # ∀\n".encode()
    (found,) = [m for m in mutants("a.py", text) if m.operator is Operator.RELATION]
    assert found.edit.applied(text).decode() == "def f():\n    return 'ε_mem', a <= b  # ∀\n"
    assert found.changed_lines(text) == ("return 'ε_mem', a < b  # ∀", "return 'ε_mem', a <= b  # ∀")
    assert found.key(text)[0] == "a.py:f"


def test_difference_shows_the_line() -> None:
    text = b"def f():\n    return a < b\n"
    (found,) = mutants("a.py", text)
    assert found.diff(text).splitlines()[-2:] == ["-    return a < b", "+    return a <= b"]
