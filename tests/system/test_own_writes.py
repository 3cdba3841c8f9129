# SPDX-License-Identifier: BSD-3-Clause
"""Blocks that ranks with servers give to the kernel themselves."""

from __future__ import annotations

import json

from actors import Actors, Job
from files import check_file, file_settings

KERNEL_FROM = 4096
BLOCK = 512 * 1024 * 8  # of each of two ranks


def play(actors: Actors, lines: list[str]) -> tuple[Job, list[str]]:
    """Write blocks that lie alike in memory and file; return also what was chosen, and why."""
    first = ["init", "@0 fault pwrite SLOW path=out", "@1 fault pwrite SLOW path=out"]
    lines = [*first, "open out series", "define out u float64 1024x1024", *lines, "close out"]
    job = actors.play(
        "\n".join(lines),
        ranks=4,
        settings={
            "test": {"kernel_from": KERNEL_FROM},
            "trace": {"json": "trace.json"},
            "files": {"out": file_settings("posix", path="out.dat", guard=False)},
        },
        seconds=60,
    )
    assert job.status == 0 and not job.failures(), job
    return job, json.loads((job.folder / "trace.json").read_text())["choices"]


def test_who_waits_for_memory_gets_a_server(actors: Actors) -> None:
    steps = 6
    job, choices = play(actors, ["put out u", "wait out handed_over", "end_step out"] * steps)
    assert check_file(job.folder / "out.dat") == set(range(steps))
    told = [text for text in choices if "by servers after step" in text]
    assert told, choices
    assert all("the program waited" in text for text in told), told


def test_who_does_not_wait_goes_on_without(actors: Actors) -> None:
    steps = 6
    lines = ["put out u", "end_step out", "pause 0.3", "wait out handed_over"] * steps
    job, choices = play(actors, lines)
    assert check_file(job.folder / "out.dat") == set(range(steps))
    assert not [text for text in choices if "by servers" in text], choices
    assert [text for text in choices if "by the kernel" in text], choices
