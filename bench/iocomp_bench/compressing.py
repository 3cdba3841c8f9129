# SPDX-License-Identifier: BSD-3-Clause
"""Figures of compression: what of it is hidden, and what the writer threads of a process do."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from iocomp_bench.blocks import Blocks, hidden_in
from iocomp_bench.figure import Figure, Found, per_round
from iocomp_bench.ways import SYNC
from iocomp_studies.hidden import hidden_part
from iocomp_studies.rounds import Rounds
from iocomp_studies.statistics import Goal

if TYPE_CHECKING:
    from iocomp_bench.methods import Runner

METHODS = ("deflate", "zstd")
THREADS = 2
BOTH_CORES = "0-1"
SIZE = 400
"""Elements (doubles) in each of three dimensions: opening and commit are a small part."""

HIDDEN_SIZE = 192
HIDDEN_STEPS = 8
HIDDEN_PHASE = 4
NOISE_BITS = 40
"""The random bits of a double's 52: it compresses to six tenths, as those of a simulation do."""
WAITS = {"compress-hidden": 0.25, "compress-hidden-busy": 0.0}
"""The part of a phase in which ranks wait, by figure."""
CORES = 2

COPY = "threads/copy"
IDLE = "threads/idle"
IDLE_THREADS = 8
COPIED_RUN = "256"
"""Elements of the runs that are scattered."""

Result = dict[str, Any]


def _copy(runner: Runner) -> Result:
    """Pack and scatter 128 MiB by one thread and by several in turn, in one process."""
    arguments = ("--threads", str(THREADS))
    return runner.run("bench/packing", arguments, (BOTH_CORES,), {})


def _idle(runner: Runner) -> Result:
    """Compute beside threads that sleep, and without, in turn, in one process."""
    return runner.run("bench/packing", ("--idle", str(IDLE_THREADS)), (BOTH_CORES,), {})


def _name(method: str, threads: int) -> str:
    return f"compress/{method} by {threads}"


def _compress(runner: Runner, method: str, threads: int) -> Result:
    size = ",".join([str(SIZE)] * 3)
    words = f"--size {size} --check none --alloc --backend netcdf:sync --repetitions 3"
    arguments = (*words.split(), "--set", f'files.default.compression = "{method}"',
                 "--directory", str(runner.directory))  # fmt: skip
    settings = {**SYNC, "writing.threads": str(threads)}
    return runner.run("apps/benchio/benchio", arguments, (BOTH_CORES,), settings)


def _phases(waits: float) -> Blocks:
    """Return a series by two ranks and two servers, synchronously, asynchronously and not at all."""
    ways = "--backend hdf5:sync,hdf5 --baseline none"
    values = f"--steps {HIDDEN_STEPS} --repetitions 1 --noise {NOISE_BITS}"
    phases = f"--phase {HIDDEN_PHASE} --phase-waits {waits}"
    return Blocks(ways, 2, 2, f"{values} {phases}", HIDDEN_SIZE)


def _hidden(runner: Runner, waits: float) -> Result:
    """Run it with servers that stand back."""
    series = {
        "files.default.layout": "time",
        "files.default.compression": "zstd",
        "server.nice": "19",
        "trace.json": str(runner.directory / "trace.json"),
    }
    return _phases(waits).run(runner, series)


def compression_methods(runner: Runner) -> dict[str, Callable[[], Result]]:
    """Return the runs by name."""
    return {
        _name(method, threads): partial(_compress, runner, method, threads)
        for method in METHODS
        for threads in (1, THREADS)
    } | {
        COPY: partial(_copy, runner),
        IDLE: partial(_idle, runner),
        **{id_: partial(_hidden, runner, waits) for id_, waits in WAITS.items()},
    }


def _rate(run: Result) -> float:
    (way,) = run["ways"].values()
    return float(way["gib_per_second"]["median"])


def _scaling(method: str) -> Figure:
    """Return the rate by several threads divided by so many times that of one."""
    methods = (_name(method, 1), _name(method, THREADS))

    def find(rounds: Rounds) -> Found:
        found = per_round(rounds, methods, lambda runs: _rate(runs[1]) / (THREADS * _rate(runs[0])))
        medians = {name: statistics.median(map(_rate, rounds.results[name])) for name in methods}
        return Found(found, {"median_gib_per_second": medians})

    return Figure(f"{method}-rate", "1", Goal(0.9, at_most=False), methods, find)


def _quicker() -> Figure:
    """Return the rate of zstd divided by that of deflate, each by one thread."""
    methods = (_name("zstd", 1), _name("deflate", 1))

    def find(rounds: Rounds) -> Found:
        return Found(per_round(rounds, methods, lambda runs: _rate(runs[0]) / _rate(runs[1])))

    return Figure("zstd-over-deflate", "1", Goal(), methods, find)


def _copying() -> Figure:
    """Return how many times as fast several threads scatter as one."""

    def gain(run: Result) -> float:
        return statistics.median(run["gains"][COPIED_RUN]["scatter"])

    def find(rounds: Rounds) -> Found:
        return Found(per_round(rounds, (COPY,), lambda runs: gain(runs[0])))

    return Figure("threads-copy", "1", Goal(1.7, at_most=False), (COPY,), find)


def _sleeping() -> Figure:
    """Return what a computation takes beside sleeping threads, divided by what it takes alone."""

    def find(rounds: Rounds) -> Found:
        return Found(
            per_round(rounds, (IDLE,), lambda runs: statistics.median(runs[0]["costs"]))
        )

    return Figure("threads-idle", "1", Goal(1.005, at_most=True), (IDLE,), find)


def account(run: Result) -> dict[str, float]:
    """Return the processor time of output, what phases leave of it, and what that could hide."""
    none, sync, behind = (run["ways"][way] for way in ("none", "iocomp hdf5:sync", "iocomp hdf5"))
    (wall, alone), (cpu, cpu_alone) = (
        (sync[key][0], none[key][0]) for key in ("seconds", "cpu_seconds")
    )
    counters = run["trace"]["server_sum"]
    # The counters are of the file that was timed: servers have also written some steps before.
    servers = counters["cpu_seconds"] * run["bytes"] / counters["raw_bytes"]
    output = behind["cpu_seconds"][0] - cpu_alone + servers
    idle = CORES * alone - cpu_alone
    return {
        "cpu_seconds_of_synchronous_output": cpu - cpu_alone,
        "cpu_seconds_of_output": output,
        "cpu_seconds_of_servers": servers,
        "idle_seconds_of_phases": idle,
        "hidden_if_all_idle_time_was_used": hidden_part(
            CORES * (wall - alone), max(0.0, output - idle)
        ),
    }


def _hiding(id_: str, goal: Goal) -> Figure:
    """Return the hidden part of a compressed series, and beside it where its time comes from."""

    def find(rounds: Rounds) -> Found:
        found = per_round(rounds, (id_,), lambda runs: hidden_in(runs[0], "hdf5"))
        accounts = [
            one for run in rounds.results[id_] if not math.isnan(hidden_in(run, "hdf5"))
            for one in (account(run),)
        ]  # fmt: skip
        return Found(
            found, {key: statistics.median(one[key] for one in accounts) for key in accounts[0]}
        )

    return Figure(id_, "1", goal, (id_,), find)


def compression_figures() -> tuple[Figure, ...]:
    """Return the figures and their goals."""
    return (
        *(_scaling(method) for method in METHODS),
        _quicker(),
        _copying(),
        _sleeping(),
        _hiding("compress-hidden", Goal(0.6, at_most=False)),
        _hiding("compress-hidden-busy", Goal()),
    )
