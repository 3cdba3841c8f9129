# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 series with layout = "time": one dataset for each variable, [time, ...]."""

from __future__ import annotations

from typing import Any

import h5py
import numpy as np
import pytest
import xarray
from actors import INVALID_SETTING, STORAGE_FAILURE, Actors, Job
from files import MODES, file_settings, leftovers, mode_settings, skip_if_missing, values
from places import small_disk

STEPS = 4
SCRIPT = """init
open out series
define out u float64 40x50
define out v int32 7
define out group/w int64 scalar
attribute out title waves
attribute out units m of=u
""" + (
    "put out u by=columns\nput out v\n@0 put out group/w\nend_step out\n" * STEPS
)
# Compressed files are written synchronously where there are no servers.
WAYS = [(mode, "none") for mode in MODES] + [("async", "deflate"), ("sync", "deflate")]


def settings(mode: str, compression: str, **more: Any) -> dict[str, Any]:
    file = {"path": "out.h5", "layout": "time", "compression": compression, "chunk": "8 KiB"}
    return {**mode_settings(mode), "files": {"out": file_settings("hdf5", **file, **more)}}


def check(job: Job, compression: str) -> None:
    assert job.status == 0 and not job.failures(), job
    assert not leftovers(job.folder)
    with h5py.File(job.folder / "out.h5") as file:
        assert set(file) == {"u", "v", "group"}
        assert file.attrs["title"] == "waves"
        assert file["u"].attrs["units"] == "m"
        assert file["u"].compression == ("gzip" if compression == "deflate" else None)
        assert file["u"].shuffle == (compression == "deflate")
        assert file["u"].chunks == (1, 20, 50)
        stored = file["u"].id.get_storage_size() / file["u"].nbytes
        assert stored < 0.5 if compression == "deflate" else stored == 1
        for name, shape in {"u": (40, 50), "v": (7,), "group/w": ()}.items():
            found = file[name]
            assert found.shape == (STEPS, *shape) and found.maxshape == (None, *shape)
            for step in range(STEPS):
                expected = values(found.dtype, int(np.prod(shape)), step).reshape(shape)
                np.testing.assert_array_equal(found[step], expected)
    with xarray.open_dataset(job.folder / "out.h5", engine="netcdf4") as dataset:
        assert dataset["u"].shape == (STEPS, 40, 50)
        np.testing.assert_array_equal(dataset["u"][1], values("f8", 2000, 1).reshape(40, 50))


@pytest.mark.parametrize(("mode", "compression"), WAYS)
def test_each_variable_is_one_dataset_that_all_can_read(
    actors: Actors, mode: str, compression: str
) -> None:
    skip_if_missing(actors.build, "hdf5")
    written = actors.play(
        SCRIPT + "close out\n", ranks=4, settings=settings(mode, compression), seconds=60
    )
    check(written, compression)
    read = actors.play(
        "init\nread out\n",
        ranks=3,
        settings=settings("sync", "none"),
        folder=written.folder,
    )
    assert read.status == 0 and not read.failures(), read
    for entry in read.calls("read"):
        assert entry["steps"] == list(range(STEPS)) and entry["right"], entry


@pytest.mark.parametrize(("mode", "compression"), WAYS)
def test_a_failed_step_is_absent_and_the_others_are_whole(
    actors: Actors, mode: str, compression: str
) -> None:
    skip_if_missing(actors.build, "hdf5")
    script = "init\nopen out series\ndefine out u float64 40x50\n"
    script += "put out u\nend_step out\nput out u\nput out u\nend_step out\n"
    script += "put out u by=columns\nend_step out\nclose out\nread out\n"
    job = actors.play(script, ranks=4, settings=settings(mode, compression), seconds=60)
    assert job.failures(), job
    for entry in job.calls("read"):
        assert entry["steps"] == [0, 2] and entry["right"], job
    with h5py.File(job.folder / "out.h5") as file:
        assert file["u"].shape == (3, 40, 50)
        for step in (0, 2):
            np.testing.assert_array_equal(file["u"][step].ravel(), values("f8", 2000, step))


@pytest.mark.parametrize(
    ("more", "story"),
    [
        ({"backend": "posix"}, "the back-end hdf5 has it, posix has not"),
        ({"kind": "checkpoint"}, "has one step in each file"),
        ({"layout": "steps", "compression": "deflate"}, "only with the back-end netcdf"),
    ],
)
def test_what_makes_no_sense_is_refused(
    actors: Actors, more: dict[str, str], story: str
) -> None:
    skip_if_missing(actors.build, "hdf5")
    chosen = settings("sync", "none")
    chosen["files"]["out"] |= more
    job = actors.play("init\nopen out series\n", ranks=2, settings=chosen)
    assert [entry["code"] for entry in job.calls("open")] == [INVALID_SETTING] * 2, job
    assert all(story in entry["story"] for entry in job.calls("open")), job


def test_definitions_are_final_after_the_first_step(actors: Actors) -> None:
    skip_if_missing(actors.build, "hdf5")
    script = "init\nopen out series\ndefine out u int64 8\nput out u\nend_step out\n"
    script += "set_shape out u 9\nclose out\n"
    job = actors.play(script, ranks=2, settings=settings("sync", "none"))
    assert all(entry["code"] != 0 for entry in job.calls("set_shape")), job


# The writers: servers are ranks 2 and 3; a file of the kernel transport is not compressed.
WRITERS = [("async", "none", 2), ("async", "none", 3), ("async", "deflate", 2)]
WRITERS += [("async", "deflate", 3), ("sync", "none", 0), ("sync", "none", 2)]
WRITERS += [("sync", "deflate", 0), ("sync", "deflate", 2), ("kernel", "none", 1)]
LARGE = "init\nopen out series\ndefine out u float64 400x500\n"
BY_COLUMNS = "put out u by=columns\nend_step out\n"


def step_of(mode: str) -> str:
    """Return a step in which each writer writes: of short runs, one rank may write all."""
    return "put out u by=rows\nend_step out\n" if mode == "kernel" else BY_COLUMNS


@pytest.mark.parametrize(("mode", "compression", "writer"), WRITERS)
def test_a_write_that_fails_once_costs_one_step(
    actors: Actors, mode: str, compression: str, writer: int
) -> None:
    skip_if_missing(actors.build, "hdf5")
    script = f"@{writer} fault pwrite EIO path=out.h5 times=1\n" + LARGE
    step = step_of(mode)
    script += f"{step}wait_step out 0\n{step}wait_step out 1\nclose out\nread out\n"
    job = actors.play(script, ranks=4, settings=settings(mode, compression))
    assert job.status == 0, job
    waits = job.calls("wait_step")
    assert {entry["code"] for entry in waits if entry["step"] == 0} == {STORAGE_FAILURE}, job
    assert all("Input/output error" in e["story"] for e in waits if e["step"] == 0), job
    assert all("out.h5" in entry["story"] for entry in waits if entry["step"] == 0), job
    assert {entry["code"] for entry in waits if entry["step"] == 1} == {0}, job
    for entry in job.calls("read"):
        assert entry["steps"] == [1] and entry["right"], job
    assert not leftovers(job.folder), job
    with h5py.File(job.folder / "out.h5") as file:
        assert not file["u"][0].any()  # as if nobody had put it
        np.testing.assert_array_equal(file["u"][1].ravel(), values("f8", 200000, 1))


@pytest.mark.parametrize(("mode", "compression", "writer"), WRITERS)
def test_a_disk_that_stays_broken_leaves_nobody_waiting(
    actors: Actors, mode: str, compression: str, writer: int
) -> None:
    skip_if_missing(actors.build, "hdf5")
    script = f"@{writer} fault pwrite EIO path=out.h5\n" + LARGE
    script += step_of(mode) * 3 + "wait_step out 0\nwait_step out 2\nclose out\nread out\n"
    job = actors.play(script, ranks=4, settings=settings(mode, compression))
    assert job.status == 0, job
    waits = job.calls("wait_step")
    assert {entry["code"] for entry in waits} == {STORAGE_FAILURE}, job
    assert all("Input/output error" in entry["story"] for entry in waits), job
    assert len(job.calls("close")) == len(job.calls("open")), job
    assert all(entry["code"] != 0 for entry in job.calls("read")), job
    assert not (job.folder / "out.h5").exists() and not leftovers(job.folder), job


@pytest.mark.parametrize(
    ("mode", "compression", "room"),
    [("async", "none", "4m"), ("sync", "none", "4m"), ("kernel", "none", "4m")]
    + [("async", "deflate", "1m"), ("sync", "deflate", "1m")],
)
def test_a_full_disk_costs_steps_and_not_the_file(
    actors: Actors, mode: str, compression: str, room: str
) -> None:
    skip_if_missing(actors.build, "hdf5")
    steps = 8
    script = LARGE + "".join(f"{BY_COLUMNS}wait_step out {step}\n" for step in range(steps))
    with small_disk(actors.folder / "disk", room) as disk:
        plain = "deflate unshuffled" if compression == "deflate" else compression
        chosen = settings(mode, plain)
        chosen["files"]["out"] |= {"path": str(disk / "out.h5")}
        job = actors.play(script + "close out\nread out\n", ranks=4, settings=chosen)
        assert job.status == 0, job
        failed = {entry["step"] for entry in job.failures(call="wait_step")}
        assert 0 not in failed and steps - 1 in failed, job
        for entry in job.failures(call="wait_step"):
            assert "No space left on device" in entry["story"], job
        for entry in job.calls("read"):
            committed = sorted(set(range(steps)) - failed)
            assert entry["steps"] == committed and entry["right"], job
        assert not leftovers(disk), job


@pytest.mark.parametrize(("mode", "writer"), [("async", 3), ("sync", 1)])
def test_compressed_steps_outlive_a_writer_that_can_write_no_more(
    actors: Actors, mode: str, writer: int
) -> None:
    skip_if_missing(actors.build, "hdf5")
    script = f"@{writer} fault pwrite EIO path=out.h5 after=1\n" + LARGE
    script += "".join(f"{BY_COLUMNS}wait_step out {step}\n" for step in range(3))
    job = actors.play(
        script + "close out\nread out\n", ranks=4, settings=settings(mode, "deflate")
    )
    assert job.status == 0, job
    for step, code in enumerate([0, STORAGE_FAILURE, STORAGE_FAILURE]):
        assert {e["code"] for e in job.calls("wait_step", step=step)} == {code}, job
    for entry in job.calls("read"):
        assert entry["steps"] == [0] and entry["right"], job
    with h5py.File(job.folder / "out.h5") as file:
        np.testing.assert_array_equal(file["u"][0].ravel(), values("f8", 200000, 0))
