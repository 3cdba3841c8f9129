# SPDX-License-Identifier: BSD-3-Clause
"""Particles: each rank has some, and their number changes in each step.

Each step is a file of its own, which the program names, and which is closed while it goes on.

    mpirun -n 4 python3 particles.py
"""

import numpy as np

import iocomp

with iocomp.Session() as io:
    rank = io.comm.rank
    for step in range(4):
        n = 1 + (rank + step) % 4
        positions = np.stack([np.full(n, rank), np.arange(n), np.full(n, step)], axis=1)
        out = io.open("particles", settings={"path": f"particles{step}.out"})
        x = out.define("x", "f8", (0, 3))
        ids = out.define("id", "i8", (0,))
        (first, total), _ = out.set_rows({x: n, ids: n})  # waits for the others
        x.put(positions.astype("f8"), (first, 0))  # the arrays are kept as long as it needs them
        ids.put(1000 * step + np.arange(first, first + n), (first,))
        out.close_later()
        if rank == 0:
            print(f"step {step}: {total} particles")
