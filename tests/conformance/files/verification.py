# SPDX-License-Identifier: BSD-3-Clause
"""Compare what a script wrote with what it must have written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from bpls import bpls, compare_with_bpls
from element_pattern import size_of
from script import Array, Attribute, FileScript, Script, latest
from written_adios2 import as_adios2_keeps, read_adios2
from written_file import (
    Written,
    attributes_of_manifest,
    read_as_iocomp_does,
    read_hdf5,
    read_hdf5_along_time,
    read_manifest,
    read_raw,
)
from written_netcdf import read_netcdf
from written_zarr import compare_attributes, read_zarr, without_dimensions
from zarr_packages import dumped, has_zarr

EXTENSIONS = {
    "posix": ".bin",
    "mpiio": ".bin",
    "hdf5": ".h5",
    "pnetcdf": ".nc",
    "netcdf": ".nc",
    "adios2": ".bp",
    "zarr": ".zarr",
    "example_format": ".example",
}


@dataclass(frozen=True)
class BackEnd:
    """A back-end and the settings that make it another one."""

    name: str
    engine: str = ""  # files.*.engine
    flat: bool = False  # hdf5 with its datasets at the root: each step a file
    time: bool = False  # hdf5 with datasets that grow along time

    @property
    def label(self) -> str:
        """Return what distinguishes it."""
        if self.flat:
            return f"{self.name}_flat"
        if self.time:
            return f"{self.name}_time"
        return f"{self.name}_{self.engine}" if self.engine else self.name

    @property
    def settings(self) -> dict[str, object]:
        """Return the settings of its files."""
        chosen: dict[str, object] = {"backend": self.name}
        if self.flat:
            chosen |= {"layout": "flat"}
        if self.time:
            chosen |= {"layout": "time"}
        return chosen | ({"engine": self.engine} if self.engine else {})

    def settings_of(self, file: FileScript) -> dict[str, object]:
        """Return the settings of one of them: datasets grow along time where all steps share a file."""
        has_groups = self.time and file.has_file_per_step
        return self.settings | ({"layout": "steps"} if has_groups else {})

    @property
    def extension(self) -> str:
        """Return what its files are called."""
        return ".h5" if self.engine == "HDF5" else EXTENSIONS[self.name]

    @property
    def writes_whole_steps(self) -> bool:
        """True if a step has to fit into staging memory, and is written when all have ended it."""
        return self.name in ("adios2", "zarr")

    def writes_at_once(self, without_servers: bool) -> bool:
        """Return True if blocks are written, and can be waited for, before their step has ended."""
        return self.has_plain_layout or not (without_servers or self.writes_whole_steps)

    @property
    def needs_its_library(self) -> bool:
        """True if only a library writes it: without servers that is synchronous in every mode."""
        return self.name in ("mpiio", "adios2", "zarr")

    @property
    def lacks(self) -> tuple[str, ...]:
        """Return the element types that it does not have."""
        if self.name == "zarr":
            return ("char",)
        if self.name != "adios2":
            return ()
        return ("float16", "char") if self.engine == "HDF5" else ("float16",)

    @property
    def may_change(self) -> bool:
        """True if variables of a series may come, and change their shapes, after its first step."""
        return not (self.is_netcdf or self.time)

    @property
    def is_netcdf(self) -> bool:
        """True if the first step defines all, with records and dimensions, as in netCDF."""
        return self.name in ("pnetcdf", "netcdf", "zarr")

    @property
    def has_plain_layout(self) -> bool:
        """True if the bytes of the whole file follow from the calls."""
        return self.name in ("posix", "mpiio")


@dataclass(frozen=True)
class Expected:
    """One physical file that must be there."""

    def variable_names(self) -> set[str]:
        """Return those that some step has."""
        return {name for arrays in self.steps.values() for name in arrays}

    path: Path
    steps: dict[int, dict[str, Array]]
    attributes: dict[str, Attribute]
    variable_attributes: dict[str, dict[str, Attribute]]
    first_step: int
    committed_steps: int
    size: int  # of a plain layout
    offsets: dict[int, dict[str, int]]  # likewise
    dimensions: dict[str, tuple[str, ...]] = field(default_factory=dict)  # of netCDF
    is_series: bool = True  # all steps in one file


def _layout(
    file: FileScript, steps: range, alignment: int
) -> tuple[int, dict[int, dict[str, int]]]:
    """Offsets: variables in order of definition, aligned, with room for those that nobody puts."""
    offsets: dict[int, dict[str, int]] = {}
    begin = 0
    end = 0
    for step in steps:
        for variable in file.variables.values():
            if variable.defined_in <= step:
                shape = variable.shape_at(step)
                size = int(np.prod(shape, dtype=np.int64)) * size_of(variable.element_type)
                offsets.setdefault(step, {})[variable.name] = begin
                end = begin + size
                begin += -(-size // alignment) * alignment
    return end, offsets


def _expected(
    file: FileScript, path: Path, steps: range, when: int | None, alignment: int
) -> Expected:
    arrays = {step: file.arrays[step] for step in steps if step in file.arrays}
    in_file = {name for step in arrays.values() for name in step}
    of_variable = {
        name: latest(variable.attributes, when)
        for name, variable in file.variables.items()
        if name in in_file
    }
    size, offsets = _layout(file, steps, alignment)
    return Expected(
        path,
        arrays,
        latest(file.attributes, when),
        {name: attributes for name, attributes in of_variable.items() if attributes},
        steps.start,
        len(steps),
        size,
        offsets,
        {name: _dimensions(file, name, when) for name in in_file},
        not file.has_file_per_step,
    )


def _dimensions(file: FileScript, name: str, when: int | None) -> tuple[str, ...]:
    """Return the names of a variable's dimensions in netCDF."""
    variable = file.variables[name]
    said = latest(variable.attributes, when).get("dimensions")
    if said and said.element_type == "text":
        return tuple(said.values.decode().split())
    shape = variable.shape if when is None else variable.shape_at(when)
    named: list[str] = [] if file.has_file_per_step else ["time"]
    for d, extent in enumerate(shape):
        before = shape[:d].count(extent)
        named.append(f"dim_{extent}_{before + 1}" if before else f"dim_{extent}")
    return tuple(named)


def expected_files(
    script: Script, folder: Path, extension: str, alignment: int = 4096
) -> list[Expected]:
    """Return every data file that must lie in `folder`."""
    return [
        each
        for file in script.files.values()
        for each in _expected_of(file, folder, extension, alignment)
    ]


def _expected_of(
    file: FileScript, folder: Path, extension: str, alignment: int
) -> Iterator[Expected]:
    align = file.settings.get("alignment", alignment)
    if not file.has_file_per_step:
        path = folder / f"{file.name}{extension}"
        yield _expected(file, path, range(file.step), None, align)
        return
    first_kept = max(0, file.step - keep) if (keep := file.settings.get("keep", 0)) else 0
    for step in range(first_kept, file.step):
        path = folder / f"{file.name}.{step:06}{extension}"
        yield _expected(file, path, range(step, step + 1), step, align)


def _origin(found: bytes, expected: Expected) -> str:
    """Tell which element the bytes belong to, when they are long enough to tell."""
    for step, arrays in expected.steps.items():
        for name, array in arrays.items():
            if array.bytes_of_elements.shape[1] == len(found) >= 4:
                same = (array.bytes_of_elements == np.frombuffer(found, np.uint8)).all(axis=1)
                if same.any() and any(found):
                    return f"that is element {int(np.argmax(same))} of {name} in step {step}"
    return "that is nobody's element" if any(found) else "nothing was written there"


def compare_arrays(expected: Expected, written: Written, reader: str) -> list[str]:
    """Return what differs."""
    wrong = []
    names = {step: sorted(arrays) for step, arrays in expected.steps.items()}
    found_names = {step: sorted(arrays) for step, arrays in written.arrays.items()}
    if names != found_names:
        return [f"{expected.path.name} ({reader}): has {found_names}, not {names}"]
    for step, arrays in expected.steps.items():
        for name, array in arrays.items():
            found = written.arrays[step][name]
            where = f"{expected.path.name} ({reader}): {name} in step {step}"
            shape = array.shape
            if reader == "h5py" and array.element_type == "char" and shape == ():
                shape = (1,)  # a text of one character
            element_type = array.element_type
            if reader == "ADIOS2" and element_type == "char" and shape == ():
                element_type = "uint8"  # it has no single characters
            if (element_type, shape) != (found.element_type, found.shape):
                wrong.append(
                    f"{where} is {found.element_type} {found.shape},"
                    f" not {array.element_type} {array.shape}"
                )
                continue
            bad = np.flatnonzero((array.bytes_of_elements != found.bytes_of_elements).any(axis=1))
            if bad.size:
                first = found.bytes_of_elements[bad[0]].tobytes()
                wrong.append(
                    f"{where} {array.shape}: {bad.size} elements are wrong, the first is"
                    f" number {bad[0]}, the last {bad[-1]}: {_origin(first, expected)}"
                )
    return wrong


def _compare_attributes(expected: Expected, written: Written, reader: str) -> list[str]:
    found = {"": written.attributes, **written.variable_attributes}
    wanted = {"": expected.attributes, **expected.variable_attributes}
    wrong = []
    for owner in sorted(found.keys() | wanted.keys()):
        one, other = found.get(owner, {}), wanted.get(owner, {})
        wrong += [
            f"{expected.path.name} ({reader}): the attribute {name!r} of"
            f" {repr(owner) if owner else 'the file'} is {_told(one.get(name))},"
            f" not {_told(other.get(name))}"
            for name in sorted(one.keys() | other.keys())
            if one.get(name) != other.get(name)
        ]
    return wrong


def _told(attribute: Attribute | None) -> str:
    if attribute is None:
        return "missing"
    values = attribute.values
    return f"{attribute.element_type} {values[:40]!r} ({len(values)} bytes)"


def _differs(expected: Expected) -> bool:
    """Return True if a file of plain layout differs from what it must be, in any byte."""
    content = np.zeros(expected.size, dtype=np.uint8)
    for step, arrays in expected.steps.items():
        for name, array in arrays.items():
            begin = expected.offsets[step][name]
            raw = array.bytes_of_elements.reshape(-1)
            content[begin : begin + raw.size] = raw
    return expected.path.read_bytes() != content.tobytes()


def _as_netcdf_keeps(expected: Expected) -> Expected:
    """Leave out what became dimensions. A complex fill value is one number for both parts."""

    def in_file(value: Attribute) -> Attribute:
        if value.element_type.startswith("complex"):
            return Attribute(value.part_type, value.values[: len(value.values) // 2])
        return Attribute("text", value.values) if value.element_type == "char" else value

    of_variables = {
        name: {
            key: in_file(value)
            for key, value in attributes.items()
            if key != "dimensions"
        }
        for name, attributes in expected.variable_attributes.items()
    }
    return replace(
        expected, variable_attributes={name: each for name, each in of_variables.items() if each}
    )


def _as_adios2_keeps(expected: Expected) -> Expected:
    return replace(
        expected,
        attributes=as_adios2_keeps(expected.attributes),
        variable_attributes={
            name: as_adios2_keeps(attributes)
            for name, attributes in expected.variable_attributes.items()
        },
    )


def _without_empty(expected: Expected) -> Expected:
    """Leave out what CDF-5, and of ADIOS2 all but BP5, cannot hold: dimensions have some length."""
    steps = {
        step: {name: array for name, array in arrays.items() if 0 not in array.shape}
        for step, arrays in expected.steps.items()
    }
    in_file = {name for arrays in steps.values() for name in arrays}
    of_variables = expected.variable_attributes
    return replace(
        expected,
        steps={step: arrays for step, arrays in steps.items() if arrays},
        variable_attributes={name: of_variables[name] for name in of_variables if name in in_file},
    )


def _size(path: Path) -> int:
    files = path.iterdir() if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files)


def _verify(expected: Expected, back_end: BackEnd) -> list[str]:
    manifest = read_manifest(expected.path)
    about = (manifest["format"], manifest["first_step"], manifest["committed_steps"])
    if about != (back_end.name, expected.first_step, expected.committed_steps):
        return [f"{expected.path.name}: the manifest says (format, first, steps) {about}"]
    wrong = []
    if manifest["absent"]:
        wrong.append(f"{expected.path.name}: steps {manifest['absent']} are absent")
    if back_end.name != "adios2":
        has_no_offsets = back_end.name == "zarr"
        read = read_as_iocomp_does if has_no_offsets else read_raw
        written = read(expected.path, manifest)
        wrong += compare_arrays(expected, written, "manifest")
    else:
        written = Written(
            attributes=attributes_of_manifest(manifest["attributes"]),
            variable_attributes={
                name: attributes_of_manifest(entries)
                for name, entries in manifest["variable_attributes"].items()
            },
        )
    wrong += _compare_attributes(expected, written, "manifest")
    if back_end.name == "hdf5":
        found = (
            read_hdf5_along_time(expected.path, manifest)
            if back_end.time and expected.is_series
            else read_hdf5(expected.path, flat=expected.first_step if back_end.flat else None)
        )
        wrong += compare_arrays(expected, found, "h5py")
        wrong += _compare_attributes(expected, found, "h5py")
    if back_end.name == "adios2":
        found = read_adios2(expected.path, back_end.engine, expected.first_step)
        in_file = expected if back_end.engine == "BP5" else _without_empty(expected)
        # The file keeps the attributes of an absent array, which then look like the file's.
        absent = expected.variable_attributes.keys() - in_file.variable_attributes.keys()
        for name in [each for each in found.attributes if each.rpartition("/")[0] in absent]:
            del found.attributes[name]
        wrong += compare_arrays(in_file, found, "ADIOS2")
        wrong += _compare_attributes(_as_adios2_keeps(in_file), found, "ADIOS2")
        if back_end.engine != "HDF5" and bpls() and all(map(_is_plain, in_file.variable_names())):
            wrong += compare_with_bpls(expected.path, in_file.steps)
    if back_end.name == "zarr":
        return wrong + (_verify_zarr(expected, manifest) if has_zarr() else [])
    if back_end.is_netcdf:
        found = read_netcdf(expected.path, manifest)
        in_file = _without_empty(expected) if back_end.name == "pnetcdf" else expected
        wrong += compare_arrays(in_file, found, "netCDF4")
        wrong += _compare_attributes(_as_netcdf_keeps(in_file), found, "netCDF4")
        for name in sorted(in_file.variable_names()):
            if found.dimensions.get(name) != expected.dimensions[name]:
                told = f"dimensions {found.dimensions.get(name)}, not {expected.dimensions[name]}"
                wrong.append(f"{expected.path.name} (netCDF4): {name} has the {told}")
    size = _size(expected.path)
    if size != manifest["bytes"]:
        wrong.append(f"{expected.path.name}: {size} bytes, the manifest says {manifest['bytes']}")
    if not wrong and back_end.has_plain_layout and _differs(expected):
        wrong.append(f"{expected.path.name}: differs between or behind its variables")
    return wrong


def _verify_zarr(expected: Expected, manifest: dict[str, Any]) -> list[str]:
    dumped_store = dumped(expected.path)
    found = read_zarr(dumped_store, manifest, is_series=expected.is_series)
    wrong = compare_arrays(expected, found, "zarr-python")
    where = expected.path.name
    wrong += compare_attributes(where, expected.attributes, dumped_store["attributes"])
    for name in sorted(expected.variable_names()):
        wanted = without_dimensions(expected.variable_attributes.get(name, {}))
        held = dumped_store["arrays"][name]["attributes"]
        wrong += compare_attributes(f"{where}, {name}", wanted, held, fill="_FillValue")
        if found.dimensions[name] != expected.dimensions[name]:
            wrong.append(
                f"{where}: {name} has the dimensions {found.dimensions[name]},"
                f" not {expected.dimensions[name]}"
            )
    return wrong


def _is_plain(name: str) -> bool:
    """Return True if the line of a listing that has the name can be told apart."""
    return bool(re.fullmatch(r"[\w./-]+", name))


def verify_file(file: FileScript, folder: Path, back_end: BackEnd) -> list[str]:
    """Return what is wrong with one file that a script left in `folder`."""
    wrong = []
    for each in _expected_of(file, folder, back_end.extension, 4096):
        if each.committed_steps == 0:
            continue
        try:
            wrong += _verify(each, back_end)
        except (OSError, AssertionError, LookupError, ValueError, RuntimeError) as error:
            wrong.append(f"{each.path.name}: {type(error).__name__}: {error}")
    return wrong


def verify(script: Script, folder: Path, back_end: BackEnd, alignment: int = 4096) -> list[str]:
    """Return all that is wrong with the files that the script left in `folder`.

    Args:
        script: The script that was carried out.
        folder: The working directory of the program.
        back_end: The back-end of all files of the script.
        alignment: The setting files.*.alignment.
    """
    expected = expected_files(script, folder, back_end.extension, alignment)
    names = {e.path.name + suffix for e in expected for suffix in ("", ".json")}
    there = {path.name for path in folder.iterdir()} - {"iocomp.toml"}
    wrong = [f"{name} is missing" for name in sorted(names - there)]
    wrong += [f"{name} should not be there" for name in sorted(there - names)]
    for each in expected:
        if each.path.name in there and f"{each.path.name}.json" in there:
            wrong += _verify(each, back_end)
    return wrong
