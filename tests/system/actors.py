"""Run jobs of actors: a script that every rank plays, and the journal of how each call went."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

OK = 0
INVALID_ARGUMENT = 1
OUT_OF_STAGING = 2
STORAGE_FAILURE = 3
INVALID_SETTING = 5
TARGET_EXISTS = 6
INCONSISTENT_CALLS = 7
TIMED_OUT = 8
UNSUPPORTED = 9
NOT_FOUND = 10
OVERLAPPING_PUTS = 11

Entry = dict[str, Any]
Settings = Mapping[str, Any]


@dataclass(frozen=True)
class Build:
    """Where the programs of the build under test are."""

    launcher: list[str]
    mpi: str
    time_factor: float
    actor: str
    command: str
    aggregators: str
    modules: str
    dump_adios2: str = ""  # a reader; empty where ADIOS2 is not there
    bpls: str = ""  # likewise

    def has_back_end(self, name: str) -> bool:
        return Path(self.modules, f"libiocomp_format_{name}.so").exists()


def read_build() -> Build:
    return Build(**json.loads(Path(os.environ["SYSTEM_TESTS_BUILD"]).read_text()))


@dataclass
class Job:
    """What is left of a job that has ended."""

    status: int
    output: str
    seconds: float
    folder: Path
    entries: list[Entry] = field(default_factory=list)

    def calls(self, call: str, **where: object) -> list[Entry]:
        """Return the entries of one call, in order of rank and time."""
        return [
            entry
            for entry in self.entries
            if entry["call"] == call and all(entry.get(key) == value for key, value in where.items())
        ]

    def failures(self, **where: object) -> list[Entry]:
        return [
            entry
            for entry in self.entries
            if entry.get("code", OK) != OK
            and all(entry.get(key) == value for key, value in where.items())
        ]

    def ranks(self) -> list[int]:
        return sorted({entry["rank"] for entry in self.entries})

    def __str__(self) -> str:
        """Return all that helps to understand a failed test."""
        lines = [f"status {self.status} after {self.seconds:.1f} s", self.output]
        lines += [json.dumps(entry, sort_keys=True) for entry in self.entries]
        return "\n".join(lines)


class Hang(AssertionError):
    """A job that did not end by itself."""


def toml(settings: Settings) -> str:
    """Write nested settings as a TOML text: keys before tables."""
    return "\n".join(_lines(settings, ""))


def _lines(settings: Settings, table: str) -> Iterable[str]:
    for key, value in settings.items():
        if not isinstance(value, Mapping):
            yield f"{key} = {json.dumps(value)}"
    for key, value in settings.items():
        if isinstance(value, Mapping):
            name = f"{table}{key}"
            yield f"[{name}]"
            yield from _lines(value, f"{name}.")


def _processes_in(folder: Path) -> list[int]:
    """Return the processes whose working directory is `folder`: those of a job."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                if (process / "cwd").readlink() == folder:
                    found.append(int(process.name))
            except OSError:
                pass  # it has ended, or is not ours
    return found


def _processes_that_stay_in(folder: Path, grace_seconds: float = 5) -> list[int]:
    """The same, without those that are about to end: a launcher does not wait for whom it kills."""
    until = time.monotonic() + grace_seconds
    while (left := _processes_in(folder)) and time.monotonic() < until:
        time.sleep(0.05)
    return left


def _end(process: subprocess.Popen[str], folder: Path) -> str:
    process.terminate()
    try:
        output, _ = process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        output = ""
    for left in _processes_in(folder):
        os.kill(left, signal.SIGKILL)
    return output


class Actors:
    """Plays scripts, each in a working directory of its own."""

    def __init__(self, build: Build, folder: Path) -> None:
        self.build = build
        self.folder = folder
        self._jobs = 0

    def play(
        self,
        script: str,
        *,
        ranks: int,
        settings: Settings | None = None,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        prefix: Iterable[str] = (),
        launcher: Iterable[str] | None = None,
        seconds: float = 45,
    ) -> Job:
        """Run a job until it ends; `settings` becomes its iocomp.toml.

        `launcher` stands for the launcher and its options, number of ranks included.

        Raises:
            Hang: If it does not end within `seconds` (longer where the build is slow).
        """
        self._jobs += 1
        folder = folder or self.folder / f"job{self._jobs}"
        folder.mkdir(exist_ok=True)
        journals = self.folder / f"journals{self._jobs}"
        journals.mkdir()
        (journals / "script").write_text(script)
        (folder / "iocomp.toml").write_text(toml(settings or {}))
        start = [*self.build.launcher, str(ranks)] if launcher is None else launcher
        words = [*prefix, *start, self.build.actor]
        # Faults stand in for the C library's calls, which the kernel's own writes go past.
        faulty = {"IOCOMP_DISK_ENGINE": "threads"} if " fault " in script else {}
        began = time.monotonic()
        process = subprocess.Popen(
            [*words, str(journals / "script"), str(journals)],
            cwd=folder,
            env=_environment(self.build, faulty | dict(environment or {})),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        hangs = False
        try:
            output, _ = process.communicate(timeout=seconds * self.build.time_factor)
        except subprocess.TimeoutExpired:
            hangs = True
            output = _end(process, folder)
        job = Job(process.returncode, output, time.monotonic() - began, folder, _read(journals))
        if hangs:
            raise Hang(f"the job hangs\n{job}")
        if left := _processes_that_stay_in(folder):
            for one in left:
                os.kill(one, signal.SIGKILL)
            raise Hang(f"processes {left} of the job were left\n{job}")
        return job


def _environment(build: Build, more: Mapping[str, str]) -> dict[str, str]:
    clean = {name: text for name, text in os.environ.items() if not name.startswith("IOCOMP_")}
    quick = {
        "IOCOMP_WAIT_DEADLINE": str(20 * build.time_factor),
        "IOCOMP_EXPERT_TOUCH": "1 MiB",
        "IOCOMP_TRACE_SUMMARY": "false",
    }
    return clean | quick | dict(more)


def _read(journals: Path) -> list[Entry]:
    entries = []
    for journal in sorted(journals.glob("rank*.jsonl")):
        for line in journal.read_text().splitlines():
            try:
                entries.append(json.loads(line))
            except json.JSONDecodeError:
                pass  # the last line of a rank that was killed
    return entries
