"""The faults: what each does to a job, and what must hold afterwards."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from actors import INVALID_ARGUMENT, NOT_FOUND, OK, Actors, Build, Hang, Job
from cell import BACK_ENDS, KINDS, MODES, ONLY_WITH_SERVERS, TRANSPORTS, Cell
from oracle import (
    Look,
    Reader,
    Sight,
    Told,
    Violation,
    check_sight,
    check_that_nothing_is_left,
    check_with_foreign_tools,
    told,
)
from places import small_disk
from power_loss import Disk, read_log
from processes import processes_in
from workload import NAME, Workload, draw_rival, draw_workload

# Where MPI_File_open fails on one process alone, Open MPI 4 waits for ever inside it.
HANGS_WHERE_ONE_CANNOT_OPEN = {"mpiio"}
CHECKED_BY_FOREIGN_TOOLS = 0.25
STATES_OF_A_RECORD = 30
DAMAGES_OF_A_FILE = 12


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
        """Play it in the folder. @raises Violation: If it hangs."""
        actors = more.pop("actors", self.actors)
        folder = more.pop("folder", self.folder)
        folder.mkdir(exist_ok=True)
        # Some faults are for writes of any kind.
        environment = {"IOCOMP_DISK_ENGINE": workload.settings["disk"]["engine"]}
        try:
            return actors.play(
                workload.script,
                ranks=workload.ranks,
                settings=workload.settings,
                environment=environment | more.pop("environment", {}),
                folder=folder,
                **more,
            )
        except Hang as error:
            raise Violation(str(error)) from error

    def look(self, workload: Workload, folder: Path | None = None) -> Sight:
        """Return what our reader sees now."""
        where = (folder or self.folder) / workload.path
        return self.reader.see(self.cell, [Look(where, workload.seeds)])[0]

    def check(self, workload: Workload, job: Job, folder: Path | None = None) -> Sight:
        """Check what must hold whatever has happened."""
        sight = self.look(workload, folder)
        check_sight(workload, sight, told(self.cell, workload, job.entries))
        if self.dice.random() < CHECKED_BY_FOREIGN_TOOLS:
            check_with_foreign_tools(self.cell, workload, folder or self.folder, sight)
        return sight

    def check_end(self, job: Job) -> None:
        """Check what must hold when no process was harmed."""
        if job.status != 0:
            raise Violation(f"a job that was not harmed ended badly\n{job}")
        check_that_nothing_is_left(self.folder)


# Processes


def _ranks(processes: list[int]) -> dict[int, int]:
    """Return the processes by their rank."""
    found = {}
    for process in processes:
        with suppress(OSError):
            text = Path(f"/proc/{process}/environ").read_text(errors="replace")
            for variable in text.split("\0"):
                name, _, value = variable.partition("=")
                if name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK"):
                    found[int(value)] = process
    return found


def _entries(journals: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in journals.glob("rank*.jsonl"))


def _servers(journals: Path) -> list[int]:
    """Return the ranks that have not come back from iocomp_init, when others have long."""
    ranks = {path: int(path.stem.removeprefix("rank")) for path in journals.glob("rank*.jsonl")}
    return sorted(rank for path, rank in ranks.items() if b'"init"' not in path.read_bytes())


def _have_finalized(journals: Path) -> bool:
    """Whether all compute ranks have, and none of them waits for anybody any more."""
    texts = [path.read_bytes() for path in journals.glob("rank*.jsonl")]
    return all(b'"finalize"' in text for text in texts if b'"init"' in text)


@dataclass
class Strike:
    """Something that happens to the processes of a job when they have made some calls."""

    folder: Path
    after: int  # entries in the journals
    delay: float
    act: Callable[[subprocess.Popen[str], dict[int, int], list[int]], None]
    has_struck: bool = False

    def __call__(self, launcher: subprocess.Popen[str], journals: Path) -> None:
        while launcher.poll() is None and _entries(journals) < self.after:
            time.sleep(0.001)
        time.sleep(self.delay)
        if launcher.poll() is None and (ranks := _ranks(processes_in(self.folder))):
            self.act(launcher, ranks, _servers(journals))
            self.has_struck = True


def _strike(
    trial: Trial, workload: Workload, act: Callable[..., None], after_start: bool = False
) -> Strike:
    """`after_start`: not while ranks are in iocomp_init, where they wait for all others."""
    entries = workload.ranks * (len(workload.lines) + 1)
    servers = workload.ranks // 2 if trial.cell.has_servers else 0
    least = 3 * (workload.ranks - servers) + servers + 1 if after_start else 1  # all have opened it
    after = trial.dice.randint(least, max(least, entries * 3 // 4))
    return Strike(trial.folder, after, trial.dice.uniform(0, 0.01), act)


def _signal(process: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, number)


def _kill(trial: Trial, whom: str, number: int) -> None:
    workload = draw_workload(trial.cell)

    def act(launcher: subprocess.Popen[str], ranks: dict[int, int], servers: list[int]) -> None:
        if whom in ("launcher", "everything"):
            _signal(launcher.pid, number)
        if whom == "everything":
            for process in ranks.values():
                _signal(process, number)
        if whom == "rank":
            _signal(ranks[trial.dice.choice(sorted(ranks))], number)
        if whom == "server":
            _signal(ranks[trial.dice.choice(servers)], number)

    strike = _strike(trial, workload, act, after_start=whom == "server")
    job = trial.play(workload, meanwhile=strike)
    trial.struck += strike.has_struck
    trial.check(workload, job)
    if trial.dice.random() < 0.3:
        _check_the_next_job(trial)


def _check_the_next_job(trial: Trial) -> None:
    """Check that it removes what was left, and is not in the way of its own."""
    workload = draw_workload(trial.cell, base=1 << 31, steps=(1, 2))
    workload.path = f"next{workload.path}"
    workload.settings["files"][NAME] |= {"path": workload.path, "replace": True}
    job = trial.play(workload)
    trial.check_end(job)
    trial.check(workload, job)


def kill_server(trial: Trial) -> None:
    _kill(trial, "server", signal.SIGKILL)


def kill_rank(trial: Trial) -> None:
    _kill(trial, "rank", signal.SIGKILL)


def kill_launcher(trial: Trial) -> None:
    _kill(trial, "launcher", signal.SIGKILL)


def kill_everything(trial: Trial) -> None:
    _kill(trial, "everything", signal.SIGKILL)


def end_rank(trial: Trial) -> None:
    _kill(trial, "rank", signal.SIGTERM)


def end_launcher(trial: Trial) -> None:
    _kill(trial, "launcher", signal.SIGTERM)


def kill_in_call(trial: Trial) -> None:
    """A process dies in a call to the disk."""
    workload = draw_workload(trial.cell)
    rank = trial.dice.randrange(workload.ranks)
    call = trial.dice.choice(["pwrite", "sync", "rename", "open", "write", "unlink"])
    workload.before.append(f"@{rank} fault {call} KILL after={trial.dice.randrange(8)}")
    job = trial.play(workload)
    trial.struck += job.status != 0
    trial.check(workload, job)


def server_dies_alone(trial: Trial) -> None:
    """The launcher lets the others live, which go on or are told."""
    if trial.build.mpi != "openmpi":
        raise NotHere("only Open MPI's launcher lets the others live")
    workload = draw_workload(trial.cell)
    workload.leaves = True
    workload.settings["wait"] = {"deadline": 2}

    def act(_: subprocess.Popen[str], ranks: dict[int, int], servers: list[int]) -> None:
        _signal(ranks[trial.dice.choice(servers)], signal.SIGKILL)

    strike = _strike(trial, workload, act, after_start=True)

    # Servers leave through MPI_Finalize, where Open MPI may wait for the dead for ever.
    def meanwhile(launcher: subprocess.Popen[str], journals: Path) -> None:
        strike(launcher, journals)
        while launcher.poll() is None and not _have_finalized(journals):
            time.sleep(0.01)
        time.sleep(1)
        launcher.terminate()
        time.sleep(1)
        for process in processes_in(trial.folder):
            _signal(process, signal.SIGKILL)

    first, *rest = trial.build.launcher
    launcher = [first, "--enable-recovery", *rest, str(workload.ranks)]
    job = trial.play(workload, meanwhile=meanwhile, launcher=launcher)
    trial.struck += strike.has_struck
    trial.check(workload, job)


def stop(trial: Trial) -> None:
    """A process stands still for some time, and goes on."""
    workload = draw_workload(trial.cell)
    dice = trial.dice
    seconds = dice.choice([0.05, 0.2, 0.5, 0.5, 1, 2, 10 if dice.random() < 0.3 else 3])

    def act(_: subprocess.Popen[str], ranks: dict[int, int], __: list[int]) -> None:
        process = ranks[dice.choice(sorted(ranks))]
        _signal(process, signal.SIGSTOP)
        time.sleep(seconds)
        _signal(process, signal.SIGCONT)

    strike = _strike(trial, workload, act)
    job = trial.play(workload, meanwhile=strike)
    trial.struck += strike.has_struck
    # Of a server that stands still while ranks wait for it they may say so, and go on without it.
    failures = [entry for entry in job.failures() if entry["code"] != INVALID_ARGUMENT]
    given_up = [entry for entry in failures if "does not respond" in entry["story"]]
    if failures and not given_up:
        raise Violation(f"calls fail after {seconds} s in which a process stood still\n{job}")
    if not failures and "does not respond" not in job.output:
        trial.check_end(job)
    trial.check(workload, job)


# Disks


def _fail(trial: Trial, *faults: str) -> None:
    """Let calls fail on some ranks."""
    workload = draw_workload(trial.cell)
    whom = trial.dice.choice(["", "@0 ", f"@{workload.ranks - 1} "])
    workload.before += [f"{whom}fault {fault}" for fault in faults]
    job = trial.play(workload)
    trial.struck += 1
    trial.check_end(job)
    trial.check(workload, job)


def no_room(trial: Trial) -> None:
    """The disk is full from some byte on."""
    room = trial.dice.choice([trial.dice.randint(1, 5000), trial.dice.randint(1, 8_000_000)])
    call = trial.dice.choice(["pwrite", "write"])
    times = trial.dice.choice(["", " times=1"])  # somebody has made room
    _fail(trial, f"{call} ENOSPC room={room}{times}")


def small_file_system(trial: Trial) -> None:
    """A real one that fills up."""
    if os.geteuid() != 0:
        raise NotHere("a small file system can be mounted by root only")
    workload = draw_workload(trial.cell)
    room = trial.dice.choice([200, 600, 1500, 4000, 10000])
    with small_disk(trial.folder, f"{room}k"):
        job = trial.play(workload)
        trial.struck += 1
        trial.check_end(job)
        trial.check(workload, job)


def no_write(trial: Trial) -> None:
    times = trial.dice.choice(["", " times=1", " times=3"])
    call = trial.dice.choice(["pwrite", "pwrite", "write"])
    _fail(trial, f"{call} EIO after={trial.dice.randrange(12)}{times}")


def short_writes(trial: Trial) -> None:
    times = trial.dice.choice(["", " times=1", " times=5"])
    _fail(trial, *(f"{c} SHORT after={trial.dice.randrange(4)}{times}" for c in ("pwrite", "write")))


def no_sync(trial: Trial) -> None:
    """An fsync fails, and says yes the next time."""
    times = trial.dice.choice(["", " times=1", " times=1"])
    _fail(trial, f"sync EIO after={trial.dice.randrange(10)}{times}")


def no_name(trial: Trial) -> None:
    """Files cannot be opened, renamed, removed or made longer."""
    calls = [("rename", "EIO"), ("truncate", "EIO"), ("fallocate", "ENOSPC"), ("unlink", "EIO")]
    if trial.cell.back_end not in HANGS_WHERE_ONE_CANNOT_OPEN:
        calls += [("open", "EMFILE"), ("open", "EACCES")]
    call, error = trial.dice.choice(calls)
    times = trial.dice.choice(["", " times=1"])
    workload = draw_workload(trial.cell)
    workload.before.append(f"fault {call} {error} after={trial.dice.randrange(6)}{times}")
    job = trial.play(workload)
    trial.struck += 1
    if job.status != 0:
        raise Violation(f"a job that was not harmed ended badly\n{job}")
    trial.check(workload, job)


def read_only(trial: Trial) -> None:
    """The file system turns read-only."""
    workload = draw_workload(trial.cell)
    after = trial.dice.randrange(12)
    calls = ["open", "rename", "unlink", "pwrite", "write", "fallocate", "truncate"]
    for call in calls[trial.cell.back_end in HANGS_WHERE_ONE_CANNOT_OPEN :]:
        workload.before.append(f"fault {call} EROFS after={after}")
    job = trial.play(workload)
    trial.struck += 1
    if job.status != 0:
        raise Violation(f"a job that was not harmed ended badly\n{job}")
    trial.check(workload, job)


def folder_goes(trial: Trial) -> None:
    """The folder of the target is called otherwise from some moment on, or is gone."""
    workload = draw_workload(trial.cell)
    plain = workload.path
    workload.path = f"here/{plain}"
    workload.settings["files"][NAME]["path"] = workload.path
    removes = trial.dice.random() < 0.3
    line = "@0 remove_tree here" if removes else "@0 rename here there"
    workload.insert(trial.dice, line)
    if not removes and trial.dice.random() < 0.3:
        workload.insert(trial.dice, "@0 rename there here")
        if workload.lines.index("@0 rename there here") < workload.lines.index(line):
            workload.lines.remove("@0 rename there here")
    (trial.folder / "here").mkdir(parents=True)
    job = trial.play(workload)
    trial.struck += 1
    if job.status != 0:
        raise Violation(f"a job that was not harmed ended badly\n{job}")
    if not removes:
        folder = trial.folder if (trial.folder / "here").exists() else trial.folder / "moved"
        if folder.name == "moved":
            folder.mkdir()
            (trial.folder / "there").rename(folder / "here")
        trial.check(workload, job, folder)


def small_shared_memory(trial: Trial) -> None:
    """Very little room in /dev/shm: told, or done without."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        raise NotHere("a /dev/shm of its own needs root")
    workload = draw_workload(trial.cell)
    workload.settings["expert"]["segment"] = "shm"
    if trial.dice.random() < 0.5:
        workload.settings["transport"]["kind"] = "auto"
    size = trial.dice.choice(["4k", "64k", "1m", "16m"])
    prefix = ["unshare", "--mount", "sh", "-c"]
    prefix += [f'mount -t tmpfs -o size={size} none /dev/shm || exit 77; "$@"; status=$?;'
               ' ls -A /dev/shm > left_in_shared_memory; exit $status', "sh"]  # fmt: skip
    # Open MPI's own segments go elsewhere.
    elsewhere = {"OMPI_MCA_btl_vader_backing_directory": "/tmp"}
    job = trial.play(workload, prefix=prefix, environment=elsewhere)
    trial.struck += 1
    if job.status != 0:
        raise Violation(f"a job that was not harmed ended badly\n{job}")
    left = (trial.folder / "left_in_shared_memory").read_text()
    if "iocomp" in left:
        raise Violation(f"left in /dev/shm: {left}")
    trial.check_end(job)
    trial.check(workload, job)


def clock_jumps(trial: Trial) -> None:
    """Wall clocks jump, and nobody minds."""
    workload = draw_workload(trial.cell)
    for _ in range(trial.dice.randint(1, 4)):
        rank = trial.dice.choice(["", "@0 ", "@1 "])
        seconds = trial.dice.choice([-1e9, -86400, -3600, -1, 1, 3600, 86400, 1e8])
        workload.insert(trial.dice, f"{rank}clock {seconds}")
    workload.before.append(f"clock {trial.dice.choice([-1e9, 86400, 0])}")
    job = trial.play(workload)
    trial.struck += 1
    if [entry for entry in job.failures() if entry["code"] != INVALID_ARGUMENT]:
        raise Violation(f"calls fail because a clock jumps\n{job}")
    trial.check_end(job)
    trial.check(workload, job)


# Two jobs


def two_jobs(trial: Trial) -> None:
    """Two jobs write one target at the same time. Without `replace` it is that of one of them."""
    first = draw_workload(trial.cell)
    second = draw_rival(trial.cell, first)
    replaces = trial.dice.random() < 0.6
    jobs: list[Job | Violation | None] = [None, None]
    for workload in (first, second):
        workload.settings["files"][NAME]["replace"] = replaces
        for _ in range(3):  # so that they meet
            workload.insert(trial.dice, f"pause {trial.dice.choice([0.005, 0.02, 0.05])}")

    def play(which: int, actors: Actors, workload: Workload) -> None:
        try:
            jobs[which] = trial.play(workload, actors=actors)
        except Violation as violation:
            jobs[which] = violation

    trial.folder.mkdir()
    threads = [
        threading.Thread(target=play, args=(0, trial.actors, first)),
        threading.Thread(target=play, args=(1, trial.rival, second)),
    ]
    for thread in threads:
        thread.start()
        time.sleep(trial.dice.uniform(0, 0.02))
    for thread in threads:
        thread.join()
    trial.struck += 1
    for job in jobs:
        if isinstance(job, Violation):
            raise job
        assert job is not None
        if job.status != 0:
            raise Violation(f"a job that was not harmed ended badly\n{job}")
    sights = [trial.look(workload) for workload in (first, second)]
    if first.file_per_step:
        return  # each step is that of one of them; the values of both cannot be asked for at once
    is_one = sights[0].code in (OK, NOT_FOUND) and any(sight.right for sight in sights)
    # Two that replace the file of the other in the same moment may mix it with their manifests:
    # nothing locks a path.
    if not is_one and not replaces:
        raise Violation(f"of two jobs neither is there: {sights}")


# What is damaged later


def damage(trial: Trial) -> None:
    """Files that were torn or changed later: refused, or read as they were."""
    workload = draw_workload(trial.cell)
    job = trial.play(workload)
    trial.check_end(job)
    said = told(trial.cell, workload, job.entries)
    looks = []
    done = []
    for number in range(DAMAGES_OF_A_FILE):
        copy = trial.folder / f"damaged{number}"
        copy.mkdir()
        for path in trial.folder.iterdir():
            if path.name.startswith(NAME):
                (shutil.copytree if path.is_dir() else shutil.copy)(path, copy / path.name)
        done.append(_damage_one(trial.dice, copy))
        looks.append(Look(copy / workload.path, workload.seeds))
    sights = trial.reader.see(trial.cell, looks)
    trial.struck += len(done)
    for what, sight in zip(done, sights, strict=True):
        # Neither values nor manifests have a checksum: what was changed in values, or in a manifest
        # that still makes sense, is read as it is. A file that describes
        # itself is read without its manifest, but as a file that iocomp has not written.
        may_be_wrong = what.startswith("flipped") or (what.startswith("removed") and ".json" in what)
        if sight.code == 0 and not sight.right and not may_be_wrong:
            raise Violation(f"{what}: wrong values are read; committed were {said.committed}")


def _damage_one(dice: random.Random, folder: Path) -> str:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    files = [path for path in files if path.stat().st_size > 0]
    manifests = [path for path in files if path.suffix == ".json"]
    path = dice.choice(manifests if manifests and dice.random() < 0.6 else files)
    raw = bytearray(path.read_bytes())
    way = dice.choice(["cut", "flipped", "zeroed", "removed"])
    at = dice.randrange(len(raw))
    if way == "cut":
        del raw[at:]
    elif way == "flipped":
        raw[at] ^= 1 << dice.randrange(8)
    elif way == "zeroed":
        way = "flipped by a sector of zeros"
        at = at // 512 * 512
        raw[at : at + 512] = bytes(len(raw[at : at + 512]))
    if way == "removed":
        path.unlink()
    else:
        path.write_bytes(raw)
    return f"{way} at byte {at} of {path.relative_to(folder.parent)}"


# Power


def power_loss(trial: Trial) -> None:
    """States of the disk after a power loss at any moment, with an old target or none before."""
    workload = draw_workload(trial.cell)
    old: Workload | None = None
    trial.folder.mkdir()
    disk_folder = trial.folder / "disk"
    if trial.dice.random() < 0.3:
        old = draw_rival(trial.cell, workload)
        trial.check_end(trial.play(old, folder=disk_folder))
        workload.settings["files"][NAME]["replace"] = True
    if trial.dice.random() < 0.2:
        workload.before.append(f"fault sync EIO times=1 after={trial.dice.randrange(8)}")
    log = trial.folder / "record"
    workload.before.append(f"record {log}")
    disk_folder.mkdir(exist_ok=True)
    (disk_folder / "iocomp.toml").write_text("")  # written again by `play`, as the same file
    disk = Disk(disk_folder)
    job = trial.play(workload, folder=disk_folder)
    if job.status != 0:
        raise Violation(f"a job that was not harmed ended badly\n{job}")
    _check_states(trial, workload, old, disk, log)
    log.unlink()


@dataclass(frozen=True)
class _State:
    folder: Path
    said: Told
    moment: int


def _check_states(
    trial: Trial, workload: Workload, old: Workload | None, disk: Disk, log: Path
) -> None:
    records = read_log(log)
    moments = sorted(trial.dice.choices(range(len(records) + 1), k=STATES_OF_A_RECORD))
    states: list[_State] = []
    entries = []
    for at in range(len(records) + 1):
        for _ in range(moments.count(at)):
            folder = trial.folder / f"state{len(states)}"
            disk.lay_out(folder, trial.dice)
            states.append(_State(folder, told(trial.cell, workload, entries), at))
        if at < len(records):
            disk.take(records[at])
            if records[at].word == "told":
                entries.append(records[at].entry)
    lost = any(record.word == "lost" for record in records)
    if not lost and (wrong := disk.differences(trial.folder / "disk")):
        wrong = [one for one in wrong if "iocomp.toml" not in one]
        if wrong:
            raise Violation(f"the record does not have everything: {wrong}")
    looks = [Look(state.folder / workload.path, workload.seeds) for state in states]
    sights = trial.reader.see(trial.cell, looks)
    before = trial.reader.see(trial.cell, [Look(look.path, old.seeds) for look in looks]) if (
        old is not None) else [None] * len(states)  # fmt: skip
    trial.struck += len(states)
    for state, sight, other in zip(states, sights, before, strict=True):
        try:
            if old is not None and other is not None and not state.said.committed and not old.file_per_step:
                if not (sight.code == 0 and sight.right):
                    check_sight(old, other, Told(frozenset(range(old.steps)), frozenset()))
            elif old is None or not old.file_per_step:
                check_sight(workload, sight, state.said)
            if old is None and trial.dice.random() < CHECKED_BY_FOREIGN_TOOLS:
                check_with_foreign_tools(trial.cell, workload, state.folder, sight)
        except Violation as violation:
            raise Violation(
                f"after a power loss at record {state.moment} of {len(records)} ({log}), in"
                f" {state.folder}: {violation}"
            ) from violation


@dataclass(frozen=True)
class Kind:
    """A fault by name."""

    weight: float
    happen: Callable[[Trial], None]
    needs_servers: bool = False


FAULTS = {
    "kill-server": Kind(1, kill_server, needs_servers=True),
    "kill-rank": Kind(1, kill_rank),
    "kill-launcher": Kind(0.5, kill_launcher),
    "kill-everything": Kind(1, kill_everything),
    "kill-in-call": Kind(1.5, kill_in_call),
    "end-rank": Kind(0.4, end_rank),
    "end-launcher": Kind(0.4, end_launcher),
    "server-dies-alone": Kind(0.5, server_dies_alone, needs_servers=True),
    "stop": Kind(0.6, stop),
    "no-room": Kind(4, no_room),
    "small-file-system": Kind(2, small_file_system),
    "no-write": Kind(3, no_write),
    "short-writes": Kind(2, short_writes),
    "no-sync": Kind(3, no_sync),
    "no-name": Kind(2, no_name),
    "read-only": Kind(1, read_only),
    "folder-goes": Kind(2, folder_goes),
    "small-shared-memory": Kind(0.3, small_shared_memory, needs_servers=True),
    "clock-jumps": Kind(1, clock_jumps),
    "two-jobs": Kind(2, two_jobs),
    "damage": Kind(1, damage),
    "power-loss": Kind(3, power_loss),
}


def draw(seed: int, number: int) -> Cell:
    """Return the cell with this number, the same wherever it is drawn."""
    dice = random.Random(f"{seed}/{number}")
    fault = dice.choices(list(FAULTS), [fault.weight for fault in FAULTS.values()])[0]
    back_end = dice.choices(list(BACK_ENDS), list(BACK_ENDS.values()))[0]
    mode = dice.choice(MODES)
    if FAULTS[fault].needs_servers or (mode == "kernel" and back_end in ONLY_WITH_SERVERS):
        mode = "servers"
    transport = dice.choice(TRANSPORTS) if mode == "servers" else ""
    kind = dice.choice(KINDS if back_end != "hdf5-time" else ["series"])
    return Cell(seed, number, back_end, mode, transport, kind, fault)
