# SPDX-License-Identifier: BSD-3-Clause
"""Targets that are there already, replacing them, and the checkpoints that are kept."""

from __future__ import annotations

from pathlib import Path

import pytest
from actors import OK, TARGET_EXISTS, Actors
from files import (
    MODES,
    WAYS,
    check_file,
    extension,
    file_settings,
    leftovers,
    skip_if_missing,
    steps_in,
    mode_settings,
)


def settings(back_end: str, mode: str, **more: object) -> dict[str, object]:
    path = f"out{extension(back_end)}"
    return {**mode_settings(mode), "files": {"out": file_settings(back_end, path=path, **more)}}


def write(kind: str, steps: int, trouble: str = "") -> str:
    lines = ["init", trouble, f"open out {kind}", "define out u int64 64x32"]
    for step in range(steps):
        lines += ["put out u", "end_step out", f"wait_step out {step}"]
    return "\n".join([*lines, "close out"])


@pytest.mark.parametrize(("back_end", "mode"), WAYS)
def test_an_existing_series_is_refused(actors: Actors, back_end: str, mode: str) -> None:
    skip_if_missing(actors.build, back_end)
    first = actors.play(write("series", 2), ranks=4, settings=settings(back_end, mode))
    assert not first.failures(), first
    path = first.folder / f"out{extension(back_end)}"
    before = path.read_bytes()
    again = actors.play(
        write("series", 1), ranks=4, settings=settings(back_end, mode), folder=first.folder
    )
    opens = again.calls("open")
    assert {entry["code"] for entry in opens} == {TARGET_EXISTS}, again
    assert len({entry["story"] for entry in opens}) == 1, again
    assert path.name in opens[0]["story"] and "replace" in opens[0]["story"], opens[0]
    assert path.read_bytes() == before
    assert not leftovers(first.folder)


@pytest.mark.parametrize(("back_end", "mode"), WAYS)
def test_a_path_that_the_job_has_open_is_refused(actors: Actors, back_end: str, mode: str) -> None:
    """Also where it may be replaced: both would write one file."""
    skip_if_missing(actors.build, back_end)
    used = settings(back_end, mode, existing="replace")
    used["files"]["other"] = used["files"]["out"]  # type: ignore[index]
    lines = write("series", 2).replace("define out", "open other series\ndefine out", 1)
    job = actors.play(lines, ranks=4, settings=used)
    refused = [entry for entry in job.calls("open") if entry["code"] != OK]
    assert {entry["code"] for entry in refused} == {TARGET_EXISTS}, job
    assert len(refused) == len(job.calls("close")), job
    assert check_file(job.folder / f"out{extension(back_end)}") == {0, 1}
    assert not leftovers(job.folder)


@pytest.mark.parametrize(("back_end", "mode"), WAYS)
def test_the_old_series_stays_until_the_commit(actors: Actors, back_end: str, mode: str) -> None:
    """The second job cannot publish: the file of the first is still there, and readable."""
    skip_if_missing(actors.build, back_end)
    first = actors.play(write("series", 3), ranks=4, settings=settings(back_end, mode))
    path = first.folder / f"out{extension(back_end)}"
    assert check_file(path) == {0, 1, 2}
    lead = 2 if mode == "async" else 0
    # The manifest cannot be renamed; the file cannot.
    for fault, steps in (("", 2), ("after=1 times=1", 1)):
        refused = actors.play(
            f"@{lead} fault rename EIO path=out{extension(back_end)} {fault}\n"
            + write("series", steps),
            ranks=4,
            settings=settings(back_end, mode, existing="replace"),
            folder=first.folder,
        )
        assert refused.failures(), refused
        assert check_file(path) == {0, 1, 2}
        assert not leftovers(first.folder)
    replaced = actors.play(
        write("series", 2),
        ranks=4,
        settings=settings(back_end, mode, existing="replace"),
        folder=first.folder,
    )
    assert not replaced.failures(), replaced
    assert check_file(path) == {0, 1}
    assert not leftovers(first.folder)


@pytest.mark.parametrize(("back_end", "mode"), WAYS)
def test_a_checkpoint_that_exists_is_refused(actors: Actors, back_end: str, mode: str) -> None:
    skip_if_missing(actors.build, back_end)
    ending = extension(back_end)
    first = actors.play(write("checkpoint", 2), ranks=4, settings=settings(back_end, mode))
    assert not first.failures(), first
    again = actors.play(
        write("checkpoint", 2), ranks=4, settings=settings(back_end, mode), folder=first.folder
    )
    assert {entry["code"] for entry in again.calls("open")} == {TARGET_EXISTS}, again
    (first.folder / f"out.000000{ending}").unlink()
    # Any step of an earlier job is in the way: with steps of this one it would be a mixture.
    third = actors.play(
        write("checkpoint", 3), ranks=4, settings=settings(back_end, mode), folder=first.folder
    )
    assert {entry["code"] for entry in third.calls("open")} == {TARGET_EXISTS}, third
    assert f"out.000001{ending}" in third.calls("open")[0]["story"], third
    assert check_file(first.folder / f"out.000001{ending}") == {1}
    assert not leftovers(first.folder)


@pytest.mark.parametrize(("back_end", "mode"), WAYS)
def test_a_failed_checkpoint_costs_no_kept_one(actors: Actors, back_end: str, mode: str) -> None:
    """Steps 3 and 4 cannot be published: the last two that were committed are kept all the same."""
    skip_if_missing(actors.build, back_end)
    ending = extension(back_end)
    lead = 2 if mode == "async" else 0
    faults = "".join(f"@{lead} fault rename EIO path=out.00000{step}{ending}\n" for step in (3, 4))
    for steps, kept in ((5, [1, 2]), (6, [2, 5])):
        job = actors.play(
            faults + write("checkpoint", steps), ranks=4, settings=settings(back_end, mode, keep=2)
        )
        assert {entry["step"] for entry in job.failures(call="wait_step")} == {3, 4}, job
        for step in kept:
            assert check_file(job.folder / f"out.{step:06}{ending}") == {step}, job
        assert sorted(steps_in_folder(job.folder, ending)) == kept, job
    assert not leftovers(job.folder), job


def steps_in_folder(folder: Path, ending: str) -> set[int]:
    found: set[int] = set()
    for path in folder.glob(f"out.*{ending}"):
        found |= steps_in(path)
    return found


@pytest.mark.parametrize("mode", MODES)
def test_a_target_that_appears_meanwhile_is_not_overwritten(actors: Actors, mode: str) -> None:
    lines = ["init", "open out series", "define out u int64 64x32", "put out u"]
    lines += ["@0 make_folder out.bin", "barrier", "end_step out", "wait_step out 0", "close out"]
    job = actors.play("\n".join(lines), ranks=4, settings=mode_settings(mode))
    told = job.failures()
    assert told and all(entry["code"] != OK for entry in told), job
    assert (job.folder / "out.bin").is_dir(), job
    assert not leftovers(job.folder), job
