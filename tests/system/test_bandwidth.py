# SPDX-License-Identifier: BSD-3-Clause
"""files.*.bandwidth: how fast the writers of a file may be, together."""

from __future__ import annotations

from typing import Any

import pytest
from actors import Actors
from files import WAYS, check_file, extension, file_settings, mode_settings, skip_if_missing

STEPS = 8
SHAPE = "256x1024"  # 2 MiB a step
BYTES = STEPS * 256 * 1024 * 8
RATE = 8 << 20  # bytes per second: two seconds for all of it
# The limit lets this through before the first second is over: a slice, and what may be made up for.
AT_ONCE = RATE * (1 / 16 + 0.05)


def settings(back_end: str, mode: str) -> dict[str, Any]:
    limited = file_settings(back_end, path=f"out{extension(back_end)}", bandwidth="8 MiB/s")
    free = file_settings(back_end, path=f"free{extension(back_end)}")
    return {**mode_settings(mode), "files": {"out": limited, "free": free}, "wait": {"deadline": 1}}


def script(name: str) -> list[str]:
    lines = [f"open {name} series", f"define {name} u int64 {SHAPE}"]
    lines += [f"put {name} u buffered=yes ticket=none", f"end_step {name}"] * STEPS
    return [*lines, f"close {name}"]


@pytest.mark.parametrize(("back_end", "mode"), WAYS)
def test_a_file_is_written_no_faster(actors: Actors, back_end: str, mode: str) -> None:
    """Also by close; with a deadline that is shorter than what the limit takes."""
    skip_if_missing(actors.build, back_end)
    lines = ["init", *script("out"), *script("free")]
    job = actors.play("\n".join(lines), ranks=4, settings=settings(back_end, mode), seconds=60)
    assert job.status == 0 and not job.failures(), job
    for name in ("out", "free"):
        assert check_file(job.folder / f"{name}{extension(back_end)}") == set(range(STEPS))
    opened = min(entry["at_seconds"] for entry in job.calls("open", file="out"))
    closed = max(entry["at_seconds"] for entry in job.calls("close", file="out"))
    assert closed - opened >= (BYTES - 4 * AT_ONCE) / RATE, job


@pytest.mark.parametrize("mode", ["async", "kernel"])
def test_other_files_are_not_slowed(actors: Actors, mode: str) -> None:
    """One that is opened later is closed first, although the other is written all the time."""
    limited, free = script("out"), script("free")
    lines = ["init", *limited[:-1], *free, limited[-1]]
    job = actors.play("\n".join(lines), ranks=4, settings=settings("posix", mode), seconds=60)
    assert job.status == 0 and not job.failures(), job
    began = min(entry["at_seconds"] for entry in job.calls("open", file="out"))
    ended = {
        name: max(entry["at_seconds"] for entry in job.calls("close", file=name)) - began
        for name in ("out", "free")
    }
    assert ended["out"] >= (BYTES - 4 * AT_ONCE) / RATE, job
    assert ended["free"] < ended["out"], job
    assert check_file(job.folder / "free.dat") == check_file(job.folder / "out.dat")
