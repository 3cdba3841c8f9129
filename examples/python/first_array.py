# SPDX-License-Identifier: BSD-3-Clause
"""Ten steps of an array; each rank has one row of it.

mpirun -n 4 python3 first_array.py
"""

import numpy as np

import iocomp

WIDTH = 1_000_000

with iocomp.Session() as io:  # servers, if any, serve in here
    rank, ranks = io.comm.rank, io.comm.size  # io.comm takes the place of MPI.COMM_WORLD
    row = io.empty((1, WIDTH))  # puts from such memory cost least
    with io.open("fields") as out:
        u = out.define("u", "f8", (ranks, WIDTH))
        u.set_attribute("units", "K")
        for step in range(10):
            row[0] = step + 1e-6 * np.arange(WIDTH)
            out.begin_step(step, time=0.5 * step)
            ticket = u.put(row, (rank, 0))  # returns at once
            out.end_step()
            # Compute here, with other arrays.
            ticket.wait()  # row may change from here on
