# SPDX-License-Identifier: BSD-3-Clause
"""A program's work and its way of writing: the model predicts from both."""

from __future__ import annotations

from dataclasses import dataclass

from iocomp_studies.plan.cell import NOT_USED
from iocomp_studies.table import counted

SYNCHRONOUS, KERNEL = "synchronous", "kernel"
MEMORY, COMPUTING = "memory", "computing"
"""STREAM and HPCG wait for memory while they compute, HPL for the processor."""
BOUNDS = (MEMORY, COMPUTING)
AUTO = "auto"
GIB = 1 << 30


@dataclass(frozen=True)
class Work:
    """The work of a program: its computing and its puts. docs/developers/model.md has the symbols.

    Attributes:
        ranks: The number of ranks that compute (n).
        steps: The number of steps of output (K).
        step_bytes: The bytes that each rank puts in a step (b).
        step_seconds: The computing for each step, without output (T).
        nodes: The number of nodes of the job.
        puts: The number of puts that each rank makes in a step (g).
        reuse_seconds: The computing from a put until the array is changed (u).
        before_part: The part of a step's computing that comes before its first put (f).
        bound: One of BOUNDS.
    """

    ranks: int
    steps: int
    step_bytes: float
    step_seconds: float
    nodes: int = 1
    puts: float = 1.0
    reuse_seconds: float = 0.0
    before_part: float = 1.0
    bound: str = MEMORY

    def all_bytes(self) -> float:
        """Return the bytes of a step of all ranks (B)."""
        return self.ranks * self.step_bytes

    def put_bytes(self) -> float:
        """Return the bytes of one put (b ÷ g)."""
        return self.step_bytes / self.puts

    def seconds(self) -> float:
        """Return how long the program takes without output."""
        return self.steps * self.step_seconds


@dataclass(frozen=True)
class Way:
    """A way to write output.

    Attributes:
        name: "synchronous", "kernel", or the mapping of the servers.
        backend: The format of the file.
        servers: The number of servers; 0 without.
        transport: The path to the servers: "shared", "message", or "auto": shared, but ranks write
            long blocks themselves; "-" without.
        memory_bytes: The memory that the servers of a node may use; 0 for enough.
    """

    name: str
    backend: str = "posix"
    servers: int = 0
    transport: str = NOT_USED
    memory_bytes: float = 0.0

    def text(self) -> str:
        """Return it in words."""
        words = [self.name, self.backend]
        if self.servers:
            words.append(counted(self.servers, "server"))
        if self.transport == "message":
            words.append("messages")
        return ", ".join(words)
