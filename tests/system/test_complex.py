# SPDX-License-Identifier: BSD-3-Clause
"""Complex numbers in netCDF: real ones with one more dimension, as netCDF4-python reads them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from actors import UNSUPPORTED, Actors, Job
from files import MODES, file_settings, mode_settings, skip_if_missing
from test_tools import run

from iocomp import open_files

BACK_ENDS = ["netcdf", "netcdf-deflate", "pnetcdf"]
FILL = np.full(2, 9.5, "f4")
DEFINE = [
    "open out series",
    "define out u complex64 40x70 seed=1",
    f"fill out u bytes={FILL.tobytes().hex()}",
    "define out w complex128 scalar seed=2",
    "define out c complex128 5 seed=3",
    "attribute out dimensions x of=c",
]
PARTS = "_pfnc_complex"


def play(
    actors: Actors, lines: list[str], back_end: str, mode: str, folder: Path | None = None, **more: object
) -> Job:
    skip_if_missing(actors.build, back_end)
    files = {"out": file_settings(back_end, path="out.nc", chunk="8 KiB", **more)}
    settings = {**mode_settings(mode), "files": files}
    return actors.play("\n".join(["init", *lines]), ranks=3, settings=settings, folder=folder)


def written(actors: Actors, back_end: str, mode: str) -> Path:
    """Return a file of two jobs, which have two steps each; the second step lacks `u`."""
    jobs = [
        [*DEFINE, "put out u", "put out w by=whole writer=0", "put out c", "end_step out", "put out w by=whole writer=0", "end_step out"],
        [*DEFINE, *2 * ["put out u by=columns", "put out w by=whole writer=0", "end_step out"]],
    ]
    folder = None
    for lines in jobs:
        more = {"existing": "continue", "checksum": "xxh3"}
        job = play(actors, [*lines, "close out"], back_end, mode, folder, **more)
        assert job.status == 0 and not job.failures(), job
        folder = job.folder
    return job.folder / "out.nc"


def check(actors: Actors, back_end: str, path: Path) -> None:
    """All that was put is read, and with its types."""
    job = play(actors, ["read out seeds=u:1,w:2,c:3"], back_end, "sync", path.parent)
    assert not job.failures(), job
    reads = job.calls("read")
    assert reads and all(each["steps"] == [0, 1, 2, 3] and each["right"] for each in reads), job
    with open_files(path) as files:
        assert (files.dtype("u"), files.shape("u")) == (np.complex64, (40, 70))
        assert (files.dtype("w"), files.shape("w")) == (np.complex128, ())
        assert files.attributes("u")["_FillValue"] == 9.5 + 9.5j
    done = run(actors, path.parent, "show", "out.nc")
    assert done.returncode == 0 and "complex64" in done.stdout, done
    assert run(actors, path.parent, "verify", "out.nc").returncode == 0


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_complex_numbers_are_there_for_all_readers(
    actors: Actors, back_end: str, mode: str
) -> None:
    import netCDF4

    path = written(actors, back_end, mode)
    check(actors, back_end, path)
    with open_files(path) as files, netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        assert len(file.dimensions[PARTS]) == 2
        assert file["u"].dimensions == ("time", "dim_40", "dim_70", PARTS)
        assert file["w"].dimensions == ("time", PARTS)
        assert file["c"].dimensions == ("x", PARTS)
        assert file["u"].dtype.newbyteorder("=") == np.float32
        assert file["u"].getncattr("_FillValue") == 9.5
        assert (file["u"][1] == 9.5).all()
        for step in (0, 2, 3):
            found = np.ascontiguousarray(file["u"][step]).view("c8")[..., 0]
            assert found.tobytes() == files.read("u", step).tobytes()
    if back_end == "pnetcdf" and shutil.which("ncvalidator"):
        subprocess.run(["ncvalidator", path], check=True, capture_output=True)
    Path(f"{path}.json").unlink()
    done = run(actors, path.parent, "recover", "out.nc")
    assert done.returncode == 0, done
    with open_files(path) as files:
        assert (files.dtype("u"), files.shape("u")) == (np.complex64, (40, 70))
        assert (files.dtype("c"), files.shape("c")) == (np.complex128, (5,))
        assert files.attributes("u")["_FillValue"] == 9.5 + 9.5j
        assert (files.read("u", 1) == 9.5 + 9.5j).all()


@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_by_netcdf4_python_they_are_complex(actors: Actors, back_end: str) -> None:
    import netCDF4

    if not hasattr(netCDF4.Dataset, "auto_complex"):
        pytest.skip("netCDF4-python before 1.7 knows no complex numbers")
    path = written(actors, back_end, "sync")
    with open_files(path) as files, netCDF4.Dataset(path, auto_complex=True) as file:
        file.set_auto_mask(False)
        assert file["u"].dimensions == ("time", "dim_40", "dim_70")
        for name, dtype in (("u", "c8"), ("w", "c16")):
            assert file[name].dtype.newbyteorder("=") == dtype
            assert np.asarray(file[name][2], dtype).tobytes() == files.read(name, 2).tobytes()


@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_their_parts_become_float32(actors: Actors, back_end: str) -> None:
    lines = ["open out series", "define out u complex128 6x4 seed=1", "put out u", "end_step out"]
    job = play(actors, [*lines, "close out"], back_end, "sync", type="float32")
    assert not job.failures(), job
    exact = play(actors, [*lines, "close out"], back_end, "sync")
    with open_files(job.folder / "out.nc") as files, open_files(exact.folder / "out.nc") as other:
        assert files.dtype("u") == np.complex64
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(files.read("u", 0), other.read("u", 0).astype("c8"))


@pytest.mark.parametrize(
    ("line", "story"),
    [
        (f"fill out c bytes={np.array([1, 2.0]).tobytes().hex()}", "must be the same number"),
        (f"attribute out a type=complex64 bytes={FILL.tobytes().hex()}", "no attributes of type"),
        (f"attribute out dimensions {PARTS} of=c", "means something else"),
        (f"define out {PARTS} float32 2", "means something else"),
    ],
)
@pytest.mark.parametrize("back_end", ["netcdf", "pnetcdf"])
def test_what_netcdf_cannot_say_is_refused(
    actors: Actors, back_end: str, line: str, story: str
) -> None:
    job = play(actors, [*DEFINE, line], back_end, "sync")
    assert {failure["code"] for failure in job.failures()} == {UNSUPPORTED}
    assert all(story in failure["story"] for failure in job.failures()), job


@pytest.mark.parametrize("kind", ["NETCDF4", "NETCDF3_64BIT_DATA"])
@pytest.mark.parametrize("name", [PARTS, "complex", "ri"])
def test_files_of_others_are_read(actors: Actors, tmp_path: Path, kind: str, name: str) -> None:
    import netCDF4

    skip_if_missing(actors.build, "netcdf")
    path = tmp_path / "other.nc"
    with netCDF4.Dataset(path, "w", format=kind) as file:
        if kind == "NETCDF4":  # as netCDF4-python writes them with auto_complex=True
            file.createDimension("n", 3)
            pair = np.dtype([("r", "f8"), ("i", "f8")])
            file.createVariable("pairs", file.createCompoundType(pair, "pair"), ("n",))[:] = (
                np.array([(1, 2), (3, 4), (5, 6)], pair)
            )
            other = np.dtype([("r", "f8"), ("i", "f4")])
            file.createVariable("others", file.createCompoundType(other, "other"), ("n",))
        for dimension, length in (("time", None), ("x", 3), (name, 2), ("two", 2)):
            file.createDimension(dimension, length)
        numbers = np.arange(12.0).reshape(2, 3, 2)
        file.createVariable("u", "f4", ("time", "x", name), fill_value=-1.0)[:] = numbers
        file.createVariable("v", "f8", ("time", "x", "two"))[:] = numbers
        file.createVariable("n", "i4", ("x", name))[:] = 7
        file.createVariable(name, "f8", (name,))[:] = [0, 1]
    with open_files(path) as files:
        if kind == "NETCDF4":
            assert files.dtype("pairs") == np.complex128
            assert (files.read("pairs", 0, (slice(1, 3),)) == [3 + 4j, 5 + 6j]).all()
            assert "compound" in files.not_read["others"]
        assert files.dtype("u") == np.complex64
        assert (files.read("u", 1) == [6 + 7j, 8 + 9j, 10 + 11j]).all()
        assert files.attributes("u")["_FillValue"] == -1 - 1j
        assert (files.dtype("v"), files.shape("v")) == (np.float64, (3, 2))
        assert (files.dtype("n"), files.shape("n")) == (np.int32, (3, 2))
        assert (files.dtype(name), files.shape(name)) == (np.float64, (2,))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_they_are_rounded_as_elsewhere(actors: Actors, back_end: str, mode: str) -> None:
    lines = [*DEFINE[:3], "put out u by=columns", "end_step out", "close out"]
    found = []
    for each in ("posix", back_end):
        job = play(actors, lines, each, mode, round="7 bits")
        assert not job.failures(), job
        with open_files(job.folder / "out.nc") as files:
            found.append(files.read("u", 0))
    one, other = found
    assert one.tobytes() == other.tobytes()
    assert not (one.view("u4") & 0xFFFF).any()
