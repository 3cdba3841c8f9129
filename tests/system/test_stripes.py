# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of short runs become long writes, whoever comes late, waits early or has little memory."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from actors import Actors, Job
from files import (
    check_file,
    extension,
    file_settings,
    mode_settings,
    skip_if_missing,
    values,
    values_in,
)
from foreign import Foreign

KINDS = ["shared", "message"]


def play(
    actors: Actors, lines: list[str], back_end: str = "posix", *, check: bool = True, **more: Any
) -> Job:
    skip_if_missing(actors.build, back_end)
    path = f"out{extension(back_end)}"
    settings = {
        "trace": {"json": "trace.json"},
        "files": {"out": file_settings(back_end, path=path)},
    } | more
    lines = ["init", "open out series", "define out u float64 512x512", *lines, "close out"]
    job = actors.play("\n".join(lines), ranks=4, settings=settings, seconds=60)
    assert not job.failures(), job
    assert job.status == 0, job
    if check:
        check_file(job.folder / path)
    return job


def counted(job: Job, side: str = "server_sum") -> dict[str, float]:
    trace: dict[str, dict[str, float]] = json.loads((job.folder / "trace.json").read_text())
    return trace[side]


STEP = ["put out u by=columns", "end_step out"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("back_end", ["posix", "mpiio", "hdf5"])
def test_all_stripes_of_a_step_are_whole(actors: Actors, back_end: str, kind: str) -> None:
    job = play(actors, STEP * 3, back_end, transport={"kind": kind})
    found = counted(job)
    assert found["joined_bytes"] == 3 * 512 * 512 * 8, found
    assert found["partial_stripes"] == 0 and found["stripes"] == 3 * 2, found  # a domain each


def test_no_stripes_where_none_are_wanted(actors: Actors) -> None:
    found = counted(play(actors, STEP * 2, test={"stripe": "0 B"}))
    assert found["joined_bytes"] == 0 and found["stripes"] == 0, found


def test_contiguous_blocks_are_not_put_together(actors: Actors) -> None:
    found = counted(play(actors, ["put out u by=rows", "end_step out"]))
    assert found["joined_bytes"] == 0, found


@pytest.mark.parametrize("kind", KINDS)
def test_control_messages_of_a_step_and_rank(actors: Actors, kind: str) -> None:
    """At most the servers that the blocks of the rank touch, here both, and one more."""
    few, many = (
        counted(play(actors, STEP * steps, transport={"kind": kind}), "compute_sum")
        for steps in (2, 12)
    )
    per_step = (many["control_messages"] - few["control_messages"]) / (10 * 2)
    assert per_step == 3, (few, many)


@pytest.mark.parametrize("way", ["auto", "pull", "in-place", "staged"])
def test_stripes_and_what_they_keep_fit_into_little_memory(actors: Actors, way: str) -> None:
    tests = {"way": way, "stripe": "64 KiB"}
    found = counted(
        play(
            actors, STEP * 3,
            transport={"kind": "shared"}, staging={"memory": "2 MiB"}, test=tests,
        )
    )  # fmt: skip
    assert found["joined_bytes"] > 512 * 512 * 8, found
    assert found["staging_peak_bytes"] <= 2 * 1024 * 1024, found


@pytest.mark.parametrize("mode", ["async", "sync"])
@pytest.mark.parametrize("state", ["handed_over", "written", "durable"])
def test_a_rank_can_wait_before_the_others_put(actors: Actors, state: str, mode: str) -> None:
    """And holds them back until then: what is there of a stripe must be written."""
    lines = ["@0 put out u by=columns", f"@0 wait out {state}", "barrier"]
    lines += [f"@{rank} put out u by=columns" for rank in (1, 2, 3)]
    lines += ["end_step out", *STEP]
    job = play(actors, lines, **mode_settings(mode))
    assert max(entry["seconds"] for entry in job.calls("wait")) < 5, job


@pytest.mark.parametrize(
    ("rows", "more", "why"),
    [
        (4096, {}, "no rank of this node has put what lies between"),
        (4096, {"test": {"stripe": "0 B"}}, "overlap, when_full"),
        (512, {}, ""),
    ],
)
def test_runs_that_are_written_one_by_one_are_told(
    actors: Actors, rows: int, more: dict[str, Any], why: str
) -> None:
    """As where ranks of other nodes put the rest; a few are not worth a word."""
    put = f"@0 put out v start=0x0 count={rows}x128"
    lines = [f"define out v float64 {rows}x1024", *[put, "end_step out"] * 2]
    job = play(actors, lines, check=False, **mode_settings("kernel"), **more)
    one_by_one = "runs of 1 KiB are written one by one"
    assert job.output.count(one_by_one) == bool(why), job
    notes = json.loads((job.folder / "trace.json").read_text())["notes"]
    assert [why in note for note in notes if one_by_one in note] == [True] * bool(why), notes


@pytest.mark.parametrize("state", ["handed_over", "written", "durable"])
def test_a_rank_can_wait_for_blocks_that_stripes_have_no_room_for(
    actors: Actors, state: str
) -> None:
    """So far from all of a block is in them that its memory is still needed."""
    puts = ["put out u by=columns", "put out v by=columns"]
    lines = ["define out v float64 512x512", *(f"@0 {put}" for put in puts)]
    lines += [f"@0 wait out {state}", "barrier"]
    lines += [f"@{rank} {put}" for rank in (1, 2, 3) for put in puts]
    memory = {"client": {"buffer_memory": "1 MiB"}}
    job = play(actors, [*lines, "end_step out"], **mode_settings("kernel"), **memory)
    assert max(entry["seconds"] for entry in job.calls("wait")) < 5, job


@pytest.mark.parametrize("mode", ["async", "sync", "kernel"])
def test_a_rank_can_poll_before_the_others_put(actors: Actors, mode: str) -> None:
    lines = ["@0 put out u by=columns", *["@0 test out handed_over", "@0 pause 0.1"] * 5, "barrier"]
    lines += [f"@{rank} put out u by=columns" for rank in (1, 2, 3)]
    job = play(actors, [*lines, "end_step out", *STEP], **mode_settings(mode))
    assert job.calls("test")[-1]["reached"] == 1, job


@pytest.mark.parametrize("memory", ["1 MiB", "4 MiB"])
@pytest.mark.parametrize("back_end", ["posix", "mpiio"])
@pytest.mark.parametrize("kind", KINDS)
def test_late_ranks_and_little_memory(
    actors: Actors, kind: str, back_end: str, memory: str
) -> None:
    lines = ["@1 pause 1", *STEP, "@0 pause 1", *STEP]
    job = play(actors, lines, back_end, staging={"memory": memory}, transport={"kind": kind})
    found = counted(job)
    assert found["staging_peak_bytes"] <= found["staging_limit_bytes"], found


def test_holes_stay_holes(actors: Actors) -> None:
    job = play(actors, ["@0 put out u start=10x7 count=300x100", "end_step out"], check=False)
    assert counted(job)["partial_stripes"] == 2, job
    found = np.fromfile(job.folder / "out.dat").reshape(512, 512)
    expected = np.zeros((512, 512))
    part = np.s_[10:310, 7:107]
    expected[part] = values("float64", 512 * 512, 0).reshape(512, 512)[part]
    assert (found == expected).all(), job


# Without servers, the ranks of a node put short runs together by themselves.

KERNEL = mode_settings("kernel")


@pytest.mark.parametrize("back_end", ["posix", "hdf5", "netcdf", "pnetcdf"])
@pytest.mark.parametrize("order", ["forward", "backward"])
def test_ranks_put_together_what_they_write(actors: Actors, back_end: str, order: str) -> None:
    """All stripes are whole, whoever comes last, and memory is free when put returns."""
    late = 3 if order == "forward" else 0
    lines = [f"@{late} pause 0.1", "put out u by=columns", "test out handed_over", "end_step out"]
    found = counted(play(actors, lines * 3, back_end, **KERNEL), "compute_sum")
    assert found["joined_bytes"] == 3 * 512 * 512 * 8, found
    assert found["stripes"] == 3 and found["partial_stripes"] == 0, found


def test_a_rank_that_does_not_call_holds_up_nobody(actors: Actors) -> None:
    """The others write all stripes, and their steps are there when it comes back."""
    lines = [*STEP * 2, "@1 pause 1", *["@!1 progress", "@!1 pause 0.1"] * 5]
    job = play(actors, [*lines, "wait_step out 1"], **KERNEL)
    assert max(entry["seconds"] for entry in job.calls("put")) < 0.5, job
    assert max(entry["seconds"] for entry in job.calls("end_step")) < 0.5, job


@pytest.mark.parametrize("memory", ["64 KiB", "256 KiB", "1 MiB", "4 MiB"])
@pytest.mark.parametrize("back_end", ["posix", "hdf5"])
def test_stripes_of_ranks_that_have_little_memory(
    actors: Actors, back_end: str, memory: str
) -> None:
    client = {"buffer_memory": memory}
    play(actors, ["@1 pause 0.2", *STEP, "@0 pause 0.2", *STEP], back_end, client=client, **KERNEL)


def test_holes_of_stripes_that_ranks_fill_stay_holes(actors: Actors) -> None:
    lines = ["@0 put out u start=10x7 count=300x100", "@2 put out u start=10x107 count=300x100"]
    job = play(actors, [*lines, "end_step out"], check=False, **KERNEL)
    assert counted(job, "compute_sum")["partial_stripes"] == 2, job
    found = np.fromfile(job.folder / "out.dat").reshape(512, 512)
    expected = np.zeros((512, 512))
    part = np.s_[10:310, 7:207]
    expected[part] = values("float64", 512 * 512, 0).reshape(512, 512)[part]
    assert (found == expected).all()


# Each rank has 128 of the 512 columns, but for the last one: holes of 8 bytes.
PUT = "put out u start=0x{} count=512x127"
PUTS = [f"@{rank} {PUT.format(128 * rank)}" for rank in range(4)]
HOLES = np.s_[:, 127::128]


def with_holes(step: int, fill: int = 0) -> npt.NDArray[np.int64]:
    there: npt.NDArray[np.int64] = values("i8", 512 * 512, step).reshape(512, 512)
    there[HOLES] = fill
    return there


def play_holes(
    actors: Actors, lines: list[str], back_end: str = "posix", fill: int = 0, **file: Any
) -> tuple[Job, dict[str, float]]:
    skip_if_missing(actors.build, back_end)
    path = f"out{extension(back_end)}"
    settings = KERNEL | {
        "trace": {"json": "trace.json"},
        "files": {"out": file_settings(back_end, path=path, **file)},
    }
    begin = ["init", "open out series", "define out u int64 512x512"]
    begin += [f"fill out u {fill}"] * (fill != 0)
    script = "\n".join([*begin, *lines, "close out"])
    job = actors.play(script, ranks=4, settings=settings, seconds=60)
    assert not job.failures() and job.status == 0, job
    steps = sum(line.startswith("end_step") for line in lines)
    for step in range(steps):
        found = values_in(back_end, job.folder / path, step, "u")
        assert found is not None and (found == with_holes(step, fill)).all(), f"step {step}: {job}"
    return job, counted(job, "compute_sum")


@pytest.mark.parametrize("fill", [0, -5])
@pytest.mark.parametrize("back_end", ["posix", "hdf5", "netcdf", "pnetcdf"])
def test_a_stripe_with_short_holes_is_written_as_one(
    actors: Actors, back_end: str, fill: int
) -> None:
    """In the first step, where the holes must be found, and in the others, where they are known."""
    _, found = play_holes(actors, [*PUTS, "end_step out"] * 3, back_end, fill)
    assert found["stripes"] == 3 and found["partial_stripes"] == 0, found


@pytest.mark.parametrize("fill", [0, -5])
def test_what_a_rank_has_waited_for_is_not_written_over_with_holes(
    actors: Actors, fill: int
) -> None:
    """The others put after what was there of the stripe has been written."""
    lines = [PUTS[0], "@0 wait out written", "barrier", *PUTS[1:], "end_step out"]
    _, found = play_holes(actors, lines * 2, fill=fill)
    assert found["stripes"] == 0 and found["partial_stripes"] > 2, found


def test_ranks_whose_puts_may_overlap_share_no_stripes(actors: Actors) -> None:
    _, found = play_holes(actors, [*PUTS, "end_step out"] * 2, overlap="any")
    assert found["joined_bytes"] == 0, found


def test_stripes_with_holes_of_a_rank_that_is_killed(actors: Actors) -> None:
    """Committed steps stay, and a step that the rank has put half of does not appear."""
    lines = ["init", "open out series", "define out u int64 512x512"]
    for step in range(2):
        lines += [*PUTS, "end_step out", f"wait_step out {step}"]
    lines += [*PUTS[:3], "barrier", "@0 kill 3", "end_step out", "close out"]
    settings = KERNEL | {"files": {"out": file_settings("pnetcdf", path="out.nc")}}
    skip_if_missing(actors.build, "pnetcdf")
    job = actors.play("\n".join(lines), ranks=4, settings=settings, seconds=60)
    assert job.status != 0 and job.calls("kill"), job
    for step in range(2):
        found = values_in("pnetcdf", job.folder / "out.nc", step, "u")
        assert found is not None and (found == with_holes(step)).all(), f"step {step}: {job}"
    with Foreign(job.folder / "out.nc") as files:
        assert set(files.steps) == {0, 1}, job


def test_a_failed_write_of_a_stripe_fails_all_who_filled_it(actors: Actors) -> None:
    """The rank that comes last writes, and its disk fails."""
    lines = ["@3 pause 0.2", "@3 fault pwrite EIO times=100 path=out", *STEP, "wait_step out 0"]
    lines = ["init", "open out series", "define out u float64 512x512", *lines, "close out"]
    settings = KERNEL | {"files": {"out": file_settings("posix", path="out.dat")}}
    job = actors.play("\n".join(lines), ranks=4, settings=settings, seconds=60)
    waited = job.failures(call="wait_step")
    assert len(waited) == 4, job
    assert all("writing" in entry["story"] for entry in waited), job
