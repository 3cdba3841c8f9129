# SPDX-License-Identifier: BSD-3-Clause
"""Figures of STREAM."""

from __future__ import annotations

from typing import Any

from iocomp_bench.figure import COMPUTE, WALL, Figure, Found, median, per_round
from iocomp_bench.methods import KERNELS
from iocomp_bench.ways import STREAM
from iocomp_studies.rounds import Rounds
from iocomp_studies.statistics import Estimate, Goal, estimate, medians

PLAIN = "stream/plain"


def _by_kernel(rounds: Rounds, key: str, methods: tuple[str, ...]) -> list[dict[str, float]]:
    return [
        {
            f"{method}/{kernel}": float(result[key][kernel])
            for method, result in zip(methods, results, strict=True)
            for kernel in KERNELS
        }
        for results in rounds.together(methods)
    ]


def _worst_kernel(rounds: Rounds, key: str, method: str) -> Estimate:
    samples = _by_kernel(rounds, key, (PLAIN, method))
    return estimate(
        samples, lambda m: max(m[f"{method}/{k}"] / m[f"{PLAIN}/{k}"] for k in KERNELS)
    )


def stream_ratio(id_: str, goal: Goal, method: str, counts_with: str) -> Figure:
    """Return the compute time of STREAM with output divided by that without, worst kernel."""

    def find(rounds: Rounds) -> Found:
        writing = _worst_kernel(rounds, "kernel_seconds_in_writing_loops", method)
        spread = [writing.low, writing.high]
        return Found(
            _worst_kernel(rounds, "kernel_seconds", method),
            {"writing_loops_alone": {"value": writing.value, "spread": spread}},
        )

    return Figure(id_, "1", goal, (PLAIN, method), find, counts_with)


def plain_bandwidth(id_: str, goal: Goal) -> Figure:
    """Return the bandwidth of our STREAM divided by that of the classic loops, worst kernel."""
    methods = (PLAIN, "stream/reference")

    def find(rounds: Rounds) -> Found:
        samples = _by_kernel(rounds, "best_bandwidth_gib_per_second", methods)
        found = estimate(
            samples, lambda m: min(m[f"{PLAIN}/{k}"] / m[f"stream/reference/{k}"] for k in KERNELS)
        )
        return Found(found, {"median_gib_per_second": medians(samples)})

    return Figure(id_, "1", goal, methods, find)


def stream_output(id_: str) -> Figure:
    """Return the wall time of STREAM with the kernel transport divided by that without output.

    Beside it stand all other ways that could be run.
    """
    methods = (PLAIN, "stream/kernel")
    optional = tuple(name for name in STREAM if name not in methods)

    def find(rounds: Rounds) -> Found:
        shown = [name for name in STREAM if name in rounds.results]
        plain = median(rounds, PLAIN, COMPUTE)
        beside: dict[str, Any] = {
            "median_wall_seconds": {name: median(rounds, name, WALL) for name in shown},
            "compute_ratios": {name: median(rounds, name, COMPUTE) / plain for name in shown},
        }
        found = per_round(rounds, methods, lambda runs: runs[1][WALL] / runs[0][WALL])
        return Found(found, beside)

    return Figure(id_, "1", Goal(), methods, find, optional=optional)
