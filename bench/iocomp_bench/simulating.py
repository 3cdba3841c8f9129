# SPDX-License-Identifier: BSD-3-Clause
"""A figure that needs no machine: what `iocomp study noise` computes of thousands of ranks."""

from __future__ import annotations

from typing import Any

from iocomp_bench.figure import MIB, Figure, Found, per_round
from iocomp_studies.noise import ways
from iocomp_studies.rounds import Rounds
from iocomp_studies.statistics import Goal

RANKS = 8192
ITERATION = 0.01
SIZES = {"16 MiB": 16 * MIB, "128 MiB": 128 * MIB}
DEFAULTS = {
    "malloc": ways.kernel_from_copies,
    "iocomp_alloc": ways.kernel_from_huge_pages,
    "small pages": ways.kernel,
}
"""The arrays that iocomp's default writes from."""
NOISE = f"noise/{RANKS}"

Result = dict[str, Any]


def noise() -> Result:
    """Return wall ÷ without output, by what a rank puts and by the kind of array."""
    return {
        size: {
            name: ways.slow_down(ways.Scene(RANKS, ITERATION, bytes=of_rank), way).ratio
            for name, way in DEFAULTS.items()
        }
        for size, of_rank in SIZES.items()
    }


def noise_figure() -> Figure:
    """Return the figure: the worst array with 16 MiB; beside it each, and with 128 MiB."""

    def find(rounds: Rounds) -> Found:
        found = per_round(rounds, (NOISE,), lambda runs: float(max(runs[0]["16 MiB"].values())))
        by_size = rounds.results[NOISE][0]
        beside = {
            f"{size} {name}": ratio for size in SIZES for name, ratio in by_size[size].items()
        }
        return Found(found, beside)

    return Figure("noise-8192", "1", Goal(1.02), (NOISE,), find)
