# SPDX-License-Identifier: BSD-3-Clause
"""Random scripts and settings from a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from element_pattern import DTYPES, size_of
from case import Placement, Tuning
from script import Extents, FileScript, Script
from shrinking import RecordedScript
from verification import BackEnd

LARGEST_ELEMENTS = 6000


def random_shape(chance: random.Random, dimensions: int) -> list[int]:
    """Return extents with at most LARGEST_ELEMENTS elements, some of them 0 or 1."""
    shape = []
    left = LARGEST_ELEMENTS
    for d in range(dimensions):
        most = max(1, min(left, round(left ** (1.5 / (dimensions - d)))))
        extent = 0 if chance.random() < 0.02 else chance.randint(1, most)
        shape.append(extent)
        left //= max(1, extent)
    chance.shuffle(shape)
    return shape


def random_boxes(
    chance: random.Random, start: Extents, count: Extents, depth: int
) -> Iterator[tuple[list[int], list[int]]]:
    """Cut a box at random into boxes that do not overlap."""
    cuttable = [d for d, extent in enumerate(count) if extent > 1]
    if depth == 0 or not cuttable:
        yield list(start), list(count)
        return
    d = chance.choice(cuttable)
    at = chance.randint(1, count[d] - 1)
    low, high, rest = list(count), list(count), list(start)
    low[d] = at
    high[d] = count[d] - at
    rest[d] += at
    yield from random_boxes(chance, start, low, depth - chance.randint(1, 2) if depth > 1 else 0)
    yield from random_boxes(chance, rest, high, depth - 1)


class _RandomFile:
    """One file, whose calls come a few at a time so that those of several files mix."""

    def __init__(self, chance: random.Random, script: Script, number: int) -> None:
        self.chance = chance
        settings: dict[str, object] = {"steps_in_flight": chance.randint(1, 4)}
        kind = chance.choice(["series", "series", "checkpoint"])
        if kind == "series" and chance.random() < 0.2:
            settings["kind"] = "file_per_step"
        if kind == "checkpoint" and chance.random() < 0.3:
            settings["keep"] = chance.randint(1, 3)
        groups = chance.choice([1, 1, 1, 2, 3])
        group = (chance.randrange(groups), groups)
        self.file: FileScript = script.open(f"random{number}", kind, group, **settings)
        # Synchronous mpiio writes at once only where it has one file for all steps.
        self.may_wait_in_step = script.writes_at_once and not self.file.has_file_per_step
        self.steps = chance.randint(0, 5)
        for _ in range(chance.randint(0, 4)):
            self._define()

    def _define(self) -> None:
        chance = self.chance
        shape = random_shape(chance, chance.choice([0, 1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 8]))
        name = f"{chance.choice(['', 'group/', 'a/b/'])}v{len(self.file.variables)}"
        name = self.file.define(name, chance.choice(self.file.script.types), shape)
        if chance.random() < 0.3:
            self.file.text("unit", chance.choice(["m", "", "kg m\u207b\u00b9"]), variable=name)

    def _begin_step(self) -> None:
        chance = self.chance
        file = self.file
        may_change = file.may_change
        if chance.random() < 0.2 and len(file.variables) < 6 and (may_change or file.step == 0):
            self._define()
        for variable in file.variables.values():
            if variable.shape and chance.random() < 0.15 and may_change:
                file.set_shape(variable.name, random_shape(chance, len(variable.shape)))
        if chance.random() < 0.3:
            element_type = chance.choice([name for name in DTYPES if name != "char"])
            file.attribute("time", element_type, [chance.randint(0, 100)] * chance.randint(1, 3))

    def _put_irregular(self, name: str, shape: Extents) -> None:
        """Deal the elements out in clumps, in any order, some to nobody."""
        chance = self.chance
        size = 1
        for extent in shape:
            size *= extent
        parts: list[list[int]] = [[] for _ in range(chance.randint(1, 5))]
        at = 0
        while at < size:
            clump = min(size - at, chance.choice([1, 1, 2, 7, 40, 300]))
            if chance.random() < 0.9:
                chance.choice(parts).extend(range(at, at + clump))
            at += clump
        for part in parts:
            form = chance.choice(["runs", "map"])
            if chance.random() < 0.5:
                chance.shuffle(part)
            if form == "map" and part and chance.random() < 0.5:
                for _ in range(chance.randint(1, 5)):
                    part.insert(chance.randrange(len(part) + 1), -chance.randint(1, 9))
            self.file.put_irregular(name, chance.randrange(12), part, form, chance.random() < 0.4)

    def _puts(self) -> list[tuple[str, list[int], list[int]]]:
        chance = self.chance
        puts = []
        for variable in self.file.variables.values():
            if chance.random() < 0.2:
                continue
            if chance.random() < 0.2:
                self._put_irregular(variable.name, variable.shape)
                continue
            origin = [0] * len(variable.shape)
            boxes = list(random_boxes(chance, origin, variable.shape, chance.randint(0, 5)))
            if chance.random() < 0.2:
                boxes = chance.sample(boxes, chance.randint(0, len(boxes)))
            if variable.shape and chance.random() < 0.2:
                boxes.append((origin, origin))  # an empty block
            puts += [(variable.name, *box) for box in boxes]
        chance.shuffle(puts)
        return puts

    def _put(self, name: str, start: list[int], count: list[int]) -> None:
        chance = self.chance
        memory = None
        if chance.random() < 0.4:
            below = [chance.choice([0, 0, 1, 2]) for _ in count]
            # A halo of 8 dimensions is mostly halo.
            above = [chance.choice([0, 0, 1, 3]) if len(count) < 5 else 0 for _ in count]
            memory = ([b + c + a for b, c, a in zip(below, count, above, strict=True)], below)
        buffered = chance.random() < 0.4
        self.file.put(name, chance.randrange(12), start, count, buffered, memory)

    def _wait(self) -> None:
        chance = self.chance
        order = chance.choice(["forward", "backward", "odd_first"])
        state = chance.choice(["handed_over", "written", "durable"])
        how = "poll" if state != "durable" and chance.random() < 0.3 else "wait"
        how = "wait_puts" if chance.random() < 0.3 else how
        self.file.wait(state, order, how)

    def calls(self) -> Iterator[None]:
        """Add the calls; yields where those of other files may come between."""
        chance = self.chance
        file = self.file
        for step in range(self.steps):
            self._begin_step()
            yield
            for name, start, count in self._puts():
                self._put(name, start, count)
                if chance.random() < 0.1:
                    yield
            if chance.random() < 0.15:
                file.wait("handed_over", "backward")
            if chance.random() < 0.15 and self.may_wait_in_step:
                self._wait()
            if step == self.steps - 1 and file.is_step_begun and chance.random() < 0.3:
                break  # for close to end
            file.end_step()
            yield
            if chance.random() < 0.4:
                self._wait()
            if chance.random() < 0.15:
                file.wait_step(chance.randint(0, file.step - 1))
        yield
        file.close()


def random_script(
    chance: random.Random,
    writes_at_once: bool,
    lacks: Sequence[str] = (),
    is_netcdf: bool = False,
    may_change: bool = True,
    engine: str = "",
) -> RecordedScript:
    """Return a script of a few files whose calls are mixed."""
    script = RecordedScript(writes_at_once, lacks, is_netcdf, may_change, engine)
    numbers = iter(range(100))
    running: list[Iterator[None]] = []
    to_come = chance.randint(1, 5)
    while running or to_come:
        if to_come and (not running or chance.random() < 0.1):
            running.append(_RandomFile(chance, script, next(numbers)).calls())
            to_come -= 1
        calls = chance.choice(running)
        if next(calls, calls) is calls:
            running.remove(calls)
        if chance.random() < 0.05:
            script.progress()
    return script


def random_placement(chance: random.Random, nodes: int = 1) -> Placement:
    """Return a mode and a placement of few ranks; each node has as many of them."""
    if nodes > 1:
        return _placement_on_nodes(chance, nodes)
    if chance.random() < 0.4:
        ranks = chance.randint(1, 4)
        if chance.random() < 0.5:
            settings = {"mode": "async", "placement.servers": "none"}
            return Placement(f"kernel{ranks}", ranks, ranks, settings)
        return Placement(f"sync{ranks}", ranks, ranks, {"mode": "sync"})
    servers = chance.randint(1, 4)
    ranks = servers + chance.randint(servers, 5)
    policy = chance.choice(["spread", "packed", "list"])
    chosen: dict[str, object] = {"mode": "async"}
    if policy == "list":
        chosen["placement.servers"] = chance.sample(range(ranks), servers)
    else:
        chosen |= {"placement.policy": policy, "placement.servers": f"{servers} per node"}
    return Placement(f"{policy}{ranks - servers}to{servers}", ranks, ranks - servers, chosen)


def _placement_on_nodes(chance: random.Random, nodes: int) -> Placement:
    """Deal ranks out in turn: rank r sits on node r modulo their number."""
    of_node = chance.randint(1, 4)
    ranks = nodes * of_node
    with_servers = ["spread", "packed", "list"] if of_node > 1 else []
    mode = chance.choice(["kernel", "sync", *with_servers])
    settings: dict[str, object] = {"mode": "sync" if mode == "sync" else "async"}
    if mode == "kernel":
        settings["placement.servers"] = "none"
    if mode in ("kernel", "sync"):
        return Placement(f"{mode}{ranks}on{nodes}", ranks, ranks, settings)
    per_node = chance.randint(1, of_node // 2)
    if mode == "list":
        chosen = [
            node + nodes * place
            for node in range(nodes)
            for place in chance.sample(range(of_node), per_node)
        ]
        settings["placement.servers"] = chosen
    else:
        settings |= {"placement.policy": mode, "placement.servers": f"{per_node} per node"}
    servers = nodes * per_node
    return Placement(f"{mode}{ranks - servers}to{servers}on{nodes}", ranks, ranks - servers, settings)


def random_tuning(chance: random.Random) -> Tuning:
    """Return sizes and limits, tiny ones mostly."""
    largest_block = LARGEST_ELEMENTS * max(size_of(t) for t in DTYPES)
    inline = chance.choice([0, 1, 100, 4096, 1 << 20])
    return Tuning(
        "random",
        {
            "test.chunk": chance.choice([1, 7, 64, 1000, 4096, 16 << 20]),
            "test.inline": inline,
            "transport.kind": chance.choice(["auto", "auto", "message"]),
            "test.segment": chance.choice(["auto", "memfd", "shm"]),
            "test.way": chance.choice(["auto", "auto", "in-place", "pull", "staged"]),
            "test.kernel_from": chance.choice([1, 4096, 8 << 20]),
            "test.spin": chance.choice([0, 5, 100]),
            "test.credits": chance.choice([2, 3, 16]),
            "test.touch": 0,
            "client.buffer_memory": chance.choice([largest_block, 1 << 30]),
            "disk.direct": chance.choice(["auto", "on", "off"]),
            "test.direct_from": chance.choice([1, 4096, 1 << 20]),
            "test.request": chance.choice([4096, 64 << 20]),
            "disk.engine": chance.choice(["auto", "threads"]),
            "test.disk_threads": chance.choice([1, 1, 3]),
        },
        {"alignment": chance.choice([1, 8, 100, 4096, 4096, 4096, 65536])},
        staging_per_server=chance.choice([64 << 10, 64 << 10, 1 << 20, 1 << 28]),
    )


def random_back_end(chance: random.Random) -> BackEnd:
    """Return a back-end, the plain ones more often."""
    name = chance.choice(
        ["posix", "posix", "mpiio", "hdf5", "hdf5", "pnetcdf", "pnetcdf", "netcdf", "zarr", "adios2"]
        + ["example_format"]
    )
    if name == "adios2":
        return BackEnd(name, engine=chance.choice(["BP4", "BP5", "BP5", "HDF5"]))
    return BackEnd(name, time=name == "hdf5" and chance.random() < 0.5)
