# SPDX-License-Identifier: BSD-3-Clause
"""What a program does, and in which way it writes: what the model predicts from."""

from __future__ import annotations

from dataclasses import dataclass

from iocomp_studies.plan.cell import NOT_USED

SYNCHRONOUS, KERNEL = "synchronous", "kernel"
MEMORY, COMPUTING = "memory", "computing"
"""What a program waits for while it computes: STREAM and HPCG for memory, HPL for the processor."""
BOUNDS = (MEMORY, COMPUTING)
AUTO = "auto"
GIB = 1 << 30


@dataclass(frozen=True)
class Work:
    """What a program computes and puts; docs/developers/model.md has the symbols.

    Attributes:
        ranks: That compute (n).
        steps: Of output (K).
        step_bytes: That each rank puts in a step (b).
        step_seconds: Of computing for each step, without output (T).
        nodes: Of the job.
        puts: That each rank makes in a step (g).
        reuse_seconds: Of computing from a put until the array is changed (u).
        before_part: Of the computing of a step, the part before its first put (f).
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
    """How output is written.

    Attributes:
        name: "synchronous", "kernel", or the mapping of the servers.
        backend: Of the file.
        servers: Their number; 0 without.
        transport: To the servers: "shared", "message", or "auto": shared, past which ranks write
            long blocks themselves; "-" without.
        memory_bytes: That the servers of a node may use; 0 for enough.
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
            words.append(f"{self.servers} server{'s' if self.servers != 1 else ''}")
        if self.transport == "message":
            words.append("messages")
        return ", ".join(words)
