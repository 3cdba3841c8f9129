#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measure how long xarray reads a variable of a posix series, beside numpy.fromfile."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bindings/python"))

import xarray

import iocomp
from iocomp.xarray_engine import IocompBackend

STEPS = 16
REPEATS = 5


def arguments() -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bytes", type=int, default=1 << 30, help="of the variable, in 16 steps")
    parser.add_argument("--file", type=Path, required=True, help="is written first")
    parser.add_argument("--json", type=Path, required=True, help="write the result there")
    return parser.parse_args()


def write(path: Path, size: int, backend: str = "posix") -> None:
    """Write the variable."""
    with (
        iocomp.Session(settings={"files": {"fields": {"path": str(path), "backend": backend}}}) as io,
        io.open("fields") as out,
    ):
        values = np.arange(size // 8 // STEPS, dtype="f8")
        u = out.define("u", "f8", values.shape)
        for step in range(STEPS):
            u[:] = values + step
            out.end_step()


def plain(path: Path, size: int) -> npt.NDArray[np.float64]:
    """Read the bytes."""
    return np.fromfile(path, "f8", size // 8)


def lazy(path: Path, size: int) -> npt.NDArray[np.float64]:
    """Open the file as a dataset, and read the variable."""
    with xarray.open_dataset(path, engine=IocompBackend) as found:
        values: npt.NDArray[np.float64] = found["u"].values
    return values


def main() -> None:
    """Read in turns."""
    given = arguments()
    write(given.file, given.bytes)
    ways: dict[str, Callable[[Path, int], npt.NDArray[np.float64]]] = {"plain": plain, "lazy": lazy}
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    sums = set()
    for _ in range(REPEATS + 1):
        for name, read in ways.items():
            begin = time.perf_counter()
            values = read(given.file, given.bytes)
            seconds[name].append(time.perf_counter() - begin)
            sums.add((values.size, float(values.sum())))
            del values
    if len(sums) != 1:
        raise SystemExit(f"read.py: the two have read different values: {sums}")
    found = {f"{name}_seconds": float(np.median(each[1:])) for name, each in seconds.items()}
    given.json.write_text(json.dumps({"program": "read.py", "bytes": given.bytes, **found}))


if __name__ == "__main__":
    main()
