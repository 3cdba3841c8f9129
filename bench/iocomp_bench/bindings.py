# SPDX-License-Identifier: BSD-3-Clause
"""Figures of the bindings: what a call costs more than from C."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from iocomp_bench.figure import Figure, Found, per_round
from iocomp_bench.ways import PULLED, WAYS
from iocomp_studies.statistics import Goal

if TYPE_CHECKING:
    from iocomp_bench.methods import Runner
    from iocomp_studies.rounds import Rounds

WAY_OF_SIZE = {"4096": "kernel", "67108864": PULLED}
"""The way in which a put of so many bytes takes the least time, so that a binding shows most."""

Result = dict[str, Any]


def _name(way: str) -> str:
    return f"bindings/fortran, {way}"


def _fortran(runner: Runner, way: str) -> Result:
    """Put blocks of 4 KiB and of 64 MiB from Fortran and from C in turn, in one process."""
    arguments = ("--file", str(runner.directory / "fortran.dat"))
    cpus = WAYS[way].cpus(1, False)
    settings = {**WAYS[way].settings}
    if WAYS[way].servers:
        settings["placement.servers"] = "1 per 1"
    return runner.run("bench/fortran_cost", arguments, cpus, settings)


def binding_methods(runner: Runner) -> dict[str, Callable[[], Result]]:
    """Return the runs by name."""
    return {_name(way): partial(_fortran, runner, way) for way in WAY_OF_SIZE.values()}


def _fortran_over_c(run: Result, size: str) -> float:
    seconds = run["sizes"][size]
    return float(seconds["fortran_seconds"]) / float(seconds["c_seconds"])


def binding_figures() -> tuple[Figure, ...]:
    """Return the figures and their goals."""

    def find(rounds: Rounds) -> Found:
        by_size = {
            size: per_round(rounds, (_name(way),), lambda runs, s=size: _fortran_over_c(runs[0], s))
            for size, way in WAY_OF_SIZE.items()
        }
        worse = max(by_size.values(), key=lambda estimate: estimate.value)
        return Found(worse, {"by_size": {size: found.value for size, found in by_size.items()}})

    methods = tuple(_name(way) for way in WAY_OF_SIZE.values())
    return (Figure("fortran-cost", "1", Goal(1.05), methods, find),)
