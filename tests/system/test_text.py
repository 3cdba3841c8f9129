# SPDX-License-Identifier: BSD-3-Clause
"""Text in variables and attributes, as each format's own tools and Python's readers show it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np
import pytest
import xarray
from actors import Actors, Job
from files import file_settings, mode_settings, skip_if_missing

from iocomp import open_files

SCRIPT = """init
open out series
define out names char 3x8
attribute out dimensions station+width of=names
attribute out _Encoding utf-8 of=names
define out label char 6
attribute out dimensions time+letters of=label
define out padded char 2x5
attribute out dimensions line+column of=padded
define out letter char scalar
define out u int64 8
attribute out units µm of=u
attribute out title Wärme+am+"See"
@0 put_text out names Zürich,Bern
@1 put_text out names Basel+CH row=2
@1 put_text out label first
@0 put_text out padded ab,cde pad=blank
@0 put_text out letter a
put out u
end_step out
@1 put_text out label second
@1 put_text out letter b
put out u
end_step out
close out
"""
NAMES = ["Zürich", "Bern", "Basel CH"]  # the last as long as there is room
TITLE = 'Wärme am "See"'
PADDED = ["ab   ", "cde  "]
HDF5 = ["hdf5"]
NETCDF = ["pnetcdf", "netcdf"]


def play(actors: Actors, back_end: str, mode: str, script: str = SCRIPT) -> Job:
    skip_if_missing(actors.build, back_end)
    settings: dict[str, Any] = mode_settings(mode, "2 per node")
    settings["files"] = {"out": file_settings(back_end, path="out")}
    job = actors.play(script, ranks=4 if mode == "async" else 2, settings=settings)
    assert job.status == 0 and not job.failures(), job
    return job


def shown(program: str, *arguments: object) -> str:
    """Return what a program prints; skips where it is not installed."""
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program}")
    words = [program, *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=60).stdout


def quoted(text: str) -> list[str]:
    return re.findall(r'"((?:[^"\\]|\\.)*)"', text)


def as_h5dump(text: str, width: int) -> str:
    """Show bytes that are not ASCII as this h5dump does: in octal, with the sign in front."""
    raw = text.encode().ljust(width, b"\0")
    return "".join(
        chr(byte) if 32 <= byte < 127 else "\\000" if byte == 0 else f"\\{byte | 0xFFFFFF00:o}"
        for byte in raw
    )


def modes(back_end: str) -> list[str]:
    return ["async", "sync", *(["kernel"] if back_end in ("hdf5", "pnetcdf") else [])]


def cases(back_ends: list[str]) -> list[Any]:
    return [
        pytest.param(back_end, mode, id=f"{back_end}-{mode}")
        for back_end in back_ends
        for mode in modes(back_end)
    ]


@pytest.mark.parametrize(("back_end", "mode"), cases(HDF5))
def test_hdf5_has_strings(actors: Actors, back_end: str, mode: str) -> None:
    path = play(actors, back_end, mode).folder / "out"
    with h5py.File(path) as file:
        for name, length in {"names": 8, "label": 6, "padded": 5, "letter": 1}.items():
            kind = h5py.check_string_dtype(file["0"][name].dtype)
            assert (kind.encoding, kind.length) == ("utf-8", length)
        first, second = file["0"], file["1"]
        assert list(first["names"].asstr()[()]) == NAMES
        assert list(first["padded"].asstr()[()]) == PADDED
        assert [step["label"].asstr()[()] for step in (first, second)] == ["first", "second"]
        assert [step["letter"].asstr()[()] for step in (first, second)] == ["a", "b"]
        assert set(second) == {"label", "letter", "u"}
        assert file.attrs["title"] == TITLE
        assert first["u"].attrs["units"] == second["u"].attrs["units"] == "µm"
    told = shown("h5dump", "-d", "/0/names", path)
    assert "STRSIZE 8" in told and "H5T_CSET_UTF8" in told and "SIMPLE { ( 3 )" in told
    data = told.partition("DATA {")[2].partition("ATTRIBUTE")[0]
    assert quoted(data) == [as_h5dump(name, 8) for name in NAMES]
    assert quoted(shown("h5dump", "-d", "/1/label", path).partition("DATA {")[2])[0] == "second"
    assert f'"{as_h5dump(TITLE, 0)}"' in shown("h5dump", "-a", "/title", path)


@pytest.mark.parametrize("mode", ["async", "sync", "kernel"])
@pytest.mark.parametrize("back_end", ["hdf5-time", "hdf5-deflate"])
def test_hdf5_has_the_same_strings_along_time(
    actors: Actors, back_end: str, mode: str, tmp_path: Path
) -> None:
    if (back_end, mode) == ("hdf5-deflate", "kernel"):
        pytest.skip("compressed files are written synchronously")
    job = play(actors, back_end, mode)
    path = job.folder / "out"
    with h5py.File(path) as file:
        shapes = {"names": (8, (1, 3)), "padded": (5, (1, 2)), "label": (6, (2,))}
        shapes["letter"] = (1, (2,))
        for name, (length, shape) in shapes.items():
            kind = h5py.check_string_dtype(file[name].dtype)
            assert (kind.encoding, kind.length) == ("utf-8", length)
            assert file[name].shape == shape
        assert list(file["names"].asstr()[0]) == NAMES
        assert list(file["padded"].asstr()[0]) == PADDED
        assert list(file["label"].asstr()[()]) == ["first", "second"]
        assert list(file["letter"].asstr()[()]) == ["a", "b"]
    # Older ones cannot read strings of fixed length: github.com/Unidata/netcdf-c/issues/2159.
    version = tuple(int(part) for part in netCDF4.__netcdf4libversion__.split(".")[:3])
    if version > (4, 9, 0):
        with xarray.open_dataset(path, engine="netcdf4") as data:
            assert list(data.label.values) == ["first", "second"]
            assert list(data.names.values[0]) == NAMES
    read_texts(path)


def read_texts(path: Path) -> None:
    """Read them by iocomp's Python reader: characters, whatever HDF5 makes of them."""
    with open_files(path) as files:
        for step, label in enumerate((b"first", b"second")):
            assert files.read("label", step).tobytes() == label.ljust(6, b"\0")
            assert files.read("letter", step).tobytes() == (b"a", b"b")[step]
        names = files.read("names", 0)
        assert names.shape == (3, 8)
        assert [row.tobytes().rstrip(b"\0").decode() for row in names] == NAMES


CHARACTERS = """init
open out series
define out names char 6x8 seed=5
define out label char 9 seed=5
define out letters char 5x1 seed=5
define out letter char scalar seed=5
define out long char 40x3x50 seed=5
"""
EVERYTHING = "".join(f"put out {name}\n" for name in ("names", "label", "letters", "long"))
EVERYTHING += "@0 put out letter\nend_step out\n"
READ = "init\nread out seeds=names:5,label:5,letters:5,long:5,letter:5\n"


@pytest.mark.parametrize("back_end", ["hdf5", "hdf5-time", "hdf5-deflate"])
@pytest.mark.parametrize("is_old", [False, True])
def test_characters_are_read_by_iocomp(actors: Actors, back_end: str, is_old: bool) -> None:
    """Along time, files of before had an axis of S1 for the characters of a text."""
    if is_old and back_end == "hdf5":
        pytest.skip("there has always been one way")
    settings = {"files": {"out": file_settings(back_end, path="out")}}
    job = actors.play(CHARACTERS + EVERYTHING * 2 + "close out\n", ranks=2, settings=settings)
    assert job.status == 0 and not job.failures(), job
    path = job.folder / "out"
    group = "1" if back_end == "hdf5" else "/"
    with h5py.File(path) as file:
        expected = {name: file[group][name][()] for name in ("names", "label", "letters", "letter")}
    if is_old:
        one_by_one(path)
    read = actors.play(READ, ranks=2, settings=settings, folder=job.folder)
    assert read.status == 0 and not read.failures(), read
    for entry in read.calls("read"):
        assert entry["steps"] == [0, 1] and entry["right"], entry
    with open_files(path) as files:
        shapes = {"names": (6, 8), "label": (9,), "letters": (5, 1), "letter": ()}
        for name, shape in shapes.items():
            found = files.read(name, 1)
            assert found.shape == shape and found.dtype == "S1"
            wanted = np.asarray(expected[name] if group == "1" else expected[name][1])
            assert found.tobytes() == wanted.tobytes().ljust(found.size, b"\0")
        assert files.read("long", 0).shape == (40, 3, 50)


def one_by_one(path: Path) -> None:
    with h5py.File(path, "r+") as file:
        for name in ("names", "label", "letters", "long"):
            strings = file[name]
            length = strings.dtype.itemsize
            raw = np.frombuffer(strings[()].tobytes(), "S1").reshape(*strings.shape, length)
            del file[name]
            kind = h5py.string_dtype("utf-8", 1)
            file.create_dataset(name, data=raw.astype(kind), maxshape=(None, *raw.shape[1:]))


@pytest.mark.parametrize("mode", ["async", "sync", "kernel"])
@pytest.mark.parametrize("back_end", ["hdf5", "hdf5-time", "hdf5-deflate"])
def test_another_job_goes_on_with_texts(actors: Actors, back_end: str, mode: str) -> None:
    settings: dict[str, Any] = mode_settings(mode, "1 per node")
    settings["files"] = {"out": file_settings(back_end, path="out", existing="continue")}
    first = actors.play(CHARACTERS + EVERYTHING + "close out\n", ranks=3, settings=settings)
    assert first.status == 0 and not first.failures(), first
    second = actors.play(
        CHARACTERS + "begin_step out 1\n" + EVERYTHING + "close out\n",
        ranks=3,
        settings=settings,
        folder=first.folder,
    )
    assert second.status == 0 and not second.failures(), second
    third = actors.play(READ, ranks=2, settings=settings, folder=first.folder)
    assert third.status == 0 and not third.failures(), third
    assert all(entry["steps"] == [0, 1] for entry in third.calls("read")), third


@pytest.mark.parametrize(("back_end", "mode"), cases(NETCDF))
def test_netcdf_has_characters_that_its_readers_join(
    actors: Actors, back_end: str, mode: str
) -> None:
    path = play(actors, back_end, mode).folder / "out"
    with xarray.open_dataset(path, engine="netcdf4") as data:
        assert list(data.names.values) == NAMES  # text, since _Encoding says of which kind
        assert data.names.dims == ("station",)
        assert list(data.label.values) == [b"first", b"second"] and data.label.dims == ("time",)
        assert list(data.padded.values) == [text.encode() for text in PADDED]
        assert list(data.letter.values) == [b"a", b"b"]
        assert data.attrs["title"] == TITLE and data.u.attrs["units"] == "µm"
    with netCDF4.Dataset(path) as data:
        data.set_auto_mask(False)  # an encoding in netCDF's own reader is for ASCII alone
        assert data["label"].dtype == "S1" and data["label"].shape == (2, 6)
        assert list(netCDF4.chartostring(data["label"][:])) == ["first", "second"]
    programs = ["ncdump"] if back_end == "netcdf" else ["ncdump", "ncmpidump"]
    for program in programs:
        told = shown(program, path)
        assert "char names(station, width) ;" in told and "char label(time, letters) ;" in told
        assert f':title = "{TITLE}"'.replace('"See"', '\\"See\\"') in told
        assert 'u:units = "µm"' in told
        values = told.partition("data:")[2]
        expected = {
            "names": ["Z\\303\\274rich", "Bern", "Basel CH"],
            "label": ["first", "second"],
            "padded": PADDED,
            "letter": ["ab"],
        }
        for name, texts in expected.items():
            listed = re.search(rf"^ {name} =(.*?);$", values, re.MULTILINE | re.DOTALL)
            assert listed, told
            assert quoted(listed[1]) == texts, told


@pytest.mark.parametrize("engine", ["BP5", "BP4"])
@pytest.mark.parametrize("mode", ["async", "sync"])
def test_bpls_shows_rows_of_text(actors: Actors, mode: str, engine: str) -> None:
    skip_if_missing(actors.build, "adios2")
    settings: dict[str, Any] = mode_settings(mode, "2 per node")
    settings["files"] = {"out": {"backend": "adios2", "engine": engine, "path": "out.bp"}}
    job = actors.play(SCRIPT, ranks=4 if mode == "async" else 2, settings=settings)
    assert job.status == 0 and not job.failures(), job
    if not actors.build.bpls:
        pytest.skip("there is no bpls")
    path = Path(job.folder, "out.bp")
    padded = [text.rstrip() for text in PADDED]  # bpls counts the blanks behind the quotes
    texts = {"names": NAMES, "label": ["first", "second"], "padded": padded, "letter": ["ab"]}
    for name, expected in texts.items():
        told = shown(actors.build.bpls, "--dump", "--string", path, name)
        assert quoted(told) == expected, told
    attributes = shown(actors.build.bpls, "--attrsonly", "--long", path)
    assert re.search(r'string +title +attr +"?.*Wärme am "See"', attributes), attributes
    assert re.search(r'string +u/units +attr +.*"µm"', attributes), attributes


@pytest.mark.parametrize("mode", ["async", "sync", "kernel"])
def test_long_attributes_of_a_series_without_data_are_there(actors: Actors, mode: str) -> None:
    """HDF5 makes its last block longer for one, and nothing lies behind that block."""
    lengths = {"e": 60_000, "b": 60_000, "c": 1000}
    first, *others = [f"attribute out {name} {'x' * length}" for name, length in lengths.items()]
    lines = ["init", "open out series", first, "end_step out", *others, "end_step out", "close out"]
    job = play(actors, "hdf5", mode, "\n".join(lines))
    with h5py.File(job.folder / "out") as file:
        assert {name: len(file.attrs[name]) for name in file.attrs} == lengths
