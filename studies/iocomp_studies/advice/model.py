# SPDX-License-Identifier: BSD-3-Clause
"""The wall time in each way of writing: docs/developers/model.md, formula by formula."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from iocomp_studies.advice.work import AUTO, COMPUTING, GIB, KERNEL, SYNCHRONOUS, Way, Work


@dataclass(frozen=True)
class Expected:
    """The assumption about a parameter before anything is measured: its value, and its uncertainty.

    Attributes:
        value: The expected value, in the unit of the parameter.
        spread: One standard deviation of its natural logarithm.
        unit: The unit in words.
        meaning: The meaning in words.
    """

    value: float
    spread: float
    unit: str
    meaning: str


EXPECTED: dict[str, Expected] = {
    "bandwidth": Expected(1.0 * GIB, 2.0, "bytes/s", "with which one writer writes and flushes"),
    "writers": Expected(0.3, 1.0, "1", "n writers are n to this power times as fast as one"),
    "commit": Expected(0.003, 1.5, "s", "of a step, whatever its size"),
    "part": Expected(1.0, 0.2, "1", "of that bandwidth, in this way"),
    "copy.shared": Expected(4.0 * GIB, 0.7, "bytes/s", "of a server that takes data in; of a copy"),
    "copy.message": Expected(2.0 * GIB, 0.7, "bytes/s", "the same, in messages"),
    "factor": Expected(1.0, 0.1, "1", "computing ÷ that without servers, also while they sleep"),
    "slow": Expected(0.05 / GIB, 1.0, "s/byte", "of computing lost for a byte that a writer moves"),
    "slow.hyperthread": Expected(0.2 / GIB, 1.0, "s/byte", "the same"),
    "slow.oversubscribe": Expected(0.4 / GIB, 1.0, "s/byte", "the same"),
    "slow.computing": Expected(0.02 / GIB, 1.0, "s/byte", "the same, of what needs no memory"),
    "slow.computing.hyperthread": Expected(0.2 / GIB, 1.0, "s/byte", "the same"),
    "slow.computing.oversubscribe": Expected(0.3 / GIB, 1.0, "s/byte", "the same"),
}
"""The expected values by name, or by parts of it before a dot. Source: docs/developers/model.md."""
_MOST_WRITERS = 1.0
# As the library decides (src/client/remote/own_writes.cpp).
OWN_BACKENDS = ("posix",)
"""Back-ends of which ranks that have servers write long blocks themselves."""
OWN_FROM = 8 << 20
"""Bytes from which a block is long: test.kernel_from."""
OWN_ENOUGH = 4.0 * GIB
"""Bytes per second at which a server would free a block; who waits longer gives it to servers."""
OWN_STEPS = 2
"""Steps after which that is found out."""
# As the library does without servers (src/client/local/disk_work.cpp).
BEGUN_BYTES = 16 << 20
"""Bytes of an array that are being written at most when the program waits for it."""
COPY_BYTES = 1 << 30
"""Bytes of which the rest is copied then: client.buffer_memory."""


def expected(name: str) -> Expected:
    """Return what is known of a parameter in general."""
    while name not in EXPECTED:
        name = name.rpartition(".")[0]
    return EXPECTED[name]


def _slow(way_name: str, work: Work) -> str:
    """Return the parameter of what a program loses to each byte."""
    return f"slow.{'computing.' if work.bound == COMPUTING else ''}{way_name}"


def names_of(way: Way, work: Work) -> list[str]:
    """Return the parameters that the wall of a program depends on, in a way of writing."""
    names = [f"bandwidth.{way.backend}", f"commit.{way.backend}", f"writers.{way.backend}"]
    if way.name == SYNCHRONOUS:
        return names
    names += [f"part.{way.name}", _slow(way.name, work)]
    if way.name == KERNEL:
        return [*names, "copy.shared"]
    if way.transport == AUTO and way.backend in OWN_BACKENDS:
        names += [f"part.{KERNEL}", _slow(KERNEL, work)]
    return [*names, f"factor.{way.name}", f"copy.{_copying(way)}"]


def _copying(way: Way) -> str:
    """Return how arrays get to servers: "shared" or "message"."""
    return "shared" if way.transport == AUTO else way.transport


@dataclass(frozen=True)
class Prediction:
    """The predicted times of a run, in seconds.

    Attributes:
        wall: The whole run, until all is durable.
        write: One step, from its start to its commit (Q).
        step: The time from the end of one step's computing to the next (P); synchronous: T.
        slowed: The computing of a step that is lost to servers and writing.
        waited: The waiting of a step for arrays that are to be changed.
    """

    wall: float
    write: float
    step: float
    slowed: float = 0.0
    waited: float = 0.0

    def longer(self) -> float:
        """Return what decides how long a step takes: computing or writing."""
        return max(self.step, self.write)

    def is_bound_by_output(self) -> bool:
        """Return whether the program waits for its output in the long run."""
        return self.write > self.step


@dataclass(frozen=True)
class Model:
    """The parameters of a machine; what was not measured is what is expected in general."""

    values: Mapping[str, float] = field(default_factory=dict)

    def value(self, name: str) -> float:
        """Return a parameter."""
        found = self.values.get(name)
        return expected(name).value if found is None else found

    def with_values(self, values: Mapping[str, float]) -> Model:
        """Return it with some parameters changed."""
        return Model({**self.values, **values})

    def predict(self, work: Work, way: Way) -> Prediction:
        """Return what a program takes in a way of writing."""
        if way.name == SYNCHRONOUS:
            write = self._write_seconds(work, way)
            wall = work.steps * (work.step_seconds + write)
            return Prediction(wall, write, work.step_seconds, 0.0, write)
        first, last = self._flows(work, way)
        begun = 0 if first is last else OWN_STEPS
        factor = self.value(f"factor.{way.name}") if way.servers else 1.0
        before = work.before_part * factor * work.step_seconds
        wall = before + begun * first.longer() + (work.steps - 1 - begun) * last.longer()
        wall += max(last.write, last.step - before)
        return replace(last, wall=wall)

    def _flows(self, work: Work, way: Way) -> tuple[Prediction, Prediction]:
        """Return what a step takes: one of the first, and any later one."""
        served = self._flow(work, way)
        if way.transport != AUTO or way.backend not in OWN_BACKENDS or work.put_bytes() < OWN_FROM:
            return served, served
        own = self._flow(work, way, past_servers=True)
        if work.steps <= OWN_STEPS or own.waited <= work.step_bytes / OWN_ENOUGH:
            return own, own
        return own, served

    def _flow(self, work: Work, way: Way, *, past_servers: bool = False) -> Prediction:
        """Return what a step takes in the long run; `wall` is not told."""
        by_kernel = past_servers or not way.servers
        name = KERNEL if by_kernel else way.name
        writers = work.ranks if by_kernel else way.servers
        write = self._write_seconds(work, Way(name, way.backend, 0 if by_kernel else writers))
        data = write - self.value(f"commit.{way.backend}")
        moved = work.all_bytes() / writers
        if by_kernel:
            held = data / work.puts
        else:
            held = moved / work.puts / self.value(f"copy.{_copying(way)}")
            held += self._without_memory(work, way) * data / work.puts
        factor = self.value(f"factor.{way.name}") if way.servers else 1.0
        waited = held - factor * work.reuse_seconds
        if not way.servers:
            waited = min(waited, self._copied_seconds(work, data))
        waited = work.puts * max(0.0, waited)
        slowed = (factor - 1.0) * work.step_seconds + self.value(_slow(name, work)) * moved
        step = max(work.step_seconds + slowed + waited, 1e-9)
        return Prediction(0.0, write, step, slowed, waited)

    def _copied_seconds(self, work: Work, data: float) -> float:
        """Return how long a rank without servers waits for an array of which the rest is copied."""
        block = work.put_bytes()
        if block > COPY_BYTES:
            return math.inf
        begun = min(1.0, BEGUN_BYTES / max(block, 1.0)) * data / work.puts
        return begun + block / self.value("copy.shared")

    def _write_seconds(self, work: Work, way: Way) -> float:
        """Return how long one step takes to write, from its first byte to its commit."""
        rate = self.value(f"bandwidth.{way.backend}")
        rate *= self._together(way.backend, way.servers or work.ranks)
        if way.name != SYNCHRONOUS:
            rate *= self.value(f"part.{way.name}")
        return self.value(f"commit.{way.backend}") + work.all_bytes() / rate

    def _together(self, backend: str, writers: int) -> float:
        """Return how many times as fast as one some writers are."""
        return math.pow(writers, min(self.value(f"writers.{backend}"), _MOST_WRITERS))

    @staticmethod
    def _without_memory(work: Work, way: Way) -> float:
        """Return the part of a step for which the servers of a node have no memory."""
        if not way.memory_bytes:
            return 0.0
        return max(0.0, 1.0 - way.memory_bytes * work.nodes / max(work.all_bytes(), 1.0))

    def as_if_measured(self, work: Work, backend: str, write_seconds: float) -> Model:
        """Return it with the bandwidth at which one synchronous step takes as long as it did."""
        name = f"bandwidth.{backend}"
        commit = min(self.value(f"commit.{backend}"), write_seconds / 2)
        rate = work.all_bytes() / max(write_seconds - commit, 1e-9)
        rate /= self._together(backend, work.ranks)
        return self.with_values({name: rate, f"commit.{backend}": commit})


def names_of_all(cases: Iterable[tuple[Way, Work]]) -> list[str]:
    """Return the parameters that some walls depend on, each once."""
    return list(dict.fromkeys(name for way, work in cases for name in names_of(way, work)))
