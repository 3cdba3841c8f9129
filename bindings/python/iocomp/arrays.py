# SPDX-License-Identifier: BSD-3-Clause
"""Arrays as the C libraries take them: types by number, extents as int64_t, addresses."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from iocomp.errors import InvalidArgumentError

Array = npt.NDArray[Any]

TYPES = {
    np.dtype(name): number
    for number, name in enumerate(
        ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "S1"), 1
    )
}
STRING = 16
"""The type number of texts, which only attributes have."""
BOOL = 15
"""The type number of truth values: int8 in the file, with the attribute `dtype = "bool"`."""
DTYPES = {number: dtype for dtype, number in TYPES.items()}
PACK = [struct.Struct(f"{n}q").pack for n in range(9)]  # int64_t[n] as bytes
_first_byte: Callable[[Any], ctypes.c_char] = ctypes.c_char.from_buffer


def integers(values: Sequence[int]) -> bytes:
    """Return integers as bytes of an `int64_t[]`; at most 8 of them.

    Raises:
        InvalidArgumentError: If there are more, or one is no integer.
    """
    if len(values) < len(PACK):
        try:
            return PACK[len(values)](*values)
        except struct.error:
            raise InvalidArgumentError(f"{values}: allowed are integers of 64 bits") from None
    raise InvalidArgumentError(f"{len(values)} dimensions; at most {len(PACK) - 1} are allowed")


def address_of(values: Array) -> int:
    """Return the address of the first element of an array."""
    try:
        return ctypes.addressof(_first_byte(values))  # a third of what the other way takes
    except (TypeError, ValueError):  # of arrays that are read-only, strided, or empty
        return int(values.__array_interface__["data"][0])


def memory_shape(values: Array) -> tuple[int, ...] | None:
    """Return the extents of a row-major array whose first corner is `values`, if there is one."""
    extents: list[int] = []
    stride, least = 0, values.itemsize
    for count, given in zip(reversed(values.shape), reversed(values.strides), strict=True):
        outer = given if count > 1 else least  # nobody takes a step along one element
        if outer < least or outer % (stride or least) or (not stride and outer != least):
            return None
        if stride:
            extents.append(outer // stride)
        stride, least = outer, outer * count
    return (*values.shape[:1], *reversed(extents))


def is_truth(dtype: np.dtype[Any], attributes: Mapping[str, Any]) -> bool:
    """Return True if a variable of the file holds truth values, as xarray knows them."""
    return dtype == np.int8 and attributes.get("dtype") == "bool"


def place_for(out: Array | None, shape: tuple[int, ...], dtype: npt.DTypeLike) -> Array:
    """Return the array for values that are read: `out`, or a new one.

    Raises:
        InvalidArgumentError: If `out` is no array that can be written, or has another shape.
    """
    if out is None:
        return np.empty(shape, dtype_of(dtype))
    if not isinstance(out, np.ndarray) or out.shape != shape or not out.flags.writeable:
        given = f"shape {out.shape}" if isinstance(out, np.ndarray) else f"type {type(out).__name__}"
        raise InvalidArgumentError(
            f"out of {given} for a block of shape {shape}: it must be a writeable array of this shape"
        )
    return out


def room_for(values: Array, dtype: np.dtype[Any]) -> Array:
    """Return the array that elements of a variable are read into, if a caller wants `values`.

    That is `values` itself, unless it has another byte order, or truth values: the library would
    fill it with bytes that are neither 0 nor 1. After the read, call `settle`.

    Raises:
        InvalidArgumentError: If text is to become truth values.
    """
    if not values.dtype.isnative:
        return np.empty(values.shape, values.dtype.newbyteorder("="))
    if values.dtype != np.bool_:
        return values
    if dtype.kind == "S":
        raise InvalidArgumentError("text is not converted to bool; allowed are numbers")
    return values.view(dtype) if dtype.itemsize == 1 else np.empty(values.shape, dtype)


def settle(values: Array, numbers: Array) -> None:
    """Take the numbers that were read. A truth value is False of 0, True of all others."""
    if not values.dtype.isnative:
        values[...] = numbers
    elif numbers is not values:
        np.not_equal(numbers, 0, out=values)


def dtype_of(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Return a type of numpy.

    Raises:
        InvalidArgumentError: If numpy has no such type.
    """
    try:
        return np.dtype(dtype)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"the type {dtype!r}: {error}") from None


def in_native_order(values: Array) -> Array:
    """Return an array whose elements have the byte order of the machine."""
    return values.astype(values.dtype.newbyteorder("="), copy=False)


def number_of(dtype: npt.DTypeLike) -> int:
    """Return the type number of the library for a type of numpy.

    Raises:
        InvalidArgumentError: If the library has no such type.
    """
    found = dtype_of(dtype)
    if found == np.bool_:
        return BOOL
    if found in TYPES:
        return TYPES[found]
    known = ", ".join(str(each) for each in TYPES)
    raise InvalidArgumentError(f"there is no element type for {found}; there are bool, {known}")


def _has_masks(values: object) -> bool:
    """Return True if a masked array is in a list, at any depth."""
    return isinstance(values, (list, tuple)) and any(
        isinstance(each, np.ma.MaskedArray) or _has_masks(each) for each in values
    )


def _parted(values: Any) -> tuple[Any, Any]:  # noqa: ANN401 (lists of lists)
    """Return values and masks; a single masked value is 0, which changes the type of no list."""
    if isinstance(values, (list, tuple)):
        parts = [_parted(each) for each in values]
        return [part[0] for part in parts], [part[1] for part in parts]
    if values is np.ma.masked:
        return 0, True
    if isinstance(values, np.ma.MaskedArray):
        return values.data, np.broadcast_to(values.mask, values.shape)
    return values, np.zeros(np.shape(values), np.bool_)


def array_of(values: npt.ArrayLike) -> Array:
    """Return values as an array. Lists keep their masks, and each bit of their integers.

    Raises:
        InvalidArgumentError: If lists have several lengths, or integers that no type holds together.
    """
    if isinstance(values, np.ndarray):
        return values
    try:
        if _has_masks(values):
            parts, masks = _parted(values)
            mask = np.asarray(masks, np.bool_)
            return np.ma.MaskedArray(array_of(parts), mask)  # type: ignore[no-untyped-call]
        made = np.asarray(values)
    except ValueError as error:  # lists of several lengths
        raise InvalidArgumentError(str(error)) from None
    if made.dtype != np.float64 or not made.size or hasattr(values, "__array__"):
        return made
    given = np.asarray(values, object)  # numpy takes float64 for int64 beside uint64
    if not all(isinstance(each, (int, np.integer)) for each in given.flat):
        return made
    least, most = given.min(), given.max()
    if least < 0 and most >= 2**63:
        raise InvalidArgumentError(f"no type of integers holds both {least} and {most}")
    return given.astype(np.int64 if most < 2**63 else np.uint64)


def unmasked(values: npt.ArrayLike) -> Array:
    """Return values as an array.

    Raises:
        InvalidArgumentError: If some are masked, or `array_of` refuses them.
    """
    made = array_of(values)
    if isinstance(made, np.ma.MaskedArray) and np.any(made.mask):
        raise InvalidArgumentError("values are masked, and have no fill value")
    return np.asarray(made)


def attribute_values(name: str, value: npt.ArrayLike) -> Array:
    """Return the value of an attribute as an array of no dimension, or of one.

    Raises:
        InvalidArgumentError: If it has more dimensions, `unmasked` refuses it, or numpy would cast
            some of a list.
    """
    try:
        given = unmasked(value)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"attribute {name!r}: {error}") from None
    if given.ndim > 1:
        raise InvalidArgumentError(
            f"attribute {name!r}: values of {given.ndim} dimensions; allowed are one value "
            "and a list"
        )
    if isinstance(value, (list, tuple)):
        names = {"U": "texts", "S": "texts", "b": "truth values"}
        kinds = {names.get(np.asarray(each).dtype.kind, "numbers") for each in value}
        if len(kinds) > 1:
            raise InvalidArgumentError(
                f"attribute {name!r}: a list of {' and '.join(sorted(kinds))}; allowed is one kind"
            )
    return in_native_order(given) if given.dtype.kind in "iufc" else given


def converted(values: npt.ArrayLike, dtype: np.dtype[Any]) -> Array:
    """Return a list or a number as an array of a type that holds each of its values.

    Raises:
        InvalidArgumentError: If `unmasked` refuses them, or a value does not fit; the error names
            the first one.
    """
    given = unmasked(values)
    if given.dtype == dtype or given.size == 0:
        return given.astype(dtype, copy=False)
    if given.dtype.kind in "US" and dtype.kind == "S":
        return given
    is_real = given.dtype.kind in "biuf"
    if dtype.kind not in "biufc" or not (is_real or given.dtype.kind == dtype.kind):
        raise InvalidArgumentError(f"values of {given.dtype} for a variable of {dtype}")
    with np.errstate(all="ignore"):
        made = given.astype(dtype)
        if dtype.kind in "fc":  # rounded, as numpy does it, but not to infinity
            fits = np.isfinite(made) | ~np.isfinite(given)
        else:
            fits = (made.astype(given.dtype) == given) & ((made < 0) == (given < 0))
    if not fits.all():
        at = tuple(int(each) for each in np.argwhere(~fits)[0])
        raise InvalidArgumentError(
            f"{given[at]} does not fit {dtype}" + (f" (index {list(at)})" if at else "")
        )
    return made


def texts(values: Array, length: int) -> Array:
    """Return texts as an array of bytes: one more dimension of extent `length`, zeros at the end.

    Raises:
        InvalidArgumentError: If a text has more bytes.
    """
    if values.dtype.kind == "U":
        values = np.char.encode(values, "utf-8")
    if values.itemsize > length:
        longest = max(values.reshape(-1).tolist(), key=len)
        if len(longest) > length:
            raise InvalidArgumentError(
                f"the text {longest.decode(errors='replace')!r} has {len(longest)} bytes, the "
                f"variable has room for {length}"
            )
    dense = np.ascontiguousarray(values, f"S{length}")
    return dense.reshape(-1).view("S1").reshape(*values.shape, length)
