# SPDX-License-Identifier: BSD-3-Clause
"""The choice of a way to write: the possible ways, the predicted time of each, and the best one."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from iocomp_studies.advice.model import Model, Prediction
from iocomp_studies.advice.work import AUTO, GIB, KERNEL, SYNCHRONOUS, Way, Work
from iocomp_studies.plan.cell import NOT_USED, Cell
from iocomp_studies.runs.seats import NotPossibleError, Seats, plan_seats
from iocomp_studies.table import percent_text, seconds_text

BY_KERNEL = ("posix", "hdf5", "netcdf", "pnetcdf")
"""Back-ends whose data the ranks' kernel can write."""
RATIOS = (1, 2, 4, 8, 16, 32, 64)
_BY_RATIO = ("consecutive", "hyperthread", "oversubscribe")
SERVED = (*_BY_RATIO, "l3", "numa")
ALL_MAPPINGS = ("sequential", *SERVED)
_MOST_TOLD = 3
_LEAST_MEMORY = 64 << 20
_ROOM = 1.25  # of staging memory, for what is not as even as the model has it


@dataclass(frozen=True)
class Allowed:
    """The limits within which advice may choose.

    Attributes:
        backends: The formats that the file may have.
        mappings: Some of ALL_MAPPINGS; "sequential" stands for no servers.
        is_contiguous: True if the block of a rank lies in one piece in the file.
        memory_bytes: The memory that the servers of a node may use.
        topology: A node, as `iocomp map` takes it; this machine by default.
        can_wait: True if the program may also write synchronously.
    """

    backends: tuple[str, ...] = ("posix",)
    mappings: tuple[str, ...] = ALL_MAPPINGS
    is_contiguous: bool = True
    memory_bytes: float = 4.0 * GIB
    topology: str = ""
    can_wait: bool = True


@dataclass(frozen=True)
class Choice:
    """One way, and what it would take.

    Attributes:
        way: The way to write.
        cell: The same, as a study would run it.
        seats: The cores of the ranks.
        prediction: The times that the model predicts.
        memory_bytes: The staging memory on each node.
    """

    way: Way
    cell: Cell
    seats: Seats
    prediction: Prediction
    memory_bytes: int

    def settings(self) -> dict[str, str]:
        """Return the settings that make a job write so."""
        found = {"mode": "sync" if self.way.name == SYNCHRONOUS else "async"}
        if self.way.name == KERNEL:
            found["placement.servers"] = "none"
        elif self.way.servers:
            found |= self.seats.settings
            found["transport.kind"] = "message" if self.way.transport == "message" else "auto"
            found["staging.memory"] = f"{self.memory_bytes >> 20} MiB"
        return {**found, "files.default.backend": self.way.backend}

    def launch(self) -> str:
        """Return how a job is started so."""
        words = ["iocomp launch --mapping", self.cell.mapping, "--compute-ranks"]
        words.append(str(self.cell.ranks))
        if self.cell.nodes > 1:
            words += ["--nodes", str(self.cell.nodes)]
        if self.cell.ratio != "1":
            words += ["--ratio", self.cell.ratio]
        words += ["--kernel"] if self.way.name == KERNEL else []
        return " ".join([*words, "-- ./program"])


@dataclass(frozen=True)
class Advice:
    """The result of comparing ways to write.

    Attributes:
        best: The way to take.
        choices: All of them, the quickest first.
        reason: The reason for the best one, in sentences.
        not_possible: The reason why a way is not possible, by the way in words.
    """

    best: Choice
    choices: tuple[Choice, ...]
    reason: tuple[str, ...]
    not_possible: Mapping[str, str]


class NoChoiceError(ValueError):
    """Nothing that is allowed is possible; the text says why."""


def advise_on(
    work: Work, model: Model, allowed: Allowed, command: Path, *, same: float = 0.1
) -> Advice:
    """Compare all ways that are allowed and possible.

    Args:
        work: The work of the program.
        model: The model of the machine.
        allowed: The limits of the choice.
        command: The command `iocomp`, which knows where ranks can sit.
        same: Part by which two walls may differ and still count as the same, as the model is no
            better than that. Of the same, what takes fewest servers and least memory is taken.

    Raises:
        NoChoiceError: If there is none.
    """
    not_possible: dict[str, str] = {}
    found = []
    for way, cell in _candidates(work, allowed, not_possible):
        try:
            seats = plan_seats(command, cell, allowed.topology)
        except NotPossibleError as error:
            not_possible.setdefault(cell.mapping, str(error))
            continue
        memory = _memory(work, allowed) if way.name in SERVED else 0
        if way.name in SERVED:
            way = Way(way.name, way.backend, seats.servers(), way.transport, memory)
        found.append(Choice(way, cell, seats, model.predict(work, way), memory))
    if not found:
        reasons = "; ".join(f"{way}: {why}" for way, why in not_possible.items())
        raise NoChoiceError(f"nothing that is allowed is possible here: {reasons}")
    for one in found:  # with another number of servers it fits
        not_possible.pop(one.cell.mapping, None)
    found.sort(key=lambda one: one.prediction.wall)
    limit = found[0].prediction.wall * (1 + same)
    near = [one for one in found if one.prediction.wall <= limit]
    best = min(near, key=_demand)
    return Advice(best, tuple(found), _reason(work, best, found, near), not_possible)


def _demand(choice: Choice) -> tuple[int, int, int, float]:
    """Return what a choice takes beside time: servers, memory, calls that wait."""
    waits = int(choice.way.name == SYNCHRONOUS)
    return choice.way.servers, choice.memory_bytes, waits, choice.prediction.wall


def _candidates(
    work: Work, allowed: Allowed, not_possible: dict[str, str]
) -> list[tuple[Way, Cell]]:
    found: list[tuple[Way, Cell]] = []
    cell = Cell("command", ranks=work.ranks, nodes=work.nodes)

    for backend in allowed.backends:
        if "sequential" in allowed.mappings:
            if allowed.can_wait:
                sync = replace(cell, output="sync", transport=NOT_USED, backend=backend)
                found.append((Way(SYNCHRONOUS, backend), sync))
            if backend not in BY_KERNEL:
                not_possible[f"kernel, {backend}"] = "a library writes these files"
            elif not allowed.is_contiguous:
                not_possible["kernel"] = "what a rank puts is not in one piece in the file"
            else:
                kernel = replace(cell, transport="kernel", backend=backend)
                found.append((Way(KERNEL, backend), kernel))
        for mapping in allowed.mappings:
            if mapping == "sequential":
                continue
            # Blocks that are scattered in the file go to servers from the first one on.
            transport = AUTO if allowed.is_contiguous else "shared"
            ratios = RATIOS if mapping in _BY_RATIO else (1,)
            for ratio in ratios:
                if ratio == 1 or work.ranks % ratio == 0:
                    served = replace(cell, mapping=mapping, ratio=str(ratio), backend=backend)
                    found.append((Way(mapping, backend, 1, transport), served))
    return found


def _memory(work: Work, allowed: Allowed) -> int:
    """Return the staging memory of a node: a step, so that no put waits, as far as there is any."""
    wanted = max(_LEAST_MEMORY, _ROOM * work.all_bytes() / work.nodes)
    mib = math.ceil(min(wanted, allowed.memory_bytes) / 2**20)
    return mib << 20


def _reason(
    work: Work, best: Choice, found: Sequence[Choice], near: Sequence[Choice]
) -> tuple[str, ...]:
    """Return why the best is that, computed from the predictions."""
    told = best.prediction
    output = told.wall / work.seconds() - 1
    sentences = [
        f"Output adds {percent_text(max(output, 0.0))} to the {seconds_text(work.seconds())} s of "
        "computing."
    ]
    if best.way.name == SYNCHRONOUS:
        sentences.append("No way that overlaps output with computing is clearly quicker.")
    elif told.is_bound_by_output():
        sentences.append(
            f"A step takes {seconds_text(told.write)} s to write and {seconds_text(told.step)} s "
            "to compute: the file system decides, and only part of the output can be hidden."
        )
    else:
        sentences.append(
            f"A step is written in {seconds_text(told.write)} s, behind "
            f"{seconds_text(told.step)} s of computing."
        )
    if told.waited > 0.01 * work.step_seconds and best.way.name != SYNCHRONOUS:
        sentences.append(
            f"Ranks wait {seconds_text(told.waited)} s in each step for arrays that they change "
            "before these are free."
        )
    waiting = [one for one in found if one.way.name == SYNCHRONOUS]
    if waiting and best not in waiting:
        least = min(one.prediction.wall for one in waiting)
        sentences.append(f"Synchronous output would take {least / told.wall:.2f} times as long.")
    if len(near) > 1:
        others = [one.way.text() for one in near if one is not best]
        told_others = "; ".join(others[:_MOST_TOLD])
        more = f" and {len(others) - _MOST_TOLD} more" if len(others) > _MOST_TOLD else ""
        sentences.append(
            f"No clear difference from {told_others}{more}: this one takes the least beside."
        )
    if best.memory_bytes and best.memory_bytes * work.nodes < work.all_bytes():
        sentences.append("A step does not fit into the memory that is allowed: puts will wait.")
    return tuple(sentences)


def toml_of(settings: Mapping[str, str], comment: Sequence[str] = ()) -> str:
    """Return settings as the text of iocomp.toml."""
    tables: dict[str, list[str]] = {"": []}
    for key, value in settings.items():
        table, _, name = key.rpartition(".")
        text = value if value.isdecimal() and value.isascii() else json.dumps(value, ensure_ascii=False)
        tables.setdefault(table, []).append(f"{name} = {text}")
    parts = ["".join(f"# {line}\n" for line in comment)]
    for table, lines in tables.items():
        head = f"\n[{table}]\n" if table else ""
        parts.append(head + "".join(f"{line}\n" for line in lines))
    return "".join(parts)
