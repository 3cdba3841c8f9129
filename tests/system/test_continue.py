# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that go on with what earlier ones have written, and what a program restarts from."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from actors import (
    INCONSISTENT_CALLS,
    INVALID_ARGUMENT,
    OVERLAPPING_PUTS,
    TARGET_EXISTS,
    UNSUPPORTED,
    Actors,
    Job,
)
from files import (
    MODES,
    dumped_steps,
    extension,
    file_settings,
    leftovers,
    mode_settings,
    skip_if_missing,
    values,
    values_in,
)

from iocomp import open_files

CHECKPOINTS = ("posix", "mpiio", "hdf5", "netcdf", "pnetcdf", "zarr")
NETCDF = ("netcdf", "netcdf-deflate", "pnetcdf")
ZARR = ("zarr", "zarr-zstd")
SERIES = ("posix", "mpiio", "hdf5", "hdf5-time", "hdf5-deflate", *NETCDF, *ZARR, "adios2-bp4")


def play(
    actors: Actors, lines: list[str], back_end: str, mode: str, folder: Path | None, **more: object
) -> Job:
    skip_if_missing(actors.build, back_end)
    path = f"out{extension(back_end)}"
    files = {"out": file_settings(back_end, path=path, **more)}
    settings = {**mode_settings(mode), "files": files}
    return actors.play("\n".join(["init", *lines]), ranks=4, settings=settings, folder=folder)


def steps(kind: str, numbers: list[int], opening: str = "", ending: str = "close out") -> list[str]:
    """Write these steps, with a time of a tenth of the number."""
    lines = [f"open out {kind} {opening}", "define out u int64 64x32", "define out v int32 100"]
    for number in numbers:
        lines += [f"begin_step out {number} time={number / 10}", "put out u", "put out v"]
        lines += ["end_step out", f"wait_step out {number}"]
    return [*lines, ending]


def found(actors: Actors, back_end: str, mode: str, folder: Path) -> tuple[list[int], int, float]:
    """Read all that is committed, in a job of its own: steps, the newest, and its time."""
    job = play(actors, ["latest out", "read out"], back_end, mode, folder)
    assert not job.failures(), job
    reads = job.calls("read")
    assert all(entry["right"] for entry in reads), job
    newest = job.calls("latest")[0]
    return reads[0]["steps"], newest["step"], newest["time"]


def check_with_own_tools(actors: Actors, back_end: str, folder: Path, numbers: list[int]) -> None:
    """Read a series as the format's readers do: the steps of these numbers, one behind the other."""
    path = folder / f"out{extension(back_end)}"
    if "adios2" in back_end:
        dumped = dumped_steps(actors.build, path, "BP4" if "bp4" in back_end else "BP5")
        dumped = [step for step in dumped if step]  # one more may tell attributes
        assert len(dumped) == len(numbers)
        for step, number in zip(dumped, numbers, strict=True):
            assert (step["u"] == values(np.int64, step["u"].size, number)).all(), f"{path}: {number}"
        return
    for step, number in enumerate(numbers):
        # Readers count along time; elsewhere steps have their numbers.
        is_along_time = back_end in (*NETCDF, *ZARR, "hdf5-time", "hdf5-deflate")
        seen = values_in(back_end, path, step if is_along_time else number, "u")
        assert seen is not None, f"{path}: step {step} is missing"
        assert (seen.ravel() == values(seen.dtype, seen.size, number)).all(), f"{path}: step {step}"


def values_behind(back_end: str, folder: Path, steps: int) -> int:
    """Return how many steps the format's readers see behind the first ones."""
    path = folder / f"out{extension(back_end)}"
    if path.suffix == ".nc":
        import netCDF4

        with netCDF4.Dataset(path) as file:
            return len(file.dimensions["time"]) - steps
    import h5py

    with h5py.File(path) as file:
        return len(file if back_end == "hdf5" else file["u"]) - steps


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back_end", CHECKPOINTS)
def test_checkpoints_go_on(actors: Actors, back_end: str, mode: str) -> None:
    """Numbers and `keep` go on over jobs; what lies behind the step of a restart is dropped."""
    going = {"existing": "continue", "keep": 3}
    first = play(actors, ["latest out", *steps("checkpoint", [10, 20])], back_end, mode, None, **going)
    assert not first.failures(), first
    assert [first.calls("latest")[0][key] for key in ("step", "time", "has_input")] == [-1, None, False]
    folder = first.folder
    assert found(actors, back_end, mode, folder) == ([10, 20], 20, 2.0)
    second = play(actors, steps("checkpoint", [30, 40]), back_end, mode, folder, **going)
    assert not second.failures(), second
    assert found(actors, back_end, mode, folder) == ([20, 30, 40], 40, 4.0)
    third = play(actors, steps("checkpoint", [35], "after=30"), back_end, mode, folder, **going)
    assert not third.failures(), third
    assert "after step 30" in third.output, third.output
    assert found(actors, back_end, mode, folder) == ([20, 30, 35], 35, 3.5)
    fourth = play(actors, steps("checkpoint", [35]), back_end, mode, folder, **going)
    assert {entry["code"] for entry in fourth.calls("begin_step")} == {INVALID_ARGUMENT}, fourth
    assert not leftovers(folder)


@pytest.mark.parametrize(
    ("numbers", "after", "told"),
    [
        ([9, 19, 29], 59, "steps after 29 are missing, 39 to 59, if there was one in 10 as before"),
        ([3, 4], 6, "steps after 4 are missing, 5 to 6"),
        ([9, 19, 29], 38, ""),
        ([5], 7, "its only step is 5"),
        ([], 7, "it has no step"),
        ([], -1, ""),
    ],
)
@pytest.mark.parametrize("per_step", [False, True])
def test_what_a_series_lacks_is_told(
    actors: Actors, numbers: list[int], after: int, told: str, per_step: bool
) -> None:
    """The program goes on at a step that the series had not reached when its job was killed."""
    going = {"existing": "continue", "kind": "file_per_step" if per_step else "program"}
    first = play(actors, steps("series", numbers), "posix", "kernel", None, **going)
    assert not first.failures(), first
    again = ["open out series after=" + str(after), "close out"]
    second = play(actors, again, "posix", "kernel", first.folder, **going)
    assert not second.failures(), second
    text = f'file "out" goes on after step {after}, but {told}'
    assert (text in second.output) if told else ("goes on after" not in second.output), second


@pytest.mark.parametrize("mode", MODES)
def test_an_attribute_of_a_variable_that_only_an_earlier_job_has_put(
    actors: Actors, mode: str
) -> None:
    first = play(actors, steps("series", [0]), "posix", mode, None)
    assert not first.failures(), first
    lines = ["open out series", "define out u int64 64x32", "define out v int32 100"]
    lines += ["attribute out units m of=u", "begin_step out 1", "put out v", "end_step out"]
    second = play(actors, [*lines, "close out"], "posix", mode, first.folder, existing="continue")
    assert not second.failures(), second
    manifest = json.loads((first.folder / ("out" + extension("posix") + ".json")).read_text())
    assert manifest["variable_attributes"]["u"]["units"]["value"] == "m", manifest


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back_end", SERIES)
def test_a_series_goes_on(actors: Actors, back_end: str, mode: str) -> None:
    going = {"existing": "continue"}
    lines = [*steps("series", [0, 5, 7]), "attribute out note first"]
    first = play(actors, [lines[0], lines[-1], *lines[1:-1]], back_end, mode, None, **going)
    assert not first.failures(), first
    folder = first.folder
    second = play(actors, steps("series", [8, 100]), back_end, mode, folder, **going)
    assert not second.failures(), second
    assert found(actors, back_end, mode, folder) == ([0, 5, 7, 8, 100], 100, 10.0)
    third = play(actors, steps("series", [6, 9], "after=5"), back_end, mode, folder, **going)
    assert not third.failures(), third
    assert "steps 7-8,100" in third.output, third.output
    assert found(actors, back_end, mode, folder) == ([0, 5, 6, 9], 9, 0.9)
    check_with_own_tools(actors, back_end, folder, [0, 5, 6, 9])
    manifest = json.loads((folder / f"out{extension(back_end)}.json").read_text())
    assert manifest["attributes"]["note"]["value"] == "first"
    if back_end == "hdf5":
        import h5py

        with h5py.File(folder / "out.h5") as file:
            assert sorted(file) == ["0", "5", "6", "9"]
            assert [file[f"{step}/time"][()] for step in (0, 5, 6, 9)] == [0.0, 0.5, 0.6, 0.9]
            assert file.attrs["note"] in ("first", b"first")
    if back_end == "hdf5-time":
        import h5py

        with h5py.File(folder / "out.h5") as file:
            assert list(file["time"][:]) == [0.0, 0.5, 0.6, 0.9]
            assert file["u"].shape == (4, 64, 32)
            assert file.attrs["note"] in ("first", b"first")
    assert not leftovers(folder)


@pytest.mark.parametrize("back_end", SERIES)
def test_steps_that_failed_at_the_end_leave_their_numbers(actors: Actors, back_end: str) -> None:
    """The next job goes on behind the last committed step, as `latest` says, with its number."""
    going = {"existing": "continue"}
    lines = steps("series", [0, 1, 2, 3, 4, 5])
    for number in (2, 4, 5):  # their puts overlap
        lines.insert(lines.index(f"wait_step out {number}") - 1, "@0 put out u start=0x0 count=1x32")
    first = play(actors, lines, back_end, "sync", None, **going)
    assert {entry["code"] for entry in first.failures()} == {OVERLAPPING_PUTS}, first
    assert found(actors, back_end, "sync", first.folder)[:2] == ([0, 1, 3], 3)
    second = play(actors, steps("series", [4, 5]), back_end, "sync", first.folder, **going)
    assert not second.failures(), second
    assert found(actors, back_end, "sync", first.folder) == ([0, 1, 3, 4, 5], 5, 0.5)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back_end", SERIES)
def test_a_chain_of_killed_jobs(actors: Actors, back_end: str, mode: str) -> None:
    """Each job is killed in a step that it has not committed; the next goes on behind the last."""
    going = {"existing": "continue"}
    folder = None
    for begin in (0, 2, 4):
        lines = steps("series", [begin, begin + 1], f"after={begin - 1}", ending="")
        lines += [f"begin_step out {begin + 2} time=9", "put out u", "end_step out", "kill 0"]
        if begin == 4:
            lines = steps("series", [4, 5], "after=3")
        job = play(actors, lines, back_end, mode, folder, **going)
        folder = job.folder
    assert folder is not None
    all_steps, newest, time = found(actors, back_end, mode, folder)
    assert (all_steps, newest, time) == ([0, 1, 2, 3, 4, 5], 5, 0.5)
    check_with_own_tools(actors, back_end, folder, all_steps)


@pytest.mark.parametrize("back_end", ("hdf5", "hdf5-time", "netcdf", "pnetcdf"))
def test_a_first_commit_that_fails_is_taken_back(actors: Actors, back_end: str) -> None:
    """Readers see what the job before has committed, until this one has committed something."""
    first = play(actors, steps("series", [0, 1]), back_end, "sync", None)
    assert not first.failures(), first
    lines = steps("series", [2], ending="kill 0")
    lines.insert(1, f"fault rename EIO path=out{extension(back_end)}.json")
    second = play(actors, lines, back_end, "sync", first.folder, existing="continue")
    assert [entry["code"] for entry in second.calls("wait_step") if entry["code"]], second
    check_with_own_tools(actors, back_end, first.folder, [0, 1])
    assert values_behind(back_end, first.folder, 2) == 0
    third = play(actors, steps("series", [2, 3]), back_end, "sync", first.folder, existing="continue")
    assert not third.failures(), third
    check_with_own_tools(actors, back_end, first.folder, [0, 1, 2, 3])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back_end", NETCDF)
def test_variables_without_time_stay(actors: Actors, back_end: str, mode: str) -> None:
    """A job may leave them out, or put them again where that changes nothing that is committed."""
    import netCDF4

    going = {"existing": "continue"}

    def with_x(lines: list[str]) -> list[str]:
        define = [
            "define out x int64 1000",
            "attribute out dimensions x of=x",
            "attribute out units m of=x",
        ]
        return [*lines[:3], *define, lines[3], "put out x", *lines[4:]]

    job = play(actors, with_x(steps("series", [0, 1])), back_end, mode, None, **going)
    assert not job.failures(), job
    folder = job.folder
    second = play(actors, steps("series", [2, 3]), back_end, mode, folder, **going)
    assert not second.failures(), second
    with netCDF4.Dataset(folder / "out.nc") as file:
        assert file["x"].dimensions == ("x",)
        assert file["x"].units == "m"
        assert (file["x"][:] == values(np.int64, 1000, 0)).all()
        assert len(file.dimensions["time"]) == 4
    third = play(actors, with_x(steps("series", [4])), back_end, mode, folder, **going)
    number = 4
    if back_end == "pnetcdf":
        assert {entry["code"] for entry in third.failures()} == {UNSUPPORTED}, third
        number = 0
    else:
        assert not third.failures(), third
    check_with_own_tools(actors, back_end, folder, [0, 1, 2, 3] if number == 0 else [0, 1, 2, 3, 4])
    with netCDF4.Dataset(folder / "out.nc") as file:
        assert (file["x"][:] == values(np.int64, 1000, number)).all()


def number(name: str, value: float, of: str = "t") -> str:
    return f"attribute out {name} {value} of={of} type=float64"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back_end", SERIES)
def test_values_of_earlier_jobs_keep_their_meaning(actors: Actors, back_end: str, mode: str) -> None:
    """A change is refused, and the job may still put as the file has it."""
    going = {"existing": "continue"}
    define = ["open out series", "define out t float64 64 file=int32", "define out w int32 64"]
    right = [number("scale_factor", 0.5), "attribute out _FillValue bytes=fbffffff type=int32 of=t"]
    step = ["put out t", "put out w", "end_step out"]
    first = play(actors, [*define, *right, *step, "close out"], back_end, mode, None, **going)
    assert not first.failures(), first
    wrong = [number("scale_factor", 0.25), number("add_offset", 1.0), number("scale_factor", 0.5, "w")]
    wrong += ["attribute out _FillValue bytes=f9ffffff type=int32 of=t", "put out t"]
    lines = [*define, *wrong, *right, *step, "close out"]
    second = play(actors, lines, back_end, mode, first.folder, **going)
    told = [(entry["code"], entry["story"]) for entry in second.failures() if entry["rank"] == 0]
    assert len(told) == len(wrong), second
    names = ("scale_factor", "add_offset", "scale_factor", "_FillValue", "_FillValue")
    for (code, story), name in zip(told, names, strict=True):
        assert code == UNSUPPORTED and name in story and "cannot go on" in story, story
    lines = [*define, "put out t", "put out w", "close out"]
    third = play(actors, lines, back_end, mode, first.folder, **going)
    assert {entry["code"] for entry in third.calls("put") if entry["variable"] == "t"} == {UNSUPPORTED}, third
    with open_files(first.folder / f"out{extension(back_end)}") as files:
        assert files.steps == [0, 1, 2]
        assert files.attributes("t")["scale_factor"] == 0.5
        for each in (0, 1):
            assert (files.read("t", each) == 2 * values("f8", 64, each)).all()
            assert (files.read("t", each, dtype="f8") == values("f8", 64, each)).all()


@pytest.mark.parametrize("back_end", NETCDF + ZARR)
def test_times_of_earlier_jobs_keep_their_meaning(actors: Actors, back_end: str) -> None:
    units = {"time_units": "days since 1850-01-01, noleap"}

    def goes_on(first: int, folder: Path | None, **more: object) -> Job:
        lines = steps("series", [first])
        if more.get("time_units", units["time_units"]) != units["time_units"] and folder is not None:
            lines = [*lines[:4], lines[-1]]  # up to the begin of the step
        return play(actors, lines, back_end, "sync", folder, existing="continue", **more)

    job = goes_on(0, None, **units)
    assert not job.failures(), job
    for other in ("hours since 2000-01-01", "days since 1850-01-01"):  # this has another calendar
        refused = goes_on(1, job.folder, time_units=other)
        begun = refused.calls("begin_step")
        assert {entry["code"] for entry in begun} == {UNSUPPORTED}, refused
        assert "cannot go on" in begun[0]["story"], refused
    second = goes_on(1, job.folder, **units)
    assert not second.failures(), second
    third = goes_on(2, job.folder)
    assert not third.failures(), third
    with open_files(job.folder / f"out{extension(back_end)}") as files:
        assert files.steps == [0, 1, 2]
        told = files.attributes("time")
        assert (told["units"], told["calendar"]) == ("days since 1850-01-01", "noleap")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back_end", ("hdf5-time", "hdf5-deflate"))
def test_what_a_job_does_not_put_stays(actors: Actors, back_end: str, mode: str) -> None:
    """A job that is killed before it puts a variable again leaves what earlier ones have put."""
    import h5py

    going = {"existing": "continue"}
    first = play(actors, steps("series", [0, 1]), back_end, mode, None, **going)
    assert not first.failures(), first
    folder = first.folder
    lines = [line for line in steps("series", [2, 3]) if line not in ("define out v int32 100", "put out v")]
    second = play(actors, lines, back_end, mode, folder, **going)
    assert not second.failures(), second
    with h5py.File(folder / "out.h5") as file:
        assert (file["v"][:] == [values(np.int32, 100, step) for step in (0, 1)]).all()
        assert len(file["u"]) == 4
    third = play(actors, steps("series", [4]), back_end, mode, folder, **going)
    assert not third.failures(), third
    with h5py.File(folder / "out.h5") as file:
        assert (file["v"][[0, 1, 4]] == [values(np.int32, 100, step) for step in (0, 1, 4)]).all()
        assert (file["v"][2:4] == 0).all()
    assert found(actors, back_end, mode, folder) == ([0, 1, 2, 3, 4], 4, 0.4)
    check_with_own_tools(actors, back_end, folder, [0, 1, 2, 3, 4])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("hdf5-time", "hdf5-deflate"),
        ("hdf5-deflate", "hdf5-time"),
        ("hdf5", "hdf5-time"),
        ("hdf5-time", "hdf5"),
        ("zarr", "zarr-zstd"),
        ("zarr-zstd", "zarr"),
        ("adios2", "adios2-bp4"),
        ("adios2", "adios2"),
    ],
)
def test_another_layout_cannot_go_on(actors: Actors, one: str, other: str) -> None:
    first = play(actors, steps("series", [0, 1]), one, "sync", None)
    assert not first.failures(), first
    second = play(actors, steps("series", [2]), other, "sync", first.folder, existing="continue")
    assert UNSUPPORTED in {entry["code"] for entry in second.failures()}, second
    check_with_own_tools(actors, one, first.folder, [0, 1])


def test_what_cannot_go_on_says_so(actors: Actors) -> None:
    first = play(actors, steps("series", [0, 1]), "adios2-hdf5", "sync", None)
    if UNSUPPORTED in {entry["code"] for entry in first.failures()}:
        pytest.skip("this ADIOS2 has no engine HDF5")
    second = play(actors, steps("series", [2]), "adios2-hdf5", "sync", first.folder, existing="continue")
    assert {entry["code"] for entry in second.calls("open")} == {UNSUPPORTED}, second
    assert "file_per_step" in second.calls("open")[0]["story"]
    assert found(actors, "adios2-hdf5", "sync", first.folder)[0] == [0, 1]


@pytest.mark.parametrize("mode", MODES)
def test_ranks_that_say_different_steps_are_told(actors: Actors, mode: str) -> None:
    lines = ["@0 open out series after=3", "@!0 open out series after=2", "define out u int64 4"]
    lines += ["put out u", "end_step out", "close out"]
    job = play(actors, lines, "posix", mode, None, existing="continue")
    assert {entry["code"] for entry in job.failures()} == {INCONSISTENT_CALLS}, job
    assert not list(job.folder.glob("out*")), job


@pytest.mark.parametrize("mode", MODES)
def test_old_checkpoints_are_refused_or_replaced(actors: Actors, mode: str) -> None:
    first = play(actors, steps("checkpoint", [4, 5]), "hdf5", mode, None)
    folder = first.folder
    again = play(actors, steps("checkpoint", [0]), "hdf5", mode, folder)
    assert {entry["code"] for entry in again.calls("open")} == {TARGET_EXISTS}, again
    assert "continue" in again.calls("open")[0]["story"]
    replaced = play(actors, steps("checkpoint", [0, 1]), "hdf5", mode, folder, existing="replace")
    assert not replaced.failures(), replaced
    assert found(actors, "hdf5", mode, folder) == ([0, 1], 1, 0.1)
    assert not leftovers(folder)
