# SPDX-License-Identifier: BSD-3-Clause
"""Blocks of short runs become long writes, whoever comes late, waits early or has little memory."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from actors import Actors, Job
from files import check_file, extension, file_settings, mode_settings, skip_if_missing, values

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
    found = counted(play(actors, STEP * 2, staging={"stripe": "0 B"}))
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
    staging = {"memory": "2 MiB", "stripe": "64 KiB"}
    found = counted(
        play(actors, STEP * 3, transport={"kind": "shared", "way": way}, staging=staging)
    )
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
