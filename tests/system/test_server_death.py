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
    actors: Actors,
    lines: list[str],
    files: dict[str, Any],
    ranks: int = 4,
    before: str = "",
    launcher: list[str] | None = None,
    **more: Any,
) -> Job:
    environment = {"IOCOMP_LOG": "error"} | more.pop("environment", {})
    settings = {"files": files, "transport": {"kind": "shared"}, "staging": {"shared": True}} | more
    return actors.play(
        "\n".join([before, "init", *lines, "leave"]),
        ranks=ranks,
        launcher=launcher or lives_on(actors, ranks),
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


def check_all(job: Job, kind: str, steps: int) -> None:
    """Check that nothing failed, and that all steps are on disk with all their values."""
    assert not [entry for entry in job.failures() if entry["call"] != "kill"], job
    check_that_it_was_quick(job)
    if kind == "series":
        assert check_file(job.folder / "out.dat") == set(range(steps)), job
    else:
        for step in range(steps):
            assert check_file(job.folder / f"out.{step:06}.dat") == {step}, job
    assert not leftovers(job.folder), job


def script(kind: str, trouble: str, put: str) -> list[str]:
    """Return lines with steps that are committed before, and on their way when the trouble comes."""
    lines = [f"open out {kind}", f"define out u int64 {SHAPE}", "define out v float64 300x300"]
    for step in range(2):
        lines += [put, "end_step out", f"wait_step out {step}"]
    lines += ["barrier", put, "put out v by=rows", "end_step out", put, trouble, "end_step out"]
    lines += ["put out v by=columns", put, "end_step out", "wait_step out 3", put, "end_step out"]
    return [*lines, put, "wait out written", "close out"]


PUTS = {
    "pull": {"way": "pull"},  # in its staging memory
    "staged": {"way": "staged"},  # in the rank's own
    "auto": {},
}
KINDS = ["series", "checkpoint"]
FILES = {"out": file_settings("posix", path="out.dat")}


@pytest.mark.parametrize("way", PUTS)
@pytest.mark.parametrize("victim", SERVERS)
@pytest.mark.parametrize("kind", KINDS)
def test_ranks_finish_what_a_killed_server_leaves(
    actors: Actors, kind: str, victim: int, way: str
) -> None:
    lines = script(kind, f"@0 kill {victim}", "put out u by=columns halo=1")
    job = play(actors, lines, FILES, transport={"kind": "shared"} | PUTS[way])
    check_all(job, kind, 7)
    assert f"server {victim - 2} (rank {victim}, process" in job.output, job
    assert "are written by compute rank" in job.output, job


@pytest.mark.parametrize("way", ["pull", "auto"])
@pytest.mark.parametrize("call", ["pwrite", "sync", "rename"])
@pytest.mark.parametrize("after", [0, 1, 2, 3, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_ranks_finish_whatever_the_server_died_in(
    actors: Actors, kind: str, after: int, call: str, way: str
) -> None:
    lines = script(kind, "progress", "put out u by=columns")
    victim = 3 if call == "pwrite" and after % 2 else 2  # the lead alone publishes
    fault = f"@{victim} fault {call} KILL after={after} path=out"
    job = play(
        actors, lines, FILES, before=fault, transport={"kind": "shared"} | PUTS[way], ranks=4
    )
    check_all(job, kind, 7)
    assert after > 1 or "has ended" in job.output, job


@pytest.mark.parametrize("way", ["pull", "auto"])
@pytest.mark.parametrize("kind", KINDS)
def test_ranks_go_on_without_a_server_that_was_stopped(
    actors: Actors, kind: str, way: str
) -> None:
    lines = script(kind, "@0 stop 2", "put out u by=columns halo=1")
    transport = {"kind": "shared", "way": way}
    job = play(actors, [*lines, "barrier", "@0 go_on 2"], FILES, transport=transport)
    check_all(job, kind, 7)
    assert "does not respond" in job.output, job
