# SPDX-License-Identifier: BSD-3-Clause
"""XXH3 with 64 bits, of more than 128 bytes: what a manifest ends with.

Written down here and not imported: the reader needs numpy alone, and a check that depends on
whether a package is there would be one that nobody can count on.
https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

LEAST = 129
"""Bytes."""
_MASK = (1 << 64) - 1
_PRIMES_32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
_PRIMES_64 = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)
_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)
_STRIPE, _IN_BLOCK, _LANES = 64, 16, 8
_BLOCK = _STRIPE * _IN_BLOCK

_Words = npt.NDArray[np.uint64]


def _number(of: bytes, at: int) -> int:
    return int.from_bytes(of[at : at + 8], "little")


def _folded(a: int, b: int) -> int:
    product = a * b
    return (product & _MASK) ^ (product >> 64)


def _avalanche(value: int) -> int:
    value ^= value >> 37
    value = value * 0x165667919E3779F9 & _MASK
    return value ^ (value >> 32)


def _keys(*starts: int) -> _Words:
    return np.array([[_number(_SECRET, at + 8 * i) for i in range(_LANES)] for at in starts], "u8")


def _sums(stripes: _Words, keys: _Words) -> _Words:
    """Return what each stripe adds: stripes and keys are [..., stripe, lane]."""
    keyed = stripes ^ keys
    half = np.uint64(32)
    swapped = stripes.reshape(*stripes.shape[:-1], _LANES // 2, 2)[..., ::-1]
    return swapped.reshape(stripes.shape) + (keyed & np.uint64(0xFFFFFFFF)) * (keyed >> half)


def _of_some(data: bytes) -> int:
    """Of at most 240 bytes."""

    def mixed(at: int, key: int) -> int:
        return _folded(
            _number(data, at) ^ _number(_SECRET, key),
            _number(data, at + 8) ^ _number(_SECRET, key + 8),
        )

    value = len(data) * _PRIMES_64[0] + sum(mixed(16 * i, 16 * i) for i in range(8))
    value = _avalanche(value & _MASK)
    value += sum(mixed(16 * i, 16 * (i - 8) + 3) for i in range(8, len(data) // 16))
    return _avalanche((value + mixed(len(data) - 16, 136 - 17)) & _MASK)


def _of_many(data: bytes) -> int:
    sums = np.array(
        [_PRIMES_32[2], *_PRIMES_64[:4], _PRIMES_32[1], _PRIMES_64[4], _PRIMES_32[0]], "u8"
    )
    blocks = (len(data) - 1) // _BLOCK
    rest = (len(data) - 1 - blocks * _BLOCK) // _STRIPE
    keys = _keys(*range(0, 8 * _IN_BLOCK, 8))
    words = np.frombuffer(data, "<u8", (blocks * _BLOCK + rest * _STRIPE) // 8).astype("u8")
    stripes = words.reshape(-1, _LANES)
    whole = stripes[: blocks * _IN_BLOCK].reshape(blocks, _IN_BLOCK, _LANES)
    scramble = _keys(len(_SECRET) - _STRIPE)[0]
    for added in _sums(whole, keys).sum(axis=1, dtype="u8"):
        sums += added
        sums = (sums ^ (sums >> np.uint64(47)) ^ scramble) * np.uint64(_PRIMES_32[0])
    sums += _sums(stripes[blocks * _IN_BLOCK :], keys[:rest]).sum(axis=0, dtype="u8")
    last = np.frombuffer(data[-_STRIPE:], "<u8").astype("u8")[np.newaxis]
    sums += _sums(last, _keys(len(_SECRET) - _STRIPE - 7))[0]
    value = len(data) * _PRIMES_64[0]
    for i in range(0, _LANES, 2):
        a, b = int(sums[i]), int(sums[i + 1])
        value += _folded(a ^ _number(_SECRET, 11 + 8 * i), b ^ _number(_SECRET, 19 + 8 * i))
    return _avalanche(value & _MASK)


def xxh3(data: bytes) -> int:
    """Return the checksum of `LEAST` bytes or more.

    Raises:
        ValueError: Of less.
    """
    if len(data) < LEAST:
        raise ValueError(f"a checksum of {len(data)} bytes; it is for {LEAST} or more")
    return _of_some(data) if len(data) <= 240 else _of_many(data)
