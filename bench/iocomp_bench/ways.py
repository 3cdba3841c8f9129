# SPDX-License-Identifier: BSD-3-Clause
"""The ways in which the benchmarks write, and on which cores: 0 computes, 1 is the other one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

QUIET = {"trace.lines": "start"}
SYNC = {"mode": "sync"}
ASYNC = {"mode": "async"}
KERNEL = {**ASYNC, "placement.servers": "none"}
SHARED = {**ASYNC, "transport.kind": "shared"}
MESSAGE = {**ASYNC, "transport.kind": "message"}


@dataclass(frozen=True)
class Way:
    """One way to write.

    Attributes:
        mode: The mode of bench/overlap; of rivals also their name in bench/rivals/stream_rivals.
        settings: The settings of iocomp.
        alloc: True if the arrays lie in memory of iocomp_alloc.
        ordinary: True if they lie in memory of malloc.
        servers: True if every compute rank has a server.
        timeline: True if each process writes what it did when.
    """

    mode: str = "iocomp"
    settings: Mapping[str, str] = field(default_factory=dict)
    alloc: bool = False
    ordinary: bool = False
    servers: bool = False
    timeline: bool = False

    def alloc_argument(self) -> tuple[str, ...]:
        """Return the flag of the programs, if any."""
        return ("--alloc",) if self.alloc else ("--malloc",) if self.ordinary else ()

    def cpus(self, ranks: int, same_core: bool) -> tuple[int, ...]:
        """Return the core of each rank: those that compute, then their servers.

        One rank has its server on the other core unless `same_core`; two ranks share their cores
        with theirs.
        """
        own = tuple(range(ranks))
        if not self.servers:
            return own
        return (0, 1) if ranks == 1 and not same_core else (*own, *own)


NONE = "none"
SYNCHRONOUS = ("pwrite", "sync buffered", "sync direct")
RIVALS = ("iwrite", "bp5-naive", "bp5-guided")
IN_PLACE = "in place"
PULLED = "pulled"

WAYS: dict[str, Way] = {
    NONE: Way("none"),
    "pwrite": Way("pwrite"),
    "pwrite-direct": Way("pwrite-direct"),
    "thread": Way("thread"),
    "sync": Way(settings=SYNC),
    "sync buffered": Way(settings={**SYNC, "disk.direct": "off"}),
    "sync direct": Way(settings={**SYNC, "disk.direct": "on"}),
    "kernel": Way(settings=KERNEL, alloc=True),
    "sync, malloc": Way(settings=SYNC, ordinary=True),
    "kernel, malloc": Way(settings=KERNEL, ordinary=True),
    "kernel, timeline": Way(settings=KERNEL, alloc=True, timeline=True),
    IN_PLACE: Way(settings={**SHARED, "test.way": "in-place"}, alloc=True, servers=True),
    PULLED: Way(settings={**SHARED, "test.way": "pull"}, servers=True),
    "staged": Way(settings={**SHARED, "test.way": "staged"}, servers=True),
    "message": Way(settings=MESSAGE, servers=True),
    **{rival: Way(rival) for rival in RIVALS},
}


@dataclass(frozen=True)
class Overlap:
    """A series of runs of bench/overlap that differ in the way of writing alone.

    Attributes:
        name: The beginning of the names of its runs.
        ranks: The number of ranks that compute.
        aim: Compute phase divided by the fastest synchronous write of the same bytes.
        ways: Names in WAYS.
        same_core: True if a single rank shares its core with its server.
    """

    name: str
    ranks: int
    aim: float
    ways: tuple[str, ...]
    same_core: bool = False

    def methods(self) -> tuple[str, ...]:
        """Return the names of its runs."""
        return tuple(self.method(way) for way in self.ways)

    def method(self, way: str) -> str:
        """Return the name of one run."""
        return f"{self.name}/{way}"


CONSECUTIVE = Overlap("overlap 1", 1, 1.1, (*SYNCHRONOUS, IN_PLACE, PULLED))
TWO_RANKS = Overlap("overlap 2", 2, 1.1, (*SYNCHRONOUS, PULLED))
LONG_PHASES = Overlap("overlap 2 long", 2, 2.0, (*SYNCHRONOUS, "kernel", PULLED, "thread", *RIVALS))
LOSS = Overlap("overlap same core", 1, 2.5, ("kernel", IN_PLACE, PULLED), same_core=True)
ORDINARY = Overlap("overlap malloc", 2, 2.5, ("sync, malloc", "sync", "kernel, malloc", "kernel"))
OVERLAPS = (CONSECUTIVE, TWO_RANKS, LONG_PHASES, LOSS, ORDINARY)

STREAM: dict[str, tuple[str, bool]] = {
    "stream/plain": (NONE, False),
    "stream/sync": ("sync", False),
    "stream/kernel": ("kernel", False),
    "stream/kernel, timeline": ("kernel, timeline", False),
    "stream/other core, in place": (IN_PLACE, False),
    "stream/other core, pulled": (PULLED, False),
    "stream/other core, message": ("message", False),
    "stream/same core, in place": (IN_PLACE, True),
    "stream/same core, pulled": (PULLED, True),
    "stream/same core, message": ("message", True),
    **{f"stream/{rival}": (rival, False) for rival in RIVALS},
}
"""Way, and whether the server is on the same core, by run of STREAM."""
IN_TURN = {"stream in turn/plain": NONE, "stream in turn/kernel": "kernel"}
"""Way by run of a STREAM that leaves each array alone until its next output."""

LARGE = (256 << 20, 1 << 30)
SMALL = (4 << 10, 16 << 10, 64 << 10, 1 << 20, 16 << 20, 64 << 20)
HAND_OFFS = ("kernel", IN_PLACE, PULLED, "staged", "buffered", "message")
SCALES = ((1, 1), (2, 2), (8, 2), (32, 2), (32, 8))
"""Compute ranks and servers, all on two cores."""
