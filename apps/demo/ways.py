# SPDX-License-Identifier: BSD-3-Clause
"""The ways in which the demonstration runs STREAM."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from iocomp_studies.launch import Build, Launch
from iocomp_studies.work_directory import empty

MIB = 1 << 20
PLAIN = "no output"
BACKENDS = ("posix", "hdf5")


@dataclass(frozen=True)
class Way:
    """A way of doing output; `cpus` are the cores of the compute rank and of its server, if any."""

    label: str
    mode: str
    cpus: tuple[int, ...]
    transport: str = "auto"


SYNCHRONOUS = Way("synchronous", "sync", (0,))
KERNEL = Way("by the kernel, no server", "async", (0,))
CONSECUTIVE = Way("server on the other core", "async", (0, 1), "shared")
OVERSUBSCRIBE = Way("server on the same core", "async", (0, 0), "shared")


@dataclass(frozen=True)
class Program:
    """A program to measure; it puts `arrays` arrays in each loop that writes."""

    label: str
    title: str
    arguments: tuple[str, ...]
    arrays: int
    ways: tuple[Way, ...]


LEFT_ALONE = Program(
    "left alone",
    "STREAM on two sets of arrays in turn: an array that was put is left alone until the next output",
    ("--in-turn",),
    3,
    (SYNCHRONOUS, KERNEL),
)
OVERWRITTEN = Program(
    "overwritten",
    "STREAM as published: an array that was put is overwritten one kernel later",
    (),
    4,
    (SYNCHRONOUS, KERNEL, CONSECUTIVE, OVERSUBSCRIBE),
)
PROGRAMS = (LEFT_ALONE, OVERWRITTEN)


@dataclass(frozen=True)
class Size:
    """The size of one run: arrays of so many bytes, and loops of which some write."""

    bytes_per_array: int = 64 * MIB
    loops: int = 40
    write_every: int = 10

    def bytes_written(self, program: Program = OVERWRITTEN) -> int:
        """Return the bytes of a run with output."""
        return program.arrays * self.bytes_per_array * -(-self.loops // self.write_every)


def method_name(program: Program, backend: str = "", way: Way | None = None) -> str:
    """Return the name of one combination; without a way that of the runs without output."""
    return f"{program.label}, {PLAIN if way is None else f'{backend}, {way.label}'}"


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
    found = {}
    for program in PROGRAMS:
        given = (*arguments, *program.arguments)
        found[method_name(program)] = runner(Launch(stream, (*given, "--plain"), (0,)))
        for backend, way in product(BACKENDS, program.ways):
            settings = {
                "mode": way.mode,
                "transport.kind": way.transport,
                "files.stream.backend": backend,
                "files.stream.path": str(directory / f"stream.{backend}"),
                "trace.lines": "start",
            }
            launch = Launch(stream, given, way.cpus, settings)
            found[method_name(program, backend, way)] = runner(launch)
    return found
