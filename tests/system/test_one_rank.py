# SPDX-License-Identifier: BSD-3-Clause
"""Failures of one rank or one server only: all that are concerned hear of it, nobody hangs."""

from __future__ import annotations

import pytest
from actors import OK, STORAGE_FAILURE, Actors, Job
from files import (
    MODES,
    WAYS,
    check_file,
    check_whole_or_absent,
    extension,
    file_settings,
    leftovers,
    mode_settings,
    skip_if_missing,
    values,
)
from iocomp import open_files

RANKS = 4
VICTIMS = {"async": [2, 3], "sync": [0, 3], "kernel": [0, 3]}  # the servers are the upper half
CASES = [(back_end, mode, victim) for back_end, mode in WAYS for victim in VICTIMS[mode]]
SHAPE = "256x512"


def script(trouble: str, mode: str, kind: str = "series", steps: int = 3) -> str:
    """Return a script in which blocks go to all servers, and that waits for everything.

    Without servers, each rank writes long runs itself.
    """
    by = "rows" if mode == "kernel" else "columns"
    lines = [trouble, "init", f"open out {kind}", f"define out u int64 {SHAPE}"]
    for step in range(steps):
        lines += [f"put out u by={by}", "end_step out", "wait out durable"]
        lines += [f"wait_step out {step}"]
    lines += ["close out", "open next series", "define next u int64 8x8"]
    lines += ["put next u", "end_step next", "close next"]
    return "\n".join(lines)


def settings(back_end: str, mode: str) -> dict[str, object]:
    ending = extension(back_end)
    return {
        **mode_settings(mode),
        "files": {
            name: file_settings(back_end, path=f"{name}{ending}") for name in ("out", "next")
        },
    }


def check_story(job: Job, mode: str, victim: int, cause: str) -> None:
    told = job.failures(file="out")
    assert told, job
    assert {entry["code"] for entry in told} == {STORAGE_FAILURE}, job
    stories = [entry["story"] for entry in told if cause in entry["story"]]
    assert stories, job
    assert any('"u"' in story for story in stories), job
    if mode == "async":
        assert any(f"(rank {victim})" in story for story in stories), job
    # Those whose own blocks were written are told that the step failed.
    assert {entry["rank"] for entry in told} == {e["rank"] for e in job.calls("close")}, job


@pytest.mark.parametrize(("back_end", "mode", "victim"), CASES)
def test_a_limit_on_the_size_of_files_on_one_rank(
    actors: Actors, back_end: str, mode: str, victim: int
) -> None:
    skip_if_missing(actors.build, back_end)
    job = actors.play(
        script(f"@{victim} limit_file_size 1500000", mode),
        ranks=RANKS,
        settings=settings(back_end, mode),
    )
    assert job.status == 0, job
    check_story(job, mode, victim, "File too large")
    waits = job.calls("wait_step", file="out")
    failed = {entry["step"] for entry in waits if entry["code"] != OK}
    assert failed >= {2}, job
    check_whole_or_absent(job.folder / f"out{extension(back_end)}", failed=failed)
    assert check_file(job.folder / f"next{extension(back_end)}") == {0}
    assert not leftovers(job.folder), job


@pytest.mark.parametrize(("back_end", "mode", "victim"), CASES)
def test_a_write_that_fails_once_costs_one_step(
    actors: Actors, back_end: str, mode: str, victim: int
) -> None:
    skip_if_missing(actors.build, back_end)
    job = actors.play(
        script(f"@{victim} fault pwrite EIO times=1", mode, kind="checkpoint"),
        ranks=RANKS,
        settings=settings(back_end, mode),
    )
    assert job.status == 0, job
    if back_end == "mpiio" and not job.failures():
        for step in range(3):  # what MPI-IO could not write was written without it
            assert check_file(job.folder / f"out.{step:06}{extension(back_end)}") == {step}
        return
    told = job.failures(file="out")
    assert {entry["code"] for entry in told} == {STORAGE_FAILURE}, job
    assert any("Input/output error" in entry["story"] for entry in told), job
    waits = job.calls("wait_step", file="out")
    failed = {entry["step"] for entry in waits if entry["code"] != OK}
    assert len(failed) == 1, job
    for step in range(3):
        path = job.folder / f"out.{step:06}{extension(back_end)}"
        if step in failed:
            assert not path.exists(), job
        else:
            assert check_file(path) == {step}, job
    assert not leftovers(job.folder), job


@pytest.mark.parametrize(("back_end", "mode", "victim"), CASES)
def test_an_fsync_that_fails_leaves_the_step_uncommitted(
    actors: Actors, back_end: str, mode: str, victim: int
) -> None:
    skip_if_missing(actors.build, back_end)
    job = actors.play(
        script(f"@{victim} fault sync EIO path=out", mode),
        ranks=RANKS,
        settings=settings(back_end, mode),
    )
    assert job.status == 0, job
    told = job.failures(file="out")
    assert {entry["code"] for entry in told} == {STORAGE_FAILURE}, job
    assert any("Input/output error" in entry["story"] for entry in told), job
    assert {entry["rank"] for entry in told} == {e["rank"] for e in job.calls("close")}, job
    waits = job.calls("wait_step", file="out")
    assert {entry["code"] for entry in waits} == {STORAGE_FAILURE}, job
    check_whole_or_absent(job.folder / f"out{extension(back_end)}", failed={0, 1, 2})
    assert check_file(job.folder / f"next{extension(back_end)}") == {0}
    assert not leftovers(job.folder), job


@pytest.mark.parametrize("failing", range(9))
@pytest.mark.parametrize("mode", ["sync", "kernel"])
def test_steps_that_may_be_visible_are_left_alone(actors: Actors, mode: str, failing: int) -> None:
    """An fsync of the folder fails after a file was replaced: it may be committed, or not."""
    skip_if_missing(actors.build, "hdf5")
    path = "out.h5"
    steps = [line for s in range(3) for line in ("put out u", "end_step out", f"wait_step out {s}")]
    # Several steps share a chunk, so that a step which failed is filled for those that come later.
    lines = ["init", "open out series", "define out u int32 1000", *steps, "close out"]
    chosen = {**mode_settings(mode), "files": {"out": file_settings("hdf5-time", path=path)}}
    old = actors.play("\n".join(lines), ranks=1, settings=chosen)
    assert not old.failures(), old
    chosen["files"] = {"out": file_settings("hdf5-time", path=path, existing="replace")}
    lines.insert(1, f"fault sync EIO times=1 after={failing}")
    new = actors.play("\n".join(lines), ranks=1, settings=chosen, folder=old.folder)
    assert new.status == 0, new
    with open_files(old.folder / path) as files:
        for step in files.steps:
            assert (files.read("u", step) == values("int32", 1000, step)).all(), new


@pytest.mark.parametrize("kind", ["series", "checkpoint"])
@pytest.mark.parametrize(("back_end", "mode"), WAYS)
def test_a_rename_that_fails_is_told_to_all(
    actors: Actors, back_end: str, mode: str, kind: str
) -> None:
    skip_if_missing(actors.build, back_end)
    lead = {"async": 2, "sync": 0, "kernel": 0}[mode]
    job = actors.play(
        script(f"@{lead} fault rename EROFS path=out", mode, kind),
        ranks=RANKS,
        settings=settings(back_end, mode),
    )
    assert job.status == 0, job
    told = job.failures(file="out")
    assert {entry["rank"] for entry in told} == {e["rank"] for e in job.calls("close")}, job
    assert all("Read-only file system" in entry["story"] for entry in told), job
    assert not list(job.folder.glob("out*")), job
    assert not leftovers(job.folder), job
    assert check_file(job.folder / f"next{extension(back_end)}") == {0}


@pytest.mark.parametrize(("back_end", "mode"), WAYS)
def test_a_target_that_cannot_be_renamed_leaves_no_manifest(
    actors: Actors, back_end: str, mode: str
) -> None:
    """The first rename is the manifest's, the second the file's."""
    skip_if_missing(actors.build, back_end)
    lead = {"async": 2, "sync": 0, "kernel": 0}[mode]
    job = actors.play(
        script(f"@{lead} fault rename EIO path=out. after=1 times=1", mode, "checkpoint"),
        ranks=RANKS,
        settings=settings(back_end, mode),
    )
    assert job.status == 0, job
    assert {entry["step"] for entry in job.failures(call="wait_step")} == {0}, job
    assert not list(job.folder.glob("out.000000*")), job
    for step in (1, 2):
        assert check_file(job.folder / f"out.{step:06}{extension(back_end)}") == {step}
    assert not leftovers(job.folder), job


@pytest.mark.parametrize("mode", MODES)
def test_another_file_does_not_suffer(actors: Actors, mode: str) -> None:
    """Two files are open at once; only one of them is in trouble."""
    victim = VICTIMS[mode][0]
    by = "rows" if mode == "kernel" else "columns"  # else another rank may write
    lines = [f"@{victim} fault pwrite EIO path=out", "init"]
    for name in ("out", "next"):
        lines += [f"open {name} series", f"define {name} u int64 {SHAPE}"]
    for step in range(3):
        for name in ("out", "next"):
            lines += [f"put {name} u by={by}", f"end_step {name}"]
        lines += [f"wait_step next {step}", f"wait_step out {step}"]
    lines += ["close out", "close next"]
    job = actors.play("\n".join(lines), ranks=RANKS, settings=settings("posix", mode))
    assert job.status == 0, job
    assert job.failures(file="out"), job
    assert not job.failures(file="next"), job
    assert check_file(job.folder / "next.dat") == {0, 1, 2}
    assert not (job.folder / "out.dat").exists(), job
