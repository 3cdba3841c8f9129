#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Read what simulated histories have promised with the tools of the formats: docs/developers/simulation.md.

Usage: read_files.py PROGRAM [options of the program], such as `--seeds 200 --from new`
"""

from __future__ import annotations

import contextlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np

TYPES = {
    **{f"{kind}{8 * size}": f"{kind[0]}{size}" for kind in ("int", "uint") for size in (1, 2, 4, 8)},
    **{f"float{8 * size}": f"f{size}" for size in (2, 4, 8)},
    **{f"complex{8 * size}": f"c{size}" for size in (8, 16)},
    "char": "S1",
}


def whole_manifest(text: str) -> dict[str, Any]:
    """Return a manifest with the lines behind it, but those that are torn. Sums are not looked at."""
    end = text.find("\n}\n") + 3
    manifest = json.loads(text[:end])
    for line in text[end:].splitlines():
        with contextlib.suppress(json.JSONDecodeError):
            added = json.loads(line)
            steps, more = manifest["steps"], added.get("more", {"count": 0})
            steps += added.get("steps", [])
            steps[-1]["count"] = steps[-1].get("count", 1) + more["count"]
            for variable, advance in zip(steps[-1]["variables"], more.get("advance", [])):
                variable["advance"] = advance
    return manifest


def read_posix(path: Path, wanted: dict[str, Any]) -> np.ndarray:
    """Return a variable by the offset that the manifest tells."""
    manifest = whole_manifest(Path(f"{path}.json").read_text())
    replaces = manifest.get("replaces")
    if replaces and (path.parent / replaces["temporary"]).exists():
        manifest = replaces["manifest"]
    behind = {id(line): wanted["step"] - line["step"] for line in manifest["steps"]}
    (line,) = [one for one in manifest["steps"] if 0 <= behind[id(one)] < one.get("count", 1)]
    (placed,) = [one for one in line["variables"] if one["name"] == wanted["name"]]
    offset = placed["offset"] + behind[id(line)] * placed.get("advance", 0)
    count = int(np.prod(placed["shape"]))
    dtype = "<" + TYPES[placed["type"]]
    return np.fromfile(path, dtype, count, offset=offset).reshape(placed["shape"])


def read_hdf5(path: Path, wanted: dict[str, Any]) -> np.ndarray:
    """Return a dataset of the group of its step, or its part of one that grows along time."""
    with h5py.File(path, "r") as file:
        if wanted["layout"] == "time":
            return file[wanted["name"]][wanted["step"]]
        return file[str(wanted["step"])][wanted["name"]][()]


def read_netcdf(path: Path, wanted: dict[str, Any]) -> np.ndarray:
    """Return a variable, or its record of a step."""
    with netCDF4.Dataset(path) as file:
        file.set_auto_maskandscale(False)
        variable = file[wanted["name"]]
        if variable.dimensions and variable.dimensions[0] == "time":
            return variable[wanted["step"] if wanted["series"] else 0]
        return variable[:]


READERS = {
    "posix": read_posix,
    "hdf5": read_hdf5,
    "netcdf": read_netcdf,
    "pnetcdf": read_netcdf,
}


def violation(folder: Path, wanted: dict[str, Any]) -> str:
    """Say what is wrong with a variable of a step, if anything is."""
    try:
        found = READERS[wanted["backend"]](folder / wanted["path"], wanted)
    except (OSError, ValueError, KeyError, IndexError, RuntimeError) as error:
        return f"cannot be read: {error!r}"
    if found.dtype.newbyteorder("<") != np.dtype("<" + TYPES[wanted["type"]]):
        return f"is of type {found.dtype} instead of {wanted['type']}"
    if list(found.shape) != wanted["shape"]:
        return f"has the shape {found.shape} instead of {wanted['shape']}"
    little = np.ascontiguousarray(found).astype(found.dtype.newbyteorder("<"), copy=False)
    with (folder / "expected").open("rb") as file:
        file.seek(wanted["expected"])
        expected = file.read(little.nbytes)
    if little.tobytes() != expected:
        return "has other values"
    return ""


def check_folder(folder: Path, read: Counter[str]) -> list[str]:
    """Read all that was promised of one disk; count it."""
    violations = []
    for wanted in json.loads((folder / "promised.json").read_text()):
        read[wanted["backend"]] += 1
        if wrong := violation(folder, wanted):
            violations.append(
                f"{folder.name}: {wanted['path']}, step {wanted['step']}: {wanted['name']} {wrong}"
            )
    return violations


def validate(folder: Path) -> list[str]:
    """Have PnetCDF's own tool look at its files."""
    promised = json.loads((folder / "promised.json").read_text())
    violations = []
    for path in sorted({one["path"] for one in promised if one["backend"] == "pnetcdf"}):
        done = subprocess.run(
            ["ncvalidator", folder / path], capture_output=True, check=False, text=True
        )
        # The bytes behind the last record were being written when the power went.
        if done.returncode != 0 and "is larger than expected" not in done.stdout + done.stderr:
            violations.append(f"{folder.name}: ncvalidator refuses {path}: {done.stderr!r}")
    return violations


def main() -> int:
    """Run the program and read what it has written out."""
    has_validator = shutil.which("ncvalidator") is not None
    read: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        done = subprocess.run([*sys.argv[1:], "--files", name], check=False)
        folders = sorted(Path(name).iterdir())
        violations = []
        for folder in folders:
            violations += check_folder(folder, read)
            violations += validate(folder) if has_validator else []
    for one in violations[:20]:
        print(one)
    counts = ", ".join(f"{count} of {backend}" for backend, count in sorted(read.items()))
    print(f"{len(folders)} disks, variables read: {counts}: {len(violations)} violations")
    if missing := READERS.keys() - read.keys():
        print(f"no variable was read of {', '.join(sorted(missing))}: take more seeds")
    return 1 if done.returncode != 0 or violations or missing else 0


if __name__ == "__main__":
    sys.exit(main())
