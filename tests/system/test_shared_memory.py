# SPDX-License-Identifier: BSD-3-Clause
"""The transport between ranks of a node: where it cannot be set up, what it leaves, other nodes."""

from __future__ import annotations

import json
import os
import re
import platform
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from actors import OUT_OF_STAGING, Actors, Job, no_nodes, over_nodes
from files import check_file

HERE = Path(__file__).resolve().parent
# The MPI shall not need the small /dev/shm, nor the call that is refused.
MPI_ELSEWHERE = {
    "OMPI_MCA_btl_vader_backing_directory": "/tmp",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_osc": "pt2pt",
    "UCX_POSIX_DIR": "/tmp",
}
SCRIPT = "\n".join(
    ["init", "open out series", "define out u float64 512x512"]
    + ["put out u by=columns", "end_step out", "put out u by=rows", "end_step out", "close out"]
)

may_mount = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("unshare") is None, reason="mounts need root and unshare"
)


def with_shm_of(size: str) -> list[str]:
    mount = f'mount -t tmpfs -o size={size} none /dev/shm || exit 77; "$@"; status=$?; '
    return ["unshare", "--mount", "sh", "-c", mount + "ls -A /dev/shm > left; exit $status", "sh"]


def trace(job: Job) -> dict[str, Any]:
    return json.loads((job.folder / "trace.json").read_text())


def settings(segment: str = "auto", way: str = "auto", **transport: object) -> dict[str, Any]:
    tests = {"segment": segment, "way": way}
    return {"transport": transport, "test": tests, "trace": {"json": "trace.json"}}


@may_mount
def test_a_small_shm_is_an_error_that_names_it(actors: Actors) -> None:
    job = actors.play(
        "init",
        ranks=4,
        settings=settings(kind="shared", segment="shm"),
        prefix=with_shm_of("64k"),
        environment=MPI_ELSEWHERE,
    )
    told = job.calls("init")
    assert [entry["code"] for entry in told] == [OUT_OF_STAGING] * 4, job
    for entry in told:
        assert re.search(r"/dev/shm has \d+ KiB free", entry["story"]), job
        assert "are needed" in entry["story"], job


@may_mount
def test_ranks_in_pid_namespaces_of_their_own_do_not_read_one_another(actors: Actors) -> None:
    """Each is process 1 there: whoever pulls from process 1 reads its own memory."""
    if actors.build.mpi != "openmpi":
        pytest.skip("MPICH finds its neighbours by their process ids")
    apart = ["unshare", "--pid", "--fork", "--mount-proc"]
    job = actors.play(
        SCRIPT,
        ranks=4,
        settings=settings(kind="shared"),
        launcher=[*actors.build.launcher, "4", *apart],
        environment=MPI_ELSEWHERE | {"OMPI_MCA_btl": "tcp,self"},
    )
    assert not job.failures(), job
    assert check_file(job.folder / "out.bin") == {0, 1}
    assert trace(job)["transport"].startswith("shared"), trace(job)
    assert "is refused" in job.output, job


@may_mount
def test_a_small_shm_makes_auto_send_messages(actors: Actors) -> None:
    job = actors.play(
        SCRIPT,
        ranks=4,
        settings=settings(segment="shm"),
        prefix=with_shm_of("64k"),
        environment=MPI_ELSEWHERE,
    )
    assert not job.failures(), job
    assert "transport message instead of shared" in job.output, job
    assert check_file(job.folder / "out.bin") == {0, 1}
    assert trace(job)["transport"].startswith("message"), trace(job)
    assert "/dev/shm has" in trace(job)["transport"]


@may_mount
@pytest.mark.parametrize("ending", ["close out", "@0 kill 2", "@0 kill 1"])
def test_nothing_stays_in_shm_however_the_job_ends(actors: Actors, ending: str) -> None:
    script = SCRIPT.replace("close out", f"barrier\n{ending}\nput out u by=columns\nclose out")
    if ending == "close out":
        script = SCRIPT
    job = actors.play(
        script,
        ranks=4,
        settings=settings(kind="shared", segment="shm"),
        prefix=with_shm_of("64m"),
        seconds=60,
    )
    assert (job.status == 0) == (ending == "close out"), job
    left = (job.folder / "left").read_text().split()
    assert not [name for name in left if "iocomp" in name], left


@pytest.mark.skipif(
    platform.machine() not in ("x86_64", "aarch64"), reason="the number of the call is not known"
)
@pytest.mark.parametrize("way", ["pull", "auto"])
def test_blocks_arrive_where_reading_other_processes_is_refused(actors: Actors, way: str) -> None:
    job = actors.play(
        SCRIPT,
        ranks=4,
        settings=settings(kind="shared", way=way),
        launcher=[*actors.build.launcher, "4", sys.executable, str(HERE / "without_pull.py")],
        environment=MPI_ELSEWHERE,
    )
    assert not job.failures(), job
    assert job.status == 0, job
    assert check_file(job.folder / "out.bin") == {0, 1}
    counted = trace(job)["server_sum"]
    assert counted["pulled_bytes"] == 0, counted
    assert counted["message_bytes"] > 0, counted


@pytest.mark.parametrize(("way", "counter"), [("pull", "pulled_bytes"), ("staged", "staged_bytes")])
def test_all_bytes_go_the_way_that_was_asked_for(actors: Actors, way: str, counter: str) -> None:
    job = actors.play(SCRIPT, ranks=4, settings=settings(kind="shared", way=way))
    assert not job.failures(), job
    counted = trace(job)["server_sum"]
    assert counted[counter] == 2 * 512 * 512 * 8, counted
    assert trace(job)["transport"].startswith("shared, memfd"), trace(job)


@pytest.mark.parametrize(
    ("way", "buffer_memory"),
    [
        ("pull", "1 GiB"),  # rows of any length
        ("auto", "64 KiB"),  # long rows, because there is no memory for copies
    ],
)
def test_servers_read_rows_where_they_lie(actors: Actors, way: str, buffer_memory: str) -> None:
    lines = ["init", "open out series", "define out u int64 512x1024"]
    lines += ["put out u halo=2", "end_step out"] * 2
    job = actors.play(
        "\n".join([*lines, "close out"]),
        ranks=4,
        settings=settings(kind="shared", way=way) | {"client": {"buffer_memory": buffer_memory}},
    )
    assert not job.failures(), job
    assert check_file(job.folder / "out.bin") == {0, 1}
    assert trace(job)["compute_sum"]["copied_bytes"] == 0, job
    assert trace(job)["server_sum"]["pulled_bytes"] == 2 * 512 * 1024 * 8, job


def test_rows_are_copied_where_a_server_shares_the_core(actors: Actors) -> None:
    lines = ["init", "open out series", "define out u int64 512x1024"]
    lines += ["put out u halo=2", "end_step out", "close out"]
    job = actors.play("\n".join(lines), ranks=4, settings=settings(kind="shared"))
    assert not job.failures(), job
    assert trace(job)["compute_sum"]["copied_bytes"] == 512 * 1024 * 8, job


def test_two_nodes_use_both_transports_at_once(actors: Actors) -> None:
    if reason := no_nodes(actors.build):
        pytest.skip(reason)
    job = actors.play(
        SCRIPT,
        ranks=4,
        settings=settings() | {"placement": {"policy": "spread", "servers": "1 per node"}},
        launcher=[*over_nodes(actors.build, 2), "4"],
        seconds=60,
    )
    assert not job.failures(), job
    assert job.status == 0, job
    assert check_file(job.folder / "out.bin") == {0, 1}
    counted = trace(job)["server_sum"]
    assert counted["message_bytes"] > 0, counted
    assert counted["pulled_bytes"] + counted["staged_bytes"] > 0, counted
    assert "to other nodes: message" in trace(job)["transport"]
