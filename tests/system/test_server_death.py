# SPDX-License-Identifier: BSD-3-Clause
"""A server that ends or stops while the launcher lets the others live: the compute ranks go on without servers."""

from __future__ import annotations

import random
from typing import Any

import pytest
from actors import OK, STORAGE_FAILURE, TIMED_OUT, Actors, Job
from files import check_file, extension, file_settings, leftovers, skip_if_missing

from iocomp import open_files

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
    settings = {"files": files, "transport": {"kind": "shared"}} | more
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


@pytest.mark.parametrize("victim", SERVERS)
def test_nobody_owns_a_file_that_failed_with_its_servers(actors: Actors, victim: int) -> None:
    skip_if_missing(actors.build, "hdf5")
    lines = ["open out series", f"define out u int64 {SHAPE}", "put out u by=columns", "end_step out"]
    lines += ["wait_step out 0", "barrier", f"@0 kill {victim}"]
    lines += ["put out u by=columns", "end_step out", "wait_step out 1", "close out"]
    lines += ["open again series", f"define again u int64 {SHAPE}"]
    lines += ["put again u by=columns", "end_step again", "close again"]
    one = file_settings("hdf5", path="out.h5", existing="replace")  # of both
    job = play(actors, lines, {"out": one, "again": one})
    check_that_it_was_quick(job)
    assert all(entry["code"] == OK for entry in job.calls("open") + job.calls("close", file="again")), job
    assert check_file(job.folder / "out.h5") == {0}


@pytest.mark.parametrize("victim", SERVERS)
def test_steps_without_variables_keep_their_numbers(actors: Actors, victim: int) -> None:
    lines = ["open out series", f"define out u int64 {SHAPE}"]
    for number, puts in ((100, True), (200, False), (300, True), (400, False), (500, False)):
        lines += ["barrier", f"@0 kill {victim}"] if number == 400 else []
        lines += [f"begin_step out {number}", *["put out u by=columns"] * puts]
        lines += ["end_step out", f"wait_step out {number}"]
    job = play(actors, [*lines, "close out"], {"out": file_settings("posix", path="out.dat")})
    check_that_it_was_quick(job)
    assert all(entry["code"] == OK for entry in job.calls("wait_step") + job.calls("close")), job
    with open_files(job.folder / "out.dat") as files:
        assert files.steps == [100, 200, 300, 400, 500]


def check_steps(job: Job, kind: str, steps: int) -> set[int]:
    """Check that each step is there with all its values, or failed, told to all ranks; return the former."""
    check_that_it_was_quick(job)
    committed = set()
    for step in range(steps):
        waited = job.calls("wait_step", step=step)
        codes = {entry["code"] for entry in waited}
        assert len(waited) >= 2 and len(codes) == 1 and codes <= {OK, STORAGE_FAILURE}, job
        if codes == {OK}:
            committed.add(step)
        for story in [entry.get("story", "") for entry in waited if entry["code"] != OK]:
            assert '"out"' in story and ("has ended" in story or "does not respond" in story), job
    if kind == "series":
        path = job.folder / "out.dat"
        assert (check_file(path, has_all_sums=True) if committed or path.exists() else set()) == committed, job
    else:
        for step in range(steps):
            path = job.folder / f"out.{step:06}.dat"
            assert path.exists() == (step in committed), job
            assert step not in committed or check_file(path, has_all_sums=True) == {step}, job
    assert not leftovers(job.folder), job
    return committed


def script(kind: str, trouble: str, put: str) -> list[str]:
    """Return lines with steps that are committed before, and on their way when the trouble comes."""
    lines = [f"open out {kind}", f"define out u int64 {SHAPE}", "define out v float64 300x300"]
    for step in range(2):
        lines += [put, "end_step out", f"wait_step out {step}"]
    lines += ["barrier", put, "put out v by=rows", "end_step out", put, trouble, "end_step out"]
    lines += ["put out v by=columns", put, "end_step out", "wait_step out 3", put, "end_step out"]
    lines += [put, "wait out written", "end_step out"]
    return [*lines, *wait_steps(range(2, 7)), "close out"]


def wait_steps(steps: range) -> list[str]:
    return [f"wait_step out {step}" for step in steps]


PUTS = {
    "pull": {"way": "pull"},  # in the server's memory, so it may be lost
    "staged": {"way": "staged"},  # in the rank's own
    "auto": {},
}
KINDS = ["series", "checkpoint"]
FILES = {"out": file_settings("posix", path="out.dat", checksum="xxh3")}


@pytest.mark.parametrize("way", PUTS)
@pytest.mark.parametrize("victim", SERVERS)
@pytest.mark.parametrize("kind", KINDS)
def test_ranks_finish_what_a_killed_server_leaves(
    actors: Actors, kind: str, victim: int, way: str
) -> None:
    lines = script(kind, f"@0 kill {victim}", "put out u by=columns halo=1")
    job = play(actors, lines, FILES, test=PUTS[way])
    assert check_steps(job, kind, 7) >= {0, 1, 5, 6}, job
    assert f"server {victim - 2} (rank {victim}, process" in job.output, job
    assert "are written by compute rank" in job.output, job


@pytest.mark.parametrize("way", PUTS)
def test_ranks_round_what_a_killed_server_leaves(actors: Actors, way: str) -> None:
    """All values have fewer bits than are kept, so they stay what they are, and all are rounded."""
    put = "put out u by=columns halo=1"
    lines = [line.replace("int64", "float64") for line in script("series", "@0 kill 2", put)]
    files = {"out": {**FILES["out"], "round": "30 bits"}}
    job = play(actors, lines, files, test=PUTS[way])
    assert check_steps(job, "series", 7) >= {0, 1, 5, 6}, job
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
        actors, lines, FILES, before=fault, test=PUTS[way], ranks=4
    )
    assert len(check_steps(job, kind, 7)) >= 4, job
    assert after > 1 or "has ended" in job.output, job


@pytest.mark.parametrize("way", ["pull", "auto"])
@pytest.mark.parametrize("kind", KINDS)
def test_ranks_go_on_without_a_server_that_was_stopped(
    actors: Actors, kind: str, way: str
) -> None:
    lines = script(kind, "@0 stop 2", "put out u by=columns halo=1")
    job = play(actors, [*lines, "barrier", "@0 go_on 2"], FILES, test={"way": way})
    assert check_steps(job, kind, 7) >= {0, 1, 5, 6}, job
    assert "does not respond" in job.output, job


MIXED = {"a": "3", "b": "1000", "c": "640000", "d": "200x40", "e": "7x9x11"}


@pytest.mark.parametrize("victim", SERVERS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("after", [0, 1, 3, 6, 10, 16])
def test_blocks_of_all_sizes_are_there_or_their_step_is_told_as_failed(
    actors: Actors, kind: str, victim: int, after: int
) -> None:
    seed = random.randrange(1 << 30)
    dice = random.Random(seed)
    lines = [f"open out {kind}"]
    lines += [f"define out {name} float64 {shape}" for name, shape in MIXED.items()]
    steps = 6
    for step in range(steps):
        names = list(MIXED)
        dice.shuffle(names)
        for name in names:
            cut = dice.choice(["rows", "columns"])
            lines.append(f"put out {name} by={cut} buffered={dice.choice(['no', 'yes'])}")
        lines.append("end_step out")
        lines += [f"wait_step out {step}"] if step in (0, 3) else []
    lines += [*wait_steps(range(steps)), "close out"]
    fault = f"@{victim} fault pwrite KILL after={after} path=out"
    way = dice.choice(["auto", "pull", "staged"])
    try:
        job = play(actors, lines, FILES, before=fault, test={"way": way})
        check_steps(job, kind, steps)
    except AssertionError as error:
        raise AssertionError(f"seed {seed}, way {way}: {error}") from error


@pytest.mark.parametrize("victim", SERVERS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("after", [0, 1, 4])
def test_blocks_that_travelled_in_their_headers_are_written_or_their_step_is_told_as_failed(
    actors: Actors, kind: str, victim: int, after: int
) -> None:
    lines = [f"open out {kind}", "define out a float64 3", "define out b float64 1000"]
    for _ in range(4):
        lines += ["put out a by=rows", "put out b by=rows", "end_step out"]
    lines += [*wait_steps(range(4)), "close out"]
    fault = f"@{victim} fault pwrite KILL after={after} path=out"
    job = play(actors, lines, FILES, before=fault)
    check_steps(job, kind, 4)


# If ranks share no memory with servers, only their silence tells.
DEADLINE = 3


def play_by_messages(actors: Actors, lines: list[str]) -> Job:
    first = ["open out series", f"define out u int64 {SHAPE}"]
    put = ["put out u by=columns", "end_step out"]
    return play(
        actors,
        [*first, *put, "wait_step out 0", "barrier", *lines],
        {"out": file_settings("posix", path="out.dat")},
        transport={"kind": "message"},
        wait={"deadline": DEADLINE},
    )


@pytest.mark.parametrize("victim", SERVERS)
def test_a_dead_server_is_waited_for_once(actors: Actors, victim: int) -> None:
    """The call that waits tells which server does not answer; those behind it fail at once."""
    put = ["put out u by=columns", "end_step out"]
    lines = [f"@0 kill {victim}", *put, "wait_step out 1", *put, "wait_step out 2"]
    job = play_by_messages(actors, [*lines, "wait out written", "close out"])
    silent = f"server {victim - 2} (rank {victim}) does not answer"
    for rank in (0, 1):
        (first,) = job.calls("wait_step", rank=rank, step=1)
        assert first["code"] == TIMED_OUT and silent in first["story"], job
        assert DEADLINE <= first["seconds"] < 2 * DEADLINE, job
        later = [*job.calls("wait_step", rank=rank, step=2), *job.calls("close", rank=rank)]
        assert later and all(entry["code"] == TIMED_OUT for entry in later), job
        assert all(silent in entry["story"] and entry["seconds"] < 1 for entry in later), job
        (finalized,) = job.calls("finalize", rank=rank)
        assert finalized["seconds"] < 2, job
    assert check_file(job.folder / "out.dat") == {0}


def test_a_server_that_answers_again_is_waited_for(actors: Actors) -> None:
    put = ["put out u by=columns", "end_step out"]
    lines = ["@0 stop 3", *put, "wait_step out 1", "barrier", "@0 go_on 3", "pause 1"]
    job = play_by_messages(actors, [*lines, *put, "wait_step out 2", "close out"])
    assert {entry["code"] for entry in job.calls("wait_step", step=1)} == {TIMED_OUT}, job
    assert {entry["code"] for entry in job.calls("wait_step", step=2)} == {OK}, job
    assert check_file(job.folder / "out.dat") == {0, 1, 2}
