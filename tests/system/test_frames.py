# SPDX-License-Identifier: BSD-3-Clause
"""Compressed checkpoints of posix: frames of Zstandard with an index, read by all of ours."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from actors import INVALID_SETTING, Actors, Job
from files import file_settings, mode_settings, values

from iocomp import open_files

ROWS, COLUMNS = 64, 300
STEP = (
    "put out u by=columns\nput out v by=rows\nput out s writer=1\n"
    "@0 put out h start=0x0 count=3x8\nend_step out\n"
)
SCRIPT = (
    f"init\nopen out checkpoint\ndefine out u float64 {ROWS}x{COLUMNS}\n"
    f"define out v int32 {ROWS}x{COLUMNS}\ndefine out s float64 scalar\n"
    f"define out h int64 6x8\n{STEP}{STEP}close out\n"
)


def settings(mode: str, **more: object) -> dict[str, Any]:
    chosen = {"compression": "zstd", "chunk": "16 KiB", "path": "out.dat", **more}
    return {**mode_settings(mode), "files": {"out": file_settings("posix", **chosen)}}


def play(actors: Actors, mode: str = "async", **more: object) -> Job:
    threads = more.pop("threads", 1)
    chosen = {**settings(mode, **more), "writing": {"threads": threads}}
    job = actors.play(SCRIPT, ranks=4, settings=chosen)
    if "without libzstd" in " ".join(entry.get("story", "") for entry in job.calls("open")):
        pytest.skip("this build has no zstd")
    assert job.status == 0 and not job.failures(), job
    return job


def check(path: Path) -> None:
    """Compare all values, and boxes of some, with what was put; nobody put half of h."""
    with open_files(path) as files:
        assert files.steps == [0, 1]
        for step in files.steps:
            u = values("f8", ROWS * COLUMNS, step).reshape(ROWS, COLUMNS)
            v = values("i4", ROWS * COLUMNS, step).reshape(ROWS, COLUMNS)
            h = values("i8", 48, step).reshape(6, 8)
            h[3:] = 0
            np.testing.assert_array_equal(files.read("u", step), u)
            np.testing.assert_array_equal(files.read("v", step), v)
            np.testing.assert_array_equal(files.read("h", step), h)
            assert files.read("s", step) == values("f8", 1, step)[0]


@pytest.mark.parametrize("compression", ["zstd", "zstd:1 unshuffled"])
@pytest.mark.parametrize("mode", ["async", "sync", "kernel"])
def test_values_are_read_back_on_other_numbers_of_ranks(
    actors: Actors, mode: str, compression: str
) -> None:
    job = play(actors, mode, compression=compression, threads=3)
    check(job.folder / "out.dat")
    for ranks in (1, 3):
        again = actors.play(
            "init\nread out step=0\nread out step=1\n",
            ranks=ranks,
            folder=job.folder,
            settings=settings("sync"),
        )
        assert again.status == 0 and not again.failures(), again
    sizes = [each.stat().st_size for each in job.folder.glob("out.*.dat")]
    assert len(sizes) == 2 and max(sizes) < 0.5 * ROWS * COLUMNS * 12


def test_other_programs_unpack_the_frames(actors: Actors) -> None:
    """The program zstd unpacks the frames one behind the other: it skips the index."""
    job = play(actors, "sync", compression="zstd unshuffled", variables={"v": {"compression": "none"}})
    check(job.folder / "out.dat")
    job = play(actors, "sync", compression="zstd unshuffled")
    file = job.folder / "out.000000.dat"
    try:
        done = subprocess.run(["zstd", "-dc", str(file)], capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no program zstd")
    assert done.returncode == 0, done.stderr
    numbers = ROWS * COLUMNS * 12 + 8 + 3 * 8 * 8
    assert len(done.stdout) == numbers
    assert values("i4", COLUMNS, 0).tobytes() in done.stdout


def run(actors: Actors, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [actors.build.command, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def frames_of(path: Path, name: str) -> list[list[int]]:
    raw = path.read_bytes()
    assert raw[-8:] == b"iocompF1"
    length = int.from_bytes(raw[-24:-16], "little")
    index = json.loads(raw[-24 - length : -24])
    (found,) = [each for each in index["variables"] if each["name"] == name]
    frames: list[list[int]] = found["frames"]
    return frames


def test_a_flipped_frame_is_found(actors: Actors) -> None:
    job = play(actors)
    path = job.folder / "out.dat"
    shown = run(actors, "show", str(path), "--variable", "u", "--step", "1", "--json")
    assert shown.returncode == 0, shown.stderr
    sound = run(actors, "verify", str(path), "--json")
    assert sound.returncode == 0 and json.loads(sound.stdout)["damaged"] == [], sound
    file = job.folder / "out.000001.dat"
    raw = bytearray(file.read_bytes())
    offset, size = frames_of(file, "u")[3][:2]
    raw[offset + size // 2] ^= 4
    file.write_bytes(raw)
    told = run(actors, "verify", str(path), "--json")
    said = json.loads(told.stdout)
    assert told.returncode == 1, told
    assert {(each["variable"], each["step"]) for each in said["damaged"]} == {("u", 1)}, said
    again = actors.play(
        "init\nread out step=1\n", ranks=1, folder=job.folder, settings=settings("sync")
    )
    (entry,) = again.calls("read")
    assert "frame" in entry["story"], entry


def test_a_flipped_index_is_found(actors: Actors) -> None:
    job = play(actors)
    file = job.folder / "out.000001.dat"
    raw = bytearray(file.read_bytes())
    raw[-40] ^= 1
    file.write_bytes(raw)
    told = run(actors, "verify", str(job.folder / "out.dat"), "--json")
    assert told.returncode == 1, told


def test_a_series_in_one_file_and_other_methods_are_refused(actors: Actors) -> None:
    for script, chosen, story in (
        ("init\nopen out series\n", {}, "the back-end posix compresses checkpoints"),
        ("init\nopen out checkpoint\n", {"compression": "deflate"}, 'posix has "zstd"'),
    ):
        job = actors.play(script, ranks=2, settings=settings("sync", **chosen))
        assert [entry["code"] for entry in job.calls("open")] == [INVALID_SETTING] * 2, job
        assert all(story in entry["story"] for entry in job.calls("open")), job
