# SPDX-License-Identifier: BSD-3-Clause
"""The length of files: the bytes that were put, and little more."""

from __future__ import annotations

from pathlib import Path

import pytest
from actors import Actors
from files import MODES, file_settings, mode_settings

ELEMENTS = 500_000
BYTES = 8 * ELEMENTS
MORE = 1 << 20
WAYS = [
    (back_end, mode)
    for back_end in ("hdf5", "hdf5-time", "netcdf", "hdf5-deflate", "netcdf-deflate")
    for mode in MODES
    if not (back_end.endswith("deflate") and mode == "kernel")
]


def allowed(steps: int) -> int:
    return round(1.01 * steps * BYTES) + MORE


@pytest.mark.parametrize("steps", [1, 10])
@pytest.mark.parametrize(("back_end", "mode"), WAYS)
def test_a_series_has_no_room_for_steps_that_do_not_come(
    actors: Actors, back_end: str, mode: str, steps: int
) -> None:
    lines = ["init", "open out series", f"define out u float64 {ELEMENTS}"]
    lines += ["put out u", "end_step out"] * steps + ["close out"]
    settings = mode_settings(mode, "2 per node")
    settings["files"] = {"out": file_settings(back_end, path="out")}
    job = actors.play(
        "\n".join(lines), ranks=4 if mode == "async" else 2, settings=settings
    )
    assert job.status == 0 and not job.failures(), job
    size = (job.folder / "out").stat().st_size
    assert size <= allowed(steps)
    if not back_end.endswith("deflate"):
        assert size >= steps * BYTES


@pytest.mark.parametrize("back_end", ["hdf5", "hdf5-time", "netcdf"])
def test_a_later_job_leaves_no_room_either(actors: Actors, back_end: str) -> None:
    folder: Path | None = None
    for number in range(3):
        lines = ["init", "open out series", f"define out u float64 {ELEMENTS}"]
        lines += [f"begin_step out {number}", "put out u", "end_step out", "close out"]
        settings = {"mode": "async", "placement": {"servers": "none"}}
        settings["files"] = {"out": file_settings(back_end, path="out", existing="continue")}
        job = actors.play("\n".join(lines), ranks=2, settings=settings, folder=folder)
        assert job.status == 0 and not job.failures(), job
        folder = job.folder
        assert (folder / "out").stat().st_size <= allowed(number + 1)
