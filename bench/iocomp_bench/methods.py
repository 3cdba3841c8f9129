"""What the benchmarks run. Core 0 computes; 1 is the other core."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from iocomp_studies.launch import Build, Launch
from iocomp_studies.work_directory import empty

MIB = 1 << 20
PUT_BYTES = 64 * MIB
PUTS = 20
BYTES_PER_RANK = PUT_BYTES * PUTS
SYNCHRONOUS = ("pwrite", "sync buffered", "sync direct")
WAYS = ("none", *SYNCHRONOUS, "async")
KERNELS = ("copy", "scale", "add", "triad")
LOADS = ("large", "many", "small")

_SYNC = {"mode": "sync"}
_ASYNC = {"mode": "async"}
_QUIET = {"trace.summary": "false"}
_OVERLAP_SETTINGS: dict[str, Mapping[str, str]] = {
    "none": {},
    "pwrite": {},
    "sync": _SYNC,
    "sync buffered": {**_SYNC, "disk.direct": "off"},
    "sync direct": {**_SYNC, "disk.direct": "on"},
    "async": _ASYNC,
}

Method = Callable[[], dict[str, Any]]


@dataclass(frozen=True)
class Runner:
    """Runs programs of a build in a directory that is empty before and after."""

    build: Build
    directory: Path

    def run(self, launch: Launch) -> dict[str, Any]:
        """Run one program and remove its files."""
        try:
            return self.build.run(launch)
        finally:
            empty(self.directory)

    def overlap(self, way: str, ranks: int, compute_bytes: int) -> dict[str, Any]:
        """Run 20 puts of 64 MiB per rank, each after a compute phase, in one of the ways."""
        mode = way if way in ("none", "pwrite") else "iocomp"
        cpus = tuple(range(ranks))
        if way == "async":
            # One rank has its server on the other core; two ranks share their cores with theirs.
            cpus = (0, 1) if ranks == 1 else (*cpus, *cpus)
        arguments = ("--mode", mode, "--bytes", str(PUT_BYTES), "--puts", str(PUTS),
                     "--compute-bytes", str(compute_bytes), "--warm", str(BYTES_PER_RANK),
                     "--file", str(self.directory / "overlap.dat"))  # fmt: skip
        return self.run(
            Launch("bench/overlap", arguments, cpus, {**_OVERLAP_SETTINGS[way], **_QUIET})
        )

    def idle(self, server: str) -> dict[str, Any]:
        """Run the triad alone ("alone"), or beside an idle server that sleeps or spins."""
        mode = "none" if server == "alone" else "idle"
        cpus = (0,) if server == "alone" else (0, 0)
        arguments = ("--mode", mode, "--puts", "60", "--bytes", str(PUT_BYTES),
                     "--compute-bytes", str(PUT_BYTES))  # fmt: skip
        settings = {**_ASYNC, **_QUIET, "wait.policy": "spin" if server == "spin" else "sleep"}
        return self.run(Launch("bench/overlap", arguments, cpus, settings))

    def stream(self, plain: bool) -> dict[str, Any]:
        """Run STREAM plain, or with its server on the same core."""
        arguments = ("--size", str(64 * MIB), "--loops", "40", "--write-every", "10",
                     "--warm", str(1024 * MIB))  # fmt: skip
        path = {"files.stream.path": str(self.directory / "stream.dat")}
        launch = Launch("apps/stream/stream", arguments, (0, 0), {**_ASYNC, **_QUIET, **path})
        if plain:
            launch = Launch("apps/stream/stream", (*arguments, "--plain"), (0,))
        return self.run(launch)

    def reference(self) -> dict[str, Any]:
        """Run the classic form of the STREAM kernels, in arrays of the same size."""
        return self.run(Launch("apps/stream/stream_reference", ("40",), (0,)))

    def memory(self, load: str) -> dict[str, Any]:
        """Send more than a server's small staging memory holds."""
        arguments = ("--load", load, "--limit", "32 MiB", "--file", str(self.directory / "m.dat"))
        return self.run(Launch("bench/server_memory", arguments, (0, 1), _QUIET))


def all_methods(runner: Runner, compute_bytes: Mapping[int, int]) -> dict[str, Method]:
    """Return every run by name.

    Args:
        runner: Runs them.
        compute_bytes: Of a compute phase, by number of ranks; looked up at each run.
    """

    def overlap(way: str, ranks: int) -> dict[str, Any]:
        return runner.overlap(way, ranks, compute_bytes[ranks])

    methods: dict[str, Method] = {}
    for server in ("alone", "sleep", "spin"):
        methods[f"idle/{server}"] = partial(runner.idle, server)
    for ranks in compute_bytes:
        for way in WAYS:
            methods[f"overlap {ranks}/{way}"] = partial(overlap, way, ranks)
    for way in ("pwrite", "sync"):
        methods[f"write/{way}"] = partial(runner.overlap, way, 1, 0)
    methods["stream/plain"] = partial(runner.stream, plain=True)
    methods["stream/same core"] = partial(runner.stream, plain=False)
    methods["stream/reference"] = runner.reference
    for load in LOADS:
        methods[f"memory/{load}"] = partial(runner.memory, load)
    return methods
