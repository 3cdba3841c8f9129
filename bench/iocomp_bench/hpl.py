# SPDX-License-Identifier: BSD-3-Clause
"""Figures of HPL: whether it is right and quick, and what servers and output cost it."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iocomp_bench.figure import Figure, Found, per_round, worst
from iocomp_bench.ways import IN_PLACE, NONE, PULLED, WAYS
from iocomp_studies.statistics import Goal, estimate

if TYPE_CHECKING:
    from iocomp_bench.methods import Runner
    from iocomp_studies.rounds import Rounds

Result = dict[str, Any]

HPCC = Path(__file__).resolve().parents[1] / "rivals" / "hpcc.py"
BLOCK = 128
SYSTEMS = 3
"""That are solved one after the other where the rate counts."""
LATE_SECONDS = 600.0
"""hpcc runs all of its benchmarks, whichever is wanted."""
RIGHT = {
    f"hpl/residual {size} {rows}x{columns}": (size, rows, columns)
    for size in (2000, 4000)
    for rows, columns in ((1, 1), (1, 2), (2, 2))
}
RATES = {f"1x{ranks}": (f"hpl/rate 1x{ranks}", f"hpl/hpcc 1x{ranks}") for ranks in (1, 2)}
IDLE = {str(ranks): (f"hpl/idle {ranks}", f"hpl/plain {ranks}") for ranks in (1, 2)}
PLAIN = "hpl/plain large"
LARGE, LARGE_SYSTEMS = 8000, 2
"""The output grows with the square of N, and the work with the cube: programs of this kind
fill the memory."""
OUTPUT = {
    "kernel": ("kernel", False),
    "same core": (IN_PLACE, True),
    "same core, pulled": (PULLED, True),
    "other core": (PULLED, False),
}
"""Way, and whether a server is on the same core."""


def _hpl(
    runner: Runner,
    size: int,
    ranks: int,
    *,
    way_name: str = NONE,
    output: str = "none",
    repetitions: int = SYSTEMS,
    same_core: bool = True,
    grid: str = "",
    cpus: tuple[int, ...] = (),
) -> Result:
    way = WAYS[way_name]
    arguments = ["--size", str(size), "--block", str(BLOCK), "--repetitions", str(repetitions),
                 "--output", output, "--backend", "posix", "--file", str(runner.directory / "hpl"),
                 *way.alloc_argument()]  # fmt: skip
    arguments += ["--grid", grid] if grid else []
    arguments += ["--plain"] if way.mode == "none" else []
    seats = cpus or way.cpus(ranks, same_core)
    return runner.run("apps/hpl/hpl", tuple(arguments), seats, way.settings)


def _right(runner: Runner, size: int, rows: int, columns: int) -> Result:
    cpus = tuple(rank % 2 for rank in range(rows * columns))
    grid = f"{rows},{columns}"
    return _hpl(runner, size, rows * columns, repetitions=1, grid=grid, cpus=cpus)


def _hpcc(runner: Runner, ranks: int) -> Result:
    arguments = ["--size", "4000", "--block", str(BLOCK), "--grid", f"1,{ranks}",
                 "--systems", str(SYSTEMS), "--folder", str(runner.directory),
                 "--hpl", str(runner.build.directory / "apps/hpl/hpl")]  # fmt: skip
    cpus = tuple(range(ranks))
    return runner.run(str(HPCC), tuple(arguments), cpus, {}, LATE_SECONDS)


def hpl_methods(runner: Runner) -> dict[str, Callable[[], Result]]:
    """Return the runs by name."""
    methods: dict[str, Callable[[], Result]] = {
        name: partial(_right, runner, *case) for name, case in RIGHT.items()
    }
    for ranks, (own, rival) in enumerate(RATES.values(), 1):
        methods[own] = partial(_hpl, runner, 4000, ranks, grid=f"1,{ranks}")
        methods[rival] = partial(_hpcc, runner, ranks)
    for ranks, (idle, plain) in enumerate(IDLE.values(), 1):
        methods[idle] = partial(_hpl, runner, 6000, ranks, way_name=PULLED)
        methods[plain] = partial(_hpl, runner, 6000, ranks)
    large = partial(_hpl, runner, LARGE, 1, output="factors", repetitions=LARGE_SYSTEMS)
    methods[PLAIN] = large
    for name, (way, same_core) in OUTPUT.items():
        methods[f"hpl/{name}"] = partial(large, way_name=way, same_core=same_core)
    return methods


def _residual(id_: str, goal: Goal) -> Figure:
    def find(rounds: Rounds) -> Found:
        cases = {name.removeprefix("hpl/residual "): name for name in RIGHT}
        return worst(rounds, cases, lambda one: max(map(float, one["residuals"])), "by_system")

    return Figure(id_, "1", goal, tuple(RIGHT), find)


def median_rate(result: Mapping[str, Any]) -> float:
    """Return the rate of the median of the systems that a run has solved, in 10⁹ a second."""
    if "gflop_per_second_by_system" in result:
        return statistics.median(map(float, result["gflop_per_second_by_system"]))
    seconds = statistics.median(map(float, result["hpl_seconds_by_repetition"]))
    return float(result["operations"]) / 1e9 / seconds


def _rate(id_: str, goal: Goal) -> Figure:
    def find(rounds: Rounds) -> Found:
        def over(runs: list[Result]) -> float:
            return median_rate(runs[0]) / median_rate(runs[1])

        each = {grid: per_round(rounds, pair, over) for grid, pair in RATES.items()}
        rates = {
            name: per_round(rounds, (name,), lambda runs: median_rate(runs[0])).value
            for pair in RATES.values()
            for name in pair
        }
        beside = {"by_grid": {grid: one.value for grid, one in each.items()}, "gflop_per_s": rates}
        return Found(min(each.values(), key=lambda one: one.value), beside)

    return Figure(id_, "1", goal, tuple(name for pair in RATES.values() for name in pair), find)


def _idle(id_: str, goal: Goal) -> Figure:
    def find(rounds: Rounds) -> Found:
        def over(runs: list[Result]) -> float:
            return float(runs[0]["loop_seconds"] / runs[1]["loop_seconds"])

        each = {ranks: per_round(rounds, pair, over) for ranks, pair in IDLE.items()}
        largest = max(each.values(), key=lambda one: one.value)
        return Found(largest, {"by_ranks": {ranks: one.value for ranks, one in each.items()}})

    return Figure(id_, "1", goal, tuple(name for pair in IDLE.values() for name in pair), find)


def _output(id_: str, goal: Goal, method: str) -> Figure:
    """Return the repetitions behind which the one before is written, divided by those of none."""
    methods = (method, PLAIN)
    shown = ("send_seconds", "wait_seconds", "compute_seconds", "loop_seconds")

    def of_late(result: Mapping[str, Any]) -> float:
        return sum(map(float, result["loop_seconds_by_repetition"][1:]))

    def find(rounds: Rounds) -> Found:
        found = per_round(rounds, methods, lambda runs: of_late(runs[0]) / of_late(runs[1]))
        loop = per_round(rounds, methods, lambda r: r[0]["loop_seconds"] / r[1]["loop_seconds"])
        parts = {
            key: estimate(rounds.values(key, (method,)), lambda m: m[method]).value for key in shown
        }
        return Found(found, {"whole_loop": loop.value, "median_seconds": parts})

    return Figure(id_, "1", goal, methods, find)


def hpl_figures() -> tuple[Figure, ...]:
    """Return the figures and their goals."""
    return (
        _residual("hpl-residual", Goal(16)),
        _rate("hpl-rate", Goal(0.9, at_most=False)),
        _idle("hpl-idle", Goal(1.01)),
        _output("hpl-output", Goal(1.02), "hpl/kernel"),
        _output("hpl-output-same-core", Goal(1.05), "hpl/same core"),
        _output("hpl-output-same-core-pull", Goal(None), "hpl/same core, pulled"),
        _output("hpl-output-other-core", Goal(1.02), "hpl/other core"),
    )
