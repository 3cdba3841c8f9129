# SPDX-License-Identifier: BSD-3-Clause
"""Two jobs that write one target, names that others take, and files that are damaged later."""

from __future__ import annotations

import random
import shutil
import threading
import time
from pathlib import Path

from actors import NOT_FOUND, OK, Actors, Job
from oracle import Look, Violation, told
from trial import Trial
from workload import NAME, Workload, draw_rival, draw_workload

DAMAGES_OF_A_FILE = 12
PRIVATE = "of somebody else\n"


def two_jobs(trial: Trial) -> None:
    """Two jobs write one target at the same time. Without `replace` it is that of one of them."""
    first = draw_workload(trial.cell)
    second = draw_rival(trial.cell, first)
    replaces = trial.dice.random() < 0.6
    jobs: list[Job | Violation | None] = [None, None]
    for workload in (first, second):
        workload.settings["files"][NAME]["existing"] = "replace" if replaces else "refuse"
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
        trial.check_status(job)
    sights = [trial.look(workload) for workload in (first, second)]
    if first.file_per_step:
        return  # each step is that of one of them; the values of both cannot be asked for at once
    is_one = sights[0].code in (OK, NOT_FOUND) and any(sight.right for sight in sights)
    if not is_one:
        raise Violation(f"of two jobs neither is there: {sights}")


def links(trial: Trial) -> None:
    """Somebody puts a link or a pipe under a name right before it is opened."""
    private = trial.own / "private"
    private.write_text(PRIVATE)
    workload = draw_workload(trial.cell)
    call = trial.dice.choice(["open", "open", "open_to_read"])
    what = trial.dice.choice(["LINK", "PIPE", "SWAP"])
    times = trial.dice.choice(["", " times=1"])
    more = f"to={private} path={NAME} after={trial.dice.randrange(12)}{times}"
    workload.before.append(f"fault {call} {what} {more}")
    job = trial.play(workload)
    trial.struck += 1
    if private.read_text() != PRIVATE:
        raise Violation(f"a file elsewhere has changed\n{job}")
    trial.check_status(job)
    if call == "open" and what != "SWAP":
        trial.check(workload, job)  # only temporaries are met: each is made anew
    else:
        sight = trial.look(workload)  # files are lost, and that is told; nothing wrong is read
        if sight.code == OK and not sight.right:
            raise Violation(f"wrong values in the steps {sight.steps}\n{job}")


# Files that are damaged later


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
        is_hdf5 = trial.cell.back_end in ("hdf5", "hdf5-time", "netcdf")
        may_hang = is_hdf5 and ".json" not in done[-1]
        looks.append(Look(copy / workload.path, workload.seeds, may_hang))
    sights = trial.reader.see(trial.cell, looks)
    trial.struck += len(done)
    for what, sight in zip(done, sights, strict=True):
        # A series has no checksums, and without its manifest no file has. A file that describes
        # itself is read without one, but as a file that iocomp has not written.
        is_of_values = what.startswith("flipped") and ".json" not in what
        # In a store of Zarr, what has no file holds the fill value.
        may_be_wrong = (is_of_values and trial.cell.kind == "series") or (
            what.startswith("removed") and (".json" in what or "zarr" in trial.cell.back_end)
        )
        if sight.code == 0 and not sight.right and not may_be_wrong:
            raise Violation(f"{what}: wrong values are read; committed were {said.committed}")


def _damage_one(dice: random.Random, folder: Path) -> str:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    # ADIOS2 does not survive damage in its metadata (docs/developers/faults.md).
    of_adios2 = ("md.0", "md.idx", "mmd.0")
    files = [path for path in files if path.stat().st_size > 0 and path.name not in of_adios2]
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
