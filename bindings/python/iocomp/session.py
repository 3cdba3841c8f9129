# SPDX-License-Identifier: BSD-3-Clause
"""Writing and reading inside an MPI program: a thin layer over iocomp.h, with its words and rules.

A call waits for the same as the C call of its name, and is collective over the same ranks.
"Members" are the ranks of the communicator on which a file was opened. "Local" means that a rank
may call it by itself. Shapes and indices count elements. If the library refuses a call, the call
raises `iocomp.Error`, or a subclass of it.
"""

from __future__ import annotations

import ctypes
import json
import math
import operator
import os
import struct
import sys
import warnings
import weakref
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from iocomp.arrays import (
    DTYPES,
    PACK,
    STRING,
    TYPES,
    Array,
    address_of,
    array_of,
    attribute_values,
    converted,
    dtype_of,
    in_native_order,
    integers,
    memory_shape,
    number_of,
    place_for,
    room_for,
    settle,
    texts,
    unmasked,
)
from iocomp.errors import CopyWarning, Failures, InvalidArgumentError, NotFoundError
from iocomp.library import BUFFERED, DROP_STEP, Block, Definition, Destination, OpenOptions, library
from iocomp.memory import preserve
from iocomp.scope import Scope
from iocomp.stored import Index, Stored, all_of, slices_of, taken

if TYPE_CHECKING:
    from mpi4py import MPI

State = Literal["reusable", "written", "durable"]
Kind = Literal["series", "checkpoint"]
Settings = str | Mapping[str, Any]
"""Settings as TOML text, or as nested dictionaries."""
Shape = int | Sequence[int]

FILL = "_FillValue"
_KINDS = {"series": 1, "checkpoint": 2}
_STATES = {"reusable": 1, "written": 2, "durable": 3}
_REUSABLE = 1
_Integers = ctypes.POINTER(ctypes.c_int64)
_Texts = ctypes.POINTER(ctypes.c_char_p)
_address = ctypes.addressof
_alive: set[Session] = set()  # with the arrays that are lent to the library


class Role(IntEnum):
    """The role of a rank. All ranks have BOTH if there are no servers."""

    COMPUTE = 1
    SERVER = 2
    BOTH = 3


def _extents(shape: Shape, what: str = "shape") -> tuple[int, ...]:
    """Return a shape, or a corner, as a tuple; an integer stands for one dimension."""
    try:
        if isinstance(shape, (int, np.integer)):
            return (int(shape),)
        return tuple(map(operator.index, shape))
    except TypeError:
        raise InvalidArgumentError(
            f"{what} {shape!r}: allowed are an integer, and a sequence of integers"
        ) from None


def _int64(number: int, what: str) -> int:
    """Return an integer that an int64_t holds; ctypes would cut it, or raise an error of its own."""
    try:
        found = operator.index(number)
    except TypeError:
        raise InvalidArgumentError(f"{what} {number!r}: allowed are integers") from None
    if not -(2**63) <= found < 2**63:
        raise InvalidArgumentError(f"{what} {number}: allowed are integers of 64 bits")
    return found


def _step(number: int | None) -> int:
    """Return a step to read; the library takes -1 for the newest that has the variable."""
    return -1 if number is None else _int64(number, "step")


def _time(time: float | None) -> float:
    try:
        return math.nan if time is None else float(time)
    except (TypeError, ValueError):
        raise InvalidArgumentError(f"time {time!r}: allowed are numbers, and None") from None


def _global_indices(values: npt.ArrayLike) -> Array:
    """Return indices as a dense array of int64_t."""
    given = unmasked(values)
    if given.size and given.dtype.kind not in "iu":
        raise InvalidArgumentError(f"indices of type {given.dtype}: allowed are integers")
    if given.dtype == np.uint64:
        given = converted(given, np.dtype(np.int64))
    return np.ascontiguousarray(given, np.int64).reshape(-1)


def _choice(value: str, known: Mapping[str, int]) -> int:
    if value in known:
        return known[value]
    raise InvalidArgumentError(f"{value!r} is none of {', '.join(map(repr, known))}")


class Rows(NamedTuple):
    """The first row of this rank among those of all members, and the number of all rows."""

    first: int
    total: int


class _OnGpu:
    """An array in the memory of a GPU, as numpy sees it: nobody may look into it."""

    def __init__(self, owner: Any) -> None:  # noqa: ANN401 (of any package)
        given = owner.__cuda_array_interface__
        self.owner = owner
        self.__array_interface__ = {
            **{name: given[name] for name in ("shape", "typestr", "data")},
            "strides": given.get("strides"),
            "version": 3,
        }


def _array_of(values: npt.ArrayLike) -> Array:
    """Return the values as an array; one of a GPU as it lies, since nothing here can copy it."""
    if not hasattr(values, "__cuda_array_interface__"):
        return array_of(values)
    array = np.asarray(_OnGpu(values))
    if not array.flags.c_contiguous and memory_shape(array) is None:
        raise InvalidArgumentError(
            "an array of a GPU that is no box of a row-major array: make it contiguous before"
        )
    return array


def _toml(settings: Mapping[str, Any], before: str = "") -> Iterator[str]:
    for key, value in settings.items():
        name = f"{before}{json.dumps(key, ensure_ascii=False)}"
        if isinstance(value, Mapping):
            yield from _toml(value, f"{name}.")
        else:
            yield f"{name} = {_toml_value(key, value)}"


def _toml_value(key: str, value: object) -> str:
    def plain(odd: object) -> object:
        if isinstance(odd, os.PathLike):
            return os.fspath(odd)
        if isinstance(odd, (np.generic, np.ndarray)):
            return odd.tolist()
        raise TypeError

    try:
        if value is None or (isinstance(value, (list, tuple)) and None in value):
            raise TypeError  # TOML has no null
        text = json.dumps(value, ensure_ascii=False, default=plain)
    except TypeError:
        raise InvalidArgumentError(
            f"the setting {key!r} is {value!r}; allowed are text, numbers, truth values, and lists "
            "of them"
        ) from None
    return text.replace("\x7f", "\\u007f")


def _text(text: str) -> bytes:
    """Return a text as the library takes it: UTF-8, up to a zero."""
    if not isinstance(text, str):
        raise InvalidArgumentError(f"{text!r}: allowed is text")
    try:
        encoded = text.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"the text {text!r} is not UTF-8: {error.reason}") from None
    if b"\0" in encoded:
        raise InvalidArgumentError(f"the text {text!r} has a zero inside, where it would end")
    return encoded


def _settings(settings: Settings | None) -> bytes | None:
    text = "\n".join(_toml(settings)) if isinstance(settings, Mapping) else settings
    return None if text is None else _text(text)


class Ticket(ctypes.Structure):
    """The receipt of a put: it tells how far the block is on its way to the disk.

    It keeps the array that was put until that is reusable.
    """

    _fields_ = (("_of", ctypes.c_void_p), ("_number", ctypes.c_uint64))
    _file: File | None = None
    _values: Array | None = None

    def wait(self, state: State = "reusable") -> None:
        """Sleep until the put has reached `state`. Local.

        Args:
            state: "reusable": the array may be changed. "written": the file system has the bytes.
                "durable": they are fsynced.

        Raises:
            Error: If the put failed, each time that it is asked.
        """
        self._check(self._library().wait(_address(self), _choice(state, _STATES)))
        self._values = None

    def done(self, state: State = "reusable") -> bool:
        """Return True if the put has reached `state`. Local; never waits. Raises like `wait`."""
        lib, reached = self._library(), ctypes.c_int()
        self._check(lib.test(_address(self), _choice(state, _STATES), _address(reached)))
        if reached.value:
            self._values = None
        return bool(reached.value)

    def _library(self) -> Any:  # noqa: ANN401 (its calls have C's types)
        if self._file is None:
            raise InvalidArgumentError("this ticket is of no put")
        self._file._session._live()
        return library()

    def _check(self, code: int) -> None:
        if code and self._file is not None:
            error = library().error_of(code)
            self._file._failures.heard(error)
            raise error

    def _is_reusable(self) -> bool:
        """Return True if the library is done with the array; a failed put keeps it for long.

        The library takes a failure that it returns as told, so the file keeps it.
        """
        reached = ctypes.c_int()
        code = library().test(_address(self), _REUSABLE, _address(reached))
        if code and self._file is not None:
            self._file._failures.found(library().error_of(code))
        if reached.value:
            self._values = None
        return bool(reached.value)


def _held(tickets: list[Ticket]) -> list[Ticket]:
    """Return the tickets from whose arrays the library may still read."""
    return [each for each in tickets if each._values is not None and not each._is_reusable()]


class Decomp:
    """A rank's part of arrays that are not cut into boxes. It is freed with its last reference."""

    def __init__(self, session: Session, raw: int | None, elements: int) -> None:
        """Keep a decomposition of `elements` elements in memory; `Session.decompose` makes it."""
        self._session, self._raw, self._elements = session, raw, elements
        session._free_with(self, library().decomp_free, raw)


class Variable:
    """A global array in a file; each rank puts blocks of it. It has a name, a type and a shape.

    `name`, `dtype` and `shape` (the global extents, in elements) can be read.
    """

    def __init__(
        self,
        file: File,
        raw: int | None,
        name: str,
        dtype: np.dtype[Any],
        shape: Sequence[int],
        has_texts: bool,
    ) -> None:
        """Keep a variable; `File.define` makes it. Of texts the last dimension is their bytes."""
        lib = library()
        self.name = name
        self.attrs = Attributes(None, self)
        """The attributes that this program has set; `u.attrs["units"] = "K"` sets one."""
        self._raw, self._file = raw, file
        self._plain, self._put_block = lib.put, lib.put_block
        self.dtype = dtype
        self.shape = tuple(shape)
        self._has_texts = has_texts
        self._pack = PACK[len(self.shape)]
        self._first = self._pack(*(0 for _ in self.shape))

    def put(
        self,
        values: npt.ArrayLike,
        where: Shape | Decomp | None = None,
        *,
        buffered: bool = False,
    ) -> Ticket:
        """Put one block into the current step, without a copy. Local; returns at once.

        Leave the array alone until the ticket is reusable. You may forget it: it is kept as long
        as the library needs it.

        Args:
            values: The block; its shape is the extents of the block. A box of a larger row-major
                array is taken as it lies; other views are copied, with a `CopyWarning`. Arrays of
                a GPU (CuPy, PyTorch, whatever has `__cuda_array_interface__`) are copied to the
                CPU. Values of another type than the variable has are converted.
            where: The first global index in each dimension; without it the block begins at the
                first element. An integer stands for one dimension. Or a decomposition, with the
                elements in its order.
            buffered: The library copies the block, so that `values` is yours again on return.

        Raises:
            InvalidArgumentError: If the block does not lie in the variable, or a value does not fit
                its type (the error names the element).
            OutOfStagingError: If there is no memory for a copy, and the file says
                `when_full = "error"`.
        """
        if self._raw is None:
            self._file._live()
        if type(values) is not np.ndarray:
            values = self._taken(values)
        other = 0
        if values.dtype != self.dtype:
            values, other = self._of_another_type(values, self.shape)
        elif self._has_texts and values.ndim == len(self.shape) - 1:  # of one byte each
            values = texts(values, self.shape[-1])
        if isinstance(where, Decomp):
            return self._put_decomp(values, where, other, buffered)
        ticket = Ticket()
        try:
            start = self._first if where is None else self._pack(*where)  # type: ignore[misc]
            count = self._pack(*values.shape)
        except (struct.error, TypeError):
            if isinstance(where, (int, np.integer)):
                return self.put(values, (int(where),), buffered=buffered)
            first = None if where is None else _extents(where, "where")
            integers(first or ())
            raise InvalidArgumentError(
                f"a block of shape {values.shape} at {first}: the variable has "
                f"{len(self.shape)} dimension(s)"
            ) from None
        if not values.flags.c_contiguous:
            memory = memory_shape(values)
            if memory is not None:
                return self._put_as(
                    Block(0, start, count, 0, self._pack(*memory), self._first, type=other),
                    values,
                    buffered,
                )
            values = self._copied(values)
        if buffered or other:
            return self._put_as(Block(0, start, count, type=other), values, buffered)
        code = self._plain(self._raw, start, count, address_of(values), _address(ticket))
        return self._put(code, ticket, values, buffered)

    def __setitem__(self, key: Index | tuple[Index, ...], values: npt.ArrayLike) -> None:
        """Put a block, `u[start:stop] = a`; as with numpy, `a` is yours again: a buffered put."""
        start: list[int] = []
        count: list[int] = []
        shown: list[int] = []
        entries = all_of(key, self.name, self.shape)
        for entry, extent in zip(entries, self.shape, strict=True):
            indices = taken(entry, extent, self.name)
            if isinstance(indices, range):
                if indices.step != 1:
                    raise InvalidArgumentError(f"{entry}: only steps of 1 can be put")
                shown.append(len(indices))
                start.append(indices.start)
                count.append(len(indices))
            else:
                start.append(indices + (extent if indices < 0 else 0))
                count.append(1)
        given = self._taken(values)
        if given.dtype.kind in "SU" and self._has_texts and given.ndim < len(shown):
            given = texts(given, shown[-1])
        elif given.dtype.kind in "SU" and given.dtype != self.dtype:
            given, _ = self._of_another_type(given, shown)
        if isinstance(given.base, _OnGpu) and given.shape != tuple(shown):
            raise InvalidArgumentError(
                f"an array of a GPU of shape {given.shape} for a block of shape {tuple(shown)}"
            )
        try:
            block = np.broadcast_to(given, shown).reshape(count)
        except ValueError:
            raise InvalidArgumentError(
                f"values of shape {given.shape} for a block of shape {tuple(shown)}"
            ) from None
        if not block.flags.c_contiguous and memory_shape(block) is None:
            block = np.ascontiguousarray(block)  # the copy that a buffered put makes anyway
        self.put(block, start, buffered=True)

    def set_shape(self, shape: Shape) -> None:
        """Give the variable another shape from the current step on.

        All members call it in the same order, before this rank's first put of the step. It waits
        for nobody.

        Args:
            shape: The new global extents, as many as before.

        Raises:
            InvalidArgumentError: If the number of dimensions differs.
            UnsupportedError: If variables of the format keep their shapes.
        """
        extents = _extents(shape)
        if len(extents) != len(self.shape):
            raise InvalidArgumentError(f"shape {extents}: the variable has shape {self.shape}")
        self._file._live()
        library().check(library().set_shape(self._raw, integers(extents)))
        self.shape = extents

    def set_fill(self, value: object) -> None:
        """Set the value of elements that nobody puts, from the current step on.

        All members call it in the same order, before the first put of the step. It waits for
        nobody.

        Args:
            value: One value; of a variable of packed numbers as it is stored.

        Raises:
            InvalidArgumentError: If it is no single value, or does not fit the variable's type.
        """
        element = converted(value, self.dtype)  # type: ignore[arg-type]
        if element.shape != ():
            raise InvalidArgumentError(f"{value!r} is no single value")
        if self.dtype.kind == "S":
            element = texts(element, 1).reshape(())
        self._file._live()
        library().check(library().set_fill(self._raw, address_of(element)))
        self.attrs._values[FILL] = element

    def set_attribute(self, name: str, value: npt.ArrayLike) -> None:
        """Attach an attribute: text, a number, or a list of either.

        All members call it with the same values, in the same order. It waits for nobody.

        Raises:
            InvalidArgumentError: If the value has more than one dimension, or is a list of mixed
                kinds.
            UnsupportedError: If the format cannot hold it.
        """
        self.attrs[name] = value

    def __len__(self) -> int:
        """Return the extent of the first dimension. A scalar raises `TypeError`."""
        if not self.shape:
            raise TypeError(f"the scalar {self.name!r} has no length")
        return self.shape[0]

    def __bool__(self) -> bool:
        """Return True: a variable without elements is a variable."""
        return True

    def __repr__(self) -> str:
        """Return name, type and shape."""
        return f"<iocomp.Variable {self._line()}>"

    def _line(self, width: int = 0) -> str:
        return f"{self.name:{width}}  {self.dtype}  {self.shape}"

    def _taken(self, values: npt.ArrayLike) -> Array:
        """Return values as an array, masked ones as the fill value."""
        values = _array_of(values)
        if isinstance(values, np.ma.MaskedArray):
            if not np.asarray(values.mask).any():
                return np.asarray(values.data)
            if FILL not in self.attrs:
                raise InvalidArgumentError(
                    f"values for {self.name!r} are masked, and it has no fill value: call set_fill"
                )
            filled = np.array(values.data)
            fill = self.attrs[FILL]
            if self.dtype.kind == "f" and {"scale_factor", "add_offset"} & self.attrs.keys():
                fill = math.nan  # packing makes the fill value of it
            if filled.dtype != self.dtype:
                filled[values.mask] = 0
                filled = np.array(converted(filled, self.dtype))
            filled[values.mask] = fill
            return filled
        if self.dtype == np.bool_ and not isinstance(values.base, _OnGpu):
            return converted(values, self.dtype)
        return values

    def _of_another_type(self, values: Array, shape: Sequence[int]) -> tuple[Array, int]:
        """Return values as the library takes them, and the number of their type, 0 for its own.

        Texts of as many dimensions as `shape` are one byte each.
        """
        if self.dtype.kind == "S" and values.dtype.kind in "SU":
            if values.ndim < len(shape):
                return texts(values, shape[-1]), 0
            return texts(values, 1).reshape(values.shape), 0
        if not values.dtype.isnative:
            return self._of_another_type(in_native_order(values), shape)
        if values.dtype == self.dtype:
            return values, 0
        if self.dtype != np.bool_ and (values.dtype in TYPES or values.dtype == np.bool_):
            return values, number_of(values.dtype)
        raise InvalidArgumentError(
            f"values of {values.dtype} for a variable of {self.dtype}: convert them by "
            f"astype({self.dtype.str!r})"
        )

    def _copied(self, values: Array) -> Array:
        warnings.warn(
            f"a block of shape {values.shape} with strides {values.strides} is copied; boxes of "
            "larger row-major arrays are not",
            CopyWarning,
            stacklevel=3,
        )
        return np.ascontiguousarray(values)

    def _put_decomp(self, values: Array, decomp: Decomp, other: int, buffered: bool) -> Ticket:
        if decomp._session is not self._file._session:
            raise InvalidArgumentError("the decomposition is of another session")
        decomp._session._live()
        if values.size != decomp._elements:
            raise InvalidArgumentError(
                f"{values.size} values for a decomposition of {decomp._elements} elements"
            )
        if not values.flags.c_contiguous:
            values = self._copied(values)
        return self._put_as(Block(decomp=decomp._raw, type=other), values, buffered)

    def _put_as(self, block: Block, values: Array, buffered: bool) -> Ticket:
        ticket = Ticket()
        block.size, block.values = ctypes.sizeof(block), address_of(values)
        block.flags = BUFFERED if buffered else 0
        code = self._put_block(self._raw, _address(block), _address(ticket))
        return self._put(code, ticket, values, buffered)

    def _put(self, code: int, ticket: Ticket, values: Array, buffered: bool) -> Ticket:
        if code:
            library().fail(code)
        ticket._file = self._file
        if not buffered:
            ticket._values = values
            self._file._puts.append(ticket)
        return ticket


def _decoded(name: str, text: bytes) -> str:
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(
            f"attribute {name!r}: {text!r} is not UTF-8: {error.reason}"
        ) from None


class Attributes(MutableMapping[str, Any]):
    """The attributes that this program has set: text, numbers, or lists of either, by name.

    All members set them, in the same order.
    """

    def __init__(self, file: File | None, variable: Variable | None) -> None:
        """Begin without attributes; files and variables have one object each."""
        self._file, self._variable = file, variable
        self._values: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 (of any type)
        """Return the value that this program has set last; `KeyError` if it has set none."""
        return self._values[name]

    def __setitem__(self, name: str, value: npt.ArrayLike) -> None:
        """Attach an attribute: text, a number, or a list of either.

        All members call it with the same values, in the same order. It waits for nobody.

        Raises:
            InvalidArgumentError: If the value has more than one dimension, or is a list of mixed
                kinds.
            UnsupportedError: If the format cannot hold it.
        """
        lib = library()
        variable = self._variable
        of = self._file if variable is None else variable._file
        raw = of._live() if of is not None else None
        owner = (
            raw if variable is None else None,
            None if variable is None else variable._raw,
            _text(name),
        )
        values = attribute_values(name, value)
        if values.dtype.kind in "US" and values.ndim == 0:
            given: Any = values[()]
            text = _decoded(name, given) if isinstance(given, bytes) else str(value)
            lib.check(lib.set_attribute(*owner, TYPES[np.dtype("S1")], -1, _text(text)))
        elif values.dtype.kind in "US":
            each_text = (
                _decoded(name, each) if isinstance(each, bytes) else str(each)
                for each in cast("Any", value)
            )
            all_texts = [*map(_text, each_text)]
            array = (ctypes.c_char_p * len(all_texts))(*all_texts)
            lib.check(lib.set_attribute(*owner, STRING, len(all_texts), ctypes.addressof(array)))
        else:
            values = np.ascontiguousarray(values)
            number = number_of(values.dtype)
            lib.check(lib.set_attribute(*owner, number, values.size, address_of(values)))
        self._values[name] = value

    def __delitem__(self, name: str) -> None:
        """Refuse: an attribute can be replaced, but not removed."""
        raise InvalidArgumentError(f"the attribute {name!r} was set; it can be replaced only")

    def __iter__(self) -> Iterator[str]:
        """Return the names, in the order in which they were set first."""
        return iter(self._values)

    def __len__(self) -> int:
        """Return the number of attributes."""
        return len(self._values)

    def __repr__(self) -> str:
        """Return the attributes as a dictionary is shown."""
        return repr(self._values)


class File(Scope, Mapping[str, Variable]):
    """An open output: a series of steps, or checkpoints. `with` closes it at the end.

    It is a mapping of names to the variables that were defined. `name` is its name in the settings.
    """

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __init__(self, session: Session, raw: int | None, name: str) -> None:
        """Keep an open file; `Session.open` makes it."""
        self._session, self._raw = session, raw
        self.name = name
        self.attrs = Attributes(self, None)
        """The attributes that this program has set; `out.attrs["title"] = "a run"` sets one."""
        self._variables: dict[str, Variable] = {}
        self._puts: list[Ticket] = []  # of this step
        self._earlier: list[tuple[int, list[Ticket]]] = []  # by the end_step that ended theirs
        self._ended = 0
        self._failures = Failures()
        session._files.add(self)

    def _leave(self) -> None:
        if self._raw:
            self.close()

    def _live(self) -> int:
        if self._raw is None:
            raise InvalidArgumentError(f"the file {self.name!r} was closed")
        return self._raw

    def _fail(self) -> None:
        if self._raw and self._session._raw:
            library().begin_step(self._raw, DROP_STEP, math.nan)

    def define(
        self,
        name: str,
        dtype: npt.DTypeLike,
        shape: Shape = (),
        dims: Sequence[str] | None = None,
        file_dtype: npt.DTypeLike | None = None,
    ) -> Variable:
        """Define a variable. All members call it in the same order; it waits for nobody.

        Args:
            name: The name, unique in the file.
            dtype: The type of its elements. "S80" is text of 80 bytes: single bytes, and one more
                dimension.
            shape: The global extents; without them it is a scalar.
            dims: The names of the dimensions, one for each. A variable with values in each step of
                a series has "time" in front of them: ("time", "y", "x"). Others are put once.
            file_dtype: The type in the file, if it is another one: "f4", say, for values that are
                computed in "f8".

        Raises:
            InvalidArgumentError: If the name was defined before or is not allowed, the library has
                no such type, or `dims` does not match the shape.
            UnsupportedError: If the format cannot hold such a variable.
        """
        extents, raw, found = _extents(shape), ctypes.c_void_p(), dtype_of(dtype)
        has_texts = found.kind == "S" and found.itemsize > 1
        if has_texts:
            extents, found = (*extents, found.itemsize), np.dtype("S1")
        try:
            own = None if dims is None else tuple(dims)
        except TypeError:
            raise InvalidArgumentError(f"dims {dims!r}: allowed is a sequence of names") from None
        has_time = own is not None and len(own) == len(extents) + 1 and own[0] == "time"
        if own is not None and has_time:
            own = own[1:]
        if own is not None and (isinstance(dims, str) or len(own) != len(extents)):
            raise InvalidArgumentError(
                f"dims {dims!r} of shape {extents}: one name for each, and \"time\" in front of "
                "them for values in each step"
            )
        # Without names of its own a scalar has an array of none, which is not NULL.
        names = None if own is None else (ctypes.c_char_p * len(own))(*map(_text, own))
        definition = Definition(
            ctypes.sizeof(Definition),
            _text(name),
            number_of(found),
            len(extents),
            integers(extents),
            None if names is None else _address(names),
            has_time,
            0 if file_dtype is None else number_of(file_dtype),
        )
        library().check(library().define_with(self._live(), _address(definition), _address(raw)))
        self._variables[name] = Variable(
            self, raw.value, name, found, extents, has_texts
        )
        return self._variables[name]

    def __getitem__(self, name: str) -> Variable:
        """Return a variable that was defined; an unknown name raises NotFoundError, a KeyError."""
        if name not in self._variables:
            there = ", ".join(self._variables) or "none yet"
            raise NotFoundError(f"no variable {name!r} was defined; there are {there}")
        return self._variables[name]

    def __iter__(self) -> Iterator[str]:
        """Return the names of the variables, in the order of definition."""
        return iter(self._variables)

    def __len__(self) -> int:
        """Return the number of variables that were defined."""
        return len(self._variables)

    def __bool__(self) -> bool:
        """Return True: a file without variables is a file."""
        return True

    def __repr__(self) -> str:
        """Return name, step and variables."""
        width = max(map(len, self._variables), default=0)
        state = f"in step {self.current_step}" if self._raw else "closed"
        lines = [f"  {each._line(width)}" for each in self._variables.values()]
        return "\n".join([f"<iocomp.File {self.name!r}, {state}>", *lines])

    def set_attribute(self, name: str, value: npt.ArrayLike) -> None:
        """Attach an attribute: text, a number, or a list of either.

        All members call it with the same values, in the same order. It waits for nobody.

        Raises:
            InvalidArgumentError: If the value has more than one dimension, or is a list of mixed
                kinds.
            UnsupportedError: If the format cannot hold it.
        """
        self.attrs[name] = value

    def set_rows(self, rows: Mapping[Variable, int]) -> list[Rows]:
        """Set how many rows of some variables this rank has, from the current step on.

        A row is one index of the first dimension. The rows of all members follow one another, in
        the order of their ranks. Collective over the members, before their first put of the step;
        it waits for them.

        Args:
            rows: The number of this rank's rows, by variable.

        Returns:
            One entry for each variable, with the first row of this rank, and the rows of all.
        """
        if not rows:
            raise InvalidArgumentError("rows of no variable")
        for each in rows:
            each._file._live()
        count = len(rows)
        variables = (ctypes.c_void_p * count)(*(each._raw for each in rows))
        mine = (ctypes.c_int64 * count)(*(_int64(each, "rows") for each in rows.values()))
        places = (ctypes.c_int64 * (2 * count))()
        second = _address(places) + ctypes.sizeof(mine)
        code = library().set_rows(
            count, _address(variables), _address(mine), _address(places), second
        )
        library().check(code)
        found = [Rows(*each) for each in zip(places[:count], places[count:], strict=True)]
        for variable, (_, total) in zip(rows, found, strict=True):
            variable.shape = (total, *variable.shape[1:])
        return found

    def begin_step(self, number: int, time: float | None = None) -> None:
        """Give the current step a number and a physical time.

        All members call it with the same values, before this rank's first put of the step. It
        waits for nobody.

        Args:
            number: The number of the step, above that of the step before.
            time: The time in the program's own unit; None or NaN for none.
        """
        library().check(library().begin_step(self._live(), _int64(number, "step"), _time(time)))

    def after(self, name: str) -> None:
        """Commit this file's steps, from the current one on, after those of the files `name`.

        A step is committed only after all steps of those files that its members had ended before.
        If one of these fails, it fails too. All members call it; it waits for nobody.
        """
        library().check(library().after(self._live(), _text(name)))

    def end_step(self) -> None:
        """End the step on this rank, which has put all its blocks. All members call it.

        Asynchronous files wait for nobody, within `steps_in_flight`. For a synchronous file it is
        collective over the members.

        Raises:
            Error: If the step failed, as far as this rank knows, or a put of a step before.
        """
        with self._failures:
            try:
                library().check(library().end_step(self._live()))
            finally:
                self._ended += 1
                self._earlier.append((self._ended, self._puts))
                self._puts = []
                self._release()
                self._session._tidy()

    @property
    def current_step(self) -> int:
        """The number of the step that this rank has not ended; -1 after `close`. Local."""
        self._session._live()
        return int(library().current_step(self._raw)) if self._raw else -1

    def wait_puts(self, state: State = "reusable") -> None:
        """Sleep until all puts of this rank since the last such call have reached `state`. Local.

        Raises:
            Error: The first failure among them, after all have reached `state` or failed.
        """
        with self._failures:
            library().check(library().wait_puts(self._live(), _choice(state, _STATES)))
            self._puts = _held(self._puts)
            self._earlier = [(ended, _held(each)) for ended, each in self._earlier]

    def wait_step(self, step: int) -> None:
        """Sleep until the step of this number is committed: complete on all members, and durable.

        Collective over the members if there are no servers.

        Raises:
            Error: If the step failed.
        """
        library().check(library().wait_step(self._live(), _int64(step, "step")))

    def close(self) -> None:
        """Close the file, and return when all of it is durable. All members call it.

        A step that has puts and is not ended is ended first.

        Raises:
            Error: The first failure that this rank has not been told yet. The file is closed even
                then.
        """
        code = library().close(self._live())
        held = [ticket for _, tickets in self._earlier for ticket in tickets] + self._puts
        self._forget()
        if code:  # a server that is late may still read from them
            self._session._lent.extend(held)
        with self._failures:
            library().check(code)

    def close_later(self) -> Ticket:
        """Close the file without waiting. All members call it.

        Arrays that were put are kept until they are reusable.

        Returns:
            A ticket that is "durable" when all of the file is committed. If nobody asks the ticket
            about a failure, `Session.finalize` raises it.
        """
        ticket = Ticket()
        code = library().close_later(self._live(), _address(ticket))
        ticket._file = self
        held = [each for _, tickets in self._earlier for each in tickets] + self._puts
        self._forget()
        if code:
            self._session._lent.extend(held)
        else:
            self._session._closing.append((ticket, held))
        self._session._failures.take(self._failures)
        self._failures = self._session._failures
        library().check(code)
        return ticket

    def _release(self) -> None:
        """Let go of arrays that are reusable.

        Each put is asked for after 0, 1, 3, 7, ... more steps, because the library takes whoever
        asks a third time to be waiting.
        """
        for index, (ended, tickets) in enumerate(self._earlier):
            age = self._ended - ended + 1
            if age & (age - 1) == 0:
                self._earlier[index] = ended, _held(tickets)
        self._earlier = [each for each in self._earlier if each[1]]

    def _forget(self) -> None:
        """Forget the handle, and those of the variables: the library refuses NULL."""
        self._raw = None
        for variable in self._variables.values():
            variable._raw = None
        self._puts, self._earlier = [], []
        self._session._files.discard(self)


class Described(NamedTuple):
    """The type and the number of dimensions of a variable, in the newest step that has it."""

    dtype: np.dtype[Any]
    ndim: int


class Input(Scope, Stored):
    """The files of a name, open for reading inside the MPI program.

    It has the steps that were committed when it was opened. It is a mapping of names to variables,
    and `with` closes it at the end.
    """

    _ends_after_exceptions = True

    def __init__(self, session: Session, raw: int | None) -> None:
        """Keep an open input; `Session.open_input` and `latest` make it."""
        self._session, self._raw = session, raw
        session._inputs.add(self)

    def _leave(self) -> None:
        if self._raw:
            self.close()

    def _live(self) -> int:
        if self._raw is None:
            raise InvalidArgumentError("the input was closed")
        return self._raw

    def __repr__(self) -> str:
        """Return steps and variables."""
        return self._shown("iocomp.Input", self.steps) if self._raw else "<iocomp.Input, closed>"

    @property
    def steps(self) -> list[int]:
        """The numbers of the committed steps, ascending. Local."""
        steps: list[int] = self._lists("input_steps", _Integers())[0]
        return steps

    def time(self, step: int) -> float:
        """Return the physical time of a step, in the program's own unit; NaN if unknown. Local.

        Raises:
            NotFoundError: If the step is not committed.
        """
        time = ctypes.c_double()
        library().check(library().input_time(self._live(), _int64(step, "step"), _address(time)))
        return time.value

    @property
    def left_out(self) -> dict[int, str]:
        """The steps whose files are torn, with the reason for each. Local."""
        steps, causes = self._lists("input_left_out", _Integers(), _Texts())
        return dict(zip(steps, map(bytes.decode, causes), strict=True))

    @property
    def variables(self) -> dict[str, Described]:
        """The variables of all steps together, in the order of definition. Local."""
        (names,) = self._lists("input_variables", _Texts())
        return {name.decode(): self._find(name.decode()) for name in names}

    def shape(self, variable: str, step: int | None = None) -> tuple[int, ...]:
        """Return the global shape of a variable in a step, in elements. Local.

        Without `step` it is that in the newest step that has the variable.

        Raises:
            NotFoundError: If there is no such variable or step, or not the variable in that step.
        """
        return self._variable(variable, step)[1]

    def attributes(self, variable: str | None = None) -> dict[str, str | list[str] | Array]:
        """Return the attributes of the file, or of a variable, in the newest step. Local.

        A value is text, a list of texts, or an array of numbers.
        """
        lib = library()
        owner = None if variable is None else _text(variable)
        found: dict[str, str | list[str] | Array] = {}
        (names,) = self._lists("input_attributes", _Texts(), before=(owner,))
        for name in names:
            number, count, values = ctypes.c_int(), ctypes.c_int64(), ctypes.c_void_p()
            places = [_address(each) for each in (number, count, values)]
            lib.check(lib.input_attribute(self._live(), owner, name, *places))
            if number.value == TYPES[np.dtype("S1")]:
                text = ctypes.string_at(values.value or 0, count.value)
                found[name.decode()] = text.decode(errors="replace")
                continue
            if number.value == STRING:
                each = ctypes.cast(values, _Texts)
                found[name.decode()] = [
                    each[i].decode(errors="replace") for i in range(count.value)
                ]
                continue
            copy = np.empty(count.value, DTYPES[number.value])
            ctypes.memmove(address_of(copy), values.value or 0, copy.nbytes)
            found[name.decode()] = copy
        return found

    def read(
        self,
        variable: str,
        step: int | None = None,
        start: Sequence[int] | None = None,
        count: Sequence[int] | None = None,
        out: Array | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> Array:
        """Read one block of a variable: any box, however the variable was cut. Local.

        Args:
            variable: The name of the variable.
            step: The number of the step; without it the newest that has the variable.
            start: The first global index in each dimension; without it the first element.
            count: The extents of the box; without them those of `out`, or up to the end of the
                variable.
            out: An array for the values, or a view of a larger one (inside a halo, say) whose last
                dimension is dense. Values are converted to its type.
            dtype: The type of a new array; without it that of the variable. Integers that are
                packed by "scale_factor" or "add_offset" are unpacked to floating-point numbers.
                With bool, each number but 0 is True.

        Returns:
            `out`, or a new array of shape `count`.

        Raises:
            NotFoundError: If there is no such variable or step, or not the variable in that step.
            InvalidArgumentError: If the box leaves the variable, `out` has another shape, or a
                value does not fit the type.
            StorageError: If the file cannot be read, or a checksum differs (setting `checksum`).
        """
        found, shape = self._variable(variable, step)
        first = (0,) * len(shape) if start is None else _extents(start, "start")
        if count is None:
            ends = zip(shape, first, strict=True) if len(first) == len(shape) else ()
            count = getattr(out, "shape", tuple(n - s for n, s in ends))
        count = _extents(count, "count")
        if not len(first) == len(count) == len(shape) or min(count, default=0) < 0:
            raise InvalidArgumentError(f"start {first} and count {count} of shape {shape}")
        values = place_for(out, count, found if dtype is None else dtype)
        numbers = room_for(values, found)
        memory = None if numbers.flags.c_contiguous else memory_shape(numbers)
        if memory is None and not numbers.flags.c_contiguous:
            raise InvalidArgumentError(
                f"out has shape {values.shape} and strides {values.strides} in bytes; allowed is a "
                "box of a larger row-major array, whose last dimension is dense"
            )
        to = Destination(
            ctypes.sizeof(Destination),
            integers(first),
            integers(count),
            address_of(numbers),
            None if memory is None else integers(memory),
            type=number_of(numbers.dtype),
        )
        number = _step(step)
        library().check(library().read_block(self._live(), _text(variable), number, _address(to)))
        settle(values, numbers)
        return values

    def close(self) -> None:
        """Close the input. Local."""
        code = library().close_input(self._raw)
        self._forget()
        library().check(code)

    def _forget(self) -> None:
        self._raw = None
        self._session._inputs.discard(self)

    def _names(self) -> list[str]:
        return list(self.variables)

    def _steps_of(self, name: str) -> list[int]:
        return [step for step in self.steps if self._has(name, step)]

    def _has(self, name: str, step: int) -> bool:
        try:
            self.shape(name, step)
        except NotFoundError:
            return False
        return True

    def _form(self, name: str, step: int) -> tuple[np.dtype[Any], tuple[int, ...]]:
        return self._variable(name, step)

    def _attrs(self, name: str | None) -> Mapping[str, Any]:
        return {
            key: value[0] if isinstance(value, np.ndarray) and value.size == 1 else value
            for key, value in self.attributes(name).items()
        }

    def _read_box(self, name: str, step: int, box: Index | tuple[Index, ...]) -> Array:
        slices, view = slices_of(box, name, self.shape(name, step))
        start = [each.start for each in slices]
        whole = self.read(name, step, start, [each.stop - each.start for each in slices])
        kept: list[int | slice] = [
            0 if given is None else slice(None, None, each.step)
            for each, given in zip(slices, view, strict=True)
        ]
        return np.asarray(whole[tuple(kept)])

    def _require(self, name: str) -> None:
        self._find(name)

    def _lists(
        self,
        call: str,
        *places: Any,  # noqa: ANN401 (pointers to the elements of each list)
        before: tuple[object, ...] = (),
    ) -> list[Any]:
        """Return the lists that a call hands out, which are as long as it says."""
        count = ctypes.c_int64()
        addresses = [_address(each) for each in (count, *places)]
        library().check(getattr(library(), call)(self._live(), *before, *addresses))
        return [each[: count.value] if count.value else [] for each in places]

    def _find(self, variable: str) -> Described:
        dtype, shape = self._variable(variable, None)
        return Described(dtype, len(shape))

    def _variable(
        self, variable: str, step: int | None
    ) -> tuple[np.dtype[Any], tuple[int, ...]]:
        """Return type and shape in a step; without it, in the newest that has the variable."""
        number, ndim, shape = ctypes.c_int(), ctypes.c_int(), _Integers()
        places = [_address(each) for each in (number, ndim, shape)]
        given = _step(step)
        library().check(library().input_variable(self._live(), _text(variable), given, *places))
        return DTYPES[number.value], tuple(shape[: ndim.value])


class Latest(NamedTuple):
    """The newest committed step, its physical time, and the input to read it from.

    If nothing is committed yet, `step` is -1, `time` is NaN and `input` is None.
    """

    step: int
    time: float
    input: Input | None


class Session(Scope):
    """The use of iocomp by an MPI program. Begin it after MPI, and end it before MPI ends.

    All ranks compute unless a setting asks for servers. A server stays in the constructor until the
    others have finalized, and then leaves the program. With the setting `server.end = "return"` the
    constructor returns on it, and `role` says that it is a server.
    """

    def __init__(self, comm: MPI.Comm | None = None, settings: Settings | None = None) -> None:
        """Begin a session. Collective over `comm`.

        Args:
            comm: The ranks of the session; without it all of MPI.COMM_WORLD. It is duplicated, and
                never used itself.
            settings: Settings of the program, as TOML text or nested dictionaries. The settings
                file and the environment override them.

        Raises:
            InvalidSettingError: On all ranks, for settings or placements that are impossible.
        """
        lib = library()
        from mpi4py import MPI

        text = _settings(settings)
        raw = ctypes.c_void_p()
        self._files: set[File] = set()
        self._inputs: set[Input] = set()
        self._lent: list[Ticket] = []  # of files that could not be closed
        self._closing: list[tuple[Ticket, list[Ticket]]] = []  # of files that close later
        self._failures = Failures()  # of files that close later
        self._memory: dict[int, int] = {}  # bytes by address, of arrays that are still there
        self._garbage: list[tuple[Any, int | None]] = []
        sys.stdout.flush()  # a server leaves through C's exit
        sys.stderr.flush()
        handle = lib.handle_of(MPI.COMM_WORLD if comm is None else comm)
        lib.check(lib.init(handle, text, _address(raw)))
        self._raw = raw.value
        self.comm = MPI.Intracomm()
        """The communicator of the compute ranks, for use in the place of MPI.COMM_WORLD.

        It is COMM_NULL on a server.
        """
        lib.set_handle(self.comm, lib.comm(self._raw))
        self.role = Role(lib.role(self._raw))
        """The role of this rank."""
        _alive.add(self)

    def __repr__(self) -> str:
        """Return the role of this rank, and how many ranks compute."""
        ranks = f"rank {self.comm.rank} of {self.comm.size} that compute" if self.comm else "a server"
        return f"<iocomp.Session: {ranks if self._raw else 'closed'}>"

    def _leave(self) -> None:
        if self._raw:
            self.finalize()

    def finalize(self) -> None:
        """Wait until all files are settled, and release the servers. Collective over the session.

        Files that are open are closed first. Arrays of `empty` that still have references are moved
        to memory of the program.

        Raises:
            Error: The first failure that no call has raised yet.
        """
        lib, raw = library(), self._live()
        self._tidy()
        with preserve(self._memory):
            code = lib.finalize(raw)
        self._raw = None
        for file in list(self._files):
            file._forget()
        for input_ in list(self._inputs):
            input_._forget()
        from mpi4py import MPI

        lib.set_handle(self.comm, lib.handle_of(MPI.COMM_NULL))
        self._lent.clear()
        self._closing.clear()
        _alive.discard(self)
        with self._failures:
            lib.check(code)

    def open(
        self,
        name: str,
        kind: Kind = "series",
        *,
        settings: Settings | None = None,
        after: int | None = None,
        comm: MPI.Comm | None = None,
    ) -> File:
        """Open a file for writing; the settings `[files.<name>]` say where and how.

        Collective over `comm`. Without servers it waits for the other members.

        Args:
            name: The name in the settings: letters, digits, '-', '_' and '.'.
            kind: "series", or "checkpoint": one file for each step.
            settings: Settings of this file for this open, such as `{"path": "out/run7.h5"}`. They
                override the defaults of all files. The settings file and the environment override
                them for this name.
            after: The step of its own state from which the program restarts. With the setting
                `existing = "continue"` later steps are dropped.
            comm: The members: a sub-communicator of `Session.comm`. Without it all compute ranks.

        Raises:
            TargetExistsError: If the target is there and `existing` does not allow that, or another
                job writes it.
            StorageError: If the file cannot be made.
            UnsupportedError: If the back-end is not installed, or cannot continue such a file.
        """
        lib, raw = library(), ctypes.c_void_p()
        self._tidy()
        step = None if after is None else ctypes.c_int64(_int64(after, "after"))
        told = self._told(settings, comm, step)
        lib.check(
            lib.open(
                self._live(), _text(name), _choice(kind, _KINDS), _address(told), _address(raw)
            )
        )
        return File(self, raw.value, name)

    def open_input(
        self,
        name: str,
        *,
        settings: Settings | None = None,
        comm: MPI.Comm | None = None,
    ) -> Input:
        """Open the files of `[files.<name>]` for reading. Collective over `comm`.

        It waits for the other ranks of `comm`.

        Args:
            name: The name in the settings, as for `open`.
            settings: The settings of this file for this open, as for `open`.
            comm: A sub-communicator of `Session.comm`; without it all compute ranks.

        Raises:
            NotFoundError: If there is no such file, or nothing of it is committed.
            StorageError: If it cannot be read, or is shorter than its manifest says.
        """
        lib, raw = library(), ctypes.c_void_p()
        told = self._told(settings, comm)
        lib.check(lib.open_input(self._live(), _text(name), _address(told), _address(raw)))
        return Input(self, raw.value)

    def latest(
        self,
        name: str,
        *,
        settings: Settings | None = None,
        comm: MPI.Comm | None = None,
    ) -> Latest:
        """Open the newest committed step for reading, to restart from. Collective over `comm`.

        If nothing is committed, that is no error: the result has step -1 and no input.

        Args:
            name: The name in the settings, as for `open`.
            settings: The settings of this file for this open, as for `open`.
            comm: A sub-communicator of `Session.comm`; without it all compute ranks.

        Raises:
            StorageError: If the step cannot be read.
        """
        lib = library()
        step, time, raw = ctypes.c_int64(), ctypes.c_double(math.nan), ctypes.c_void_p()
        told = self._told(settings, comm)
        places = (_address(step), _address(time), _address(raw))
        lib.check(lib.latest(self._live(), _text(name), _address(told), *places))
        return Latest(step.value, time.value, Input(self, raw.value) if raw.value else None)

    @staticmethod
    def _told(
        settings: Settings | None, comm: MPI.Comm | None, after: ctypes.c_int64 | None = None
    ) -> OpenOptions:
        """Return the options of an open; the arguments must live as long."""
        return OpenOptions(
            ctypes.sizeof(OpenOptions),
            _settings(settings),
            None if comm is None else library().address_of(comm),
            None if after is None else _address(after),
        )

    def should_stop(self) -> bool:
        """Return True, on all ranks alike, if the program should stop now.

        Collective over the compute ranks: call it once in a step.
        """
        stop = ctypes.c_int()
        library().check(library().should_stop(self._live(), _address(stop)))
        return bool(stop.value)

    def progress(self) -> None:
        """Let data move, for MPIs whose messages move only inside calls. Never waits. Local."""
        library().check(library().progress(self._live()))

    def empty(self, shape: Shape, dtype: npt.DTypeLike = "f8") -> Array:
        """Return an array of zeros in memory from which puts cost least. Local.

        The memory is freed with the last array that uses it, after its puts are reusable.

        Args:
            shape: The extents of the array.
            dtype: The type of its elements.

        Raises:
            OutOfStagingError: If there is no such memory.
        """
        extents, found, raw = _extents(shape), dtype_of(dtype), ctypes.c_void_p()
        if found.hasobject:
            raise InvalidArgumentError(f"an array of {found}: its elements are no values")
        size = math.prod(extents) * found.itemsize
        self._tidy()
        if size == 0:
            return np.zeros(extents, found)
        library().check(library().alloc(self._live(), size, _address(raw)))
        address = raw.value or 0
        memory = (ctypes.c_char * size).from_address(address)
        self._memory[address] = size
        self._free_with(memory, self._free, address)
        array: Array = np.frombuffer(memoryview(memory), found).reshape(extents)
        return array

    def decompose(
        self, shape: Shape, first: npt.ArrayLike, count: npt.ArrayLike | None = None
    ) -> Decomp:
        """Describe this rank's part of arrays of a shape. Local.

        Args:
            shape: The global shape of the arrays.
            first: The row-major index in the global array of each element in memory. Elements with
                a negative index (halos, say) are not written.
            count: The lengths of runs, in elements. With it, `first` has one index for each run,
                that of its first element.

        Raises:
            InvalidArgumentError: If an index leaves the shape, stands there twice, or is no
                integer.
        """
        extents, raw = _extents(shape), ctypes.c_void_p()
        begins = _global_indices(first)
        counts = None if count is None else _global_indices(count)
        if counts is not None and begins.size != counts.size:
            raise InvalidArgumentError(f"{begins.size} begins of {counts.size} runs")
        code = library().decompose(
            self._live(),
            len(extents),
            integers(extents),
            begins.size,
            address_of(begins),
            None if counts is None else address_of(counts),
            _address(raw),
        )
        library().check(code)
        return Decomp(self, raw.value, begins.size if counts is None else int(counts.sum()))

    @property
    def settings(self) -> str:
        """The settings in force as text. Each line has a key, its value and its origin. Local."""
        text: bytes = library().settings(self._live())
        return text.decode()

    def _live(self) -> int:
        if self._raw is None:
            raise InvalidArgumentError("the session was finalized")
        return self._raw

    def _free_with(self, owner: object, call: Any, raw: int | None) -> None:  # noqa: ANN401
        """Free the C object behind `owner` when that is gone, in the next call of this session.

        Not at once, because the garbage collector may run while another call is on its way.
        """
        weakref.finalize(owner, self._garbage.append, (call, raw)).atexit = False

    def _free(self, address: int) -> None:
        del self._memory[address]
        library().check(library().free(self._raw, address))

    def _tidy(self) -> None:
        while self._garbage:
            call, raw = self._garbage.pop()
            call(raw)
        self._closing = [each for each in self._closing if not self._is_over(*each)]

    @staticmethod
    def _is_over(closing: Ticket, held: list[Ticket]) -> bool:
        """Return True if the library is done with the arrays of a file."""
        is_over = closing._is_reusable()
        for ticket in held if is_over else ():
            ticket._values = None
        return is_over
