# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that stop in time, and start themselves again: what docs/restart.md promises of Slurm.

Run beside a cluster (with_cluster), as test_lines.py.
"""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest
from actors import Actors
from test_death import lives_on

JOB = """#!/bin/bash
#SBATCH --partition=small --nodes=1 --ntasks=2 --overcommit
#SBATCH --time=5 --requeue --open-mode=append --output={folder}/output
export IOCOMP_STOP_SIGNALS=SIGUSR1 PMIX_MCA_gds=hash
journals={folder}/journals$SLURM_RESTART_COUNT
mkdir -p "$journals"
cd {folder}
srun --mpi={mpi} --overcommit --cpu-bind=none {actor} {folder}/script "$journals"
status=$?
if grep -q '"stop":1' "$journals/rank0.jsonl"; then  # it stopped in time, and there is more to do
  scontrol requeue "$SLURM_JOB_ID"
fi
exit $status
"""
ASKS = 12
LIMIT_SECONDS = 200


def answers(journals: Path, rank: int) -> list[int]:
    """Return what a rank was told when it asked."""
    lines = (journals / f"rank{rank}.jsonl").read_text().splitlines()
    entries = [json.loads(line) for line in lines]
    return [entry["stop"] for entry in entries if entry["call"] == "should_stop"]


def wait_for(path: Path, job: str) -> None:
    until = time.monotonic() + LIMIT_SECONDS
    while not path.exists():
        about = f"scontrol show job {job}; cat {path.parents[1]}/output"
        assert time.monotonic() < until, subprocess.getoutput(about)
        time.sleep(0.2)


def leave(job: str, *states: str) -> None:
    """Wait until it is in none of these."""
    words = ["squeue", "-h", "-j", job, "-o", "%T"]
    until = time.monotonic() + LIMIT_SECONDS
    while time.monotonic() < until:
        told = subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
        if told not in states:
            return
        time.sleep(0.2)


def test_a_job_that_is_signalled_stops_and_starts_again(actors: Actors) -> None:
    folder = actors.folder
    (folder / "script").write_text("init\n" + "should_stop\npause 0.5\n" * ASKS)
    script = folder / "job"
    mpi = "pmi2" if actors.build.mpi == "mpich" else "pmix"
    script.write_text(JOB.format(folder=folder, actor=actors.build.actor, mpi=mpi))
    done = subprocess.run(
        ["sbatch", "--parsable", script], cwd=folder, capture_output=True, text=True, check=True
    )
    job = done.stdout.strip()
    wait_for(folder / "journals" / "rank1.jsonl", job)
    time.sleep(1)
    subprocess.run(["scancel", "--signal=USR1", job], check=True)
    wait_for(folder / "journals1" / "rank1.jsonl", job)  # held back for two minutes
    leave(job, "RUNNING", "COMPLETING")
    output = (folder / "output").read_text()
    first = answers(folder / "journals", 0)
    assert first == answers(folder / "journals", 1), output
    assert (first[0], first[-1]) == (0, 1), output
    assert answers(folder / "journals1", 0) == [0] * ASKS, output
    assert not (folder / "journals2").exists(), output


@pytest.mark.parametrize(("before", "expected"), [("10 min", 1), ("10 s", 0)])
def test_slurm_tells_when_the_job_ends(actors: Actors, before: str, expected: int) -> None:
    """By squeue: Slurm 22.05 sets no SLURM_JOB_END_TIME."""
    told = 'export IOCOMP_STOP_AT=$(squeue -h -j "$SLURM_JOB_ID" -o %e); exec "$@"'
    job = actors.play(
        "init\nshould_stop\n",
        ranks=2,
        settings={"stop": {"before": before}},
        launcher=[*lives_on(actors, 2), "--time=5", "bash", "-c", told, "bash"],
    )
    assert job.status == 0 and not job.failures(), job
    assert {entry["stop"] for entry in job.calls("should_stop")} == {expected}, job
