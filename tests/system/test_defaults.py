# SPDX-License-Identifier: BSD-3-Clause
"""A job that asks for nothing: all ranks compute, and one line says so."""

from __future__ import annotations

from typing import Any

import pytest
from actors import Actors, Job
from files import check_file

FILES = {"out": {"path": "out.dat"}, "next": {"path": "next.dat"}}
BEGIN = "iocomp 0."


def play(actors: Actors, settings: dict[str, Any], names: tuple[str, ...] = ("out",)) -> Job:
    lines = ["init"]
    for name in names:
        lines += [f"open {name} series", f"define {name} u int64 64x64", f"put {name} u"]
        lines += [f"end_step {name}", f"close {name}"]
    nothing_asked = {"placement": {"servers": ""}, "trace": {"lines": "start"}}
    job = actors.play(
        "\n".join(lines), ranks=4, settings={**nothing_asked, "files": FILES, **settings}
    )
    assert job.status == 0 and not job.failures(), job
    assert check_file(job.folder / "out.dat") == {0}
    return job


def start_line(job: Job) -> str:
    """Return the line, which one rank prints, once."""
    (line,) = [line for line in job.stderr.splitlines() if line.startswith(BEGIN)]
    return line.partition(": ")[2]


def test_all_ranks_compute_and_the_kernel_writes(actors: Actors) -> None:
    job = play(actors, {}, ("out", "next"))
    assert len(job.calls("close", file="out")) == 4, job
    assert start_line(job) == "4 compute ranks, no servers, kernel; out → out.dat (posix)"
    assert len(job.stderr.splitlines()) == 1, job


ASKED = {
    "a ratio": ({"placement": {"servers": "1 per 3"}}, 3),
    "a number": ({"placement": {"servers": "2 per node"}}, 2),
    "a list": ({"placement": {"servers": [0]}}, 3),
    "a policy": ({"placement": {"policy": "tail"}}, 2),
    "groups": ({"placement": {"node_size": 2}}, 2),
    "a mapping": ({"placement": {"mapping": "node"}}, 2),
    "messages": ({"transport": {"kind": "message"}}, 2),
    "shared memory": ({"transport": {"kind": "shared"}}, 2),
}


@pytest.mark.parametrize("asked", ASKED)
def test_servers_come_when_they_are_asked_for(actors: Actors, asked: str) -> None:
    settings, compute_ranks = ASKED[asked]
    if "placement" in settings:
        settings["placement"].setdefault("servers", "")
    job = play(actors, settings)
    assert len(job.calls("close", file="out")) == compute_ranks, job
    servers = 4 - compute_ranks
    told = f"{compute_ranks} compute ranks, {servers} server{'s' * (servers > 1)}, "
    assert start_line(job).startswith(told), job


@pytest.mark.parametrize(
    "unasked", [{"placement": {"servers": "none", "policy": "halves"}}, {"mode": "sync"}]
)
def test_modes_without_servers_have_none(actors: Actors, unasked: dict[str, Any]) -> None:
    job = play(actors, unasked)
    assert len(job.calls("close", file="out")) == 4, job
    how = "synchronous" if "mode" in unasked else "kernel"
    assert start_line(job).startswith(f"4 compute ranks, no servers, {how};"), job


def test_what_becomes_synchronous_is_told_once(actors: Actors) -> None:
    by_mpi = {name: {**file, "backend": "mpiio"} for name, file in FILES.items()}
    job = play(actors, {"files": by_mpi}, ("out", "next"))
    story = "files of mpiio are written by MPI-IO, so synchronously"
    assert f"out → out.dat (mpiio); {story}" in start_line(job), job
    assert f'file "next": {story}' in job.stderr, job
    assert job.stderr.count(story) == 2, job


def test_a_file_that_is_asked_to_be_synchronous_is_told(actors: Actors) -> None:
    job = play(actors, {"files": {"out": {**FILES["out"], "mode": "sync"}}})
    assert start_line(job).endswith("kernel; out → out.dat (posix, synchronous)"), job


def test_the_line_can_be_turned_off(actors: Actors) -> None:
    job = play(actors, {"trace": {"lines": "none"}})
    assert job.stderr == "", job


WITH_SERVERS = {"placement": {"servers": "1 per 1"}, "trace": {"lines": "start"}, "files": FILES}
HINT = "no compute rank has called iocomp in the 1 s since iocomp_init"


def test_with_servers_the_line_comes_before_a_file_is_opened(actors: Actors) -> None:
    """A program that hangs in a call that servers do not make may never open one."""
    job = actors.play("init\nfinalize\n", ranks=4, settings=WITH_SERVERS)
    assert start_line(job).startswith("2 compute ranks, 2 servers, "), job
    assert HINT not in job.stderr, job


@pytest.mark.parametrize("transport", ["shared", "message"])
@pytest.mark.parametrize("calls", [False, True], ids=["silent", "heard"])
def test_what_is_likely_is_told_once_if_nobody_calls(
    actors: Actors, transport: str, calls: bool
) -> None:
    """After a minute, or a tenth of the deadline."""
    opened = "open out series\nprogress\n" if calls else ""
    job = actors.play(
        f"init\n{opened}pause 2.5\n",
        ranks=4,
        settings={**WITH_SERVERS, "transport": {"kind": transport}},
        environment={"IOCOMP_WAIT_DEADLINE": "10"},
    )
    assert job.status == 0 and not job.failures(), job
    assert job.stderr.count(HINT) == (0 if calls else 1), job
