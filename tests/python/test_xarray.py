# SPDX-License-Identifier: BSD-3-Clause
"""The engine of xarray on small files that others wrote; their own engine is the measure."""

from pathlib import Path

import numpy as np
import pytest

netcdf = pytest.importorskip("netCDF4")
xarray = pytest.importorskip("xarray")
IocompBackend = pytest.importorskip("iocomp.xarray_engine").IocompBackend

from test_reader import write, write_packed  # noqa: E402 (it needs h5py)


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


NANOSECONDS = np.array([1700000000123456789, 1700000000123456790, 1700000000123456791])


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("grows", [True, False])
@pytest.mark.parametrize("kind", ["i2", "i4", "i8", "u8", "f8"])
@pytest.mark.parametrize("first", [0, 2**53 + 1, NANOSECONDS[0], 2**63 - 5])
def test_times_have_the_digits_of_the_file(tmp_path: Path, kind: str, first: int, grows: bool, count: int) -> None:
    times = np.array([first + step for step in range(count)], "u8").astype(kind)
    path = written(tmp_path / "f.nc", times, grows)
    for decoded in (False, True) if abs(int(times[-1])) < 2**61 else (False,):  # what pandas can date
        with (
            xarray.open_dataset(path, engine=IocompBackend, decode_times=decoded) as found,
            xarray.open_dataset(path, engine="netcdf4", decode_times=decoded) as own,
        ):
            assert found["time"].dtype == own["time"].dtype
            assert np.array_equal(found["time"].values, own["time"].values)
            assert found["time"].attrs == own["time"].attrs


def test_integers_do_not_take_the_place_of_times_that_are_told(tmp_path: Path) -> None:
    """The times of begin_step are those of the steps, whatever a variable `time` has."""
    half, same = ({0: {"time": np.array(0)}, 2: {"time": np.array(end)}} for end in (2, 1))
    for arrays, expected in ((half, np.array([0, 1.0])), (same, np.array([0, 1]))):
        path = write(tmp_path / "f.bin", arrays)  # it tells half of the number of the step
        with xarray.open_dataset(path, engine=IocompBackend) as found:
            assert found["time"].dtype == expected.dtype
            assert np.array_equal(found["time"].values, expected)


def test_each_file_of_a_set_is_unpacked_as_it_says(tmp_path: Path) -> None:
    path = write_packed(tmp_path, {3: 0.5, 4: 0.25, 7: 0.125})
    with xarray.open_dataset(path, engine=IocompBackend) as found:
        assert found["u"].dtype == np.float64 and "scale_factor" not in found["u"].encoding
        assert np.array_equal(found["u"].values, np.full((3, 4), 10.0))
    same = write_packed(tmp_path / "same", {3: 0.5, 4: 0.5})
    with xarray.open_dataset(same, engine=IocompBackend) as found:
        assert found["u"].encoding["scale_factor"] == 0.5
        assert np.array_equal(found["u"].values, np.full((2, 4), 10.0))


@pytest.mark.parametrize("scales", [False, True])
@pytest.mark.parametrize("mask_and_scale", [False, True, {"u": False}, {}])
def test_integers_stay_what_they_are_unless_they_are_unpacked(
    tmp_path: Path, scales: bool, mask_and_scale: object
) -> None:
    """Also where a step says something else of them, and the newest one nothing at all."""
    large = [2**53 + 1, 2**62 + 3, -(2**61) - 1, 7]
    for step in range(3):
        told = {"_FillValue": {"type": "int64", "value": [-5 - step]}}
        if scales:
            told["scale_factor"] = {"type": "float64", "value": [0.5]}
        told = {"u": told if step < 2 else {}}
        arrays = {step: {"u": np.array(large)}}
        write(tmp_path / f"c.{step:06}.bin", arrays, kind="checkpoint", variable_attributes=told)
    is_unpacked = scales and mask_and_scale in (True, {})
    with xarray.open_dataset(
        tmp_path / "c.bin", engine=IocompBackend, mask_and_scale=mask_and_scale
    ) as found:
        assert found["u"].dtype == (np.float64 if is_unpacked else np.int64)
        expected = np.array([large] * 3) * (np.array([[0.5], [0.5], [1]]) if is_unpacked else 1)
        assert np.array_equal(found["u"].values, expected)
