"""HDF5 series with layout = "time": one dataset for each variable, [time, ...]."""

from __future__ import annotations

from typing import Any

import h5py
import numpy as np
import pytest
import xarray
from actors import INVALID_SETTING, STORAGE_FAILURE, Actors, Job
from files import MODES, file_settings, leftovers, mode_settings, skip_if_missing, values

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
COMPRESSIONS = ["none", "deflate"]


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


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("mode", MODES)
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


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("mode", MODES)
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
        ({"layout": "steps", "compression": "deflate"}, "only with layout"),
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


@pytest.mark.parametrize("mode", ["async", "sync"])
def test_a_write_that_fails_once_costs_one_step(actors: Actors, mode: str) -> None:
    skip_if_missing(actors.build, "hdf5")
    script = "@3 fault pwrite EIO path=out.h5 times=1\ninit\nopen out series\n"
    script += "define out u float64 400x500\n"
    script += "put out u by=columns\nend_step out\nwait_step out 0\n"
    script += "put out u by=columns\nend_step out\nwait_step out 1\nclose out\nread out\n"
    job = actors.play(script, ranks=4, settings=settings(mode, "none"))
    assert job.status == 0, job
    waits = job.calls("wait_step")
    assert {entry["code"] for entry in waits if entry["step"] == 0} == {STORAGE_FAILURE}, job
    assert {entry["code"] for entry in waits if entry["step"] == 1} == {0}, job
    for entry in job.calls("read"):
        assert entry["steps"] == [1] and entry["right"], job
    assert not leftovers(job.folder), job
    with h5py.File(job.folder / "out.h5") as file:
        assert not file["u"][0].any()  # as if nobody had put it
