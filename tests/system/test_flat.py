# SPDX-License-Identifier: BSD-3-Clause
"""HDF5 files of one step with layout = "flat": the datasets lie at the root."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from actors import INVALID_SETTING, UNSUPPORTED, Actors, Job
from files import MODES, file_settings, leftovers, mode_settings, skip_if_missing, values

from iocomp import open_files

DEFINITIONS = """define out u float64 40x50
define out group/w int32 7
define out empty int16 0
define out scalar int64 scalar
define out names char 3x8 seed=3
attribute out title waves
attribute out units m of=u
"""
PUTS = "put out u by=columns\nput out group/w\n@0 put out scalar\nput out names\nput out empty\n"
SHAPES = {"u": (40, 50), "group/w": (7,), "scalar": ()}


def settings(mode: str, **more: Any) -> dict[str, Any]:
    file = file_settings("hdf5", layout="flat", **more)
    return {**mode_settings(mode, "2 per node"), "files": {"out": file}}


def check(path: Path, step: int = 0) -> None:
    with h5py.File(path) as file:
        assert set(file) == {"u", "group", "empty", "scalar", "names"}
        assert file.attrs["title"] == "waves" and file["u"].attrs["units"] == "m"
        for name, shape in SHAPES.items():
            found = file[name]
            assert found.shape == shape and found.chunks is None
            expected = values(found.dtype, int(np.prod(shape)), step).reshape(shape)
            np.testing.assert_array_equal(found[...], expected)
        assert file["names"].dtype == "S8" and file["names"].shape == (3,)
        assert file["empty"].shape == (0,)


def read_again(actors: Actors, job: Job, mode: str, steps: list[int], **more: object) -> None:
    """Read it by iocomp's own readers: C and Python."""
    read = actors.play(
        "init\nread out seeds=names:3\n",
        ranks=4,
        settings=settings(mode, path="out.h5", **more),
        folder=job.folder,
    )
    assert read.status == 0 and not read.failures(), read
    for entry in read.calls("read"):
        assert entry["steps"] == steps and entry["right"], entry


@pytest.mark.parametrize("mode", MODES)
def test_datasets_of_a_series_of_one_step_lie_at_the_root(actors: Actors, mode: str) -> None:
    skip_if_missing(actors.build, "hdf5")
    script = "init\nopen out series\n" + DEFINITIONS + PUTS + "end_step out\n"
    job = actors.play(
        script + "wait_step out 0\nattribute out late yes\nclose out\n",
        ranks=4,
        settings=settings(mode, path="out.h5"),
    )
    assert job.status == 0 and not job.failures(), job
    assert not leftovers(job.folder)
    path = job.folder / "out.h5"
    check(path)
    with h5py.File(path) as file:
        assert file.attrs["late"] == "yes"
    for use_manifest in (True, False):
        with open_files(path, use_manifest=use_manifest) as files:
            assert list(files.steps) == [0]
            np.testing.assert_array_equal(files.read("u", 0), values("f8", 2000, 0).reshape(40, 50))
            assert files.read("group/w", 0).shape == (7,)
    read_again(actors, job, mode, [0])
    for words in (["show", path], ["ls", path], ["verify", path]):
        done = subprocess.run(
            [actors.build.command, *map(str, words)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert words[0] != "show" or "group/w" in done.stdout


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", ["checkpoint", "series"])
def test_so_do_those_of_checkpoints_and_files_of_each_step(
    actors: Actors, mode: str, kind: str
) -> None:
    skip_if_missing(actors.build, "hdf5")
    more = {"keep": 2} if kind == "checkpoint" else {"kind": "file_per_step"}
    job = actors.play(
        f"init\nopen out {kind}\n" + DEFINITIONS + (PUTS + "end_step out\n") * 3 + "close out\n",
        ranks=4,
        settings=settings(mode, path="out.h5", **more),
    )
    assert job.status == 0 and not job.failures(), job
    found = sorted(job.folder.glob("out.*.h5"))
    kept = [1, 2] if kind == "checkpoint" else [0, 1, 2]
    assert len(found) == len(kept), found
    for path, step in zip(found, kept, strict=True):
        check(path, step)
    read_again(actors, job, mode, kept, **more)


@pytest.mark.parametrize("mode", MODES)
def test_a_second_step_is_refused_and_the_first_one_stays(actors: Actors, mode: str) -> None:
    skip_if_missing(actors.build, "hdf5")
    script = "init\nopen out series\n" + DEFINITIONS + PUTS + "end_step out\n"
    job = actors.play(
        script + "put out u\nend_step out\nclose out\n",
        ranks=4,
        settings=settings(mode, path="out.h5"),
    )
    assert job.status == 0, job
    refused = [entry for entry in job.failures() if entry["call"] in ("put", "end_step")]
    assert len(refused) == len(job.failures()) and {e["call"] for e in refused} == {
        "put",
        "end_step",
    }
    for entry in refused:
        assert entry["code"] == UNSUPPORTED and "has one step" in entry["story"], entry
        assert "file_per_step" in entry["story"], entry
    check(job.folder / "out.h5")
    manifest = json.loads((job.folder / "out.h5.json").read_text())
    assert manifest["format"] == "hdf5"


@pytest.mark.parametrize(
    ("more", "code", "story"),
    [
        ({"backend": "posix"}, INVALID_SETTING, "the back-end hdf5 has it, posix has not"),
        ({"backend": "netcdf"}, INVALID_SETTING, "always lie at the root"),
        ({"compression": "deflate"}, INVALID_SETTING, "only with the back-end netcdf"),
    ],
)
def test_what_makes_no_sense_is_refused(
    actors: Actors, more: dict[str, str], code: int, story: str
) -> None:
    skip_if_missing(actors.build, "hdf5")
    chosen = settings("sync", path="out.h5")
    chosen["files"]["out"] |= more
    job = actors.play("init\nopen out series\n", ranks=2, settings=chosen)
    assert [entry["code"] for entry in job.calls("open")] == [code] * 2, job
    assert all(story in entry["story"] for entry in job.calls("open")), job


def test_nobody_goes_on_with_it(actors: Actors) -> None:
    skip_if_missing(actors.build, "hdf5")
    script = "init\nopen out series\n" + DEFINITIONS + PUTS + "end_step out\nclose out\n"
    first = actors.play(script, ranks=2, settings=settings("sync", path="out.h5"))
    assert first.status == 0 and not first.failures(), first
    for layout in ("flat", "steps", "time"):
        chosen = settings("sync", path="out.h5", existing="continue")
        chosen["files"]["out"]["layout"] = layout
        again = actors.play(script, ranks=2, settings=chosen, folder=first.folder)
        assert again.failures(), (layout, again)
        assert "cannot continue" in str(again.failures()) or "cannot go on" in str(again.failures())
        check(first.folder / "out.h5")


def test_a_group_that_is_called_by_a_number_is_refused(actors: Actors) -> None:
    skip_if_missing(actors.build, "hdf5")
    script = "init\nopen out series\ndefine out 0/u int64 8\n"
    job = actors.play(script, ranks=2, settings=settings("sync", path="out.h5"))
    for entry in job.calls("define"):
        assert entry["code"] == UNSUPPORTED and "for a step" in entry["story"], entry
