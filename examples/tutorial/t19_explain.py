"""19. Explanations: why a loop runs as far as it does, and memory is as large as it is.

Nobody writes bounds; they follow from what is asked for. ``explain`` shows the program with holes, what each directive
did, and each hole's answer; with a question, it says which access asked for it, by which rule, and why in turn.
"""

from __future__ import annotations

import halide_core as hl

x, y, xo, yo, xi, yi = (hl.Var(n) for n in "x y xo yo xi yi".split())
image = hl.ImageParam(hl.UInt(8), 2, "image")
across, down = hl.Func("across"), hl.Func("down")
across[x, y] = hl.u16(image[x - 1, y]) + image[x, y] + image[x + 1, y]
down[x, y] = hl.u8((across[x, y - 1] + across[x, y] + across[x, y + 1]) / 9)
down.tile(x, y, xo, yo, xi, yi, 64, 32)
across.compute_at(down, xo)

print("How large is the block of across that a tile needs?\n")
print(down.explain(allocation="across"))

print("\nHow much of the image is read?\n")
print(down.explain(input="image"))

print("\nThe query that bounds inference answers; a solver can be asked too: to_smtlib().\n")
text = str(down.bounds_query())
print("\n".join(text.splitlines()[:6]))

whole = str(down.explain())
print(f"\nexplain() without a question has {len(whole.splitlines())} lines; its end:\n")
print("\n".join(whole.splitlines()[-4:]))
assert "34" in str(down.explain(allocation="across"))  # 32 rows, and one above and below
