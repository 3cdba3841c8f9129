# SPDX-License-Identifier: BSD-3-Clause
"""Files tell the numbers of their steps. HDF5 groups of earlier releases have their places."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from actors import Actors, Job
from files import FORMATS, MODES, extension, file_settings, mode_settings, skip_if_missing, values
from test_tools import run

from iocomp import open_files

NUMBERS = [1, 2, 3, 12]
TELL_THEMSELVES = [name for name in FORMATS if name not in ("posix", "mpiio")]
ONE_FILE = ("hdf5-time", "hdf5-deflate")  # of all steps
SHAPE = (6, 4)
DEFINE = ["open out series", "define out u int64 6x4", "define out once float64 6"]


def play(
    actors: Actors,
    lines: list[str],
    mode: str,
    folder: Path | None = None,
    back_end: str = "hdf5",
    **more: object,
) -> Job:
    skip_if_missing(actors.build, back_end)
    more = {"path": f"out{extension(back_end)}", **more}
    settings: dict[str, Any] = mode_settings(mode, "1 per node")
    settings["files"] = {"out": file_settings(back_end, **more)}
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


def manifest_of(path: Path) -> Path:
    return Path(f"{path}.json")


def written(actors: Actors, back_end: str, numbers: list[int]) -> tuple[Path, Path]:
    """Return the folder and the path of a file with such steps."""
    lines = [line for line in steps(numbers) if "once" not in line]
    folder = play(actors, lines, "sync", None, back_end).folder
    return folder, folder / f"out{extension(back_end)}"


def recovered(actors: Actors, folder: Path, back_end: str) -> str:
    name = f"out{extension(back_end)}"
    done = run(actors, folder, "recover", name)
    assert done.returncode == 0 and "written" in done.stdout, done
    return done.stdout


def check(actors: Actors, folder: Path, numbers: list[int], back_end: str = "hdf5") -> None:
    """All readers find the values of each step; where step 3 is one, it has none."""
    with open_files(folder / f"out{extension(back_end)}") as files:
        assert list(files.steps) == numbers
        assert 3 not in numbers or len(numbers) < 4 or "u" not in files.variables(3)
        for number in numbers:
            if "u" in files.variables(number):
                assert (files.read("u", number) == wanted(number)).all(), number
    job = play(actors, ["read out"], "sync", folder, back_end)
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


def empty_steps(numbers: list[int]) -> list[str]:
    """Return the calls of steps of which every other one is empty."""
    lines = []
    for place, number in enumerate(numbers):
        lines += [f"begin_step out {number}", *["put out u"] * (place % 2 == 0)]
        lines.append("end_step out")
    return lines


def check_empty_steps(actors: Actors, folder: Path, back_end: str, numbers: list[int]) -> None:
    name = f"out{extension(back_end)}"
    with open_files(folder / name) as files:
        assert list(files.steps) == numbers
        assert [number for number in numbers if "u" in files.variables(number)] == numbers[::2]
    job = play(actors, ["read out"], "sync", folder, back_end)
    for entry in job.calls("read"):
        assert entry["steps"] == numbers and entry["right"], entry
    found = json.loads(run(actors, folder, "ls", name, "--json").stdout)
    assert found[0]["steps"] == {"first": 100, "last": numbers[-1], "count": len(numbers)}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back_end", ["posix", "hdf5"])
def test_steps_without_variables_have_their_numbers(
    actors: Actors, back_end: str, mode: str
) -> None:
    """Also the last one, from which a later job goes on."""
    numbers = [100, 200, 300, 400]
    lines = [*DEFINE[:2], *empty_steps(numbers), "close out"]
    folder = play(actors, lines, mode, None, back_end).folder
    check_empty_steps(actors, folder, back_end, numbers)
    lines = [*DEFINE[:2], "put out u", "end_step out", "close out"]
    play(actors, lines, mode, folder, back_end, existing="continue")
    with open_files(folder / f"out{extension(back_end)}") as files:
        assert list(files.steps) == [*numbers, 401]


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


@pytest.mark.parametrize("back_end", TELL_THEMSELVES)
def test_a_lost_manifest_does_not_lose_the_numbers(actors: Actors, back_end: str) -> None:
    """The third step has nothing, so that it is none without the manifest."""
    folder, path = written(actors, back_end, NUMBERS)
    there = [1, 2, 12]
    manifest_of(path).unlink()
    with open_files(path) as files:  # what the file says of itself
        assert list(files.steps) == there and "iocomp_step" not in files.variables()
    assert "counted from 0" not in recovered(actors, folder, back_end)
    check(actors, folder, there, back_end)
    if back_end in ("adios2", "adios2-hdf5"):  # one job writes such a file
        return
    more = [*DEFINE[:2], "begin_step out 20", "put out u", "end_step out", "close out"]
    play(actors, more, "sync", folder, back_end, existing="continue")
    check(actors, folder, [*there, 20], back_end)
    manifest_of(path).unlink()
    recovered(actors, folder, back_end)
    check(actors, folder, [*there, 20], back_end)


@pytest.mark.parametrize("back_end", TELL_THEMSELVES)
@pytest.mark.parametrize("numbers", [[0, 100, 200], [0, 1, 2, 12, 13]])
def test_numbers_that_begin_like_places(
    actors: Actors, back_end: str, numbers: list[int]
) -> None:
    lines = [DEFINE[0], DEFINE[1]]
    for number in numbers:
        lines += [f"begin_step out {number}", "put out u", "end_step out"]
    path = Path(f"out{extension(back_end)}")
    folder = play(actors, [*lines, "close out"], "sync", None, back_end).folder
    manifest_of(folder / path).unlink()
    assert "counted from 0" not in recovered(actors, folder, back_end)
    check(actors, folder, numbers, back_end)


@pytest.mark.parametrize("back_end", [name for name in TELL_THEMSELVES if name != "hdf5"])
def test_steps_that_are_counted_cost_nothing(actors: Actors, back_end: str) -> None:
    """Their files have no numbers, and who recovers them says that it counts."""
    folder, path = written(actors, back_end, [0, 1, 2, 3])
    found = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    assert not any(b"iocomp_step" in each.read_bytes() for each in found)
    manifest_of(path).unlink()
    assert "counted from 0: it does not say their numbers" in recovered(actors, folder, back_end)
    with open_files(path) as files:
        assert list(files.steps) == [0, 1, 2, 3]


@pytest.mark.parametrize("back_end", TELL_THEMSELVES)
def test_numbers_of_what_is_killed(actors: Actors, back_end: str) -> None:
    """Each file that a kill may leave tells the numbers of the steps that are committed."""
    if back_end == "adios2-hdf5":
        pytest.skip("it can be read only when it is closed")
    lines = [DEFINE[0], DEFINE[1]]
    for number in (3, 7, 20):
        lines += [f"begin_step out {number}", "put out u", "end_step out", f"wait_step out {number}"]
    name = f"out{extension(back_end)}"
    job = actors.play(
        "\n".join(["init", *lines, "@1 kill 0", "barrier"]),
        ranks=2,
        settings={**mode_settings("sync"), "files": {"out": file_settings(back_end, path=name)}},
    )
    assert job.status != 0
    manifest_of(job.folder / name).unlink()
    assert "counted from 0" not in recovered(actors, job.folder, back_end)
    check(actors, job.folder, [3, 7, 20], back_end)


@pytest.mark.parametrize("engine", ["netcdf", "pnetcdf"])
def test_other_programs_see_the_numbers(actors: Actors, engine: str) -> None:
    import netCDF4

    _, path = written(actors, engine, NUMBERS)
    with netCDF4.Dataset(path) as file:
        assert file["iocomp_step"].dimensions == ("time",)
        assert file["iocomp_step"][:].tolist() == [1, 2, -1, 12]


@pytest.mark.parametrize("back_end", [name for name in TELL_THEMSELVES if name != "hdf5"])
def test_the_name_of_the_numbers_is_taken(actors: Actors, back_end: str) -> None:
    name = f"out{extension(back_end)}"
    skip_if_missing(actors.build, back_end)
    is_attribute = back_end.startswith("zarr")
    what = "attribute out iocomp_step 5" if is_attribute else "define out iocomp_step int64 2"
    settings = {**mode_settings("sync"), "files": {"out": file_settings(back_end, path=name)}}
    lines = ["init", DEFINE[0], what]
    job = actors.play("\n".join(lines), ranks=1, settings=settings)
    assert any("iocomp_step means something else" in str(each) for each in job.failures()), job


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back_end", [name for name in FORMATS if name not in ONE_FILE])
def test_slow_ranks_learn_the_number_of_a_step_from_others(
    actors: Actors, back_end: str, mode: str
) -> None:
    lines = ["open out checkpoint", DEFINE[1]]
    for number in NUMBERS:
        lines += ["@1 pause 0.02", "@1 progress"] * 3
        lines += [f"begin_step out {10 * number}", "put out u", "end_step out"]
    folder = play(actors, [*lines, "close out"], mode, None, back_end).folder
    with open_files(folder / f"out{extension(back_end)}") as files:
        assert files.steps == [10 * number for number in NUMBERS]
        for number in files.steps:
            np.testing.assert_array_equal(files.read("u", number), wanted(number))
