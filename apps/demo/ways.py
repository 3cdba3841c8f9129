# SPDX-License-Identifier: BSD-3-Clause
"""The ways in which the demonstration runs STREAM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iocomp_studies.launch import Build, Launch
from iocomp_studies.work_directory import empty

MIB = 1 << 20
PLAIN = "no output"
BACKENDS = ("posix", "hdf5")


@dataclass(frozen=True)
class Way:
    """How output is done; `cpus` are the cores of the compute rank and of its server, if any."""

    label: str
    mode: str
    cpus: tuple[int, ...]
    transport: str = "auto"


SYNCHRONOUS = Way("synchronous", "sync", (0,))
KERNEL = Way("by the kernel, no server", "async", (0,), "kernel")
CONSECUTIVE = Way("server on the other core", "async", (0, 1), "shared")
OVERSUBSCRIBE = Way("server on the same core", "async", (0, 0), "shared")
WAYS = (SYNCHRONOUS, KERNEL, CONSECUTIVE, OVERSUBSCRIBE)


@dataclass(frozen=True)
class Size:
    """What is computed and written in one run."""

    bytes_per_array: int = 64 * MIB
    loops: int = 40
    write_every: int = 10

    def bytes_written(self) -> int:
        """Return the bytes of a run with output: four arrays in every writing loop."""
        return 4 * self.bytes_per_array * -(-self.loops // self.write_every)


def method_name(backend: str, way: Way) -> str:
    """Return the name of one combination."""
    return f"{backend}, {way.label}"


def methods(build: Build, directory: Path, size: Size) -> dict[str, Callable[[], dict[str, Any]]]:
    """Return all runs by name; each leaves `directory` empty."""
    arguments = (
        "--size",
        str(size.bytes_per_array),
        "--loops",
        str(size.loops),
        "--write-every",
        str(size.write_every),
        # Page cache for all that is written, so that no run pays for pages the host had taken back.
        "--warm",
        str(size.bytes_written()),
    )

    def runner(launch: Launch) -> Callable[[], dict[str, Any]]:
        def run() -> dict[str, Any]:
            try:
                return build.run(launch)
            finally:
                empty(directory)

        return run

    stream = "apps/stream/stream"
    found = {PLAIN: runner(Launch(stream, (*arguments, "--plain"), (0,)))}
    for backend in BACKENDS:
        for way in WAYS:
            settings = {
                "mode": way.mode,
                "transport.kind": way.transport,
                "files.stream.backend": backend,
                "files.stream.path": str(directory / f"stream.{backend}"),
                "trace.summary": "false",
            }
            found[method_name(backend, way)] = runner(Launch(stream, arguments, way.cpus, settings))
    return found
