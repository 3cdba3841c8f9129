# SPDX-License-Identifier: BSD-3-Clause
"""Sub-communicators: two groups of ranks compute different things, and each writes its own file.

mpirun -n 4 python3 groups.py
"""

import numpy as np

import iocomp

with iocomp.Session() as io:
    group = io.comm.rank % 2
    members = io.comm.Split(group)
    with io.open("groups", comm=members, options={"path": f"group{group}.out"}) as out:
        u = out.define("u", "i4", (0,))
        for step in range(2 + group):  # a group has its own steps
            u.put_rows(np.array([100 * group + members.rank, step], "i4"), buffered=True)
            out.end_step()
    members.Free()
