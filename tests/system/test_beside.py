# SPDX-License-Identifier: BSD-3-Clause
"""Files that all ranks write together, without servers: threads of iocomp do it beside the program."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest
from actors import INVALID_ARGUMENT, Actors, Job
from files import extension, file_settings, mode_settings, skip_if_missing, values

from iocomp import open_files

STEPS = 4
ROWS, COLUMNS = 96, 500
SHAPE = f"{ROWS}x{COLUMNS}"
FILES = [
    ("zarr", "series"),
    ("zarr-zstd", "series"),
    ("zarr-zstd", "checkpoint"),
    ("hdf5-deflate", "series"),
    ("netcdf-deflate", "series"),
    ("netcdf-zstd", "checkpoint"),
]


def play(
    actors: Actors, lines: str, back_end: str, kind: str, *, multiple: bool = True, **more: object
) -> Job:
    skip_if_missing(actors.build, back_end)
    settings = mode_settings("kernel") | {"trace": {"json": "trace.json", "lines": "start"}}
    if "memory" in more:
        settings["client"] = {"buffer_memory": more.pop("memory")}
    settings["files"] = {"out": file_settings(back_end, path=f"out{extension(back_end)}", **more)}
    script = f"init\nopen out {kind}\ndefine out u float64 {SHAPE}\n{lines}close out\n"
    return actors.play(script, ranks=3, settings=settings, multiple=multiple)


def check(job: Job, steps: int = STEPS) -> None:
    assert job.status == 0 and not job.failures(), job
    paths = [path for path in job.folder.glob("out*") if path.suffix != ".json"]
    found = set()
    for path in paths:
        with open_files(path) as files:
            for step in files.steps:
                put = values("f8", ROWS * COLUMNS, step).reshape(ROWS, COLUMNS)
                np.testing.assert_array_equal(files.read("u", step), put)
                found.add(step)
    assert found == set(range(steps)), job


@pytest.mark.parametrize(("back_end", "kind"), FILES)
@pytest.mark.parametrize("put", ["by=rows", "by=columns", "by=rows buffered=yes", "by=rows halo=1"])
def test_ranks_go_on_while_a_step_is_written(
    actors: Actors, back_end: str, kind: str, put: str
) -> None:
    """Rank 1 ends its steps after rank 0 has ended all of them: a synchronous end_step waits."""
    one = f"put out u {put}\n@{{0}} end_step out\n".replace("put", "@{0} put", 1)
    lines = "".join(one.format(0) for _ in range(STEPS)) + "barrier\n"
    lines += "".join(one.format(rank) for rank in (1, 2) for _ in range(STEPS))
    job = play(actors, lines, back_end, kind)
    check(job)
    assert "synchronous" not in job.output, job


@pytest.mark.parametrize(("back_end", "kind"), FILES)
def test_without_threads_for_mpi_they_are_synchronous_and_it_is_told(
    actors: Actors, back_end: str, kind: str
) -> None:
    job = play(
        actors, "put out u by=rows\nend_step out\n" * STEPS, back_end, kind, multiple=False
    )
    check(job)
    assert "MPI_THREAD_MULTIPLE" in job.output, job


@pytest.mark.parametrize("state", ["handed_over", "written", "durable"])
@pytest.mark.parametrize(("back_end", "kind"), FILES)
def test_a_ticket_is_waited_for(actors: Actors, back_end: str, kind: str, state: str) -> None:
    check(play(actors, f"put out u\nend_step out\nwait out {state}\n" * STEPS, back_end, kind))


def test_memory_is_free_before_the_step_has_ended_if_there_is_room(actors: Actors) -> None:
    lines = "put out u\nwait out handed_over\nend_step out\n" * STEPS
    check(play(actors, lines, "zarr-zstd", "series"))
    job = play(actors, lines, "zarr-zstd", "series", memory="64 KiB")
    failed = job.failures()
    assert failed and {entry["code"] for entry in failed} == {INVALID_ARGUMENT}, job
    assert "call end_step before waiting" in str(failed[0]), job
    found = json.loads((job.folder / "trace.json").read_text())["compute_sum"]
    assert found["put_bytes"] == STEPS * ROWS * COLUMNS * 8, found


def test_what_is_waited_for_too_early_is_told(actors: Actors) -> None:
    job = play(actors, "put out u\nwait out written\nend_step out\n", "zarr", "series")
    assert {entry["code"] for entry in job.failures()} == {INVALID_ARGUMENT}, job
    assert "call that before waiting" in str(job.failures()[0]), job


def test_a_store_of_zarr_is_verified(actors: Actors) -> None:
    job = play(actors, "put out u\nend_step out\n" * STEPS, "zarr-zstd", "series")
    check(job)
    words = [actors.build.command, "verify", str(job.folder / "out.zarr")]
    told = subprocess.run(words, capture_output=True, text=True)
    assert told.returncode == 0, told
