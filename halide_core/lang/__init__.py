"""The language that users write: Func, Var, RDom, Param, ImageParam and what they are defined with."""
