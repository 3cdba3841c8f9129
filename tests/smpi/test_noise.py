# SPDX-License-Identifier: BSD-3-Clause
"""`iocomp study noise` computes what ranks with messages of SMPI do.

The model: docs/developers/decisions/noise.md.
"""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import run  # for the path of the studies
from iocomp_studies.noise import ways
from iocomp_studies.noise.job import Job
from iocomp_studies.noise.losses import Cores, Losses
from iocomp_studies.runs import simulated

BUILD = pathlib.Path(os.environ.get("IOCOMP_SMPI_BUILD", run.ROOT / "build" / "smpi"))
RANKS = 64
SCENE = ways.Scene(RANKS, compute=0.004, phase=0.4, node=16)
ITERATIONS = 60


def with_messages(losses: Losses, sums: int, folder: pathlib.Path) -> float:
    file = folder / "losses"
    columns = np.column_stack([losses.rank, losses.begin, losses.length, losses.part])
    np.savetxt(file, columns, fmt=["%d", "%.12g", "%.12g", "%.12g"])
    hosts = folder / "hosts"
    hosts.write_text(simulated.hosts_text(RANKS, 4))
    words = simulated.launch_words(BUILD, RANKS, 4, hosts)
    words[-1] = str(BUILD / simulated.FOLDER / "libsmpi_noise.so")
    words += [str(SCENE.compute), str(ITERATIONS), str(sums), str(file)]
    told = subprocess.run(words, check=True, capture_output=True, text=True, timeout=250).stdout
    (line,) = [line for line in told.splitlines() if line.startswith("{")]
    return float(json.loads(line)["seconds"])


@pytest.mark.parametrize("sums", [0, 1])
@pytest.mark.parametrize("name", ["no output", *ways.WAYS])
def test_messages_take_the_time_that_the_study_says(
    name: str, sums: int, tmp_path: pathlib.Path
) -> None:
    losses = ways.WAYS.get(name, ways.nothing)(SCENE)
    computed = Job(RANKS, SCENE.compute, sums).run(Cores(RANKS, losses, 10), ITERATIONS)
    assert with_messages(losses, sums, tmp_path) == pytest.approx(computed, rel=0.005)
