# SPDX-License-Identifier: BSD-3-Clause
"""Arrays in memory of the library that outlive their session."""

from __future__ import annotations

import ctypes
import mmap
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

_FIXED_NOREPLACE = 0x100000
_FAILED = ctypes.c_void_p(-1).value


@contextmanager
def preserve(memory: Mapping[int, int]) -> Iterator[None]:
    """Keep the contents of memory while the `with` block unmaps it.

    `memory` has a number of bytes for each address. An array that is used after its session has
    ended is still an array then, and the program does not crash.
    """
    saved = {address: ctypes.string_at(address, size) for address, size in memory.items()}
    yield
    system = ctypes.CDLL(None, use_errno=True)
    system.mmap.restype = ctypes.c_void_p
    system.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _FIXED_NOREPLACE
    for address, values in saved.items():
        protection = mmap.PROT_READ | mmap.PROT_WRITE
        got = system.mmap(address, len(values), protection, flags, -1, 0)
        if got == address:
            ctypes.memmove(address, values, len(values))
        elif got != _FAILED:  # an old kernel, which does not know the flag
            warnings.warn("an array of Session.empty ended with its session", stacklevel=4)
