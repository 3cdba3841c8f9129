# SPDX-License-Identifier: BSD-3-Clause
"""Read files of iocomp without MPI, by the code of the C library: the committed steps alone."""

from __future__ import annotations

import ctypes
import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from iocomp.arrays import (
    DTYPES,
    TYPES,
    Array,
    address_of,
    integers,
    memory_shape,
    number_of,
    place_for,
    room_for,
    settle,
)
from iocomp.bp import BpFile
from iocomp.errors import InvalidArgumentError, NotFoundError, UnsupportedError
from iocomp.library import reader_library
from iocomp.scope import Scope
from iocomp.stored import Box, Index, Stored, slices_of

Attributes = dict[str, Any]

_DTYPES_BY_NAME = {str(dtype): dtype for dtype in TYPES} | {"char": np.dtype("S1")}
_WITHOUT_LIBRARY = ("posix", "mpiio", "frames")  # formats that no library of others reads
_MOST_EXTENTS = 8
_WHOLE_BOX_BYTES = 8 << 20  # a box up to this size is read as a whole, whatever is wanted of it


class _Place(NamedTuple):
    """A variable in a step."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]


class _Variable:
    """The steps, types and shapes of a variable."""

    def __init__(self, opened: _Opened, index: int) -> None:
        count, pointers = ctypes.c_int64(), [ctypes.c_void_p() for _ in range(4)]
        library = reader_library()
        room = [ctypes.addressof(each) for each in (count, *pointers)]
        library.check(library.places(opened.raw, index, *room))
        n = count.value
        steps, types, dimensions, shapes = pointers
        self.index = index
        self.steps = _column(steps, n, np.int64).tolist()
        self.types = _column(types, n, np.int32)
        self.dimensions = _column(dimensions, n, np.int32)
        self.shapes = _column(shapes, n * _MOST_EXTENTS, np.int64).reshape(n, _MOST_EXTENTS)
        self.rows = {step: row for row, step in enumerate(self.steps)}

    def place(self, row: int) -> _Place:
        """Return its type and shape in the step of a row."""
        shape = tuple(self.shapes[row, : self.dimensions[row]].tolist())
        return _Place(DTYPES[int(self.types[row])], shape)


class _Opened:
    """A reader of the library. It is closed with its last reference: nobody uses it then."""

    def __init__(self, path: str, use_manifest: bool) -> None:
        raw = ctypes.c_void_p()
        self._library = reader_library()
        place = ctypes.addressof(raw)
        encoded = os.fsencode(path)
        if b"\0" in encoded:
            raise InvalidArgumentError(f"the path {path!r} has a zero inside, where it would end")
        self._library.check(self._library.open(encoded, int(use_manifest), place))
        self.raw = raw

    def __del__(self) -> None:
        if hasattr(self, "raw"):
            self._library.close(self.raw)


def _column(pointer: ctypes.c_void_p, count: int, dtype: npt.DTypeLike) -> Array:
    """Return a copy of the values there."""
    if not count or pointer.value is None:
        return np.empty(0, dtype)
    size = count * np.dtype(dtype).itemsize
    return np.frombuffer(ctypes.string_at(pointer.value, size), dtype)


def _text_of(told: str | Mapping[str, str]) -> str:
    """Return a text; of one that is not UTF-8 the bytes are told."""
    return told if isinstance(told, str) else bytes.fromhex(told["bytes"]).decode("latin1")


def _attribute(told: Mapping[str, Any]) -> Any:  # noqa: ANN401 (of any type)
    """Return text, a number, a list of texts, or an array of several numbers."""
    if told["type"] == "texts":
        return [_text_of(each) for each in told["value"]]
    if told["type"] == "text":
        return _text_of(told["value"] if "value" in told else told)
    dtype = _DTYPES_BY_NAME[told["type"]]
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


def _locks_of_others(stack: ExitStack) -> None:
    """Wait for packages that may call the same HDF5, and hold them off.

    HDF5 serves one thread at a time. Our library has a lock of its own, but where the process has
    one libhdf5 for all (as Debian's packages do), these packages must not call it meanwhile.
    """
    base = sys.modules.get("h5py._hl.base")
    if base is not None and hasattr(base, "phil"):
        stack.enter_context(base.phil)
    locks = sys.modules.get("xarray.backends.locks")  # what it holds for netCDF4 and h5netcdf
    if locks is not None and hasattr(locks, "HDF5_LOCK") and "netCDF4" in sys.modules:
        stack.enter_context(locks.HDF5_LOCK)


class Files(Scope, Stored):
    """The committed steps of a series or of a set of checkpoints, as they were at opening.

    `files["u"]` is a variable, and `with` closes the files at the end. No call needs MPI. Several
    threads may read at the same time. It can be pickled: unpickling opens the same path again.
    """

    _ends_after_exceptions = True

    def __init__(self, path: str | os.PathLike[str], use_manifest: bool = True) -> None:
        """Open the files; `open_files` does it, and has the arguments and errors."""
        given = os.fspath(path)
        with ExitStack() as held:
            _locks_of_others(held)
            opened = _Opened(given, use_manifest)
        # The working directory may be another one then.
        self._again = (str(Path(given).absolute()), use_manifest)
        self._opened: _Opened | None = opened
        library, text = reader_library(), ctypes.c_char_p()
        library.check(library.description(opened.raw, ctypes.addressof(text)))
        told = json.loads(text.value or b"{}")
        self.path = Path(told["path"])
        self.left_out = {int(step): str(story) for step, story in told["left_out"].items()}
        """The steps whose files are torn, with the reason for each."""
        self.not_read: dict[str, str] = dict(told.get("not_read", {}))
        """The contents by other programs that iocomp does not read, with the reason for each."""
        self._files = [
            (str(Path(each["path"]).absolute()), str(each["format"])) for each in told["files"]
        ]
        self.format = self._files[-1][1]
        """The back-end that wrote the newest file."""
        self._attributes = told["attributes"]
        self._indices = {each["name"]: i for i, each in enumerate(told["variables"])}
        self._told = [each["attributes"] for each in told["variables"]]
        self._meaning = {each["name"]: each["meaning"] for each in told["variables"]}
        self.changing = {each["name"] for each in told["variables"] if each.get("changes_meaning")}
        """Variables that are packed in another way, or have another fill value, in some steps."""
        self._known: dict[str, _Variable] = {}
        count, pointers = ctypes.c_int64(), [ctypes.c_void_p() for _ in range(4)]
        room = [ctypes.addressof(each) for each in (count, *pointers)]
        library.check(library.steps(opened.raw, *room))
        kinds = (np.int64, np.float64, np.int32, np.int64)
        columns = [_column(p, count.value, kind) for p, kind in zip(pointers, kinds, strict=True)]
        numbers, self._times, self._file_of, self._in_file = columns
        self._steps = {step: row for row, step in enumerate(numbers.tolist())}
        self._bp: dict[int, BpFile] = {}  # by file, where the library cannot

    def __reduce__(self) -> tuple[type[Files], tuple[str, bool]]:
        """Open the same path again in another process."""
        return Files, self._again

    def _leave(self) -> None:
        self.close()

    def __repr__(self) -> str:
        """Return path, format, steps and variables."""
        if self._opened is None:
            return f"<iocomp.Files {str(self.path)!r}, closed>"
        return self._shown(f"iocomp.Files {str(self.path)!r} ({self.format})", self.steps)

    @property
    def steps(self) -> list[int]:
        """The numbers of the steps that were committed at opening, ascending."""
        return list(self._steps)

    def time(self, step: int) -> float:
        """Return the physical time of a step, in the program's own unit.

        It is the time that the program gave the step, else its scalar variable `time`, else NaN.

        Raises:
            NotFoundError: If the step is not committed.
        """
        told = float(self._times[self._row(step)])
        if not math.isnan(told) or "time" not in self._indices:
            return told
        variable = self._variable("time")
        if step not in variable.rows:
            return told
        place = variable.place(variable.rows[step])
        is_number = not place.shape and place.dtype.kind in "fiu"
        return float(self.read("time", step)) if is_number else told

    def variables(self, step: int | None = None) -> list[str]:
        """Return the names of the variables of a step, in the order of definition.

        Without `step` they are those of all steps. A step that is not committed raises
        `NotFoundError`.
        """
        if step is None:
            return list(self._indices)
        self._row(step)
        return [name for name in self._indices if step in self._variable(name).rows]

    def steps_of(self, name: str) -> list[int]:
        """Return the numbers of the steps that have values of a variable, ascending.

        Raises:
            NotFoundError: If there is no such variable.
        """
        return list(self._find(name, None)[0].rows)

    def shape(self, name: str, step: int | None = None) -> tuple[int, ...]:
        """Return the global shape of a variable in a step, in elements.

        Without `step` it is that of the newest step that has the variable.

        Raises:
            NotFoundError: If there is no such variable or step.
        """
        return self._place(name, step).shape

    def dtype(self, name: str, step: int | None = None) -> np.dtype[Any]:
        """Return the type of a variable's elements; "S1" for text, an array of single bytes.

        Without `step` it is that of the newest step that has the variable.

        Raises:
            NotFoundError: If there is no such variable or step.
        """
        return self._place(name, step).dtype

    def attributes(self, name: str | None = None) -> Attributes:
        """Return the attributes of the file, or of the variable `name`, in the newest step.

        A value is text, a number, a list of texts, or an array of several numbers.

        Raises:
            NotFoundError: If there is no such variable.
        """
        if name is None:
            return _attributes(self._attributes)
        if name not in self._indices:
            raise self._not_found(name)
        return _attributes(self._told[self._indices[name]])

    def read(
        self,
        name: str,
        step: int | None = None,
        box: Index | tuple[Index, ...] = ...,
        out: Array | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> Array:
        """Read a variable, or a box of it.

        Args:
            name: The name of the variable.
            step: The number of the step; without it the newest that has the variable.
            box: The elements to read, by numpy's basic indexing with steps above 0, such as
                `np.s_[10:20, :, 3]`. Without it the whole variable.
            out: An array for the values, of the shape of the result. Values are converted to its
                type.
            dtype: The type of a new array; without it that of the variable. Integers that are
                packed by "scale_factor" or "add_offset" are unpacked to floating-point numbers.
                With bool, each number but 0 is True.

        Returns:
            `out`, or a new array. Dimensions indexed by an integer are dropped, as in numpy.

        Raises:
            NotFoundError: If there is no such variable or step.
            InvalidArgumentError: If the box is not as described or leaves the variable, `out` has
                another shape, or a value does not fit the type.
            StorageError: If the file cannot be read.
        """
        variable, row = self._find(name, step)
        place = variable.place(row)
        slices, view = slices_of(box, name, place.shape)
        shape = tuple(
            len(range(each.start, each.stop, each.step))
            for each, kept in zip(slices, view, strict=True)
            if kept is not None
        )
        values = place_for(out, shape, place.dtype if dtype is None else dtype)
        if values.size:
            numbers = room_for(values, place.dtype)
            self._fill(name, variable, row, slices, numbers[(*view, ...)])
            settle(values, numbers)
        return values

    def close(self) -> None:
        """Release the files. A read afterwards raises `InvalidArgumentError`."""
        self._opened = None
        for each in self._bp.values():
            each.close()
        self._bp.clear()

    def _names(self) -> list[str]:
        return list(self._indices)

    def _steps_of(self, name: str) -> list[int]:
        return self.steps_of(name)

    def _form(self, name: str, step: int) -> tuple[np.dtype[Any], tuple[int, ...]]:
        return self._place(name, step)

    def _attrs(self, name: str | None) -> Attributes:
        return self.attributes(name)

    def _read_box(self, name: str, step: int, box: Index | tuple[Index, ...]) -> Array:
        return self.read(name, step, box)

    def _require(self, name: str) -> None:
        self._find(name, None)

    def _row(self, step: int) -> int:
        if step in self._steps:
            return self._steps[step]
        near = f"; there are {len(self._steps)}, up to {max(self._steps)}" if self._steps else ""
        raise NotFoundError(f"{self.path}: no step {step} is committed{near}")

    def _variable(self, name: str) -> _Variable:
        known = self._known.get(name)
        if known is None:
            index = self._indices[name]
            known = self._known[name] = _Variable(self._now(), index)
        return known

    def _find(self, name: str, step: int | None) -> tuple[_Variable, int]:
        """Return a variable, and the row of a step; without one, of the newest that has it."""
        if step is not None:
            self._row(step)
        if name in self._indices:
            variable = self._variable(name)
            if step is None:
                return variable, len(variable.rows) - 1
            if step in variable.rows:
                return variable, variable.rows[step]
        raise self._not_found(name, step)

    def _not_found(self, name: str, step: int | None = None) -> NotFoundError:
        if name in self.not_read:
            return NotFoundError(f"{self.path}: {name!r} cannot be read: {self.not_read[name]}")
        where = "" if step is None else f" in step {step}"
        names = ", ".join(self.variables(step)[:8]) or "none"
        return NotFoundError(f"{self.path}: no variable {name!r}{where}; there are {names}")

    def _place(self, name: str, step: int | None) -> _Place:
        variable, row = self._find(name, step)
        return variable.place(row)

    def _now(self) -> _Opened:
        if self._opened is None:
            raise InvalidArgumentError(f"{self.path}: it was closed")
        return self._opened

    def _fill(self, name: str, variable: _Variable, row: int, slices: Box, into: Array) -> None:
        """Read a box, which has elements, into an array of its shape."""
        spans = [each.stop - each.start for each in slices]
        if tuple(spans) == into.shape:  # no steps
            self._read(name, variable, row, slices, into)
            return
        bytes_of_box = math.prod(spans) * into.itemsize
        if bytes_of_box <= max(_WHOLE_BOX_BYTES, 2 * into.nbytes):
            whole = np.empty(spans, into.dtype)
            self._read(name, variable, row, slices, whole)
            into[...] = whole[tuple(slice(None, None, each.step) for each in slices)]
            return
        d = next(i for i, each in enumerate(slices) if each.step > 1)
        for i, at in enumerate(range(slices[d].start, slices[d].stop, slices[d].step)):
            part = (*slices[:d], slice(at, at + 1, 1), *slices[d + 1 :])
            self._fill(name, variable, row, part, into[(slice(None),) * d + (slice(i, i + 1),)])

    def _read(self, name: str, variable: _Variable, row: int, box: Box, into: Array) -> None:
        """Read a box without steps into an array of its shape, wherever that lies."""
        memory = None
        if not into.flags.c_contiguous:
            memory = memory_shape(into)
            if memory is None:
                dense = np.empty(into.shape, into.dtype)
                self._read(name, variable, row, box, dense)
                into[...] = dense
                return
        step, opened = variable.steps[row], self._now()
        start = [each.start for each in box]
        file = int(self._file_of[self._steps[step]])
        path, format_ = self._files[file]
        library = reader_library()
        if format_ == "adios2" and Path(path).is_dir() and not library.reads(b"adios2"):
            self._read_bp(file, name, step, variable.place(row), start, into)
            return
        where = (opened.raw, variable.index, step, integers(start), integers(into.shape))
        shape_there = None if memory is None else integers(memory)
        to = (address_of(into), shape_there, number_of(into.dtype))
        if format_ in _WITHOUT_LIBRARY:
            library.check(library.read(*where, *to))
            return
        with ExitStack() as held:
            _locks_of_others(held)
            library.check(library.read(*where, *to))

    def _read_bp(
        self,
        file: int,
        name: str,
        step: int,
        place: _Place,
        start: Sequence[int],
        into: Array,
    ) -> None:
        if into.dtype != place.dtype:
            raise UnsupportedError(
                f"{name} as {into.dtype}: the package adios2 converts nothing, it is {place.dtype}"
            )
        if file not in self._bp:
            self._bp[file] = BpFile(self._files[file][0])
        dense = np.empty(into.shape, into.dtype)
        in_file = int(self._in_file[self._steps[step]])
        self._bp[file].read(name, in_file, place.shape, start, dense)
        into[...] = dense


def open_files(path: str | os.PathLike[str], *, use_manifest: bool = True) -> Files:
    """Open a series or a set of checkpoints for reading, without MPI.

    A series may be opened while a job still writes it; its committed steps are seen.

    Args:
        path: The path of the file, with or without its extension. For checkpoints, the path without
            the number of the step.
        use_manifest: If False, only the file itself is believed, as if another program had written
            it. A file without a manifest is read like that too.

    Raises:
        NotFoundError: If there is no such file, or nothing of it is committed.
        StorageError: If a file or its manifest is torn, or is not of iocomp.
        UnsupportedError: If the file is of a later release, or of a format that the library was
            built without.
    """
    return Files(path, use_manifest)
