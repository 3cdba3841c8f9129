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


def test_the_extension_may_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "f.dat").touch()
    (tmp_path / "f.dat.json").touch()
    assert resolve(tmp_path / "f") == tmp_path / "f.dat"
    with pytest.raises(FileNotFoundError, match="nothing"):
        resolve(tmp_path / "g")
