# SPDX-License-Identifier: BSD-3-Clause
"""The rules for the files that a job leaves, whatever happened to it."""

from __future__ import annotations

import json
import re
import subprocess
import unittest
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from actors import Build
from foreign import Foreign
from manifests import manifest_steps, whole_manifest
from manifests import xxh3 as xxh3_of_bytes
from zarr_packages import dumped, fill_of, has_zarr, values_of

BACK_ENDS = ["posix", "mpiio", "hdf5"]
# Those of most tests: file_settings knows their names.
FORMATS = [
    "posix",
    "mpiio",
    "hdf5",
    "hdf5-time",
    "hdf5-deflate",
    "netcdf",
    "netcdf-deflate",
    "pnetcdf",
    "zarr",
    "zarr-zstd",
    "adios2",
    "adios2-bp4",
    "adios2-hdf5",
]
MODES = ["async", "sync", "kernel"]  # with servers; without; without and asynchronous
# All ways differ but one: without servers MPI-IO writes synchronously in every mode.
WAYS = [(b, m) for b in BACK_ENDS for m in MODES if (b, m) != ("mpiio", "kernel")]
# All of them, and those whose files `check_file` reads.
ALL_WAYS = [
    *WAYS,
    *((back_end, mode) for back_end in ("netcdf", "pnetcdf") for mode in MODES),
    *((back_end, mode) for back_end in ("zarr", "adios2") for mode in ("async", "sync")),
]
READABLE_WAYS = [way for way in ALL_WAYS if way[0] not in ("netcdf", "adios2")]
STEP = 1_000_000  # what the values of one step differ by from the next


def mode_settings(mode: str, servers: str = "") -> dict[str, Any]:
    """Return the settings of a mode; `servers` are those of "async", unless they are the usual ones."""
    chosen = "none" if mode == "kernel" else servers
    placement = {"placement": {"servers": chosen}} if chosen else {}
    return {"mode": "sync" if mode == "sync" else "async", **placement}


def file_settings(back_end: str, **more: object) -> dict[str, Any]:
    """Return the settings of one file for a back-end: "hdf5-time" is hdf5 with that layout."""
    name, _, variant = back_end.partition("-")
    ways: dict[str, dict[str, object]] = {
        "time": {"layout": "time"},
        "bp4": {"engine": "BP4"},
        "hdf5": {"engine": "HDF5"},
        "zstd": {"compression": "zstd"},
        "deflate": {"compression": "deflate", **({"layout": "time"} if name == "hdf5" else {})},
    }
    return {"backend": name, **(ways[variant] if variant else {}), **more}


def unsealed(manifest: str) -> str:
    """Return it without its own checksum, which stands last: a test may change it."""
    return re.sub(r',\n "xxh3": "\w+"\n}\n$', "\n}\n", manifest)


def extension(back_end: str) -> str:
    return {"hdf5": ".h5", "netcdf": ".nc", "pnetcdf": ".nc", "adios2": ".bp", "zarr": ".zarr"}.get(
        back_end.partition("-")[0], ".dat"
    )


def values_in(back_end: str, path: Path, step: int, name: str) -> npt.NDArray[Any] | None:
    """Return a variable of a step as the format's readers see it; nothing where nobody put it.

    Of files that have a record of every variable in every step that is one of fill values alone.
    """
    if "netcdf" in back_end:
        import netCDF4

        with netCDF4.Dataset(path) as file:
            if name not in file.variables:
                return None
            variable = file[name]
            found = variable[step] if variable.dimensions[:1] == ("time",) else variable[:]
            return None if np.ma.getmaskarray(found).all() else np.asarray(found.data)
    if back_end.startswith("zarr") and has_zarr():
        array = dumped(path)["arrays"].get(name)
        if array is None:
            return None
        found = values_of(array)
        if array["dimensions"][:1] == ["time"]:
            found = np.asarray(found[0 if len(found) == 1 else step])
        return None if (found == fill_of(array)).all() else found
    if back_end in ("hdf5-time", "hdf5-deflate"):
        import h5py

        with h5py.File(path) as file:
            found = file[name][step : step + 1]  # empty behind the last step that somebody put it in
            return None if (found == file[name].fillvalue).all() else found
    with Foreign(path) as files:
        return files.read(name, step) if name in files.variables(step) else None


def dumped_steps(build: Build, path: Path, engine: str) -> list[dict[str, npt.NDArray[Any]]]:
    """Return what ADIOS2 finds in each step of a dataset: variables by name."""
    data = path.parent / "dumped"
    command = [build.dump_adios2, str(path), engine, str(data)]
    told = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert told.returncode == 0, told.stderr
    raw = data.read_bytes()
    data.unlink()
    steps = []
    position = 0
    for variables in json.loads(told.stdout)["steps"]:
        steps.append({})
        for name, about in variables.items():
            dtype = {"double": np.float64, "int64_t": np.int64, "int32_t": np.int32}[about["type"]]
            count = int(np.prod(about["shape"], dtype=np.int64))
            steps[-1][name] = np.frombuffer(raw, dtype, count, position)
            position += about["bytes"]
    return steps


def skip_if_missing(build: Build, back_end: str) -> None:
    name = back_end.partition("-")[0]
    if not build.has_back_end(name):
        raise unittest.SkipTest(f"the back-end {name} was not built")


def values(dtype: npt.DTypeLike, count: int, step: int, first: int = 0) -> npt.NDArray[Any]:
    """Return what the actors put: each value tells its global index and its step."""
    index = np.arange(first, first + count, dtype=np.int64)
    if np.dtype(dtype).itemsize == 1:
        return ((index * 31 + step * 7) % 127).astype(dtype)
    return (index + step * STEP).astype(dtype)


def steps_in(path: Path) -> set[int]:
    """Return the committed steps of a file, none if it is not there."""
    if not path.exists():
        return set()
    with Foreign(path) as files:
        return set(files.steps)


def xxh3(values: npt.NDArray[Any]) -> str:
    """Return what the checksum of these values must be, by the library of XXH3 itself."""
    array = np.ascontiguousarray(values)
    return f"{xxh3_of_bytes(array.astype(array.dtype.newbyteorder('<')).tobytes()):016x}"


def check_sums(described: dict[str, Any], expected: npt.NDArray[Any]) -> int:
    """Check the checksums that a manifest has of a variable; return how many elements have one."""
    elements = 0
    for start, count, checksum in described.get("xxh3", []):
        block = expected[tuple(slice(s, s + c) for s, c in zip(start, count, strict=True))]
        assert xxh3(block) == checksum, f"{described['name']}: block {start} {count}"
        elements += block.size
    return elements


def check_file(path: Path, *, has_all_sums: bool = False) -> set[int]:
    """Check that all a file claims to hold is there and right; return its steps.

    Checksums that the manifest has must be right too, and with `has_all_sums` there for all blocks.
    """
    assert path.exists(), f"{path} is missing; there are {sorted(path.parent.iterdir())}"
    manifest = whole_manifest(Path(f"{path}.json").read_bytes())
    with Foreign(path) as files:
        described = {
            (int(step["step"]), variable["name"]): variable
            for step in manifest_steps(manifest)
            for variable in step["variables"]
        }
        listed = {int(step["step"]) for step in manifest_steps(manifest)}
        assert listed == set(files.steps), f"{path}: manifest and contents differ"
        for step in files.steps:
            for name in files.variables(step):
                shape = files.shape(name, step)
                count = int(np.prod(shape, dtype=np.int64))
                found = files.read(name, step).reshape(-1)
                expected = values(found.dtype, count, step)
                summed = check_sums(described[step, name], expected.reshape(shape))
                assert not has_all_sums or summed == count, f"{path}: {name} of step {step}"
                wrong = np.flatnonzero(found != expected)
                assert wrong.size == 0, (
                    f"{path}: {name} of step {step}: {wrong.size} of {count} values are wrong, "
                    f"the first at {wrong[:1]}: {found[wrong[:1]]} for {expected[wrong[:1]]}"
                )
        return set(files.steps)


def check_whole_or_absent(
    path: Path, *, committed: Collection[int] = (), failed: Collection[int] = ()
) -> set[int]:
    """Check a file after a failure: if it is there it is sound, with these steps and without those."""
    if not path.exists():
        assert not committed, f"{path} is missing, but steps {sorted(committed)} were committed"
        return set()
    steps = check_file(path)
    assert steps >= set(committed), f"{path}: committed {sorted(committed)}, there are {steps}"
    assert not steps & set(failed), f"{path}: steps {sorted(failed)} failed, there are {steps}"
    return steps


def leftovers(*folders: Path) -> list[Path]:
    """Return the temporary files that were left."""
    return [path for folder in folders if folder.exists() for path in folder.glob(".*.iocomp-*")]
