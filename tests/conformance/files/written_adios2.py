# SPDX-License-Identifier: BSD-3-Clause
"""Read a dataset of ADIOS2: BP with its own library, HDF5 with h5py.

dump_adios2 writes down what the library finds. Of its HDF5 files the library reads every step as if
shapes were those of the first.
"""

from __future__ import annotations

import json
import math
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from actors import read_build
from element_pattern import size_of
from script import Array, Attribute
from written_file import TYPE_OF, Written, texts

_NAMES = {
    "float": "float32",
    "double": "float64",
    "float complex": "complex64",
    "double complex": "complex128",
    "string": "text",
    "list of strings": "texts",
}


def element_type_of(name: str) -> str:
    """Return what a type of ADIOS2 is called here."""
    return _NAMES.get(name, name.removesuffix("_t"))


def as_adios2_keeps(attributes: dict[str, Attribute]) -> dict[str, Attribute]:
    """Return what becomes of attributes: complex ones are their parts."""
    return {name: Attribute(each.part_type, each.values) for name, each in attributes.items()}


def _dump(path: Path, engine: str) -> tuple[dict[str, Any], bytes]:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        command = [read_build().dump_adios2, str(path), engine, str(data)]
        found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        assert found.returncode == 0, found.stderr
        return json.loads(found.stdout), data.read_bytes()


def _add_attribute(written: Written, names: set[str], name: str, attribute: Attribute) -> None:
    """Attributes of variables are called <variable>/<attribute>."""
    owners = [variable for variable in names if name.startswith(f"{variable}/")]
    if not owners:
        written.attributes[name] = attribute
        return
    owner = max(owners, key=len)
    of_variable = written.variable_attributes.setdefault(owner, {})
    of_variable[name.removeprefix(f"{owner}/")] = attribute


def _read_hdf5(path: Path, first_step: int) -> Written:
    import h5py  # type: ignore[import-untyped]

    written = Written()
    names: set[str] = set()
    with h5py.File(path, "r") as file:
        for group in file:
            arrays: dict[str, Array] = {}

            def take(name: str, found: Any, arrays: dict[str, Array] = arrays) -> None:  # noqa: ANN401
                if isinstance(found, h5py.Dataset):
                    raw = np.ascontiguousarray(found[()]).reshape(-1)
                    data = raw.view(np.uint8).reshape(raw.size, found.dtype.itemsize)
                    arrays[name] = Array(TYPE_OF[found.dtype], tuple(found.shape), data)

            file[group].visititems(take)
            if arrays:
                written.arrays[first_step + int(group.removeprefix("Step"))] = arrays
            names |= arrays.keys()
        for name in file.attrs:
            value = file.attrs[name]
            if name == "NumSteps":
                continue
            if isinstance(value, (bytes, str)):
                text = value if isinstance(value, bytes) else value.encode()
                attribute = Attribute("text", text)
            elif isinstance(value, np.ndarray) and value.dtype.kind in "OS":
                attribute = texts(each if isinstance(each, str) else each.decode() for each in value)
            else:
                dtype = file.attrs.get_id(name).dtype
                attribute = Attribute(TYPE_OF[dtype], np.asarray(value, dtype=dtype).tobytes())
            _add_attribute(written, names, name, attribute)
    return written


def read_adios2(path: Path, engine: str, first_step: int) -> Written:
    """Return what ADIOS2 finds; the dataset's first step is `first_step`."""
    if engine == "HDF5":
        return _read_hdf5(path, first_step)
    found, data = _dump(path, engine)
    position = 0

    def take(size: int) -> bytes:
        nonlocal position
        position += size
        return data[position - size : position]

    written = Written()
    names: set[str] = set()
    for number, variables in enumerate(found["steps"]):
        arrays = {}
        for name, about in variables.items():
            element_type, shape = element_type_of(about["type"]), tuple(about["shape"])
            raw = np.frombuffer(take(about["bytes"]), np.uint8)
            elements = raw.reshape(math.prod(shape), size_of(element_type))
            arrays[name] = Array(element_type, shape, elements)
        if arrays:
            written.arrays[first_step + number] = arrays
        names |= arrays.keys()
    for name, about in found["attributes"].items():
        attribute = Attribute(element_type_of(about["type"]), take(about["bytes"]))
        _add_attribute(written, names, name, attribute)
    return written
