# SPDX-License-Identifier: BSD-3-Clause
"""Values rounded to some bits of their mantissa: in every format and mode, told by an attribute."""

from __future__ import annotations

import json
import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from actors import INVALID_SETTING, Actors, Job
from files import extension, file_settings, mode_settings, skip_if_missing, values

from iocomp import open_files

ATTRIBUTE = "_QuantizeBitRoundNumberOfSignificantBits"
STEPS = 2
ROWS, COLUMNS = 64, 300
BACK_ENDS = [
    "posix",
    "mpiio",
    "hdf5",
    "hdf5-time",
    "hdf5-deflate",
    "netcdf",
    "pnetcdf",
    "zarr",
    "zarr-zstd",
    "adios2",
]
NOT_OF_KERNEL = ("mpiio", "hdf5-deflate", "zarr", "zarr-zstd", "adios2")
# By rows: dense, and straight from the rank's memory otherwise. By columns: short runs.
SCRIPT = (
    f"init\nopen out {{kind}}\ndefine out u float64 {ROWS}x{COLUMNS}\n"
    f"define out v float64 {ROWS}x{COLUMNS}\ndefine out n int32 {ROWS}x{COLUMNS}\n"
    "define out s float64 scalar\n" + "put out u by=rows\nput out v by=columns\nput out n by=rows\n"
    "put out s writer=1\nend_step out\n" * STEPS + "close out\n"
)


def rounded(numbers: npt.NDArray[Any], keep_bits: int) -> npt.NDArray[Any]:
    """Return what xbitinfo's formula makes of them."""
    bits = np.dtype(f"u{numbers.itemsize}").type
    dropped = bits({4: 23, 8: 52}[numbers.itemsize] - keep_bits)
    found = numbers.view(bits).copy()
    found += ((found >> dropped) & bits(1)) + ((bits(1) << (dropped - bits(1))) - bits(1))
    return ((found >> dropped) << dropped).view(numbers.dtype)


def expected(name: str, step: int) -> npt.NDArray[Any]:
    dtype = {"u": "f8", "v": "f8", "n": "i4"}[name]
    put = values(dtype, ROWS * COLUMNS, step)
    kept = {"u": 7, "v": 9}.get(name)
    return (put if kept is None else rounded(put, kept)).reshape(ROWS, COLUMNS)


def play(actors: Actors, back_end: str, mode: str, kind: str = "series", **more: object) -> Job:
    skip_if_missing(actors.build, back_end)
    path = f"out{extension(back_end)}"
    variables = more.pop("variables", {"v": {"round": "9 bits"}})
    chosen = {"path": path, "round": "7 bits", "variables": variables, **more}
    job = actors.play(
        SCRIPT.format(kind=kind),
        ranks=4,
        settings={
            **mode_settings(mode),
            "files": {"out": file_settings(back_end, **chosen)},
        },
    )
    return job


def check(path: Path) -> None:
    with open_files(path) as files:
        for step in range(STEPS):
            for name in "uvn":
                np.testing.assert_array_equal(files.read(name, step), expected(name, step))
            assert files.read("s", step) == values("f8", 1, step)[0]  # a scalar stays
        assert files.attributes("u")[ATTRIBUTE] == 7
        assert files.attributes("v")[ATTRIBUTE] == 9
        assert ATTRIBUTE not in files.attributes("n")
        assert ATTRIBUTE not in files.attributes("s")


@pytest.mark.parametrize("back_end", BACK_ENDS)
@pytest.mark.parametrize("mode", ["async", "sync", "kernel"])
def test_values_are_rounded_in_every_format_and_mode(
    actors: Actors, back_end: str, mode: str
) -> None:
    if mode == "kernel" and back_end in NOT_OF_KERNEL:
        pytest.skip("a library writes it: the kernel does not")
    if back_end == "adios2":
        pytest.importorskip("adios2")
    job = play(actors, back_end, mode)
    assert job.status == 0 and not job.failures(), job
    check(job.folder / f"out{extension(back_end)}")


@pytest.mark.parametrize("back_end", ["posix", "hdf5", "pnetcdf"])
@pytest.mark.parametrize("mode", ["async", "sync", "kernel"])
def test_checksums_are_of_what_is_written(actors: Actors, back_end: str, mode: str) -> None:
    job = play(actors, back_end, mode, "checkpoint")
    assert job.status == 0 and not job.failures(), job
    path = job.folder / f"out{extension(back_end)}"
    check(path)
    told = subprocess.run(
        [actors.build.command, "verify", str(path), "--json"], capture_output=True, text=True
    )
    assert told.returncode == 0, told.stdout + told.stderr
    said = json.loads(told.stdout)
    assert said["damaged"] == [] and said["elements_without_checksum"] == 0


@pytest.mark.parametrize("kind", ["message", "shared"])
def test_pieces_that_servers_read_in_place_are_copied(actors: Actors, kind: str) -> None:
    skip_if_missing(actors.build, "posix")
    chosen = file_settings("posix", path="out.dat", round="7 bits", variables={"v": {"round": "9 bits"}})
    job = actors.play(
        SCRIPT.format(kind="series"),
        ranks=4,
        settings={"transport": {"kind": kind}, "files": {"out": chosen}},
    )
    assert job.status == 0 and not job.failures(), job
    check(job.folder / "out.dat")


def test_netcdf_tells_the_bits_as_its_own_quantize_does(actors: Actors) -> None:
    import netCDF4

    job = play(actors, "netcdf", "async", compression="deflate")
    assert job.status == 0 and not job.failures(), job
    path = job.folder / "out.nc"
    with netCDF4.Dataset(path) as file:
        assert file["u"].getncattr(ATTRIBUTE) == 7
        assert file["u"].getncattr(ATTRIBUTE).dtype == np.int32
        for step in range(STEPS):
            np.testing.assert_array_equal(file["v"][step].data, expected("v", step))
    dumped = subprocess.run(["ncdump", "-h", str(path)], capture_output=True, text=True)
    if dumped.returncode == 0:
        assert f"u:{ATTRIBUTE} = 7 ;" in dumped.stdout


@pytest.mark.parametrize("mode", ["async", "sync", "kernel"])
@pytest.mark.parametrize("back_end", ["posix", "hdf5", "pnetcdf"])
def test_fill_values_and_holes_stay(actors: Actors, back_end: str, mode: str) -> None:
    """-9999 has 14 significant bits; nobody puts the second half."""
    skip_if_missing(actors.build, back_end)
    path = f"out{extension(back_end)}"
    job = actors.play(
        f"init\nopen out series\ndefine out u float64 {ROWS}x{COLUMNS}\n"
        f"fill out u bytes={struct.pack('<d', -9999).hex()}\n"
        f"@0 put out u start=0x0 count={ROWS // 2}x{COLUMNS}\nend_step out\nclose out\n",
        ranks=2,
        settings={
            **mode_settings(mode),
            "files": {"out": file_settings(back_end, path=path, round="7 bits")},
        },
    )
    assert job.status == 0 and not job.failures(), job
    with open_files(job.folder / path) as files:
        found = files.read("u", 0)
    np.testing.assert_array_equal(found[: ROWS // 2], expected("u", 0)[: ROWS // 2])
    assert (found[ROWS // 2 :] == -9999).all()


def test_what_cannot_be_rounded_is_refused_by_name(actors: Actors) -> None:
    job = play(actors, "posix", "sync", variables={"n": {"round": 0.01}})
    told = [entry for entry in job.calls("define") if entry["code"] == INVALID_SETTING]
    assert len(told) == 4, job
    assert all('"n": its elements are int32' in entry["story"] for entry in told), told
