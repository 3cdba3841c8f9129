"""Choose the compute phase: as long as writing what is put after it, and a little longer.

Disks change their speed within minutes, so the phase follows the last rounds."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iocomp_bench.methods import MIB, PUT_BYTES, PUTS, SYNCHRONOUS, Runner

AIM = 1.1
"""Compute phase ÷ fastest synchronous write of the same bytes; the goals hold for 1.0 to 1.2."""
RUNS = 3


@dataclass(frozen=True)
class Calibration:
    """What was found for a number of ranks."""

    ranks: int
    write_seconds: float
    fastest: str
    compute_bytes: int
    bytes_per_second: float

    def text(self) -> str:
        """Return one line for people."""
        return (
            f"{self.ranks} rank(s): the fastest synchronous way is {self.fastest}, "
            f"{1000 * self.write_seconds:.1f} ms per 64 MiB; each compute phase writes "
            f"{self.compute_bytes / MIB:.0f} MiB"
        )


def compute_bytes_for(write_seconds: float, bytes_per_second: float, aim: float = AIM) -> int:
    """Return how much a triad must write to take `aim` times as long as a write.

    The whole array has to be computed before it is put, so it is never less than one array.
    """
    return max(PUT_BYTES, int(aim * write_seconds * bytes_per_second) // MIB * MIB)


def calibrate(runner: Runner, ranks: int) -> Calibration:
    """Measure writing and computing alone, with all ranks at work."""
    writes = {
        way: statistics.median(
            float(runner.overlap(way, ranks, 0)["wall_until_durable_seconds"]) for _ in range(RUNS)
        )
        for way in SYNCHRONOUS
    }
    fastest = min(writes, key=lambda way: writes[way])
    probe = 2 * PUT_BYTES
    phase = statistics.median(
        float(runner.overlap("none", ranks, probe)["compute_seconds"]) / PUTS for _ in range(RUNS)
    )
    write_seconds = writes[fastest] / PUTS
    speed = probe / phase
    return Calibration(
        ranks, write_seconds, fastest, compute_bytes_for(write_seconds, speed), speed
    )


def follow(calibration: Calibration, results: Mapping[str, Sequence[Mapping[str, Any]]]) -> int:
    """Return `compute_bytes` for the next round, from what writing took in the last three."""
    writes = []
    for way in SYNCHRONOUS:
        last = results[f"overlap {calibration.ranks}/{way}"][-3:]
        if last:
            writes.append(
                statistics.median(
                    r["wall_until_durable_seconds"] - r["compute_seconds"] for r in last
                )
            )
    if not writes:
        return calibration.compute_bytes
    return compute_bytes_for(min(writes) / PUTS, calibration.bytes_per_second)
