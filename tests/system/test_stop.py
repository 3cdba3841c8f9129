# SPDX-License-Identifier: BSD-3-Clause
"""The end of a job: signals and time that stop it, servers that finish what is complete."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from actors import INVALID_SETTING, OK, Actors, Job
from files import MODES, check_file, check_whole_or_absent, file_settings, mode_settings

ASK = "should_stop\n"


def answers(job: Job) -> list[set[int]]:
    """Return what the ranks were told, call by call."""
    assert job.status == 0 and not job.failures(), job
    by_rank = [
        [entry["stop"] for entry in job.calls("should_stop", rank=rank)]
        for rank in {entry["rank"] for entry in job.calls("should_stop")}
    ]
    return [set(told) for told in zip(*by_rank, strict=True)]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("signals", ["USR1", "sigterm, SIGUSR1"])
def test_a_signal_to_one_rank_stops_all(actors: Actors, mode: str, signals: str) -> None:
    text = f"init\n{ASK}barrier\n@1 signal 1 USR1\nbarrier\n{ASK}{ASK}"
    settings = {**mode_settings(mode), "stop": {"signals": signals}}
    assert answers(actors.play(text, ranks=4, settings=settings)) == [{0}, {1}, {1}]


def test_a_signal_of_before_the_session_does_not_stop_it(actors: Actors) -> None:
    text = f"init\nbarrier\n@0 signal 0 USR1\nbarrier\n{ASK}finalize\n"
    settings = {"stop": {"signals": "USR1"}}
    assert answers(actors.play(text, ranks=4, settings=settings)) == [{1}]
    assert answers(actors.play(f"init\n{ASK}", ranks=4, settings=settings)) == [{0}]


def test_nothing_stops_a_job_that_nobody_told_to(actors: Actors) -> None:
    environment = {"SLURM_JOB_END_TIME": str(int(time.time()) - 5)}
    job = actors.play(f"init\n{ASK}", ranks=4, environment=environment, alone=True)
    assert answers(job) == [{0}]


SOON = {
    "before the end that Slurm tells": ({"at": "end - 10 min"}, 300, {1}),
    "not yet": ({"at": "end - 1 min"}, 300, {0}),
    "before a time": ({"at": "+30 - 1 min"}, 300, {1}),
    "a time": ({"at": "-1"}, None, {1}),
    "a time to come": ({"at": "+60"}, None, {0}),
}


@pytest.mark.parametrize("case", SOON)
def test_the_time_stops_it(actors: Actors, case: str) -> None:
    settings, left, expected = SOON[case]
    if settings["at"][0] in "+-":
        end, *before = settings["at"].split(" - ")
        moment = time.time() + float(end)
        form = "%Y-%m-%dT%H:%M:%S" if case == "a time" else None
        at = time.strftime(form, time.localtime(moment)) if form else f"{moment:.0f}"
        settings = {"at": " - ".join([at, *before])}
    environment = {} if left is None else {"SLURM_JOB_END_TIME": str(int(time.time()) + left)}
    job = actors.play(f"init\n{ASK}", ranks=4, settings={"stop": settings}, environment=environment)
    assert answers(job) == [expected]


def test_an_end_that_nobody_knows_is_warned_of(actors: Actors) -> None:
    job = actors.play(f"init\n{ASK}", ranks=4, settings={"stop": {"at": "end - 1 h"}})
    assert answers(job) == [{0}]
    assert job.stderr.count("nobody says when the job ends") == 1, job


BAD = {
    "a signal": ({"signals": "SIGNONE"}, ("stop.signals", "SIGNONE", "USR1")),
    "a day": ({"at": "2026-02-30T10:00"}, ("stop.at", "2026-02-30", "2026-11-23")),
    "a time": ({"at": "tomorrow"}, ("stop.at", "tomorrow", "2026-")),
    "a duration": ({"at": "end - 5 parsecs"}, ("stop.at", "5 parsecs", "10 min")),
}


@pytest.mark.parametrize("trouble", BAD)
def test_bad_settings_are_refused(actors: Actors, trouble: str) -> None:
    settings, words = BAD[trouble]
    job = actors.play("init\n", ranks=3, settings={"stop": settings})
    assert {entry["code"] for entry in job.calls("init")} == {INVALID_SETTING}, job
    for word in words:
        assert word in job.calls("init")[0]["story"], job


WRITE = """
open out {kind}
define out u int64 256x256
put out u
end_step out
"""


@pytest.mark.parametrize(
    "settings", [{}, {"transport": {"kind": "message"}, "stop": {"signals": "TERM"}}]
)
def test_servers_outlive_sigterm(actors: Actors, settings: dict[str, Any]) -> None:
    """The compute ranks go on for longer than the grace, and so all is written."""
    text = "init\nbarrier\n@0 signal 2 TERM\n@0 signal 3 TERM\nbarrier\n"
    text += WRITE.format(kind="series") + "pause 0.6\nput out u\nend_step out\nclose out\n"
    settings = {**settings, "files": {"out": file_settings("posix", path="out.dat")}}
    settings["stop"] = {"grace": "0.2 s", **settings.get("stop", {})}
    job = actors.play(text, ranks=4, settings=settings, alone=True)
    assert job.status == 0 and not job.failures(), job
    assert check_file(job.folder / "out.dat") == {0, 1}


@pytest.mark.parametrize(("back_end", "kind"), [("posix", "series"), ("hdf5", "checkpoint")])
def test_servers_finish_what_is_complete_after_sigterm(
    actors: Actors, back_end: str, kind: str
) -> None:
    """The whole job gets SIGTERM while servers write: what all ranks have ended is there."""
    ending = "h5" if back_end == "hdf5" else "dat"
    text = "".join(f"@{server} fault pwrite SLOW path=out\n" for server in (2, 3)) + "init\n"
    text += WRITE.format(kind=kind) + "wait out handed_over\nbarrier\n"
    text += "@0 signal 2 TERM\n@0 signal 3 TERM\n@1 signal 1 TERM\n@0 signal 0 TERM\npause 9\n"
    settings = {
        "transport": {"kind": "shared"},
        "files": {"out": file_settings(back_end, path=f"out.{ending}")},
    }
    job = actors.play(text, ranks=4, settings=settings, alone=True)
    assert job.status != 0, job
    name = f"out.{ending}" if kind == "series" else f"out.000000.{ending}"
    assert check_file(job.folder / name) == {0}, job


@pytest.mark.parametrize("mode", ["async", "kernel"])
def test_mpi_finalize_without_iocomp_finalize_is_told(actors: Actors, mode: str) -> None:
    """Nobody hangs, servers leave, and what is lost is named."""
    text = "init\n" + WRITE.format(kind="series") + "wait_step out 0\nput out u\nleave_by_mpi\n"
    settings = {**mode_settings(mode), "files": {"out": file_settings("posix", path="out.dat")}}
    job = actors.play(text, ranks=4, settings=settings, alone=True, seconds=20)
    assert job.status == 0, job
    assert len(job.calls("mpi_finalize")) == (2 if mode == "async" else 4), job
    assert job.stderr.count("MPI_Finalize was called without iocomp_finalize") == 1, job
    assert 'file "out" was not closed: what was put into it from step 1 on is lost' in job.stderr
    assert check_whole_or_absent(job.folder / "out.dat", committed={0}, failed={1}) == {0}


def test_mpi_finalize_loses_no_step_that_servers_have(actors: Actors) -> None:
    text = "init\n" + WRITE.format(kind="series") + "wait out handed_over\nleave_by_mpi\n"
    settings = {"files": {"out": file_settings("hdf5", path="out.h5")}}
    job = actors.play(text, ranks=4, settings=settings, alone=True, seconds=20)
    assert job.status == 0, job
    assert "from step 1 on is lost" in job.stderr, job
    assert check_file(Path(job.folder / "out.h5")) == {0}


@pytest.mark.parametrize("way", ["kernel", "shared", "message"])
def test_calls_after_mpi_finalize_are_told(actors: Actors, way: str) -> None:
    """As those of destructors in C++: they call no MPI."""
    text = "init\n" + WRITE.format(kind="series") + "leave_by_mpi late=yes\n"
    settings = {
        **({"placement": {"servers": "none"}} if way == "kernel" else {"transport": {"kind": way}}),
        "files": {"out": file_settings("posix", path="out.dat")},
    }
    job = actors.play(text, ranks=4, settings=settings, alone=True, seconds=20)
    assert job.status == 0, job
    late = job.calls("late_finalize")
    assert len(late) == (4 if way == "kernel" else 2), job
    assert all(entry["code"] != 0 and "MPI_Finalize" in entry["story"] for entry in late), job
    assert all(entry["closed"] != 0 for entry in late), job


def test_mpi_finalize_with_closed_files_loses_nothing(actors: Actors) -> None:
    text = "init\n" + WRITE.format(kind="series") + "close out\nleave_by_mpi\n"
    settings = {"files": {"out": file_settings("posix", path="out.dat")}}
    job = actors.play(text, ranks=4, settings=settings, alone=True, seconds=20)
    assert job.status == 0 and "lost" not in job.stderr, job
    assert check_file(job.folder / "out.dat") == {0}


@pytest.mark.parametrize("mode", ["async", "kernel", "sync"])
@pytest.mark.parametrize("leaver", [0, 1])
def test_one_rank_that_calls_mpi_finalize_too_early_is_told_to_the_others(
    actors: Actors, mode: str, leaver: int
) -> None:
    """No call waits for it."""
    text = "init\n" + WRITE.format(kind="series") + f"@{leaver} leave_by_mpi\npause 1\n"
    text += "put out u\nend_step out\nclose out\nfinalize\n"
    settings = {**mode_settings(mode), "files": {"out": file_settings("posix", path="out.dat")}}
    job = actors.play(text, ranks=4, settings=settings, alone=True, seconds=30)
    assert job.status == 0, job
    for rank in {0, 1, 2, 3} - {leaver} if mode != "async" else {1 - leaver}:
        told = [entry["story"] for entry in job.failures() if entry["compute_rank"] == rank]
        assert any(
            "MPI_Finalize" in story and f"compute rank {leaver}" in story for story in told
        ), job
    assert len(job.calls("finalize")) == (1 if mode == "async" else 3), job
    assert all(entry["seconds"] < 5 for entry in job.calls("finalize")), job
