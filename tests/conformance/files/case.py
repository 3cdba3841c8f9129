# SPDX-License-Identifier: BSD-3-Clause
"""One script in one back-end, placement and tuning: carried out by actors, its files verified."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from actors import SERVER, Actors, Job
from script import Script
from verification import BackEnd, verify


@dataclass(frozen=True)
class Placement:
    """A job: how many ranks, in which mode, and which of them serve."""

    label: str
    ranks: int
    compute_ranks: int
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Tuning:
    """Sizes and limits, none of which may change a byte; those of files go to every file."""

    label: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    of_files: Mapping[str, Any] = field(default_factory=dict)
    staging_per_server: int | None = None  # bytes


@dataclass(frozen=True)
class Case:
    """A script, and the back-end and placement with which it is carried out."""

    script: Script
    back_end: BackEnd
    placement: Placement
    tuning: Tuning

    @property
    def alignment(self) -> int:
        """Return the setting files.*.alignment."""
        return int(self.tuning.of_files.get("alignment", 4096))

    def _settings(self) -> dict[str, Any]:
        general = {**self.tuning.settings, **self.placement.settings}
        if self.tuning.staging_per_server is not None and not self.back_end.writes_whole_steps:
            servers = max(1, self.placement.ranks - self.placement.compute_ranks)
            general["staging.memory"] = servers * self.tuning.staging_per_server
        files = {
            file.name: {**self.back_end.settings_of(file), **self.tuning.of_files, **file.settings}
            for file in self.script.files.values()
        }
        return {**_nested(general), "files": files}

    def play(self, actors: Actors, limit_seconds: float = 120) -> Job:
        """Carry out the script."""
        is_example = self.back_end.name == "example_format"
        modules = {"IOCOMP_STORAGE_MODULES": actors.build.example_modules} if is_example else {}
        return actors.play(
            self.script.text(),
            ranks=self.placement.ranks,
            settings=self._settings(),
            environment=modules,
            seconds=limit_seconds,
        )

    def wrong_in(self, job: Job) -> list[str]:
        """Return what is wrong with a job and its files."""
        if job.status != 0 or job.failures():
            shown = "\n".join(str(failure) for failure in job.failures()[:20])
            return [f"{job.command}\nended with {job.status}\n{shown}\n{job.output[-4000:]}"]
        wrong = [entry["wrong"] for entry in job.calls("read_back") if entry["wrong"]]
        compute = [entry for entry in job.calls("init") if entry["role"] != SERVER]
        if len(compute) != self.placement.compute_ranks:
            wrong.append(f"{len(compute)} compute ranks, not {self.placement.compute_ranks}")
        if job.stdout:
            wrong.append(f"stdout is {job.stdout!r}")
        return wrong + verify(self.script, job.folder, self.back_end, self.alignment)

    def run(self, actors: Actors, limit_seconds: float = 120) -> list[str]:
        """Carry out the script, verify its files and return what is wrong; else nothing is left."""
        try:
            job = self.play(actors, limit_seconds)
        except AssertionError as hang:
            return [str(hang)]
        if wrong := self.wrong_in(job):
            return [f"in {job.folder}", *wrong]
        job.forget()
        return []


def _nested(dotted: Mapping[str, Any]) -> dict[str, Any]:
    """Return tables instead of names with dots."""
    tables: dict[str, Any] = {}
    for name, value in dotted.items():
        *path, key = name.split(".")
        table = tables
        for part in path:
            table = table.setdefault(part, {})
        table[key] = value
    return tables
