# SPDX-License-Identifier: BSD-3-Clause
"""Figures of what is many and small: variables of a step, runs of a decomposition."""

from __future__ import annotations

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


def definition_methods(runner: Runner) -> dict[str, Callable[[], Result]]:
    """Return the runs by name."""
    methods: dict[str, Callable[[], Result]] = {
        _name(mode, backend): partial(_small_variables, runner, mode, backend)
        for mode in MODES
        for backend in BACKENDS
    }
    methods[DECOMPOSITION] = partial(_decomposition, runner)
    return methods


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


def definition_figures() -> tuple[Figure, ...]:
    """Return the figures and their goals."""
    return (
        _small("small-variables", Goal(20), "posix"),
        *(_small(f"small-variables-{name}", Goal(20), name) for name in BACKENDS[1:]),
        _irregular("irregular-definition", "s", Goal(0.5), "define_seconds"),
        _irregular("irregular-definition-bytes", "B", Goal(32), "bytes_per_run"),
    )
