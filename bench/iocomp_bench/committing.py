# SPDX-License-Identifier: BSD-3-Clause
"""Figures of bench/commit: what the commit of a step costs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from iocomp_bench.figure import MIB, Figure, Found, median_ratio, per_round, worst
from iocomp_bench.ways import KERNEL, SHARED, SYNC
from iocomp_studies.statistics import Goal

if TYPE_CHECKING:
    from iocomp_bench.methods import Runner
    from iocomp_studies.rounds import Rounds

MODES = {"shared": SHARED, "kernel": KERNEL, "sync": SYNC}
BACKENDS = ("hdf5", "hdf5-time", "netcdf", "pnetcdf", "posix")
LARGE = "commit/large"
GROWING = ("posix", "hdf5")
GROWN_STEPS = 10_000

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
        settings |= {"placement.servers": "[2]"}
    cpus = (0, 1, 0) if mode == "shared" else (0, 1)
    return runner.run("bench/commit", ("--backend", name, "--file", path, *more), cpus, settings)


def _small(runner: Runner, mode: str, backend: str) -> Result:
    """Commit 200 steps of a variable of 1 KiB, from two ranks."""
    return _run(runner, mode, backend, "--variables", "1", "--steps", "200")


def _large(runner: Runner) -> Result:
    """Write steps of 256 MiB behind 1,000 small ones, of 100 variables."""
    arguments = ("--variables", "100", "--steps", "1000", "--elements", "8", "--no-fsyncs")
    large = ("--large-pairs", "8", "--bytes", str(256 * MIB))
    return _run(runner, "kernel", "hdf5", *arguments, *large)


def _growing_name(backend: str) -> str:
    return f"commit/growing {backend}"


def _grow(runner: Runner, backend: str) -> Result:
    """Commit 10,000 steps of a variable of 512 B, from one rank."""
    path = str(runner.directory / "commit.dat")
    arguments = ("--backend", backend, "--file", path, "--variables", "1", "--no-fsyncs",
                 "--steps", str(GROWN_STEPS))  # fmt: skip
    return runner.run("bench/commit", arguments, (0,), KERNEL)


def commit_methods(runner: Runner) -> dict[str, Callable[[], Result]]:
    """Return the runs by name."""
    methods: dict[str, Callable[[], Result]] = {
        _name(mode, backend): partial(_small, runner, mode, backend)
        for mode in MODES
        for backend in BACKENDS
    }
    methods[LARGE] = partial(_large, runner)
    for backend in GROWING:
        methods[_growing_name(backend)] = partial(_grow, runner, backend)
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
    """Return what a step takes until committed, divided by one until durable, less one."""

    def find(rounds: Rounds) -> Found:
        def added(run: Result) -> float:
            return median_ratio(run["committed_seconds"], run["durable_seconds"]) - 1

        return Found(per_round(rounds, (LARGE,), lambda runs: added(runs[0])))

    return Figure(id_, "1", goal, (LARGE,), find)


def _growth(id_: str, goal: Goal, backend: str) -> Figure:
    """Return what the last commits of a long series take, divided by what the first ones took."""
    name = _growing_name(backend)

    def find(rounds: Rounds) -> Found:
        def grown(run: Result) -> float:
            return float(run["last_steps_seconds"]) / float(run["first_steps_seconds"])

        return Found(per_round(rounds, (name,), lambda runs: grown(runs[0])))

    return Figure(id_, "1", goal, (name,), find)


def commit_figures() -> tuple[Figure, ...]:
    """Return the figures and their goals."""
    return (
        _commit_small("commit-small", Goal(2), "hdf5"),
        *(_commit_small(f"commit-small-{name}", Goal(2), name) for name in BACKENDS[1:]),
        _commit_cost("commit-cost", Goal(0.03)),
        _growth("manifest-growth", Goal(1.5), GROWING[0]),
        *(_growth(f"manifest-growth-{name}", Goal(1.5), name) for name in GROWING[1:]),
    )
