# SPDX-License-Identifier: BSD-3-Clause
"""Reading what the library wrote, without it: open_files and the engine of xarray."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from company import Companies
from conftest import MODES, Build, Launcher
from programs import LACKING, TYPES, values_of

from iocomp import StorageError, open_files

xarray = pytest.importorskip("xarray")

BACK_ENDS = ["posix", "mpiio", "hdf5", "hdf5-time", "netcdf", "pnetcdf", "adios2", "adios2-hdf5"]
VARIANTS = {"hdf5-time": {"FILES_LAYOUT": "time"}, "adios2-hdf5": {"FILES_ENGINE": "HDF5"}}
IN_FORMAT = {"adios2-hdf5": ("f2", "c8", "c16", "S1")}
WITHOUT_LISTS = ("pnetcdf", "adios2-hdf5")  # of texts, as attributes

Written = Callable[..., Path]


def lacking(back_end: str) -> tuple[str, ...]:
    return (*LACKING.get(back_end.partition("-")[0], ()), *IN_FORMAT.get(back_end, ()))


@pytest.fixture(scope="module")
def written(
    build: Build, companies: Companies, tmp_path_factory: pytest.TempPathFactory
) -> Written:
    """Return what has three steps written in a format, once; it tells their path without ending."""
    folders: dict[str, Path] = {}

    def write(back_end: str, kind: str = "series") -> Path:
        name = back_end.partition("-")[0]
        if not build.has_back_end(name):
            pytest.skip(f"the back-end {name} was not built")
        if back_end not in folders:
            launch = Launcher(build, tmp_path_factory.mktemp(back_end), companies)
            settings = {"FILES_BACKEND": name, **VARIANTS.get(back_end, {})}
            kinds = "series" if back_end == "hdf5-time" else "series,checkpoint"
            words = {
                "TEST_KINDS": kinds,
                "TEST_LACKING": ",".join(lacking(back_end)),
                "TEST_HAS_LISTS": "no" if back_end in WITHOUT_LISTS else "yes",
            }
            launch.play("write_and_leave", ranks=2, **words, **settings)
            folders[back_end] = launch.folder
        return folders[back_end] / kind

    return write


@pytest.mark.parametrize("kind", ["series", "checkpoint"])
@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_every_format_is_read(written: Written, back_end: str, kind: str) -> None:
    if (back_end, kind) == ("hdf5-time", "checkpoint"):
        pytest.skip("there is no such file")
    path = written(back_end, kind)
    with open_files(path) as files:
        assert files.steps == [0, 1, 2]
        assert [files.time(step) for step in files.steps] == [10.0, 11.0, 12.0]
        assert files.attributes()["title"] == "äh"
        if back_end not in WITHOUT_LISTS:
            assert files.attributes()["members"] == ["mean", "größer"]
        assert not {*lacking(back_end)} & {*files.variables()}
        for name in TYPES:
            if name in lacking(back_end):
                continue
            for step in files.steps:
                whole = values_of(step, (6, 5), name)
                assert files.dtype(name, step) == name
                assert np.array_equal(files.read(name, step), whole), (name, step)
                box = np.s_[1:6:2, -2]
                assert np.array_equal(files.read(name, step, box), whole[box]), (name, step)
        if "names" in files.variables():
            texts = [b"".join(row) for row in files.read("names", 2)]
            assert texts == [b"r0s2", b"r1s2"]
        assert files.read("scalar", 1).item() == 1.5


@pytest.mark.parametrize("kind", ["series", "checkpoint"])
@pytest.mark.parametrize("back_end", ["posix", "mpiio", "hdf5", "pnetcdf"])
def test_xarray_opens_it_lazily(written: Written, back_end: str, kind: str) -> None:
    from iocomp.xarray_engine import IocompBackend

    path = written(back_end, kind)
    if kind == "series":
        ending = {"hdf5": ".h5", "pnetcdf": ".nc"}.get(back_end, ".bin")
        opened = xarray.open_dataset(f"{path}{ending}", engine=IocompBackend, chunks={})
    else:  # with chunks xarray wants a path that is there
        opened = xarray.open_dataset(path, engine=IocompBackend).chunk({"time": 1})
    with opened as found:
        assert found.attrs["title"] == "äh"
        u = found["f8"]
        assert (u.dims, u.shape) == (("time", "y", "x"), (3, 6, 5))
        assert u.attrs == {"units": "K"} and u.chunks == ((1, 1, 1), (6,), (5,))
        assert found["time"].values.tolist() == [10.0, 11.0, 12.0]
        assert found["step"].values.tolist() == [0, 1, 2]
        whole = np.array([values_of(step, (6, 5), "f8") for step in range(3)])
        assert np.array_equal(u.values, whole)
        assert np.array_equal(u.sel(time=11.0, y=slice(1, 5, 2)).values, whole[1, 1:5:2])
        assert np.array_equal(u[::-1, [4, 0], 2].values, whole[::-1, [4, 0], 2])
        assert float(u.mean()) == whole.mean()
        assert (found["x"].dims, found["x"].values.tolist()) == (("x",), [0.5] * 5)
        assert found["scalar"].values.tolist() == [0.5, 1.5, 2.5]
        assert found["i4"].dims == ("time", "dim_6", "dim_5")


def test_the_wheel_brings_the_library_and_no_mpi(installed: Path) -> None:
    wheel = next(installed.glob("iocomp-*.dist-info")) / "WHEEL"
    assert re.search(r"^Tag: py3-none-linux_", wheel.read_text(), re.M)
    library = next((installed / "iocomp/lib").glob("libiocomp_reader.so.*"))
    sources = sorted((installed / "iocomp/lib/iocomp").glob("libiocomp_source_*.so"))
    assert {"posix", "mpiio", "hdf5"} <= {each.stem.rpartition("_")[2] for each in sources}
    for each in (library, *sources):
        needs = subprocess.run(["ldd", each], capture_output=True, text=True, check=True).stdout
        assert "libmpi" not in needs, each


def test_a_wheel_without_adios2_names_the_package(written: Written, installed: Path) -> None:
    code = f"""
import sys
import iocomp
sys.modules["adios2"] = None
try:
    iocomp.open_files({str(written("adios2"))!r}).read("f8")
except iocomp.UnsupportedError as error:
    print(error)
"""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(installed)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert "needs the Python package adios2" in done.stdout, done


def test_xarray_finds_the_engine_of_an_installed_package(written: Written, installed: Path) -> None:
    path = written("posix")
    code = f"""
import xarray
for more in ({{"engine": "iocomp"}}, {{}}):
    with xarray.open_dataset({str(path) + ".bin"!r}, **more) as found:
        print(found["f8"].shape)
"""
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(installed)}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False
    )
    assert done.stdout.split("\n")[:2] == ["(3, 6, 5)"] * 2, done.stderr


def test_what_is_not_in_every_step(launch: Launcher) -> None:
    from iocomp.xarray_engine import IocompBackend

    launch.play("write_unevenly", ranks=1)
    with pytest.warns(UserWarning) as warned:
        found = xarray.open_dataset(launch.folder / "fields.bin", engine=IocompBackend)
    told = [str(each.message).partition(": ")[2] for each in warned]
    assert [each[:12] for each in told] == ["grows change", "count is not"], told
    assert "grows" not in found
    assert np.array_equal(found["some"].values, [1.0, np.nan, 3.0], equal_nan=True)
    assert found["count"].values.tolist() == [0, 5, 6]
    assert np.array_equal(found["filled"].values, [np.nan, 2, 2], equal_nan=True)  # _FillValue
    assert found["once"].dims == () and found["once"].item() == 7.0
    assert str(found["when"].dtype).startswith("datetime64")
    assert found["names"].values.tolist() == [["ab", "c"]] * 3
    assert "time" not in found.coords and found["step"].values.tolist() == [0, 1, 2]


@pytest.mark.parametrize("mode", ["kernel", "shared"])
def test_a_running_series_shows_committed_steps_alone(launch: Launcher, mode: str) -> None:
    launch.play("watched", ranks=2, **MODES[mode])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"bytes": ', b'"bytes":  '),
        (b'"xxh3": "', b'"xxh3": "0'),
        (b'"\n}\n', b'"}\n'),
    ],
)
def test_a_manifest_that_was_changed_is_refused(
    written: Written, tmp_path: Path, old: bytes, new: bytes
) -> None:
    path = written("posix")
    (before,) = path.parent.glob(f"{path.name}*.json")
    told = before.read_bytes()
    assert old in told
    manifest, data = tmp_path / before.name, tmp_path / before.stem
    data.symlink_to(before.with_suffix(""))
    manifest.write_bytes(told.replace(old, new))
    with pytest.raises(StorageError, match="it was changed since iocomp has written it"):
        open_files(data)
    body, _, _ = told.replace(old, new).rpartition(b',\n "xxh3"')
    manifest.write_bytes(body + b"\n}\n")  # as the message says
    with open_files(data) as files:
        assert files.steps == [0, 1, 2]


@pytest.mark.parametrize("back_end", ["netcdf", "pnetcdf", "zarr"])
def test_times_have_the_unit_and_the_calendar_that_are_set(launch: Launcher, back_end: str) -> None:
    units = {"FILES_OUT_TIME_UNITS": "days since 1850-01-01, noleap"}
    launch.play("ugrid_mesh", ranks=2, FILES_OUT_BACKEND=back_end, FILES_OUT_PATH="out.x", **units)
    with open_files(launch.folder / "out.x") as files:
        assert dict(files["time"].attrs) == {
            "standard_name": "time",
            "units": "days since 1850-01-01",
            "calendar": "noleap",
        }
    if back_end == "netcdf":
        with h5py.File(launch.folder / "out.x") as file:
            assert file["mesh"].shape == ()  # a scalar without names of dimensions has no time
            assert file["x"].shape == (10,) and file["pressure"].shape == (2, 10)


@pytest.mark.parametrize(
    ("back_end", "more"),
    [
        ("posix", {}),
        ("hdf5", {}),
        ("hdf5", {"LAYOUT": "time"}),
        ("hdf5", {"LAYOUT": "time", "COMPRESSION": "zstd"}),
        ("netcdf", {}),
        ("netcdf", {"COMPRESSION": "zstd"}),
        ("pnetcdf", {}),
        ("zarr", {}),
        ("adios2", {}),
    ],
)
def test_steps_stay_as_they_were_while_others_are_committed(
    launch: Launcher, back_end: str, more: dict[str, str]
) -> None:
    if not launch.build.has_back_end(back_end):
        pytest.skip(f"the back-end {back_end} was not built")
    settings = {f"FILES_OUT_{key}": text for key, text in more.items()}
    launch.play(
        "reader_beside_a_writer",
        ranks=1,
        alone=True,
        FILES_OUT_BACKEND=back_end,
        FILES_OUT_PATH="growing",
        **settings,
    )
