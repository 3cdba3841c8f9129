# SPDX-License-Identifier: BSD-3-Clause
"""Elements that nobody puts hold the fill value, also if no server knows the puts of all ranks."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from actors import OK, OVERLAPPING_PUTS, STORAGE_FAILURE, Actors, Job
from files import (
    FORMATS,
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
from test_server_death import lives_on
from zarr_packages import dumped, fill_of, has_zarr, values_of

SHAPE = (60, 5000)  # so much that all ranks fill a share
FILL = -5
BACK_ENDS = ["posix", "hdf5", "pnetcdf", "netcdf", "zarr"]


def settings_of(back_end: str, mode: str, **file: object) -> dict[str, object]:
    path = f"out{extension(back_end)}"
    return {
        **mode_settings(mode),
        "files": {"out": file_settings(back_end, path=path, guard=False, **file)},
    }


def box(start: tuple[int, int], count: tuple[int, int]) -> str:
    return f"start={start[0]}x{start[1]} count={count[0]}x{count[1]}"


class Expected:
    """Lines that put boxes, and what must be there then."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.steps: list[npt.NDArray[np.int64] | None] = []

    def step(self, *puts: tuple[int, tuple[int, int], tuple[int, int]]) -> None:
        step = len(self.steps)
        all_of_it = values("i8", int(np.prod(SHAPE)), step).reshape(SHAPE)
        there = np.full(SHAPE, FILL, dtype=np.int64)
        for rank, start, count in puts:
            self.lines.append(f"@{rank} put out u {box(start, count)}")
            part = tuple(slice(s, s + c) for s, c in zip(start, count, strict=True))
            there[part] = all_of_it[part]
        self.lines += ["end_step out", f"wait_step out {step}"]
        self.steps.append(there)

    def check(self, job: Job, back_end: str, kind: str = "series") -> None:
        for step, there in enumerate(self.steps):
            if there is None:
                continue
            number = f".{step:06}" if kind == "checkpoint" else ""
            path = job.folder / f"out{number}{extension(back_end)}"
            found = values_in(back_end, path, step, "u")
            assert found is not None and (found == there).all(), f"step {step}: {job}"


def begin(kind: str = "series") -> list[str]:
    return [f"open out {kind}", f"define out u int64 {SHAPE[0]}x{SHAPE[1]}", f"fill out u {FILL}"]


@pytest.mark.parametrize("kind", ["series", "checkpoint"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_what_nobody_puts_holds_the_fill_value(
    actors: Actors, back_end: str, mode: str, kind: str
) -> None:
    skip_if_missing(actors.build, back_end)
    expected = Expected()
    for _ in range(2):  # the same holes twice
        expected.step((0, (1, 10), (20, 4000)), (1, (30, 0), (3, 5000)))
    expected.step((1, (59, 4999), (1, 1)))
    expected.step((0, (0, 0), (30, 5000)), (1, (30, 0), (30, 5000)))  # no holes
    expected.step((0, (0, 0), SHAPE))
    expected.step((0, (1, 10), (20, 4000)), (1, (30, 0), (3, 5000)))
    lines = ["init", *begin(kind), *expected.lines, "close out"]
    ranks = 4 if mode == "async" else 3
    job = actors.play("\n".join(lines), ranks=ranks, settings=settings_of(back_end, mode))
    assert job.status == 0 and not job.failures(), job
    expected.check(job, back_end, kind)
    assert not leftovers(job.folder), job


def test_a_fill_value_that_cannot_be_written_costs_its_step(actors: Actors) -> None:
    expected = Expected()
    expected.step((0, (0, 0), (30, 5000)))
    expected.step((0, (0, 0), SHAPE))
    # Rank 1 puts nothing: what fails is its share of the holes.
    lines = ["@1 fault pwrite EIO path=out times=1", "init", *begin(), *expected.lines, "close out"]
    job = actors.play("\n".join(lines), ranks=2, settings=settings_of("posix", "kernel"))
    assert job.status == 0, job
    failed = job.calls("wait_step", step=0)
    assert [entry["code"] for entry in failed] == [STORAGE_FAILURE] * 2, job
    assert [entry["code"] for entry in job.calls("wait_step", step=1)] == [OK] * 2, job
    expected.steps[0] = None
    expected.check(job, "posix")


@pytest.mark.parametrize("mode", MODES)
def test_the_attribute_may_come_after_puts_of_the_step(actors: Actors, mode: str) -> None:
    lines = ["init", "open out series", "define out f float64 6x8"]
    lines += ["@0 put out f start=1x2 count=3x4", "attribute out _FillValue -2 of=f type=float64"]
    lines += ["end_step out", "wait_step out 0", "close out"]
    job = actors.play("\n".join(lines), ranks=2, settings=settings_of("posix", mode))
    assert job.status == 0 and not job.failures(), job
    expected = np.full((6, 8), -2.0)
    expected[1:4, 2:6] = np.arange(48).reshape(6, 8)[1:4, 2:6]
    found = values_in("posix", job.folder / "out.dat", 0, "f")
    assert found is not None and (found == expected).all(), job


def test_overlaps_are_found_while_holes_are_looked_for(actors: Actors) -> None:
    lines = ["init", *begin(), f"@0 put out u {box((0, 0), (10, 8))}"]
    lines += [f"@1 put out u {box((9, 7), (2, 2))}", "end_step out", "wait_step out 0"]
    job = actors.play(
        "\n".join([*lines, "close out"]), ranks=2, settings=settings_of("posix", "kernel")
    )
    for entry in job.calls("wait_step"):
        assert entry["code"] == OVERLAPPING_PUTS, job
        for text in ("compute rank 0 ([0:10, 0:8])", "compute rank 1 ([9:11, 7:9])", "[9, 7]"):
            assert text in entry["story"], job


@pytest.mark.parametrize("victim", [2, 3])
@pytest.mark.parametrize("kind", ["series", "checkpoint"])
def test_holes_are_filled_when_servers_are_lost(actors: Actors, kind: str, victim: int) -> None:
    expected = Expected()
    expected.step((0, (1, 10), (20, 4000)), (1, (30, 0), (3, 5000)))
    expected.lines += ["barrier"]
    for _ in range(2):
        expected.step((0, (1, 10), (20, 4000)), (1, (40, 0), (3, 5000)))
        if len(expected.steps) == 2:  # before the end of the step
            expected.lines.insert(-2, f"@0 kill {victim}")
    lines = ["init", *begin(kind), *expected.lines, "close out", "leave"]
    settings = settings_of("posix", "async")
    settings |= {"transport": {"kind": "shared"}}
    job = actors.play(
        "\n".join(lines), ranks=4, settings=settings, launcher=lives_on(actors, 4), seconds=25
    )
    failed = {entry["step"] for entry in job.failures(call="wait_step")}
    assert failed <= {1}, job  # what the server had taken and not written
    for step in failed:
        expected.steps[step] = None
    expected.check(job, "posix", kind)
    assert not leftovers(job.folder), job


# Variables that nobody puts at all.

TIMES = [0.0, 0.5, -3e9, None, 1.25]  # the last but one is put
ONLY_SERIES = ("hdf5-time", "hdf5-deflate")
ZARR = ("zarr", "zarr-zstd")


def shown(actors: Actors, folder: Path, path: str, step: int, name: str) -> list[float]:
    words = ["show", path, "--variable", name, "--step", str(step), "--json"]
    done = subprocess.run(
        [actors.build.command, *words], cwd=folder, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)["values"]


@pytest.mark.parametrize("kind", ["series", "checkpoint"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back_end", FORMATS)
def test_a_time_that_nobody_puts_is_that_of_the_step(
    actors: Actors, back_end: str, mode: str, kind: str
) -> None:
    skip_if_missing(actors.build, back_end)
    if kind == "checkpoint" and back_end in ONLY_SERIES:
        pytest.skip("there is no such thing")
    lines = ["init", f"open out {kind}", "define out u int64 8x6", "define out time float64 scalar"]
    for step, time in enumerate(TIMES):
        lines += [f"begin_step out {step} time={time or 0.0}"]
        lines += ["put out u"] if step != 1 else []  # the time alone
        lines += ["@1 put out time start= count="] if time is None else []
        lines += ["end_step out", f"wait_step out {step}"]
    ranks = 4 if mode == "async" else 2
    settings = settings_of(back_end, mode, keep=9)
    job = actors.play("\n".join([*lines, "close out"]), ranks=ranks, settings=settings)
    assert job.status == 0 and not job.failures(), job
    for step, time in enumerate(TIMES):
        number = f".{step:06}" if kind == "checkpoint" else ""
        path = f"out{number}{extension(back_end)}"
        expected = [3e6 if time is None else time]
        assert shown(actors, job.folder, path, step, "time") == expected, job
        is_fill_value = back_end in (*ONLY_SERIES, *ZARR) and time == 0.0  # as if it were not there
        if not back_end.startswith("adios2") and not is_fill_value:
            found = values_in(back_end, job.folder / path, step, "time")
            assert found is not None and found.ravel().tolist() == expected, job


@pytest.mark.parametrize("element_type", ["float32", "int32", "int8", "char"])
def test_a_time_is_kept_if_its_type_can_hold_it(actors: Actors, element_type: str) -> None:
    lines = ["init", "open out series", f"define out time {element_type} scalar"]
    lines += ["begin_step out 0 time=300", "end_step out", "close out"]
    job = actors.play("\n".join(lines), ranks=2, settings=settings_of("hdf5", "kernel"))
    assert job.status == 0 and not job.failures(), job
    found = values_in("hdf5", job.folder / "out.h5", 0, "time")
    is_there = element_type in ("float32", "int32")
    assert (found is not None and found == 300) if is_there else found is None, job


def in_record(
    back_end: str, path: Path, step: int, name: str
) -> tuple[npt.NDArray[np.float64], float]:
    """Return what the format's own library finds in a step of a variable, and its fill value."""
    if "netcdf" in back_end:
        import netCDF4

        with netCDF4.Dataset(path) as file:
            file.set_auto_mask(False)
            variable = file[name]
            return variable[step], getattr(variable, "_FillValue", netCDF4.default_fillvals["f8"])
    if back_end in ZARR:
        array = dumped(path)["arrays"][name]
        return values_of(array)[step], fill_of(array)
    import h5py

    with h5py.File(path) as file:
        return file[name][step], file[name].fillvalue


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back_end", FORMATS)
def test_a_variable_that_nobody_puts_holds_its_fill_value_and_is_told_once(
    actors: Actors, back_end: str, mode: str
) -> None:
    skip_if_missing(actors.build, back_end)
    fills = {"v": None, "w": -5.5}
    lines = ["init", "open out series", "define out u int64 8x6"]
    lines += [f"define out {name} float64 5" for name in fills]
    lines += [f"fill out w bytes={np.float64(fills['w']).tobytes().hex()}"]
    for step in range(4):
        puts = ["u", *(fills if step in (0, 3) else [])]
        lines += [*(f"put out {name}" for name in puts), "end_step out"]
    ranks = 4 if mode == "async" else 2
    settings = settings_of(back_end, mode)
    job = actors.play("\n".join([*lines, "close out"]), ranks=ranks, settings=settings)
    assert job.status == 0 and not job.failures(), job
    has_records = "netcdf" in back_end or back_end in (*ONLY_SERIES, *ZARR)
    path = job.folder / f"out{extension(back_end)}"
    for name, fill in fills.items():
        told = f'file "out": nobody has put "{name}" into step 1: other programs find its fill value'
        assert job.stderr.count(told) == has_records, job
        for step in (1, 2):
            if has_records and (back_end not in ZARR or has_zarr()):
                found, of_library = in_record(back_end, path, step, name)
                assert fill is None or of_library == fill, job
                assert (found == of_library).all(), f"{name} of step {step} is {found}: {job}"
            elif back_end.startswith("adios2") and actors.build.dump_adios2:
                engine = {"bp4": "BP4", "hdf5": "HDF5"}.get(back_end.partition("-")[2], "BP5")
                assert name not in dumped_steps(actors.build, path, engine)[step], job
            elif not has_records and not back_end.startswith("adios2"):
                assert values_in(back_end, path, step, name) is None, job
    assert job.stderr.count("nobody has put") == (len(fills) if has_records else 0), job
