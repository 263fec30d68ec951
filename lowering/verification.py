"""The verifier after each pass of lowering, where HL_VERIFY or HL_DEBUG asks for it.

In: a pass's name and the tree that it left. Out: nothing, or an InternalError that names pass, rule and node.

    Verification(algorithm, "unroll").after("flatten", stmt)
"""

from __future__ import annotations

from halide_core.algorithm.model import Algorithm
from halide_core.ir import Stmt
from halide_core.ir.grammar import Form
from halide_core.ir.verify import PipelineArguments, verify

FORMS = {
    "initial": Form.HOLES,
    "fill": Form.POINTS,
    "unroll": Form.UNROLLED,
    "flatten": Form.FLAT,
    "vectorize": Form.VECTORS,
}
"""The passes that lead from one form of trees to the next; the others keep the form that they are given."""


class Verification:
    """The checks of a compile, in the order of its passes, of those that follow one of FORMS."""

    def __init__(self, algorithm: Algorithm, last: str) -> None:
        self._scope = PipelineArguments(algorithm.images, algorithm.outputs, algorithm.params).uses()
        self._form = FORMS[last]

    def after(self, name: str, stmt: Stmt) -> None:
        """Raises: InternalError where the pass broke a rule."""
        self._form = FORMS.get(name, self._form)
        verify(stmt, self._form, self._scope, name)
