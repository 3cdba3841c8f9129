#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""The same as bench/hand_off, from Python: how long a put takes, and until memory is free."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bindings/python"))

import iocomp

MOST = 200


def arguments() -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", required=True, help="bytes of a put, separated by commas")
    parser.add_argument("--bytes-per-size", type=int, default=256 << 20)
    parser.add_argument("--file", required=True, help="where to write; .<size> is appended")
    parser.add_argument("--alloc", action="store_true", help="put from memory of Session.empty")
    parser.add_argument("--json", type=Path, required=True, help="write the result there")
    return parser.parse_args()


def measure(io: iocomp.Session, size: int, values: np.ndarray, repeats: int) -> dict[str, Any]:
    """Put one block after the other, as bench/hand_off/main.cpp does with --pause 0."""
    returned, handed_over = [], []
    with io.open(f"s{size}") as file:
        variable = file.define("u", "f8", values.shape)
        for _ in range(repeats + 1):
            begin = time.perf_counter()
            ticket = variable.put(values, (0,))
            returned.append(time.perf_counter() - begin)
            ticket.wait()
            handed_over.append(time.perf_counter() - begin)
            file.end_step()
    found = {"put": returned[1:], "handed_over": handed_over[1:]}  # the first makes buffers
    return {what: {"median": float(np.median(seconds))} for what, seconds in found.items()}


def main() -> None:
    """Measure all sizes."""
    given = arguments()
    sizes = [int(size) for size in given.sizes.split(",")]
    settings = {"files": {f"s{size}": {"path": f"{given.file}.{size}"} for size in sizes}}
    with iocomp.Session(settings=settings) as io:
        most = max(sizes) // 8
        values = io.empty(most) if given.alloc else np.empty(most)
        values[:] = 1.0  # pages are there from the first put on
        found = {}
        for size in sizes:
            repeats = max(1, min(MOST, given.bytes_per_size // size))
            found[str(size)] = measure(io, size, values[: size // 8], repeats)
    given.json.write_text(json.dumps({"program": "put.py", "sizes": found}))


if __name__ == "__main__":
    main()
