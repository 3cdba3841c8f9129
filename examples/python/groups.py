# SPDX-License-Identifier: BSD-3-Clause
"""Sub-communicators: two groups of ranks compute different things, and each writes its own file.

mpirun -n 4 python3 groups.py
"""

import numpy as np

import iocomp

with iocomp.Session() as io:
    group = io.comm.rank % 2
    members = io.comm.Split(group)
    with io.open("groups", comm=members, settings={"path": f"group{group}.out"}) as out:
        u = out.define("u", "i4", (0,))
        for step in range(2 + group):  # a group has its own steps
            first = out.set_rows({u: 2})[0].first  # behind the rows of the members before
            u.put(np.array([100 * group + members.rank, step], "i4"), (first,))
            out.end_step()
    members.Free()
