# SPDX-License-Identifier: BSD-3-Clause
"""Arrays as the C libraries take them: types by number, extents as int64_t, addresses."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
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
DTYPES = {number: dtype for dtype, number in TYPES.items()}
PACK = [struct.Struct(f"{n}q").pack for n in range(9)]  # int64_t[n] as bytes
_first_byte: Callable[[Any], ctypes.c_char] = ctypes.c_char.from_buffer


def integers(values: Sequence[int]) -> bytes:
    """Return `int64_t[]`."""
    if len(values) < len(PACK):
        return PACK[len(values)](*values)
    raise InvalidArgumentError(f"{len(values)} dimensions; at most {len(PACK) - 1} are allowed")


def address_of(values: Array) -> int:
    """Return where the first element is."""
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
