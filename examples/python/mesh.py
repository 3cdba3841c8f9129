# SPDX-License-Identifier: BSD-3-Clause
"""An unstructured mesh: each rank has some of its nodes, in any order, and halos.

mpirun -n 4 python3 mesh.py
"""

import numpy as np

import iocomp

NODES = 60

with iocomp.Session() as io:
    # Nodes are dealt like cards, the last first. One halo node, which is not written, comes before.
    mine = np.r_[-1, np.arange(NODES)[::-1]]
    mine = mine[(mine < 0) | (mine % io.comm.size == io.comm.rank)]
    part = io.decomp_map((NODES,), mine)  # said once, used for each variable and step
    with io.open("mesh") as out:
        pressure = out.define("pressure", "f8", (NODES,))
        for step in range(3):
            pressure.put(mine**2.0 + step, part)
            out.end_step()
