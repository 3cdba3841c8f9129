# SPDX-License-Identifier: BSD-3-Clause
"""Figures of what is many and small: variables of a step, runs of a decomposition, of E3SM."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from iocomp_bench.figure import Figure, Found, per_round, worst
from iocomp_bench.ways import KERNEL, MESSAGE, SHARED, SYNC
from iocomp_studies.statistics import Goal

if TYPE_CHECKING:
    from iocomp_bench.methods import Runner
    from iocomp_studies.rounds import Rounds

MODES = {"shared": SHARED, "message": MESSAGE, "kernel": KERNEL, "sync": SYNC}
WITH_SERVERS = ("shared", "message")
BACKENDS = ("posix", "hdf5", "hdf5-time", "pnetcdf", "netcdf")
"""hdf5-time: one dataset for all steps of a variable."""
DECOMPOSITION = "definition of runs"
DECOMPOSITION_RANKS = 8
E3SM = {"f": 6_000, "g": 24_000, "i": 24_000}
"""The cells of the mesh by case."""

Result = dict[str, Any]


def _name(mode: str, backend: str) -> str:
    return f"small variables/{mode} {backend}"


def _small_variables(runner: Runner, mode: str, backend: str) -> Result:
    """Put 500 variables in each of 20 steps, from two ranks."""
    name, _, layout = backend.partition("-")
    arguments = ("--backend", name, "--file", str(runner.directory / "small.dat"))
    settings = dict(MODES[mode])
    if layout:
        settings["files.default.layout"] = layout
    if mode in WITH_SERVERS:
        settings |= {"placement.servers": "[2]"}
    cpus = (0, 1, 0) if mode in WITH_SERVERS else (0, 1)
    return runner.run("bench/small_variables", arguments, cpus, settings)


def _decomposition(runner: Runner) -> Result:
    """Define 100,000 runs on each of eight ranks."""
    arguments = ("--file", str(runner.directory / "runs.dat"))
    cpus = tuple(rank % 2 for rank in range(DECOMPOSITION_RANKS))
    return runner.run("bench/decomposition", arguments, cpus, SYNC)


def _e3sm(runner: Runner, case: str) -> Result:
    """Write two steps of a case by iocomp and by PnetCDF, four ranks on two cores, three files each."""
    file = ("--file", str(runner.directory / "e3sm.nc"))
    arguments = ("--case", case, "--cells", str(E3SM[case]), "--steps", "2", *file)
    return runner.run("bench/e3sm", arguments, (0, 1, 0, 1), KERNEL, timeout_seconds=600)


def definition_methods(runner: Runner) -> dict[str, Callable[[], Result]]:
    """Return the runs by name."""
    methods: dict[str, Callable[[], Result]] = {
        _name(mode, backend): partial(_small_variables, runner, mode, backend)
        for mode in MODES
        for backend in BACKENDS
    }
    methods[DECOMPOSITION] = partial(_decomposition, runner)
    return methods | {f"e3sm/{case}": partial(_e3sm, runner, case) for case in E3SM}


def _microseconds(run: Result) -> float:
    return 1e6 * float(run["wall_seconds_per_variable"])


def _small(id_: str, goal: Goal, backend: str) -> Figure:
    """Return the time that a variable of a step takes until durable, in the worst mode."""
    modes = {mode: _name(mode, backend) for mode in MODES}

    def find(rounds: Rounds) -> Found:
        return worst(rounds, modes, _microseconds, "microseconds")

    return Figure(id_, "us", goal, tuple(modes.values()), find)


def _irregular(id_: str, unit: str, goal: Goal, key: str) -> Figure:
    def find(rounds: Rounds) -> Found:
        return Found(per_round(rounds, (DECOMPOSITION,), lambda runs: float(runs[0][key])))

    return Figure(id_, unit, goal, (DECOMPOSITION,), find)


def _over_pnetcdf(case: str) -> Figure:
    """Return the time of a case divided by that of PnetCDF's own calls."""
    method = f"e3sm/{case}"

    def ratio(key: str) -> Callable[[list[Result]], float]:
        return lambda runs: statistics.median(runs[0]["iocomp"][key]) / statistics.median(
            runs[0]["pnetcdf"][key]
        )

    def find(rounds: Rounds) -> Found:
        puts = per_round(rounds, (method,), ratio("put_seconds")).value
        return Found(per_round(rounds, (method,), ratio("durable_seconds")), {"puts": puts})

    return Figure(f"e3sm-{case}", "1", Goal(1.0), (method,), find)


def definition_figures() -> tuple[Figure, ...]:
    """Return the figures and their goals."""
    return (
        _small("small-variables", Goal(20), "posix"),
        *(_small(f"small-variables-{name}", Goal(20), name) for name in BACKENDS[1:]),
        _irregular("irregular-definition", "s", Goal(0.5), "define_seconds"),
        _irregular("irregular-definition-bytes", "B", Goal(32), "bytes_per_run"),
        *map(_over_pnetcdf, E3SM),
    )
