# SPDX-License-Identifier: BSD-3-Clause
"""Files that come after others: no checkpoint is ahead of the output that it goes with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from actors import (
    INVALID_ARGUMENT,
    INVALID_SETTING,
    OVERLAPPING_PUTS,
    UNSUPPORTED,
    Actors,
    Job,
)
from files import check_file, extension, file_settings, mode_settings, skip_if_missing

RANKS = 4
STEPS = 6
FAILED_STEP = ["put fields u", "put fields u", "end_step fields"]  # each element twice

# The mode of the series, and that of the checkpoint, which comes after it.
MODES = {
    "servers": ("async", "async"),
    "kernel": ("kernel", "kernel"),
    "sync": ("sync", "sync"),
    "sync then kernel": ("sync", "kernel"),
    "kernel then sync": ("kernel", "sync"),
    "sync beside servers": ("sync", "async"),
    "servers then sync": ("async", "sync"),
}
# Members of the two: all compute ranks, or some.
MEMBERS = {
    "all": ("", ""),
    "fewer in the series": ("some", ""),
    "fewer in the checkpoint": ("", "some"),
    "others": ("some", "others"),
}
GROUPS = ["group some 1", "group others 0,1"]  # with servers there are two compute ranks


def settings(mode: str, **of_restart: object) -> dict[str, Any]:
    """Return the settings of a series and of a checkpoint, each with a mode of its own."""
    series, checkpoint = MODES[mode]
    session = "kernel" if "kernel" in (series, checkpoint) else "async"
    if (series, checkpoint) == ("sync", "sync"):
        session = "sync"
    one = {"sync": "sync", "async": "async", "kernel": "async"}
    return {
        **mode_settings(session),
        "files": {
            "fields": {"path": "fields.dat", "mode": one[series]},
            "restart": {"path": "restart.dat", "mode": one[checkpoint], **of_restart},
        },
    }


def opened(members: str = "all") -> list[str]:
    """Return lines that open both."""
    series, checkpoint = MEMBERS[members]
    return [
        "init",
        *GROUPS,
        f"open fields series{f' on={series}' if series else ''}",
        f"open restart checkpoint{f' on={checkpoint}' if checkpoint else ''}",
        "define fields u int64 64x8",
        "define restart u int64 64x8",
    ]


def steps(number: int = STEPS, restart: int = 0) -> list[str]:
    """Return lines that put some steps into the series, and then one into the checkpoint."""
    lines = []
    for _ in range(number):
        lines += ["put fields u", "end_step fields"]
    return [*lines, "put restart u", "end_step restart", f"wait_step restart {restart}"]


def slow(folder_part: str = "fields") -> list[str]:
    """Return lines that keep each commit of a file waiting."""
    return [f"@{rank} fault sync SLOW path={folder_part}" for rank in range(RANKS)]


def play(actors: Actors, lines: list[str], chosen: dict[str, Any], **more: Any) -> Job:
    return actors.play("\n".join(lines), ranks=RANKS, settings=chosen, seconds=90, **more)


@pytest.mark.parametrize("members", MEMBERS)
@pytest.mark.parametrize("mode", MODES)
def test_a_checkpoint_is_not_ahead_of_the_series(actors: Actors, mode: str, members: str) -> None:
    """All is killed as soon as a rank knows that the checkpoint is committed."""
    lines = [*slow(), *opened(members), *steps()]
    if mode.startswith("kernel") and members == "fewer in the checkpoint":
        lines.insert(-1, f"@!1 wait_step fields {STEPS - 1}")  # else they would make no call
    lines += ["@1 kill 0", "barrier"]
    job = play(actors, lines, settings(mode, after=["fields"]))
    assert job.calls("kill"), job
    assert not job.failures(), job
    assert check_file(job.folder / "restart.000000.dat") == {0}, job
    assert check_file(job.folder / "fields.dat") >= set(range(STEPS)), job


@pytest.mark.parametrize("mode", MODES)
def test_a_call_says_the_same_as_the_setting(actors: Actors, mode: str) -> None:
    """The checkpoint's first step comes before the call, so it does not wait."""
    first = ["put restart u", "end_step restart", "wait_step restart 0"]
    lines = [*slow(), *opened(), *first, "after restart fields", *steps(restart=1)]
    job = play(actors, [*lines, "@1 kill 0", "barrier"], settings(mode))
    assert job.calls("kill"), job
    assert not job.failures(), job
    assert check_file(job.folder / "restart.000001.dat") == {1}, job
    assert check_file(job.folder / "fields.dat") >= set(range(STEPS)), job


@pytest.mark.parametrize("members", ["all", "others"])
@pytest.mark.parametrize("mode", MODES)
def test_a_step_behind_one_that_failed_fails(actors: Actors, mode: str, members: str) -> None:
    """The story tells what has failed; what was committed before stays."""
    lines = [*opened(members), *steps(1), *FAILED_STEP]
    for number in (1, 2):
        lines += ["put restart u", "end_step restart", f"wait_step restart {number}"]
    job = play(actors, [*lines, "close restart", "close fields"], settings(mode, after=["fields"]))
    for number in (1, 2):
        told = job.failures(file="restart", step=number)
        assert told, job
        assert {entry["code"] for entry in told} == {OVERLAPPING_PUTS}, job
        assert {entry["call"] for entry in told} <= {"end_step", "wait_step"}, job
        story = f'file "restart", step {number} comes after steps of file "fields": file "fields", step 1'
        assert all(story in entry["story"] for entry in told), job
        assert not (job.folder / f"restart.{number:06}.dat").exists(), job
    assert check_file(job.folder / "restart.000000.dat") == {0}, job
    assert check_file(job.folder / "fields.dat") == {0}, job


@pytest.mark.parametrize("mode", ["servers", "kernel", "sync"])
def test_files_that_were_closed_before_count_as_they_ended(actors: Actors, mode: str) -> None:
    """A series that was closed is committed; one that has failed stays so until it is opened again."""
    put = ["put fields u", "end_step fields"]
    end = ["put restart u", "end_step restart"]
    again = ["open fields series", "define fields u int64 64x8"]
    lines = [*opened(), *put, "close fields", *end, "wait_step restart 0"]
    lines += [*again, *put, *FAILED_STEP, "close fields", *end, "wait_step restart 1"]
    lines += [*again, *put, *end, "wait_step restart 2", "close restart", "close fields"]
    chosen = settings(mode, after=["fields"])
    chosen["files"]["fields"]["existing"] = "replace"
    job = play(actors, lines, chosen)
    failed = {(entry["call"], entry["step"]) for entry in job.failures(file="restart")}
    assert failed, job
    assert failed <= {("end_step", 1), ("wait_step", 1)}, job
    assert all("comes after" in entry["story"] for entry in job.failures(file="restart")), job
    written = sorted(path.name for path in job.folder.glob("restart.*.dat"))
    assert written == ["restart.000000.dat", "restart.000002.dat"], job


@pytest.mark.parametrize("mode", ["servers", "kernel", "sync"])
def test_close_and_finalize_wait_for_what_comes_before(actors: Actors, mode: str) -> None:
    """The checkpoint is closed before the series, or nobody closes either."""
    ends: tuple[list[str], ...] = (["close restart", "close fields"], ["finalize"])
    for end in ends:
        lines = [*slow(), *opened(), *steps()[:-1], *end]
        job = play(actors, lines, settings(mode, after=["fields"]))
        assert not job.failures(), job
        assert check_file(job.folder / "restart.000000.dat") == {0}, job
        assert check_file(job.folder / "fields.dat") == set(range(STEPS)), job


@pytest.mark.parametrize("mode", ["servers", "kernel", "sync"])
def test_files_that_come_after_one_another_are_refused(actors: Actors, mode: str) -> None:
    chosen = settings(mode, after=["fields"])
    chosen["files"]["fields"]["after"] = ["probes"]
    chosen["files"]["probes"] = {"after": ["restart"]}
    job = play(actors, ["init", "open restart checkpoint", "open probes series"], chosen)
    assert {entry["code"] for entry in job.calls("open")} == {INVALID_SETTING}, job
    way = '"restart" cannot come after "fields", which comes after "probes", which comes after "restart"'
    assert way in job.calls("open")[0]["story"], job

    lines = [*opened(), "after fields restart", "after fields fields", *steps(), "close fields"]
    job = play(actors, lines, settings(mode, after=["fields"]))
    refused = [entry for entry in job.calls("after", file="fields") if entry["code"] != 0]
    assert {entry["code"] for entry in refused} == {INVALID_ARGUMENT}, job
    assert len(refused) == len(job.calls("after")), job
    assert not job.failures(file="restart"), job
    assert check_file(job.folder / "restart.000000.dat") == {0}, job


@pytest.mark.parametrize("mode", ["async", "sync"])
def test_a_series_that_commits_nothing_while_it_is_open_is_no_predecessor(
    actors: Actors, mode: str
) -> None:
    back_end = "adios2-hdf5"
    skip_if_missing(actors.build, back_end)
    files = {
        "fields": file_settings(back_end, path=f"fields{extension(back_end)}"),
        "restart": {"path": "restart.dat", "after": ["fields"]},
    }
    lines = [*opened(), *steps(1), "close restart", "close fields"]
    job = play(actors, lines, {**mode_settings(mode), "files": files})
    told = job.failures(file="restart")
    assert {entry["code"] for entry in told} == {UNSUPPORTED}, job
    assert "commits nothing before it is closed" in told[0]["story"], job
    assert not job.failures(file="fields"), job
    assert not Path(job.folder / "restart.000000.dat").exists(), job


@pytest.mark.parametrize("call", ["sync", "rename"])
def test_it_holds_when_servers_die(actors: Actors, call: str) -> None:
    """The compute ranks carry both files on, and commit in the same order."""
    lines = [*opened(), *steps(2), *[f"@{rank} fault {call} KILL path=fields" for rank in (2, 3)]]
    lines += ["barrier", *slow(), *steps(restart=1), "barrier", "@0 kill 0", "barrier"]
    job = play(actors, lines, settings("servers", after=["fields"]), alone=True)
    assert job.calls("kill"), job
    if (job.folder / "restart.000001.dat").exists():
        assert check_file(job.folder / "fields.dat") >= set(range(2 + STEPS)), job
