"""A loop by its Var or its RVar: what stands where a directive takes either.

In: a Var, an RVar, an RDom of one variable, or a name and whether it is an RVar's. Out: the loop's name.

    f.update().vectorize(VarOrRVar(r.x), 8)   ->   f.update().vectorize(r.x, 8)
"""

from __future__ import annotations

from halide_core.checks import shown
from halide_core.errors import DefinitionError
from halide_core.lang.expr import Var
from halide_core.lang.rdom import RDom, RVar


class VarOrRVar:
    """The Var or the RVar of a loop: every directive takes one where it takes a Var.

    ``VarOrRVar(var)``, ``VarOrRVar(rvar)``, ``VarOrRVar(rdom)``, or ``VarOrRVar(name, is_rvar)``.

    Raises:
        DefinitionError: anything else, or an RDom of several variables.
    """

    def __init__(self, of: Var | RVar | RDom | VarOrRVar | str, is_rvar: bool | None = None) -> None:
        if isinstance(of, str) and isinstance(is_rvar, bool):
            of = RVar(of) if is_rvar else Var(of)
        elif isinstance(of, VarOrRVar):
            of = of._variable
        elif isinstance(of, RDom):
            of = of.only()
        if not isinstance(of, Var | RVar) or (is_rvar is not None and is_rvar is not isinstance(of, RVar)):
            raise DefinitionError(
                f"A VarOrRVar is made of a Var, an RVar or an RDom, or of a name and whether it is an RVar's, "
                f"not of {shown(of)}."
            )
        self._variable: Var | RVar = of

    def name(self) -> str:
        """The variable's name, and its loop's."""
        return self._variable.name()

    @property
    def is_rvar(self) -> bool:
        """True where this is an RVar."""
        return isinstance(self._variable, RVar)

    @property
    def var(self) -> Var:
        """The Var; of an RVar, a Var of its name."""
        return self._variable if isinstance(self._variable, Var) else Var(self.name())

    @property
    def rvar(self) -> RVar:
        """The RVar; of a Var, an RVar of its name, which belongs to no RDom."""
        return self._variable if isinstance(self._variable, RVar) else RVar(self.name())

    def __repr__(self) -> str:
        return f"VarOrRVar({self._variable!r})"
