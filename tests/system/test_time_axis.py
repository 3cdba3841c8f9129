# SPDX-License-Identifier: BSD-3-Clause
"""Files of one step have a time axis where a variable has the dimension `time`."""

from __future__ import annotations

from pathlib import Path

import netCDF4
import numpy as np
import pytest
import xarray
from actors import Actors
from files import MODES, extension, file_settings, mode_settings, skip_if_missing, values
from zarr_packages import dumped, has_zarr, values_of

from iocomp import open_files

TIMES = {5: 2.5, 7: 3.0}
BACK_ENDS = ["netcdf", "netcdf-deflate", "pnetcdf", "zarr", "zarr-zstd"]


def written(actors: Actors, back_end: str, mode: str, dimensions: str) -> dict[int, Path]:
    """Return the checkpoints of a job, by the number of their step."""
    skip_if_missing(actors.build, back_end)
    lines = ["init", "open out checkpoint", "define out u float64 3x4"]
    lines += [f"attribute out dimensions {dimensions} of=u"]
    for number, time in TIMES.items():
        lines += [f"begin_step out {number} time={time}", "put out u by=rows", "end_step out"]
    out = file_settings(back_end, path="out" + extension(back_end))
    settings = mode_settings(mode) | {"files": {"out": out}}
    job = actors.play("\n".join([*lines, "close out"]), ranks=3, settings=settings)
    assert job.status == 0 and not job.failures(), job
    return {number: job.folder / f"out.{number:06}{extension(back_end)}" for number in TIMES}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back_end", BACK_ENDS)
@pytest.mark.parametrize(("dimensions", "axes"), [("time+y+x", ("time",)), ("y+x", ())])
def test_time_has_the_dimension_time_if_another_variable_has_it(
    actors: Actors, back_end: str, mode: str, dimensions: str, axes: tuple[str, ...]
) -> None:
    for number, path in written(actors, back_end, mode, dimensions).items():
        expected = values(np.float64, 12, number).reshape(3, 4)
        if path.suffix == ".nc":
            with xarray.open_dataset(path, engine="netcdf4") as found:
                assert found["time"].dims == axes and found["u"].dims == (*axes, "y", "x")
                np.testing.assert_array_equal(found["time"].values.ravel(), [TIMES[number]])
                np.testing.assert_array_equal(found["u"].values.reshape(3, 4), expected)
        elif has_zarr():  # xarray has read it too
            arrays = dumped(path)["arrays"]
            assert tuple(arrays["time"]["dimensions"]) == axes
            np.testing.assert_array_equal(values_of(arrays["time"]).ravel(), [TIMES[number]])
        for use_manifest in (True, False):
            with open_files(path, use_manifest=use_manifest) as files:
                assert files.steps == [number] and files.time(number) == TIMES[number]
                assert files.shape("time") == ()
                np.testing.assert_array_equal(files.read("u", number), expected)


@pytest.mark.usefixtures("actors")  # they say where the library is
@pytest.mark.parametrize("form", ["NETCDF4", "NETCDF3_64BIT_DATA"])
def test_an_axis_of_others_that_does_not_grow_counts_steps(tmp_path: Path, form: str) -> None:
    put = np.arange(12.0).reshape(4, 3)
    with netCDF4.Dataset(tmp_path / "f.nc", "w", format=form) as file:
        for name, length in {"time": 4, "x": 3}.items():
            file.createDimension(name, length)
        file.createVariable("u", "f8", ("time", "x"))[:] = put
    with open_files(tmp_path / "f.nc") as files:
        assert files.steps == [0, 1, 2, 3]
        for step in files.steps:
            np.testing.assert_array_equal(files.read("u", step), put[step])
