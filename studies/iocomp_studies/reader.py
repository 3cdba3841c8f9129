"""Read files without iocomp: plain ones through their manifest, HDF5 and netCDF with h5py."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

_HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_TYPES = {
    "int8": "<i1",
    "int16": "<i2",
    "int32": "<i4",
    "int64": "<i8",
    "uint8": "<u1",
    "uint16": "<u2",
    "uint32": "<u4",
    "uint64": "<u8",
    "float16": "<f2",
    "float32": "<f4",
    "float64": "<f8",
    "complex64": "<c8",
    "complex128": "<c16",
    "char": "S1",
}


class Dataset(Protocol):
    """The committed steps of one file."""

    def steps(self) -> list[int]:
        """Return the numbers of the steps that are there, in order."""

    def variables(self, step: int) -> list[str]:
        """Return the names of the variables of a step."""

    def shape(self, step: int, name: str) -> tuple[int, ...]:
        """Return the global shape of a variable at a step."""

    def read(self, step: int, name: str, begin: int, end: int) -> npt.NDArray[Any]:
        """Return elements `begin` to `end` of the variable in row-major order."""

    def close(self) -> None:
        """Release the file."""


@dataclass(frozen=True)
class _Placed:
    dtype: str
    shape: tuple[int, ...]
    offset: int


def manifest_steps(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the entries of the steps of a manifest, one for each step (src/commit/commit.h)."""
    steps = []
    for line in manifest["steps"]:
        count = line.get("count", 1)
        for i in range(count):
            step = {"step": line["step"] + i}
            if "number" in line:
                step["number"] = line["number"] + i
            if "time" in line:
                step["time"] = line["time"][i] if count > 1 else line["time"]
            step["variables"] = [
                {**variable, "offset": variable["offset"] + i * variable.get("advance", 0)}
                for variable in line["variables"]
            ]
            steps.append(step)
    return steps


class PlainDataset:
    """A file of raw bytes (posix, mpiio, and the data of pnetcdf) and its manifest `<file>.json`."""

    def __init__(self, path: Path) -> None:
        """Read the manifest; the format is documented in src/commit/commit.h."""
        manifest = json.loads(Path(f"{path}.json").read_text())
        replaces = manifest.get("replaces")
        if replaces and (path.parent / replaces["temporary"]).exists():
            manifest = replaces["manifest"] or {}  # the new file has not got its name yet
        if manifest.get("iocomp_manifest") not in (1, 2):
            raise ValueError(f"{path}.json: not a manifest of version 1 or 2")
        self._path = path.parent / manifest["file"]
        order = ">" if manifest.get("byte_order") == "big" else "<"
        self._steps = {
            int(step["step"]): {
                str(v["name"]): _Placed(
                    _TYPES[v["type"]].replace("<", order), tuple(v["shape"]), int(v["offset"])
                )
                for v in step["variables"]
            }
            for step in manifest_steps(manifest)
        }

    def __enter__(self) -> PlainDataset:
        """Return the dataset itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Release the file."""
        self.close()

    def steps(self) -> list[int]:
        """Return the numbers of the steps that are there, in order."""
        return sorted(self._steps)

    def variables(self, step: int) -> list[str]:
        """Return the names of the variables of a step."""
        return list(self._steps[step])

    def shape(self, step: int, name: str) -> tuple[int, ...]:
        """Return the global shape of a variable at a step."""
        return self._steps[step][name].shape

    def read(self, step: int, name: str, begin: int, end: int) -> npt.NDArray[Any]:
        """Return elements `begin` to `end` of the variable in row-major order."""
        placed = self._steps[step][name]
        dtype = np.dtype(placed.dtype)
        if begin == end:
            return np.empty(0, dtype=dtype)
        offset = placed.offset + begin * dtype.itemsize
        values = np.fromfile(self._path, dtype=dtype, count=end - begin, offset=offset)
        if values.size != end - begin:
            raise ValueError(f"{self._path}: ends inside {name} of step {step}")
        return values

    def close(self) -> None:
        """Release the file: nothing is held open."""


class Hdf5Dataset:
    """An HDF5 file with one group per step and one dataset per variable."""

    def __init__(self, path: Path) -> None:
        """Open the file."""
        import h5py  # only HDF5 files need it

        self._file = h5py.File(path, "r")
        self._groups = {int(name): name for name in self._file if name.isdigit()}

    def __enter__(self) -> Hdf5Dataset:
        """Return the dataset itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Release the file."""
        self.close()

    def steps(self) -> list[int]:
        """Return the numbers of the steps that are there, in order."""
        return sorted(self._groups)

    def variables(self, step: int) -> list[str]:
        """Return the names of the variables of a step."""
        return list(self._file[self._groups[step]])

    def shape(self, step: int, name: str) -> tuple[int, ...]:
        """Return the global shape of a variable at a step."""
        return tuple(self._file[self._groups[step]][name].shape)

    def read(self, step: int, name: str, begin: int, end: int) -> npt.NDArray[Any]:
        """Return elements `begin` to `end` of the variable in row-major order."""
        variable = self._file[self._groups[step]][name]
        if len(variable.shape) == 1:
            return variable[begin:end]
        return variable[...].reshape(-1)[begin:end]

    def close(self) -> None:
        """Release the file."""
        self._file.close()


class RecordDataset(Hdf5Dataset):
    """An HDF5 or netCDF file in which each variable is one dataset, which grows with the steps."""

    def __init__(self, path: Path) -> None:
        """Open the file and look at what is in it."""
        super().__init__(path)
        import h5py

        self._datasets: dict[str, Any] = {}

        def note(name: str, found: object) -> None:
            if isinstance(found, h5py.Dataset) and not _is_dimension_alone(found):
                self._datasets[name] = found

        self._file.visititems(note)

    def _grows(self, name: str) -> bool:
        found = self._datasets[name]
        return bool(found.maxshape) and found.maxshape[0] is None

    def steps(self) -> list[int]:
        """Return the numbers of the steps that are there, in order."""
        along_time = [len(found) for name, found in self._datasets.items() if self._grows(name)]
        return list(range(max(along_time, default=1 if self._datasets else 0)))

    def variables(self, step: int) -> list[str]:
        """Return the names of the variables of a step."""
        return [
            name
            for name, found in self._datasets.items()
            if not self._grows(name) or step < len(found)
        ]

    def shape(self, step: int, name: str) -> tuple[int, ...]:  # noqa: ARG002
        """Return the global shape of a variable at a step."""
        return tuple(self._datasets[name].shape[1 if self._grows(name) else 0 :])

    def read(self, step: int, name: str, begin: int, end: int) -> npt.NDArray[Any]:
        """Return elements `begin` to `end` of the variable in row-major order."""
        found = self._datasets[name]
        if not self._grows(name):
            return np.asarray(found[...]).reshape(-1)[begin:end]
        if len(found.shape) == 2:
            return np.asarray(found[step, begin:end])
        return np.asarray(found[step]).reshape(-1)[begin:end]


def _is_dimension_alone(dataset: Any) -> bool:  # noqa: ANN401 (h5py has no types)
    """Whether it is a dimension of netCDF, and no variable."""
    name = dataset.attrs.get("NAME", b"")
    text = name.decode() if isinstance(name, bytes) else str(name)
    return text.startswith("This is a netCDF dimension but not a netCDF variable")


def resolve(path: Path) -> Path:
    """Return `path`, or the one file beside it that has an extension more.

    Raises:
        FileNotFoundError: If there is none, or more than one.
    """
    if path.is_file():
        return path
    found = [p for p in sorted(path.parent.glob(f"{path.name}.*")) if p.suffix != ".json"]
    if len(found) != 1:
        raise FileNotFoundError(f"{path}: found {[p.name for p in found] or 'nothing'} instead")
    return found[0]


def _has_records(path: Path) -> bool:
    """Whether an HDF5 file has something else at its top than a group for each step."""
    import h5py

    with h5py.File(path, "r") as file:
        return any(not name.isdigit() or isinstance(file[name], h5py.Dataset) for name in file)


def open_dataset(path: Path) -> PlainDataset | Hdf5Dataset:
    """Open a file by what it holds: HDF5 by its signature, all else by its manifest."""
    path = resolve(path)
    with path.open("rb") as file:
        signature = file.read(len(_HDF5_SIGNATURE))
    if signature == _HDF5_SIGNATURE:
        return RecordDataset(path) if _has_records(path) else Hdf5Dataset(path)
    return PlainDataset(path)
