# SPDX-License-Identifier: BSD-3-Clause
"""Figures of HPCG: what servers and output cost it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from iocomp_bench.figure import Figure, Found, per_round
from iocomp_bench.ways import NONE, PULLED, WAYS
from iocomp_studies.statistics import Goal, estimate

if TYPE_CHECKING:
    from iocomp_bench.methods import Runner
    from iocomp_studies.rounds import Rounds

Result = dict[str, Any]

LOOP = "loop_seconds"
PLAIN = {1: "hpcg/plain", 2: "hpcg/plain 2"}
IDLE = {1: "hpcg/idle", 2: "hpcg/idle 2"}
MATRIX = "hpcg/matrix"
SOLUTION = "hpcg/solution"


def _hpcg(runner: Runner, ranks: int, way_name: str, output: str) -> Result:
    """Run three sets of 64^3 points per rank; servers share the cores of the ranks they serve."""
    way = WAYS[way_name]
    arguments = ["--local", "64", "--sets", "3", "--output", output, "--backend", "posix",
                 "--file", str(runner.directory / "hpcg.dat"), *way.alloc_argument()]  # fmt: skip
    if way.mode == "none":
        arguments.append("--plain")
    cpus = way.cpus(ranks, same_core=True)
    return runner.run("apps/hpcg/hpcg", tuple(arguments), cpus, way.settings)


def hpcg_methods(runner: Runner) -> dict[str, Callable[[], Result]]:
    """Return the runs by name."""
    methods: dict[str, Callable[[], Result]] = {}
    for ranks in PLAIN:
        methods[PLAIN[ranks]] = partial(_hpcg, runner, ranks, NONE, "none")
        methods[IDLE[ranks]] = partial(_hpcg, runner, ranks, PULLED, "none")
    methods[MATRIX] = partial(_hpcg, runner, 1, PULLED, "matrix")
    methods[SOLUTION] = partial(_hpcg, runner, 1, "kernel", "solution")
    return methods


def _over(runs: list[Result]) -> float:
    return float(runs[0][LOOP] / runs[1][LOOP])


def _idle(id_: str, goal: Goal) -> Figure:
    """Return the loop beside idle servers divided by that without, for the worse count of ranks."""

    def find(rounds: Rounds) -> Found:
        each = {ranks: per_round(rounds, (IDLE[ranks], PLAIN[ranks]), _over) for ranks in PLAIN}
        worst = max(each.values(), key=lambda one: one.value)
        return Found(worst, {"by_ranks": {str(ranks): one.value for ranks, one in each.items()}})

    return Figure(id_, "1", goal, (*PLAIN.values(), *IDLE.values()), find)


def _output(id_: str, goal: Goal, method: str) -> Figure:
    """Return the loop with output divided by that without."""
    methods = (method, PLAIN[1])
    shown = ("send_seconds", "wait_seconds", "compute_seconds", "close_seconds")

    def find(rounds: Rounds) -> Found:
        parts = {
            key: estimate(rounds.values(key, (method,)), lambda m: m[method]).value for key in shown
        }
        return Found(per_round(rounds, methods, _over), {"median_seconds": parts})

    return Figure(id_, "1", goal, methods, find)


def hpcg_figures() -> tuple[Figure, ...]:
    """Return the figures and their goals."""
    return (
        _idle("hpcg-idle", Goal(1.01)),
        _output("hpcg-checkpoint", Goal(1.03), MATRIX),
        _output("hpcg-kernel", Goal(1.01), SOLUTION),
    )
