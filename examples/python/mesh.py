# SPDX-License-Identifier: BSD-3-Clause
"""An unstructured mesh: each rank has some of its nodes, in any order, and halos.

mpirun -n 4 python3 mesh.py; `iocomp describe mesh.bin` makes a file that ParaView opens.
"""

import numpy as np

import iocomp

NODES = 60  # two rows, and squares between them
CELLS = NODES // 2 - 1

node = np.arange(NODES)
points = np.c_[node // 2, node % 2, 0 * node].astype("f8")
connectivity = (2 * np.arange(CELLS)[:, None] + [0, 2, 3, 1]).ravel()  # of all cells
offsets = 4 * np.arange(CELLS + 1)  # where each begins, and the last one ends
types = np.full(CELLS, 9, "u1")  # VTK's number of a quadrilateral

with iocomp.Session() as io:
    # Nodes are dealt like cards, the last first. One halo node, which is not written, comes before.
    mine = np.r_[-1, node[::-1]]
    mine = mine[(mine < 0) | (mine % io.comm.size == io.comm.rank)]
    part = io.decompose((NODES,), mine)  # said once, used for each variable and step
    with io.open("mesh") as out:
        parts = {  # put once, by one rank
            out.define("points", "f8", points.shape, ("node", "xyz")): points,
            out.define("connectivity", "i8", connectivity.shape, ("corner",)): connectivity,
            out.define("offsets", "i8", offsets.shape, ("cell_end",)): offsets,
            out.define("types", "u1", types.shape, ("cell",)): types,
        }
        for name in ("points", "connectivity", "offsets", "types"):
            out.attrs[f"mesh_{name}"] = name  # each attribute names the variable
        pressure = out.define("pressure", "f8", (NODES,), ("time", "node"))
        if io.comm.rank == 0:
            for variable, values in parts.items():
                variable.put(values)
        for step in range(3):
            pressure.put(mine**2.0 + step, part)
            out.end_step()
