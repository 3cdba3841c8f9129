# SPDX-License-Identifier: BSD-3-Clause
"""Ranks of `iocomp launch` sit as asked: the library finds nothing to warn of, and agrees."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from actors import OK, Actors
from files import check_file
from test_placement import CORES, PACKAGES, SIBLINGS, read

pytestmark = pytest.mark.skipif(
    not {0, 1} <= os.sched_getaffinity(0), reason="CPUs 0 and 1 are needed"
)

SEATS = [
    ("consecutive", 2, CORES, [0, 1], {0: 1}),
    ("oversubscribe", 2, CORES, [0, 0], {0: 1}),
    ("oversubscribe", 4, CORES, [0, 1, 0, 1], {0: 2, 1: 3}),
    ("hyperthread", 2, SIBLINGS, [0, 1], {0: 1}),
    ("l3", 2, CORES, [0, 1], {0: 1}),
    ("node", 2, PACKAGES, [0, 1], {0: 1}),
    ("sequential", 2, CORES, [0, 1], {}),
]


@pytest.mark.parametrize(("mapping", "ranks", "machine", "cpus", "servers"), SEATS)
def test_the_ranks_sit_as_asked(
    actors: Actors,
    mapping: str,
    ranks: int,
    machine: dict[str, str],
    cpus: list[int],
    servers: dict[int, int],
) -> None:
    topology = machine["HWLOC_SYNTHETIC"]
    seen = ["env", f"HWLOC_SYNTHETIC={topology}"]  # by the library, not by the launcher
    launch = [actors.build.command, "launch", "--launcher", actors.build.mpi, "--mapping", mapping]
    job = actors.play(
        "init\nfinalize\n",
        ranks=ranks,
        launcher=[*launch, "--ranks", str(ranks), "--topology", topology, "--", *seen],
        settings={"placement": {"strict": True, "report": "seats"}},
    )
    assert job.status == 0, job
    assert {entry["code"] for entry in job.calls("init")} == {OK}, job
    about, rows = read(job.folder / "seats")
    assert about["asked"] == mapping
    assert [int(row[4]) for row in rows] == cpus
    assert {int(row[0]): int(row[5]) for row in rows if row[5] != "-"} == servers


def test_the_kernel_writes_where_there_are_no_servers(actors: Actors) -> None:
    """`--kernel` starts the job without servers, and still asynchronously."""
    launch = [actors.build.command, "launch", "--launcher", actors.build.mpi]
    job = actors.play(
        "init\nopen out series\ndefine out u int64 64x64\nput out u\nend_step out\nclose out\n",
        ranks=2,
        launcher=[*launch, *"--mapping sequential --kernel --ranks 2 --topology".split(),
                  CORES["HWLOC_SYNTHETIC"], "--"],
        settings={"trace": {"json": "trace.json"}},
    )  # fmt: skip
    assert not job.failures(), job
    assert check_file(job.folder / "out.bin") == {0}
    trace = json.loads((job.folder / "trace.json").read_text())
    assert trace["servers"] == 0, job
    assert trace["transport"].startswith("kernel"), job


def runs(process: str) -> bool:
    """Return whether a process is there and has not ended."""
    status = Path("/proc", process, "status")
    try:
        return "State:\tZ" not in status.read_text()
    except OSError:
        return False


@pytest.mark.parametrize("sent", [signal.SIGUSR1, signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_job_and_nothing_stays(actors: Actors, sent: signal.Signals) -> None:
    """A batch system sends SIGUSR1 before the walltime ends, as Slurm's --signal does."""
    words = [actors.build.command, "launch", "--launcher", actors.build.mpi]
    how = ["--mapping", "oversubscribe", "--ranks", "2", "sh", "-c", "echo $$ > $$.pid; sleep 60"]
    with subprocess.Popen(
        [*words, *how], cwd=actors.folder, env=os.environ | {"TMPDIR": str(actors.folder)}
    ) as job:
        while len(list(actors.folder.glob("*.pid"))) < 2:
            time.sleep(0.05)
        job.send_signal(sent)
        assert job.wait(timeout=30) > 0  # it ends by itself, not by the signal
    until = time.monotonic() + 20
    while any(runs(rank.stem) for rank in actors.folder.glob("*.pid")):
        assert time.monotonic() < until, "ranks live on"
        time.sleep(0.1)
    assert not list(actors.folder.glob("iocomp-??????"))


def test_what_comes_behind_the_program_is_its_own(actors: Actors) -> None:
    words = [actors.build.command, "launch", "--launcher", actors.build.mpi, "--ranks", "2"]
    job = subprocess.run(
        [*words, "--mapping", "oversubscribe", "echo", "--ranks", "7", "--dry-run"],
        capture_output=True, check=True, text=True,
    )  # fmt: skip
    assert job.stdout == "--ranks 7 --dry-run\n" * 2


@pytest.mark.parametrize("by_kernel", [False, True], ids=["sync", "kernel"])
def test_it_is_told_that_sequential_ranks_wait(actors: Actors, by_kernel: bool) -> None:
    launch = [actors.build.command, "launch", "--launcher", actors.build.mpi]
    how = ["--mapping", "sequential", "--ranks", "2", *(["--kernel"] if by_kernel else [])]
    job = actors.play("init\nfinalize\n", ranks=2, launcher=[*launch, *how, "--"])
    told = "--mapping sequential writes synchronously"
    assert job.stderr.count(told) == (0 if by_kernel else 1), job
