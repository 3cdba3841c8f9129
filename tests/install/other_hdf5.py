# SPDX-License-Identifier: BSD-3-Clause
"""A program that has an HDF5 of its own: every rank runs it. Usage: other_hdf5.py local|global"""

import os
import sys

# As a program that is linked with that HDF5: its functions are visible to everything.
visible = os.RTLD_GLOBAL if sys.argv[1] == "global" else os.RTLD_LOCAL
usual = sys.getdlopenflags()
sys.setdlopenflags(os.RTLD_NOW | visible)
import h5py  # noqa: E402

sys.setdlopenflags(usual)
import numpy as np  # noqa: E402

import iocomp  # noqa: E402

with iocomp.Session() as io:
    rank = io.comm.rank
    with io.open("fields") as out:
        field = out.define("u", "f8", (io.comm.size * 100,))
        field.put(np.arange(rank * 100.0, rank * 100.0 + 100.0), (rank * 100,)).wait()
        out.end_step()
    print("HDF5 of the program:", h5py.version.hdf5_version)
