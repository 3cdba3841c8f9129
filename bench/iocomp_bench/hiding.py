# SPDX-License-Identifier: BSD-3-Clause
"""Figures of bench/overlap: what is hidden, what it costs, and what rivals reach."""

from __future__ import annotations

import statistics
from typing import Any

from iocomp_bench.figure import ALONE, COMPUTE, GIB, MIB, WALL, Figure, Found, median, per_round
from iocomp_bench.methods import BYTES_PER_RANK
from iocomp_bench.ways import LONG_PHASES, LOSS, ORDINARY, SYNCHRONOUS, Overlap
from iocomp_studies.hidden import hidden_part
from iocomp_studies.rounds import Rounds
from iocomp_studies.statistics import Estimate, Goal, estimate


def _exposed(run: dict[str, Any]) -> float:
    """Return what output cost: the wall time less that of the computing alone, around it."""
    return float(run[WALL]) - float(run[ALONE])


def hidden(
    id_: str, goal: Goal, series: Overlap, way: str, others: tuple[str, ...] = ()
) -> Figure:
    """Return the hidden part of one way, with that of others beside it."""
    methods = tuple(series.method(name) for name in (*SYNCHRONOUS, way))
    optional = tuple(series.method(name) for name in others)

    def find(rounds: Rounds) -> Found:
        shown = [name for name in (*methods, *optional) if rounds.results.get(name)]
        exposed = {
            name: statistics.median(_exposed(run) for run in rounds.results[name]) for name in shown
        }
        fastest = min((series.method(name) for name in SYNCHRONOUS), key=lambda name: exposed[name])
        gib = series.ranks * BYTES_PER_RANK / GIB

        def part(method: str) -> Any:  # noqa: ANN401
            # The compute phase follows the disk from round to round: each round by itself.
            return per_round(
                rounds,
                (fastest, method),
                lambda runs: hidden_part(_exposed(runs[0]), _exposed(runs[1])),
            )

        chosen = series.method(way)
        alone = median(rounds, fastest, ALONE)
        beside = {
            "exposed_seconds_per_gib": exposed[chosen] / gib,
            "exposed_seconds_per_gib_of_fastest_synchronous": exposed[fastest] / gib,
            "compute_phase_over_write": alone / max(exposed[fastest], 1e-9),
            "compute_ratio_of_async": _ratio(rounds, chosen),
            "median_wall_seconds": {name: median(rounds, name, WALL) for name in shown},
            "hidden_of_others": {name: part(name).value for name in optional if name in shown},
        }
        return Found(part(chosen), beside)

    return Figure(id_, "1", goal, methods, find, optional=optional)


def _ratio(rounds: Rounds, method: str) -> float:
    return per_round(
        rounds, (method,), lambda runs: float(runs[0][COMPUTE]) / float(runs[0][ALONE])
    ).value


def cpu_lost(id_: str, goal: Goal, way: str) -> Figure:
    """Return the compute time that a way costs per GiB where all writing is inside the phases."""
    writing = LOSS.method(way)
    gib = BYTES_PER_RANK / GIB

    def find(rounds: Rounds) -> Found:
        lost = per_round(
            rounds, (writing,), lambda runs: (runs[0][COMPUTE] - runs[0][ALONE]) / gib
        )
        beside = {
            "compute_seconds": median(rounds, writing, COMPUTE),
            "compute_seconds_without_output": median(rounds, writing, ALONE),
            "wait_seconds": median(rounds, writing, "wait_seconds"),
            "close_seconds": median(rounds, writing, "close_seconds"),
        }
        return Found(lost, beside)

    return Figure(id_, "s/GiB", goal, (writing,), find)


def wall_against(id_: str, goal: Goal, *rivals: str) -> Figure:
    """Return the wall time of the kernel transport divided by that of the best of some rivals."""
    methods = tuple(LONG_PHASES.method(name) for name in ("kernel", *rivals))

    def find(rounds: Rounds) -> Found:
        best = min(methods[1:], key=lambda name: median(rounds, name, WALL))
        found = per_round(rounds, (methods[0], best), lambda runs: runs[0][WALL] / runs[1][WALL])
        walls = {method: median(rounds, method, WALL) for method in methods}
        return Found(found, {"best": best, "median_wall_seconds": walls})

    return Figure(id_, "1", goal, methods, find)


def wall_over_none(id_: str, goal: Goal, way: str, *others: str) -> Figure:
    """Return the wall time of a way, arrays from malloc, divided by that of computing alone."""
    methods = tuple(ORDINARY.method(name) for name in (way, *others))

    def find(rounds: Rounds) -> Found:
        found = {
            name: per_round(rounds, (name,), lambda runs: runs[0][WALL] / runs[0][ALONE])
            for name in methods
        }
        beside = {name: one.value for name, one in found.items() if name != methods[0]}
        return Found(found[methods[0]], {"others": beside})

    return Figure(id_, "1", goal, methods, find)


def put_time(id_: str, goal: Goal, method: str, puts: int, counts_with: str) -> Figure:
    """Return the mean time of a put of 64 MiB in a run, in milliseconds."""

    def find(rounds: Rounds) -> Found:
        found = estimate(rounds.values("put_seconds", (method,)), lambda m: 1000 * m[method] / puts)
        longest = 1000 * max(float(r["put_longest_seconds"]) for r in rounds.results[method])
        return Found(found, {"longest_put_milliseconds": longest})

    return Figure(id_, "ms", goal, (method,), find, counts_with)


def staging_overrun(id_: str, goal: Goal, loads: tuple[str, ...]) -> Figure:
    """Return by how much the memory of a server grew beyond its staging memory, at worst."""
    methods = {load: f"memory/{load}" for load in loads}

    def find(rounds: Rounds) -> Found:
        # The goal is for whatever is sent, so it is the worst run that counts, not a median.
        limit = 32.0
        over = {
            load: max(float(r["server_growth_bytes"]) / MIB - limit for r in rounds.results[method])
            for load, method in methods.items()
        }
        worst = max(over.values())
        beside = {"staging_limit_mib": limit, "by_load_mib": over}
        return Found(Estimate(worst, worst, worst), beside)

    return Figure(id_, "MiB", goal, tuple(methods.values()), find)
