# SPDX-License-Identifier: BSD-3-Clause
"""Stores of Zarr as zarr-python and xarray see them.

These are fetched by tools/install-wheel zarr, with a NumPy of their own, so they run in another process. Without them
stores are read by iocomp alone; with IOCOMP_TEST_NEED_ZARR=1 that is a failure.
"""

from __future__ import annotations

import base64
import functools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

_HERE = Path(__file__).resolve().parent
PACKAGES = _HERE.parents[1] / "build/zarr"


def has_zarr() -> bool:
    """Return True if the packages are there."""
    is_there = (PACKAGES / "iocomp-installed").exists()
    assert is_there or os.environ.get("IOCOMP_TEST_NEED_ZARR") != "1", "tools/install-wheel zarr fetches zarr-python"
    return is_there


@functools.cache
def _dumper() -> subprocess.Popen[str]:
    return subprocess.Popen(
        # Without the packages of the system, which want its NumPy.
        [sys.executable, "-S", str(_HERE / "dump_zarr.py")],
        env={**os.environ, "PYTHONPATH": str(PACKAGES)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def dumped(path: Path) -> dict[str, Any]:
    """Return what the packages find: attributes, and arrays by name."""
    dumper = _dumper()
    assert dumper.stdin and dumper.stdout
    print(path, file=dumper.stdin, flush=True)
    found: dict[str, Any] = json.loads(dumper.stdout.readline())
    assert "failure" not in found, f"{path}: {found['failure']}"
    return found


def fill_of(array: dict[str, Any]) -> npt.NDArray[Any]:
    """Return what an array that was dumped holds where nothing was written."""
    return np.frombuffer(base64.b64decode(array["fill"]), np.dtype(array["type"]))


def values_of(array: dict[str, Any]) -> npt.NDArray[Any]:
    """Return the values of an array that was dumped."""
    raw = base64.b64decode(array["values"])
    return np.frombuffer(raw, np.dtype(array["type"])).reshape(array["shape"])
