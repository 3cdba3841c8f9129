# SPDX-License-Identifier: BSD-3-Clause
"""The promises of a session to a program that makes few demands, and few calls."""

from __future__ import annotations

import pytest
from actors import INVALID_ARGUMENT, Actors
from files import MODES, check_file, leftovers, mode_settings

STEPS = 20


def puts(steps: int = STEPS) -> str:
    return "put out u ticket=none\nend_step out\n" * steps


@pytest.mark.parametrize("mode", MODES)
def test_a_program_that_never_waits_loses_nothing(actors: Actors, mode: str) -> None:
    script = f"init\nopen out series\ndefine out u int64 64x32\n{puts()}close out\n"
    job = actors.play(script, ranks=4, settings=mode_settings(mode), alone=True)
    assert job.status == 0, job
    assert not job.failures(), job
    assert check_file(job.folder / "out.bin") == set(range(STEPS))
    assert not leftovers(job.folder)


@pytest.mark.parametrize("ending", ["", "put out u\n"])
@pytest.mark.parametrize("mode", MODES)
def test_finalize_closes_what_is_open(actors: Actors, mode: str, ending: str) -> None:
    script = f"init\nopen out series\ndefine out u int64 64x32\n{puts()}{ending}"
    job = actors.play(script, ranks=4, settings=mode_settings(mode))
    assert job.status == 0, job
    assert not job.failures(), job
    assert check_file(job.folder / "out.bin") == set(range(STEPS + (1 if ending else 0)))


@pytest.mark.parametrize("mode", MODES)
def test_finalize_closes_several_files_of_several_groups(actors: Actors, mode: str) -> None:
    ranks = 3 if mode != "async" else 6
    lines = ["init", "group a 0,1", "group b 1,2", "group c 0,2"]
    for name, leaver in (("a", 2), ("b", 0), ("c", 1)):
        lines += [f"@!{leaver} open {name} series on={name}"]
        lines += [f"@!{leaver} define {name} u int64 12x8", f"@!{leaver} put {name} u"]
    job = actors.play("\n".join(lines), ranks=ranks, settings=mode_settings(mode))
    assert job.status == 0, job
    assert not job.failures(), job
    for name in ("a", "b", "c"):
        assert check_file(job.folder / f"{name}.bin") == {0}


@pytest.mark.parametrize("mode", MODES)
def test_a_session_without_files(actors: Actors, mode: str) -> None:
    job = actors.play("init\n", ranks=4, settings=mode_settings(mode))
    assert job.status == 0, job
    assert not job.failures(), job
    assert job.output == "", job


def test_mpi_with_one_thread_suffices(actors: Actors) -> None:
    script = f"init\nopen out series\ndefine out u int64 64x32\n{puts()}close out\n"
    job = actors.play(script, ranks=4)
    assert all(entry["thread_level_is_single"] for entry in job.calls("mpi_init")), job
    assert not job.failures(), job


def test_servers_leave_by_themselves(actors: Actors) -> None:
    job = actors.play("init\n", ranks=4, alone=True)
    assert sorted(entry["rank"] for entry in job.calls("init")) == [0, 1], job
    assert job.status == 0, job


def test_servers_return_from_init_when_told_to(actors: Actors) -> None:
    script = f"init\nopen out series\ndefine out u int64 64x32\n{puts()}close out\n"
    job = actors.play(script, ranks=4, settings={"server": {"end": "return"}})
    assert job.status == 0, job
    assert not job.failures(), job
    roles = {entry["rank"]: entry["role"] for entry in job.calls("init")}
    assert roles == {0: 1, 1: 1, 2: 2, 3: 2}, job
    assert len(job.calls("finalize")) == 4, job
    assert len(job.calls("end")) == 4, job
    assert check_file(job.folder / "out.bin") == set(range(STEPS))


def test_a_second_session_with_servers_that_have_left_is_refused(actors: Actors) -> None:
    job = actors.play("init\nfinalize\ninit\n", ranks=4, alone=True)
    assert job.status == 0, job
    second = [entry for entry in job.calls("init") if entry["line"] == 3]
    assert [entry["code"] for entry in second] == [INVALID_ARGUMENT] * 2, job
    assert all("rank 2 of the communicator was a server" in e["story"] for e in second), job


def test_an_idle_server_sleeps(actors: Actors) -> None:
    script = "init\nopen out series\npause 0.5\n@0 measure_cpu 1 2\nbarrier\nclose out\n"
    job = actors.play(script, ranks=2)
    measured = job.calls("measure_cpu")[0]
    used = measured["cpu_seconds"] / measured["seconds"]
    print(f"an idle server takes {100 * used:.1f} % of a core")
    assert used < 0.1, measured


def test_a_waiting_compute_rank_sleeps(actors: Actors) -> None:
    """Rank 0 waits in close for rank 1, which looks at how busy rank 0 is."""
    script = "init\nopen out series\n@0 close out\n@1 pause 0.5\n@1 measure_cpu 0 2\n@1 close out\n"
    for mode in MODES:
        job = actors.play(script, ranks=2 if mode != "async" else 4, settings=mode_settings(mode))
        measured = job.calls("measure_cpu")[0]
        assert measured["cpu_seconds"] / measured["seconds"] < 0.1, measured


def test_the_summary_is_one_line(actors: Actors) -> None:
    script = f"init\nopen out series\ndefine out u int64 64x32\n{puts()}close out\n"
    job = actors.play(script, ranks=4, environment={"IOCOMP_TRACE_LINES": "summary"})
    lines = job.output.strip().splitlines()
    assert len(lines) == 1, job
    assert lines[0].startswith("iocomp: "), job
    assert f"{STEPS} steps" in lines[0], job


@pytest.mark.parametrize("mode", MODES)
def test_the_summary_counts_a_step_that_the_close_ends(actors: Actors, mode: str) -> None:
    script = "init\nopen out series\ndefine out u int64 64x32\nput out u\nclose out\n"
    job = actors.play(
        script,
        ranks=4,
        settings=mode_settings(mode),
        environment={"IOCOMP_TRACE_LINES": "summary"},
    )
    assert "in 1 step," in job.output, job
