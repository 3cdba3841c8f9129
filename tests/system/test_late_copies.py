# SPDX-License-Identifier: BSD-3-Clause
"""Memory that the program waits for is copied: it is free long before the disk has it.

Memory that is not aligned is copied too, to go past the page cache.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from actors import Actors, Job
from files import check_file, extension, file_settings, mode_settings, skip_if_missing

STEPS = 3
SHAPE = "2048x2048"  # 32 MiB
STEP_BYTES = 2048 * 2048 * 8


def play(actors: Actors, lines: list[str], back_end: str = "posix", **more: Any) -> Job:
    skip_if_missing(actors.build, back_end)
    path = f"out{extension(back_end)}"
    files = {"out": file_settings(back_end, path=path, guard=False)}
    settings: dict[str, Any] = {
        "placement": {"servers": "none"},
        "trace": {"json": "trace.json", "lines": "summary"},
        "test": {"request": "1 MiB"},
        "client": {"buffer_memory": "256 MiB"},
        "files": files,
    }
    for key, value in more.items():
        settings[key] = settings.get(key, {}) | value if isinstance(value, dict) else value
    lines = ["init", "open out series", f"define out u float64 {SHAPE}", *lines, "close out"]
    job = actors.play("\n".join(lines), ranks=2, settings=settings, seconds=60)
    assert not job.failures(), job
    assert job.status == 0, job
    if back_end != "netcdf":
        assert check_file(job.folder / path) == set(range(STEPS))
    return job


def counted(job: Job) -> dict[str, float]:
    trace: dict[str, dict[str, float]] = json.loads((job.folder / "trace.json").read_text())
    return trace["compute_sum"]


WAITING = ["put out u", "wait out handed_over", "end_step out"] * STEPS


@pytest.mark.parametrize("engine", ["auto", "threads"])
@pytest.mark.parametrize("back_end", ["posix", "hdf5"])
def test_who_waits_for_memory_gets_it_by_a_copy(actors: Actors, back_end: str, engine: str) -> None:
    job = play(actors, WAITING, back_end, disk={"engine": engine})
    found = counted(job)
    assert 1 <= found["late_copies"] <= 2 * STEPS, found
    assert 0 < found["late_copied_bytes"] <= STEPS * STEP_BYTES, found
    assert 0 < found["late_copy_seconds"] < found["call_seconds"], found
    assert "copied because the program waited for them" in job.output, job


def test_who_asks_again_and_again_gets_it_too(actors: Actors) -> None:
    lines = ["put out u", "poll out handed_over", "end_step out"] * STEPS
    assert counted(play(actors, lines))["late_copies"] > 0


def test_nothing_is_copied_without_room(actors: Actors) -> None:
    found = counted(play(actors, WAITING, client={"buffer_memory": "4 MiB"}))
    assert found["late_copies"] == 0 and found["late_copied_bytes"] == 0, found


def test_nothing_is_copied_for_who_does_not_wait(actors: Actors) -> None:
    found = counted(play(actors, ["put out u", "end_step out"] * STEPS))
    assert found["late_copies"] == 0 and found["lent_bytes"] == STEPS * STEP_BYTES, found


def test_a_file_that_is_written_slowly_holds_up_nobody(actors: Actors) -> None:
    """A put that has to wait for its turn is copied: each wait would else take a second."""
    slow = file_settings("posix", path="out.dat", guard=False, bandwidth="32 MiB/s")
    found = counted(play(actors, WAITING, files={"out": slow}))
    assert found["late_copied_bytes"] > STEP_BYTES / 2, found


def need_direct(folder: Path) -> None:
    try:
        os.close(os.open(folder / "probe", os.O_CREAT | os.O_WRONLY | os.O_DIRECT))
    except OSError as error:
        pytest.skip(f"the file system of {folder} has no O_DIRECT: {error}")


@pytest.mark.parametrize("put", ["put out u in=heap", "put out u in=heap buffered=yes"])
@pytest.mark.parametrize("mode", ["kernel", "sync"])
@pytest.mark.parametrize("back_end", ["posix", "hdf5", "netcdf", "pnetcdf"])
def test_memory_of_malloc_goes_past_the_page_cache(
    actors: Actors, back_end: str, mode: str, put: str
) -> None:
    """It begins somewhere in a page, and a copy of it as the file does."""
    need_direct(actors.folder)
    more = mode_settings(mode) | {"disk": {"direct": "auto"}}
    found = counted(play(actors, [put, "end_step out"] * STEPS, back_end, **more))
    assert found["direct_bytes"] + found["buffered_bytes"] >= STEPS * STEP_BYTES, found
    assert found["buffered_bytes"] < STEPS * STEP_BYTES / 50, found
    if back_end != "pnetcdf":  # its records begin anywhere in a page
        # malloc puts one block in 256 where the file has it, and that block is lent.
        assert found["copied_bytes"] + found["lent_bytes"] == STEPS * STEP_BYTES, found  # once
        assert found["copied_bytes"] >= STEPS * STEP_BYTES / 2, found
