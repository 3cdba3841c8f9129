# SPDX-License-Identifier: BSD-3-Clause
"""Calls from threads that end with them (tests/threads): what the kernel has in hand stays."""

from __future__ import annotations

import subprocess

import pytest
from actors import Actors, Job
from files import MODES, extension, file_settings, mode_settings, skip_if_missing
from processes import environment_without_iocomp

# Blocks that a call hands to the kernel, 4 MiB for each of two ranks: nobody waits for those of
# step 0, those of step 1 are looked for, and those of step 2 are waited for.
SCRIPT = """
init
open out series
define out u float64 4x262144 seed=7
define out v int32 4x262144 seed=9
put out u
put out v
end_step out
put out u
put out v
{poll}
end_step out
put out u buffered=yes
put out v
end_step out
wait out durable
wait_step out 2
close out
read out seeds=u:7,v:9
finalize
"""
WAYS = [
    (back_end, mode)
    for back_end in ["posix", "hdf5", "hdf5-time", "netcdf", "pnetcdf", "mpiio", "zarr", "adios2"]
    for mode in MODES
    if mode != "kernel" or back_end not in ("mpiio", "zarr", "adios2")
]


def play(actors: Actors, script: str, back_end: str, mode: str, steps: list[int]) -> Job:
    skip_if_missing(actors.build, back_end)
    path = f"out{extension(back_end)}"
    settings = {**mode_settings(mode), "log": "info"}
    job = actors.play(
        script,
        ranks=4 if mode == "async" else 2,
        settings={**settings, "files": {"out": file_settings(back_end, path=path)}},
        alone=True,
    )
    assert job.status == 0 and not job.failures(), job
    reads = job.calls("read")
    assert reads and all(entry["right"] and entry["steps"] == steps for entry in reads), job
    return job


@pytest.mark.parametrize(("back_end", "mode"), WAYS)
def test_nothing_is_lost(actors: Actors, back_end: str, mode: str) -> None:
    poll = "poll out written" if (back_end, mode) == ("posix", "kernel") else "progress"
    job = play(actors, SCRIPT.format(poll=poll), back_end, mode, [0, 1, 2])
    # Else the test shows nothing: this is what is special where the kernel writes.
    asks = "a thread of iocomp asks from now on" in job.stderr
    assert asks == (mode == "kernel"), job


@pytest.mark.parametrize("mode", MODES)
def test_nobody_calls_before_close(actors: Actors, mode: str) -> None:
    script = """
init
open out series
define out u float64 4x262144 seed=7
put out u
pause 0.2
close out
read out seeds=u:7
"""
    play(actors, script, "posix", mode, [0])


def test_a_thread_that_must_not_call_mpi_is_told(actors: Actors) -> None:
    """MPI_Init gives MPI_THREAD_SINGLE: then only one thread may call."""
    build = actors.build
    script = actors.folder / "script"
    script.write_text("init\nopen out series\ndefine out u int32 8\nput out u\nclose out\n")
    command = [*build.launcher, "2", build.actor, str(script), str(actors.folder)]
    told = subprocess.run(
        command,
        cwd=actors.folder,
        env=environment_without_iocomp() | build.environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stderr
    assert told.count("iocomp is called from a thread that did not initialise MPI") == 2, told
