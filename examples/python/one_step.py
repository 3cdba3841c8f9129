# SPDX-License-Identifier: BSD-3-Clause
"""One step of an array; each rank has one row of it.

mpirun -n 4 python3 one_step.py
"""

import iocomp

with iocomp.Session() as io:
    rank, ranks = io.comm.rank, io.comm.size
    with io.open("fields") as out:
        u = out.define("u", "f8", (ranks, 1000))
        row = io.empty((1, 1000))  # puts from such memory cost least
        row[:] = 1
        u.put(row, (rank, 0))
        out.end_step()
