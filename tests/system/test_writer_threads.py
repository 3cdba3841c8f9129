# SPDX-License-Identifier: BSD-3-Clause
"""Requests that are divided among writer threads: the same bytes in the file, and back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from actors import Actors, Job
from files import check_file, extension, file_settings, mode_settings, skip_if_missing

BACK_ENDS = ["posix", "mpiio", "hdf5", "netcdf", "pnetcdf", "adios2"]
SAME_BYTES = ["posix", "mpiio", "pnetcdf"]  # the others tell when they were made
SHAPE = "256x96x128"

# Blocks of short runs, long runs that do not lie as in the file, and copies.
SCRIPT = [
    "init",
    "open out series",
    f"define out u float64 {SHAPE}",
    f"define out v float64 {SHAPE}",
    *["put out u by=columns", "put out v by=rows buffered=yes", "end_step out"] * 2,
    "close out",
    "read out",
]


def play(actors: Actors, back_end: str, mode: str, threads: int) -> Job:
    settings: dict[str, Any] = {
        "trace": {"json": "trace.json"},
        "writing": {"threads": threads},
        "files": {"out": file_settings(back_end, path=f"out{extension(back_end)}")},
    }
    settings |= mode_settings(mode)
    job = actors.play("\n".join(SCRIPT), ranks=4, settings=settings, seconds=60)
    assert not job.failures(), job
    assert job.status == 0, job
    return job


def divided(job: Job) -> float:
    trace: dict[str, dict[str, float]] = json.loads((job.folder / "trace.json").read_text())
    return trace["compute_sum"]["divided_bytes"] + trace["server_sum"]["divided_bytes"]


@pytest.mark.parametrize("mode", ["async", "kernel", "sync"])
@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_files_have_the_same_bytes_by_any_number_of_threads(
    actors: Actors, back_end: str, mode: str
) -> None:
    skip_if_missing(actors.build, back_end)
    path = f"out{extension(back_end)}"
    jobs = [play(actors, back_end, mode, threads) for threads in (1, 2, 4)]
    assert divided(jobs[0]) == 0
    for job in jobs[1:]:
        assert divided(job) > 0, "nothing was large enough to be divided"
        if back_end != "adios2":  # the job itself has read it
            check_file(job.folder / path)
        if back_end in SAME_BYTES:
            assert (job.folder / path).read_bytes() == (jobs[0].folder / path).read_bytes()


@pytest.mark.parametrize("compression", ["deflate", "zstd"])
def test_files_of_a_process_are_compressed_by_the_same_threads(
    actors: Actors, compression: str
) -> None:
    skip_if_missing(actors.build, "netcdf")
    lines = ["init"]
    for name in ("a", "b", "c"):
        lines += [f"open {name} series", f"define {name} u float64 {SHAPE}"]
    for name in ("a", "b", "c"):
        lines += [f"put {name} u", f"end_step {name}"]
    lines += ["close a", "close b", "close c"]
    lines += [f"read {name}" for name in ("a", "b", "c")]
    files = {
        name: file_settings("netcdf", path=f"{name}.nc", compression=compression, chunk="256 KiB")
        for name in ("a", "b", "c")
    }
    settings = {"mode": "sync", "writing": {"threads": 3}, "files": files}
    settings["trace"] = {"json": "trace.json"}
    job = actors.play("\n".join(lines), ranks=2, settings=settings, seconds=60)
    assert not job.failures(), job
    assert job.status == 0, job
    trace = json.loads((job.folder / "trace.json").read_text())
    assert trace["compute_sum"]["writer_threads"] == 2 * 3, trace  # not three for each file
