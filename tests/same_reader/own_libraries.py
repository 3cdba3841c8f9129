# SPDX-License-Identifier: BSD-3-Clause
"""Files as the libraries of their formats see them: h5py, netCDF4, ADIOS2, numpy at offsets."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from foreign import Foreign
from plans import Array, Plan
from zarr_packages import dumped, has_zarr, values_of

# A variable in a step: by the place of the step in the file, its number, and the name; None where
# there is none. `shape` is what iocomp says it is.
Look = Callable[[int, int, str, tuple[int, ...]], Array | None]


class OwnLibrary:
    """One physical file."""

    def __init__(self, look: Look, attributes: dict[str, dict[str, Any]] | None = None) -> None:
        """`attributes` by variable; those of the file under ""; None: they are not compared."""
        self.look, self.attributes = look, attributes


def characters(values: Array) -> Array:
    """Return texts as arrays of characters, with one dimension more."""
    size = values.dtype.itemsize
    return np.ascontiguousarray(values).reshape(-1).view("S1").reshape(*values.shape, size)


def open_own(plan: Plan, path: Path, dump_adios2: str, newest: int) -> OwnLibrary | None:
    """Open a file by the library of its format. None where that is not there.

    Args:
        plan: The plan of the file.
        path: The path of the file.
        dump_adios2: A program of the build.
        newest: The number of the newest step that has values.
    """
    backend = plan.format.backend
    if backend in ("posix", "mpiio"):
        return _raw(path)
    if backend == "hdf5":
        return _hdf5(path, str(plan.settings.get("layout", "steps")), newest)
    if backend in ("netcdf", "pnetcdf"):
        return _netcdf(path)
    if backend == "zarr":
        return _zarr(path, has_file_per_step=plan.kind != "series") if has_zarr() else None
    if plan.settings["engine"] == "HDF5":
        return _hdf5_of_adios2(path)
    return _adios2(path, plan, dump_adios2) if dump_adios2 else None


def _zarr(path: Path, *, has_file_per_step: bool) -> OwnLibrary:
    arrays = dumped(path)["arrays"]

    def look(index: int, _number: int, name: str, _shape: tuple[int, ...]) -> Array | None:
        if name not in arrays:
            return None
        values = values_of(arrays[name])
        has_time = arrays[name]["dimensions"][:1] == ["time"]
        return values[0 if has_file_per_step else index] if has_time else values

    return OwnLibrary(look)


def _raw(path: Path) -> OwnLibrary:
    file = Foreign(path)

    def look(index: int, _number: int, name: str, _shape: tuple[int, ...]) -> Array | None:
        step = file.steps[index]
        return file.read(name, step) if name in file.variables(step) else None

    return OwnLibrary(look)


def _hdf5(path: Path, layout: str, newest: int) -> OwnLibrary:
    import h5py

    file = h5py.File(path, "r")
    is_by_number = str(newest) in file  # else the groups of steps count

    def look(index: int, number: int, name: str, shape: tuple[int, ...]) -> Array | None:
        step = number if is_by_number else index
        place = name if layout != "steps" else f"{step}/{name}"
        if place not in file:
            return None
        dataset = file[place]
        if layout == "time":
            values = np.asarray(dataset[index] if index < len(dataset) else None, dataset.dtype)
        else:
            values = np.asarray(dataset[()], dataset.dtype)
        if values.dtype.kind == "S" and values.size:
            values = characters(values)
            values = values.reshape(shape) if values.size == math.prod(shape) else values
        return values

    attributes = {"": _hdf5_attributes(file.attrs)}

    def note(name: str, found: object) -> None:
        if isinstance(found, h5py.Dataset):
            named = name.partition("/")[2] if layout == "steps" else name
            if named:  # else another program has put it beside the steps
                attributes[named] = _hdf5_attributes(found.attrs)

    file.visititems(note)
    return OwnLibrary(look, attributes)


def _hdf5_of_adios2(path: Path) -> OwnLibrary:
    import h5py

    file = h5py.File(path, "r")

    def look(index: int, _number: int, name: str, _shape: tuple[int, ...]) -> Array | None:
        place = f"Step{index}/{name}"
        return np.asarray(file[place][()], file[place].dtype) if place in file else None

    return OwnLibrary(look)


def _hdf5_attributes(entries: Any) -> dict[str, Any]:  # noqa: ANN401 (h5py has no types)
    import h5py

    return {name: value for name, value in entries.items() if not isinstance(value, h5py.Empty)}


def _has_parts(variable: Any) -> bool:  # noqa: ANN401 (netCDF4 has no types)
    """Return True for complex numbers: their parts lie along the last dimension."""
    return bool(variable.dimensions[-1:] == ("_pfnc_complex",))


def _netcdf(path: Path) -> OwnLibrary:
    import netCDF4

    file = netCDF4.Dataset(path, "r")
    file.set_auto_maskandscale(False)
    file.set_auto_chartostring(False)

    def look(index: int, _number: int, name: str, _shape: tuple[int, ...]) -> Array | None:
        if name not in file.variables:
            return None
        variable = file[name]
        first = variable.dimensions[0] if variable.dimensions else ""
        has_steps = first == "time" or (first and file.dimensions[first].isunlimited())
        at = min(index, variable.shape[0] - 1) if has_steps else ()
        values = np.asarray(variable[at] if has_steps else variable[()])
        values = values.astype(values.dtype.newbyteorder("="), order="C")
        return values.view(f"c{2 * values.itemsize}")[..., 0] if _has_parts(variable) else values

    attributes = {"": {name: file.getncattr(name) for name in file.ncattrs()}}
    for name, variable in file.variables.items():
        attributes[name] = {each: variable.getncattr(each) for each in variable.ncattrs()}
        if _has_parts(variable) and "_FillValue" in attributes[name]:
            both = np.repeat(attributes[name]["_FillValue"], 2)
            attributes[name]["_FillValue"] = both.view(f"c{2 * both.itemsize}")
    return OwnLibrary(look, attributes)


_ADIOS2_TYPES = {
    "int8_t": "i1", "int16_t": "i2", "int32_t": "i4", "int64_t": "i8", "uint8_t": "u1",
    "uint16_t": "u2", "uint32_t": "u4", "uint64_t": "u8", "float": "f4", "double": "f8",
    "float complex": "c8", "double complex": "c16", "char": "S1",
}  # fmt: skip


def _adios2(path: Path, plan: Plan, program: str) -> OwnLibrary:
    data = path.with_name("dumped")
    engine = str(plan.settings["engine"])
    words = [program, str(path), engine, str(data)]
    told = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert told.returncode == 0, told.stderr
    raw, at = data.read_bytes(), 0
    data.unlink()
    steps: list[dict[str, Array]] = []
    for variables in json.loads(told.stdout)["steps"]:
        steps.append({})
        for name, about in variables.items():
            dtype = np.dtype(_ADIOS2_TYPES[about["type"]])
            values = np.frombuffer(raw, dtype, math.prod(about["shape"]), at)
            steps[-1][name] = values.reshape(about["shape"])
            at += about["bytes"]

    def look(index: int, _number: int, name: str, _shape: tuple[int, ...]) -> Array | None:
        return steps[index].get(name) if index < len(steps) else None

    return OwnLibrary(look)
