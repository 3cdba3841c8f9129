# SPDX-License-Identifier: BSD-3-Clause
"""One cell that is being tried: its jobs, its folder, and what is checked of it."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from actors import INVALID_SETTING, Actors, Build, Hang, Job
from cell import Cell
from oracle import (
    Look,
    Reader,
    Sight,
    Violation,
    check_sight,
    check_that_nothing_is_left,
    check_with_foreign_tools,
    told,
)
from workload import Workload

CHECKED_BY_FOREIGN_TOOLS = 0.25


class NotHere(Exception):
    """A cell that this machine or this build cannot try."""


@dataclass
class Trial:
    """One cell that is being tried."""

    cell: Cell
    build: Build
    actors: Actors
    rival: Actors  # for a second job at the same time
    folder: Path  # on the file system under test; nothing is there yet
    own: Path  # elsewhere, for what the trial itself writes
    struck: int = 0  # faults that have happened
    dice: random.Random = field(default_factory=random.Random)

    def __post_init__(self) -> None:
        self.dice = self.cell.dice("fault")
        self.reader = Reader(self.actors)

    def play(self, workload: Workload, **more: Any) -> Job:
        """Play it in the folder.

        Raises:
            Violation: If it hangs, or if a session refuses its settings, which no fault makes wrong.
        """
        actors = more.pop("actors", self.actors)
        folder = more.pop("folder", self.folder)
        folder.mkdir(exist_ok=True)
        # Some faults are for writes of any kind.
        environment = {"IOCOMP_DISK_ENGINE": workload.settings["disk"]["engine"]}
        try:
            job = actors.play(
                workload.script,
                ranks=workload.ranks,
                settings=workload.settings,
                environment=environment | more.pop("environment", {}),
                folder=folder,
                **more,
            )
        except Hang as error:
            raise Violation(str(error)) from error
        if any(entry.get("code") == INVALID_SETTING for entry in job.calls("init")):
            raise Violation(f"a session refuses its settings\n{job}")
        return job

    def look(self, workload: Workload, folder: Path | None = None) -> Sight:
        """Return what our reader sees now."""
        where = (folder or self.folder) / workload.path
        return self.reader.see(self.cell, [Look(where, workload.seeds)])[0]

    def check(self, workload: Workload, job: Job, folder: Path | None = None) -> Sight:
        """Check what must hold whatever has happened."""
        sight = self.look(workload, folder)
        said = told(self.cell, workload, job.entries)
        check_sight(workload, sight, said)
        if self.dice.random() < CHECKED_BY_FOREIGN_TOOLS:
            check_with_foreign_tools(self.cell, workload, folder or self.folder, sight, said)
        return sight

    def check_status(self, job: Job) -> None:
        """Check that it has ended well, or by the one abort that is told: a writer lost in ADIOS2."""
        is_told = self.cell.back_end == "adios2" and "the job is aborted" in job.stderr
        if job.status != 0 and not is_told:
            raise Violation(f"a job that was not harmed ended badly\n{job}")

    def check_end(self, job: Job) -> None:
        """Check what must hold when no process was harmed."""
        self.check_status(job)
        if job.status == 0:
            check_that_nothing_is_left(self.folder)
