# SPDX-License-Identifier: BSD-3-Clause
"""The time that writers take from the cores of a job in one phase of output.

Its functions follow the rows of docs/developers/decisions/noise.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from iocomp_studies.advice.work import GIB
from iocomp_studies.noise.job import Job
from iocomp_studies.noise.losses import Cores, Losses, Ranks, in_turn

MIB = float(1 << 20)


@dataclass(frozen=True)
class Scene:
    """A program that puts output, and the machine below it.

    Attributes:
        ranks: The number of ranks of the job.
        compute: Seconds of an iteration, undisturbed.
        phase: Seconds from one output to the next.
        synchronous: The part of a phase that the same output takes synchronously.
        bytes: The bytes of each rank in an output.
        node: Ranks of a node.
        domain: Ranks of a NUMA domain.
        direct: Processor seconds to write one byte from where it lies, in small pages.
        huge: The same in huge pages.
        copying: Processor seconds to copy one byte and write it.
        compressing: Processor seconds to compress one byte and write it.
        memory: Bytes per second that a node's memory can move.
        sibling: The part of a core that its rank loses while the SMT sibling works.
        seed: The seed of random numbers.
    """

    ranks: int
    compute: float = 1e-3
    phase: float = 10.0
    synchronous: float = 0.1
    bytes: float = 16 * MIB
    node: int = 128
    domain: int = 16
    direct: float = 0.1 / GIB
    huge: float = 0.013 / GIB
    copying: float = 0.28 / GIB
    compressing: float = 3.0 / GIB
    memory: float = 300 * GIB
    sibling: float = 0.4
    seed: int = 1

    @property
    def window(self) -> float:
        """Return the seconds in which the file system takes an output, as fast as it can."""
        return self.synchronous * self.phase

    @property
    def iterations(self) -> int:
        """Return the number of iterations of a phase."""
        return max(1, round(self.phase / self.compute))


Way = Callable[[Scene], Losses]


def _whole(ranks: Ranks, length: float, part: float) -> Losses:
    """Return one interval from the start on each of some cores."""
    number = ranks.size
    return Losses(ranks, np.zeros(number), np.full(number, length), np.full(number, part))


def _all(scene: Scene) -> Ranks:
    return np.arange(scene.ranks)


def nothing(scene: Scene) -> Losses:
    """Return no losses: there is no output."""
    return _whole(np.arange(0), 0, 0)


def thread_beside_a_rank(scene: Scene) -> Losses:
    """Return the losses to one thread on each node, which does all output on a rank's core."""
    of_node = min(scene.node, scene.ranks)
    work = scene.copying * scene.bytes * of_node
    part = min(0.5, work / scene.window)  # the system shares a core out evenly
    return _whole(np.arange(0, scene.ranks, scene.node), work / part, part)


def _servers(scene: Scene, of_server: int) -> Losses:
    """Return the losses to servers on cores of their own, each of so many ranks.

    They take memory bandwidth from all ranks, for as long as the file system, a server's core or
    the memory needs for the output.
    """
    moved = 3 * min(scene.node, scene.ranks) * scene.bytes / scene.memory
    work = scene.copying * scene.bytes * min(of_server, scene.node, scene.ranks)
    length = max(scene.window, work, moved)
    return _whole(_all(scene), length, moved / length)


def server_of_a_node(scene: Scene) -> Losses:
    """Return the losses to one server on each node, with a core of its own."""
    return _servers(scene, scene.node)


def server_of_a_domain(scene: Scene) -> Losses:
    """Return the losses to one server in each NUMA domain, with a core of its own.

    Each server begins when it wakes, within a millisecond.
    """
    losses = _servers(scene, scene.domain)
    domains = -(-scene.ranks // scene.domain)
    late = np.random.default_rng(scene.seed).uniform(0, 1e-3, domains)
    return Losses(losses.rank, late[losses.rank // scene.domain], losses.length, losses.part)


def server_on_each_sibling(scene: Scene) -> Losses:
    """Return the losses to a server on each rank's SMT sibling.

    It copies at once, and writes when the file system takes its turn.
    """
    copy = _whole(_all(scene), scene.bytes * (scene.copying - scene.direct), scene.sibling)
    write = _requests(scene, scene.bytes, scene.direct, scene.window, scene.sibling)
    return _both(copy, write)


def _both(one: Losses, other: Losses) -> Losses:
    return Losses(
        np.concatenate([one.rank, other.rank]),
        np.concatenate([one.begin, other.begin]),
        np.concatenate([one.length, other.length]),
        np.concatenate([one.part, other.part]),
    )


def _requests(
    scene: Scene, size: float, cost: float, within: float, part: float = 1.0
) -> Losses:
    """Return requests of each rank, at random moments of some time, on its own core."""
    number = max(1, math.ceil(scene.bytes / size))
    length = cost * scene.bytes / number
    random = np.random.default_rng(scene.seed)
    arrivals = np.sort(random.uniform(0, within, (scene.ranks, number)), axis=-1)
    return Losses(
        np.repeat(np.arange(scene.ranks), number),
        in_turn(arrivals, length).reshape(-1),
        np.full(scene.ranks * number, length),
        np.full(scene.ranks * number, part),
    )


def _workers_at_once(scene: Scene, cost: float) -> Losses:
    """Return one worker for each rank, at once, on cores of the node that chance chooses."""
    random = np.random.default_rng(scene.seed)
    node = np.arange(scene.ranks) // scene.node
    of_node = np.minimum(scene.node, scene.ranks - node * scene.node)
    core = node * scene.node + random.integers(0, of_node)
    times = np.bincount(core, minlength=scene.ranks)
    losses = _whole(_all(scene), 0, 1)
    return Losses(losses.rank, losses.begin, times * cost * scene.bytes, losses.part)


AT_PUT_BYTES = 32 << 20
"""Bytes that the kernel's workers begin to write at the put."""


def kernel(scene: Scene) -> Losses:
    """Return the losses to the kernel's workers, by the library's default.

    They begin 32 MiB at the put, and the rest when that is written. The system chooses their
    cores. The rest goes in requests of 16 MiB, at random moments of the time that the file system
    takes.
    """
    begun = min(scene.bytes, AT_PUT_BYTES)
    first = _workers_at_once(replace(scene, bytes=begun), scene.direct)
    if begun == scene.bytes:
        return first
    later = replace(scene, bytes=scene.bytes - begun)
    return _both(first, _requests(later, AT_PUT_BYTES / 2, scene.direct, scene.window))


def kernel_from_huge_pages(scene: Scene) -> Losses:
    """Return the losses as of `kernel`, to arrays from `iocomp_alloc`."""
    return kernel(replace(scene, direct=scene.huge))


def kernel_from_copies(scene: Scene) -> Losses:
    """Return the losses as of `kernel`, to arrays that begin at any address, as those of malloc.

    Each rank copies its own at the put, into huge pages.
    """
    copy = _whole(_all(scene), scene.bytes * (scene.copying - scene.direct), 1)
    return _both(copy, kernel_from_huge_pages(scene))


def kernel_at_any_time(scene: Scene) -> Losses:
    """Return the losses to one request of each rank, when the file system takes its turn."""
    return _requests(scene, scene.bytes, scene.direct, scene.window)


def kernel_over_the_phase(scene: Scene) -> Losses:
    """Return the losses to one request of each rank, at any moment of the whole phase."""
    return _requests(scene, scene.bytes, scene.direct, scene.phase)


def kernel_small_over_the_phase(scene: Scene) -> Losses:
    """Return the losses to requests of 1 MiB, at each rank's own moments of the whole phase."""
    return _requests(scene, MIB, scene.direct, scene.phase)


def kernel_together(scene: Scene) -> Losses:
    """Return the losses of ranks that write on their own cores, all at the same time."""
    return _whole(_all(scene), scene.direct * scene.bytes, 1)


def kernel_even(scene: Scene) -> Losses:
    """Return losses of the same part of each core all the time: the limit of small requests."""
    return _whole(_all(scene), scene.phase, scene.direct * scene.bytes / scene.phase)


def compressing_at_any_time(scene: Scene) -> Losses:
    """Return the losses of ranks that compress when the file system takes its turn."""
    return _requests(scene, scene.bytes, scene.compressing, scene.window)


def compressing_workers(scene: Scene) -> Losses:
    """Return the losses to a thread for each rank, which compresses at once on any core."""
    return _workers_at_once(scene, scene.compressing)


def compressing_together(scene: Scene) -> Losses:
    """Return the losses of ranks that compress on their own cores, all at the same time."""
    return _whole(_all(scene), scene.compressing * scene.bytes, 1)


WAYS: dict[str, Way] = {
    "thread beside one rank of a node": thread_beside_a_rank,
    "server of a node, core of its own": server_of_a_node,
    "server of a NUMA domain, core of its own": server_of_a_domain,
    "server on each rank's SMT sibling": server_on_each_sibling,
    "kernel: iocomp's default, arrays of malloc": kernel_from_copies,
    "the same, arrays of iocomp_alloc": kernel_from_huge_pages,
    "the same, aligned arrays in small pages": kernel,
    "kernel, each rank at any time": kernel_at_any_time,
    "kernel, each rank at any time of the phase": kernel_over_the_phase,
    "kernel, the same in requests of 1 MiB": kernel_small_over_the_phase,
    "kernel, all ranks together": kernel_together,
    "kernel, evenly all the time": kernel_even,
    "compressing, each rank at any time": compressing_at_any_time,
    "compressing, threads at the put": compressing_workers,
    "compressing, all ranks together": compressing_together,
}
"""The ways by the names that a table shows."""


@dataclass(frozen=True)
class SlowDown:
    """The cost of output to a job.

    Attributes:
        ratio: The wall time of a phase with output ÷ the same without.
        waits: True if the next output has to wait until this one is written.
    """

    ratio: float
    waits: bool


def slow_down(scene: Scene, way: Way) -> SlowDown:
    """Return what a way of writing costs. A phase lasts until its output is written.

    A writer needs as long as its last interval, and the core that it takes most from.
    """
    job = Job(scene.ranks, scene.compute)
    losses = way(scene)
    written = max(losses.end(), losses.most())
    computed, quiet = (
        job.run(Cores(scene.ranks, one, 2 * scene.phase), scene.iterations)
        for one in (losses, nothing(scene))
    )
    return SlowDown(max(computed, written) / quiet, written > computed)
