"""20. Certificates: why the compiled program is right.

``certify`` lists the claims that memory safety and independence of threads rest on, and has the solver z3 prove each,
for every input and for windows of every size: no access leaves its memory, all that is read was computed before, no two
threads meet. HL_CERTIFY=1 demands it of every compile.
"""

from __future__ import annotations

import json
from collections import Counter

from showing import table

import halide_core as hl

x, y, yo, yi = hl.Var("x"), hl.Var("y"), hl.Var("yo"), hl.Var("yi")
image = hl.ImageParam(hl.UInt(8), 2, "image")
across, down = hl.Func("across"), hl.Func("down")
across[x, y] = hl.u16(image[x, y]) + image[x + 1, y]
down[x, y] = hl.u8((across[x, y] + across[x, y + 1]) / 4)
down.split(y, yo, yi, 8).parallel(yo).vectorize(x, 8)
across.compute_at(down, yo).vectorize(x, 8)

certificate = down.certify()
found = json.loads(certificate.to_json())
table(["verdict", "claims"], sorted(Counter(claim["status"] for claim in found["claims"]).items()))
print(f"\nwithout any check at the start: {certificate.proven_share:.0%}; nothing is open: {certificate.ok}\n")
print("\n".join(str(certificate).splitlines()[:12]))
assert certificate.ok

# What can't be right is refused before: no certificate is needed for that.
f, r = hl.Func("f"), hl.RDom([(1, 99)], "r")
f[x] = x
f[r.x] = f[r.x - 1] + f[r.x]
try:
    f.update().parallel(r.x)
except hl.ScheduleError as error:
    print("\n" + str(error))
