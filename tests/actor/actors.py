# SPDX-License-Identifier: BSD-3-Clause
"""Run scripts (README.md): a job is a script that every rank carries out, and the journal of its calls."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import threading
import time
import unittest
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from company import Companies, write_order
from processes import end, environment_without_iocomp, output_of, processes_that_stay_in

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

SERVER = 2  # a role
OPTIONAL_BACK_ENDS = {"mpiio", "hdf5", "netcdf", "pnetcdf", "zarr", "adios2"}
MOST_SHOWN = 500  # entries
NODES = Path(__file__).resolve().parents[1] / "nodes"
MOST_OF_NODE = 64  # ranks
MPICH = NODES.parents[1] / "build/mpich"  # tools/install-wheel mpich
STARTER_ADDRESS = "10.77.0.1"  # of the launcher, as a node sees it (tests/nodes/job)

# Words of scripts after which a process is dead, or its peers do not know whether it lives.
ENDING = {"kill", "stop", "go_on", "leave", "leave_by_mpi", "TERM", "KILL", "STOP"}

Entry = dict[str, Any]
Settings = Mapping[str, Any]
# Acts on a job from outside: gets the launcher's process, and the folder of journals.
Meanwhile = Callable[[subprocess.Popen[str], Path], None]


@dataclass(frozen=True)
class Build:
    """The programs of the build under test."""

    launcher: list[str]
    mpi: str
    time_factor: float
    actor: str
    command: str
    aggregators: str
    modules: str
    example_modules: str
    dump_adios2: str = ""  # a reader; empty where ADIOS2 is not there
    bpls: str = ""  # likewise
    heat: str = ""  # the client
    fresh_calls: str = ""  # a library that makes each call of iocomp.h from a thread of its own

    @property
    def has_fresh_threads(self) -> bool:
        """True if actors shall make each call from a fresh thread (tests/threads)."""
        return os.environ.get("IOCOMP_TEST_FRESH_THREADS") == "1"

    def actor_words(self, *, multiple: bool = False) -> list[str]:
        """Return the beginning of an actor's command line. `multiple`: with MPI_THREAD_MULTIPLE."""
        level = "--multiple" if multiple else "--serialized"
        return [self.actor, *([level] if multiple or self.has_fresh_threads else [])]

    @property
    def environment(self) -> dict[str, str]:
        """Return what launchers get beside the environment of the tests."""
        if not self.has_fresh_threads:
            return {}
        sanitizer = os.environ.get("ASAN_OPTIONS", "")
        return {
            "LD_PRELOAD": self.fresh_calls,
            "ASAN_OPTIONS": f"{sanitizer}:verify_asan_link_order=0",
        }

    def has_back_end(self, name: str) -> bool:
        """Return True if a back-end was built."""
        folders = (self.modules, self.example_modules)
        return any(Path(folder, f"libiocomp_format_{name}.so").exists() for folder in folders)


def nodes() -> int:
    """Return over how many virtual nodes jobs go (tests/nodes)."""
    return int(os.environ.get("IOCOMP_TEST_NODES", "1"))


def over_nodes(build: Build, number: int) -> list[str]:
    """Return a launcher that deals ranks out to so many virtual nodes in turn."""
    program, *options = build.launcher
    if build.mpi == "openmpi":
        hosts = ",".join(f"n{i}:{MOST_OF_NODE}" for i in range(number))
        own = ["--mca", "plm_rsh_agent", str(NODES / "node"), "-host", hosts, "--map-by", "node"]
    else:
        program = str(MPICH / "bin/mpiexec.hydra")
        hosts = ",".join(f"n{i}:1" for i in range(number))
        own = ["-launcher", "ssh", "-launcher-exec", str(NODES / "node"), "-localhost", STARTER_ADDRESS]
        # The nodes have one boot, by which UCX takes them for one node with one /dev/shm.
        own += ["-hosts", hosts, "-genv", "UCX_TLS", "tcp,self"]
        own += ["-genv", "MPIR_CVAR_CH4_NETMOD", "ucx", "-genv", "LD_LIBRARY_PATH", str(MPICH / "lib")]
    return [str(NODES / "job"), program, *own, *options]


def no_nodes(build: Build) -> str:
    """Return why virtual nodes cannot be made here; nothing if they can."""
    # A node asks who has started it, so a shell has to stay.
    words = [NODES / "job", "bash", "-c", '"$0" n0 true && true', NODES / "node"]
    if subprocess.run(words, capture_output=True, check=False).returncode != 0:
        return "virtual nodes need root, and the command ip"
    if build.mpi != "openmpi" and not (MPICH / "iocomp-installed").exists():
        return f"there is no {MPICH}: Debian's MPICH hangs between nodes; tools/install-wheel mpich"
    return ""


def read_build() -> Build:
    """Return what CMake told of the build. From now on the Python package finds its library."""
    build = Build(**json.loads(Path(os.environ["IOCOMP_TEST_BUILD"]).read_text()))
    if nodes() > 1:
        if reason := no_nodes(build):
            raise SystemExit(f"IOCOMP_TEST_NODES={nodes()}: {reason}")
        build = replace(build, launcher=over_nodes(build, nodes()))
    os.environ.setdefault("IOCOMP_LIBRARY", str(Path(build.modules).parent / "libiocomp.so"))
    return build


@dataclass
class Job:
    """The remains of a job that has ended."""

    command: str  # that repeats it
    status: int | None  # None: it had to be ended
    stdout: str
    stderr: str
    seconds: float
    folder: Path
    journals: Path
    entries: list[Entry] = field(default_factory=list)

    @property
    def output(self) -> str:
        """All that was printed."""
        return self.stdout + self.stderr

    def calls(self, call: str, **where: object) -> list[Entry]:
        """Return the entries of one call, in order of rank and time."""
        return [
            entry
            for entry in self.entries
            if entry["call"] == call and all(entry.get(key) == value for key, value in where.items())
        ]

    def failures(self, **where: object) -> list[Entry]:
        """Return the entries of calls that failed."""
        return [
            entry
            for entry in self.entries
            if entry.get("code", OK) != OK
            and all(entry.get(key) == value for key, value in where.items())
        ]

    def ranks(self) -> list[int]:
        """Return the ranks that wrote something down."""
        return sorted({entry["rank"] for entry in self.entries})

    def __str__(self) -> str:
        """Return all that helps to understand a failed test."""
        ended = "hangs" if self.status is None else f"status {self.status}"
        lines = [self.command, f"{ended} after {self.seconds:.1f} s", self.output]
        shown = self.entries if len(self.entries) < MOST_SHOWN else self.failures()
        lines += [json.dumps(entry, sort_keys=True) for entry in shown[:MOST_SHOWN]]
        return "\n".join(lines)

    def forget(self) -> None:
        """Remove what it wrote."""
        shutil.rmtree(self.folder)
        shutil.rmtree(self.journals)


def _merged(otherwise: Settings, chosen: Settings) -> dict[str, Any]:
    """Return what was chosen, with what else there is in each table."""
    merged = dict(otherwise)
    for key, value in chosen.items():
        other = merged.get(key)
        are_tables = isinstance(value, Mapping) and isinstance(other, Mapping)
        merged[key] = _merged(other, value) if are_tables else value
    return merged


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


@dataclass(frozen=True)
class _Start:
    """A script that is about to be carried out."""

    ranks: int
    folder: Path
    journals: Path
    environment: Mapping[str, str]
    limit_seconds: float
    actor: list[str]

    @property
    def script(self) -> Path:
        return self.journals / "script"

    def command(self, launcher: Iterable[str]) -> str:
        variables = [f"{name}={shlex.quote(text)}" for name, text in self.environment.items()]
        line = shlex.join([*launcher, *self.actor, str(self.script), str(self.journals)])
        return f"cd {self.folder} && {' '.join([*variables, line])}"

    def job(self, command: str, status: int | None, out: str, err: str, began: float) -> Job:
        took = time.monotonic() - began
        entries = _read(self.journals)
        return Job(command, status, out, err, took, self.folder, self.journals, entries)


class Actors:
    """Carries out scripts, each in a working directory of its own.

    Starting a launcher takes longer than most scripts. So scripts that leave their processes as
    they were share a launch: see `_may_share`. IOCOMP_TEST_ALONE=1 gives each its own.
    """

    def __init__(self, build: Build, folder: Path, companies: Companies | None = None) -> None:
        """Scripts share launches where there are companies."""
        self.build = build
        self.folder = folder
        self._companies = None if os.environ.get("IOCOMP_TEST_ALONE") == "1" else companies
        self._jobs = 0

    def _skip_without(self, settings: Settings) -> None:
        """Skip the test of a file whose back-end was not built."""
        files = settings.get("files", {})
        for back_end in {file.get("backend") for file in files.values() if isinstance(file, dict)}:
            if back_end in OPTIONAL_BACK_ENDS and not self.build.has_back_end(back_end):
                raise unittest.SkipTest(f"the back-end {back_end} was not built")

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
        alone: bool = False,
        multiple: bool = False,
        meanwhile: Meanwhile | None = None,
        seconds: float = 45,
    ) -> Job:
        """Carry out a script until it ends; `settings` becomes its iocomp.toml.

        `launcher` stands for the launcher and its options, number of ranks included. `alone`: in a
        launch of its own, in which servers leave iocomp_init through MPI_Finalize. So is a job with
        MPI_THREAD_MULTIPLE (`multiple`), and one to which something happens `meanwhile`, in a thread
        of its own.

        Raises:
            Hang: If it does not end within `seconds` (longer where the build is slow).
        """
        self._skip_without(settings or {})
        self._jobs += 1
        folder = folder or self.folder / f"job{self._jobs}"
        folder.mkdir(exist_ok=True)
        journals = self.folder / f"journals{self._jobs}"
        journals.mkdir()
        (journals / "script").write_text(script)
        quick = {
            "wait": {"deadline": 20 * self.build.time_factor},
            "test": {"touch": "1 MiB"},
            "trace": {"lines": "none"},
            "placement": {"servers": "1 per 1"},  # servers, unless the mode has none
        }
        settings = _merged(quick, settings or {})
        (folder / "iocomp.toml").write_text(toml(settings))
        # Faults stand in for the C library's calls, which the kernel's own writes go past.
        faulty = {"IOCOMP_DISK_ENGINE": "threads"} if " fault " in script else {}
        own = faulty | dict(environment or {})
        actor = self.build.actor_words(multiple=multiple)
        start = _Start(ranks, folder, journals, own, seconds * self.build.time_factor, actor)
        usual = [*self.build.launcher, str(ranks)]
        words = [*prefix, *(usual if launcher is None else launcher)]
        alone = alone or multiple or words != usual or meanwhile is not None
        if self._companies is None or alone or not _may_share(script, settings, own):
            job = self._play_alone(start, words, meanwhile)
        else:
            job = self._play_in_company(start, self._companies, words)
        print(job)  # shown for tests that fail, and not cut as what is said of an assertion
        return job

    def _play_alone(self, start: _Start, words: list[str], meanwhile: Meanwhile | None) -> Job:
        began = time.monotonic()
        process = subprocess.Popen(
            [*words, *start.actor, str(start.script), str(start.journals)],
            cwd=start.folder,
            env=environment_without_iocomp() | self.build.environment | dict(start.environment),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        command = start.command(words)
        if meanwhile is not None:
            threading.Thread(target=meanwhile, args=(process, start.journals), daemon=True).start()
        try:
            out, err = output_of(process, start.folder, start.limit_seconds)
        except subprocess.TimeoutExpired:
            out, err = end(process, start.folder)
            raise Hang(f"the job hangs\n{start.job(command, None, out, err, began)}") from None
        job = start.job(command, process.returncode, out, err, began)
        if left := processes_that_stay_in(start.folder):
            for one in left:
                os.kill(one, signal.SIGKILL)
            raise Hang(f"processes {left} of the job were left\n{job}")
        return job

    def _play_in_company(self, start: _Start, companies: Companies, words: list[str]) -> Job:
        # Servers come back for the next script.
        environment = {**start.environment, "IOCOMP_SERVER_END": "return"}
        order = start.journals / "order"
        write_order(order, start.script, start.journals, start.folder, environment)
        company = companies.of(start.ranks)
        began = time.monotonic()
        status = company.play(order, start.limit_seconds)
        out, err = (
            path.read_text(errors="replace") if path.exists() else ""
            for path in (start.journals / "stdout", start.journals / "stderr")
        )
        log = "" if status == 0 else company.log()
        job = start.job(start.command(words), status, out, err + log, began)
        servers = {entry["rank"] for entry in job.calls("init", role=SERVER)}
        job.entries = [
            entry
            for entry in job.entries
            if entry["rank"] not in servers or entry["call"] == "mpi_init"
        ]
        if status != 0:
            companies.forget(company)
            company.end(start.folder)
            before = "".join(f"\n{folder}" for folder in company.played[:-1])
            job.stderr += f"\nin a launch after {len(company.played) - 1} scripts{before}"
        elif job.failures(code=TIMED_OUT):  # ranks may still wait for one another
            companies.forget(company)
            company.dismiss()
        if status is None:
            raise Hang(f"the job hangs\n{job}")
        return job


def _may_share(script: str, settings: Settings, environment: Mapping[str, str]) -> bool:
    """Return True if a script leaves its processes as they were, and does not test their end."""
    words = {word for line in script.splitlines() for word in line.split()[:4]}
    its_own = [name for name in environment if not name.startswith(("IOCOMP_", "HWLOC_"))]
    return not (words & ENDING or its_own or "server" in settings)


def _read(journals: Path) -> list[Entry]:
    entries = []
    for journal in sorted(journals.glob("rank*.jsonl")):
        for line in journal.read_text().splitlines():
            try:
                entries.append(json.loads(line))
            except json.JSONDecodeError:
                pass  # the last line of a rank that was killed
    return entries
