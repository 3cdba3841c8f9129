"""Figures of bench/overlap: what is hidden, what it costs, and what rivals reach."""

from __future__ import annotations

from typing import Any

from iocomp_bench.figure import COMPUTE, GIB, MIB, WALL, Figure, Found, median, per_round
from iocomp_bench.methods import BYTES_PER_RANK
from iocomp_bench.ways import LONG_PHASES, LOSS, NONE, SYNCHRONOUS, Overlap
from iocomp_studies.hidden import hidden_part
from iocomp_studies.rounds import Rounds
from iocomp_studies.statistics import Estimate, Goal, estimate


def hidden(
    id_: str, goal: Goal, series: Overlap, way: str, others: tuple[str, ...] = ()
) -> Figure:
    """Return the hidden part of one way, with that of others beside it."""
    methods = tuple(series.method(name) for name in (NONE, *SYNCHRONOUS, way))
    optional = tuple(series.method(name) for name in others)

    def find(rounds: Rounds) -> Found:
        shown = [name for name in (*methods, *optional) if name in rounds.results]
        walls = {method: median(rounds, method, WALL) for method in shown}
        none = walls[series.method(NONE)]
        fastest = min((series.method(name) for name in SYNCHRONOUS), key=lambda name: walls[name])
        synchronous = walls[fastest]
        gib = series.ranks * BYTES_PER_RANK / GIB

        def part(method: str) -> Any:
            # The compute phase follows the disk from round to round: each round by itself.
            return per_round(
                rounds,
                (series.method(NONE), fastest, method),
                lambda runs: hidden_part(runs[0][WALL], runs[1][WALL], runs[2][WALL]),
            )

        chosen = series.method(way)
        beside = {
            "exposed_seconds_per_gib": (walls[chosen] - none) / gib,
            "exposed_seconds_per_gib_of_fastest_synchronous": (synchronous - none) / gib,
            "compute_phase_over_write": none / max(synchronous - none, 1e-9),
            "compute_ratio_of_async": median(rounds, chosen, COMPUTE)
            / median(rounds, series.method(NONE), COMPUTE),
            "median_wall_seconds": walls,
            "hidden_of_others": {name: part(name).value for name in optional if name in walls},
        }
        return Found(part(chosen), beside)

    return Figure(id_, "1", goal, methods, find, optional=optional)


def cpu_lost(id_: str, goal: Goal, way: str) -> Figure:
    """Return the compute time that a way costs per GiB where all writing is inside the phases."""
    none, writing = LOSS.method(NONE), LOSS.method(way)
    gib = BYTES_PER_RANK / GIB

    def find(rounds: Rounds) -> Found:
        lost = per_round(
            rounds, (none, writing), lambda runs: (runs[1][COMPUTE] - runs[0][COMPUTE]) / gib
        )
        beside = {
            "compute_seconds": median(rounds, writing, COMPUTE),
            "compute_seconds_without_output": median(rounds, none, COMPUTE),
            "wait_seconds": median(rounds, writing, "wait_seconds"),
            "close_seconds": median(rounds, writing, "close_seconds"),
        }
        return Found(lost, beside)

    return Figure(id_, "s/GiB", goal, (none, writing), find)


def wall_against(id_: str, goal: Goal, *rivals: str) -> Figure:
    """Return the wall time of the kernel transport divided by that of the best of some rivals."""
    methods = tuple(LONG_PHASES.method(name) for name in ("kernel", *rivals))

    def find(rounds: Rounds) -> Found:
        best = min(methods[1:], key=lambda name: median(rounds, name, WALL))
        found = per_round(rounds, (methods[0], best), lambda runs: runs[0][WALL] / runs[1][WALL])
        walls = {method: median(rounds, method, WALL) for method in methods}
        return Found(found, {"best": best, "median_wall_seconds": walls})

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
