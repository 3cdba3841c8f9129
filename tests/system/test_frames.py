# SPDX-License-Identifier: BSD-3-Clause
"""Compressed checkpoints of posix: iocomp 0.2 has written them, this release reads them.

Those in `frames/` are of two ranks: `u` by columns, `v` by rows and unshuffled, `w` not
compressed, and `h`, of which nobody has put the last three rows.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from actors import INVALID_SETTING, Actors
from files import file_settings, mode_settings

from iocomp import open_files

ROWS, COLUMNS = 24, 60


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Return the path of a set that this test may change."""
    for file in (Path(__file__).parent / "frames").iterdir():
        shutil.copy(file, tmp_path)
    return tmp_path / "out.bin"


def verify(actors: Actors, path: Path) -> tuple[int, list[dict[str, object]]]:
    done = subprocess.run(
        [actors.build.command, "verify", str(path), "--json"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    return done.returncode, json.loads(done.stdout)["damaged"] if done.stdout else []


def test_all_values_are_read(actors: Actors, old: Path) -> None:
    numbers = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS)
    with open_files(old) as files:
        assert files.steps == [0, 1]
        for step in files.steps:
            h = np.zeros((6, 8), "i8")
            h[:3] = np.arange(24).reshape(3, 8) + step
            np.testing.assert_array_equal(files.read("u", step), numbers / 8 + step)
            np.testing.assert_array_equal(files.read("v", step), numbers // 7 + step)
            np.testing.assert_array_equal(files.read("w", step), np.arange(7) + 100 * step)
            np.testing.assert_array_equal(files.read("h", step), h)
            part = files.read("u", step, np.s_[3:7, 25:35])
            np.testing.assert_array_equal(part, numbers[3:7, 25:35] / 8 + step)
    assert verify(actors, old) == (0, [])


def test_a_flipped_byte_of_a_frame_is_found(actors: Actors, old: Path) -> None:
    file = old.with_name("out.000001.bin")
    raw = bytearray(file.read_bytes())
    length = int.from_bytes(raw[-24:-16], "little")
    index = json.loads(raw[-24 - length : -24])
    offset, size = next(each for each in index["variables"] if each["name"] == "u")["frames"][1][:2]
    raw[offset + size // 2] ^= 4
    file.write_bytes(raw)
    status, damaged = verify(actors, old)
    assert status == 1, damaged
    assert {(each["variable"], each["step"]) for each in damaged} == {("u", 1)}, damaged


def test_posix_is_not_compressed(actors: Actors) -> None:
    settings = {**mode_settings("sync"), "files": {"out": file_settings("posix", compression="zstd")}}
    job = actors.play("init\nopen out checkpoint\n", ranks=2, settings=settings)
    assert [entry["code"] for entry in job.calls("open")] == [INVALID_SETTING] * 2, job
    assert all("zarr compresses checkpoints" in entry["story"] for entry in job.calls("open")), job
