# SPDX-License-Identifier: BSD-3-Clause
"""How values are read: raw bytes and frames by numpy, HDF5 and NetCDF-4 by h5py, BP by adios2."""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
import json
import math
import os
import struct
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from iocomp.errors import StorageError, UnsupportedError

Array = npt.NDArray[Any]
Box = tuple[slice, ...]  # one for each dimension, from 0 to its extent at most, steps above 0

HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"
CHARACTER = np.dtype("S1")
_libraries = threading.Lock()  # neither HDF5 nor ADIOS2 may be called by two threads at a time


@dataclass(frozen=True)
class Entry:
    """A variable in a step of a file."""

    name: str
    dtype: np.dtype[Any]  # in the byte order of this machine
    shape: tuple[int, ...]
    step: int  # in this file
    nth: int = 0  # of the steps of this file that have the variable
    offset: int = -1  # in bytes, where the values lie raw
    swapped: bool = False  # of raw values: whether they have the other byte order
    numbers: tuple[int, int] | None = None  # of the step in the program, and of the file's newest


class Source(Protocol):
    """One open file."""

    def read(self, entry: Entry, box: Box, out: Array) -> None:
        """Read a box, which has elements, into an array of its shape."""

    def close(self) -> None:
        """Release the file."""


@dataclass
class Contents:
    """What a file tells of itself, where there is no manifest."""

    steps: dict[int, dict[str, Entry]]
    attributes: dict[str, Any]
    of_variable: dict[str, dict[str, Any]]


def _missing(package: str, path: Path, error: ImportError) -> UnsupportedError:
    return UnsupportedError(f"{path}: reading it needs the Python package {package}: {error}")


def _is_dense(entry: Entry, box: Box) -> bool:
    """Whether a box lies in one piece."""
    partial = False
    for part, extent in zip(reversed(box), reversed(entry.shape), strict=True):
        if part.step != 1 or (partial and part.stop - part.start != 1):
            return False
        partial = partial or part.stop - part.start != extent
    return True


class RawSource:
    """A file with raw values at offsets: posix, mpiio, and CDF-5 by its manifest."""

    def __init__(self, path: Path) -> None:
        """Open it: what is read later is of this file, even if another one gets its name."""
        self._path, self._file = path, path.open("rb", buffering=0)

    def read(self, entry: Entry, box: Box, out: Array) -> None:
        """Read a box. Any number of threads at a time."""
        size = entry.dtype.itemsize
        end = entry.offset + math.prod(entry.shape) * size
        if os.fstat(self._file.fileno()).st_size < end:  # memory behind the end cannot be touched
            raise StorageError(f"{self._path}: ends inside {entry.name} of step {entry.step}")
        if not (_is_dense(entry, box) and out.flags.c_contiguous):
            stored = entry.dtype.newbyteorder("S" if entry.swapped else "=")
            out[...] = np.memmap(self._file, stored, "r", entry.offset, entry.shape)[box]
            return
        first = 0
        for part, extent in zip(box, entry.shape, strict=True):
            first = first * extent + part.start
        at = entry.offset + first * size
        left = out.reshape(-1).view(np.uint8).data
        while left:
            got = os.preadv(self._file.fileno(), [left], at)
            if got == 0:
                raise StorageError(f"{self._path}: ends inside {entry.name} of step {entry.step}")
            at, left = at + got, left[got:]
        if entry.swapped:
            out.byteswap(inplace=True)

    def close(self) -> None:
        """Release the file."""
        self._file.close()


@functools.cache
def _libzstd() -> ctypes.CDLL | None:
    """Return the system's libzstd; to look for it starts programs."""
    name = ctypes.util.find_library("zstd")
    if name is None:
        return None
    library = ctypes.CDLL(name)
    for call in (library.ZSTD_decompress, library.ZSTD_isError):
        call.restype = ctypes.c_size_t
    return library


def _decompress(path: Path, frame: bytes, size: int) -> bytes:
    """Return what a frame of Zstandard holds: by the package zstandard, or the system's libzstd.

    Raises:
        StorageError: If the frame is damaged.
        UnsupportedError: If there is neither.
    """
    try:
        import zstandard
    except ImportError as error:
        library = _libzstd()
        if library is None:
            raise _missing("zstandard", path, error) from None
        to = ctypes.create_string_buffer(max(size, 1))
        given = (to, ctypes.c_size_t(size), frame, ctypes.c_size_t(len(frame)))
        got = library.ZSTD_decompress(*given)
        if library.ZSTD_isError(ctypes.c_size_t(got)) or got != size:
            raise StorageError(f"{path}: a frame is damaged") from None
        return to.raw[:size]
    try:
        found: bytes = zstandard.ZstdDecompressor().decompress(frame, max_output_size=size)
    except zstandard.ZstdError as error:
        raise StorageError(f"{path}: a frame is damaged: {error}") from None
    if len(found) != size:
        raise StorageError(f"{path}: a frame has {len(found)} bytes, its index says {size}")
    return found


def _parts(counts: tuple[int, ...], first: int, count: int) -> Iterator[Box]:
    """Yield elements `first` to `first + count` of a block, in row-major order, as boxes."""
    if not counts:
        yield from [()] * count
        return
    row = math.prod(counts[1:])
    while count > 0:
        at, inside = divmod(first, row)
        if inside or count < row:
            taken = min(count, row - inside)
            for part in _parts(counts[1:], inside, taken):
                yield (slice(at, at + 1), *part)
        else:
            taken = count // row * row
            yield (slice(at, at + count // row), *(slice(0, each) for each in counts[1:]))
        first, count = first + taken, count - taken


class FrameSource:
    """A compressed checkpoint of posix: frames of Zstandard, and an index of them at its end."""

    _TRAILER = struct.Struct("<QQ8s")

    def __init__(self, path: Path) -> None:
        """Open the file and read its index."""
        self._path, self._file = path, path.open("rb", buffering=0)
        size = os.fstat(self._file.fileno()).st_size
        try:
            trailer = self._at(size - self._TRAILER.size, self._TRAILER.size)
            length, _, mark = self._TRAILER.unpack(trailer)
            if mark != b"iocompF1":
                raise ValueError("it does not end as a file in frames does")
            index = json.loads(self._at(size - self._TRAILER.size - length, length))
            if index["iocomp_frames"] > 1:
                raise UnsupportedError(f"{path}: its frames are of a later release")
            if index["byte_order"] != sys.byteorder:
                raise UnsupportedError(f"{path}: it has the byte order {index['byte_order']!r}")
            self._variables = {each["name"]: each for each in index["variables"]}
        except (ValueError, KeyError, TypeError, OSError) as error:
            self._file.close()
            raise StorageError(f"{path}: cannot read the index of its frames: {error}") from None

    def _at(self, offset: int, size: int) -> bytes:
        if offset < 0 or size < 0:
            raise ValueError("it ends early")
        found = b""
        while len(found) < size:
            part = os.pread(self._file.fileno(), size - len(found), offset + len(found))
            if not part:
                raise StorageError(f"{self._path}: it ends early")
            found += part
        return found

    def _values(self, stored: dict[str, Any], dtype: np.dtype[Any], frame: list[int]) -> Array:
        offset, size, _, count = frame[:4]
        raw = self._at(offset, size)
        if stored["compression"] == "zstd":
            raw = _decompress(self._path, raw, count * dtype.itemsize)
        if len(raw) != count * dtype.itemsize:
            raise StorageError(f"{self._path}: a part has another size than its index says")
        if stored["shuffle"]:
            planes = np.frombuffer(raw, np.uint8).reshape(dtype.itemsize, count)
            return np.ascontiguousarray(planes.T).reshape(-1).view(dtype)
        return np.frombuffer(raw, dtype)

    def read(self, entry: Entry, box: Box, out: Array) -> None:
        """Read a box: of each frame that has something of it, all."""
        stored = self._variables.get(entry.name)
        if stored is None or tuple(stored["shape"]) != entry.shape:
            raise StorageError(f"{self._path}: its frames have no {entry.name} of this shape")
        whole = np.zeros([part.stop - part.start for part in box], entry.dtype)
        n = len(box)
        for frame in stored["frames"]:
            starts, counts = frame[4 : 4 + n], tuple(frame[4 + n :])
            if any(
                start >= part.stop or start + count <= part.start
                for start, count, part in zip(starts, counts, box, strict=True)
            ):
                continue
            values, at = self._values(stored, entry.dtype, frame), 0
            for piece in _parts(counts, frame[2], frame[3]):
                shape = [each.stop - each.start for each in piece]
                block = values[at : at + math.prod(shape)].reshape(shape)
                at += math.prod(shape)
                to, of = [], []
                for start, each, part in zip(starts, piece, box, strict=True):
                    first = start + each.start
                    low, high = max(first, part.start), min(start + each.stop, part.stop)
                    to.append(slice(low - part.start, max(high, low) - part.start))
                    of.append(slice(low - first, max(high, low) - first))
                whole[tuple(to)] = block[tuple(of)]
        out[...] = whole[tuple(slice(None, None, part.step) for part in box)]

    def close(self) -> None:
        """Release the file."""
        self._file.close()


class Hdf5Source:
    """An HDF5 or NetCDF-4 file: a group for each step, or datasets that grow with the steps."""

    def __init__(self, path: Path) -> None:
        """Open the file."""
        try:
            import h5py
        except ImportError as error:
            raise _missing("h5py", path, error) from None
        with _libraries:
            try:
                self._file = h5py.File(path, "r")
            except OSError as error:
                raise StorageError(f"cannot read {path}: {error}") from None

    def read(self, entry: Entry, box: Box, out: Array) -> None:
        """Read a box."""
        with _libraries:
            dataset, key, folded = self._find(entry)
            inner = box[:-1] if folded else box
            values = np.asarray(dataset[(*key, *inner)], dataset.dtype)
        if folded:
            characters = np.ascontiguousarray(values).reshape(-1).view(CHARACTER)
            values = characters.reshape(*values.shape, dataset.dtype.itemsize)[..., box[-1]]
        out[...] = values

    def _find(self, entry: Entry) -> tuple[Any, tuple[int, ...], bool]:
        """Return a dataset, the index of the step in it, whether the last dimension is in texts."""
        number, newest = entry.numbers or (entry.step, entry.step)
        step = number if str(newest) in self._file else entry.step  # of earlier releases: by place
        groups = (f"{step}/", f"Step{entry.step}/", "Step0/", "")  # the second ones: ADIOS2's
        found = next((each for each in groups if f"{each}{entry.name}" in self._file), None)
        if found is None:
            raise StorageError(f"{self._file.filename}: no {entry.name} of step {entry.step}")
        dataset = self._file[f"{found}{entry.name}"]
        grows = bool(dataset.maxshape) and dataset.maxshape[0] is None
        folded = entry.dtype == CHARACTER and (
            dataset.dtype.itemsize > 1
            or (entry.shape[-1:] == (1,) and dataset.ndim - grows < len(entry.shape))
        )
        has_time = dataset.ndim + folded > len(entry.shape)
        return dataset, (entry.step if grows else 0,) if has_time else (), folded

    def contents(self) -> Contents:
        """Look through a file without a manifest."""
        import h5py

        steps: dict[int, dict[str, Entry]] = {}
        of_variable: dict[str, dict[str, Any]] = {}

        def note(path: str, found: object) -> None:
            if not isinstance(found, h5py.Dataset) or _is_dimension_alone(found):
                return
            group, _, rest = path.partition("/")
            grows = not has_steps and bool(found.maxshape) and found.maxshape[0] is None
            name = rest if has_steps else path
            of_variable[name] = dict(found.attrs)
            shape = tuple(found.shape[1:] if grows else found.shape)
            in_steps = [int(group)] if has_steps else range(len(found)) if grows else [-1]
            for step in in_steps:
                steps.setdefault(step, {})[name] = Entry(name, found.dtype, shape, step)

        with _libraries:
            has_steps = all(
                name.isdigit() and isinstance(self._file[name], h5py.Group) for name in self._file
            )
            if has_steps:
                steps = {int(name): {} for name in self._file}
            self._file.visititems(note)
            always = steps.pop(-1, {})
            for entries in steps.values() if steps else [steps.setdefault(0, {})] * bool(always):
                entries.update(always)
            return Contents(dict(sorted(steps.items())), dict(self._file.attrs), of_variable)

    def close(self) -> None:
        """Release the file."""
        with _libraries:
            self._file.close()


def _is_dimension_alone(dataset: Any) -> bool:  # noqa: ANN401 (h5py has no types)
    """Whether it is a dimension of netCDF, and no variable."""
    name = dataset.attrs.get("NAME", b"")
    text = name.decode() if isinstance(name, bytes) else str(name)
    return text.startswith("This is a netCDF dimension but not a netCDF variable")


class Adios2Source:
    """A BP folder."""

    def __init__(self, path: Path) -> None:
        """Open it."""
        try:
            from adios2 import FileReader
        except ImportError as error:
            raise _missing("adios2 (2.10 or later)", path, error) from None
        with _libraries:
            self._file = FileReader(str(path))

    def read(self, entry: Entry, box: Box, out: Array) -> None:
        """Read a box."""
        count = [part.stop - part.start for part in box]
        found = np.empty(count, "i1" if entry.dtype == CHARACTER else entry.dtype)
        with _libraries:
            variable = self._file.inquire_variable(entry.name)
            if box:
                variable.set_selection([[part.start for part in box], count])
            variable.set_step_selection([entry.nth, 1])  # of the steps that have it
            self._file.engine.get(variable, found)  # Stream.read has no complex numbers
        out[...] = found.view(entry.dtype)[tuple(slice(None, None, part.step) for part in box)]

    def close(self) -> None:
        """Release it."""
        with _libraries:
            self._file.close()


def is_hdf5(path: Path) -> bool:
    """Whether a file has the signature of HDF5."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(HDF5_SIGNATURE)) == HDF5_SIGNATURE


def open_source(path: Path, format_: str) -> Source:
    """Open a file of a format that a manifest names.

    Raises:
        UnsupportedError: If a Python package is missing, or the format is not known.
    """
    if format_ in ("posix", "mpiio", "pnetcdf"):
        return RawSource(path)
    if format_ == "frames":
        return FrameSource(path)
    if format_ in ("hdf5", "netcdf") or (format_ == "adios2" and is_hdf5(path)):
        return Hdf5Source(path)
    if format_ == "adios2":
        return Adios2Source(path)
    raise UnsupportedError(f"{path}: the format {format_!r} is of a later release of iocomp")
