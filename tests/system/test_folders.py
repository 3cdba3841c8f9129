# SPDX-License-Identifier: BSD-3-Clause
"""Folders that cannot be written to, are missing, or vanish while the job runs."""

from __future__ import annotations

import pytest
from actors import OK, STORAGE_FAILURE, Actors, Job
from files import (
    WAYS,
    check_file,
    extension,
    file_settings,
    leftovers,
    mode_settings,
    skip_if_missing,
)
from places import read_only_folder

KINDS = ["series", "checkpoint"]
REFUSED = """
init
open out {kind}
define out u int64 16x16
put out u
end_step out
close out
open next series
define next u int64 64x32
put next u
close next
"""


def settings(back_end: str, mode: str, path: str) -> dict[str, object]:
    return {
        **mode_settings(mode),
        "files": {
            "out": file_settings(back_end, path=path),
            "next": file_settings(back_end, path=f"next{extension(back_end)}"),
        },
    }


def check_refused(job: Job, path: str, cause: str) -> None:
    """Check that all ranks were told the same when they opened the file, and could go on."""
    opens = job.calls("open", file="out")
    assert len(opens) in (2, 4), job
    assert {entry["code"] for entry in opens} == {STORAGE_FAILURE}, job
    assert len({entry["story"] for entry in opens}) == 1, job
    assert path in opens[0]["story"] and cause in opens[0]["story"], opens[0]
    assert job.failures() == opens, job
    assert job.status == 0, job


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("back_end", "mode"), WAYS)
def test_a_missing_folder_is_told_by_open(
    actors: Actors, back_end: str, mode: str, kind: str
) -> None:
    skip_if_missing(actors.build, back_end)
    path = f"nowhere/out{extension(back_end)}"
    job = actors.play(REFUSED.format(kind=kind), ranks=4, settings=settings(back_end, mode, path))
    check_refused(job, "nowhere", "No such file or directory")
    assert check_file(job.folder / f"next{extension(back_end)}") == {0}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("back_end", "mode"), WAYS)
def test_a_read_only_folder_is_told_by_open(
    actors: Actors, back_end: str, mode: str, kind: str
) -> None:
    skip_if_missing(actors.build, back_end)
    with read_only_folder(actors.folder / "locked") as folder:
        path = str(folder / f"out{extension(back_end)}")
        job = actors.play(
            REFUSED.format(kind=kind), ranks=4, settings=settings(back_end, mode, path)
        )
        assert not list(folder.iterdir()), job
    check_refused(job, str(folder), "")
    story = job.failures()[0]["story"]
    assert "Read-only file system" in story or "Permission denied" in story, job
    assert check_file(job.folder / f"next{extension(back_end)}") == {0}


def play_in_a_folder_that_goes(
    actors: Actors, back_end: str, mode: str, kind: str, vanishing: str
) -> Job:
    """Write three steps into a folder, which goes after the first, and another file elsewhere."""
    lines = ["@0 make_folder place", "init", "barrier", f"open out {kind}"]
    lines += ["define out u int64 64x32", "put out u", "end_step out", "wait_step out 0"]
    lines += ["barrier", f"@0 {vanishing}", "barrier"]
    for step, cut in ((1, "rows"), (2, "columns")):
        lines += [f"put out u by={cut}", "end_step out", "wait out written", f"wait_step out {step}"]
    lines += ["close out", "open next series", "define next u int64 64x32"]
    lines += ["put next u", "close next"]
    ending = extension(back_end)
    job = actors.play(
        "\n".join(lines), ranks=4, settings=settings(back_end, mode, f"place/out{ending}")
    )
    assert job.status == 0, job
    assert all(entry["code"] == OK for entry in job.calls("wait_step", step=0)), job
    assert check_file(job.folder / f"next{ending}") == {0}
    assert not leftovers(job.folder), job
    return job


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("back_end", "mode"), WAYS)
def test_a_folder_that_is_removed_is_told(
    actors: Actors, back_end: str, mode: str, kind: str
) -> None:
    skip_if_missing(actors.build, back_end)
    job = play_in_a_folder_that_goes(actors, back_end, mode, kind, "remove_tree place")
    told = job.failures(file="out")
    assert told, job
    assert {entry["code"] for entry in told} == {STORAGE_FAILURE}, job
    assert any("No such file or directory" in entry["story"] for entry in told), job
    # Each rank hears of it, at the latest when it closes the file.
    assert {entry["rank"] for entry in told} == {e["rank"] for e in job.calls("close")}, job
    assert not (job.folder / "place").exists(), job


@pytest.mark.parametrize("state", ["written", "durable"])
def test_a_checkpoint_that_is_removed_once_its_rank_has_reported_is_told(
    actors: Actors, state: str
) -> None:
    """Rank 0, which commits and has put nothing, must not make a new file in its place."""
    job = actors.play(
        f"""
        @0 make_folder place
        init
        barrier
        open out checkpoint
        define out u int64 64x32
        @1 put out u
        @1 end_step out
        @1 wait out {state}
        @1 progress
        @1 remove_temporaries place
        barrier
        @0 end_step out
        wait_step out 0
        close out
        """,
        ranks=2,
        settings=settings("posix", "kernel", "place/out.bin"),
    )
    told = job.calls("wait_step", step=0)
    assert [entry["code"] for entry in told] == [STORAGE_FAILURE] * 2, job
    assert all("No such file or directory" in entry["story"] for entry in told), job
    assert not list((job.folder / "place").glob("out*")), job


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("back_end", "mode"), WAYS)
def test_a_folder_that_gets_another_name_is_the_same(
    actors: Actors, back_end: str, mode: str, kind: str
) -> None:
    """The path was resolved when the file was opened: all steps lie in that folder."""
    skip_if_missing(actors.build, back_end)
    job = play_in_a_folder_that_goes(actors, back_end, mode, kind, "rename place elsewhere")
    assert not job.failures(file="out"), job
    assert not (job.folder / "place").exists(), job
    folder = job.folder / "elsewhere"
    ending = extension(back_end)
    if kind == "checkpoint":
        for step in range(3):
            assert check_file(folder / f"out.{step:06}{ending}") == {step}
    else:
        assert check_file(folder / f"out{ending}") == {0, 1, 2}
    assert not leftovers(folder), job
