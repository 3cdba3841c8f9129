# SPDX-License-Identifier: BSD-3-Clause
"""Results of studies whose answer is known."""

from __future__ import annotations

import random
from typing import Any

from iocomp_studies.plan.cell import Cell

NONE = Cell("stream", output="none", backend="-", transport="-", size="1 MiB")
KERNEL = Cell("stream", transport="kernel", size="1 MiB")
OVERSUBSCRIBE = Cell("stream", mapping="oversubscribe", size="1 MiB")


def record(cell: Cell, number: int, wall: float, **more: object) -> dict[str, Any]:
    """Return a result as the runner keeps it."""
    seconds = {"wall": wall, "compute": 0.8 * wall}
    seconds |= {f"kernel.{name}": 0.2 * wall for name in ("copy", "scale", "add", "triad")}
    return {
        "study": "planted",
        "host": {"name": "here"},
        "key": cell.key(),
        "cell": cell.record(),
        "round": number,
        "seconds": seconds,
        "values": {},
        "marks": [],
        **more,
    }


def planted(factors: dict[Cell, float], rounds: int = 9, seed: int = 1) -> list[dict[str, Any]]:
    """Return results of which each cell takes `factor` times as long as it would.

    Rounds differ by up to 30 %, as on a virtual machine, and runs within a round by about 1 %.
    """
    noise = random.Random(seed)
    found = []
    for number in range(rounds):
        slow = noise.uniform(1.0, 1.3)
        for cell, factor in factors.items():
            found.append(record(cell, number, factor * slow * noise.gauss(1.0, 0.01)))
    return found
