# SPDX-License-Identifier: BSD-3-Clause
"""A disk that fills up: told to the rank that put, nothing torn, and the run goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from actors import OK, STORAGE_FAILURE, Actors, Job
from files import (
    WAYS,
    check_file,
    check_whole_or_absent,
    extension,
    file_settings,
    leftovers,
    mode_settings,
    skip_if_missing,
)
from places import small_disk

STEPS = 8
SHAPE = "256x512"  # 1 MiB a step, on a disk of 4 MiB


def settings(back_end: str, mode: str, disk: Path, **more: object) -> dict[str, object]:
    path = str(disk / f"out{extension(back_end)}")
    return {
        **mode_settings(mode),
        "files": {
            "out": file_settings(back_end, path=path, **more),
            "next": file_settings(back_end, path=f"next{extension(back_end)}"),
        },
    }


def waiting_script(kind: str = "series") -> str:
    """Return a script that asks for everything, and writes another file afterwards."""
    lines = ["init", f"open out {kind}", f"define out u int64 {SHAPE}"]
    for step in range(STEPS):
        lines += ["put out u", "end_step out", "wait out durable", f"wait_step out {step}"]
    lines += ["close out", "open next series", "define next u int64 64x32"]
    lines += ["put next u", "end_step next", "wait_step next 0", "close next"]
    return "\n".join(lines)


def check_told(job: Job, mode: str) -> None:
    """Check that the failure came to a rank with the whole story."""
    told = job.failures(file="out", code=STORAGE_FAILURE)
    assert told, job
    assert not [entry for entry in job.failures() if entry["code"] != STORAGE_FAILURE], job
    for entry in told:
        assert "No space left on device" in entry["story"], entry
        assert '"out"' in entry["story"], entry
    of_steps = [entry for entry in told if entry["call"] in ("wait", "wait_step", "end_step")]
    assert of_steps, job
    for entry in of_steps:
        assert f"step {entry['step']}" in entry["story"], entry
        if mode == "async":
            assert "server" in entry["story"], entry


def step_outcomes(job: Job) -> tuple[set[int], set[int]]:
    """Return the steps that were said to be committed, and those that were said to have failed."""
    waits = job.calls("wait_step", file="out")
    failed = {entry["step"] for entry in waits if entry["code"] != OK}
    return {entry["step"] for entry in waits} - failed, failed


@pytest.mark.parametrize(("back_end", "mode"), WAYS)
def test_a_full_disk_is_told_to_who_waits(actors: Actors, back_end: str, mode: str) -> None:
    skip_if_missing(actors.build, back_end)
    with small_disk(actors.folder / "disk", "4m") as disk:
        job = actors.play(waiting_script(), ranks=4, settings=settings(back_end, mode, disk))
        assert job.status == 0, job
        check_told(job, mode)
        committed, failed = step_outcomes(job)
        assert 0 in committed, job
        assert STEPS - 1 in failed, job
        # HDF5 shows its steps when it is closed, if there is still room to close it.
        closed_well = all(entry["code"] == OK for entry in job.calls("close", file="out"))
        readable = back_end in ("posix", "mpiio") or closed_well
        check_whole_or_absent(
            disk / f"out{extension(back_end)}",
            committed=committed if readable else (),
            failed=failed,
        )
        assert not leftovers(disk), job
        assert check_file(job.folder / f"next{extension(back_end)}") == {0}


@pytest.mark.parametrize(("back_end", "mode"), WAYS)
def test_checkpoints_on_a_full_disk_stay_whole(actors: Actors, back_end: str, mode: str) -> None:
    skip_if_missing(actors.build, back_end)
    with small_disk(actors.folder / "disk", "4m") as disk:
        job = actors.play(
            waiting_script("checkpoint"), ranks=4, settings=settings(back_end, mode, disk)
        )
        assert job.status == 0, job
        check_told(job, mode)
        committed, failed = step_outcomes(job)
        assert 0 in committed, job
        for step in range(STEPS):
            path = disk / f"out.{step:06}{extension(back_end)}"
            if step in committed:
                assert check_file(path) == {step}, job
            else:
                assert not path.exists(), job
        assert not leftovers(disk), job
        assert check_file(job.folder / f"next{extension(back_end)}") == {0}


@pytest.mark.parametrize(("back_end", "mode"), WAYS)
def test_finalize_tells_what_nobody_asked_for(actors: Actors, back_end: str, mode: str) -> None:
    skip_if_missing(actors.build, back_end)
    steps = "put out u ticket=none\nend_step out\n" * STEPS
    script = f"init\nopen out series\ndefine out u int64 {SHAPE}\n{steps}"
    with small_disk(actors.folder / "disk", "4m") as disk:
        job = actors.play(script, ranks=4, settings=settings(back_end, mode, disk))
        assert job.status == 0, job
        finalized = job.calls("finalize")
        assert len(finalized) == (2 if mode == "async" else 4), job
        asked = job.failures(call="end_step")
        for entry in finalized if not asked else []:
            assert entry["code"] == STORAGE_FAILURE, job
            assert "No space left on device" in entry["story"], entry
        if not asked:
            assert "iocomp: file" in job.output, job
            assert "No space left on device" in job.output, job
        check_whole_or_absent(disk / f"out{extension(back_end)}")
        assert not leftovers(disk), job
