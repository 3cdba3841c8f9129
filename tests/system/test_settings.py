# SPDX-License-Identifier: BSD-3-Clause
"""Settings and placements that are impossible: all ranks are told the same, and can go on."""

from __future__ import annotations

import pytest
from actors import INVALID_SETTING, OK, Actors, Job
from files import check_file, file_settings

SCRIPT = "init\n"


def check_refused(job: Job, ranks: int, *words: str) -> None:
    inits = job.calls("init")
    assert len(inits) == ranks, job
    assert {entry["code"] for entry in inits} == {INVALID_SETTING}, job
    assert len({entry["story"] for entry in inits}) == 1, job
    for word in words:
        assert word in inits[0]["story"], inits[0]
    assert len(job.calls("end")) == ranks, job  # each left through MPI_Finalize
    assert job.status == 0, job


BAD_FILES = {
    "an unknown key": ({"stagin": {"memory": "1 GiB"}}, ("stagin", "staging", "iocomp.toml")),
    "an unknown key of a file": (
        {"files": {"out": {"back_end": "posix"}}},
        ("back_end", "backend", "iocomp.toml"),
    ),
    "a bad choice": ({"mode": "quick"}, ('mode = "quick"', "async", "sync", "iocomp.toml")),
    "a bad size": ({"staging": {"memory": "much"}}, ("staging.memory", "much")),
    "a bad number": ({"writing": {"threads": 0}}, ("writing.threads", "1")),
    "a bad type": ({"placement": {"strict": "perhaps"}}, ("placement.strict", "perhaps")),
    "no staging memory": ({"staging": {"memory": "4 KiB"}}, ("staging.memory", "4 KiB")),
}


@pytest.mark.parametrize("trouble", BAD_FILES)
def test_bad_settings(actors: Actors, trouble: str) -> None:
    settings, words = BAD_FILES[trouble]
    check_refused(actors.play(SCRIPT, ranks=4, settings=settings), 4, *words)


def test_a_bad_variable(actors: Actors) -> None:
    job = actors.play(SCRIPT, ranks=3, environment={"IOCOMP_PLACEMENT_SERVERS": "some"})
    check_refused(job, 3, "IOCOMP_PLACEMENT_SERVERS", "some")


GONE = {
    "in a file": ({"trace": {"summary": False}}, {}, ("trace.summary (iocomp.toml:", "trace.lines")),
    "in a variable": ({}, {"IOCOMP_PLACEMENT_RATIO": "4"}, ("IOCOMP_PLACEMENT_RATIO", "1 per 4")),
}


@pytest.mark.parametrize("where", GONE)
def test_a_key_of_an_earlier_release_names_what_serves_now(actors: Actors, where: str) -> None:
    settings, environment, words = GONE[where]
    job = actors.play(SCRIPT, ranks=3, settings=settings, environment=environment)
    check_refused(job, 3, "is gone", *words)


def test_variables_of_others_are_warned_of_by_one_rank(actors: Actors) -> None:
    theirs = {"IOCOMP_HOME": "/opt/iocomp", "IOCOMP_VERSION": "3.1", "IOCOMP_LOG": "warning"}
    job = actors.play(SCRIPT, ranks=3, environment=theirs)
    assert job.status == 0 and not job.failures(), job
    for name in ("IOCOMP_HOME", "IOCOMP_VERSION"):
        assert job.output.count(f"unknown setting {name} (environment)") == 1, job


def test_settings_that_are_no_toml(actors: Actors) -> None:
    folder = actors.folder / "broken"
    folder.mkdir()
    (folder / "settings").write_text("mode = \n")
    job = actors.play(SCRIPT, ranks=2, environment={"IOCOMP_CONFIG": str(folder / "settings")})
    check_refused(job, 2, str(folder / "settings"))


BAD_PLACEMENTS = {
    "one rank alone": (1, {}, ("1",)),
    "more servers than compute ranks": (
        4,
        {"policy": "spread", "servers": "3 per node"},
        ("servers", "compute"),
    ),
    "all ranks are servers": (4, {"policy": "packed", "servers": "4 per node"}, ("servers",)),
    "a rank that does not exist": (4, {"servers": [1, 7]}, ("7",)),
    "a rank twice": (4, {"servers": [1, 1]}, ("1",)),
    "a number alone": (4, {"servers": 2}, ("placement.servers", "per node")),
    "a list of all": (4, {"servers": [0, 1, 2, 3]}, ("compute",)),
}


@pytest.mark.parametrize("trouble", BAD_PLACEMENTS)
def test_impossible_placements(actors: Actors, trouble: str) -> None:
    ranks, placement, words = BAD_PLACEMENTS[trouble]
    check_refused(actors.play(SCRIPT, ranks=ranks, settings={"placement": placement}), ranks, *words)


def test_one_rank_alone_can_be_synchronous(actors: Actors) -> None:
    text = "init\nopen out series\ndefine out u int64 4x4\nput out u\nclose out\n"
    job = actors.play(text, ranks=1, settings={"mode": "sync"})
    assert not job.failures(), job


def test_an_unknown_back_end_is_told_by_open(actors: Actors) -> None:
    for mode in ("async", "sync"):
        job = actors.play(
            "init\nopen out series\nopen next series\nclose next\n",
            ranks=4,
            settings={"mode": mode, "files": {"out": {"backend": "papyrus"}}},
        )
        opens = job.calls("open", file="out")
        assert all(entry["code"] != OK for entry in opens), job
        assert len({entry["story"] for entry in opens}) == 1, job
        assert "papyrus" in opens[0]["story"], opens[0]
        assert job.failures() == opens, job
        assert job.status == 0, job


def test_what_mpi_io_writes_is_synchronous_without_servers(actors: Actors) -> None:
    """The bytes are those of posix, and a warning says what became of the kernel."""
    written = []
    for back_end in ("mpiio", "posix"):
        job = actors.play(
            "init\nopen out series\ndefine out u float64 64x64\n"
            + "put out u by=columns\nend_step out\n" * 2
            + "close out\n",
            ranks=3,
            settings={
                "placement": {"servers": "none"},
                "files": {"out": file_settings(back_end, path="out.dat")},
            },
            environment={"IOCOMP_LOG": "warning"},
        )
        assert job.status == 0 and not job.failures(), job
        assert check_file(job.folder / "out.dat") == {0, 1}
        told = "files of mpiio are written by MPI-IO, so synchronously"
        assert (told in job.output) == (back_end == "mpiio"), job
        written.append((job.folder / "out.dat").read_bytes())
    assert written[0] == written[1]
