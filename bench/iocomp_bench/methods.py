# SPDX-License-Identifier: BSD-3-Clause
"""The programs that the benchmarks run, each with its arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from iocomp_bench.bindings import binding_methods
from iocomp_bench.blocks import block_methods
from iocomp_bench.committing import commit_methods
from iocomp_bench.compressing import compression_methods
from iocomp_bench.definitions import definition_methods
from iocomp_bench.from_python import python_methods
from iocomp_bench.hpcg import hpcg_methods
from iocomp_bench.hpl import hpl_methods
from iocomp_bench.restarting import restart_methods
from iocomp_bench.simulating import NOISE, noise
from iocomp_bench.stores import store_methods
from iocomp_bench.ways import (
    HAND_OFFS,
    IN_PLACE,
    IN_TURN,
    LARGE,
    MESSAGE,
    OVERLAPS,
    PULLED,
    QUIET,
    RIVALS,
    SCALES,
    SHARED,
    SMALL,
    STREAM,
    WAYS,
    Overlap,
    Way,
)
from iocomp_studies.launch import Build, Launch
from iocomp_studies.work_directory import empty

MIB = 1 << 20
PUT_BYTES = 64 * MIB
PUTS = 20
BYTES_PER_RANK = PUT_BYTES * PUTS
KERNELS = ("copy", "scale", "add", "triad")
LOADS = ("large", "many", "small")
IDLE_SECONDS = 4

Method = Callable[[], dict[str, Any]]


@dataclass(frozen=True)
class Runner:
    """Runs programs of a build in a directory that is empty before and after.

    Attributes:
        build: The build with the programs.
        directory: The directory.
        origin: The origin of its samples, as `samples` has it.
    """

    build: Build
    directory: Path
    origin: list[str] = field(default_factory=list)

    def run(
        self,
        program: str,
        arguments: tuple[str, ...],
        cpus: tuple[int | str, ...],
        settings: Mapping[str, str],
        timeout_seconds: float = 120,
    ) -> dict[str, Any]:
        """Run one program and remove its files."""
        launch = Launch(program, arguments, cpus, {**settings, **QUIET})
        try:
            return self.build.run(launch, timeout_seconds)
        finally:
            empty(self.directory)

    def overlap(
        self, name: str, ranks: int, compute_bytes: int, same_core: bool = False
    ) -> dict[str, Any]:
        """Run 20 puts of 64 MiB per rank, each after a compute phase, in one of the ways."""
        way = WAYS[name]
        arguments = ("--mode", way.mode, "--bytes", str(PUT_BYTES), "--puts", str(PUTS),
                     "--compute-bytes", str(compute_bytes), "--warm", str(BYTES_PER_RANK),
                     "--file", str(self.directory / "overlap.dat"),
                     *way.alloc_argument())  # fmt: skip
        return self.run("bench/overlap", arguments, way.cpus(ranks, same_core), way.settings)

    def stream(self, name: str) -> dict[str, Any]:
        """Run STREAM without output, or with it in one of the ways."""
        way_name, same_core = (IN_TURN[name], False) if name in IN_TURN else STREAM[name]
        way = WAYS[way_name]
        path = self.directory / "stream.dat"
        in_turn = ("--in-turn",) if name in IN_TURN else ()
        arguments = ("--size", str(64 * MIB), "--loops", "40", "--write-every", "10",
                     "--warm", str(1024 * MIB), *in_turn)  # fmt: skip
        if way_name in RIVALS:
            arguments = (*arguments, "--rival", way_name, "--file", str(path))
            return self.run("bench/rivals/stream_rivals", arguments, (0,), {})
        plain = ("--plain",) if way.mode == "none" else ()
        settings = {**way.settings, "files.stream.path": str(path)}
        if way.timeline:
            settings["trace.timeline"] = str(self.directory / "timeline")
        cpus = way.cpus(1, same_core)
        return self.run(
            "apps/stream/stream", (*arguments, *plain, *way.alloc_argument()), cpus, settings
        )

    def reference(self) -> dict[str, Any]:
        """Run the classic form of the STREAM kernels, in arrays of the same size."""
        return self.run("apps/stream/stream_reference", ("40",), (0,), {})

    def memory(self, load: str) -> dict[str, Any]:
        """Send more than a server's small staging memory holds."""
        arguments = ("--load", load, "--limit", "32 MiB", "--file", str(self.directory / "m.dat"))
        return self.run("bench/server_memory", arguments, (0, 1), MESSAGE)

    def interference(self, server: str, way: Way, same_core: bool, pairs: int) -> dict[str, Any]:
        """Compute alone and beside a server, in turn."""
        arguments = ("--server", server, "--pairs", str(pairs),
                     "--file", str(self.directory / "i.dat"), *way.alloc_argument())  # fmt: skip
        return self.run("bench/interference", arguments, way.cpus(1, same_core), way.settings)

    def idle_cpu(self, transport: Mapping[str, str]) -> dict[str, Any]:
        """Sleep beside an idle server."""
        arguments = ("--pairs", "0", "--idle-seconds", str(IDLE_SECONDS))
        return self.run("bench/interference", arguments, (0, 1), transport)

    def hand_off(self, name: str) -> dict[str, Any]:
        """Put blocks of all sizes, one after the other."""
        buffered = name == "buffered"
        way = WAYS["staged" if buffered else name]
        sizes = (*SMALL, *LARGE) if name in (IN_PLACE, PULLED, "buffered") else SMALL
        extra = (*way.alloc_argument(), *(("--buffered", "--baseline") if buffered else ()))
        arguments = ("--sizes", ",".join(str(size) for size in sizes),
                     "--file", str(self.directory / "h.dat"), *extra)  # fmt: skip
        return self.run("bench/hand_off", arguments, way.cpus(1, False), way.settings)

    def wake_up(self, same_core: bool) -> dict[str, Any]:
        """Put a small block a thousand times to a server that sleeps, and pulls."""
        way = WAYS[PULLED]
        arguments = ("--sizes", "16KiB", "--most", "1000", "--file", str(self.directory / "w.dat"))
        return self.run("bench/hand_off", arguments, way.cpus(1, same_core), way.settings)

    def scale(self, ranks: int, servers: int) -> dict[str, Any]:
        """Put many small blocks from many ranks, all on two cores."""
        arguments = ("--puts", "8192", "--steps", "24", "--file", str(self.directory / "s.dat"))
        listed = ",".join(str(ranks + server) for server in range(servers))
        settings = {**SHARED, "placement.servers": f"[{listed}]"}
        cpus = (*(rank % 2 for rank in range(ranks)), *(server % 2 for server in range(servers)))
        return self.run("bench/scale", arguments, cpus, settings)


def interference_name(server: str, way: str, same_core: bool) -> str:
    """Return the name of a run of bench/interference."""
    return f"interference/{server}, {way}, {'same' if same_core else 'other'} core"


def _interference(runner: Runner) -> dict[str, Method]:
    def method(server: str, way: str, same_core: bool) -> Method:
        return partial(runner.interference, server, WAYS[way], same_core, 1)

    cases = [
        (server, IN_PLACE, same_core)
        for server in ("idle", "writing")
        for same_core in (True, False)
    ]
    cases.append(("writing", PULLED, True))
    cases.append(("writing", "kernel", True))
    return {interference_name(*case): method(*case) for case in cases}


def all_methods(runner: Runner, compute_bytes: Mapping[str, int]) -> dict[str, Method]:
    """Return every run by name.

    Args:
        runner: Runs them.
        compute_bytes: The bytes of a compute phase, by name of the overlap; looked up at each run.
    """

    def overlap(series: Overlap, way: str) -> dict[str, Any]:
        return runner.overlap(way, series.ranks, compute_bytes[series.name], series.same_core)

    methods: dict[str, Method] = {}
    for series in OVERLAPS:
        for way in series.ways:
            methods[series.method(way)] = partial(overlap, series, way)
    for way in ("pwrite", "sync"):
        methods[f"write/{way}"] = partial(runner.overlap, way, 1, 0)
    for way in ("pwrite-direct", "sync"):
        methods[f"write 2/{way}"] = partial(runner.overlap, way, 2, 0)
    for name in (*STREAM, *IN_TURN):
        methods[name] = partial(runner.stream, name)
    methods["stream/reference"] = runner.reference
    for load in LOADS:
        methods[f"memory/{load}"] = partial(runner.memory, load)
    methods["idle tax"] = partial(runner.interference, "idle", WAYS[IN_PLACE], True, 8)
    methods["idle cpu/shared"] = partial(runner.idle_cpu, SHARED)
    methods["idle cpu/message"] = partial(runner.idle_cpu, MESSAGE)
    for name in HAND_OFFS:
        methods[f"hand-off/{name}"] = partial(runner.hand_off, name)
    methods["wake-up/other core"] = partial(runner.wake_up, False)
    methods["wake-up/same core"] = partial(runner.wake_up, True)
    for ranks, servers in SCALES:
        methods[f"scale/{ranks}x{servers}"] = partial(runner.scale, ranks, servers)
    return (
        methods
        | _interference(runner)
        | block_methods(runner)
        | definition_methods(runner)
        | commit_methods(runner)
        | restart_methods(runner)
        | hpcg_methods(runner)
        | hpl_methods(runner)
        | compression_methods(runner)
        | binding_methods(runner)
        | python_methods(runner)
        | store_methods(runner)
        | {NOISE: noise}
    )
