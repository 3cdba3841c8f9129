# SPDX-License-Identifier: BSD-3-Clause
"""Heat in a plane, cut into rows: halos by mpi4py, checkpoints, and a restart from the newest one.

    mpirun -n 4 python3 heat.py --size 256 --steps 1000 --every 100

Started again, it goes on behind its newest checkpoint, on any number of ranks, and ends with the
same bytes. It exits with 3 where it was told to stop before the last step.
"""

import argparse
import sys

import numpy as np
from mpi4py import MPI

import iocomp

SETTINGS = {  # what the program wants where nobody says otherwise
    "files": {
        "restart": {"existing": "continue", "keep": 2},
        "plane": {"existing": "continue"},
    }
}
SECONDS_PER_STEP = 0.1
MORE_TO_DO = 3


def exchange_halos(comm: MPI.Intracomm, u: np.ndarray) -> None:
    """Get the rows next to ours. Collective over `comm`."""
    above = comm.rank - 1 if comm.rank > 0 else MPI.PROC_NULL
    below = comm.rank + 1 if comm.rank + 1 < comm.size else MPI.PROC_NULL
    comm.Sendrecv(u[1], above, recvbuf=u[-1], source=below)
    comm.Sendrecv(u[-2], below, recvbuf=u[0], source=above)


def simulate(io: iocomp.Session, size: int, steps: int, every: int) -> int:
    """Return the step that comes next."""
    comm = io.comm
    first = size * comm.rank // comm.size
    rows = size * (comm.rank + 1) // comm.size - first
    # Two arrays in turn: one is computed while the other is written. Halos all around.
    fields = [io.empty((rows + 2, size + 2)) for _ in range(2)]
    tickets: list[iocomp.Ticket | None] = [None, None]
    inner = np.s_[1:-1, 1:-1]
    now = 0

    step, _, state = io.latest("restart")
    if state is None:  # cold, with a warm corner
        row, column = np.ogrid[first : first + rows, :size]
        fields[now][inner] = row + column < size
    else:
        state.read("u", step, start=(first, 0), out=fields[now][inner])
        state.close()

    restart = io.open("restart", "checkpoint", after=step)
    plane = io.open("plane", after=step)
    restart.after("plane")  # no checkpoint is ahead of it
    u = restart.define("u", "f8", (size, size))
    mean = plane.define("mean", "f8", (size,))
    stop = False
    step += 1
    while step < steps and not stop:
        old, new = fields[now], fields[1 - now]
        exchange_halos(comm, old)
        if ticket := tickets[1 - now]:
            ticket.wait()  # until then a checkpoint is made of the array
        sides = old[:-2, 1:-1] + old[2:, 1:-1] + old[1:-1, :-2] + old[1:-1, 2:]
        new[inner] = old[inner] + 0.1 * (sides - 4.0 * old[inner])
        now = 1 - now
        stop = io.should_stop()
        time = (step + 1) * SECONDS_PER_STEP
        plane.begin_step(step, time)
        mean[first : first + rows] = new[inner].mean(axis=1)
        plane.end_step()
        if stop or (step + 1) % every == 0 or step + 1 == steps:
            restart.begin_step(step, time)
            tickets[now] = u.put(new[inner], (first, 0))  # as it lies inside its halo
            restart.end_step()
        step += 1
    plane.close()
    restart.close()
    return step


parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--size", type=int, default=128)
parser.add_argument("--steps", type=int, default=200)
parser.add_argument("--every", type=int, default=50)
given = parser.parse_args()
with iocomp.Session(settings=SETTINGS) as io:
    reached = simulate(io, given.size, given.steps, given.every)
sys.exit(0 if reached >= given.steps else MORE_TO_DO)
