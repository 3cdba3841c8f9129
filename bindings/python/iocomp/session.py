# SPDX-License-Identifier: BSD-3-Clause
"""Writing and reading inside an MPI program: a thin face of iocomp.h, with its words and its rules.

What a call waits for, and whether it is collective, is that of the C call of the same name.
"""

from __future__ import annotations

import ctypes
import json
import math
import struct
import sys
import warnings
import weakref
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from types import EllipsisType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from iocomp.arrays import DTYPES, PACK, TYPES, Array, address_of, integers, memory_shape
from iocomp.errors import CopyWarning, InvalidArgumentError
from iocomp.library import library
from iocomp.memory import preserve
from iocomp.scope import Scope

if TYPE_CHECKING:
    from mpi4py import MPI

State = Literal["handed_over", "written", "durable"]
Kind = Literal["series", "checkpoint"]
Options = str | Mapping[str, Any]
"""Settings of a file for one open: TOML text, or a dictionary."""
Shape = int | Sequence[int]
Index = slice | int | EllipsisType

_KINDS = {"series": 1, "checkpoint": 2}
_STATES = {"handed_over": 1, "written": 2, "durable": 3}
_HANDED_OVER = 1
_LAST_STEP = 2**63 - 1
_COUNTS_OF_INT = {"input_variables", "input_find", "input_attributes"}  # all others are int64_t
_address = ctypes.addressof
_alive: set[Session] = set()  # with the arrays that are lent to the library


class Role(IntEnum):
    """What a rank is; BOTH where there are no servers."""

    COMPUTE = 1
    SERVER = 2
    BOTH = 3


def _extents(shape: Shape) -> tuple[int, ...]:
    return (int(shape),) if isinstance(shape, (int, np.integer)) else tuple(map(int, shape))


def _choice(value: str, known: Mapping[str, int]) -> int:
    if value in known:
        return known[value]
    raise InvalidArgumentError(f"{value!r} is none of {', '.join(map(repr, known))}")


def _type_of(dtype: npt.DTypeLike) -> int:
    found = np.dtype(dtype)
    if found in TYPES:
        return TYPES[found]
    known = ", ".join(str(each) for each in TYPES)
    raise InvalidArgumentError(f"there is no element type for {found}; there are {known}")


class Rows(NamedTuple):
    """Where the rows of a rank begin among those of all, and how many all have."""

    first: int
    total: int


class RowsPut(NamedTuple):
    """The same, and the ticket of the put."""

    first: int
    total: int
    ticket: Ticket


class _OnGpu:
    """What numpy asks of values in the memory of a GPU: an array that nobody may look into."""

    def __init__(self, owner: Any) -> None:  # noqa: ANN401 (of any package)
        given = owner.__cuda_array_interface__
        self.owner = owner
        self.__array_interface__ = {
            **{name: given[name] for name in ("shape", "typestr", "data")},
            "strides": given.get("strides"),
            "version": 3,
        }


def _array_of(values: npt.ArrayLike, dtype: np.dtype[Any]) -> Array:
    """Return the values as an array; one of a GPU as it lies, since nothing here can copy it."""
    if isinstance(values, np.ndarray) or not hasattr(values, "__cuda_array_interface__"):
        return np.asarray(values, None if isinstance(values, np.ndarray) else dtype)
    array = np.asarray(_OnGpu(values))
    if array.dtype != dtype:
        raise InvalidArgumentError(
            f"an array of a GPU of type {array.dtype}: the variable has {dtype}"
        )
    if not array.flags.c_contiguous and memory_shape(array) is None:
        raise InvalidArgumentError(
            "an array of a GPU that is no box of a row-major array: make it contiguous before"
        )
    return array


def _toml(settings: Mapping[str, Any], before: str = "") -> Iterator[str]:
    for key, value in settings.items():
        name = f"{before}{json.dumps(key)}"
        if isinstance(value, Mapping):
            yield from _toml(value, f"{name}.")
        else:
            yield f"{name} = {json.dumps(value)}"


def _text(text: str) -> bytes:
    """Return a text as the library takes it: UTF-8, up to a zero."""
    try:
        encoded = text.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"the text {text!r} is not UTF-8: {error.reason}") from None
    if b"\0" in encoded:
        raise InvalidArgumentError(f"the text {text!r} has a zero inside, where it would end")
    return encoded


def _options(options: Options | None) -> bytes | None:
    text = "\n".join(_toml(options)) if isinstance(options, Mapping) else options
    return None if text is None else _text(text)


class Ticket(ctypes.Structure):
    """What a put returns. It keeps the array that was put until that is handed over."""

    _fields_ = (("_of", ctypes.c_void_p), ("_number", ctypes.c_uint64))
    _session: Session | None = None
    _values: Array | None = None

    def wait(self, state: State = "handed_over") -> None:
        """Sleep until the put has come so far. Local.

        Raises:
            Error: What the put failed with, each time.
        """
        lib = self._library()
        lib.check(lib.wait(_address(self), _choice(state, _STATES)))
        self._values = None

    def done(self, state: State = "handed_over") -> bool:
        """Whether the put has come so far. Local. Raises like `wait`."""
        lib, reached = self._library(), ctypes.c_int()
        lib.check(lib.test(_address(self), _choice(state, _STATES), _address(reached)))
        if reached.value:
            self._values = None
        return bool(reached.value)

    def _library(self) -> Any:  # noqa: ANN401 (its calls have C's types)
        if self._session is None:
            raise InvalidArgumentError("this ticket is of no put")
        self._session._live()
        return library()

    def _is_free(self) -> bool:
        """Whether the library is done with the array. One that failed is kept until the close."""
        reached = ctypes.c_int()
        if self._values is not None:
            library().test(_address(self), _HANDED_OVER, _address(reached))
        if reached.value:
            self._values = None
        return self._values is None


class Decomposition:
    """What one rank has of arrays that are not cut into boxes. Freed with its last reference."""

    def __init__(self, session: Session, raw: int | None, elements: int) -> None:
        """Made by `Session.decomposition`; `elements` are those in memory."""
        self._raw, self._elements = raw, elements
        session._free_with(self, library().decomp_free, raw)


class Variable:
    """A typed N-dimensional global array in a file."""

    def __init__(
        self, file: File, raw: int | None, dtype: np.dtype[Any], shape: Sequence[int]
    ) -> None:
        """Made by `File.define`."""
        lib = library()
        self._raw, self._file = raw, file
        self._plain, self._buffered = lib.put, lib.put_buffered
        self.dtype = dtype
        self.shape = tuple(shape)
        self._pack = PACK[len(self.shape)]
        self._first = self._pack(*(0 for _ in self.shape))

    def put(
        self,
        values: npt.ArrayLike,
        where: Sequence[int] | Decomposition | None = None,
        *,
        buffered: bool = False,
    ) -> Ticket:
        """Put one block into the current step, without a copy. Local; returns at once.

        Leave the array alone until the ticket is handed over. You may forget it: it is kept as long
        as the library needs it.

        Args:
            values: The block, of the variable's type. A box of a larger row-major array is taken as
                it lies; other views are copied, with a `CopyWarning`. Arrays of a GPU (CuPy,
                PyTorch, whatever has `__cuda_array_interface__`) are copied to the CPU.
            where: First global index per dimension; without it the block begins at the first
                element. Or a decomposition, with the elements in its order.
            buffered: The library copies the block, so that `values` is yours again on return.
        """
        if not isinstance(values, np.ndarray):
            values = _array_of(values, self.dtype)
        if values.dtype != self.dtype:
            values = self._characters(values)
        if isinstance(where, Decomposition):
            return self._put_decomp(values, where, buffered)
        ticket = Ticket()
        try:
            start = self._first if where is None else self._pack(*where)
            count = self._pack(*values.shape)
        except (struct.error, TypeError):
            raise InvalidArgumentError(
                f"a block of shape {values.shape} at {where}: the variable has "
                f"{len(self.shape)} dimension(s)"
            ) from None
        if not values.flags.c_contiguous:
            memory = memory_shape(values)
            if memory is not None:
                return self._put_from(values, start, count, memory, buffered)
            values = self._copied(values)
        call = self._buffered if buffered else self._plain
        code = call(self._raw, start, count, address_of(values), _address(ticket))
        return self._put(code, ticket, values, buffered)

    def put_rows(self, values: npt.ArrayLike, *, buffered: bool = False) -> RowsPut:
        """Put rows (indices along the first axis) behind those of the ranks before this one.

        The variable gets the shape for the rows of all. Collective over the members, before their
        first put of the step, and it waits for them. Of several variables in one step call
        `File.set_rows`, then `put`.
        """
        block = _array_of(values, self.dtype)
        first, total = self._file.set_rows({self: len(block) if block.ndim else -1})[0]
        where = (first, *[0] * (len(self.shape) - 1))
        return RowsPut(first, total, self.put(block, where, buffered=buffered))

    def __setitem__(self, key: Index | tuple[Index, ...], values: npt.ArrayLike) -> None:
        """Put a block, `u[start:stop] = a`; as with numpy, `a` is yours again: a buffered put."""
        entries = key if isinstance(key, tuple) else (key,)
        if Ellipsis in entries:
            at = entries.index(Ellipsis)
            missing = len(self.shape) - len(entries) + 1
            entries = (*entries[:at], *[slice(None)] * missing, *entries[at + 1 :])
        if len(entries) > len(self.shape):
            raise InvalidArgumentError(f"{len(entries)} indices of {len(self.shape)} dimension(s)")
        start: list[int] = []
        count: list[int] = []
        shown: list[int] = []
        whole = [slice(None)] * (len(self.shape) - len(entries))
        for entry, extent in zip((*entries, *whole), self.shape, strict=True):
            if isinstance(entry, slice):
                first, stop, step = entry.indices(extent)
                if step != 1:
                    raise InvalidArgumentError(f"{entry}: only steps of 1 can be put")
                shown.append(max(0, stop - first))
            elif entry is not Ellipsis:
                first = int(entry) + (extent if int(entry) < 0 else 0)
            start.append(first)
            count.append(shown[-1] if isinstance(entry, slice) else 1)
        given = _array_of(values, self.dtype)
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
        """Give the variable another shape from the current step on. Called by all members."""
        extents = _extents(shape)
        if len(extents) != len(self.shape):
            raise InvalidArgumentError(f"shape {extents}: the variable has shape {self.shape}")
        library().check(library().set_shape(self._raw, integers(extents)))
        self.shape = extents

    def set_fill(self, value: object) -> None:
        """Say what elements hold that nobody puts. Called by all members, before the first put."""
        element = np.asarray(value, self.dtype).reshape(())
        library().check(library().set_fill(self._raw, address_of(element)))

    def set_attribute(self, name: str, value: npt.ArrayLike) -> None:
        """Attach an attribute: text, a number or a list of numbers. Called by all members."""
        _set_attribute("set_var_attribute", self._raw, name, value)

    def _characters(self, values: Array) -> Array:
        if self.dtype.char == values.dtype.char == "S":  # texts: one more dimension
            characters = np.ascontiguousarray(values).reshape(-1).view("S1")
            return characters.reshape(*values.shape, values.itemsize)
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

    def _put_from(
        self, values: Array, start: bytes, count: bytes, memory: Sequence[int], buffered: bool
    ) -> Ticket:
        ticket = Ticket()
        block = (start, count, address_of(values), self._pack(*memory), self._first)
        code = library().put_from(self._raw, *block, buffered, _address(ticket))
        return self._put(code, ticket, values, buffered)

    def _put_decomp(self, values: Array, decomposition: Decomposition, buffered: bool) -> Ticket:
        if values.size != decomposition._elements:
            raise InvalidArgumentError(
                f"{values.size} values for a decomposition of {decomposition._elements} elements"
            )
        if not values.flags.c_contiguous:
            values = self._copied(values)
        ticket = Ticket()
        code = library().put_decomp(
            self._raw, decomposition._raw, address_of(values), buffered, _address(ticket)
        )
        return self._put(code, ticket, values, buffered)

    def _put(self, code: int, ticket: Ticket, values: Array, buffered: bool) -> Ticket:
        if code:
            library().fail(code)
        ticket._session = self._file._session
        if not buffered:
            ticket._values = values
            self._file._puts.append(ticket)
        return ticket


def _set_attribute(call: str, owner: int | None, name: str, value: npt.ArrayLike) -> None:
    lib = library()
    if isinstance(value, str):
        lib.check(getattr(lib, f"{call}_text")(owner, _text(name), _text(value)))
        return
    values = np.ascontiguousarray(value)
    number = _type_of(values.dtype)
    lib.check(getattr(lib, call)(owner, _text(name), number, values.size, address_of(values)))


class File(Scope):
    """A named output: a series of steps, or checkpoints. `with` closes it at the end."""

    def __init__(self, session: Session, raw: int | None) -> None:
        """Made by `Session.open`."""
        self._session, self._raw = session, raw
        self._variables: list[Variable] = []
        self._puts: list[Ticket] = []  # of this step
        self._earlier: list[tuple[int, list[Ticket]]] = []  # by the end_step that ended theirs
        self._ended = 0
        session._files.add(self)

    def _leave(self) -> None:
        if self._raw:
            self.close()

    def define(self, name: str, dtype: npt.DTypeLike, shape: Shape = ()) -> Variable:
        """Define a variable. Called by all members in the same order; waits for nobody."""
        extents, raw = _extents(shape), ctypes.c_void_p()
        found = np.dtype(dtype)
        number = _type_of(found)
        packed = integers(extents)
        library().check(
            library().define(self._raw, _text(name), number, len(extents), packed, _address(raw))
        )
        self._variables.append(Variable(self, raw.value, found, extents))
        return self._variables[-1]

    def set_attribute(self, name: str, value: npt.ArrayLike) -> None:
        """Attach an attribute: text, a number or a list of numbers. Called by all members."""
        _set_attribute("set_attribute", self._raw, name, value)

    def set_rows(self, rows: Mapping[Variable, int]) -> list[Rows]:
        """Say how many rows this rank has of some variables, from the current step on.

        The rows of all members follow one another. Collective over the members, before their first
        put of the step, and it waits for them. Returns an entry for each variable.
        """
        count = len(rows)
        variables = (ctypes.c_void_p * count)(*(each._raw for each in rows))
        mine = (ctypes.c_int64 * count)(*rows.values())
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

    def begin_step(self, number: int, time: float = math.nan) -> None:
        """Give the current step a number and a physical time. Called by all members."""
        library().check(library().begin_step(self._raw, number, time))

    def after(self, name: str) -> None:
        """Commit steps from the current one on after those of the files of this name.

        A step is committed only when all steps are that its members had ended of those. Called by
        all members; waits for nobody.
        """
        library().check(library().after(self._raw, _text(name)))

    def end_step(self) -> None:
        """Say that this rank has put all it has for the step. Called by all members."""
        code = library().end_step(self._raw)
        self._ended += 1
        self._earlier.append((self._ended, self._puts))
        self._puts = []
        self._release()
        self._session._tidy()
        library().check(code)

    @property
    def current_step(self) -> int:
        """The number of the step that this rank has not ended. Local."""
        self._session._live()
        return int(library().current_step(self._raw)) if self._raw else -1

    def wait_puts(self, state: State = "handed_over") -> None:
        """Sleep until all puts of this rank since the last such call have come so far. Local.

        Raises:
            Error: What the first of them failed with, when all have come to an end.
        """
        library().check(library().wait_puts(self._raw, _choice(state, _STATES)))
        self._puts = [each for each in self._puts if not each._is_free()]
        self._earlier = [
            (ended, [each for each in tickets if not each._is_free()])
            for ended, tickets in self._earlier
        ]

    def wait_step(self, step: int) -> None:
        """Sleep until this step is committed. Without servers collective over the members."""
        library().check(library().wait_step(self._raw, step))

    def close(self) -> None:
        """Close the file; returns when all of it is durable. Called by all members.

        Raises:
            Error: The first failure that this rank has not been told yet. It is closed anyway.
        """
        code = library().close(self._raw)
        held = [ticket for _, tickets in self._earlier for ticket in tickets] + self._puts
        self._forget()
        if code:  # a server that is late may still read from them
            self._session._lent.extend(held)
        library().check(code)

    def close_later(self) -> Ticket:
        """Close the file without waiting. Called by all members.

        The ticket is "durable" when all of the file is committed; what nobody asks for is told by
        `Session.finalize`. Arrays that were put are kept until they are handed over.
        """
        ticket = Ticket()
        code = library().close_later(self._raw, _address(ticket))
        ticket._session = self._session
        held = [each for _, tickets in self._earlier for each in tickets] + self._puts
        self._forget()
        self._session._closing.append((ticket, held))
        library().check(code)
        return ticket

    def _release(self) -> None:
        """Let go of arrays that are handed over.

        Each put is asked for after 0, 1, 3, 7, ... more steps, because the library takes whoever
        asks a third time to be waiting.
        """
        for index, (ended, tickets) in enumerate(self._earlier):
            age = self._ended - ended + 1
            if age & (age - 1) == 0:
                self._earlier[index] = ended, [each for each in tickets if not each._is_free()]
        self._earlier = [each for each in self._earlier if each[1]]

    def _forget(self) -> None:
        """Forget the handle, and those of the variables: the library refuses NULL."""
        self._raw = None
        for variable in self._variables:
            variable._raw = None
        self._puts, self._earlier = [], []
        self._session._files.discard(self)


class Described(NamedTuple):
    """What a variable is, in the newest step that has it."""

    dtype: np.dtype[Any]
    ndim: int


class Input(Scope):
    """What was written under a name, open for reading: the steps that were committed at opening."""

    _ends_after_exceptions = True

    def __init__(self, session: Session, raw: int | None) -> None:
        """Made by `Session.open_input` or `latest`."""
        self._session, self._raw = session, raw
        session._inputs.add(self)

    def _leave(self) -> None:
        self.close()

    @property
    def steps(self) -> list[int]:
        """The numbers of the committed steps, ascending."""
        count = self._number("input_steps")
        return [self._number("input_step", index) for index in range(count)]

    def time(self, step: int) -> float:
        """Return the physical time of a step; NaN where none is known."""
        time = ctypes.c_double()
        library().check(library().input_time(self._raw, step, _address(time)))
        return time.value

    @property
    def left_out(self) -> dict[int, str]:
        """Steps whose files are torn, and why."""
        found: dict[int, str] = {}
        for index in range(self._number("input_left_out")):
            step, cause = ctypes.c_int64(), ctypes.c_char_p()
            library().check(
                library().input_left_out_step(self._raw, index, _address(step), _address(cause))
            )
            found[step.value] = (cause.value or b"").decode()
        return found

    @property
    def variables(self) -> dict[str, Described]:
        """What all steps together have, in the order of definition."""
        return dict(self._variable(index) for index in range(self._number("input_variables")))

    def shape(self, variable: str, step: int | None = None) -> tuple[int, ...]:
        """Return the global shape of a variable in a step; the newest one without `step`."""
        number = self._newest() if step is None else step
        extents = (ctypes.c_int64 * self._find(variable).ndim)()
        code = library().input_shape(self._raw, _text(variable), number, _address(extents))
        library().check(code)
        return tuple(extents)

    def attributes(self, variable: str | None = None) -> dict[str, str | Array]:
        """Return the attributes of the file, or of a variable, in the newest step."""
        lib = library()
        owner = None if variable is None else _text(variable)
        found: dict[str, str | Array] = {}
        for index in range(self._number("input_attributes", owner)):
            name, number, count = ctypes.c_char_p(), ctypes.c_int(), ctypes.c_int64()
            is_text, text = ctypes.c_int(), ctypes.c_char_p()
            places = [_address(each) for each in (name, number, count, is_text)]
            lib.check(lib.input_attribute(self._raw, owner, index, *places))
            called = name.value or b""
            if is_text.value:
                lib.check(lib.input_attribute_text(self._raw, owner, called, _address(text)))
                found[called.decode()] = (text.value or b"").decode(errors="replace")
                continue
            values = np.empty(count.value, DTYPES[number.value])
            room = (number.value, count.value, address_of(values))
            lib.check(lib.input_attribute_values(self._raw, owner, called, *room))
            found[called.decode()] = values
        return found

    def read(
        self,
        variable: str,
        step: int | None = None,
        start: Sequence[int] | None = None,
        count: Sequence[int] | None = None,
        out: Array | None = None,
    ) -> Array:
        """Read one block of a variable: any box, whoever wrote it. Local.

        Args:
            variable: Its name.
            step: The newest one without it.
            start: First global index per dimension; without it that of the whole variable.
            count: Extents; without them those of `out`, or up to the end of the variable.
            out: Where the values go: an array of the variable's type, or a view of a larger one
                (inside a halo, say) whose last dimension is dense.

        Returns:
            `out`, or a new array.
        """
        number = self._newest() if step is None else step
        dtype = self._find(variable).dtype
        shape = self.shape(variable, number)
        first = tuple(start) if start is not None else (0,) * len(shape)
        if count is None:
            ends = zip(shape, first, strict=True) if len(first) == len(shape) else ()
            count = tuple(out.shape) if out is not None else tuple(n - s for n, s in ends)
        if not len(first) == len(count) == len(shape):
            raise InvalidArgumentError(f"start {first} and count {count} of shape {shape}")
        values = np.empty(tuple(count), dtype) if out is None else out
        if values.dtype != dtype or values.shape != tuple(count) or not values.flags.writeable:
            raise InvalidArgumentError(
                f"an array of {values.dtype} and shape {values.shape} for a block of {dtype} and "
                f"shape {tuple(count)}: it must be writeable, of this type and shape"
            )
        where = (self._raw, _text(variable), number, integers(first), integers(count))
        if values.flags.c_contiguous:
            library().check(library().read(*where, address_of(values)))
            return values
        memory = memory_shape(values)
        if memory is None:
            raise InvalidArgumentError(f"strides {values.strides}: the last must be dense")
        into = (address_of(values), integers(memory), integers((0,) * len(memory)))
        library().check(library().read_into(*where, *into))
        return values

    def close(self) -> None:
        """Close it. Local."""
        code = library().close_input(self._raw)
        self._forget()
        library().check(code)

    def _forget(self) -> None:
        self._raw = None
        self._session._inputs.discard(self)

    def _number(self, call: str, *arguments: object) -> int:
        found = ctypes.c_int() if call in _COUNTS_OF_INT else ctypes.c_int64()
        library().check(getattr(library(), call)(self._raw, *arguments, _address(found)))
        return found.value

    def _newest(self) -> int:
        return self.steps[-1]

    def _find(self, variable: str) -> Described:
        return self._variable(self._number("input_find", _text(variable)))[1]

    def _variable(self, index: int) -> tuple[str, Described]:
        name, number, ndim = ctypes.c_char_p(), ctypes.c_int(), ctypes.c_int()
        places = [_address(each) for each in (name, number, ndim)]
        library().check(library().input_variable(self._raw, index, *places))
        return (name.value or b"").decode(), Described(DTYPES[number.value], ndim.value)


class Latest(NamedTuple):
    """What to restart from. Step -1 and no input where nothing is committed yet."""

    step: int
    time: float
    input: Input | None


class Session(Scope):
    """One iocomp_init ... iocomp_finalize. Begin it after MPI, and end it before MPI ends.

    Without a setting that asks for servers all ranks compute. A server stays in the constructor,
    serves until the others have finalized, and leaves the program. With the setting
    `server.returns = true` it returns, and `role` says so.
    """

    def __init__(
        self, comm: MPI.Comm | None = None, settings: str | Mapping[str, Any] | None = None
    ) -> None:
        """Begin. Collective over `comm`, or all ranks.

        Args:
            comm: Is duplicated, and never used itself.
            settings: Of the program, as TOML text or nested dictionaries. The settings file and the
                environment override them.
        """
        lib = library()
        from mpi4py import MPI

        text = _options(settings)
        raw = ctypes.c_void_p()
        self._files: set[File] = set()
        self._inputs: set[Input] = set()
        self._lent: list[Ticket] = []  # of files that could not be closed
        self._closing: list[tuple[Ticket, list[Ticket]]] = []  # of files that close later
        self._memory: dict[int, int] = {}  # bytes by address, of arrays that are still there
        self._garbage: list[tuple[Any, int | None]] = []
        sys.stdout.flush()  # a server leaves through C's exit
        sys.stderr.flush()
        handle = lib.handle_of(MPI.COMM_WORLD if comm is None else comm)
        lib.check(lib.init(handle, text, _address(raw)))
        self._raw = raw.value
        self.comm = MPI.Intracomm()
        """The compute ranks: use it where MPI.COMM_WORLD stood. COMM_NULL on a server."""
        lib.set_handle(self.comm, lib.comm(self._raw))
        self.role = Role(lib.role(self._raw))
        """What this rank is."""
        _alive.add(self)

    def _leave(self) -> None:
        if self._raw:
            self.finalize()

    def finalize(self) -> None:
        """Settle all files, release the servers. Collective.

        Arrays of `empty` that still have references are moved to memory of the program.

        Raises:
            Error: The first failure that no call has told yet.
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
        lib.check(code)

    def open(
        self,
        name: str,
        kind: Kind = "series",
        *,
        options: Options | None = None,
        after: int | None = None,
        comm: MPI.Comm | None = None,
    ) -> File:
        """Open a file for writing; the settings `[files.<name>]` say where and how. Collective.

        Args:
            name: Letters, digits, '-', '_' and '.'.
            kind: "series", or "checkpoint": one file for each step.
            options: Settings of this file for this open, such as `{"path": "out/run7.h5"}`. They
                hold over the defaults of all files; the user's word on this name holds over them.
            after: The step of its own state that the program restarts from. With the setting
                `existing = "continue"` later steps are dropped.
            comm: A sub-communicator of `Session.comm`, whose ranks have the file.
        """
        lib, raw = library(), ctypes.c_void_p()
        self._tidy()
        code = lib.open_with(
            self._live(),
            lib.handle_of(self.comm if comm is None else comm),
            _text(name),
            _choice(kind, _KINDS),
            _LAST_STEP if after is None else after,
            _options(options),
            _address(raw),
        )
        lib.check(code)
        return File(self, raw.value)

    def open_input(
        self, name: str, comm: MPI.Comm | None = None, *, options: Options | None = None
    ) -> Input:
        """Open what `[files.<name>]` names for reading. Collective like `open`."""
        lib, raw = library(), ctypes.c_void_p()
        members = lib.handle_of(self.comm if comm is None else comm)
        code = lib.open_input_with(
            self._live(), members, _text(name), _options(options), _address(raw)
        )
        lib.check(code)
        return Input(self, raw.value)

    def latest(
        self, name: str, comm: MPI.Comm | None = None, *, options: Options | None = None
    ) -> Latest:
        """Return the newest committed step, opened for reading. Collective like `open`."""
        lib = library()
        step, time, raw = ctypes.c_int64(), ctypes.c_double(math.nan), ctypes.c_void_p()
        members = lib.handle_of(self.comm if comm is None else comm)
        places = (_address(step), _address(time), _address(raw))
        lib.check(lib.latest_with(self._live(), members, _text(name), _options(options), *places))
        return Latest(step.value, time.value, Input(self, raw.value) if raw.value else None)

    def should_stop(self) -> bool:
        """Whether the program should stop now, the same on all. Collective over compute ranks."""
        stop = ctypes.c_int()
        library().check(library().should_stop(self._live(), _address(stop)))
        return bool(stop.value)

    def progress(self) -> None:
        """Let data move, for MPIs whose messages move only inside calls. Never waits. Local."""
        library().check(library().progress(self._live()))

    def empty(self, shape: Shape, dtype: npt.DTypeLike = "f8") -> Array:
        """Return an array of zeros in memory from which puts cost least. Local.

        It is freed with the last array that uses it, after its puts are handed over.
        """
        extents, found, raw = _extents(shape), np.dtype(dtype), ctypes.c_void_p()
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

    def decomposition(self, shape: Shape, index: npt.ArrayLike) -> Decomposition:
        """Say what this rank has of arrays of `shape`, by an index map. Local.

        Args:
            shape: Of the variables.
            index: For each element in memory its row-major index in the global array; elements with
                a negative one (halos, say) are not written.
        """
        extents, raw = _extents(shape), ctypes.c_void_p()
        entries = np.ascontiguousarray(index, np.int64).reshape(-1)
        elements = (entries.size, address_of(entries))
        code = library().decomp_map(
            self._live(), len(extents), integers(extents), *elements, _address(raw)
        )
        library().check(code)
        return Decomposition(self, raw.value, entries.size)

    def decomposition_runs(
        self, shape: Shape, first: npt.ArrayLike, count: npt.ArrayLike
    ) -> Decomposition:
        """Say the same by runs: the index of the first element of each, and how many it has."""
        extents, raw = _extents(shape), ctypes.c_void_p()
        begins = np.ascontiguousarray(first, np.int64).reshape(-1)
        counts = np.ascontiguousarray(count, np.int64).reshape(-1)
        if begins.size != counts.size:
            raise InvalidArgumentError(f"{begins.size} begins of {counts.size} runs")
        runs = (begins.size, address_of(begins), address_of(counts))
        library().check(
            library().decomp_runs(
                self._live(), len(extents), integers(extents), *runs, _address(raw)
            )
        )
        return Decomposition(self, raw.value, int(counts.sum()))

    @property
    def settings(self) -> str:
        """The settings in force, one per line: key, value, origin. Local."""
        text: bytes = library().settings(self._live())
        return text.decode()

    def _live(self) -> int:
        if self._raw is None:
            raise InvalidArgumentError("the session was finalized")
        return self._raw

    def _free_with(self, owner: object, call: Any, raw: int | None) -> None:  # noqa: ANN401
        """Free what an object stands for when it is gone, in the next call of this session.

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
        """Whether the library is done with the arrays of a file."""
        reached = ctypes.c_int()
        library().test(_address(closing), _HANDED_OVER, _address(reached))
        if reached.value:
            for ticket in held:
                ticket._values = None
        return bool(reached.value)
