# SPDX-License-Identifier: BSD-3-Clause
"""Compare what two HDF5 files hold, by another HDF5 than that of the program."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np


def facts_of(item: h5py.Dataset) -> dict[str, object]:
    """Return what readers see of a dataset besides its values."""
    return {
        "shape": item.shape,
        "type": item.dtype.str,
        "limits": item.maxshape,
        "chunks": item.chunks,
        "filter": item.compression,
        "fill": item.fillvalue,
    }


def differences(one: h5py.Group, other: h5py.Group) -> list[str]:
    """Return one line for each difference between two groups."""
    found = []
    if sorted(one) != sorted(other):
        return [f"{one.name}: {sorted(one)} != {sorted(other)}"]
    if dict(one.attrs) != dict(other.attrs):
        found.append(f"{one.name}: attributes {dict(one.attrs)} != {dict(other.attrs)}")
    for name in one:
        links = [type(group.get(name, getlink=True)) for group in (one, other)]
        if links[0] is not links[1]:
            found.append(f"{one.name}/{name}: links {links}")
        if links[0] is not h5py.HardLink:
            continue
        a, b = one[name], other[name]
        if isinstance(a, h5py.Group):
            found += differences(a, b)
        elif facts_of(a) != facts_of(b):
            found.append(f"{a.name}: {facts_of(a)} != {facts_of(b)}")
        elif not np.array_equal(a[()], b[()]):
            where = np.argwhere(a[()] != b[()])
            found.append(f"{a.name}: {len(where)} values differ, first at {where[0]}")
    return found


def compare(one: Path, other: Path) -> list[str]:
    """Return one line for each difference between two files."""
    with h5py.File(one, "r") as a, h5py.File(other, "r") as b:
        return differences(a, b)
