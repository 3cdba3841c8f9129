# SPDX-License-Identifier: BSD-3-Clause
"""Figures of files: what checksums cost, float32 saves, how fast a restart finds and reads them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from iocomp_bench.figure import MIB, Figure, Found, median_ratio, per_round, worst
from iocomp_bench.ways import ASYNC, KERNEL, SYNC
from iocomp_studies.launch import Launch, RunFailedError, run_and_collect
from iocomp_studies.statistics import Goal
from iocomp_studies.work_directory import empty

if TYPE_CHECKING:
    from iocomp_bench.methods import Runner
    from iocomp_studies.rounds import Rounds

WRITING = {"sync": SYNC, "kernel": KERNEL}
CHECKPOINT_BYTES = 512 * MIB
READ_BYTES = 256 * MIB
PAIRS = 5
READERS = (2, 3)
WRITERS = 4
READ_FORMATS = ("posix", "hdf5")
FROM = ("disk", "cache")
LATEST = {"series": {}, "checkpoints": {"files.default.kind": "file_per_step"}}
LATEST_STEPS = 1000

Result = dict[str, Any]


def _write(runner: Runner, mode: str) -> Result:
    """Write checkpoints from two ranks, with checksums and without in turn, in one process."""
    arguments = ("--bytes", str(CHECKPOINT_BYTES // 2), "--pairs", str(PAIRS),
                 "--file", str(runner.directory / "c.dat"))  # fmt: skip
    settings = {**WRITING[mode], "trace.json": str(runner.directory / "trace.json")}
    return runner.run("bench/checkpoint", arguments, (0, 1), settings)


def _convert(runner: Runner, mode: str) -> Result:
    """Write series of float64 from two ranks, as float32 and as they are in turn."""
    arguments = ("--bytes", str(CHECKPOINT_BYTES // 2), "--pairs", str(PAIRS), "--series",
                 "--with", "type = 'float32'", "--without", "type = 'program'",
                 "--file", str(runner.directory / "s.dat"))  # fmt: skip
    return runner.run("bench/checkpoint", arguments, (0, 1), WRITING[mode])


def _read(runner: Runner, backend: str, readers: int) -> Result:
    """Write a checkpoint from four ranks and read it by fewer, in turn with plain reads."""
    arguments = ("--backend", backend, "--bytes", str(READ_BYTES),
                 "--readers", str(readers), "--file", str(runner.directory / "r.dat"))  # fmt: skip
    return runner.run("bench/restart", arguments, tuple(i % 2 for i in range(WRITERS)), SYNC)


def _latest(runner: Runner, kind: str) -> Result:
    """Ask the command for the newest of 1,000 steps, in one file or each in a file of its own."""
    path = runner.directory / "latest.dat"
    arguments = ("--variables", "1", "--steps", str(LATEST_STEPS), "--no-fsyncs",
                 "--file", str(path))  # fmt: skip
    try:
        runner.build.run(Launch("bench/commit", arguments, (0,), {**ASYNC, **LATEST[kind]}))
        return _asked(runner.build.directory / "tools/iocomp", path)
    finally:
        empty(runner.directory)


def _asked(command: Path, path: Path) -> Result:
    words = [str(command), "latest", str(path), "--only", "step"]
    ended = run_and_collect(words, {}, writes_json=False)
    if ended.exit_code != 0 or ended.printed.strip() != str(LATEST_STEPS - 1):
        raise RunFailedError(f"{command} latest: exit code {ended.exit_code}\n{ended.printed}")
    return {"seconds": ended.seconds}


def _writing_name(mode: str) -> str:
    return f"checkpoint/{mode}"


def _converting_name(mode: str) -> str:
    return f"float32/{mode}"


def _reading_name(backend: str, readers: int) -> str:
    return f"restart/{backend} by {readers}"


def _latest_name(kind: str) -> str:
    return f"latest/{kind}"


def restart_methods(runner: Runner) -> dict[str, Callable[[], Result]]:
    """Return the runs by name."""
    return (
        {_writing_name(mode): partial(_write, runner, mode) for mode in WRITING}
        | {_converting_name(mode): partial(_convert, runner, mode) for mode in WRITING}
        | {
            _reading_name(backend, readers): partial(_read, runner, backend, readers)
            for backend in READ_FORMATS
            for readers in READERS
        }
        | {_latest_name(kind): partial(_latest, runner, kind) for kind in LATEST}
    )


def _manifest_seconds(run: Result) -> float:
    """Return what a commit of the lead took: the manifest, and the rename of the file too."""
    commits = len(run["with_seconds"]) + len(run["without_seconds"])
    return float(run["trace"]["compute_sum"]["commit_seconds"]) / commits


def _checksum_cost(run: Result) -> float:
    manifest = _manifest_seconds(run)
    bare = [seconds - manifest for seconds in run["without_seconds"]]
    return median_ratio(run["with_seconds"], bare) - 1


def _checksums(id_: str, goal: Goal) -> Figure:
    """Return what checksums and manifest add to a checkpoint, in the worse of the modes."""
    modes = {mode: _writing_name(mode) for mode in WRITING}

    def find(rounds: Rounds) -> Found:
        found = worst(rounds, modes, _checksum_cost, "by_mode")
        parts = {
            mode: per_round(
                rounds, (name,), lambda r: _manifest_seconds(r[0]) / median(r[0]["without_seconds"])
            ).value
            for mode, name in modes.items()
        }
        return Found(found.estimate, {**found.beside, "manifest": parts})

    return Figure(id_, "1", goal, tuple(modes.values()), find)


def _converting(id_: str, goal: Goal) -> Figure:
    """Return the wall of a float32 file ÷ that of a float64 one, in the worse of the modes."""
    modes = {mode: _converting_name(mode) for mode in WRITING}

    def find(rounds: Rounds) -> Found:
        return worst(
            rounds,
            modes,
            lambda run: median_ratio(run["with_seconds"], run["without_seconds"]),
            "by_mode",
        )

    return Figure(id_, "1", goal, tuple(modes.values()), find)


def _read_ratio(run: Result, source: str) -> float:
    seconds = run[f"from_{source}"]
    return median_ratio(seconds["plain_seconds"], seconds["iocomp_seconds"])


def _reading(id_: str, goal: Goal, source: str) -> Figure:
    """Return the bandwidth of a restart divided by that of plain reads, in the worst of its runs."""
    names = {
        f"{backend} by {readers}": _reading_name(backend, readers)
        for backend in READ_FORMATS
        for readers in READERS
    }

    def find(rounds: Rounds) -> Found:
        return worst(rounds, names, lambda run: _read_ratio(run, source), "by_run", of=min)

    return Figure(id_, "1", goal, tuple(names.values()), find)


def _finding(id_: str, goal: Goal) -> Figure:
    kinds = {kind: _latest_name(kind) for kind in LATEST}

    def find(rounds: Rounds) -> Found:
        return worst(rounds, kinds, lambda run: float(run["seconds"]), "seconds")

    return Figure(id_, "s", goal, tuple(kinds.values()), find)


def restart_figures() -> tuple[Figure, ...]:
    """Return the figures and their goals."""
    at_least = Goal(0.8, at_most=False)
    return (
        _checksums("checksum-cost", Goal(0.03)),
        _converting("float32", Goal(0.65)),
        *(_reading(f"restart-read{'' if s == 'disk' else '-' + s}", at_least, s) for s in FROM),
        _finding("latest-time", Goal(1)),
    )
