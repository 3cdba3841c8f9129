# SPDX-License-Identifier: BSD-3-Clause
"""Choose the compute phases: a multiple of what writing takes that is put after them.

Disks change their speed within minutes, so the phases follow the last rounds.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iocomp_bench.figure import ALONE, COMPUTE, WALL
from iocomp_bench.methods import MIB, PUT_BYTES, PUTS, Runner
from iocomp_bench.ways import NONE, OVERLAPS, SYNCHRONOUS, Overlap

RUNS = 3
USUAL_AIM = 2.0


@dataclass(frozen=True)
class Calibration:
    """The seconds of a write and the speed of computing, for a number of ranks."""

    ranks: int
    write_seconds: float
    fastest: str
    bytes_per_second: float

    def compute_bytes(self, series: Overlap) -> int:
        """Return how much a phase of a series writes."""
        return compute_bytes_for(self.write_seconds, self.bytes_per_second, series.aim)

    def text(self, used: Sequence[Overlap]) -> str:
        """Return one line for people, about the series that are used."""
        phases = ", ".join(
            f"{self.compute_bytes(series) / MIB:.0f} MiB ({series.name})"
            for series in used
            if series.ranks == self.ranks
        )
        return (
            f"{self.ranks} rank(s): the fastest synchronous way is {self.fastest}, "
            f"{1000 * self.write_seconds:.1f} ms per 64 MiB; compute phases write {phases}"
        )


def compute_bytes_for(write_seconds: float, bytes_per_second: float, aim: float) -> int:
    """Return how much a triad must write to take `aim` times as long as a write.

    The whole array has to be computed before it is put, so it is never less than one array.
    """
    return max(PUT_BYTES, int(aim * write_seconds * bytes_per_second) // MIB * MIB)


def calibrate(runner: Runner, ranks: int, runs: int = RUNS) -> Calibration:
    """Measure writing and computing alone, with all ranks at work.

    Args:
        runner: Runs the programs.
        ranks: The number of ranks that compute.
        runs: The number of runs of each way; the median counts.
    """
    writes = {
        way: statistics.median(
            float(runner.overlap(way, ranks, 0)[WALL]) for _ in range(runs)
        )
        for way in SYNCHRONOUS
    }
    fastest = min(writes, key=lambda way: writes[way])
    # A longer phase finds more of its array in the caches: look again at what the first look says.
    speed = 0.0
    probe = 2 * PUT_BYTES
    for _ in range(2):
        phase = statistics.median(
            float(runner.overlap(NONE, ranks, probe)[COMPUTE]) / PUTS for _ in range(runs)
        )
        speed = probe / phase
        probe = compute_bytes_for(writes[fastest] / PUTS, speed, USUAL_AIM)
    return Calibration(ranks, writes[fastest] / PUTS, fastest, speed)


def follow(
    calibration: Calibration,
    series: Overlap,
    results: Mapping[str, Sequence[Mapping[str, Any]]],
) -> int:
    """Return `compute_bytes` for the next round, from what the last three took.

    A series without synchronous runs follows the others with as many ranks.
    """
    speeds = [
        PUTS * float(result["compute_bytes"]) / float(result[ALONE])
        for method in series.methods()
        for result in results.get(method, ())[-3:]
    ]
    speed = statistics.median(speeds) if speeds else calibration.bytes_per_second
    writes: dict[str, list[float]] = {way: [] for way in SYNCHRONOUS}
    for other in OVERLAPS:
        if other.ranks != series.ranks:
            continue
        for way in SYNCHRONOUS:
            for result in results.get(other.method(way), ())[-3:]:
                writes[way].append(result[WALL] - result[COMPUTE])
    medians = [statistics.median(seconds) for seconds in writes.values() if seconds]
    write_seconds = min(medians) / PUTS if medians else calibration.write_seconds
    return compute_bytes_for(write_seconds, speed, series.aim)
