# SPDX-License-Identifier: BSD-3-Clause
"""The engine of xarray on small files that others wrote; their own engine is the measure."""

from pathlib import Path

import numpy as np
import pytest

netcdf = pytest.importorskip("netCDF4")
xarray = pytest.importorskip("xarray")
IocompBackend = pytest.importorskip("iocomp.xarray_engine").IocompBackend


def written(path: Path, times: np.ndarray, grows: bool = True) -> Path:
    """Write a field of three numbers and a scalar at some times."""
    with netcdf.Dataset(path, "w") as file:
        file.createDimension("time", None if grows else len(times))
        file.createDimension("x", 3)
        file.createVariable("time", times.dtype, ("time",))[:] = times
        file["time"].units = "nanoseconds since 1970-01-01"
        file.createVariable("u", "f8", ("time", "x"))[:] = np.arange(3.0 * len(times)).reshape(-1, 3)
        file.createVariable("mass", "f8", ("time",))[:] = np.arange(len(times))
        file.createVariable("x", "f8", ("x",))[:] = np.arange(3)
    return path


def test_each_variable_can_be_dropped(tmp_path: Path) -> None:
    """So the engine may rely on none of them, not even on those that it makes, such as `step`."""
    path = written(tmp_path / "f.nc", np.arange(2.0))
    with xarray.open_dataset(path, engine=IocompBackend) as whole:
        assert set(whole.variables) == {"time", "step", "u", "mass", "x"} and "step" in whole.coords
        for dropped in (*({name} for name in whole.variables), {"step", "time"}, {"u", "x"}, set(whole.variables)):
            with xarray.open_dataset(path, engine=IocompBackend, drop_variables=list(dropped)) as found:
                assert set(found.variables) == set(whole.variables) - dropped, dropped
                assert set(found.coords) == set(whole.coords) - dropped, dropped
        with xarray.open_dataset(path, engine=IocompBackend, drop_variables="step") as found:
            assert "step" not in found.variables
