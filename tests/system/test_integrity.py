# SPDX-License-Identifier: BSD-3-Clause
"""Checksums of blocks: what was put is compared with what is read, and damage is named."""

from __future__ import annotations

import json
import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from actors import STORAGE_FAILURE, Actors, Build, Job
from files import check_sums, extension, file_settings, mode_settings, skip_if_missing, values

from manifests import manifest_steps, whole_manifest

ROWS, COLUMNS = 24, 10
DEFINE = (
    f"define out u int64 {ROWS}x{COLUMNS}\ndefine out v float64 12\ndefine out s int32 scalar\n"
)
STEP = "put out u by=columns halo=1\nput out v\nput out s writer=1\nend_step out\n"
ELEMENTS = ROWS * COLUMNS + 12 + 1
BACK_ENDS = ["posix", "mpiio", "hdf5", "netcdf", "pnetcdf", "zarr"]
# Servers by messages and through shared memory; the kernel; synchronous.
WAYS: dict[str, dict[str, Any]] = {
    "message": {"transport": {"kind": "message"}},
    "shared": {"transport": {"kind": "shared"}},
    "kernel": mode_settings("kernel"),
    "sync": mode_settings("sync"),
}


def settings(way: str, back_end: str, **more: object) -> dict[str, Any]:
    return {
        **WAYS[way],
        "files": {"out": file_settings(back_end, path=f"out{extension(back_end)}", **more)},
    }


def verify(build: Build, path: Path) -> tuple[int, dict[str, Any], str]:
    """Return the status of `iocomp verify`, what it says as JSON, and for people."""
    done = subprocess.run(
        [build.command, "verify", str(path), "--json"], capture_output=True, text=True
    )
    told = subprocess.run([build.command, "verify", str(path)], capture_output=True, text=True)
    assert done.returncode == told.returncode, done.stderr + told.stderr
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout), told.stdout


def elements_with_sums(manifest: Path) -> int:
    """Check all checksums of a manifest; return how many elements have one."""
    elements = 0
    for step in manifest_steps(whole_manifest(manifest.read_bytes())):
        for variable in step["variables"]:
            shape = variable["shape"]
            expected = values(variable["type"], int(np.prod(shape)), step["step"]).reshape(shape)
            elements += check_sums(variable, expected)
    return elements


def damage(path: Path, back_end: str, step: int) -> None:
    """Flip one bit of u[5, 7], or of the compressed chunk that holds it."""
    value = values(np.int64, ROWS * COLUMNS, step)[5 * COLUMNS + 7]
    order = "big" if back_end == "pnetcdf" else "little"
    sought = int(value).to_bytes(8, order)
    if "zarr" in back_end:
        (path,) = (path / "u").glob("c.0.0" if (path / "u/c.0.0").exists() else f"c.{step}.*")
    contents = bytearray(path.read_bytes())
    if back_end.startswith("zarr-"):
        offset, size = struct.unpack("<QQ", contents[-20:-4])  # of its one chunk, in the index
        at = offset + size // 2
    elif "deflate" in back_end:
        import h5py

        with h5py.File(path) as file:
            chunk = file["u"].id.get_chunk_info_by_coord((step, 0, 0))
        at = chunk.byte_offset + chunk.size // 2
    else:
        assert contents.count(sought) == 1, f"{path} has {value} {contents.count(sought)} times"
        at = contents.index(sought)
    contents[at] ^= 4
    path.write_bytes(contents)


def read(actors: Actors, written: Job, step: int, back_end: str, **more: object) -> dict[str, Any]:
    """Return how one rank reads all of a step: blocks lie wholly in what it asks for."""
    job = actors.play(
        f"init\nread out step={step}\n",
        ranks=1,
        settings=settings("sync", back_end, **more),
        folder=written.folder,
    )
    (entry,) = job.calls("read")
    return entry


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_a_damaged_block_of_a_checkpoint_is_named_and_not_read(
    actors: Actors, back_end: str, way: str
) -> None:
    skip_if_missing(actors.build, back_end)
    written = actors.play(
        f"init\nopen out checkpoint\n{DEFINE}{STEP * 2}close out\n",
        ranks=4,
        settings=settings(way, back_end),
    )
    assert not written.failures(), written
    target = written.folder / f"out{extension(back_end)}"
    files = [target.with_stem(f"out.00000{step}") for step in (0, 1)]
    for file in files:
        assert elements_with_sums(Path(f"{file}.json")) == ELEMENTS
    status, said, told = verify(actors.build, target)
    assert status == 0 and said["damaged"] == [] and said["elements_without_checksum"] == 0, told
    assert said["steps"] == 2 and "all are as they were put" in told, told

    damage(files[1], back_end, 1)
    status, said, told = verify(actors.build, target)
    assert status == 1, told
    assert {entry["variable"] for entry in said["damaged"]} == {"u"}, told
    assert {entry["step"] for entry in said["damaged"]} == {1}, told
    assert all(entry["file"].endswith(files[1].name) for entry in said["damaged"]), told
    (entry,) = said["damaged"]
    inside = [
        s <= i < s + c for s, c, i in zip(entry["start"], entry["count"], (5, 7), strict=True)
    ]
    assert all(inside), told
    assert "is damaged: its checksum is" in told, told
    assert verify(actors.build, files[0])[0] == 0

    entry = read(actors, written, 1, back_end)
    assert entry["code"] == STORAGE_FAILURE, entry
    for text in ('"u"', "step 1", '"out"', "is damaged", files[1].name):
        assert text in entry["story"], entry
    assert read(actors, written, 0, back_end)["right"]
    entry = read(actors, written, 1, back_end, checksum="none")
    assert entry["code"] == 0 and not entry["right"], entry


@pytest.mark.parametrize("way", ["shared", "sync"])
@pytest.mark.parametrize(
    "back_end", ["hdf5-deflate", "netcdf-deflate", "zarr-zstd", "zarr-deflate"]
)
def test_a_damaged_chunk_that_was_compressed_is_found(
    actors: Actors, back_end: str, way: str
) -> None:
    skip_if_missing(actors.build, back_end)
    script = f"init\nopen out series\n{DEFINE}{STEP * 3}close out\n"
    job = actors.play(script, ranks=4, settings=settings(way, back_end, checksum="xxh3"))
    assert not job.failures(), job
    target = job.folder / f"out{extension(back_end)}"
    damage(target, back_end, 1)
    status, said, told = verify(actors.build, target)
    assert status == 1, told
    assert {(entry["step"], entry["variable"]) for entry in said["damaged"]} == {(1, "u")}, told


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("back_end", ["posix", "hdf5", "hdf5-time", "netcdf-deflate", "zarr-zstd"])
def test_a_series_has_checksums_where_they_are_wanted(
    actors: Actors, back_end: str, way: str
) -> None:
    skip_if_missing(actors.build, back_end)
    script = f"init\nopen out series\n{DEFINE}{STEP * 3}put out v\nclose out\n"
    for checksum, elements in (("auto", 0), ("xxh3", 3 * ELEMENTS + 12)):
        job = actors.play(script, ranks=4, settings=settings(way, back_end, checksum=checksum))
        assert not job.failures(), job
        target = job.folder / f"out{extension(back_end)}"
        assert elements_with_sums(Path(f"{target}.json")) == elements
        status, said, told = verify(actors.build, target)
        assert status == 0, told
        assert said["elements_without_checksum"] == 3 * ELEMENTS + 12 - elements, told
        assert ("without a checksum" in told) == (elements == 0), told
        assert ("nothing to compare" in told) == (elements == 0), told


def test_a_chunk_that_cannot_be_unpacked_is_named(actors: Actors, tmp_path: Path) -> None:
    import h5py

    path = tmp_path / "theirs.h5"
    with h5py.File(path, "w") as file:
        chunked = {"chunks": (1000,), "compression": "gzip"}
        chunk = file.create_dataset("u", data=np.arange(4000.0), **chunked).id.get_chunk_info(1)
    assert verify(actors.build, path)[0] == 0
    with path.open("r+b") as raw:
        raw.seek(chunk.byte_offset + chunk.size // 2)
        raw.write(bytes(64))
    status, said, told = verify(actors.build, path)
    assert status == 1 and [entry["variable"] for entry in said["damaged"]] == ["u"], told


@pytest.mark.parametrize("back_end", ["zarr", "zarr-zstd"])
def test_values_without_checksums_that_cannot_be_read_are_named(actors: Actors, back_end: str) -> None:
    skip_if_missing(actors.build, back_end)
    script = f"init\nopen out series\n{DEFINE}{STEP * 3}close out\n"
    job = actors.play(script, ranks=2, settings=settings("sync", back_end))
    assert not job.failures(), job
    target = job.folder / f"out{extension(back_end)}"
    assert verify(actors.build, target)[0] == 0
    if back_end == "zarr":
        (shard,) = (target / "u").glob("c.1.*")
        shard.unlink()
    else:
        damage(target, back_end, 1)
    status, said, told = verify(actors.build, target)
    assert status == 1, told
    assert {(entry["step"], entry["variable"]) for entry in said["damaged"]} == {(1, "u")}, told
    assert "cannot be read" in told, told


@pytest.mark.parametrize("way", WAYS)
def test_large_blocks_are_summed_while_they_are_written(actors: Actors, way: str) -> None:
    lines = "open out checkpoint\ndefine out u float64 4x1048576\n"
    lines += "put out u by=rows\nput out u start=0x0 count=0x0\n"
    job = actors.play(
        f"init\n{lines}end_step out\nclose out\n", ranks=4, settings=settings(way, "posix")
    )
    assert not job.failures(), job
    assert elements_with_sums(job.folder / "out.000000.dat.json") == 4 * 1048576
    assert verify(actors.build, job.folder / "out.dat")[0] == 0


@pytest.mark.parametrize("way", WAYS)
def test_what_has_no_blocks_of_its_own_has_no_checksum(actors: Actors, way: str) -> None:
    lines = "open out checkpoint\ndefine out u int64 40\ndefine out v int64 40\n"
    lines += "put_elements out u runs=0:40 writer=0\nput out v by=rows\nend_step out\nclose out\n"
    job = actors.play(f"init\n{lines}", ranks=4, settings=settings(way, "posix"))
    assert not job.failures(), job
    status, said, told = verify(actors.build, job.folder / "out.dat")
    assert status == 0 and said["elements_without_checksum"] == 40 and said["bytes"] == 320, told

    job = actors.play(f"init\n{lines}", ranks=4, settings=settings(way, "posix", overlap="any"))
    assert not job.failures(), job
    status, said, told = verify(actors.build, job.folder / "out.dat")
    assert status == 0 and said["elements_without_checksum"] == 80 and said["blocks"] == 0, told


def test_a_file_that_is_cut_or_gone_is_told(actors: Actors) -> None:
    job = actors.play(
        f"init\nopen out checkpoint\n{DEFINE}{STEP * 2}close out\n",
        ranks=2,
        settings=settings("sync", "posix"),
    )
    assert not job.failures(), job
    with (job.folder / "out.000001.dat").open("r+b") as file:
        file.truncate(100)
    status, said, told = verify(actors.build, job.folder / "out.dat")
    assert status == 1 and [entry["step"] for entry in said["damaged"]] == [1], told
    assert "it is torn" in told, told
    missing = subprocess.run(
        [actors.build.command, "verify", str(job.folder / "none.dat")],
        capture_output=True,
        text=True,
    )
    assert missing.returncode == 2 and "did you mean" in missing.stderr, missing
