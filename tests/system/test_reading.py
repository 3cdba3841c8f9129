# SPDX-License-Identifier: BSD-3-Clause
"""Reading back: by another job, of another size, after a kill, and while others write."""

from __future__ import annotations

import pytest
from actors import INCONSISTENT_CALLS, NOT_FOUND, STORAGE_FAILURE, Actors, Job
from files import MODES, extension, file_settings, mode_settings, skip_if_missing

DEFINE = "define out u int64 24x10\ndefine out v float64 12"
STEP = "put out u by=columns\nput out v\nend_step out\n"


def of_rank(rank: int, script: str) -> str:
    return "".join(f"@{rank} {line}\n" for line in script.splitlines())


def settings(mode: str, back_end: str = "posix", **more: object) -> dict[str, object]:
    path = f"out{extension(back_end)}"
    return {**mode_settings(mode), "files": {"out": file_settings(back_end, path=path, **more)}}


def check_read(job: Job, steps: list[int]) -> None:
    assert job.status == 0, job
    assert not job.failures(), job
    entries = job.calls("read")
    assert entries, job
    for entry in entries:
        assert entry["steps"] == steps, entry
        assert entry["right"], entry


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back_end", ["posix", "hdf5"])
def test_another_job_reads_the_checkpoints_that_are_kept(
    actors: Actors, back_end: str, mode: str
) -> None:
    skip_if_missing(actors.build, back_end)
    script = f"init\nopen out checkpoint\n{DEFINE}\n{STEP * 5}close out\n"
    written = actors.play(script, ranks=4, settings=settings(mode, back_end, keep=2))
    assert not written.failures(), written
    for ranks, other in ((3, "sync"), (4, mode)):
        read = actors.play(
            "init\nread out\n",
            ranks=ranks,
            settings=settings(other, back_end),
            folder=written.folder,
        )
        check_read(read, [3, 4])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["series", "checkpoint"])
def test_what_was_committed_before_a_kill_is_read(actors: Actors, kind: str, mode: str) -> None:
    lines = ["init", f"open out {kind}", DEFINE]
    for step in range(3):
        lines += [STEP, f"wait_step out {step}"]
    lines += ["barrier", "put out u", "@0 kill 1", "pause 5"]
    written = actors.play("\n".join(lines), ranks=4, settings=settings(mode))
    assert written.status != 0, written
    read = actors.play(
        "init\nread out\n", ranks=2, settings=settings("sync"), folder=written.folder
    )
    check_read(read, [0, 1, 2])


@pytest.mark.parametrize("mode", MODES)
def test_a_series_is_read_while_it_is_written(actors: Actors, mode: str) -> None:
    script = f"init\nopen out series\n{DEFINE}\n{STEP}wait_step out 0\n{STEP}"
    script += f"read out\n{STEP}close out\nread out\n"
    job = actors.play(script, ranks=4, settings=settings(mode))
    assert not job.failures(), job
    assert all(entry["right"] for entry in job.calls("read")), job
    readers = {entry["rank"] for entry in job.calls("read")}
    assert len(readers) == (2 if mode == "async" else 4), job
    for rank in readers:
        first, second = (entry["steps"] for entry in job.calls("read", rank=rank))
        assert first in ([0], [0, 1]), job
        assert second == [0, 1, 2], job


@pytest.mark.parametrize("mode", MODES)
def test_who_reads_waits_asleep_and_lets_others_write(actors: Actors, mode: str) -> None:
    """Rank 0 waits in read for rank 1, which has blocks that wait for what rank 0 does meanwhile."""
    script = f"init\nopen out series\n{DEFINE}\n{STEP}wait_step out 0\n"
    script += f"@0 read out\n{of_rank(1, STEP)}"
    script += "@1 pause 0.5\n@1 measure_cpu 0 1\n@1 read out\n"
    script += f"{of_rank(0, STEP)}close out\n"
    job = actors.play(script, ranks=2 if mode != "async" else 4, settings=settings(mode))
    if mode == "sync":  # end_step is collective there: the calls do not belong together
        assert {entry["code"] for entry in job.calls("read", rank=0)} == {INCONSISTENT_CALLS}, job
        return
    assert not job.failures(), job
    measured = job.calls("measure_cpu")[0]
    assert measured["cpu_seconds"] / measured["seconds"] < 0.1, measured


def test_failures_are_the_same_on_all_ranks(actors: Actors) -> None:
    script = f"init\nread out\nopen out series\n{DEFINE}\n{STEP}close out\nbarrier\n"
    script += "@0 rename out.dat.json elsewhere\nread out\n"
    job = actors.play(script, ranks=3, settings=settings("sync"))
    reads = job.calls("read")
    assert len(reads) == 6, job
    assert {entry["code"] for entry in reads[::2]} == {NOT_FOUND}, job
    assert all("there is no out.dat.json" in entry["story"] for entry in reads[1::2]), job


def test_a_torn_file_is_told(actors: Actors) -> None:
    script = f"init\nopen out series\n{DEFINE}\n{STEP}close out\n"
    written = actors.play(script, ranks=2, settings=settings("sync"))
    with (written.folder / "out.dat").open("r+b") as file:
        file.truncate(100)
    job = actors.play("init\nread out\n", ranks=2, settings=settings("sync"), folder=written.folder)
    assert {entry["code"] for entry in job.calls("read")} == {STORAGE_FAILURE}, job
    assert all("is torn: it has 100 bytes" in entry["story"] for entry in job.calls("read")), job


@pytest.mark.parametrize("torn", [1, 2])
@pytest.mark.parametrize("back_end", ["posix", "hdf5", "zarr"])
def test_a_torn_checkpoint_does_not_keep_the_others_from_being_read(
    actors: Actors, back_end: str, torn: int
) -> None:
    skip_if_missing(actors.build, back_end)
    script = f"init\nopen out checkpoint\n{DEFINE}\n{STEP * 3}close out\n"
    written = actors.play(script, ranks=2, settings=settings("sync", back_end, checksum="none"))
    name = f"out.00000{torn}{extension(back_end)}"
    with (written.folder / name / ("u/c.0.0" if back_end == "zarr" else "")).open("r+b") as file:
        if back_end != "hdf5":
            file.truncate(100)
        else:
            file.write(b"no HDF5 at all")  # and as long as it was
    job = actors.play(
        f"init\nread out\nread out step={torn}\n",
        ranks=2,
        settings=settings("sync", back_end),
        folder=written.folder,
        environment={"IOCOMP_LOG": "warning", "IOCOMP_TRACE_LINES": "summary"},
    )
    assert job.status == 0, job
    if back_end == "hdf5" and torn == 1:  # of its size, and not the newest: found when it is read
        reads = job.calls("read")
        assert {entry["code"] for entry in reads} == {STORAGE_FAILURE}, job
        assert all(name in entry["story"] for entry in reads), job
        return
    for rank in (0, 1):
        others, asked_for = job.calls("read", rank=rank)
        assert others["steps"] == [step for step in range(3) if step != torn], job
        assert others["left_out"] == [torn], job
        assert others["right"] and others["code"] == 0, job
        assert asked_for["code"] == STORAGE_FAILURE, job
        assert f"step {torn} of file" in asked_for["story"] and name in asked_for["story"], job
    assert f"step {torn} is left out" in job.output, job  # the log
    assert f"was read without step {torn}" in job.output, job  # the summary


def test_the_summary_tells_what_was_read(actors: Actors) -> None:
    script = f"init\nopen out series\n{DEFINE}\n{STEP}close out\nread out\n"
    job = actors.play(
        script, ranks=2, settings=settings("sync"), environment={"IOCOMP_TRACE_LINES": "summary"}
    )
    lines = job.output.strip().splitlines()
    assert len(lines) == 2, job
    assert lines[1].startswith("iocomp: read 2 KiB in "), job  # 240 + 12 numbers of 8 bytes
