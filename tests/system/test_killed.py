# SPDX-License-Identifier: BSD-3-Clause
"""A rank that is killed: the job ends, nothing torn carries a final name, nothing is left in shared memory."""

from __future__ import annotations

import itertools
import os
import shutil
import unittest
from pathlib import Path

import pytest
from actors import OK, Actors, Job
from files import (
    BACK_ENDS,
    check_file,
    extension,
    file_settings,
    mode_settings,
    skip_if_missing,
    values,
    values_in,
)

SHAPE = "256x512"
KINDS = ["series", "checkpoint"]

# Gives the job a /dev/shm of its own, and writes down what is left there.
IN_ITS_OWN_NAMESPACE = """
mount -t tmpfs none /dev/shm || exit 77
"$@"
status=$?
ls -A /dev/shm > left_in_shared_memory
exit $status
"""


def script(kind: str, victim: int) -> str:
    """Return a script whose first steps are committed, and whose last ones are on their way."""
    lines = ["init", f"open out {kind}", f"define out u int64 {SHAPE}"]
    for step in range(3):
        lines += ["put out u by=columns", "end_step out", f"wait_step out {step}"]
    lines += ["barrier", "put out u by=columns", "end_step out", "put out u by=columns"]
    lines += [f"@0 kill {victim}", "end_step out"]
    lines += ["put out u by=columns", "end_step out", "close out"]
    return "\n".join(lines)


def play(actors: Actors, back_end: str, kind: str, mode: str, victim: int) -> Job:
    path = f"out{extension(back_end)}"
    private = os.geteuid() == 0 and shutil.which("unshare") is not None
    prefix = ["unshare", "--mount", "sh", "-c", IN_ITS_OWN_NAMESPACE, "sh"] if private else []
    return actors.play(
        script(kind, victim),
        ranks=4,
        settings={
            **mode_settings(mode),
            "files": {"out": file_settings(back_end, path=path)},
        },
        prefix=prefix,
        seconds=60,
    )


def shared_memory_left(folder: Path) -> list[str]:
    listing = folder / "left_in_shared_memory"
    return listing.read_text().split() if listing.exists() else []


@pytest.mark.parametrize(("mode", "victim"), [("async", 2), ("async", 3), ("async", 1), ("sync", 1)])
@pytest.mark.parametrize(
    ("back_end", "kind"),
    itertools.product([*BACK_ENDS, "zarr", "zarr-zstd"], KINDS),
)
def test_a_killed_rank_tears_no_file(
    actors: Actors, back_end: str, kind: str, mode: str, victim: int
) -> None:
    skip_if_missing(actors.build, back_end)
    job = play(actors, back_end, kind, mode, victim)
    assert job.status != 0, job
    assert job.calls("kill"), job
    committed = {
        entry["step"] for entry in job.calls("wait_step", file="out") if entry["code"] == OK
    }
    assert committed >= {0, 1, 2}, job
    ending = extension(back_end)
    if kind == "checkpoint":
        for step in range(8):
            path = job.folder / f"out.{step:06}{ending}"
            if step in committed or path.exists():
                assert check_file(path) == {step}, job
    else:
        assert check_file(job.folder / f"out{ending}") >= committed, job
    assert not [name for name in shared_memory_left(job.folder) if "iocomp" in name], job


@pytest.mark.parametrize("mode", ["sync", "kernel", "async"])
@pytest.mark.parametrize(
    "back_end",
    ["hdf5", "hdf5-time", "hdf5-deflate", "netcdf", "netcdf-deflate", "pnetcdf", "zarr", "zarr-zstd"],
)
def test_what_was_committed_of_a_series_is_read_after_a_kill(
    actors: Actors, back_end: str, mode: str
) -> None:
    skip_if_missing(actors.build, back_end)
    if mode == "kernel" and ("deflate" in back_end or "zarr" in back_end):
        raise unittest.SkipTest("the kernel does not write it")
    job = play(actors, back_end, "series", mode, 1)
    assert job.calls("kill"), job
    committed = {
        entry["step"] for entry in job.calls("wait_step", file="out") if entry["code"] == OK
    }
    assert committed >= {0, 1, 2}, job
    path = job.folder / f"out{extension(back_end)}"
    for step in sorted(committed):
        found = values_in(back_end, path, step, "u")
        assert found is not None, f"{path}: step {step} is missing"
        expected = values(found.dtype, found.size, step)
        assert (found.ravel() == expected).all(), f"{path}: step {step}"


@pytest.mark.parametrize("back_end", ["posix", "hdf5"])
def test_the_next_job_clears_away_what_a_killed_one_left(actors: Actors, back_end: str) -> None:
    skip_if_missing(actors.build, back_end)
    killed = play(actors, back_end, "checkpoint", "async", 2)
    path = f"out{extension(back_end)}"
    job = actors.play(
        "init\nopen out checkpoint\ndefine out u int64 8x8\nput out u\nclose out\n",
        ranks=2,
        settings={"files": {"out": file_settings(back_end, path=path, existing="replace")}},
        folder=killed.folder,
    )
    assert not job.failures(), job
    assert not list(job.folder.glob(".out*")), job
    assert check_file(job.folder / f"out.000000{extension(back_end)}") == {0}


# Open MPI names a semaphore of the node by the file's name, and a killed job leaves it taken.
WITH_TAKEN_SEMAPHORES = """
mount -t tmpfs none /dev/shm || exit 77
for number in $(seq 100); do head -c 32 /dev/zero > /dev/shm/sem.OMPIO_$number; done
exec "$@"
"""


@pytest.mark.parametrize(("back_end", "more"), [("mpiio", {}), ("adios2", {"engine": "HDF5"})])
def test_semaphores_of_other_jobs_hold_nobody_up(
    actors: Actors, back_end: str, more: dict[str, str]
) -> None:
    skip_if_missing(actors.build, back_end)
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        raise unittest.SkipTest("a /dev/shm of its own cannot be made here")
    path = f"out{extension(back_end)}"
    job = actors.play(
        f"init\nopen out series\ndefine out u int64 {SHAPE}\nput out u by=columns\nclose out\n",
        ranks=2,
        settings={
            "mode": "sync",
            "files": {"out": file_settings(back_end, path=path, **more)},
        },
        prefix=["unshare", "--mount", "sh", "-c", WITH_TAKEN_SEMAPHORES, "sh"],
        seconds=30,
    )
    assert job.status == OK, job
    assert not job.failures(), job
