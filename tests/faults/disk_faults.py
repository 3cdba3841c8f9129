# SPDX-License-Identifier: BSD-3-Clause
"""Calls that fail, disks that are full, folders that go, clocks that jump."""

from __future__ import annotations

import os
import shutil
import time

from actors import INVALID_ARGUMENT
from oracle import Violation, told
from places import small_disk
from trial import NotHere, Trial
from workload import NAME, draw_workload

# If MPI_File_open fails on one process alone, Open MPI 4 waits for ever inside it.
HANGS_WHERE_ONE_CANNOT_OPEN = {"mpiio"}


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
    trial.check_status(job)
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
    trial.check_status(job)
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
    trial.check_status(job)
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
    workload.settings["test"]["segment"] = "shm"
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
    trial.check_status(job)
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
