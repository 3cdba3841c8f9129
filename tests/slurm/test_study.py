# SPDX-License-Identifier: BSD-3-Clause
"""A study whose runs are jobs of Slurm: written, submitted, collected, continued.

Run beside a cluster (with_cluster), in partition small: nodes of the 2 CPUs of this machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from actors import Build

STUDY = """
[study]
name = "virtual"
launcher = "slurm"
least = 2
most = 4
minutes = 3
warm_up = 0

[slurm]
options = ["--partition=small"]
parts = 2
minutes = 5
topology = "pack:1 l3:1 core:2 pu:1"
setup = [
  "export SLURM_MPI_TYPE=$STUDY_TEST_MPI_TYPE",
  "export OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_mpi_yield_when_idle=1",
]

[[series]]
client = "stream"
output = ["sync", "async"]
mapping = ["sequential", "consecutive", "hyperthread"]
nodes = [1, 2]
ranks = 2
size = "64 KiB"
arguments = ["--loops", "4", "--write-every", "2"]
"""


def study(build: Build, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    file = folder / "study.toml"
    file.write_text(STUDY)
    environment = {
        **os.environ,
        "STUDY_TEST_MPI_TYPE": "pmi2" if build.mpi == "mpich" else "pmix",
        "HWLOC_SYNTHETIC": "pack:1 l3:1 core:2 pu:1",
    }
    command = [build.command, "study", "run", str(file), "--out", str(folder / "out"), *words]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=500, check=False, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture
def folder(build: Build) -> Iterator[Path]:
    """A directory on the disk: that of other tests lies in memory, which studies refuse."""
    with tempfile.TemporaryDirectory(dir=Path(build.command).parents[1]) as name:
        yield Path(name)


def test_a_study_is_submitted_collected_and_not_run_again(folder: Path, build: Build) -> None:
    if not (Path(build.command).parents[1] / "apps/stream/stream").exists():
        pytest.skip("this build has no STREAM (target stream)")
    first = study(build, folder)
    out = folder / "out"
    logs = "".join(path.read_text() for path in (out / "slurm").glob("*.log"))
    assert first.stderr.count("submitted job") == 2, first.stderr  # one for each number of nodes
    assert "hyperthread" in first.stderr, first.stderr  # not possible there, and told
    for nodes in (1, 2):
        script = (out / "slurm" / f"nodes-{nodes}.sh").read_text()
        assert f"#SBATCH --nodes={nodes}\n" in script
        assert "#SBATCH --array=0-1\n" in script
        assert "#SBATCH --partition=small\n" in script
        parts = sorted(out.glob(f"nodes-{nodes}.part-*.jsonl"))
        assert [path.name[-7] for path in parts] == ["0", "1"], logs
        records = [json.loads(line) for part in parts for line in part.read_text().splitlines()]
        assert {one["cell"]["nodes"] for one in records} == {nodes}
        assert [one["marks"] for one in records] == [[]] * len(records), records
        # Each part makes two of the four rounds.
        mine = [one for one in records if one["cell"]["output"] == "sync"]
        assert sorted(one["round"] for one in mine) == [0, 1, 2, 3]
        for one in records:
            assert len({seat["host"] for seat in one["mapping"]["seats"]}) == nodes, one["mapping"]
    again = study(build, folder)
    assert "submitted" not in again.stdout
