# SPDX-License-Identifier: BSD-3-Clause
"""Read what iocomp wrote, without MPI and without its library: the committed steps alone."""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import EllipsisType
from typing import Any

import numpy as np
import numpy.typing as npt

from iocomp.errors import Error, InvalidArgumentError, NotFoundError, StorageError, UnsupportedError
from iocomp.formats import Box, Entry, Hdf5Source, Source, is_hdf5, open_source
from iocomp.scope import Scope
from iocomp.xxh3 import LEAST, xxh3

Array = npt.NDArray[Any]
Attributes = dict[str, Any]
Index = slice | int | EllipsisType

VERSION = 2
"""Of the manifests that this release reads, and all before it."""
_TYPES = {
    str(np.dtype(name)): np.dtype(name)
    for name in ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
} | {"char": np.dtype("S1")}
_STEP = re.compile(r"(?P<stem>.+?)\.(?P<step>\d{6,})(?P<ending>\.[^.]*)?")
_SEAL = b',\n "xxh3": "'
_MOST_SILENT_STEPS = 1 << 24  # steps that a manifest may count without telling anything of them


@dataclass
class _Step:
    """A committed step, and the file that has it."""

    number: int
    time: float
    file: int
    entries: dict[str, Entry]


@dataclass
class _Found:
    """What one physical file has."""

    path: Path
    format: str
    steps: list[_Step]
    attributes: Attributes
    of_variable: dict[str, Attributes]
    supersedes: dict[int, str] = field(default_factory=dict)


def _attribute(told: Mapping[str, Any]) -> Any:  # noqa: ANN401 (of any type)
    """Return text, a number, or an array of several."""
    if told["type"] == "text":
        return told["value"] if "value" in told else bytes.fromhex(told["bytes"]).decode("latin1")
    dtype = _TYPES[told["type"]]
    values = told["value"]
    if dtype.kind == "c":
        values = [complex(float(real), float(imaginary)) for real, imaginary in values]
    elif dtype.kind == "f":
        values = [float(each) for each in values]  # also "NaN" and "Infinity"
    elif dtype.kind == "S":
        return np.array(values, np.uint8).view(dtype)
    array = np.array(values, dtype)
    return array[0] if array.size == 1 else array


def _attributes(told: Mapping[str, Any]) -> Attributes:
    return {name: _attribute(each) for name, each in told.items()}


def _integer(value: object, least: int = 0) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"it has {value!r} where a number of {least} or more is expected")
    return value


def _check_seal(text: bytes) -> None:
    """Compare a manifest with the checksum at its end. Raises ValueError."""
    body, mark, _ = text.rpartition(_SEAL)
    fits = mark and len(body) >= LEAST and text == body + b'%s%016x"\n}\n' % (_SEAL, xxh3(body))
    if not fits:
        raise ValueError(
            'it was changed since iocomp has written it: its checksum ("xxh3") does not fit; '
            "a manifest without that entry is not checked"
        )


def _is_sealed(line: bytes) -> bool:
    """Whether a line that was added to a manifest has the checksum that it ends with."""
    body, mark, _ = line.rpartition(b',"xxh3":"')
    return bool(mark) and len(body) >= LEAST and line == body + b'%s%016x"}\n' % (mark, xxh3(body))


def _take_in(manifest: dict[str, Any], line: Mapping[str, Any]) -> None:
    """Let a manifest say what a line adds: more entries, or more steps of the last one."""
    manifest |= {name: line[name] for name in ("bytes", "committed_steps", "absent")}
    manifest["steps"] += line.get("steps", [])
    if "more" in line:
        entry, more = manifest["steps"][-1], line["more"]
        for variable, advance in zip(entry["variables"], more.get("advance", ())):
            if variable["offset"] >= 0:
                variable["advance"] = advance
        if "time" in more:
            times = entry["time"]
            entry["time"] = [*(times if isinstance(times, list) else [times]), *more["time"]]
        entry["count"] = entry.get("count", 1) + more["count"]


def whole_manifest(text: bytes) -> Any:  # noqa: ANN401 (JSON)
    """Return what a manifest says, with the lines that were added to it.

    What is torn at its end is of a commit that did not end. Raises ValueError where it was changed.
    """
    end = text.find(b"\n}\n") + 3
    first, added = (text[:end], text[end:]) if end > 2 else (text, b"")
    manifest = json.loads(first)
    if isinstance(manifest, dict) and "xxh3" in manifest:
        _check_seal(first)
    lines = added.splitlines(keepends=True)
    whole = [*itertools.takewhile(_is_sealed, lines)]
    if any(map(_is_sealed, lines[len(whole) :])):
        raise ValueError("a line of it was changed since iocomp has written it")
    for line in whole:
        _take_in(manifest, json.loads(line))
    return manifest


def _in_force(path: Path) -> Any:  # noqa: ANN401 (JSON)
    """Return what a manifest holds: of a file that is being replaced, that of the old one."""
    manifest = whole_manifest(path.read_bytes())
    replaces = manifest.get("replaces") if isinstance(manifest, dict) else None
    if replaces:
        temporary = path.parent / str(replaces["temporary"])
        if temporary.exists():
            inode = str(temporary.stat().st_ino)
            if replaces.get("inode", inode) == inode:
                return replaces["manifest"]  # the new file has not got its name yet
    return manifest


def _entry(told: Mapping[str, Any], step: int, nth: int, swapped: bool, size: int) -> Entry:
    if told["type"] not in _TYPES:
        raise UnsupportedError(f"the variable {told['name']!r} has the type {told['type']!r}")
    dtype, shape = _TYPES[told["type"]], tuple(_integer(each) for each in told["shape"])
    offset, end = _integer(told["offset"], -1), math.prod(shape) * dtype.itemsize
    if offset >= 0 and offset + end > size and end > 0:
        raise ValueError(
            f"the variable {told['name']!r} of step {step} has {end} bytes from byte {offset} on, "
            f"in a file of {size}"
        )
    return Entry(str(told["name"]), dtype, shape, step, nth, offset, swapped)


def manifest_steps(manifest: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what a manifest tells of its steps, one after the other: an entry may tell of many."""
    for entry in manifest["steps"]:
        count = _integer(entry.get("count", 1), 1)
        if count > _MOST_SILENT_STEPS:
            raise ValueError(f"it claims {count} steps from step {entry['step']} on")
        for i in range(count):
            step: dict[str, Any] = {"step": _integer(entry["step"]) + i}
            if "number" in entry:
                step["number"] = _integer(entry["number"]) + i
            if "time" in entry:
                step["time"] = entry["time"][i] if count > 1 else entry["time"]
            step["variables"] = [
                {**each, "offset": each["offset"] + i * each.get("advance", 0)}
                for each in entry["variables"]
            ]
            yield step


def _steps(manifest: Mapping[str, Any]) -> Iterator[_Step]:
    order = manifest.get("byte_order", "little")
    if order not in ("little", "big"):
        raise ValueError(f"it has the byte order {order!r}")
    swapped = (order == "little") != (sys.byteorder == "little")
    size = _integer(manifest["bytes"])
    told = {each["step"]: each for each in manifest_steps(manifest)}
    first, count = _integer(manifest["first_step"]), _integer(manifest["committed_steps"])
    absent = {_integer(each) for each in manifest["absent"]}
    if count > len(told) + len(absent) + _MOST_SILENT_STEPS:
        raise ValueError(f"it claims {count} steps, and tells of {len(told)}")
    numbers = [each for each in range(first, first + count) if each not in absent]
    if not told.keys() <= set(numbers):
        raise ValueError(f"it tells of steps {sorted(told.keys() - set(numbers))} that are absent")
    seen: defaultdict[str, int] = defaultdict(int)
    ahead = 0  # of a number, compared with its step: of one that is not told as of the one before
    for step in numbers:
        each = told.get(step, {"variables": []})
        ahead = int(each.get("number", step + ahead)) - step
        entries = {}
        for variable in each["variables"]:
            nth = seen[variable["name"]]
            seen[variable["name"]] += 1
            entry = _entry(variable, step, nth, swapped, size)
            entries[entry.name] = entry
        yield _Step(step + ahead, float(each.get("time", math.nan)), 0, entries)


def _numbered(steps: Iterator[_Step]) -> list[_Step]:
    """Return the steps, whose entries know their numbers: HDF5 files call them by these."""
    found = list(steps)
    newest = max((step.number for step in found if step.entries), default=0)
    for step in found:
        numbers = (step.number, newest)
        step.entries = {
            name: replace(entry, numbers=numbers) for name, entry in step.entries.items()
        }
    return found


def _of_manifest(path: Path, where: Path) -> _Found:
    """Return what a manifest tells of the file `path`.

    Raises:
        StorageError: If it is no manifest, contradicts itself, or is of more than the file has.
        UnsupportedError: If it is of a later release.
    """
    try:
        manifest = _in_force(where)
        if not isinstance(manifest, dict) or "iocomp_manifest" not in manifest:
            raise ValueError("it is no manifest of iocomp")
        version = _integer(manifest["iocomp_manifest"])
        if version > VERSION:
            raise UnsupportedError(f"it has version {version}; this release reads {VERSION}")
        steps = _numbered(_steps(manifest))
        size = manifest["bytes"]
        found = _Found(
            path,
            str(manifest["format"]),
            steps,
            _attributes(manifest["attributes"]),
            {name: _attributes(each) for name, each in manifest["variable_attributes"].items()},
            {int(step): str(each) for step, each in manifest.get("supersedes", {}).items()},
        )
    except KeyError as error:
        raise StorageError(f"cannot read the manifest {where}: it lacks {error}") from None
    except Error as error:
        raise type(error)(f"cannot read the manifest {where}: {error}") from None
    except (ValueError, TypeError, AttributeError, LookupError, OSError) as error:
        raise StorageError(f"cannot read the manifest {where}: {error}") from None
    if not path.exists():
        raise StorageError(f"cannot read {path}: it is not there, and its manifest is")
    has = path.stat().st_size
    if path.is_file() and has < size:
        told = f"it has {has} bytes, its manifest says {size}"
        raise StorageError(f"cannot read {path}: it is torn: {told}")
    return found


def _of_itself(path: Path) -> _Found:
    """Return what a file tells that has no manifest, or is to be read without it."""
    if not is_hdf5(path):
        raise UnsupportedError(
            f"{path}: without a manifest only HDF5 and NetCDF-4 files can be read; for other "
            "netCDF files take netCDF4 or xarray"
        )
    source = Hdf5Source(path)
    contents = source.contents()
    source.close()
    steps = [_Step(step, math.nan, 0, entries) for step, entries in contents.steps.items()]
    return _Found(path, "hdf5", steps, contents.attributes, contents.of_variable)


def _look_at(path: Path, use_manifest: bool) -> _Found:
    manifest = Path(f"{path}.json")
    return _of_manifest(path, manifest) if use_manifest and manifest.exists() else _of_itself(path)


def _step_name(plain: str, step: int) -> str:
    stem, dot, ending = plain.rpartition(".")
    return f"{stem}.{step:06}.{ending}" if dot and stem else f"{plain}.{step:06}"


def _look_for(path: Path) -> tuple[Path, dict[int, Path]]:
    """Return the file of all steps, or the files of one step each.

    Raises:
        NotFoundError: If there is none.
        InvalidArgumentError: If there are several.
    """
    if path.exists() and not (path.is_dir() and not Path(f"{path}.json").exists()):
        return path, {}
    found: dict[str, dict[int, Path]] = {}
    for each in sorted(path.parent.iterdir()) if path.parent.is_dir() else []:
        name = each.name
        if name.startswith(".") or name.endswith((".json", ".xdmf")):
            continue
        parts = _STEP.fullmatch(name)
        plain = parts["stem"] + (parts["ending"] or "") if parts else name
        if parts and _step_name(plain, int(parts["step"])) != name:
            plain, parts = name, None
        if plain == path.name or plain.rpartition(".")[0] == path.name:
            files = found.setdefault(plain, {})
            if parts:
                files[int(parts["step"])] = each
            else:
                files[-1] = each
    many = [each.name for files in found.values() for each in files.values()]
    if not found:
        many_files = f"{_step_name(path.name, 0)} and so on"
        raise NotFoundError(f"there is no committed file {path}, nor {many_files}")
    if len(found) > 1 or any(-1 in files and len(files) > 1 for files in found.values()):
        raise InvalidArgumentError(f"{path}: there are {', '.join(many[:8])}; say which")
    ((plain, files),) = found.items()
    alone = files.pop(-1, None)
    return alone or path.with_name(plain), files


def _identity(path: Path) -> str:
    try:
        status = path.stat()
    except OSError:
        return ""
    return f"{status.st_dev}:{status.st_ino}"


class Files(Scope):
    """The committed steps of a series or of a set of checkpoints, as they were at opening.

    Threads may read from it at a time, and it can be pickled: then it is opened again.
    """

    _ends_after_exceptions = True

    def __init__(self, path: str | os.PathLike[str], use_manifest: bool = True) -> None:
        """See `open_files`."""
        self._given = (os.fspath(path), use_manifest)
        self.path, of_step = _look_for(Path(path))
        self.left_out: dict[int, str] = {}
        """Steps in files of their own that are torn, and why."""
        one = [] if of_step else [_look_at(self.path, use_manifest)]
        self._found = one or self._look(of_step, use_manifest)
        self._steps: dict[int, _Step] = {}
        for index, found in enumerate(self._found):
            for step in found.steps:
                step.file = index
                self._steps[step.number] = step
        self._sources: dict[int, Source] = {}
        if self._found and not of_step:
            self._source(0)  # what is read is of this file, even if another one gets its name
        self.format = self._found[-1].format
        """The back-end that wrote it."""

    def _look(self, of_step: dict[int, Path], use_manifest: bool) -> list[_Found]:
        found: dict[int, _Found] = {}
        for number, path in sorted(of_step.items()):
            try:
                found[number] = _look_at(path, use_manifest)
            except StorageError as error:
                self.left_out[number] = str(error)
            except UnsupportedError as error:
                if Path(f"{path}.json").exists():
                    raise
                self.left_out[number] = str(error)
        for each in list(found.values()):  # what a job was about to remove is of another run
            for number, identity in each.supersedes.items():
                if number in found and _identity(found[number].path) == identity:
                    del found[number]
        if not found:
            raise StorageError(next(reversed(self.left_out.values()), f"{self.path}: no steps"))
        return list(found.values())

    def __reduce__(self) -> tuple[type[Files], tuple[str, bool]]:
        """Open the same path again in another process."""
        return Files, self._given

    def _leave(self) -> None:
        self.close()

    @property
    def steps(self) -> list[int]:
        """The numbers of the committed steps, ascending."""
        return sorted(self._steps)

    def time(self, step: int) -> float:
        """Return the physical time of a step; NaN where none is known."""
        return self._step(step).time

    def variables(self, step: int | None = None) -> list[str]:
        """Return the names of the variables of a step; of all steps without one."""
        if step is not None:
            return list(self._step(step).entries)
        return list(dict.fromkeys(name for each in self._steps.values() for name in each.entries))

    def shape(self, name: str, step: int | None = None) -> tuple[int, ...]:
        """Return the global shape of a variable in a step; without one, the newest that has it."""
        return self._entry(name, step)[1].shape

    def dtype(self, name: str, step: int | None = None) -> np.dtype[Any]:
        """Return the type of its elements; text is an array of single characters."""
        return self._entry(name, step)[1].dtype

    def attributes(self, name: str | None = None) -> Attributes:
        """Return the attributes of the file, or of a variable: text, numbers, or arrays of them."""
        newest = self._found[-1]
        return dict(newest.attributes if name is None else newest.of_variable.get(name, {}))

    def read(
        self,
        name: str,
        step: int | None = None,
        box: Index | tuple[Index, ...] = ...,
        out: Array | None = None,
    ) -> Array:
        """Read a variable, or a box of it.

        Args:
            name: Of the variable.
            step: The newest that has the variable without one.
            box: As in numpy's basic indexing, with steps above 0: `np.s_[10:20, :, 3]`.
            out: Where it goes: an array of the shape of the result and of the variable's type.

        Raises:
            NotFoundError: If there is no such variable or step.
            StorageError: If the file cannot be read.
        """
        file, entry = self._entry(name, step)
        slices, shape = _slices(box, entry)
        values = np.empty(shape, entry.dtype) if out is None else out
        if values.shape != shape or values.dtype != entry.dtype:
            raise InvalidArgumentError(
                f"an array of {values.dtype} and shape {values.shape} for {entry.dtype} and {shape}"
            )
        if values.size:
            counts = [len(range(*each.indices(each.stop))) for each in slices]
            self._source(file).read(entry, slices, values.reshape(counts))
        return values

    def close(self) -> None:
        """Release the files."""
        for source in self._sources.values():
            source.close()
        self._sources.clear()

    def _step(self, step: int) -> _Step:
        if step in self._steps:
            return self._steps[step]
        near = f"; there are {len(self._steps)}, up to {max(self._steps)}" if self._steps else ""
        raise NotFoundError(f"{self.path}: no step {step} is committed{near}")

    def _entry(self, name: str, step: int | None) -> tuple[int, Entry]:
        if step is not None:
            searched = [self._step(step)]
        else:
            searched = [self._steps[number] for number in reversed(self.steps)]
        found = next((each for each in searched if name in each.entries), None)
        if found is None:
            where = "" if step is None else f" in step {step}"
            names = ", ".join(self.variables(step)[:8]) or "none"
            raise NotFoundError(f"{self.path}: no variable {name!r}{where}; there are {names}")
        return found.file, found.entries[name]

    def _source(self, file: int) -> Source:
        if file not in self._sources:
            found = self._found[file]
            self._sources[file] = open_source(found.path, found.format)
        return self._sources[file]


def _slices(box: Index | tuple[Index, ...], entry: Entry) -> tuple[Box, tuple[int, ...]]:
    """Return a box as slices, and the shape of the result, without the dimensions of integers."""
    parts = box if isinstance(box, tuple) else (box,)
    given = [each for each in parts if each is not Ellipsis]
    at = next((i for i, each in enumerate(parts) if each is Ellipsis), len(parts))
    missing = len(entry.shape) - len(given)
    if missing < 0:
        what = f"{len(given)} indices of {entry.name}"
        raise InvalidArgumentError(f"{what}, which has shape {entry.shape}")
    whole = [*given[:at], *[slice(None)] * missing, *given[at:]]
    slices, shape = [], []
    for part, extent in zip(whole, entry.shape, strict=True):
        if isinstance(part, slice):
            start, stop, step = part.indices(extent)
            if step < 1:
                raise InvalidArgumentError(f"{part} of {entry.name}: only steps above 0")
            slices.append(slice(start, max(start, stop), step))
            shape.append(len(range(start, stop, step)))
        else:
            index = int(part)
            if not -extent <= index < extent:
                raise InvalidArgumentError(f"index {index} of {entry.name} of shape {entry.shape}")
            slices.append(slice(index % extent, index % extent + 1, 1))
    return tuple(slices), tuple(shape)


def open_files(path: str | os.PathLike[str], *, use_manifest: bool = True) -> Files:
    """Open what iocomp wrote for reading: a series, also while it is written, or checkpoints.

    Needs numpy alone for the back-ends posix, mpiio and pnetcdf, h5py for hdf5 and netcdf, and
    adios2 for adios2.

    Args:
        path: Of the file, with or without its extension. Of checkpoints, without the number.
        use_manifest: False: believe an HDF5 file alone, as if iocomp had not written it. A file
            without a manifest is read like that too.

    Raises:
        NotFoundError: If there is no such file, or nothing of it is committed.
        StorageError: If a file or its manifest is torn, or is not of iocomp.
        UnsupportedError: If a Python package is missing, or the file is of a later release.
    """
    return Files(path, use_manifest)
