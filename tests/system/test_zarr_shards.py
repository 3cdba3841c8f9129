# SPDX-License-Identifier: BSD-3-Clause
"""A shard of Zarr has its chunks in row-major order, so long runs go straight to their places."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from actors import Actors, Job
from files import MODES, file_settings, mode_settings, skip_if_missing, values, values_in

ROWS, COLUMNS = 60, 5000
CHUNK_ROWS = 5  # as many as 200 KiB take
STEPS = 2


def play(actors: Actors, mode: str, puts: str) -> Job:
    skip_if_missing(actors.build, "zarr")
    out = file_settings("zarr", path="out.zarr", chunk="200 KiB", guard=False)
    script = f"init\nopen out series\ndefine out u float64 {ROWS}x{COLUMNS}\n"
    script += STEPS * f"{puts}\nend_step out\n" + "close out\n"
    job = actors.play(script, ranks=3, settings=mode_settings(mode) | {"files": {"out": out}})
    assert job.status == 0 and not job.failures(), job
    return job


def expected(step: int) -> npt.NDArray[np.float64]:
    return values("f8", ROWS * COLUMNS, step).reshape(ROWS, COLUMNS)


def raw(job: Job, step: int) -> npt.NDArray[np.float64]:
    """Return the first bytes of a shard as they lie in the file."""
    shard: Path = job.folder / f"out.zarr/u/c.{step}.0.0"
    return np.fromfile(shard, np.float64, ROWS * COLUMNS).reshape(ROWS, COLUMNS)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("put", ["by=rows", "by=columns", "by=columns buffered=yes"])
def test_long_runs_lie_in_place(actors: Actors, mode: str, put: str) -> None:
    """With columns, each chunk has parts of all ranks."""
    job = play(actors, mode, f"put out u {put}")
    for step in range(STEPS):
        np.testing.assert_array_equal(raw(job, step), expected(step))
        found = values_in("zarr", job.folder / "out.zarr", step, "u")
        assert found is not None
        np.testing.assert_array_equal(found, expected(step))


@pytest.mark.parametrize("mode", MODES)
def test_what_nobody_puts_is_zero(actors: Actors, mode: str) -> None:
    """Chunks that nobody has touched are not there at all."""
    job = play(actors, mode, "@0 put out u start=0x0 count=7x5000\n@1 put out u start=40x9 count=3x4000")
    for step in range(STEPS):
        there = np.zeros((ROWS, COLUMNS))
        there[:7] = expected(step)[:7]
        there[40:43, 9:4009] = expected(step)[40:43, 9:4009]
        found = values_in("zarr", job.folder / "out.zarr", step, "u")
        assert found is not None
        np.testing.assert_array_equal(found, there)
        index = np.fromfile(job.folder / f"out.zarr/u/c.{step}.0.0", np.uint8)[-16 * 12 - 4 : -4]
        offsets = index.view(np.int64)[::2]
        assert [chunk for chunk in range(12) if offsets[chunk] >= 0] == [0, 1, 8], offsets
