# SPDX-License-Identifier: BSD-3-Clause
"""A limit of open files (`ulimit -n`): told, never waited for, and nothing is left behind."""

from __future__ import annotations

import pytest
from actors import NOT_FOUND, OK, Actors, Job
from files import (
    ALL_WAYS,
    READABLE_WAYS,
    check_file,
    extension,
    file_settings,
    leftovers,
    mode_settings,
    skip_if_missing,
)

RANKS = 4
READABLE = {back_end for back_end, _ in READABLE_WAYS}  # by `check_file`


def script(kind: str, left: int) -> str:
    lines = ["init", *(f"@0 leave_descriptors {left} of={rank}" for rank in range(RANKS)), "barrier"]
    lines += [f"open out {kind}", "define out u int64 64x32"]
    for step in range(3):
        lines += ["put out u", "end_step out", f"wait_step out {step}"]
    return "\n".join([*lines, "close out"])


def steps_found(actors: Actors, job: Job, back_end: str, kind: str) -> set[int]:
    """Return the steps that are there and right; of formats that only a job reads, by one."""
    ending = extension(back_end)
    if back_end in READABLE:
        if kind == "series":
            path = job.folder / f"out{ending}"
            return check_file(path) if path.exists() else set()
        names = [job.folder / f"out.{step:06}{ending}" for step in range(3)]
        return {step for step, name in enumerate(names) if name.exists() and check_file(name)}
    file = file_settings(back_end, path=f"out{ending}")
    reader = actors.play(
        "init\nread out", ranks=1, settings={"mode": "sync", "files": {"out": file}}, folder=job.folder
    )
    (read,) = reader.calls("read")
    assert read["code"] == NOT_FOUND or (read["code"] == OK and read["right"]), reader
    return set(read["steps"]) if read["code"] == OK else set()


@pytest.mark.parametrize("kind", ["series", "checkpoint"])
@pytest.mark.parametrize(("back_end", "mode"), ALL_WAYS)
def test_too_few_are_told(actors: Actors, back_end: str, mode: str, kind: str) -> None:
    skip_if_missing(actors.build, back_end)
    settings = mode_settings(mode)
    settings["files"] = {"out": file_settings(back_end, path=f"out{extension(back_end)}", keep=3)}
    for left in [*range(14), 40]:
        job = actors.play(script(kind, left), ranks=RANKS, settings=settings)
        assert job.status == 0, job
        told = [entry["story"] for entry in job.failures()]
        assert not told or any("Too many open files" in story for story in told), (left, job)
        committed = {entry["step"] for entry in job.calls("wait_step", file="out", code=OK)}
        assert committed <= steps_found(actors, job, back_end, kind), (left, job)
        assert committed == {0, 1, 2} or left < 40, (left, job)
        if leftovers(job.folder):
            # To remove a folder takes descriptors. The next job has them.
            assert back_end in ("zarr", "adios2") and told, (left, job)
            settings["files"]["out"]["existing"] = "replace"
            again = actors.play(script(kind, 40), ranks=RANKS, settings=settings, folder=job.folder)
            assert not again.failures() and not leftovers(job.folder), again
