# SPDX-License-Identifier: BSD-3-Clause
"""Read what was written, without iocomp: through the manifest (src/commit/commit.h), or h5py."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from element_pattern import DTYPES, size_of
from script import Array, Attribute

TYPE_OF = {np.dtype(dtype): name for name, dtype in DTYPES.items()}


@dataclass
class Written:
    """The contents of one physical file."""

    arrays: dict[int, dict[str, Array]] = field(default_factory=dict)
    attributes: dict[str, Attribute] = field(default_factory=dict)
    variable_attributes: dict[str, dict[str, Attribute]] = field(default_factory=dict)
    dimensions: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of netCDF


def read_manifest(path: Path) -> dict[str, Any]:
    """Return the manifest of a data file."""
    manifest = dict(json.loads(Path(f"{path}.json").read_text()))
    assert manifest["iocomp_manifest"] == 2
    assert manifest["file"] == path.name
    manifest["steps"] = [step for line in manifest["steps"] for step in _steps(line)]
    return manifest


def _steps(line: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the steps that a line of the manifest tells of: all lie at regular places."""
    return [
        {
            "step": line["step"] + i,
            "variables": [
                {**variable, "offset": variable["offset"] + i * variable.get("advance", 0)}
                for variable in line["variables"]
            ],
        }
        for i in range(line.get("count", 1))
    ]


def _numbers(values: list[Any], element_type: str) -> bytes:
    if element_type == "char":
        return bytes(values)
    if element_type.startswith("complex"):
        part = "<f4" if element_type == "complex64" else "<f8"
        return np.array([float(x) for pair in values for x in pair], dtype=part).tobytes()
    if element_type.startswith("float"):
        values = [float(x) for x in values]  # also "NaN" and "Infinity"
    return np.array(values, dtype=DTYPES[element_type]).tobytes()


def texts(values: Iterable[str]) -> Attribute:
    """Return a list of texts."""
    return Attribute("texts", b"".join(each.encode() + b"\0" for each in values))


def attributes_of_manifest(entries: dict[str, Any]) -> dict[str, Attribute]:
    """Return attributes as the manifest tells them."""
    found = {}
    for name, entry in entries.items():
        if "bytes" in entry:
            found[name] = Attribute("text", bytes.fromhex(entry["bytes"]))
        elif entry["type"] == "text":
            found[name] = Attribute("text", entry["value"].encode())
        elif entry["type"] == "texts":
            found[name] = texts(entry["value"])
        else:
            found[name] = Attribute(entry["type"], _numbers(entry["value"], entry["type"]))
    return found


def _without_arrays(manifest: dict[str, Any]) -> Written:
    return Written(
        attributes=attributes_of_manifest(manifest["attributes"]),
        variable_attributes={
            name: attributes_of_manifest(entries)
            for name, entries in manifest["variable_attributes"].items()
        },
    )


def read_raw(path: Path, manifest: dict[str, Any]) -> Written:
    """Return what the manifest says, with the data at the offsets that it tells."""
    written = _without_arrays(manifest)
    raw = np.fromfile(path, dtype=np.uint8)
    for step in manifest["steps"]:
        arrays = written.arrays.setdefault(int(step["step"]), {})
        for variable in step["variables"]:
            size = size_of(variable["type"])
            elements = math.prod(variable["shape"])
            begin = variable["offset"]
            assert begin >= 0 or elements == 0, f"{path}: {variable} has no offset"
            begin = max(begin, 0)
            data = raw[begin : begin + elements * size].reshape(elements, size)
            if manifest["byte_order"] == "big":
                number = size // 2 if variable["type"].startswith("complex") else size
                data = data.reshape(elements, size // number, number)[:, :, ::-1].reshape(elements, size)
            shape = tuple(variable["shape"])
            arrays[variable["name"]] = Array(variable["type"], shape, data)
    return written


def read_as_iocomp_does(path: Path, manifest: dict[str, Any]) -> Written:
    """Return what the manifest says, with the data that the Python package reads."""
    from iocomp import open_files

    written = _without_arrays(manifest)
    with open_files(path) as files:
        for step in manifest["steps"]:
            arrays = written.arrays.setdefault(int(step["step"]), {})
            for variable in step["variables"]:
                raw = np.asarray(files.read(variable["name"], step["step"])).tobytes()
                data = np.frombuffer(raw, np.uint8).reshape(-1, size_of(variable["type"]))
                arrays[variable["name"]] = Array(variable["type"], tuple(variable["shape"]), data)
    return written


def _attributes_of_hdf5(entries: Any) -> dict[str, Attribute]:  # noqa: ANN401 (h5py has no types)
    import h5py  # type: ignore[import-untyped]

    found = {}
    for name in entries:
        value = entries[name]
        if isinstance(value, str):
            found[name] = Attribute("text", value.encode(errors="surrogateescape"))
            continue
        if isinstance(value, np.ndarray) and value.dtype == object:
            found[name] = texts(value)
            continue
        dtype = entries.get_id(name).dtype
        raw = b"" if isinstance(value, h5py.Empty) else np.asarray(value, dtype=dtype).tobytes()
        found[name] = Attribute(TYPE_OF[dtype], raw)
    return found


def _array_of_hdf5(found: Any, record: int | None = None) -> Array:  # noqa: ANN401
    """Texts become arrays of characters. `record`: of a dataset that grows."""
    values = np.asarray(found[()] if record is None else found[record], dtype=found.dtype)
    extents = tuple(found.shape if record is None else found.shape[1:])
    raw = np.ascontiguousarray(values).reshape(-1)
    size = found.dtype.itemsize
    if found.dtype.kind == "S":
        shape = (*extents, size) if raw.size else extents
        return Array("char", shape, raw.view(np.uint8).reshape(-1, 1))
    data = raw.view(np.uint8).reshape(raw.size, size)
    return Array(TYPE_OF[found.dtype], extents, data)


def read_hdf5(path: Path, flat: int | None = None) -> Written:
    """Return what h5py finds: groups of steps, or the one step `flat` at the root."""
    import h5py

    written = Written()
    with h5py.File(path, "r") as file:
        written.attributes = _attributes_of_hdf5(file.attrs)
        steps = {int(step): file[step] for step in file} if flat is None else {flat: file}
        for step, group in steps.items():
            arrays = written.arrays.setdefault(step, {})

            def take(name: str, found: Any, arrays: dict[str, Array] = arrays) -> None:  # noqa: ANN401
                if not isinstance(found, h5py.Dataset):
                    return
                arrays[name] = _array_of_hdf5(found)
                if len(found.attrs) > 0:
                    written.variable_attributes[name] = _attributes_of_hdf5(found.attrs)

            group.visititems(take)
            if group is file and not arrays:  # nothing tells of a step without variables
                del written.arrays[step]
    return written


def read_hdf5_along_time(path: Path, manifest: dict[str, Any]) -> Written:
    """Return what h5py finds in datasets that grow, of the steps that have the variable."""
    import h5py

    written = Written()
    with h5py.File(path, "r") as file:
        written.attributes = _attributes_of_hdf5(file.attrs)
        for step in manifest["steps"]:
            arrays = written.arrays.setdefault(int(step["step"]), {})
            for variable in step["variables"]:
                name = variable["name"]
                dataset = file[name]
                arrays[name] = _array_of_hdf5(dataset, step["step"])
                if len(dataset.attrs) > 0:
                    written.variable_attributes[name] = _attributes_of_hdf5(dataset.attrs)
    return written
