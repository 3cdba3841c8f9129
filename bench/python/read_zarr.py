#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measure how long xarray reads a variable of a Zarr store, by zarr-python, beside one of a posix series.

The packages come from tools/install-wheel zarr. They have a NumPy of their own, so another process reads.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

from read import REPEATS, write

ROOT = Path(__file__).resolve().parents[2]

READ = """
import json, sys, time, warnings, xarray
from iocomp.xarray_engine import IocompBackend
warnings.simplefilter("ignore")
ways = {
    "zarr": lambda: xarray.open_zarr(sys.argv[1] + ".zarr", chunks=None),
    "posix": lambda: xarray.open_dataset(sys.argv[1] + ".bin", engine=IocompBackend),
}
seconds = {name: [] for name in ways}
sums = set()
for _ in range(int(sys.argv[2]) + 1):
    for name, read in ways.items():
        begin = time.perf_counter()
        with read() as found:
            values = found["u"].values
        seconds[name].append(time.perf_counter() - begin)
        sums.add((values.size, float(values.sum())))
        del values
assert len(sums) == 1, sums
print(json.dumps({f"{name}_seconds": sorted(each[1:])[len(each) // 2 - 1] for name, each in seconds.items()}))
"""


def arguments() -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bytes", type=int, default=1 << 30, help="of the variable, in 16 steps")
    parser.add_argument("--file", type=Path, required=True, help="without an extension; is written first")
    parser.add_argument("--json", type=Path, required=True, help="write the result there")
    return parser.parse_args()


def main() -> None:
    """Write both, and have them read in turns."""
    given = arguments()
    if not (ROOT / "build/zarr/iocomp-installed").exists():
        raise SystemExit("read_zarr.py: unsupported: tools/install-wheel zarr fetches zarr-python")
    for ending, backend in ((".bin", "posix"), (".zarr", "zarr")):
        write(given.file.with_suffix(ending), given.bytes, backend)
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'build/zarr'}:{ROOT / 'bindings/python'}"}
    command = [sys.executable, "-S", "-c", READ, str(given.file), str(REPEATS)]
    printed = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout
    given.json.write_text(json.dumps({"program": "read_zarr.py", **json.loads(printed)}))


if __name__ == "__main__":
    main()
