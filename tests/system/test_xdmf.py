# SPDX-License-Identifier: BSD-3-Clause
"""The XDMF file beside a file: which steps it names, whatever happens to the job."""

from __future__ import annotations

import pytest
from actors import INVALID_SETTING, Actors
from files import MODES, leftovers, skip_if_missing
from test_server_death import lives_on
from xdmf_files import play, settings, steps_of

DEFINE = "define out u float64 4x6\ndefine out v int32 8\n"
STEP = "put out u by=columns\nput out v\nend_step out\n"


@pytest.mark.parametrize("mode", MODES)
def test_checkpoints_are_described_as_long_as_they_are_kept(actors: Actors, mode: str) -> None:
    job = play(
        actors,
        "posix",
        mode,
        f"open out checkpoint\n{DEFINE}{STEP * 5}close out\n",
        file={"keep": 2},
    )
    assert job.status == 0 and not job.failures(), job
    assert steps_of(job, "posix") == [(3, 3), (4, 4)], job
    assert not leftovers(job.folder)


@pytest.mark.parametrize("mode", MODES)
def test_a_kill_leaves_a_description_of_committed_steps(actors: Actors, mode: str) -> None:
    lines = f"open out series\n{DEFINE}"
    for step in range(3):
        lines += f"{STEP}wait_step out {step}\n"
    job = play(actors, "posix", mode, lines + "barrier\nput out u\n@0 kill 1\npause 5\n")
    assert job.status != 0, job
    assert steps_of(job, "posix") == [(0, 0), (1, 1), (2, 2)], job


@pytest.mark.parametrize("kind", ["series", "checkpoint"])
def test_a_kill_between_commit_and_description_leaves_the_older_one(
    actors: Actors, kind: str
) -> None:
    lines = f"open out {kind}\n{DEFINE}"
    for step in range(2):
        lines += f"{STEP}wait_step out {step}\n"
    fault = "@0 fault rename KILL path=.xdmf after=1"
    job = play(actors, "posix", "sync", lines, fault=fault)
    assert job.status != 0, job
    assert steps_of(job, "posix") == [(0, 0)], job


@pytest.mark.parametrize("victim", [2, 3])
@pytest.mark.parametrize("kind", ["series", "checkpoint"])
def test_the_ranks_go_on_with_the_description_of_lost_servers(
    actors: Actors, kind: str, victim: int
) -> None:
    lines = f"init\nopen out {kind}\n{DEFINE}"
    for step in range(6):
        lines += f"attribute out time {step / 2} type=float64\n"
        lines += f"barrier\n@0 kill {victim}\n" if step == 3 else ""
        lines += f"{STEP}wait_step out {step}\n"
    job = actors.play(
        lines + "close out\nleave\n",
        ranks=4,
        settings=settings("posix", "async") | {"transport": {"kind": "shared"}},
        launcher=lives_on(actors, 4),
        seconds=25,
    )
    failed = {entry["step"] for entry in job.failures(call="wait_step")}
    assert failed <= {3}, job  # what the server had taken and not written
    assert steps_of(job, "posix") == [(step, step / 2) for step in range(6) if step not in failed], job
    assert not leftovers(job.folder), job


@pytest.mark.parametrize("kind", ["series", "checkpoint"])
def test_what_describes_the_old_file_goes_before_the_new_one_comes(
    actors: Actors, kind: str
) -> None:
    old = play(actors, "posix", "sync", f"open out {kind}\n{DEFINE}{STEP * 3}close out\n")
    assert len(steps_of(old, "posix")) == 3, old
    new = play(
        actors,
        "posix",
        "sync",
        f"open out {kind}\n{DEFINE}{STEP}wait_step out 0\n",
        fault="@0 fault rename KILL path=.xdmf",
        file={"existing": "replace"},
        folder=old.folder,
    )
    assert new.status != 0, new
    assert steps_of(new, "posix") == [], new


def test_what_describes_the_old_file_stays_with_it(actors: Actors) -> None:
    old = play(actors, "posix", "sync", f"open out series\n{DEFINE}{STEP * 3}close out\n")
    new = play(
        actors,
        "posix",
        "sync",
        f"open out series\n{DEFINE}{STEP}close out\n",
        fault="@0 fault rename EIO path=out.dat times=1",
        file={"existing": "replace"},
        folder=old.folder,
    )
    assert new.failures(), new
    assert len(steps_of(new, "posix")) == 3, new


def test_a_step_that_failed_is_not_described(actors: Actors) -> None:
    lines = f"open out series\n{DEFINE}{STEP}put out u\nput out u\nend_step out\n{STEP}close out\n"
    job = play(actors, "posix", "async", lines)
    assert job.failures(), job
    assert steps_of(job, "posix") == [(0, 0), (2, 2)], job


def test_data_stay_committed_where_they_cannot_be_described(actors: Actors) -> None:
    job = play(
        actors,
        "posix",
        "sync",
        f"open out series\n{DEFINE}{STEP}close out\nread out\n",
        fault="@0 fault rename EIO path=.xdmf",
        environment={"IOCOMP_LOG": "error"},
    )
    assert job.status == 0 and not job.failures(), job
    assert all(entry["right"] for entry in job.calls("read")), job
    assert "there is no XDMF file out.dat.xdmf" in job.output, job
    assert steps_of(job, "posix") == []


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back_end", ["adios2", "pnetcdf"])
def test_back_ends_without_a_description_are_refused(
    actors: Actors, back_end: str, mode: str
) -> None:
    skip_if_missing(actors.build, back_end)
    job = play(actors, back_end, mode, f"open out series\n{DEFINE}{STEP}close out\n")
    opened = job.calls("open")
    assert len(opened) == (2 if mode == "async" else 3), job
    for entry in opened:
        assert entry["code"] == INVALID_SETTING, job
        assert f"of the back-end {back_end}; it can those of hdf5, mpiio, netcdf and posix" in (
            entry["story"]
        ), job


def test_a_name_that_cannot_stand_in_it_is_refused(actors: Actors) -> None:
    job = play(actors, "posix", "sync", "open out series\n", file={"path": "a:b.dat"})
    for entry in job.calls("open"):
        assert entry["code"] == INVALID_SETTING, job
        assert "files.out.describe" in entry["story"] and "without ':'" in entry["story"], job
