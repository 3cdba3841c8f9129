# SPDX-License-Identifier: BSD-3-Clause
"""Figures of Zarr stores: beside other formats, and beside other libraries that write them."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iocomp_bench.blocks import Blocks
from iocomp_bench.compressing import NOISE_BITS
from iocomp_bench.figure import Figure, Found, NotKnownError, per_round
from iocomp_bench.ways import KERNEL
from iocomp_studies.hidden import hidden_part
from iocomp_studies.statistics import Goal

if TYPE_CHECKING:
    from iocomp_bench.methods import Runner
    from iocomp_studies.rounds import Rounds

BENCH = Path(__file__).resolve().parents[1]
RANKS = 4
PLAIN, PACKED, HIDDEN, READING = "zarr/plain", "zarr/zstd", "zarr/hidden", "zarr/reading"
REPETITIONS = 5
STEPS, PHASE = 8, 3.0
RIVALS = ("zarr", "tensorstore")

Result = dict[str, Any]


def _blocks(runner: Runner, back_ends: str, *words: str) -> Result:
    """Write malloc'ed blocks of a 3-D array by four ranks, synchronously."""
    ways = f"--backend {back_ends} --baseline none"
    blocks = Blocks(ways, RANKS, 0, f"--repetitions {REPETITIONS}", own=False)
    arguments = (*blocks.arguments(runner.directory), *words)
    return runner.run("apps/benchio/benchio", arguments, blocks.cpus(), blocks.settings())


def _packed(runner: Runner) -> Result:
    words = ("--noise", str(NOISE_BITS), "--set", 'files.default.compression = "zstd"')
    layout = ("--set", 'files.benchio-hdf5-sync.layout = "time"')
    return _blocks(runner, "zarr:sync,hdf5:sync", *words, *layout)


def _phases(runner: Runner) -> Result:
    """Write slabs while two ranks compute, with MPI_THREAD_MULTIPLE."""
    blocks = Blocks(
        "--backend posix:sync,posix,zarr:sync,zarr --baseline none",
        2,
        0,
        f"--repetitions 1 --steps {STEPS} --phase {PHASE} --mpi-threads",
        own=False,
        is_synchronous=False,
    )
    return blocks.run(runner)


def _rival(runner: Runner, library: str, packs: bool) -> Result:
    words = ("--compress", "--noise", str(NOISE_BITS)) if packs else ()
    arguments = (
        *("--library", library, "--repetitions", str(REPETITIONS), *words),
        *("--directory", str(runner.directory)),
    )
    program = str(BENCH / "rivals" / "zarr_shards.py")
    return runner.run(sys.executable, (program, *arguments), (0, 1, 0, 1), {})


def _reading(runner: Runner) -> Result:
    """Read a variable of a GiB from a store by xarray and zarr-python, and from posix by iocomp."""
    library = {"library": str(runner.build.directory / "lib/libiocomp.so")}
    arguments = (str(BENCH / "python" / "read_zarr.py"), "--file", str(runner.directory / "b"))
    return runner.run(sys.executable, arguments, (0,), {**KERNEL, **library})


def _rival_name(library: str, packs: bool) -> str:
    return f"zarr/by {library}{', zstd' if packs else ''}"


def store_methods(runner: Runner) -> dict[str, Callable[[], Result]]:
    """Return the runs by name."""
    return {
        PLAIN: partial(_blocks, runner, "zarr:sync,posix:sync"),
        PACKED: partial(_packed, runner),
        HIDDEN: partial(_phases, runner),
        READING: partial(_reading, runner),
        **{
            _rival_name(library, packs): partial(_rival, runner, library, packs)
            for library in RIVALS
            for packs in (False, True)
        },
    }


def _seconds(run: Result, way: str) -> float:
    return statistics.median(float(value) for value in run["ways"][f"iocomp {way}"]["seconds"])


def _hidden(run: Result, name: str) -> float:
    none = statistics.median(float(value) for value in run["ways"]["none"]["seconds"])
    return hidden_part(_seconds(run, f"{name}:sync") - none, _seconds(run, name) - none)


def _over(id_: str, goal: float, method: str, other: str) -> Figure:
    """Return the time of a store divided by that of another format."""

    def find(rounds: Rounds) -> Found:
        return Found(
            per_round(
                rounds, (method,), lambda runs: _seconds(runs[0], "zarr:sync") / _seconds(runs[0], other)
            )
        )

    return Figure(id_, "1", Goal(goal), (method,), find)


def _over_rivals(id_: str, packs: bool) -> Figure:
    """Return the time of a store divided by that of the fastest other library that writes one."""
    names = tuple(_rival_name(library, packs) for library in RIVALS)
    methods = (PACKED if packs else PLAIN, *names)

    def find(rounds: Rounds) -> Found:
        def over(runs: list[Result], rivals: slice) -> float:
            fastest = min(statistics.median(run["seconds"]) for run in runs[rivals])
            return _seconds(runs[0], "zarr:sync") / fastest

        beside = {
            library: per_round(rounds, methods, lambda runs, n=number: over(runs, slice(n, n + 1))).value
            for number, library in enumerate(RIVALS, 1)
        }
        return Found(per_round(rounds, methods, lambda runs: over(runs, slice(1, None))), {"over": beside})

    return Figure(id_, "1", Goal(0.7), methods, find)


def store_figures() -> tuple[Figure, ...]:
    """Return the figures and their goals."""

    def hidden(rounds: Rounds) -> Found:
        found = per_round(rounds, (HIDDEN,), lambda runs: _hidden(runs[0], "zarr"))
        try:
            posix = per_round(rounds, (HIDDEN,), lambda runs: _hidden(runs[0], "posix"))
        except NotKnownError:
            return Found(found)
        return Found(found, {"posix": posix.value})

    def reading(rounds: Rounds) -> Found:
        return Found(
            per_round(rounds, (READING,), lambda runs: runs[0]["zarr_seconds"] / runs[0]["posix_seconds"])
        )

    return (
        _over("zarr-speed", 1.1, PLAIN, "posix:sync"),
        _over("zarr-speed-zstd", 1.0, PACKED, "hdf5:sync"),
        _over_rivals("zarr-vs", packs=False),
        _over_rivals("zarr-vs-zstd", packs=True),
        Figure("zarr-hidden", "1", Goal(0.8, at_most=False), (HIDDEN,), hidden),
        Figure("zarr-read", "1", Goal(1.1), (READING,), reading),
    )
