# SPDX-License-Identifier: BSD-3-Clause
"""A shard of Zarr has its chunks in row-major order, so long runs go straight to their places.

Steps of a few bytes share a file.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from actors import OK, Actors, Job
from files import MODES, file_settings, mode_settings, skip_if_missing, values, values_in
from zarr_packages import PACKAGES, has_zarr

from iocomp import NotFoundError, UnsupportedError, open_files

ROWS, COLUMNS = 60, 5000
CHUNKS = 12  # of 5 rows, as many as 200 KiB take
STEPS = 2


def play(actors: Actors, mode: str, puts: str) -> Job:
    skip_if_missing(actors.build, "zarr")
    out = file_settings("zarr", path="out.zarr", chunk="200 KiB", guard=False)
    script = f"init\nopen out series\ndefine out u float64 {ROWS}x{COLUMNS}\n"
    script += STEPS * f"{puts}\nend_step out\n" + "close out\n"
    job = actors.play(script, ranks=3, settings=mode_settings(mode) | {"files": {"out": out}})
    assert job.status == 0 and not job.failures(), job
    return job


def expected(step: int) -> npt.NDArray[np.float64]:
    return values("f8", ROWS * COLUMNS, step).reshape(ROWS, COLUMNS)


def raw(job: Job, step: int) -> npt.NDArray[np.float64]:
    """Return the first bytes of a shard as they lie in the file."""
    shard: Path = job.folder / f"out.zarr/u/c.{step}.0.0"
    return np.fromfile(shard, np.float64, ROWS * COLUMNS).reshape(ROWS, COLUMNS)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("put", ["by=rows", "by=columns", "by=columns buffered=yes"])
def test_long_runs_lie_in_place(actors: Actors, mode: str, put: str) -> None:
    """With columns, each chunk has parts of all ranks."""
    job = play(actors, mode, f"put out u {put}")
    for step in range(STEPS):
        np.testing.assert_array_equal(raw(job, step), expected(step))
        found = values_in("zarr", job.folder / "out.zarr", step, "u")
        assert found is not None
        np.testing.assert_array_equal(found, expected(step))


@pytest.mark.parametrize("mode", MODES)
def test_what_nobody_puts_is_zero(actors: Actors, mode: str) -> None:
    """Chunks that nobody has touched are not there at all."""
    job = play(actors, mode, "@0 put out u start=0x0 count=7x5000\n@1 put out u start=40x9 count=3x4000")
    for step in range(STEPS):
        there = np.zeros((ROWS, COLUMNS))
        there[:7] = expected(step)[:7]
        there[40:43, 9:4009] = expected(step)[40:43, 9:4009]
        found = values_in("zarr", job.folder / "out.zarr", step, "u")
        assert found is not None
        np.testing.assert_array_equal(found, there)
        index = np.fromfile(job.folder / f"out.zarr/u/c.{step}.0.0", np.uint8)[-16 * CHUNKS - 4 : -4]
        offsets = index.view(np.int64)[::2]
        assert [chunk for chunk in range(CHUNKS) if offsets[chunk] >= 0] == [0, 1, 8], offsets


@pytest.mark.parametrize("mode", MODES)
def test_steps_of_a_few_bytes_share_a_file(actors: Actors, mode: str) -> None:
    """A job that goes on from step 0 leaves nothing of later ones, also where it puts nothing itself."""
    skip_if_missing(actors.build, "zarr")
    define = "define out u int64 6\nfill out u -1\ndefine out v float64 60\n"
    both, one = "put out u by=rows\nput out v by=rows\nend_step out\n", "put out v by=rows\nend_step out\n"
    settings = mode_settings(mode) | {"files": {"out": file_settings("zarr", path="out.zarr", guard=False)}}
    first = actors.play(
        f"init\nopen out series\n{define}{4 * both}close out\n", ranks=3, settings=settings
    )
    assert first.status == 0 and not first.failures(), first
    folder = first.folder / "out.zarr"
    assert sorted(path.name for path in (folder / "u").iterdir()) == ["c.0.0", "zarr.json"]
    assert len(list((folder / "v").glob("c.*"))) == 4
    there = np.fromfile(folder / "u/c.0.0", np.int64).reshape(-1, 6)
    for step in range(4):
        np.testing.assert_array_equal(there[step], values(np.int64, 6, step))
        np.testing.assert_array_equal(values_in("zarr", folder, step, "u"), there[step])
    assert (there[4:] == -1).all()
    out = file_settings("zarr", path="out.zarr", guard=False, existing="continue")
    script = f"init\nopen out series after=0\n{define}{both}{one}close out\n"
    second = actors.play(
        script, ranks=2, settings=mode_settings(mode) | {"files": {"out": out}}, folder=first.folder
    )
    assert second.status == 0 and not second.failures(), second
    assert values_in("zarr", folder, 2, "u") is None
    for step in (0, 1):
        np.testing.assert_array_equal(values_in("zarr", folder, step, "u"), values(np.int64, 6, step))
    assert sorted(path.name for path in (folder / "u").iterdir()) == ["c.0.0", "zarr.json"]


@pytest.mark.parametrize("mode", ["kernel", "sync"])  # a fault of the script is of a rank
def test_a_step_that_fails_at_its_commit_leaves_nothing_in_a_shared_file(
    actors: Actors, mode: str
) -> None:
    """Metadata that cannot be written come after the file has its name. The job ends before it closes."""
    skip_if_missing(actors.build, "zarr")
    out = file_settings("zarr", path="out.zarr", guard=False)
    script = "init\nopen out series\ndefine out u int64 6\ndefine out v float64 60\n"
    for fault, puts in (("", "uv"), ("fault open EIO path=zarr.json times=1\n", "uv"), ("", "v")):
        script += fault + "".join(f"put out {name} by=rows\n" for name in puts) + "end_step out\n"
    job = actors.play(
        script + "wait_step out 2\n@0 kill 0\n",
        ranks=1,
        settings=mode_settings(mode) | {"files": {"out": out}},
    )
    assert [entry["code"] for entry in job.calls("wait_step")] == [OK], job
    folder = job.folder / "out.zarr"
    np.testing.assert_array_equal(values_in("zarr", folder, 0, "u"), values(np.int64, 6, 0))
    there = np.fromfile(folder / "u/c.0.0", np.int64).reshape(-1, 6)
    assert (there[1:] == 0).all(), there[:4]


FOREIGN = """
import sys, warnings, numpy, zarr
from zarr.codecs import BloscCodec
warnings.simplefilter("ignore")
root = zarr.open_group(sys.argv[1], mode="w", zarr_format=3)
for name, dtype, shuffle, block in [
    ("sorted", "f8", "shuffle", 0), ("plain", "i2", "noshuffle", 0), ("blocks", "c16", "shuffle", 4096),
    ("bytes", "u1", "shuffle", 1000), ("noise", "f8", "shuffle", 0), ("bits", "f8", "bitshuffle", 0),
]:
    values = numpy.random.default_rng(1).random((3, 70, 50)) * (1 if name == "noise" else 9) // (name != "noise" or 1e-9)
    values = values.astype(dtype)
    codec = BloscCodec(cname="zstd", shuffle=shuffle, typesize=values.itemsize, clevel=3, blocksize=block)
    root.create_array(name, shape=values.shape, dtype=dtype, shards=(1, 70, 50), chunks=(1, 35, 50),
        compressors=codec, dimension_names=("time", "y", "x"))[:] = values
    numpy.save(sys.argv[1] + "." + name + ".npy", values)
zarr.consolidate_metadata(sys.argv[1])
"""


def foreign(program: str, path: Path) -> None:
    """Have zarr-python write a store."""
    if not has_zarr():
        pytest.skip("zarr-python is not there: tools/install-wheel zarr fetches it")
    environment = os.environ | {"PYTHONPATH": str(PACKAGES)}
    subprocess.run([sys.executable, "-S", "-c", program, str(path)], env=environment, check=True)


@pytest.mark.usefixtures("actors")  # they say where the library is
def test_blosc_of_others_is_read(tmp_path: Path) -> None:
    path = tmp_path / "foreign.zarr"
    foreign(FOREIGN, path)
    with open_files(path) as files:
        for name in ("sorted", "plain", "blocks", "bytes", "noise"):
            np.testing.assert_array_equal(files.read(name, 1), np.load(f"{path}.{name}.npy")[1])
        with pytest.raises(NotFoundError, match="blosc with bitshuffle"):
            files.read("bits", 1)


OTHERS = """
import sys, warnings, numpy, zarr
from zarr.codecs import BloscCodec, BytesCodec, TransposeCodec
warnings.simplefilter("ignore")
root = zarr.open_group(sys.argv[1], mode="w", zarr_format=3, attributes={
    "title": "theirs", "yes": True, "nothing": None, "nested": {"a": 1}, "flags": [True, False]})
values = numpy.arange(12).reshape(3, 4)
def make(name, dtype, **more):
    root.create_array(name, shape=values.shape, dtype=dtype, chunks=(3, 4), **more)[:] = values.astype(dtype)
make("read", "f8")
make("mask", "bool", fill_value=True)
make("text", "U4")
make("any_text", str)
make("when", "M8[s]")
make("turned", "f8", filters=TransposeCodec(order=(1, 0)))
make("big", "f8", serializer=BytesCodec(endian="big"))
make("lz4", "f8", compressors=BloscCodec(cname="lz4", typesize=8))
make("bits", "f8", compressors=BloscCodec(cname="zstd", shuffle="bitshuffle", typesize=8))
root.create_group("inner").create_array("x", shape=(3,), dtype="f8")
zarr.consolidate_metadata(sys.argv[1])
"""
NOT_READ = {
    "text": "the type",
    "any_text": "the type",
    "when": "the type",
    "turned": "the codec transpose",
    "big": "another byte order",
    "lz4": "blosc with lz4",
    "bits": "blosc with bitshuffle",
    "inner": "a group",
    "the attribute nothing": "null",
    "the attribute nested": "object",
}


@pytest.mark.usefixtures("actors")
@pytest.mark.parametrize("is_consolidated", [True, False])
def test_what_is_not_read_of_others_is_told(tmp_path: Path, is_consolidated: bool) -> None:
    path = tmp_path / "foreign.zarr"
    foreign(OTHERS if is_consolidated else OTHERS.replace("zarr.consolidate", "0 and zarr.consolidate"), path)
    with open_files(path) as files:
        assert sorted(files.variables()) == ["mask", "read"]
        np.testing.assert_array_equal(files.read("read"), np.arange(12).reshape(3, 4))
        assert files.dtype("mask") == np.int8 and files.attributes("mask")["dtype"] == "bool"
        np.testing.assert_array_equal(files.read("mask"), np.arange(12).reshape(3, 4) > 0)
        assert files.not_read.keys() == NOT_READ.keys()
        for name, why in NOT_READ.items():
            assert why in files.not_read[name], files.not_read
        found = files.attributes()
        assert found.keys() == {"title", "yes", "flags"} and found["yes"] == 1
        assert list(found["flags"]) == [1, 0]


def test_a_store_of_zarr_2_is_named(actors: Actors, tmp_path: Path) -> None:
    path = tmp_path / "old.zarr"
    program = "import sys, zarr\nroot = zarr.open_group(sys.argv[1], mode='w', zarr_format=2)\n"
    foreign(program + "root.create_array('u', shape=(3,), dtype='f8')[:] = 1", path)
    with pytest.raises(UnsupportedError, match="a store of Zarr 2"):
        open_files(path)
    for words in ("show", "describe"):
        done = subprocess.run(
            [actors.build.command, words, str(path)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 2 and "old.zarr/: it is a store of Zarr 2" in done.stderr, done


MASKED = """
import sys, warnings, numpy, zarr
warnings.simplefilter("ignore")
root = zarr.open_group(sys.argv[1], mode="w", zarr_format=3)
def make(name, values, dtype, **attributes):
    array = root.create_array(name, shape=(3,), dtype=dtype, chunks=(3,), fill_value=0, attributes=attributes)
    array[:] = numpy.array(values, dtype)
make("count", [0, 1, -9], "i4", _FillValue=-9)
make("packed", [0, -999, 5], "i2", _FillValue=-999, scale_factor=0.5)
make("missing", [2, -999, 4], "i2", missing_value=-999, scale_factor=0.5)
make("real", [0, 1, -999], "f4", _FillValue="AAAAAAA4j8A=")  # as xarray has it
zarr.consolidate_metadata(sys.argv[1])
"""


@pytest.mark.usefixtures("actors")
def test_fill_values_of_others_are_those_of_the_attribute(tmp_path: Path) -> None:
    """Zarr's own is what chunks have that nobody has written."""
    path = tmp_path / "foreign.zarr"
    foreign(MASKED, path)
    with open_files(path) as files:
        assert files.attributes("count")["_FillValue"] == -9
        assert files.attributes("real")["_FillValue"] == -999
        assert files.attributes("real")["_FillValue"].dtype == np.float32
        np.testing.assert_array_equal(files.read("packed", dtype="f8"), [0, np.nan, 2.5])
        np.testing.assert_array_equal(files.read("missing", dtype="f8"), [1, np.nan, 2])
