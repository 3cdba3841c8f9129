# SPDX-License-Identifier: BSD-3-Clause
"""Programs that read netCDF find named dimensions, coordinates, units and missing values."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from actors import Actors, Job
from case import Case, Placement, Tuning
from element_pattern import DTYPES
from scenarios import put_blocks
from script import FileScript, Script
from verification import BackEnd

xarray = pytest.importorskip("xarray")
netCDF4 = pytest.importorskip("netCDF4")
pytestmark = pytest.mark.quick

BACK_ENDS = [
    BackEnd("pnetcdf"),
    BackEnd("netcdf"),
]
ALONE = Placement("sync1", 1, 1, {"mode": "sync"})
SYNC = Placement("sync2", 2, 2, {"mode": "sync"})
KERNEL = Placement("kernel2", 2, 2, {"mode": "async", "placement.servers": "none"})
SERVERS = Placement("halves", 4, 2, {"mode": "async", "placement.policy": "halves"})
CASES = [
    pytest.param(back_end, placement, id=f"{back_end.label}-{placement.label}")
    for back_end in BACK_ENDS
    for placement in (SYNC, SERVERS, KERNEL)
]
MISSING = -12345.0
DEFLATE = Tuning("deflate", {}, {"compression": "deflate:3", "chunk": "8 KiB"})


def _run(
    script: Script,
    back_end: BackEnd,
    placement: Placement,
    actors: Actors,
    tuning: Tuning = Tuning("default"),  # noqa: B008 (it never changes)
) -> Job:
    if not actors.build.has_back_end(back_end.name):
        pytest.skip(f"the back-end {back_end.name} was not built")
    return Case(script, back_end, placement, tuning).play(actors)


def _play(
    script: Script,
    back_end: BackEnd,
    placement: Placement,
    actors: Actors,
    tuning: Tuning = Tuning("default"),  # noqa: B008 (it never changes)
) -> Path:
    """Return the folder of the files."""
    job = _run(script, back_end, placement, actors, tuning)
    assert job.status == 0 and not job.failures(), job
    return job.folder


def _refusal(
    script: Script, back_end: BackEnd, actors: Actors, placement: Placement = ALONE
) -> str:
    """Return what the calls that failed were told."""
    job = _run(script, back_end, placement, actors)
    assert job.status == 0 and job.failures(), job
    return "\n".join(entry["story"] for entry in job.failures())


def _fields(script: Script, kind: str = "series") -> FileScript:
    """Open a file of fields on a grid, as CF wants them."""
    file = script.open("fields", kind)
    file.text("Conventions", "CF-1.10")
    for name, extent in (("x", 6), ("y", 4)):
        file.define(name, "float32", [extent])
        file.text("dimensions", name, variable=name)
        file.text("units", "m", variable=name)
    file.define("time", "int16", [])
    file.text("dimensions", "time", variable="time")
    file.text("units", "hours since 2000-01-01", variable="time")
    file.define("temperature", "float64", [4, 6])
    file.text("dimensions", "time y x", variable="temperature")
    file.text("units", "K", variable="temperature")
    file.attribute("_FillValue", "float64", [MISSING], variable="temperature")
    file.define("unnamed", "int32", [3, 3])
    return file


def _values(file: FileScript, step: int, name: str) -> npt.NDArray[np.generic]:
    array = file.arrays[step][name]
    return array.bytes_of_elements.reshape(-1).view(DTYPES[array.element_type]).reshape(array.shape)


def _dumped(program: str, *arguments: str) -> str:
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program}")
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize(("back_end", "placement"), CASES)
def test_a_series_has_time_and_coordinates(
    back_end: BackEnd, placement: Placement, actors: Actors
) -> None:
    script = Script(is_netcdf=True)
    file = _fields(script)
    for step in range(3):
        if step == 0:
            put_blocks(file, "x", [2])
            put_blocks(file, "y", [1])
        file.put("time", step, [], [])
        if step != 1:
            put_blocks(file, "temperature", [2, 2])
        put_blocks(file, "unnamed", [3, 1])
        file.end_step()
    file.close()
    path = _play(script, back_end, placement, actors) / "fields.nc"
    with xarray.open_dataset(path) as data:
        assert dict(data.sizes) == {"time": 3, "y": 4, "x": 6, "dim_3": 3, "dim_3_2": 3}
        assert set(data.coords) == {"time", "y", "x"}
        assert data.attrs["Conventions"] == "CF-1.10"
        assert data.x.attrs == {"units": "m"}
        assert data.temperature.dims == ("time", "y", "x")
        assert data.temperature.attrs == {"units": "K"}
        hours = [int(_values(file, step, "time")) for step in range(3)]
        start = np.datetime64("2000-01-01T00", "ns")
        assert list(data.time.values) == [start + np.timedelta64(hour, "h") for hour in hours]
        for name in ("x", "y"):
            assert (data[name].values == _values(file, 0, name)).all()
        for step in (0, 2):
            assert (data.temperature[step].values == _values(file, step, "temperature")).all()
            assert (data.unnamed[step].values == _values(file, step, "unnamed")).all()
        assert np.isnan(data.temperature[1].values).all()
    header = _dumped("ncdump", "-h", str(path))
    assert "time = UNLIMITED ; // (3 currently)" in header
    assert "double temperature(time, y, x) ;" in header
    kind = _dumped("ncdump", "-k", str(path)).strip()
    assert kind == ("netCDF-4" if back_end.name == "netcdf" else "cdf5")
    if back_end.name == "pnetcdf":
        assert "double temperature(time, y, x) ;" in _dumped("ncmpidump", "-h", str(path))


@pytest.mark.parametrize(("back_end", "placement"), CASES)
def test_a_checkpoint_has_one_time(
    back_end: BackEnd, placement: Placement, actors: Actors
) -> None:
    script = Script(is_netcdf=True)
    file = _fields(script, "checkpoint")
    for step in range(2):
        for name in ("x", "y", "time", "temperature", "unnamed"):
            put_blocks(file, name, [1] * len(file.variables[name].shape))
        file.end_step()
    file.close()
    folder = _play(script, back_end, placement, actors)
    for step in range(2):
        with xarray.open_dataset(folder / f"fields.{step:06}.nc") as data:
            assert data.temperature.dims == ("time", "y", "x")
            assert (data.temperature[0].values == _values(file, step, "temperature")).all()
            assert data.unnamed.dims == ("dim_3", "dim_3_2")
            assert (data.x.values == _values(file, step, "x")).all()


@pytest.mark.parametrize(("back_end", "placement"), CASES)
def test_a_variable_may_have_the_name_of_any_dimension(
    back_end: BackEnd, placement: Placement, actors: Actors
) -> None:
    script = Script(is_netcdf=True)
    file = script.open("fields")
    shapes = {"y": ("y x", [4, 6]), "x": ("time y", [4]), "u": ("time y x", [4, 6])}
    for name, (dimensions, shape) in shapes.items():
        file.define(name, "float32", shape)
        file.text("dimensions", dimensions, variable=name)
    for step in range(2):
        for name, (dimensions, shape) in shapes.items():
            if step == 0 or dimensions.startswith("time"):
                put_blocks(file, name, [1] * len(shape))
        file.end_step()
    file.close()
    path = _play(script, back_end, placement, actors) / "fields.nc"
    with netCDF4.Dataset(path, "a") as data:  # netCDF itself goes on with it
        assert {name: len(data.dimensions[name]) for name in data.dimensions} == {
            "time": 2,
            "y": 4,
            "x": 6,
        }
        for name, (dimensions, _) in shapes.items():
            assert data[name].dimensions == tuple(dimensions.split())
            has_time = dimensions.startswith("time")
            for step in range(2 if has_time else 1):
                found = data[name][step] if has_time else data[name][:]
                assert (found == _values(file, step, name)).all()
        added = data.createVariable("added", "i4", ("time", "x"))
        added[2, :] = range(6)
    with netCDF4.Dataset(path) as data:
        assert list(data["added"][2]) == list(range(6))
        assert data["u"].shape == (3, 4, 6)
        assert data["u"][2].mask.all()
        assert (data["u"][1] == _values(file, 1, "u")).all()


def _compressible(script: Script, kind: str) -> FileScript:
    """Open a file with a variable of each kind that compression treats in its own way."""
    file = script.open("fields", kind)
    shapes = {
        "x": ("x", [60]),  # too small
        "depth": ("y x", [40, 60]),  # put once in a series
        "temperature": ("time y x", [40, 60]),
        "gaps": ("time y x", [40, 60]),
    }
    for name, (dimensions, shape) in shapes.items():
        file.define(name, "float64" if name == "temperature" else "int32", shape)
        file.text("dimensions", dimensions, variable=name)
    file.attribute("_FillValue", "float64", [MISSING], variable="temperature")
    for step in range(3):
        if step == 0 or kind == "checkpoint":
            put_blocks(file, "x", [2])
            put_blocks(file, "depth", [2, 2])
        if step != 1:
            put_blocks(file, "temperature", [3, 2])
        file.put("gaps", step % 2, [step, 10], [17, 30])
        file.end_step()
    file.close()
    return file


@pytest.mark.parametrize("kind", ["series", "checkpoint"])
@pytest.mark.parametrize("placement", [SYNC, SERVERS], ids=lambda placement: placement.label)
def test_compressed_variables_read_as_those_that_are_not(
    kind: str, placement: Placement, actors: Actors
) -> None:
    script = Script(is_netcdf=True)
    file = _compressible(script, kind)
    back_end = BackEnd("netcdf")
    plain = _play(script, back_end, placement, actors)
    deflated = _play(script, back_end, placement, actors, DEFLATE)
    names = sorted(path.name for path in plain.glob("*.nc"))
    assert len(names) == (3 if kind == "checkpoint" else 1)
    assert names == sorted(path.name for path in deflated.glob("*.nc"))
    for name in names:
        with netCDF4.Dataset(plain / name) as one, netCDF4.Dataset(deflated / name) as other:
            one.set_auto_mask(False)
            other.set_auto_mask(False)
            assert sorted(one.variables) == sorted(other.variables)  # in the order in which ranks came
            for variable in one.variables:
                assert one[variable].__dict__ == other[variable].__dict__
                assert one[variable].dimensions == other[variable].dimensions
                assert (one[variable][...] == other[variable][...]).all()
                filters = other[variable].filters()
                is_filtered = variable != "x"
                assert (filters["zlib"], filters["shuffle"]) == (is_filtered, is_filtered)
                assert filters["complevel"] == (3 if is_filtered else 0)
            has_time = "temperature" in other.variables
            assert not has_time or other["temperature"].chunking() == [1, 14, 60]
    _dumped("ncdump", str(deflated / names[0]))  # every value, by another program
    if kind == "series":
        with netCDF4.Dataset(deflated / names[0], "a") as data:  # netCDF itself goes on with it
            assert data["temperature"][1].mask.all()
            assert (data["temperature"][2] == _values(file, 2, "temperature")).all()
            data["gaps"][3] = 7
        with netCDF4.Dataset(deflated / names[0]) as data:
            assert (data["gaps"][3] == 7).all()
            assert (data["depth"][:] == _values(file, 0, "depth")).all()


def _with_dimensions(script: Script, text: str) -> FileScript:
    file = script.open("out")
    file.define("u", "float64", [5])
    file.text("dimensions", text, variable="u")
    return file


def _put_twice(file: FileScript) -> None:
    for step in range(2):
        file.put("u", 0, [0], [5])
        file.end_step()
        file.wait_step(step)
    file.close()


@pytest.mark.parametrize("back_end", BACK_ENDS, ids=lambda back_end: back_end.label)
def test_what_netcdf_cannot_hold_is_refused_with_the_reason(
    back_end: BackEnd, actors: Actors
) -> None:
    def story(script: Script, placement: Placement = ALONE) -> str:
        return _refusal(script, back_end, actors, placement)

    twice, wrong, late, shape, half, group = (Script() for _ in range(6))
    _put_twice(_with_dimensions(twice, "x"))
    assert "in step 0, not in step 1" in story(twice, SERVERS)
    _put_twice(_with_dimensions(wrong, "x time"))
    assert '"time" in front' in story(wrong, SERVERS)
    file = _with_dimensions(late, "time x")
    file.end_step()
    file.define("v", "float64", [5])
    assert 'kind = "file_per_step"' in story(late)
    file = _with_dimensions(shape, "time x")
    file.end_step()
    file.set_shape("u", [6])
    assert 'kind = "file_per_step"' in story(shape)
    half.open("out").define("u", "float16", [5])
    assert "of type float16" in story(half)
    group.open("out").define("a/u", "float64", [5])
    assert "no '/'" in story(group)


@pytest.mark.parametrize("back_end", BACK_ENDS, ids=lambda back_end: back_end.label)
def test_a_dimension_has_one_length(back_end: BackEnd, actors: Actors) -> None:
    script = Script()
    file = _with_dimensions(script, "time x")
    file.define("v", "float64", [7])
    file.text("dimensions", "time x", variable="v")
    file.put("u", 0, [0], [5])
    file.put("v", 0, [0], [7])
    file.end_step()
    file.wait_step(0)
    file.close()
    told = _refusal(script, back_end, actors)
    assert 'dimension "x"' in told
    assert "length 7" in told or "length 5" in told
