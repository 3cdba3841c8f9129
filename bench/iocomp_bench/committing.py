# SPDX-License-Identifier: BSD-3-Clause
"""Figures of bench/commit: what the commit of a step costs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from iocomp_bench.figure import MIB, Figure, Found, per_round, worst
from iocomp_bench.ways import KERNEL, SHARED, SYNC
from iocomp_studies.statistics import Goal

if TYPE_CHECKING:
    from iocomp_bench.methods import Runner
    from iocomp_studies.rounds import Rounds

MODES = {"shared": SHARED, "kernel": KERNEL, "sync": SYNC}
BACKENDS = ("hdf5", "hdf5-time", "netcdf", "pnetcdf", "posix")
LARGE = "commit/large"

Result = dict[str, Any]


def _name(mode: str, backend: str) -> str:
    return f"commit/{mode} {backend}"


def _run(runner: Runner, mode: str, backend: str, *more: str) -> Result:
    name, _, layout = backend.partition("-")
    path = str(runner.directory / "commit.dat")
    settings = dict(MODES[mode])
    if layout:
        settings["files.default.layout"] = layout
    if mode == "shared":
        settings |= {"placement.policy": "list", "placement.servers": "2"}
    cpus = (0, 1, 0) if mode == "shared" else (0, 1)
    return runner.run("bench/commit", ("--backend", name, "--file", path, *more), cpus, settings)


def _small(runner: Runner, mode: str, backend: str) -> Result:
    """Commit 200 steps of a variable of 1 KiB, from two ranks."""
    return _run(runner, mode, backend, "--variables", "1", "--steps", "200")


def _large(runner: Runner) -> Result:
    """Commit steps of 256 MiB behind 1,000 small ones, of 100 variables."""
    arguments = ("--variables", "100", "--steps", "1000", "--elements", "8")
    large = ("--large-steps", "4", "--bytes", str(256 * MIB))
    return _run(runner, "kernel", "hdf5", *arguments, *large)


def commit_methods(runner: Runner) -> dict[str, Callable[[], Result]]:
    """Return the runs by name."""
    methods: dict[str, Callable[[], Result]] = {
        _name(mode, backend): partial(_small, runner, mode, backend)
        for mode in MODES
        for backend in BACKENDS
    }
    methods[LARGE] = partial(_large, runner)
    return methods


def _times_two_fsyncs(run: Result) -> float:
    return float(run["small_step_seconds"]["median"]) / float(run["two_fsyncs_seconds"]["median"])


def _commit_small(id_: str, goal: Goal, backend: str) -> Figure:
    """Return a small step until committed, divided by two fsyncs, in the worst mode."""
    modes = {mode: _name(mode, backend) for mode in MODES}

    def find(rounds: Rounds) -> Found:
        return worst(rounds, modes, _times_two_fsyncs, "by_mode")

    return Figure(id_, "1", goal, tuple(modes.values()), find)


def _commit_cost(id_: str, goal: Goal) -> Figure:
    """Return what the commit adds to a step of 256 MiB, divided by that step until durable."""

    def find(rounds: Rounds) -> Found:
        def added(run: Result) -> float:
            commit, step = run["large_commit_seconds"], run["large_step_seconds"]
            return float(commit["median"]) / float(step["median"])

        return Found(per_round(rounds, (LARGE,), lambda runs: added(runs[0])))

    return Figure(id_, "1", goal, (LARGE,), find)


def commit_figures() -> tuple[Figure, ...]:
    """Return the figures and their goals."""
    return (
        _commit_small("commit-small", Goal(2), "hdf5"),
        *(_commit_small(f"commit-small-{name}", Goal(2), name) for name in BACKENDS[1:]),
        _commit_cost("commit-cost", Goal(0.03)),
    )
