# SPDX-License-Identifier: BSD-3-Clause
"""The cell of a trial: a back-end, a way to write, and a fault."""

from __future__ import annotations

import random
from dataclasses import dataclass

BACK_ENDS = {
    "posix": 5,
    "mpiio": 2,
    "hdf5": 4,
    "hdf5-time": 2,
    "netcdf": 2,
    "pnetcdf": 2,
    "zarr": 2,
    "zarr-zstd": 1,
    "adios2": 1,
}
MODES = ["servers", "servers", "kernel", "sync"]
TRANSPORTS = ["shared", "message"]
KINDS = ["series", "checkpoint"]
WHOLE_STEPS = {"adios2", "zarr", "zarr-zstd"}  # are written when all of a step is there
ONLY_WITH_SERVERS = {"mpiio"} | WHOLE_STEPS  # or in synchronous mode: the kernel cannot write them


@dataclass(frozen=True)
class Cell:
    """A back-end, how it is written, and what goes wrong."""

    seed: int
    number: int
    back_end: str
    mode: str  # servers, kernel, sync
    transport: str  # of servers; else nothing
    kind: str
    fault: str

    @property
    def has_servers(self) -> bool:
        return self.mode == "servers"

    def dice(self, purpose: str) -> random.Random:
        """Return dice of its own for each purpose, so that one more throw moves nothing else."""
        return random.Random(f"{self.seed}/{self.number}/{purpose}")

    def __str__(self) -> str:
        how = " ".join(word for word in (self.mode, self.transport) if word)
        return f"cell {self.number}: {self.back_end} {how} {self.kind}, {self.fault}"
