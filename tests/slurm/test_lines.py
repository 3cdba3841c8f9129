# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that Slurm starts by the line that `iocomp map` printed sit as asked: the library reads it back.

Run beside a cluster (with_cluster): partition small has nodes of 2 CPUs, archer those of ARCHER2 with virtual CPU masks.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from collections.abc import Iterator

import pytest
from actors import OK, Actors, Build, Job
from test_placement import read

TWO_CORES = "pack:1 l3:1 core:2 pu:1"

# The paper's table for one node: the server by compute rank, and the CPUs by rank.
PAIRED = {0: 4, 1: 5, 2: 6, 3: 7}
HYPERTHREAD = [0, 1, 2, 3, 128, 129, 130, 131]
OVERSUBSCRIBE = [0, 1, 2, 3, 0, 1, 2, 3]


@pytest.fixture(autouse=True)
def all_nodes_are_left_idle() -> Iterator[None]:
    """After every job no node is drained or down, and all can be had at once."""
    yield
    for partition in ("small", "archer"):
        words = ["srun", "--immediate=20", "--mpi=none", "--exclusive", "-p", partition, "-N2"]
        subprocess.run([*words, "true"], timeout=40, check=True)
    ask = ["sinfo", "-h", "-N", "-t", "drain,down,fail,unknown", "-o", "%N %T %E"]
    broken = subprocess.run(ask, capture_output=True, text=True, timeout=20, check=True).stdout
    assert broken == "", broken


def printed_line(build: Build, *words: str) -> str:
    """Return the line that `iocomp map` prints."""
    command = [build.command, "map", "--launcher", "slurm", *words, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    line = json.loads(done.stdout)["launch"]
    assert line.endswith(" ./program"), line
    return line


def run_line(
    actors: Actors, partition: str, nodes: int, ranks: int, line: str, allocate: bool = True
) -> Job:
    """Run the line in an allocation of whole nodes, or let it allocate; ./program is the actor."""
    folder = actors.folder / "job"
    folder.mkdir()
    environment = {
        "SLURM_MPI_TYPE": "pmi2" if actors.build.mpi == "mpich" else "pmix",
        "OMPI_MCA_btl_tcp_if_include": "lo",
        "OMPI_MCA_mpi_yield_when_idle": "1",
    }
    words = ["env"]
    if partition == "archer":  # the programs see the virtual node as its slurmd does
        words += [f"LD_PRELOAD={os.environ['VIRTUAL_AFFINITY_SHIM']}", "HWLOC_THISSYSTEM=1"]
        words += [f"HWLOC_SYNTHETIC={os.environ['ARCHER2_NODE']}"]
    else:
        words += [f"HWLOC_SYNTHETIC={TWO_CORES}"]
    # The actor and its arguments follow the line; the program takes them from the environment.
    program = folder / "program"
    program.write_text(f"#!/bin/sh\nexec {shlex.join(words)} $ACTOR\n")
    program.chmod(0o755)
    allocation = ["salloc", "-Q", "-p", partition, "--exclusive", f"--nodes={nodes}"]
    start = ["bash", "-c", f'export ACTOR="$*"; {line}', "bash"]
    return actors.play(
        "init\nfinalize\n",
        ranks=ranks,
        launcher=[*allocation, *start] if allocate else start,
        settings={"placement": {"report": "seats"}},
        environment=environment,
        folder=folder,
        seconds=60,
    )


CASES = {
    "consecutive on one node": (
        "small", 1, ["--mapping=consecutive", "--ranks=2", f"--topology={TWO_CORES}"],
        ["n0"] * 2, [0, 1], {0: 1},
    ),
    "oversubscribe, more ranks than CPUs": (
        "small", 1, ["--mapping=oversubscribe", "--ranks=4", f"--topology={TWO_CORES}"],
        ["n0"] * 4, [0, 1, 0, 1], {0: 2, 1: 3},
    ),
    "consecutive on both nodes": (
        "small", 2,
        ["--mapping=consecutive", "--ranks=4", "--nodes=2", f"--topology={TWO_CORES}"],
        ["n0", "n0", "n1", "n1"], [0, 1, 0, 1], {0: 1, 2: 3},
    ),
    "every second node serves": (
        "small", 2,
        ["--mapping=nodes", "--every=2", "--ranks=4", "--nodes=2", f"--topology={TWO_CORES}"],
        ["n0", "n0", "n1", "n1"], [0, 1, 0, 1], {0: 2, 1: 3},
    ),
    "hyperthread": (
        "archer", 1, ["--mapping=hyperthread", "--ranks=8", "--topology=archer2"],
        ["a0"] * 8, HYPERTHREAD, PAIRED,
    ),
    "oversubscribe": (
        "archer", 1, ["--mapping=oversubscribe", "--ranks=8", "--topology=archer2"],
        ["a0"] * 8, OVERSUBSCRIBE, PAIRED,
    ),
    "hyperthread on two nodes": (
        "archer", 2, ["--mapping=hyperthread", "--ranks=8", "--nodes=2", "--topology=archer2"],
        ["a0"] * 4 + ["a1"] * 4, [0, 1, 128, 129] * 2, {0: 2, 1: 3, 4: 6, 5: 7},
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("partition", "nodes", "words", "hosts", "cpus", "servers"), CASES.values(), ids=CASES.keys()
)
def test_the_printed_line_seats_the_ranks_as_asked(
    actors: Actors,
    partition: str,
    nodes: int,
    words: list[str],
    hosts: list[str],
    cpus: list[int],
    servers: dict[int, int],
) -> None:
    line = printed_line(actors.build, *words)
    job = run_line(actors, partition, nodes, len(cpus), line)
    assert job.status == 0, job
    assert {entry["code"] for entry in job.calls("init")} == {OK}, job
    assert "placement.mapping" not in job.output, job  # no warning
    about, rows = read(job.folder / "seats")
    assert about["asked"] == words[0].split("=")[1]
    assert [row[2] for row in rows] == hosts, job
    assert [row[4] for row in rows] == [str(cpu) for cpu in cpus], job
    assert {int(row[0]): int(row[5]) for row in rows if row[5] != "-"} == servers


@pytest.mark.parametrize("case", ["consecutive on one node", "hyperthread", "oversubscribe"])
def test_a_line_without_its_binding_is_told(actors: Actors, case: str) -> None:
    partition, nodes, words, _, cpus, _ = CASES[case]
    kept = [
        "--cpu-bind=none" if word.startswith("--cpu-bind=") else word
        for word in shlex.split(printed_line(actors.build, *words))
    ]
    assert "--cpu-bind=none" in kept
    job = run_line(actors, partition, nodes, len(cpus), shlex.join(kept))
    assert job.status == 0, job
    mapping = words[0].split("=")[1]
    assert f'placement.mapping = "{mapping}", but the ranks sit as unbound' in job.output, job
    assert f"iocomp map --mapping {mapping} --ranks {len(cpus)}" in job.output, job


def test_nodes_that_are_filled_differently_become_one_job(actors: Actors) -> None:
    """The line allocates its parts: in one allocation Slurm 22.05's pmi2 never joins them."""
    words = ["--mapping=consecutive", "--ranks=3", "--nodes=2", f"--topology=2*{TWO_CORES}"]
    line = printed_line(actors.build, *words)
    assert " : " in line
    job = run_line(actors, "small", 2, 3, line, allocate=False)
    assert job.status == 0, job
    _, rows = read(job.folder / "seats")
    assert [(row[2], row[4]) for row in rows] == [("n0", "0"), ("n0", "1"), ("n1", "0")], job
