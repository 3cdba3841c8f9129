# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 files call steps by their numbers; earlier releases called them by their place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from actors import Actors, Job
from files import MODES, file_settings, mode_settings, values

from iocomp import open_files

NUMBERS = [1, 2, 3, 12]
SHAPE = (6, 4)
DEFINE = ["open out series", "define out u int64 6x4", "define out once float64 6"]


def play(
    actors: Actors, lines: list[str], mode: str, folder: Path | None = None, **more: object
) -> Job:
    settings: dict[str, Any] = {**mode_settings(mode), "placement": {"servers": "1 per node"}}
    settings["files"] = {"out": file_settings("hdf5", path="out.h5", **more)}
    job = actors.play(
        "\n".join(["init", *lines]), ranks=3 if mode == "async" else 2, settings=settings, folder=folder
    )
    assert job.status == 0 and not job.failures(), job
    return job


def steps(numbers: list[int]) -> list[str]:
    """Return the calls of steps; a variable is in the first one alone, and the third is empty."""
    lines = list(DEFINE)
    for place, number in enumerate(numbers):
        lines.append(f"begin_step out {number}")
        lines += ["put out once"] if place == 0 else []
        lines += ["put out u"] if place != 2 else []
        lines.append("end_step out")
    return [*lines, "close out"]


def numbers_in(path: Path) -> list[str]:
    with h5py.File(path) as file:
        return sorted(file, key=int)


def wanted(number: int) -> Any:
    return values(np.int64, 24, number).reshape(SHAPE)


def check(actors: Actors, folder: Path, numbers: list[int]) -> None:
    """All readers find the values of each step; step 3 has none."""
    with open_files(folder / "out.h5") as files:
        assert list(files.steps) == numbers
        assert 3 not in numbers or "u" not in files.variables(3)
        for number in numbers:
            assert number == 3 or (files.read("u", number) == wanted(number)).all(), number
    job = play(actors, ["read out"], "sync", folder)
    for entry in job.calls("read"):
        assert entry["steps"] == numbers and entry["right"], entry


@pytest.mark.parametrize("mode", MODES)
def test_groups_are_called_by_number(actors: Actors, mode: str) -> None:
    job = play(actors, steps(NUMBERS), mode)
    path = job.folder / "out.h5"
    assert numbers_in(path) == ["1", "2", "12"]  # the third has nothing
    with h5py.File(path) as file:
        for number in (1, 2, 12):
            assert (file[f"{number}/u"][()] == wanted(number)).all()
    check(actors, job.folder, NUMBERS)
    Path(f"{path}.json").unlink()
    with open_files(path) as files:  # what the file says of itself
        assert list(files.steps) == [1, 2, 12]


def call_by_place(path: Path) -> None:
    """Make of a file what earlier releases would have written."""
    with h5py.File(path, "r+") as file:
        for place, number in ((0, 1), (1, 2), (3, 12)):
            file.move(str(number), f"of{place}")
        for place in (0, 1, 3):
            file.move(f"of{place}", str(place))
    manifest = Path(f"{path}.json")
    told = json.loads(manifest.read_text())
    told.pop("xxh3", None)
    told["bytes"] = path.stat().st_size
    manifest.write_text(json.dumps(told))


@pytest.mark.parametrize("mode", MODES)
def test_groups_that_are_called_by_place_are_read_and_continued(actors: Actors, mode: str) -> None:
    folder = play(actors, steps(NUMBERS), mode).folder
    path = folder / "out.h5"
    call_by_place(path)
    assert numbers_in(path) == ["0", "1", "3"]
    check(actors, folder, NUMBERS)
    more = [*DEFINE[:2], "begin_step out 20", "put out u", "end_step out", "close out"]
    play(actors, more, mode, folder, existing="continue")
    assert numbers_in(path) == ["1", "2", "12", "20"]
    check(actors, folder, [*NUMBERS, 20])


def test_a_lost_manifest_does_not_lose_the_numbers(actors: Actors) -> None:
    folder = play(actors, steps(NUMBERS), "sync").folder
    Path(folder, "out.h5.json").unlink()
    from test_tools import run, told

    assert run(actors, folder, "recover", "out.h5").returncode == 0
    assert told(actors, folder, "ls")[0]["steps"] == {"first": 1, "last": 12, "count": 3}
    more = [*DEFINE[:2], "begin_step out 20", "put out u", "end_step out", "close out"]
    play(actors, more, "sync", folder, existing="continue")
    assert numbers_in(folder / "out.h5") == ["1", "2", "12", "20"]
    check(actors, folder, [1, 2, 12, 20])
