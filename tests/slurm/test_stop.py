# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that stop in time, and start themselves again: what docs/restart.md promises of Slurm.

Run beside a cluster (with_cluster), as test_lines.py.
"""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from actors import Actors
from conftest import ROOT
from test_death import lives_on

LIMIT_SECONDS = 200


def leave(job: str, *states: str) -> None:
    """Wait until it is in none of these."""
    words = ["squeue", "-h", "-j", job, "-o", "%T"]
    until = time.monotonic() + LIMIT_SECONDS
    while time.monotonic() < until:
        told = subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
        if told not in states:
            return
        time.sleep(0.2)


def newest_step(folder: Path) -> int:
    return max((int(path.name.split(".")[1]) for path in folder.glob("restart.*.bin")), default=-1)


def test_a_job_that_is_signalled_stops_and_starts_again(actors: Actors) -> None:
    """The example as it is: options and variables say what is of these small nodes."""
    program = Path(actors.build.modules).parents[1] / "examples/c/example_heat_c"
    if not program.exists():
        pytest.skip(f"{program} was not built")
    folder = actors.folder
    size = ["--partition=small", "--nodes=1", "--ntasks=2", "--ntasks-per-node=2", "--overcommit"]
    mpi = "pmi2" if actors.build.mpi == "mpich" else "pmix"
    here = {"SLURM_MPI_TYPE": mpi, "SLURM_OVERCOMMIT": "1", "SLURM_CPU_BIND": "none"}
    done = subprocess.run(
        ["sbatch", "--parsable", *size, "--time=5", f"--output={folder}/output"]
        + [ROOT / "examples/slurm/requeue.sh", program, "1000000000"],
        cwd=folder,
        env={**os.environ, **here, "PMIX_MCA_gds": "hash", "IOCOMP_FILES_KEEP": "2"},
        capture_output=True,
        text=True,
        check=True,
    )
    job = done.stdout.strip()

    def wait_until(is_so: Callable[[], bool]) -> None:
        until = time.monotonic() + LIMIT_SECONDS
        while not is_so():
            told = f"scontrol show job {job}; cat {folder}/output"
            assert time.monotonic() < until, subprocess.getoutput(told)
            time.sleep(0.2)

    output = folder / "output"
    wait_until(lambda: newest_step(folder) > 0)
    subprocess.run(["scancel", "--signal=USR1", job], check=True)
    wait_until(lambda: "steps are done" in output.read_text())
    (reached,) = re.findall(r"heat: (\d+) steps are done", output.read_text())
    assert newest_step(folder) == int(reached) - 1, output.read_text()
    wait_until(lambda: newest_step(folder) >= int(reached))  # held back for two minutes
    subprocess.run(["scancel", job], check=True)
    leave(job, "RUNNING", "COMPLETING")


@pytest.mark.parametrize(("before", "expected"), [("10 min", 1), ("10 s", 0)])
def test_slurm_tells_when_the_job_ends(actors: Actors, before: str, expected: int) -> None:
    """By squeue: Slurm 22.05 sets no SLURM_JOB_END_TIME."""
    end = '$(squeue -h -j "$SLURM_JOB_ID" -o %e)'
    told = f'export IOCOMP_STOP_AT="{end} - {before}"; exec "$@"'
    job = actors.play(
        "init\nshould_stop\n",
        ranks=2,
        launcher=[*lives_on(actors, 2), "--time=5", "bash", "-c", told, "bash"],
    )
    assert job.status == 0 and not job.failures(), job
    assert {entry["stop"] for entry in job.calls("should_stop")} == {expected}, job
