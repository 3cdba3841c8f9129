# SPDX-License-Identifier: BSD-3-Clause
"""The values that pattern.cpp gives to elements, computed independently."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

DTYPES = {
    "int8": "<i1",
    "int16": "<i2",
    "int32": "<i4",
    "int64": "<i8",
    "uint8": "<u1",
    "uint16": "<u2",
    "uint32": "<u4",
    "uint64": "<u8",
    "float16": "<f2",
    "float32": "<f4",
    "float64": "<f8",
    "complex64": "<c8",
    "complex128": "<c16",
    "char": "S1",
}
_ALL = (1 << 64) - 1
_FINITE = {
    "float16": (_ALL ^ 1 << 14, _ALL),
    "float32": (_ALL ^ 1 << 30, _ALL),
    "complex64": (_ALL ^ (1 << 30 | 1 << 62), _ALL),
    "float64": (_ALL ^ 1 << 62, _ALL),
    "complex128": (_ALL ^ 1 << 62, _ALL ^ 1 << 62),
}


def size_of(element_type: str) -> int:
    """Return the bytes of one element."""
    return np.dtype(DTYPES[element_type]).itemsize


def _mix(x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def elements(
    element_type: str, seed: int, step: int, indices: npt.NDArray[np.int64]
) -> npt.NDArray[np.uint8]:
    """Return the bytes of the elements at global `indices`: one more axis than `indices` has."""
    with np.errstate(over="ignore"):
        origin = _mix(np.array([seed ^ step << 32], dtype=np.uint64))
        first = _mix(origin[0] + indices.astype(np.uint64))
        second = _mix(first)
    keep = _FINITE.get(element_type, (_ALL, _ALL))
    words = np.stack([first & np.uint64(keep[0]), second & np.uint64(keep[1])], axis=-1)
    size = size_of(element_type)
    return np.ascontiguousarray(words.astype("<u8")).view(np.uint8)[..., :size]
