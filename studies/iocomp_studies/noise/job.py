# SPDX-License-Identifier: BSD-3-Clause
"""A job of ranks in a box: each computes, exchanges halos with six others, and sums over all."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from iocomp_studies.noise.losses import Cores, Reals


def box(ranks: int) -> tuple[int, int, int]:
    """Return three factors of a number of ranks that are as equal as can be, the largest first."""
    best = (ranks, 1, 1)
    for c in range(1, round(ranks ** (1 / 3)) + 1):
        if ranks % c:
            continue
        rest = ranks // c
        b = next(b for b in range(math.isqrt(rest), 0, -1) if rest % b == 0)
        if b >= c:
            best = min(best, (rest // b, b, c))
    return best


@dataclass(frozen=True)
class Job:
    """A job whose ranks wait for each other.

    Attributes:
        ranks: The number of ranks of the job.
        compute: Seconds of computing in an iteration, undisturbed.
        sums: The number of sums over all ranks in an iteration.
        latency: Seconds of a message.
    """

    ranks: int
    compute: float
    sums: int = 1
    latency: float = 1.5e-6

    def run(self, cores: Cores, iterations: int) -> float:
        """Return the seconds from the first to the end of the last of so many iterations."""
        shape = box(self.ranks)
        tree = 2 * math.ceil(math.log2(max(2, self.ranks))) * self.latency
        now: Reals = np.zeros(self.ranks)
        for done in range(iterations):
            if cores.is_free_from(now):
                undisturbed = self.compute + self.latency + self.sums * tree
                return float(now[0]) + (iterations - done) * undisturbed
            now = cores.end(now, self.compute).reshape(shape)
            near = now
            for axis in range(3):
                near = np.maximum(near, np.roll(now, 1, axis))
                near = np.maximum(near, np.roll(now, -1, axis))
            now = near.reshape(-1) + self.latency
            for _ in range(self.sums):
                now = np.full(self.ranks, now.max() + tree)
        return float(now.max())
