"""A server that ends or stops while the launcher lets the others live: the compute ranks go on without servers."""

from __future__ import annotations

from typing import Any

import pytest
from actors import OK, STORAGE_FAILURE, Actors, Job
from files import check_file, extension, file_settings, leftovers, skip_if_missing

SHAPE = "256x512"
SERVERS = [2, 3]  # in the world: of four ranks the second half; the first one is the lead


def lives_on(actors: Actors, ranks: int) -> list[str]:
    """Return a launcher that lets the others live when a rank dies."""
    if actors.build.mpi != "openmpi":
        pytest.skip("only Open MPI's mpirun lets the others live (see tests/slurm)")
    first, *rest = actors.build.launcher
    return [first, "--enable-recovery", *rest, str(ranks)]


def play(
    actors: Actors, lines: list[str], files: dict[str, Any], ranks: int = 4, **more: Any
) -> Job:
    environment = {"IOCOMP_LOG": "error"} | more.pop("environment", {})
    settings = {"files": files, "transport": {"kind": "shared"}} | more
    return actors.play(
        "\n".join(["init", *lines]),
        ranks=ranks,
        launcher=lives_on(actors, ranks),
        settings=settings,
        environment=environment,
        seconds=25,
    )


def check_that_it_was_quick(job: Job, seconds: float = 4) -> None:
    slow = [entry for entry in job.entries if entry.get("seconds", 0) > seconds]
    assert not slow, f"{slow}\n{job}"
    ended = [entry["rank"] for entry in job.calls("finalize")]
    assert len(ended) == 2, job


@pytest.mark.parametrize("victim", SERVERS)
def test_a_file_that_needs_servers_fails_and_nobody_hangs(actors: Actors, victim: int) -> None:
    skip_if_missing(actors.build, "hdf5")
    lines = ["open out checkpoint", f"define out u int64 {SHAPE}"]
    lines += ["put out u by=columns", "end_step out", "wait_step out 0", "barrier"]
    lines += [f"@0 kill {victim}", "put out u by=columns", "end_step out", "wait_step out 1"]
    lines += ["put out u by=columns", "wait out written", "close out"]
    path = f"out{extension('hdf5')}"
    job = play(actors, lines, {"out": file_settings("hdf5", path=path)})
    check_that_it_was_quick(job)
    for rank in (0, 1):
        (waited,) = job.calls("wait_step", rank=rank, step=1)
        assert waited["code"] == STORAGE_FAILURE, job
        for text in (f"server {victim - 2} (rank {victim}, process", "has ended", '"out"', "hdf5"):
            assert text in waited["story"], job
    assert "go on without servers" in job.output, job
    assert check_file(job.folder / "out.000000.h5") == {0}
    assert not (job.folder / "out.000001.h5").exists()
