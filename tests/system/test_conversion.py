# SPDX-License-Identifier: BSD-3-Clause
"""Values that the file has as another type than the program puts: in every format and mode."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from actors import INVALID_ARGUMENT, INVALID_SETTING, Actors, Job
from files import extension, file_settings, mode_settings, skip_if_missing, values

from iocomp import open_files

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
# By rows: long runs. By columns: short ones. Inside a halo, and in another order than the file's.
PUTS = (
    "put out u by=rows\nput out v by=columns\nput out h by=rows halo=1 buffered=yes\n"
    "put out n by=rows\nput out d by=rows\nput out s writer=1\n"
    "@0 put_elements out m map=7,1,3,5\n@1 put_elements out m map=0,2,4,6\nend_step out\n"
)
SCRIPT = (
    "init\nopen out {kind}\n"
    + "".join(f"define out {name} float64 {ROWS}x{COLUMNS}\n" for name in "uvh")
    + f"define out n int32 {ROWS}x{COLUMNS}\n"
    + f"define out d int32 {ROWS}x{COLUMNS} file=float64\n"
    + "define out m float64 8\ndefine out s float64 scalar\n"
    + PUTS * STEPS
    + "close out\n"
)


def play(actors: Actors, script: str, back_end: str, mode: str, **more: object) -> Job:
    skip_if_missing(actors.build, back_end)
    settings: dict[str, Any] = mode_settings(mode)
    if "memory" in more:
        settings["client"] = {"buffer_memory": more.pop("memory")}
    if "kind" in more:
        settings["transport"] = {"kind": more.pop("kind")}
    chosen = {"path": f"out{extension(back_end)}", **more}
    files = {"out": file_settings(back_end, **chosen)}
    return actors.play(script, ranks=4, settings={**settings, "files": files})


def done(job: Job) -> Path:
    assert job.status == 0 and not job.failures(), job
    return next(path for path in job.folder.glob("out.*") if path.suffix != ".json")


def check(path: Path, fields: type[np.floating[Any]]) -> None:
    with open_files(path) as files:
        for step in range(STEPS):
            for name in "uvhmnds":
                shape: tuple[int, ...] = {"m": (8,), "s": ()}.get(name, (ROWS, COLUMNS))
                number = int(np.prod(shape, dtype=int))
                put = values({"n": "i4", "d": "i4"}.get(name, "f8"), number, step)
                kept = {"n": np.int32, "d": np.float64, "s": np.float64}.get(name, fields)
                found = files.read(name, step)
                assert found.dtype == kept, name
                np.testing.assert_array_equal(found, put.reshape(shape), name)


@pytest.mark.parametrize("back_end", BACK_ENDS)
@pytest.mark.parametrize("mode", ["async", "sync", "kernel"])
def test_values_are_converted_in_every_format_and_mode(
    actors: Actors, back_end: str, mode: str
) -> None:
    if mode == "kernel" and back_end in NOT_OF_KERNEL:
        pytest.skip("a library writes it: the kernel does not")
    if back_end == "adios2":
        pytest.importorskip("adios2")
    only = {"variables": {"d": {"type": "program"}}}
    path = done(play(actors, SCRIPT.format(kind="series"), back_end, mode, type="float32", **only))
    check(path, np.float32)


# Blocks that are larger than the memory for copies travel in parts.
@pytest.mark.parametrize("memory", ["1 GiB", "8 KiB"])
@pytest.mark.parametrize("kind", ["message", "shared"])
@pytest.mark.parametrize("back_end", ["posix", "hdf5", "netcdf"])
def test_servers_read_no_values_of_another_type_in_place(
    actors: Actors, back_end: str, kind: str, memory: str
) -> None:
    more = {"kind": kind, "memory": memory, "variables": {"d": {"type": "program"}}}
    script = SCRIPT.format(kind="series")
    check(done(play(actors, script, back_end, "async", type="float32", **more)), np.float32)


@pytest.mark.parametrize("mode", ["async", "sync", "kernel"])
def test_a_checkpoint_keeps_what_is_put_and_sums_what_is_written(
    actors: Actors, mode: str
) -> None:
    job = play(actors, SCRIPT.format(kind="checkpoint"), "hdf5", mode, type="float32")
    done(job)
    path = job.folder / "out.h5"
    check(path, np.float64)
    with open_files(path) as files:  # the checksums are those of float64
        for step in files.steps:
            single = files.read("u", step, dtype="f4")
            np.testing.assert_array_equal(single, files.read("u", step).astype("f4"))
    told = subprocess.run([actors.build.command, "verify", str(path)], capture_output=True)
    assert told.returncode == 0, told


def packed(attribute: str, number: float) -> str:
    return f"attribute out {attribute} bytes={struct.pack('<d', number).hex()} type=float64 of=t\n"


PACKED = (
    f"init\nopen out series\ndefine out t float64 {ROWS}x{COLUMNS} file=int32\n"
    + packed("scale_factor", 0.25)
    + packed("add_offset", 100.0)
    + "put out t by=rows\nend_step out\nput out t by=columns\nend_step out\nclose out\n"
)


@pytest.mark.parametrize("back_end", ["posix", "hdf5", "netcdf", "pnetcdf", "zarr"])
@pytest.mark.parametrize("mode", ["async", "sync", "kernel"])
def test_numbers_are_packed_as_cf_has_it(actors: Actors, back_end: str, mode: str) -> None:
    if mode == "kernel" and back_end in NOT_OF_KERNEL:
        pytest.skip("a library writes it: the kernel does not")
    path = done(play(actors, PACKED, back_end, mode))
    with open_files(path) as files:
        for step in range(2):
            put = values("f8", ROWS * COLUMNS, step).reshape(ROWS, COLUMNS)
            np.testing.assert_array_equal(files.read("t", step), (put - 100) * 4)
    if back_end == "netcdf":
        import xarray

        with xarray.open_dataset(path) as found:
            np.testing.assert_array_equal(found["t"][1], put)


def test_a_value_that_the_file_cannot_hold_is_named_and_costs_nothing_else(
    actors: Actors,
) -> None:
    """Index 32768 of the values is the first that int16 cannot hold: row 1, and column 32767 + 1."""
    script = (
        "init\nopen out series\ndefine out u float64 2x40000 file=int16\n"
        "define out w float64 2x40000\nput out u start=0x0 count=1x40000 writer=0\n"
        "put out u start=0x0 count=1x32768 writer=0\nput out w start=0x0 count=2x40000 writer=0\n"
        "end_step out\nclose out\n"
    )
    job = play(actors, script, "posix", "kernel")
    [failure] = job.failures()
    assert failure["code"] == INVALID_ARGUMENT
    assert "the element [0, 32768] is 32768, which int16 cannot hold" in failure["story"]
    [path] = job.folder.glob("out.dat")
    with open_files(path) as files:
        np.testing.assert_array_equal(files.read("u", 0)[0, :32768], np.arange(32768))
        assert not files.read("u", 0)[0, 32768:].any()


@pytest.mark.parametrize(
    ("line", "story"),
    [
        ("define out c complex64 8 file=float32", "no values of complex64 are converted"),
        ("attribute out scale_factor bytes=0000000000000000 type=float64 of=t", "other than 0"),
        ("attribute out add_offset bytes=0000000000000040 type=float64 of=t", "must be set in the"),
    ],
)
def test_what_is_not_converted_is_refused(actors: Actors, line: str, story: str) -> None:
    at = PACKED.index("attribute out add") if "scale" in line else PACKED.index("put out t by=col")
    script = f"{PACKED[:at]}{line}\n{PACKED[at:]}"
    failures = play(actors, script, "posix", "sync").failures()
    assert failures and all(story in failure["story"] for failure in failures), failures


def test_a_type_by_name_that_cannot_be_is_an_error(actors: Actors) -> None:
    more = {"variables": {"n": {"type": "float32"}}}
    job = play(actors, SCRIPT.format(kind="series"), "posix", "sync", **more)
    assert {failure["code"] for failure in job.failures()} >= {INVALID_SETTING}
    assert "its elements are int32" in job.failures()[0]["story"]
