# SPDX-License-Identifier: BSD-3-Clause
"""Read files without iocomp: HDF5 by h5py, Zarr by zarr-python, others at the offsets of their manifests."""

from __future__ import annotations

import math
import unittest
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt
from manifests import manifest_steps, whole_manifest
from zarr_packages import dumped, has_zarr, values_of

Array = npt.NDArray[Any]
_TYPES = {"char": "S1"}  # others are called as in numpy


class Foreign:
    """One file as other programs see it."""

    def __init__(self, path: Path) -> None:
        """Open it."""
        if path.is_dir():
            self._steps = _in_zarr(path)
            return
        with path.open("rb") as file:
            is_hdf5 = file.read(8) == b"\x89HDF\r\n\x1a\n"
        self._steps = _in_hdf5(path) if is_hdf5 else _at_offsets(path)

    def __enter__(self) -> Foreign:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Do nothing: all was read."""

    @property
    def steps(self) -> list[int]:
        """As the file calls them."""
        return sorted(self._steps)

    def variables(self, step: int) -> list[str]:
        """Return the names of the variables of a step. HDF5 shows no step that has none."""
        return list(self._steps.get(step, {}))

    def shape(self, name: str, step: int) -> tuple[int, ...]:
        """Return the shape of a variable in a step."""
        return self._steps[step][name].shape

    def read(self, name: str, step: int) -> Array:
        """Return the values of a variable in a step."""
        return self._steps[step][name]


def _at_offsets(path: Path) -> dict[int, dict[str, Array]]:
    manifest = whole_manifest(Path(f"{path}.json").read_bytes())
    order = ">" if manifest.get("byte_order") == "big" else "<"
    raw = np.fromfile(path, np.uint8)

    def values(_step: int, each: dict[str, Any]) -> Array:
        dtype = np.dtype(_TYPES.get(each["type"], each["type"])).newbyteorder(order)
        bytes_ = math.prod(each["shape"]) * dtype.itemsize
        at = max(each["offset"], 0)
        found = raw[at : at + bytes_].view(dtype).reshape(each["shape"])
        return found.astype(dtype.newbyteorder("="))

    return _told_by(manifest, values)


def _in_zarr(path: Path) -> dict[int, dict[str, Array]]:
    if not has_zarr():
        raise unittest.SkipTest("zarr-python is not there: tools/install-wheel zarr fetches it")
    manifest = whole_manifest(Path(f"{path}.json").read_bytes())
    arrays = dumped(path)["arrays"]

    def values(step: int, each: dict[str, Any]) -> Array:
        found = values_of(arrays[each["name"]])
        if arrays[each["name"]]["dimensions"][:1] != ["time"]:
            return found
        return np.asarray(found[0 if len(found) == 1 else step])

    return _told_by(manifest, values)


def _told_by(
    manifest: dict[str, Any], values: Callable[[int, dict[str, Any]], Array]
) -> dict[int, dict[str, Array]]:
    """Return what lies in the steps of a manifest. `values`: of a variable in a step."""
    told = {each["step"]: each for each in manifest_steps(manifest)}
    first, count = manifest["first_step"], manifest["committed_steps"]
    steps: dict[int, dict[str, Array]] = {}
    ahead = 0  # of a number, compared with its step: without one, as of the step before
    for step in sorted(set(range(first, first + count)) - set(manifest["absent"])):
        entry = told.get(step, {})
        ahead = entry.get("number", step + ahead) - step
        of_step = steps.setdefault(step + ahead, {})
        for each in entry.get("variables", ()):
            of_step[each["name"]] = values(step, each)
    return steps


def _in_hdf5(path: Path) -> dict[int, dict[str, Array]]:
    import h5py

    with h5py.File(path, "r") as file:
        if len(file) and all(name.isdigit() for name in file):
            return {int(name): _datasets_of(file[name]) for name in file}
        steps: dict[int, dict[str, Array]] = {}
        for name, values in _datasets_of(file).items():
            grows = bool(file[name].maxshape) and file[name].maxshape[0] is None
            for step, of_step in enumerate(values) if grows else [(0, values)]:
                steps.setdefault(step, {})[name] = np.asarray(of_step)
        return steps


def _datasets_of(group: Any) -> dict[str, Array]:  # noqa: ANN401 (h5py has no types)
    import h5py

    found: dict[str, Array] = {}

    def take(name: str, each: object) -> None:
        if isinstance(each, h5py.Dataset) and not _is_dimension_alone(each):
            found[name] = np.asarray(each[()])

    group.visititems(take)
    return found


def _is_dimension_alone(dataset: Any) -> bool:  # noqa: ANN401
    """Return True for a dimension of netCDF that is no variable."""
    return bytes(dataset.attrs.get("NAME", b"")).startswith(b"This is a netCDF dimension but not")
