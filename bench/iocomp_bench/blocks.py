# SPDX-License-Identifier: BSD-3-Clause
"""Figures of apps/benchio: a 3-D array in blocks, written by servers, ranks and libraries."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iocomp_bench.figure import Figure, Found, per_round
from iocomp_bench.ways import ASYNC, SYNC
from iocomp_studies.hidden import hidden_part
from iocomp_studies.launch import RunFailedError
from iocomp_studies.rounds import Rounds
from iocomp_studies.statistics import Goal

if TYPE_CHECKING:
    from iocomp_bench.methods import Runner

SIZE = 256
LARGE = 512
"""Elements (doubles) in each of three dimensions."""
JOBS = ((4, 1), (8, 2))
"""Compute ranks and servers, all on two cores."""
PHASED_JOB = (4, 2)
"""A server on each core: else the ranks of the core without one wait for those of the other."""
STEPS = 20
PHASE = 2.0
MESSAGE_STEPS = (20, 40)
"""Two runs, so that messages of opening and closing do not count."""
RAW = ("posix", "hdf5", "pnetcdf", "netcdf")
"""Back-ends whose bytes the writers put into place themselves."""
FORMATS = ("hdf5", "pnetcdf", "netcdf")
OTHERS = ("adios2",)
NO_SERVER = ("posix", "hdf5")
NO_SERVER_JOBS = ((2, "2,1,1"), (2, "1,1,2"), (2, "1,2,1"), (4, "1,1,4"), (4, "1,2,2"), (4, "2,2,1"))
"""Ranks on two cores, and how they cut the array; the last dimension is the fastest."""
NO_SERVER_PHASE = 3.0
CELL_BACK_ENDS = ("posix", "hdf5", "netcdf", "pnetcdf", "mpiio")
"""Those that write meanwhile without servers: the others are synchronous, and say so."""
CELL_SHAPES: dict[int, dict[str, tuple[str, str]]] = {
    1: {"1-D": ("4194304,1,1", "1,1,1"), "3-D": ("128,128,256", "1,1,1")},
    2: {
        "1-D": ("4194304,1,1", "2,1,1"),
        "particles": ("4194301,1,1", "2,1,1"),
        "3-D, first cut": ("128,128,256", "2,1,1"),
        "3-D, second cut": ("128,128,256", "1,2,1"),
        "3-D, fastest cut": ("128,128,256", "1,1,2"),
    },
    4: {
        "1-D": ("4194304,1,1", "4,1,1"),
        "particles": ("4194301,1,1", "4,1,1"),
        "3-D, first two cut": ("128,128,256", "2,2,1"),
        "3-D, last two cut": ("128,128,256", "1,2,2"),
        "3-D, fastest cut": ("128,128,256", "1,1,4"),
    },
}
"""The extents of the array and its cuts, by compute ranks. Rows of particles begin anywhere."""
CELL_STEPS = 6

Result = dict[str, Any]


@dataclass(frozen=True)
class Blocks:
    """A run of benchio that interleaves some ways.

    Attributes:
        ways: Arguments that choose them.
        compute_ranks: The number of ranks that write.
        servers: 0: synchronously.
        extra: Further arguments.
        size: Elements of the array in each dimension, or its three extents.
        own: Arrays from iocomp_alloc; else from malloc.
        is_synchronous: True, without servers, if ranks wait; else each way says what it does.
    """

    ways: str
    compute_ranks: int
    servers: int
    extra: str = "--repetitions 3"
    size: int | str = SIZE
    own: bool = True
    is_synchronous: bool = True

    def arguments(self, directory: Path) -> tuple[str, ...]:
        """Return the command line of benchio."""
        size = self.size if isinstance(self.size, str) else ",".join([str(self.size)] * 3)
        alloc = "--alloc" if self.own else ""
        words = f"--size {size} --check none --ratio {alloc} {self.ways} {self.extra}"
        return (*words.split(), "--directory", str(directory))

    def settings(self) -> dict[str, str]:
        """Return the settings: the last ranks serve."""
        if self.servers == 0:
            return dict(SYNC) if self.is_synchronous else {}
        ranks = range(self.compute_ranks, self.compute_ranks + self.servers)
        listed = ",".join(str(rank) for rank in ranks)
        return {**ASYNC, "placement.servers": f"[{listed}]"}

    def cpus(self) -> tuple[int, ...]:
        """Return the core of each rank."""
        ranks = (*range(self.compute_ranks), *range(self.servers))
        return tuple(rank % 2 for rank in ranks)

    def run(self, runner: Runner, trace: Mapping[str, str] | None = None) -> Result:
        """Run it once."""
        settings = {**self.settings(), **(trace or {})}
        return runner.run(
            "apps/benchio/benchio", self.arguments(runner.directory), self.cpus(), settings
        )


def _posix(ranks: int, servers: int, size: int) -> Blocks:
    return Blocks("--backend posix --baseline posix-one", ranks, servers, size=size)


def _sync(ranks: int, size: int) -> Blocks:
    return Blocks("--backend posix:sync --baseline mpiio", ranks, 0, size=size)


def _format(name: str, ranks: int, servers: int) -> Blocks:
    return Blocks(f"--backend posix,{name} --baseline none", ranks, servers)


def _bp5(ranks: int, servers: int) -> Blocks:
    return Blocks("--backend adios2 --baseline adios2-async", ranks, servers)


def _phases(name: str) -> Blocks:
    synchronous = "posix:sync" if name == "posix" else f"posix:sync,{name}:sync"
    ways = f"--backend {synchronous},{name} --baseline none"
    return Blocks(ways, *PHASED_JOB, f"--repetitions 1 --steps {STEPS} --phase {PHASE}")


def _no_server(ranks: int, grid: str) -> Blocks:
    """Return what ranks without servers do with blocks of short runs, and what libraries do."""
    ways = ",".join(f"{name}:sync,{name}" for name in NO_SERVER)
    return Blocks(
        f"--grid {grid} --backend {ways} --baseline none,mpiio,hdf5",
        ranks,
        0,
        f"--repetitions 1 --steps {STEPS} --phase {NO_SERVER_PHASE}",
        own=False,
        is_synchronous=False,
    )


def _cell_name(ranks: int, shape: str, own: bool) -> str:
    return f"cell {ranks}, {shape}, {'iocomp_alloc' if own else 'malloc'}"


def _cells(servers: int = 0) -> dict[str, Blocks]:
    """Return a run for each cell: in all formats, or by a server on the first core."""
    back_ends = ("posix",) if servers else CELL_BACK_ENDS
    ways = ",".join(f"{name}:sync,{name}" for name in back_ends)
    baselines = "none" if servers else "none,mpiio"
    return {
        _cell_name(ranks, shape, own) + (", a server" if servers else ""): Blocks(
            f"--grid {grid} --backend {ways} --baseline {baselines}",
            ranks,
            servers,
            f"--repetitions 1 --steps {CELL_STEPS} --phase {NO_SERVER_PHASE}",
            size=size,
            own=own,
            is_synchronous=False,
        )
        for ranks, shapes in CELL_SHAPES.items()
        for shape, (size, grid) in shapes.items()
        for own in (False, True)
    }


def _no_server_name(ranks: int, grid: str) -> str:
    return f"blocks/no server {ranks}, {grid}"


def _traced(runner: Runner) -> dict[str, str]:
    return {"trace.json": str(runner.directory / "trace.json")}


def _messages(ranks: int, servers: int, steps: int, runner: Runner) -> Result:
    """Run so many steps and have the control messages counted."""
    blocks = Blocks("--backend posix", ranks, servers, f"--repetitions 1 --steps {steps}")
    result = blocks.run(runner, _traced(runner))
    if "trace" in result and "control_messages" not in result["trace"]["compute_sum"]:
        raise RunFailedError("unsupported: the trace does not count control messages")
    return result


def _control_messages(result: Result) -> float:
    return float(result["trace"]["compute_sum"]["control_messages"])


def _name(what: str, ranks: int, servers: int, size: int = SIZE) -> str:
    return f"blocks/{what} {ranks}+{servers}" + ("" if size == SIZE else f", {size}³")


def block_methods(runner: Runner) -> dict[str, Callable[[], Result]]:
    """Return the runs of benchio by name."""
    runs: dict[str, Blocks] = {}
    methods: dict[str, Callable[[], Result]] = {}
    for ranks, servers in JOBS:
        for size in (SIZE, LARGE):
            runs[_name("posix", ranks, servers, size)] = _posix(ranks, servers, size)
            runs[_name("sync", ranks, 0, size)] = _sync(ranks, size)
        runs[_name("bp5", ranks, servers)] = _bp5(ranks, servers)
        for name in FORMATS:
            runs[_name(name, ranks, servers)] = _format(name, ranks, servers)
        for steps in MESSAGE_STEPS:
            name = _name(f"messages of {steps} steps", ranks, servers)
            methods[name] = partial(_messages, ranks, servers, steps, runner)
    for name in (*RAW, *OTHERS):
        runs[f"blocks/phases {name}"] = _phases(name)
    for ranks, grid in NO_SERVER_JOBS:
        runs[_no_server_name(ranks, grid)] = _no_server(ranks, grid)
    for name, cell in (_cells() | _cells(servers=1)).items():
        methods[name] = partial(cell.run, runner, _traced(runner))
    return methods | {name: partial(blocks.run, runner) for name, blocks in runs.items()}


def _seconds(run: Result, way: str, key: str = "seconds") -> float:
    return statistics.median(float(value) for value in run["ways"][way][key])


def _bandwidth_ratio(above: str, below: str) -> Callable[[Result], float]:
    """Return how much faster one way of a run is than another."""
    return lambda run: _seconds(run, below) / _seconds(run, above)


def _median_bandwidths(runs: Sequence[Result]) -> dict[str, float]:
    return {
        way: statistics.median(run["ways"][way]["gib_per_second"]["median"] for run in runs)
        for way in runs[0]["ways"]
    }


def _worst_job(
    id_: str,
    goal: Goal,
    methods: Mapping[str, Callable[[Result], float]],
    optional: Sequence[str] = (),
) -> Figure:
    """Return a number of the worst run; beside it that of each, and bandwidths of other runs."""
    worst = max if goal.at_most else min

    def find(rounds: Rounds) -> Found:
        by_run = {
            name: per_round(rounds, (name,), lambda runs, n=number: n(runs[0]))
            for name, number in methods.items()
        }
        beside = {
            "by_run": {name: asdict(found) for name, found in by_run.items()},
            "median_gib_per_second": {
                name: _median_bandwidths(rounds.results[name])
                for name in (*methods, *optional)
                if rounds.results.get(name)
            },
            "told": {
                name: [run["trace"]["notes"] for run in rounds.results[name] if "trace" in run]
                for name in methods
            },
        }
        return Found(worst(by_run.values(), key=lambda found: found.value), beside)

    return Figure(id_, "1", goal, tuple(methods), find, optional=tuple(optional))


def hidden_in(run: Result, name: str) -> float:
    """Return the hidden part of a back-end in a run with phases."""
    none = _seconds(run, "none")
    synchronous = min(_seconds(run, way) for way in run["ways"] if way.endswith(":sync"))
    return hidden_part(synchronous - none, _seconds(run, f"iocomp {name}") - none)


def hidden_without_server(run: Result, name: str) -> float:
    """Return the hidden part of the fastest synchronous way, of iocomp or of a library."""
    none = _seconds(run, "none")
    asynchronous = [f"iocomp {back_end}" for back_end in NO_SERVER]
    synchronous = min(
        _seconds(run, way) for way in run["ways"] if way != "none" and way not in asynchronous
    )
    return hidden_part(synchronous - none, _seconds(run, f"iocomp {name}") - none)


def default_over_sync(run: Result) -> float:
    """Return the time of the default divided by that of `mode = "sync"`, in the worse format."""
    return max(
        _seconds(run, f"iocomp {name}") / _seconds(run, f"iocomp {name}:sync")
        for name in CELL_BACK_ENDS
        if f"iocomp {name}" in run["ways"]
    )


def exposed_over_cpu(run: Result, name: str) -> float:
    """Return the time that output costs, divided by the processor time of writing the format."""
    exposed = _seconds(run, f"iocomp {name}") - _seconds(run, "none")
    cpu = _seconds(run, f"iocomp {name}:sync", "cpu_seconds") - _seconds(run, "none", "cpu_seconds")
    return exposed / max(cpu, 1e-9)


def _messages_per_step(id_: str, goal: Goal) -> Figure:
    """Return the control messages per step and compute rank, in the worst of the jobs."""
    few, many = MESSAGE_STEPS
    methods = tuple(
        _name(f"messages of {steps} steps", *job) for job in JOBS for steps in MESSAGE_STEPS
    )

    def by_job(runs: Sequence[Result]) -> list[float]:
        counts = [_control_messages(run) for run in runs]
        return [
            (counts[2 * i + 1] - counts[2 * i]) / (many - few) / ranks
            for i, (ranks, _) in enumerate(JOBS)
        ]

    def find(rounds: Rounds) -> Found:
        found = per_round(rounds, methods, lambda runs: max(by_job(runs)))
        jobs = [f"{ranks}+{servers}" for ranks, servers in JOBS]
        last = by_job([rounds.results[name][-1] for name in methods])
        return Found(found, {"by_job": dict(zip(jobs, last, strict=True))})

    return Figure(id_, "1", goal, methods, find)


def _at_least(bound: float) -> Goal:
    return Goal(bound, at_most=False)


def block_figures() -> tuple[Figure, ...]:
    """Return the figures and their goals."""
    return (
        _worst_job(
            "blocks-posix",
            _at_least(0.85),
            {
                _name("posix", *job, size): _bandwidth_ratio("iocomp posix", "posix-one")
                for job in JOBS
                for size in (SIZE, LARGE)
            },
        ),
        _worst_job(
            "blocks-sync-posix",
            _at_least(2),
            {
                _name("sync", ranks, 0, size): _bandwidth_ratio("iocomp posix:sync", "mpiio")
                for ranks, _ in JOBS
                for size in (SIZE, LARGE)
            },
        ),
        _worst_job(
            "formats-vs-posix",
            _at_least(0.90),
            {
                _name(name, *job): _bandwidth_ratio(f"iocomp {name}", "iocomp posix")
                for name in FORMATS
                for job in JOBS
            },
        ),
        _worst_job(
            "bp5-vs-direct",
            Goal(1.0),
            {_name("bp5", *job): _bandwidth_ratio("adios2-async", "iocomp adios2") for job in JOBS},
        ),
        _worst_job(
            "hidden-blocks",
            _at_least(0.80),
            {f"blocks/phases {name}": partial(hidden_in, name=name) for name in RAW},
        ),
        *(
            _worst_job(
                f"blocks-no-server-{name}",
                _at_least(0.80),
                {
                    _no_server_name(*job): partial(hidden_without_server, name=name)
                    for job in NO_SERVER_JOBS
                },
            )
            for name in NO_SERVER
        ),
        _worst_job(
            "default-vs-sync",
            Goal(1.3),
            dict.fromkeys(_cells(), default_over_sync),
            tuple(_cells(servers=1)),
        ),
        _worst_job(
            "exposed-blocks",
            Goal(1.1),
            {f"blocks/phases {name}": partial(exposed_over_cpu, name=name) for name in OTHERS},
        ),
        _messages_per_step("messages-per-step", Goal(2)),
    )
