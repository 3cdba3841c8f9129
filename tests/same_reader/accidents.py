# SPDX-License-Identifier: BSD-3-Clause
"""Accidents of a file after it was written: tools of its format, and the loss of its manifest."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

import numpy as np


def _run(words: list[str]) -> str:
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    return "" if done.returncode == 0 else f"{words}: {done.stderr}"


def _is_hdf5(path: Path) -> bool:
    return path.is_file() and path.read_bytes()[:8] == b"\x89HDF\r\n\x1a\n"


def repack(chance: random.Random, path: Path, backend: str, keeps_steps: bool) -> str:
    """Let the format's own tool write a file anew. Return why it could not, if it could not."""
    new = path.with_name(f"new-{path.name}")
    if backend == "hdf5":
        choices = [[], ["-f", "GZIP=1"], ["-f", "SHUF", "-f", "GZIP=6"], ["-l", "CONTI"]]
        options = chance.choice(
            choices[:3] if keeps_steps else choices
        )  # nothing grows in the last
        failure = _run(["h5repack", *options, str(path), str(new)])
    else:
        kind = chance.choice(
            ["netCDF-4", "netCDF-4 classic model", "cdf5", "64-bit offset", "classic", "deflate"]
        )
        if _has_clash(path):
            kind = chance.choice(["cdf5", "64-bit offset", "classic"])
        options = ["-d", "1", "-k", "netCDF-4"] if kind == "deflate" else ["-k", kind]
        failure = _run(["nccopy", *options, str(path), str(new)])
    if failure:  # nccopy: a kind that has no such type
        new.unlink(missing_ok=True)
        return failure
    os.replace(new, path)
    return ""


def _has_clash(path: Path) -> bool:
    """Return True if a variable has the name of a dimension that is not its own.

    nccopy 4.9.0 writes such a variable of CDF over the dimension, where it makes NetCDF-4 of it.
    """
    import netCDF4

    with netCDF4.Dataset(path) as file:
        return any(
            name in file.dimensions and variable.dimensions != (name,)
            for name, variable in file.variables.items()
        )


def extend(chance: random.Random, path: Path, backend: str) -> None:
    """Let the format's own library add attributes, and more, to a file."""
    if backend == "hdf5":
        import h5py

        with h5py.File(path, "a") as file:
            file.attrs["added"] = np.arange(chance.choice([1, 100, 5000]))
            if chance.random() < 0.5:
                file.create_dataset("added_by_h5py", data=np.arange(10.0))
            names: list[str] = []
            file.visit(names.append)
            for name in chance.sample(names, min(2, len(names))):
                file[name].attrs["added"] = "a text"
        return
    import netCDF4

    with netCDF4.Dataset(path, "a") as file:
        count = chance.choice([1, 1000, 250_000]) if not _is_hdf5(path) else 1000
        file.setncattr("added", np.arange(float(count)))
        if chance.random() < 0.5:
            file.createDimension("added_dimension", 7)
            variable = file.createVariable("added_variable", "f4", ("added_dimension",))
            variable[:] = np.arange(7)
        for name in chance.sample(sorted(file.variables), min(2, len(file.variables))):
            file[name].setncattr("added", "a text" * chance.choice([1, 200]))


def files_of(path: Path) -> list[Path]:
    """Return the files of a plan, without their manifests."""
    stem, ending = path.stem, path.suffix
    own = [each for each in path.parent.iterdir() if each.suffix == ending]
    return sorted(e for e in own if e == path or e.name.startswith(f"{stem}."))


def happen(
    chance: random.Random, accidents: list[str], path: Path, backend: str, command: str
) -> list[str]:
    """Let all of it happen to all files of a plan. Return what did not."""
    failed = []
    for each in files_of(path):
        for accident in accidents:
            failure = ""
            if accident == "repack":
                failure = repack(
                    chance, each, backend, {"lose", "recover"} & set(accidents) != set()
                )
            elif accident == "extend":
                extend(chance, each, backend)
            elif accident in ("lose", "recover"):
                Path(f"{each}.json").unlink()
            if failure:
                failed.append(f"{accident} of {each.name}: {failure}")
    if "recover" in accidents:
        for each in files_of(path):
            failure = _run([command, "recover", str(each)])
            assert not failure, failure
    return failed


def clear(folder: Path) -> None:
    """Remove all that is in a folder."""
    for each in folder.iterdir():
        shutil.rmtree(each) if each.is_dir() else each.unlink()
