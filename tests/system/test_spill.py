# SPDX-License-Identifier: BSD-3-Clause
"""Memory that is full, and a directory where what finds no room goes meanwhile: when_full spill."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from actors import INVALID_SETTING, OK, STORAGE_FAILURE, Actors, Job
from files import WAYS, check_file, check_whole_or_absent, extension, file_settings, skip_if_missing
from places import slow_disk, small_disk

STEPS = 6
SHAPE = "512x1024"  # 4 MiB a step
STEP_BYTES = 512 * 1024 * 8
# By whom a target is written: servers, or each rank from copies.
# (A server that writes through MPI-IO takes nothing in meanwhile, so its memory does not fill.)
SPILLING = [(b, m) for b, m in WAYS if m != "sync" and b != "mpiio"]
# Every call that writes takes 50 ms more. (The file for spilling has no name: it is "(deleted)".)
SLOW_TARGET = [f"@{rank} fault pwrite SLOW path=out" for rank in range(4)]


def settings(back_end: str, mode: str, spill: Path | str, **more: object) -> dict[str, Any]:
    path = f"out{extension(back_end)}"
    chosen = file_settings(back_end, path=path, **{"when_full": "spill", "guard": False, **more})
    return {
        "mode": "async",
        "placement": {"servers": "none"} if mode == "kernel" else {},
        "transport": {} if mode == "kernel" else {"kind": "message"},
        "staging": {"memory": "4 MiB", "spill": str(spill)},
        "client": {"buffer_memory": "2 MiB"},
        "disk": {"engine": "threads"},
        "trace": {"json": "trace.json"},
        "log": "info",
        "files": {"out": chosen},
    }


def script(*middle: str, by: str = "rows", steps: int = STEPS) -> str:
    """Return a script that puts one step after the other, while the target is slow."""
    # Some columns alone are limited: blocks that find no room in a stripe are written row by row.
    slow = SLOW_TARGET if by == "rows" else [f"{line} times=30" for line in SLOW_TARGET]
    first = [*slow, "init", "open out series", f"define out u int64 {SHAPE}"]
    puts = [f"put out u by={by} buffered=yes ticket=none", "end_step out"] * steps
    return "\n".join([*first, *puts, *middle, "close out"])


def counted(job: Job) -> dict[str, float]:
    """Return what all ranks and servers have counted together."""
    found: dict[str, float] = {}

    def add(part: object) -> None:
        if isinstance(part, dict):
            for key, value in part.items():
                if isinstance(value, (int, float)):
                    found[key] = max(found.get(key, 0), value)
                else:
                    add(value)
        elif isinstance(part, list):
            for one in part:
                add(one)

    add(json.loads((job.folder / "trace.json").read_text()))
    return found


def seconds_of(job: Job, *calls: str) -> float:
    """Return what the slowest rank has spent in such calls."""
    spent: dict[int, float] = {}
    for call in calls:
        for entry in job.calls(call):
            spent[entry["rank"]] = spent.get(entry["rank"], 0) + entry["seconds"]
    return max(spent.values())


@contextmanager
def spill_folder(actors: Actors) -> Iterator[Path]:
    folder = actors.folder / "spill"
    folder.mkdir()
    yield folder
    assert not list(folder.iterdir()), "something is left of what was spilled"


# By columns servers put stripes together; a rank alone would write each row of its part by itself.
WAYS_BY = [(b, m, "rows") for b, m in SPILLING] + [
    (b, "async", "columns") for b in ("posix", "hdf5")
]


@pytest.mark.parametrize(("back_end", "mode", "by"), WAYS_BY)
def test_ranks_run_on_while_the_target_is_slow(
    actors: Actors, back_end: str, mode: str, by: str
) -> None:
    """Puts cost what the local disk costs, and all values are right in the end."""
    skip_if_missing(actors.build, back_end)
    with spill_folder(actors) as spill:
        job = actors.play(
            script(by=by), ranks=4, settings=settings(back_end, mode, spill), seconds=100
        )
    assert job.status == 0 and not job.failures(), job
    assert check_file(job.folder / f"out{extension(back_end)}") == set(range(STEPS))
    if by == "columns":
        assert counted(job)["spilled_bytes"] > 0, counted(job)
        return
    assert counted(job)["spilled_bytes"] > STEP_BYTES, counted(job)
    assert seconds_of(job, "put", "end_step") < seconds_of(job, "close") / 3, job


@pytest.mark.parametrize("mode", ["async", "kernel"])
@pytest.mark.parametrize("when_full", ["spill", "wait"])
def test_on_a_disk_that_is_slow(actors: Actors, mode: str, when_full: str) -> None:
    """A real one: with `spill` ranks run on at the speed of the other disk, with `wait` at its own."""
    slow = 2 * STEP_BYTES  # in a second
    with small_disk(actors.folder / "fast", "64m") as spill, slow_disk(actors.folder, slow) as words:
        chosen = settings("posix", mode, spill, when_full=when_full)
        chosen["disk"] = {"direct": "on"}
        text = "\n".join(line for line in script().splitlines() if line not in SLOW_TARGET)
        job = actors.play(text, ranks=4, settings=chosen, prefix=words, seconds=100)
    assert job.status == 0 and not job.failures(), job
    assert check_file(job.folder / "out.dat") == set(range(STEPS))
    puts, close = seconds_of(job, "put", "end_step"), seconds_of(job, "close")
    assert puts + close > (STEPS - 1) * STEP_BYTES / slow, job  # it was slow
    if when_full == "spill":
        assert counted(job)["spilled_bytes"] > STEP_BYTES, counted(job)
        assert puts < close / 3, job
    else:
        assert puts > close, job


@pytest.mark.parametrize("mode", ["async", "kernel"])
def test_without_spilling_puts_wait(actors: Actors, mode: str) -> None:
    """The same with when_full wait: so what the tests above measure is the spilling."""
    chosen = settings("posix", mode, actors.folder, when_full="wait")
    job = actors.play(script(), ranks=4, settings=chosen, seconds=100)
    assert job.status == 0 and not job.failures(), job
    assert counted(job)["spilled_bytes"] == 0
    assert seconds_of(job, "put", "end_step") > seconds_of(job, "close"), job


@pytest.mark.parametrize("mode", ["async", "kernel"])
def test_a_spilled_block_is_handed_over_and_nothing_more(actors: Actors, mode: str) -> None:
    """Its memory is free long before it is written; a step that was waited for is in the file."""
    lines = ["wait out handed_over", "wait out written", "wait out durable"]
    lines += [f"wait_step out {step}" for step in range(STEPS)]
    text = script(*lines).replace(" ticket=none", "")
    with spill_folder(actors) as spill:
        job = actors.play(text, ranks=4, settings=settings("posix", mode, spill), seconds=100)
    assert job.status == 0 and not job.failures(), job
    assert check_file(job.folder / "out.dat") == set(range(STEPS))
    first, second, _ = sorted({entry["line"] for entry in job.calls("wait")})
    handed_over = [entry["seconds"] for entry in job.calls("wait", line=first)]
    written = [entry["seconds"] for entry in job.calls("wait", line=second)]
    assert handed_over and sum(handed_over) < sum(written) / 3, job


@pytest.mark.parametrize("mode", ["async", "kernel"])
def test_a_full_spill_disk_makes_puts_wait(actors: Actors, mode: str) -> None:
    """A warning tells it once; nothing is lost, nothing hangs."""
    with small_disk(actors.folder / "tiny", "2m") as spill:
        job = actors.play(script(), ranks=4, settings=settings("posix", mode, spill), seconds=100)
    assert job.status == 0 and not job.failures(), job
    assert check_file(job.folder / "out.dat") == set(range(STEPS))
    told = [line for line in job.stderr.splitlines() if "cannot spill" in line]
    assert 0 < len(told) <= 4, job
    assert all("No space left on device" in line and 'variable "u"' in line for line in told), told
    assert seconds_of(job, "put", "end_step") > seconds_of(job, "close") / 3, job
    assert "is a tmpfs" in job.stderr.replace("because that is", "is"), job


def test_a_reached_limit_makes_puts_wait(actors: Actors) -> None:
    with spill_folder(actors) as spill:
        chosen = settings("posix", "async", spill)
        chosen["staging"]["spill_limit"] = "1 MiB"
        job = actors.play(script(), ranks=4, settings=chosen, seconds=100)
    assert job.status == 0 and not job.failures(), job
    assert check_file(job.folder / "out.dat") == set(range(STEPS))
    assert "staging.spill_limit is reached" in job.stderr, job


@pytest.mark.parametrize("mode", ["async", "kernel"])
def test_what_cannot_be_spilled_waits(actors: Actors, mode: str) -> None:
    """A disk that fails where data are spilled to costs time, and no block."""
    faults = [f"@{rank} fault pwrite EIO after=2 path=(deleted)" for rank in range(4)]
    text = "\n".join([*faults, script()])
    job = actors.play(text, ranks=4, settings=settings("posix", mode, "."), seconds=100)
    assert job.status == 0 and not job.failures(), job
    assert check_file(job.folder / "out.dat") == set(range(STEPS))
    told = [line for line in job.stderr.splitlines() if "cannot spill" in line]
    assert told and all("Input/output error" in line for line in told), job


@pytest.mark.parametrize("mode", ["async", "kernel"])
def test_what_cannot_be_read_back_is_told_to_who_put_it(actors: Actors, mode: str) -> None:
    """File, variable, step and cause; the step is dropped, others stay."""
    faults = "\n".join(f"@{rank} fault pread EIO times=1 path=(deleted)" for rank in range(4))
    lines = ["wait out durable", *(f"wait_step out {step}" for step in range(STEPS))]
    text = f"{faults}\n{script(*lines)}".replace(" ticket=none", "")
    job = actors.play(text, ranks=4, settings=settings("posix", mode, "."), seconds=100)
    assert job.status == 0, job
    told = job.failures(file="out", call="wait")
    assert told and all(entry["code"] == STORAGE_FAILURE for entry in told), job
    for entry in told:
        assert 'file "out"' in entry["story"] and 'variable "u"' in entry["story"], entry
        assert f"step {entry['step']}" in entry["story"], entry
        assert "bytes back that were spilled to" in entry["story"], entry
        assert "Input/output error" in entry["story"], entry
    steps = job.calls("wait_step", file="out")
    failed = {entry["step"] for entry in steps if entry["code"] != OK}
    kept = {entry["step"] for entry in steps} - failed
    assert failed >= {entry["step"] for entry in told} and kept, job
    check_whole_or_absent(job.folder / "out.dat", committed=kept, failed=failed)


@pytest.mark.parametrize("mode", ["async", "kernel"])
def test_killed_while_it_spills(actors: Actors, mode: str) -> None:
    """All that was committed is there, nothing that was only spilled is, and nothing is left."""
    lines = ["wait_step out 0", *(f"@0 kill {rank}" for rank in (3, 2, 1, 0)), "pause 30"]
    with spill_folder(actors) as spill:
        job = actors.play(
            script(*lines),
            ranks=4,
            settings=settings("posix", mode, spill),
            alone=True,
            seconds=100,
        )
    assert job.status != 0, job
    done = {e["step"] for e in job.calls("wait_step", file="out") if e["code"] == OK}
    assert done == {0}, job
    check_whole_or_absent(job.folder / "out.dat", committed=done)


@pytest.mark.parametrize("mode", ["async", "kernel"])
def test_a_folder_that_is_absent_is_told(actors: Actors, mode: str) -> None:
    absent = actors.folder / "absent"
    text = script("wait_step out 0", steps=1)
    job = actors.play(text, ranks=4, settings=settings("posix", mode, absent), seconds=100)
    told = job.failures(file="out")
    assert told, job
    assert any(
        f'staging.spill = "{absent}": cannot open the folder {absent}: No such file or directory'
        in entry["story"]
        for entry in told
    ), job
    assert not (job.folder / "out.dat").exists()


def test_whole_steps_cannot_be_spilled(actors: Actors) -> None:
    chosen = settings("hdf5-deflate", "async", actors.folder)
    job = actors.play("init\nopen out series", ranks=4, settings=chosen)
    assert {entry["code"] for entry in job.failures(call="open")} == {INVALID_SETTING}, job
    assert "writes whole steps out of memory" in job.failures(call="open")[0]["story"], job


@pytest.mark.parametrize("mode", ["kernel", "async"])
def test_a_folder_that_is_not_there_is_told_by_open(actors: Actors, mode: str) -> None:
    job = actors.play(script(), ranks=4, settings=settings("posix", mode, "/nowhere"))
    told = job.calls("open")
    assert all(entry["code"] == STORAGE_FAILURE and "/nowhere" in entry["story"] for entry in told), job
    assert len(told) == (2 if mode == "async" else 4), job
