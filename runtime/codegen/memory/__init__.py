"""A pipeline's own memory in C: on the stack, in local variables, and when it is freed."""
