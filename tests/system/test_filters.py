# SPDX-License-Identifier: BSD-3-Clause
"""Filters that HDF5 finds in plug-ins: of tests/filters, and of the Python package hdf5plugin where it is there."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from actors import INVALID_SETTING, UNSUPPORTED, Actors, Job
from files import extension, mode_settings, skip_if_missing, values

from iocomp import open_files

LINKED, ASKS = 300, 301  # with HDF5; which HDF5 it is for
STEPS = 3
ROWS, COLUMNS = 64, 1000


def play(actors: Actors, back_end: str, mode: str, compression: str, lines: str, **more: object) -> Job:
    skip_if_missing(actors.build, back_end)
    folder = more.pop("folder", None)
    element = str(more.pop("element", "float64"))
    layout = {"layout": "time"} if back_end == "hdf5" else {}
    file = {"backend": back_end, "path": f"out{extension(back_end)}", "chunk": "4 KiB", **layout}
    settings = mode_settings(mode) | {"files": {"out": {**file, "compression": compression, **more}}}
    script = f"init\nopen out series\ndefine out u {element} {ROWS}x{COLUMNS}\n{lines}close out\n"
    return actors.play(script, ranks=3, settings=settings, folder=folder)


def path_of(job: Job, back_end: str) -> Path:
    return job.folder / f"out{extension(back_end)}"


def check(job: Job, back_end: str, steps: int = STEPS, element: str = "f8") -> None:
    assert job.status == 0 and not job.failures(), job
    with open_files(path_of(job, back_end)) as files:
        assert list(files.steps) == list(range(steps)), job
        for step in files.steps:
            put = values(element, ROWS * COLUMNS, step).reshape(ROWS, COLUMNS)
            np.testing.assert_array_equal(files.read("u", step), put)


@pytest.mark.parametrize("number", [LINKED, ASKS])
@pytest.mark.parametrize("mode", ["async", "kernel", "sync"])
@pytest.mark.parametrize("back_end", ["hdf5", "netcdf"])
def test_chunks_are_what_the_filter_makes_of_them(
    actors: Actors, back_end: str, mode: str, number: int
) -> None:
    job = play(actors, back_end, mode, f"{number},7", "put out u by=columns\nend_step out\n" * STEPS)
    check(job, back_end)
    h5py = pytest.importorskip("h5py")
    with h5py.File(path_of(job, back_end)) as file:
        dataset = file["u"].id
        code, _, parameters, _ = dataset.get_create_plist().get_filter(0)
        assert (code, parameters) == (number, (7, 8)), "the filter has added the size of an element"
        chunks = [dataset.get_chunk_info(i) for i in range(dataset.get_num_chunks())]
        assert {chunk.filter_mask for chunk in chunks} == {0, 1}, "it leaves some chunks as they are"
        put = values("f8", ROWS * COLUMNS, 0).tobytes()
        for chunk in chunks[:8]:
            first = (chunk.chunk_offset[1] * COLUMNS + chunk.chunk_offset[2]) * 8
            raw = dataset.read_direct_chunk(chunk.chunk_offset)[1]
            whole = np.frombuffer(put[first : first + len(raw)], np.uint8)
            key = 0 if chunk.filter_mask else 7 + 16 * 8
            np.testing.assert_array_equal(np.frombuffer(raw, np.uint8) ^ key, whole)


@pytest.mark.parametrize("mode", ["async", "kernel"])
@pytest.mark.parametrize("back_end", ["hdf5", "netcdf"])
def test_a_job_goes_on_with_the_same_filter_alone(actors: Actors, back_end: str, mode: str) -> None:
    lines = "put out u\nend_step out\n"
    first = play(actors, back_end, mode, f"{LINKED},7", lines * 2)
    going = {"existing": "continue", "folder": first.folder}
    check(play(actors, back_end, mode, f"{LINKED},7", lines, **going), back_end, 3)
    other = play(actors, back_end, mode, f"{LINKED},9", lines, **going)
    assert {entry["code"] for entry in other.failures()} == {UNSUPPORTED}, other
    assert "or compression" in str(other.failures()[0]), other
    with open_files(path_of(first, back_end)) as files:
        assert list(files.steps) == [0, 1, 2]


def test_each_variable_has_its_own(actors: Actors) -> None:
    """HDF5 has a file in memory for u, and another one for v."""
    lines = "".join(f"define out {name} float64 {ROWS}x{COLUMNS}\n" for name in "vw")
    lines += "put out u\nput out v\nput out w\nend_step out\n" * STEPS
    other = {"v": {"compression": f"{ASKS},3"}, "w": {"compression": "zstd"}}
    job = play(actors, "hdf5", "kernel", f"{LINKED},7", lines, variables=other)
    check(job, "hdf5")
    with open_files(path_of(job, "hdf5")) as files:
        for step in files.steps:
            for name in "vw":
                np.testing.assert_array_equal(files.read(name, step), files.read("u", step))


@pytest.mark.parametrize("mode", ["async", "kernel"])
def test_what_no_filter_takes_is_refused_on_all_ranks(actors: Actors, mode: str) -> None:
    lines = "put out u\nend_step out\n"
    job = play(actors, "hdf5", mode, "305", lines)
    refused = job.failures(call="open")
    assert {entry["code"] for entry in refused} == {INVALID_SETTING}, job
    assert "HDF5_PLUGIN_PATH" in str(refused[0]), job
    job = play(actors, "hdf5", mode, str(LINKED), lines, element="int16")
    refused = job.failures(call="define")
    assert [entry["code"] for entry in refused] == [INVALID_SETTING] * len(refused), job
    assert refused and "the filter cannot take it" in str(refused[0]), job


def test_a_filter_that_readers_do_not_find_is_named(actors: Actors) -> None:
    job = play(actors, "hdf5", "kernel", f"{LINKED},7", "put out u\nend_step out\n")
    check(job, "hdf5", 1)
    words = [actors.build.command, "show", str(path_of(job, "hdf5")), "--variable", "u"]
    environment = {name: value for name, value in os.environ.items() if name != "HDF5_PLUGIN_PATH"}
    told = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert told.returncode == 2 and told.stderr.count("\n") == 1, told
    assert f"HDF5 does not find the filter {LINKED} (" in told.stderr, told
    assert "HDF5_PLUGIN_PATH" in told.stderr and "H5Z" not in told.stderr, told


@pytest.mark.parametrize("compression", ["32013", "32008,0,2", "32026,0,0,0,0,5,1,1", "307,4"])
def test_filters_of_hdf5plugin(
    actors: Actors, monkeypatch: pytest.MonkeyPatch, compression: str
) -> None:
    """zfp (lossless), bitshuffle with lz4, blosc2, bzip2. HDF5 asks once where its plug-ins are."""
    package = pytest.importorskip("hdf5plugin")
    monkeypatch.setenv("HDF5_PLUGIN_PATH", package.PLUGIN_PATH)
    lines = "put out u by=columns\nend_step out\n" * STEPS
    job = play(actors, "hdf5", "kernel", compression, lines, checksum="xxh3")
    assert job.status == 0 and not job.failures(), job
    words = [actors.build.command, "verify", str(path_of(job, "hdf5"))]
    told = subprocess.run(words, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told
