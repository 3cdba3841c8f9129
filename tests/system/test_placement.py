# SPDX-License-Identifier: BSD-3-Clause
"""The seats of ranks: read back from the system, compared with what was asked, used by auto.

Machines that are not there are given to hwloc as synthetic text; the CPUs are real.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from pathlib import Path

import pytest
from actors import INVALID_SETTING, OK, Actors

REPORT = {"placement": {"report": "seats"}}
SIBLINGS = {"HWLOC_SYNTHETIC": "pack:1 core:1 pu:2"}
CORES = {"HWLOC_SYNTHETIC": "pack:1 l3:1 core:2 pu:1"}
PACKAGES = {"HWLOC_SYNTHETIC": "pack:2 numa:1 l3:1 core:1 pu:1"}

pytestmark = pytest.mark.skipif(
    not {0, 1} <= os.sched_getaffinity(0), reason="CPUs 0 and 1 are needed"
)


def script(*cpus: int) -> str:
    return "".join(f"@{rank} pin {cpu}\n" for rank, cpu in enumerate(cpus)) + "init\nfinalize\n"


def read(path: Path) -> tuple[dict[str, str], list[list[str]]]:
    """Return what is said of the job, and the rows."""
    lines = path.read_text().splitlines()
    about = dict(line[2:].split(": ", 1) for line in lines if line.startswith("# ") and ": " in line)
    return about, [line.split("\t") for line in lines if not line.startswith("#")]


@pytest.mark.parametrize(
    ("cpus", "machine", "mapping", "servers"),
    [
        ((0, 1), SIBLINGS, "hyperthread", {0: 1}),
        ((1, 0), SIBLINGS, "hyperthread", {1: 0}),
        ((0, 0), SIBLINGS, "oversubscribe", {0: 1}),
        ((0, 1), CORES, "consecutive", {0: 1}),
        ((0, 1), PACKAGES, "consecutive", {0: 1}),
        ((0, 1, 0, 1), CORES, "oversubscribe", {0: 2, 1: 3}),
        ((0, 0, 1, 1), CORES, "oversubscribe", {0: 1, 2: 3}),
    ],
)
def test_auto_pairs_neighbours_and_the_report_says_so(
    actors: Actors,
    cpus: tuple[int, ...],
    machine: dict[str, str],
    mapping: str,
    servers: dict[int, int],
) -> None:
    job = actors.play(script(*cpus), ranks=len(cpus), settings=REPORT, environment=machine)
    assert job.status == 0, job
    about, rows = read(job.folder / "seats")
    assert about["found"].split()[0] == mapping
    assert "where the ranks sit" in about["why"]
    assert [int(row[0]) for row in rows] == list(range(len(cpus)))
    assert [int(row[4]) for row in rows] == list(cpus)
    assert {int(row[0]): int(row[5]) for row in rows if row[1] == "compute"} == servers
    assert {int(row[0]) for row in rows if row[1] == "server"} == set(servers.values())


def test_ranks_that_are_not_bound_are_placed_in_halves(actors: Actors) -> None:
    job = actors.play("init\nfinalize\n", ranks=4, settings=REPORT)
    about, rows = read(job.folder / "seats")
    assert about["found"].startswith("unbound (2 of 2")
    assert "halves" in about["why"]
    assert [row[1] for row in rows] == ["compute", "compute", "server", "server"]


@pytest.mark.parametrize(
    ("asked", "machine", "fits"),
    [
        ("hyperthread", SIBLINGS, True),
        ("oversubscribe", SIBLINGS, False),
        ("consecutive", SIBLINGS, False),
        ("consecutive", CORES, True),
        ("l3", CORES, True),
        ("l3", PACKAGES, False),
        ("numa", PACKAGES, False),
        ("node", PACKAGES, True),
        ("nodes", CORES, False),
        ("hyperthread", CORES, False),
    ],
)
@pytest.mark.parametrize("strict", [False, True])
def test_a_mapping_that_is_not_there_is_told(
    actors: Actors, asked: str, machine: dict[str, str], fits: bool, strict: bool
) -> None:
    settings = {"placement": {"mapping": asked, "strict": strict}}
    job = actors.play(script(0, 1), ranks=2, settings=settings, environment=machine)
    assert job.status == 0, job
    inits = job.calls("init")
    if fits:
        assert "iocomp:" not in job.output, job
        assert inits[0]["code"] == OK, job
    elif strict:
        check_told(inits[0]["story"], asked)
        assert {entry["code"] for entry in inits} == {INVALID_SETTING}, job
        assert len(inits) == 2, job
    else:
        check_told(job.output, asked)
        assert inits[0]["code"] == OK, job


def test_servers_of_others_on_a_core_are_told(actors: Actors) -> None:
    """Rank 0 computes for server 2 on the other core, but shares its own with server 3."""
    settings = {
        "placement": {"policy": "halves", "node_size": 4, "mapping": "consecutive", "strict": True}
    }
    job = actors.play(script(0, 1, 1, 0), ranks=4, settings=settings, environment=CORES)
    inits = job.calls("init")
    assert {entry["code"] for entry in inits} == {INVALID_SETTING}, job
    assert "2 compute ranks share a core with the server of others" in inits[0]["story"], inits


def check_told(story: str, asked: str) -> None:
    assert f'placement.mapping = "{asked}"' in story, story
    assert "1 of 1" in story, story
    assert f"--mapping {asked} --ranks 2" in story, story


def test_synchronous_ranks_are_sequential(actors: Actors) -> None:
    settings = {"mode": "sync", "placement": {"mapping": "sequential", "report": "seats"}}
    job = actors.play(script(0, 1), ranks=2, settings=settings)
    about, rows = read(job.folder / "seats")
    assert about["found"].startswith("sequential")
    assert {row[1] for row in rows} == {"compute"}
    assert "iocomp:" not in job.output, job


def test_servers_that_are_named_serve(actors: Actors) -> None:
    settings = {"placement": {"report": "seats", "servers": [1]}}
    job = actors.play(script(0, 0, 1, 1), ranks=4, settings=settings, environment=CORES)
    about, rows = read(job.folder / "seats")
    assert "placement.servers" in about["why"]
    assert [row[1] for row in rows] == ["compute", "server", "compute", "compute"]


def test_servers_named_for_another_policy_are_refused(actors: Actors) -> None:
    settings = {"placement": {"policy": "halves", "servers": [1]}}
    job = actors.play("init\n", ranks=4, settings=settings)
    inits = job.calls("init")
    assert {entry["code"] for entry in inits} == {INVALID_SETTING}, job
    assert 'placement.policy is "auto"' in inits[0]["story"]
    assert 'set to "halves"' in inits[0]["story"]


def test_a_report_that_cannot_be_written_is_told_to_all(actors: Actors) -> None:
    job = actors.play(
        "init\n", ranks=4, settings={"placement": {"report": "nowhere/seats"}}
    )
    inits = job.calls("init")
    assert {entry["code"] for entry in inits} == {INVALID_SETTING}, job
    assert len(inits) == 4, job
    assert "nowhere/seats" in inits[0]["story"]


def test_servers_stand_back_as_far_as_they_are_told(actors: Actors) -> None:
    seen: dict[str, set[int]] = {}

    def look(process: subprocess.Popen[str], journals: Path) -> None:
        while process.poll() is None:
            for task in Path("/proc").glob("[0-9]*/task/*/stat"):
                with contextlib.suppress(OSError):
                    of_job = str(journals).encode() in (task.parents[2] / "cmdline").read_bytes()
                    name, _, rest = task.read_text().rpartition(")")
                    if of_job and name.endswith("(actor"):
                        seen.setdefault(task.parents[2].name, set()).add(int(rest.split()[16]))
            time.sleep(0.02)

    job = actors.play(
        "init\npause 1\nfinalize\n", ranks=3,
        settings={"placement": {"servers": "1 per 2"}, "server": {"nice": 7}}, meanwhile=look,
    )  # fmt: skip
    assert job.status == 0, job
    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert sorted(max(found) - own for found in seen.values()) == [0, 0, 7], seen
