"""The reference semantics (figure 2.6): the value of every point, computed lazily, without lowering."""
