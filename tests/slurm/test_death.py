# SPDX-License-Identifier: BSD-3-Clause
"""A server that ends under `srun --kill-on-bad-exit=0`, which lets the others live with every MPI.

Run beside a cluster (with_cluster), as test_lines.py.
"""

from __future__ import annotations

import pytest
from actors import OK, STORAGE_FAILURE, Actors
from files import extension, file_settings, skip_if_missing
from test_server_death import FILES, KINDS, PUTS, SERVERS, SHAPE, check_steps, play, script

HALVES = {"policy": "halves"}  # ranks 2 and 3 serve; pmix ends the job when a compute rank dies


def lives_on(actors: Actors, ranks: int) -> list[str]:
    """Return srun with what lets the others live."""
    mpi = "pmi2" if actors.build.mpi == "mpich" else "pmix"
    words = ["srun", "-Q", "--immediate=20", "-p", "small", "-N1", f"-n{ranks}", "--overcommit"]
    return [*words, "--cpu-bind=none", "--kill-on-bad-exit=0", f"--mpi={mpi}"]


@pytest.mark.parametrize("way", PUTS)
@pytest.mark.parametrize("victim", SERVERS)
@pytest.mark.parametrize("kind", KINDS)
def test_ranks_finish_what_a_killed_server_leaves(
    actors: Actors, kind: str, victim: int, way: str
) -> None:
    lines = script(kind, f"@0 kill {victim}", "put out u by=columns")
    launcher = lives_on(actors, 4)
    job = play(actors, lines, FILES, test=PUTS[way], placement=HALVES, launcher=launcher)
    assert check_steps(job, kind, 7) >= {0, 1, 5, 6}, job
    assert f"server {victim - 2} (rank {victim}, process" in job.output, job
    assert "are written by compute rank" in job.output, job


def test_a_file_that_needs_servers_fails_and_nobody_hangs(actors: Actors) -> None:
    skip_if_missing(actors.build, "hdf5")
    lines = ["open out checkpoint", f"define out u int64 {SHAPE}"]
    lines += ["put out u by=columns", "end_step out", "wait_step out 0", "barrier"]
    lines += ["@0 kill 2", "put out u by=columns", "end_step out", "wait_step out 1", "close out"]
    files = {"out": file_settings("hdf5", path=f"out{extension('hdf5')}")}
    job = play(actors, lines, files, placement=HALVES, launcher=lives_on(actors, 4))
    assert {entry["code"] for entry in job.calls("wait_step", step=0)} == {OK}, job
    assert {entry["code"] for entry in job.calls("wait_step", step=1)} == {STORAGE_FAILURE}, job
    assert len(job.calls("finalize")) == 2, job
