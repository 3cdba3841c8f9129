import json
from pathlib import Path

import numpy as np
import pytest

from iocomp_studies.reader import open_dataset, resolve

h5py = pytest.importorskip("h5py")


def write_plain(path: Path, values: np.ndarray, offset: int) -> None:
    path.write_bytes(b"\0" * offset + values.tobytes())
    variable = {"name": "u", "type": "int32", "shape": list(values.shape), "offset": offset}
    manifest = {
        "iocomp_manifest": 1,
        "file": path.name,
        "steps": [{"step": 4, "variables": [variable]}],
    }
    Path(f"{path}.json").write_text(json.dumps(manifest))


def test_a_plain_file_is_read_through_its_manifest(tmp_path: Path) -> None:
    values = np.arange(12, dtype="<i4").reshape(3, 4)
    write_plain(tmp_path / "f.dat", values, offset=4096)
    with open_dataset(tmp_path / "f.dat") as dataset:
        assert dataset.steps() == [4]
        assert dataset.variables(4) == ["u"]
        assert dataset.shape(4, "u") == (3, 4)
        assert dataset.read(4, "u", 5, 8).tolist() == [5, 6, 7]


def test_a_plain_file_that_is_too_short_is_told(tmp_path: Path) -> None:
    write_plain(tmp_path / "f.dat", np.arange(4, dtype="<i4"), offset=0)
    with (
        open_dataset(tmp_path / "f.dat") as dataset,
        pytest.raises(ValueError, match="ends inside"),
    ):
        dataset.read(4, "u", 2, 6)


def test_an_hdf5_file_is_known_by_its_signature(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "f.anything", "w") as file:
        file.create_dataset("3/u", data=np.arange(6.0).reshape(2, 3))
    with open_dataset(tmp_path / "f.anything") as dataset:
        assert dataset.steps() == [3]
        assert dataset.shape(3, "u") == (2, 3)
        assert dataset.read(3, "u", 2, 4).tolist() == [2.0, 3.0]


def test_datasets_that_grow_are_read_by_steps(tmp_path: Path) -> None:
    values = np.arange(24.0).reshape(2, 3, 4)
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file.create_dataset("a/u", data=values, maxshape=(None, 3, 4))
        file.create_dataset("v", data=values[:1, 0], maxshape=(None, 4))
    with open_dataset(tmp_path / "f.h5") as dataset:
        assert dataset.steps() == [0, 1]
        assert (dataset.variables(0), dataset.variables(1)) == (["a/u", "v"], ["a/u"])
        assert dataset.shape(1, "a/u") == (3, 4)
        assert dataset.read(1, "a/u", 2, 4).tolist() == [14.0, 15.0]
        assert dataset.read(0, "v", 1, 3).tolist() == [1.0, 2.0]


def test_dimensions_of_netcdf_are_no_variables(tmp_path: Path) -> None:
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset(tmp_path / "f.nc", "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 3)
        file.createVariable("u", "f8", ("time", "x"))[:] = np.arange(6.0).reshape(2, 3)
    with open_dataset(tmp_path / "f.nc") as dataset:
        assert dataset.steps() == [0, 1]
        assert dataset.variables(1) == ["u"]
        assert dataset.read(1, "u", 0, 3).tolist() == [3.0, 4.0, 5.0]


def test_the_extension_may_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "f.dat").touch()
    (tmp_path / "f.dat.json").touch()
    assert resolve(tmp_path / "f") == tmp_path / "f.dat"
    with pytest.raises(FileNotFoundError, match="nothing"):
        resolve(tmp_path / "g")
