# SPDX-License-Identifier: BSD-3-Clause
"""The fragments in Python of README.md and docs/, word for word, in a program that runs.

mpirun -n 2 python3 -m mpi4py fragments.py write pack; each word is a function
"""

import sys

import numpy as np


def compute_something_else() -> None:
    """Leave the arrays alone."""


# fmt: off
def write() -> None:
    import iocomp

    with iocomp.Session() as io:                        # servers, if any, serve in here
        rank, ranks = io.comm.rank, io.comm.size        # io.comm takes the place of MPI.COMM_WORLD
        with io.open("fields") as out:                  # path and back-end come from the settings for "fields"
            u = out.define("u", "f8", (ranks, 1000))
            row = io.empty((1, 1000))                   # puts from such memory cost least
            for step in range(10):
                row[0] = step
                ticket = u.put(row, (rank, 0))          # returns at once
                out.end_step()
                compute_something_else()
                ticket.wait()                           # row may change from here on


def pack() -> None:
    import iocomp

    with iocomp.Session() as io, io.open("packed") as out:
        ny, nx = io.comm.size, 3
        first = io.comm.rank
        temperatures = np.full((1, nx), 280.0)
        t = out.define("t", "f8", (ny, nx), file_dtype="i2")
        t.attrs["scale_factor"], t.attrs["add_offset"] = 0.01, 273.15   # in the step of the definition
        t.attrs["_FillValue"] = np.int16(-32768)
        t.put(temperatures, (first, 0))
        out.end_step()


def go_on() -> None:
    import iocomp

    with iocomp.Session(settings={"files": {"restart": {"existing": "continue"}}}) as io:
        first = io.comm.rank
        u = np.full((1, 3), 7.0)
        step, time, state = io.latest("restart")            # -1, NaN and None where nothing is committed yet
        if state is not None:
            state.read("u", step, start=(first, 0), out=u)  # any number of ranks, any box
            state.close()
        restart = io.open("restart", "checkpoint", after=step)
        restart.after("fields")                             # if there is a series too: none is ahead of it

        v = restart.define("u", "f8", (io.comm.size, 3))
        step, time = step + 1, 0.5 * (step + 1)
        if io.should_stop():                                # a signal, or the end of the job is near
            restart.begin_step(step, time)
            v.put(u + 1, (first, 0), buffered=True)
            restart.end_step()
        restart.close()


def prepare() -> None:
    """Write the file that the next two read."""
    import iocomp

    with iocomp.Session() as io, io.open("fields") as out:
        u = out.define("u", "f8", (10 * io.comm.size, 20))
        u.attrs["units"] = "K"
        for step in range(5):
            out.begin_step(step, 0.5 * step)
            u.put(np.full((10, 20), float(step)), (10 * io.comm.rank, 0), buffered=True)
            out.end_step()


def read() -> None:
    import iocomp

    with iocomp.open_files("fields") as files:          # with or without the extension
        files.steps, files.variables(), files.attributes("u")
        files.read("u")                                 # the newest step
        files.read("u", 3, np.s_[10:20, ::2])           # a box of step 3
        print(files)                                    # steps, variables, types and shapes
        files["u"][10:20, ::2]                          # a box of the newest step
        files["u"].attrs["units"]


def read_with_xarray() -> None:
    import xarray as xr

    ds = xr.open_dataset("fields.bin", engine="iocomp", chunks={})
    ds.u.sel(time=2.0).mean()
# fmt: on


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
