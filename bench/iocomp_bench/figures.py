"""The figures of the benchmarks and their goals; docs/metrics.md defines each."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from iocomp_bench.methods import BYTES_PER_RANK, KERNELS, LOADS, PUTS, SYNCHRONOUS, WAYS
from iocomp_studies.hidden import hidden_part
from iocomp_studies.rounds import Rounds
from iocomp_studies.statistics import Estimate, Goal, estimate, medians

WALL = "wall_until_durable_seconds"
COMPUTE = "compute_seconds"
MIB = 1 << 20
GIB = 1 << 30


@dataclass(frozen=True)
class Found:
    """A figure and what is shown beside it."""

    estimate: Estimate
    beside: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """One line of the table of goals.

    Attributes:
        id: As in the table.
        unit: Of the value; "1" for ratios.
        goal: The bound.
        methods: Names of the runs it needs.
        find: From the samples to the figure.
        counts_with: Another figure that must be met for this one to count.
    """

    id: str
    unit: str
    goal: Goal
    methods: tuple[str, ...]
    find: Callable[[Rounds], Found]
    counts_with: str = ""


def _ratio(id_: str, goal: Goal, key: str, above: str, below: str) -> Figure:
    def find(rounds: Rounds) -> Found:
        found = estimate(rounds.values(key, (above, below)), lambda m: m[above] / m[below])
        seconds = {name: _median(rounds, name, key) for name in (above, below)}
        return Found(found, {"median_seconds": seconds})

    return Figure(id_, "1", goal, (above, below), find)


def _median(rounds: Rounds, method: str, key: str) -> float:
    return statistics.median(float(result[key]) for result in rounds.results[method])


def _hidden(id_: str, goal: Goal, ranks: int) -> Figure:
    prefix = f"overlap {ranks}"
    methods = tuple(f"{prefix}/{way}" for way in WAYS)

    def find(rounds: Rounds) -> Found:
        walls = {method: _median(rounds, method, WALL) for method in methods}
        none = walls[f"{prefix}/none"]
        fastest = min((f"{prefix}/{way}" for way in SYNCHRONOUS), key=lambda name: walls[name])
        synchronous = walls[fastest]
        gib = ranks * BYTES_PER_RANK / GIB
        beside = {
            "exposed_seconds_per_gib": (walls[f"{prefix}/async"] - none) / gib,
            "exposed_seconds_per_gib_of_fastest_synchronous": (synchronous - none) / gib,
            "compute_phase_over_write": none / max(synchronous - none, 1e-9),
            "compute_ratio_of_async": _median(rounds, f"{prefix}/async", COMPUTE)
            / _median(rounds, f"{prefix}/none", COMPUTE),
            "median_wall_seconds": walls,
        }
        # The compute phase follows the disk from round to round, so rounds are compared by themselves.
        parts = [
            {"hidden": hidden_part(r[f"{prefix}/none"], r[fastest], r[f"{prefix}/async"])}
            for r in rounds.values(WALL, methods)
        ]
        return Found(estimate(parts, lambda m: m["hidden"]), beside)

    return Figure(id_, "1", goal, methods, find)


def _worst_kernel(rounds: Rounds, key: str) -> Estimate:
    samples = [
        {
            f"{method}/{kernel}": float(rounds.results[method][i][key][kernel])
            for method in ("stream/plain", "stream/same core")
            for kernel in KERNELS
        }
        for i in range(rounds.count())
    ]
    return estimate(
        samples, lambda m: max(m[f"stream/same core/{k}"] / m[f"stream/plain/{k}"] for k in KERNELS)
    )


def _stream_ratio(rounds: Rounds) -> Found:
    writing = _worst_kernel(rounds, "kernel_seconds_in_writing_loops")
    return Found(
        _worst_kernel(rounds, "kernel_seconds"),
        {"writing_loops_alone": {"value": writing.value, "spread": [writing.low, writing.high]}},
    )


def _plain_bandwidth(rounds: Rounds) -> Found:
    key = "best_bandwidth_gib_per_second"
    samples = [
        {
            f"{method}/{kernel}": float(rounds.results[method][i][key][kernel])
            for method in ("stream/plain", "stream/reference")
            for kernel in KERNELS
        }
        for i in range(rounds.count())
    ]
    found = estimate(
        samples, lambda m: min(m[f"stream/plain/{k}"] / m[f"stream/reference/{k}"] for k in KERNELS)
    )
    return Found(found, {"median_gib_per_second": medians(samples)})


def _put_time(rounds: Rounds) -> Found:
    method = "overlap 1/async"
    found = estimate(rounds.values("put_seconds", (method,)), lambda m: 1000 * m[method] / PUTS)
    longest = 1000 * max(float(r["put_longest_seconds"]) for r in rounds.results[method])
    return Found(found, {"longest_put_milliseconds": longest})


def _staging_overrun(rounds: Rounds) -> Found:
    # The goal is for whatever is sent, so it is the worst run that counts, not a median.
    limit = 32.0
    over = {
        load: [
            float(r["server_growth_bytes"]) / MIB - limit for r in rounds.results[f"memory/{load}"]
        ]
        for load in LOADS
    }
    worst = max(max(values) for values in over.values())
    beside = {"staging_limit_mib": limit, "by_load_mib": {k: max(v) for k, v in over.items()}}
    return Found(Estimate(worst, worst, worst), beside)


HIDDEN_CONSECUTIVE = "hidden-consecutive"

FIGURES = (
    _ratio("idle-tax-same-core", Goal(1.02), COMPUTE, "idle/sleep", "idle/alone"),
    _ratio("idle-tax-spinning", Goal(), COMPUTE, "idle/spin", "idle/alone"),
    Figure(
        "stream-ratio-oversubscribed",
        "1",
        Goal(1.10),
        ("stream/plain", "stream/same core"),
        _stream_ratio,
        HIDDEN_CONSECUTIVE,
    ),
    _hidden(HIDDEN_CONSECUTIVE, Goal(0.70, at_most=False), 1),
    _hidden("hidden-two-ranks-two-cores", Goal(), 2),
    Figure("put-time", "ms", Goal(1.0), ("overlap 1/async",), _put_time, HIDDEN_CONSECUTIVE),
    _ratio("sync-posix", Goal(1.05), WALL, "write/sync", "write/pwrite"),
    Figure(
        "stream-plain-bandwidth",
        "1",
        Goal(0.95, at_most=False),
        ("stream/plain", "stream/reference"),
        _plain_bandwidth,
    ),
    Figure(
        "staging-overrun",
        "MiB",
        Goal(64.0),
        tuple(f"memory/{load}" for load in LOADS),
        _staging_overrun,
    ),
)


def chosen(ids: list[str]) -> list[Figure]:
    """Return the figures with these ids, and those that must be met for them to count.

    Raises:
        ValueError: For an id that does not exist.
    """
    by_id = {figure.id: figure for figure in FIGURES}
    unknown = [id_ for id_ in ids if id_ not in by_id]
    if unknown:
        raise ValueError(f"no benchmark {', '.join(unknown)}; there are {', '.join(by_id)}")
    wanted = set(ids) | {by_id[id_].counts_with for id_ in ids}
    return [figure for figure in FIGURES if not ids or figure.id in wanted]
