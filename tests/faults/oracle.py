# SPDX-License-Identifier: BSD-3-Clause
"""The rules that hold whatever goes wrong: told is there, seen is right, and all have ended."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from actors import INVALID_ARGUMENT, NOT_FOUND, OK, TIMED_OUT, Actors, Entry, Hang, Job
from cell import Cell
from element_pattern import elements
from files import file_settings, leftovers, values_in
from workload import NAME, NAMES, Workload
from zarr_packages import has_zarr



class Violation(AssertionError):
    """Something that must never happen."""


@dataclass(frozen=True)
class Told:
    """The fate of steps as the processes of a job were told it."""

    committed: frozenset[int]  # what the library stands for, in this format
    failed: frozenset[int]


# After such a failure nobody knows what has become of a step: it may be told as failed and be seen
# all the same, with the right values.
IN_DOUBT = ["cannot fsync the folder", "has ended", "does not respond"]


def told(cell: Cell, workload: Workload, entries: Iterable[Entry], name: str = NAME) -> Told:
    """Return what the journals say."""
    waited: set[int] = set()
    closed: set[int] = set()
    failed: dict[int, set[int]] = {}  # by rank
    told_of_all: set[int] = set()  # ranks that know that the file as a whole has failed
    in_doubt: set[int] = set()
    for entry in entries:
        if entry.get("file") != name or entry.get("code") == INVALID_ARGUMENT:
            continue
        of_rank = failed.setdefault(entry["rank"], set())
        if entry.get("code", OK) != OK:
            story = entry["story"]
            steps = {
                step
                for first, last in re.findall(r"steps? (\d+)(?: to (\d+))?", story)
                for step in range(int(first), int(last or first) + 1)
            }
            for first in re.findall(r"steps from (\d+) on are not committed", story):
                steps |= set(range(int(first), workload.steps))
            if not steps:
                told_of_all.add(entry["rank"])
            if entry["call"] != "close" and "step" in entry:
                steps.add(entry["step"])
            of_rank |= steps
            # A rank that waited too long, or lost its server, does not know what comes of the step.
            if entry["code"] == TIMED_OUT or any(words in story for words in IN_DOUBT):
                in_doubt |= steps
        elif entry["call"] == "wait_step":
            waited.add(entry["step"])
        elif entry["call"] == "close" and entry["rank"] not in told_of_all:
            closed |= set(range(entry["step"])) - of_rank
    committed = closed | waited
    unseen = set().union(*failed.values()) - waited - closed - in_doubt
    return Told(frozenset(committed), frozenset(unseen))


@dataclass(frozen=True)
class Sight:
    """The view of a file by our reader."""

    code: int
    steps: tuple[int, ...]
    right: bool
    story: str

    @property
    def nothing(self) -> bool:
        return self.code == NOT_FOUND or (self.code == OK and not self.steps)


@dataclass(frozen=True)
class Look:
    """A place to look at, and the seeds of the programs whose values may be there."""

    path: Path
    seeds: dict[str, int]
    may_hang: bool = False  # the library of the format, which reads what was damaged


class Reader:
    """Our own reader, in a program of its own."""

    def __init__(self, actors: Actors) -> None:
        self._actors = actors

    def see(self, cell: Cell, looks: Sequence[Look]) -> list[Sight]:
        """Return what it sees in each place; Violation if it does not survive that."""
        try:
            job = self._play(cell, looks)
            if job.status == 0:
                return self._sights(job, looks)
        except Hang:
            if not any(look.may_hang for look in looks):
                raise
            if len(looks) == 1:
                return [Sight(TIMED_OUT, (), right=False, story="the library of the format hangs")]
            return [self.see(cell, [look])[0] for look in looks]
        if len(looks) == 1:
            raise Violation(f"the reader does not survive {looks[0].path}\n{job}")
        return [self.see(cell, [look])[0] for look in looks]

    def _play(self, cell: Cell, looks: Sequence[Look]) -> Job:
        lines = ["init"]
        files = {}
        for i, look in enumerate(looks):
            files[f"t{i}"] = file_settings(cell.back_end, path=str(look.path))
            of_nobody = dict.fromkeys(NAMES, 0)  # where another program's file may be there
            seeds = ",".join(f"{name}:{seed}" for name, seed in (of_nobody | look.seeds).items())
            lines.append(f"read t{i} seeds={seeds}")
        return self._actors.play("\n".join(lines), ranks=1, settings={"mode": "sync", "files": files})

    def _sights(self, job: Job, looks: Sequence[Look]) -> list[Sight]:
        found = {entry["file"]: entry for entry in job.calls("read")}
        if len(found) != len(looks):
            raise Violation(f"the reader has not read everything\n{job}")
        sights = []
        for i in range(len(looks)):
            entry = found[f"t{i}"]
            steps = tuple(entry["steps"])
            sights.append(Sight(entry["code"], steps, entry["right"], entry.get("story", "")))
        job.forget()
        return sights


def check_sight(workload: Workload, sight: Sight, said: Told) -> None:
    """Check that what was told is there, and that what is seen is right."""
    if sight.code not in (OK, NOT_FOUND):
        raise Violation(f"what is there cannot be read: {sight.story}")
    if not sight.right:
        raise Violation(f"wrong values in the steps {sight.steps}")
    for step in said.committed - set(sight.steps):
        later = sum(seen > step for seen in sight.steps)
        if workload.keep == 0 or later < workload.keep:
            raise Violation(
                f"step {step} is lost: committed {sorted(said.committed)}, seen {sight.steps}"
            )
    if seen := said.failed & set(sight.steps):
        raise Violation(f"steps {sorted(seen)} were told as failed, and are seen: {sight.steps}")


def check_with_foreign_tools(
    cell: Cell, workload: Workload, folder: Path, sight: Sight, said: Told
) -> None:
    """Compare with what the tools of the format read, where they are there for sure."""
    if cell.back_end == "adios2" or (cell.back_end.startswith("zarr") and not has_zarr()):
        return
    types = {}
    shapes = {}
    for line in workload.lines:
        words = line.split()
        if words[0] == "define":
            types[words[2]] = words[3]
            shapes[words[2]] = tuple(int(extent) for extent in words[4].split("x"))
    for step in sight.steps:
        path = folder / workload.path
        if workload.file_per_step:
            path = path.with_name(f"{path.stem}.{step:06}{path.suffix}")
        for name, seed in workload.seeds.items():
            try:
                found = values_in(cell.back_end, path, step, name)
            except (OSError, ValueError, KeyError) as error:
                raise Violation(f"{path.name}, {name} in step {step}: {error!r}") from error
            if found is None or found.size == 0:
                continue
            count = int(np.prod(shapes[name]))
            expected = elements(types[name], seed, step, np.arange(count))
            if np.ascontiguousarray(found).astype(found.dtype.newbyteorder("<")).tobytes() != (
                expected.tobytes()
            ):
                raise Violation(f"{path.name}: a foreign reader sees other values of {name}, {step}")
    if cell.back_end == "pnetcdf" and shutil.which("ncvalidator"):
        for path in workload.targets(folder):
            done = subprocess.run(["ncvalidator", path], capture_output=True, check=False)
            shown = done.stdout + done.stderr
            # Behind the last record a job may have begun another one when it ended, or when the file
            # had failed.
            may_have_more = bool(said.failed) or bool(leftovers(folder))
            is_begun = b"is larger than expected" in shown and may_have_more
            if done.returncode != 0 and not is_begun:
                raise Violation(f"ncvalidator refuses {path.name}: {shown!r}")


def check_that_nothing_is_left(folder: Path) -> None:
    """Check after a clean end."""
    if left := leftovers(folder):
        raise Violation(f"temporaries are left: {[path.name for path in left]}")


def shared_memory() -> set[str]:
    """Return what of ours has a name in shared memory."""
    return {path.name for path in Path("/dev/shm").glob("iocomp-[0-9]*")}
