# SPDX-License-Identifier: BSD-3-Clause
"""A limit of open files (`ulimit -n`): told, never waited for, and nothing is left behind."""

from __future__ import annotations

import pytest
from actors import OK, Actors
from files import (
    READABLE_WAYS,
    check_file,
    extension,
    file_settings,
    leftovers,
    mode_settings,
    skip_if_missing,
)

RANKS = 4


def script(kind: str, left: int) -> str:
    lines = ["init", *(f"@0 leave_descriptors {left} of={rank}" for rank in range(RANKS)), "barrier"]
    lines += [f"open out {kind}", "define out u int64 64x32"]
    for step in range(3):
        lines += ["put out u", "end_step out", f"wait_step out {step}"]
    return "\n".join([*lines, "close out"])


@pytest.mark.parametrize("kind", ["series", "checkpoint"])
@pytest.mark.parametrize(("back_end", "mode"), READABLE_WAYS)
def test_too_few_are_told(actors: Actors, back_end: str, mode: str, kind: str) -> None:
    skip_if_missing(actors.build, back_end)
    ending = extension(back_end)
    path = f"out{ending}"
    for left in [*range(14), 40]:
        job = actors.play(
            script(kind, left),
            ranks=RANKS,
            settings={**mode_settings(mode), "files": {"out": file_settings(back_end, path=path)}},
        )
        assert job.status == 0, job
        told = [entry["story"] for entry in job.failures()]
        assert not told or any("Too many open files" in story for story in told), (left, job)
        # To remove a folder takes a descriptor.
        assert back_end == "zarr" or not leftovers(job.folder), (left, job)
        committed = {entry["step"] for entry in job.calls("wait_step", file="out", code=OK)}
        if kind == "series":
            found = check_file(job.folder / path) if (job.folder / path).exists() else set()
        else:
            names = [job.folder / f"out.{step:06}{ending}" for step in range(3)]
            found = {step for step, name in enumerate(names) if name.exists() and check_file(name)}
        assert committed <= found, (left, job)
        assert committed == {0, 1, 2} or left < 40, (left, job)
