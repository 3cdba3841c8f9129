# SPDX-License-Identifier: BSD-3-Clause
"""Random files, and the cases in which readers were known to see other things."""

from __future__ import annotations

import math
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent))

from same_reader import BUILD, Trials  # first: it says where the package and its libraries are

import iocomp  # isort: skip
from iocomp.bp import BpFile  # isort: skip
from iocomp.xarray_engine import IocompBackend  # isort: skip

xarray = pytest.importorskip("xarray")

FORMATS: dict[str, dict[str, Any]] = {
    "posix": {"backend": "posix"},
    "hdf5": {"backend": "hdf5"},
    "hdf5-time": {"backend": "hdf5", "layout": "time"},
    "netcdf": {"backend": "netcdf"},
    "pnetcdf": {"backend": "pnetcdf"},
    "zarr": {"backend": "zarr"},
    "bp4": {"backend": "adios2", "engine": "BP4"},
    "bp5": {"backend": "adios2", "engine": "BP5"},
}
TELL_THEMSELVES = ["hdf5", "hdf5-time", "netcdf", "pnetcdf"]
OF_NETCDF = ["netcdf", "pnetcdf"]
OF_BP = ["bp4", "bp5"]
every_format = pytest.mark.parametrize("form", FORMATS)


@pytest.fixture(scope="module")
def trials(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trials]:
    running = Trials(tmp_path_factory.mktemp("trials"))
    yield running
    running.end()


Begin = Callable[..., tuple[iocomp.File, Path]]


@pytest.fixture
def begin(trials: Trials, tmp_path: Path) -> Begin:
    """Return what opens a new file of a format; it tells the file's path, too."""

    def begin_file(form: str, **options: object) -> tuple[iocomp.File, Path]:
        settings = FORMATS[form]
        if not BUILD.has_back_end(settings["backend"]):
            pytest.skip(f"the back-end {settings['backend']} was not built")
        endings = dict.fromkeys(OF_BP, ".bp") | dict.fromkeys(OF_NETCDF, ".nc") | {"zarr": ".zarr"}
        path = tmp_path / f"file{endings.get(form, '.h5')}"
        chosen = {"path": str(path), **settings, **options}
        return trials.session.open("file", "series", settings=chosen), path

    return begin_file


def put_steps(file: iocomp.File, steps: int, **variables: Any) -> None:
    """Put steps 0 and on; a variable is its attribute "dimensions", and its values by the step."""
    made = {}
    for name, (dimensions, values) in variables.items():
        first = np.asarray(values(0))
        made[name] = file.define(name, first.dtype, first.shape)
        if dimensions:
            made[name].set_attribute("dimensions", dimensions)
    for step in range(steps):
        file.begin_step(step, float(step))
        for name, (_, values) in variables.items():
            made[name].put(np.asarray(values(step)), buffered=True)
        file.end_step()
    file.close()


def numbers(step: int, count: int = 4) -> Any:
    return np.arange(float(count)) + 10 * step


def letters(step: int, *shape: int) -> Any:
    return (97 + step + np.arange(math.prod(shape), dtype=np.uint8)).view("S1").reshape(shape)


def seen_alike(
    trials: Trials, path: Path, form: str, kind: str = "series"
) -> dict[int, dict[str, Any]]:
    """Return what C, Python and xarray see alike: values by step and name."""
    view, wrong = trials.view(path, FORMATS[form]["backend"], kind=kind)
    assert not wrong
    return view.steps


def command(*words: object) -> str:
    done = subprocess.run(
        [BUILD.command, *map(str, words)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


# Behind the first 78 the seeds that have found something: 753, a checkpoint with a text of none.
@pytest.mark.parametrize("first", [*range(1, 79, 13), 753])
def test_random_files_are_read_alike(trials: Trials, first: int) -> None:
    wrong = {seed: trials.differences(seed) for seed in range(first, first + 13)}
    assert not {seed: differences for seed, differences in wrong.items() if differences}


@every_format
def test_a_variable_may_be_called_like_a_dimension(trials: Trials, begin: Begin, form: str) -> None:
    file, path = begin(form)
    puts: dict[str, Any] = {
        "lat": ("", lambda step: 100.0 * step),
        "v": ("time lat", numbers),
        "tax": ("time", lambda step: 7.0 * step),
        "w": ("time tax", lambda step: numbers(step, 3)),
    }
    put_steps(file, 3, **puts)
    for step, seen in seen_alike(trials, path, form).items():
        for name, (_, values) in puts.items():
            assert np.array_equal(seen[name], values(step)), (name, step)


@pytest.mark.parametrize("form", OF_BP)
def test_counts_that_fall_to_nothing(trials: Trials, begin: Begin, form: str) -> None:
    counts = [3, 0, 5, 2, 0, 0, 4]
    file, path = begin(form)
    grains = file.define("grains", "i8", (3,))
    for step, count in enumerate(counts):
        grains.set_shape((count,))
        grains.put(np.arange(count) + 100 * step, buffered=True)
        file.end_step()
    file.close()
    expected = [(np.arange(count) + 100 * step).tolist() for step, count in enumerate(counts)]
    seen = seen_alike(trials, path, form)
    assert [seen[step]["grains"].tolist() for step in range(7)] == expected
    by_package = bp_of_the_package(path)
    for step, count in enumerate(counts):
        if count or form == "bp5":  # BP4 keeps no variable without elements
            out = np.empty(count, "i8")
            by_package.read("grains", step, (count,), (0,), out)
            assert out.tolist() == expected[step]


@pytest.mark.parametrize("form", OF_BP)
def test_elements_that_nobody_put_are_0(trials: Trials, begin: Begin, form: str) -> None:
    file, path = begin(form)
    hollow = file.define("hollow", "f8", (1000,))
    for step in range(3):
        hollow.put(np.full(10, step + 0.5), (500,), buffered=True)
        file.end_step()
    file.close()
    seen = seen_alike(trials, path, form)
    expected = [np.repeat([0, step + 0.5, 0], (500, 10, 490)) for step in range(3)]
    assert [values["hollow"].tolist() for values in seen.values()] == [e.tolist() for e in expected]
    by_package = bp_of_the_package(path)
    out = np.full(1000, 7.0)
    by_package.read("hollow", 2, (1000,), (0,), out)
    assert np.array_equal(out, expected[2])


def bp_of_the_package(path: Path) -> BpFile:
    """Return BP as Python reads it where the library cannot."""
    pytest.importorskip("adios2", reason="the rest of this test needs the Python package adios2")
    return BpFile(str(path))


@pytest.mark.parametrize("form", [*TELL_THEMSELVES, "zarr", *OF_BP])
@pytest.mark.parametrize("recovers", [False, True])
def test_a_lost_manifest(trials: Trials, begin: Begin, form: str, recovers: bool) -> None:
    file, path = begin(form)
    put_steps(file, 4, u=("", numbers), i=("", lambda step: np.int32(step)))
    Path(f"{path}.json").unlink()
    if recovers:
        command("recover", path)
    seen = seen_alike(trials, path, form)
    assert list(seen) == [0, 1, 2, 3]
    assert all(np.array_equal(values["u"], numbers(step)) for step, values in seen.items())
    assert [values["i"] for values in seen.values()] == [0, 1, 2, 3]


@pytest.mark.parametrize("form", ["hdf5", "hdf5-time"])
@pytest.mark.parametrize("recovers", [False, True])
def test_arrays_without_elements_are_in_each_step(
    trials: Trials, begin: Begin, form: str, recovers: bool
) -> None:
    file, path = begin(form)
    put_steps(file, 3, none=("", lambda _: np.empty((3, 0))))
    Path(f"{path}.json").unlink()
    if recovers:
        command("recover", path)
    seen = seen_alike(trials, path, form)
    assert [values["none"].shape for values in seen.values()] == [(3, 0)] * 3


@pytest.mark.parametrize("form", TELL_THEMSELVES)
def test_a_file_that_another_tool_has_grown(trials: Trials, begin: Begin, form: str) -> None:
    file, path = begin(form)
    put_steps(file, 3, u=("", numbers))
    grow(path, form)
    assert path.stat().st_size > 2_000_000
    assert "torn" not in command("ls", path) and "damaged" not in command("verify", path)
    seen = seen_alike(trials, path, form)
    assert [values["u"].tolist() for values in seen.values()] == [
        numbers(step).tolist() for step in range(3)
    ]
    if form == "hdf5-time":  # whose root is made anew
        with pytest.raises(iocomp.UnsupportedError, match='"much" was not written with layout'):
            begin(form, existing="continue")
        return
    file, _ = begin(form, existing="continue")
    u = file.define("u", "f8", (4,))
    file.begin_step(3, 3.0)
    u.put(numbers(3), buffered=True)
    file.end_step()
    file.close()
    seen = seen_alike(trials, path, form)
    assert [values["u"].tolist() for values in seen.values()] == [
        numbers(step).tolist() for step in range(4)
    ]


def grow(path: Path, form: str) -> None:
    """Add 2 MB by the library of a format: as an attribute where it holds one so long."""
    values = np.arange(250_000.0)
    if form in OF_NETCDF:
        import netCDF4

        with netCDF4.Dataset(path, "a") as file:
            if form == "pnetcdf":
                file.setncattr("much", values)
            else:
                file.createDimension("much", len(values))
                file.createVariable("much", "f8", ("much",))[:] = values
        return
    import h5py

    with h5py.File(path, "a") as file:
        file.create_dataset("much", data=values)


REPACKS = {
    "hdf5": (["h5repack"], ["h5repack", "-f", "GZIP=1"], ["h5repack", "-l", "CONTI"]),
    "hdf5-time": (
        ["h5repack"],
        ["h5repack", "-f", "SHUF", "-f", "GZIP=1"],
        ["h5repack", "-l", "CONTI"],  # nothing grows there
    ),
    "netcdf": (["nccopy"], ["nccopy", "-d", "1"], ["nccopy", "-k", "cdf5"]),
    "pnetcdf": (["nccopy"], ["nccopy", "-k", "netCDF-4"], ["nccopy", "-k", "64-bit offset"]),
}


@pytest.mark.parametrize(
    ("form", "words"), [(form, words) for form, found in REPACKS.items() for words in found]
)
def test_a_file_that_was_packed_anew(
    trials: Trials, begin: Begin, form: str, words: Sequence[str]
) -> None:
    if shutil.which(words[0]) is None:
        pytest.skip(f"there is no {words[0]}")
    file, path = begin(form)
    puts: dict[str, Any] = {
        "u": ("", numbers),
        "v": ("", lambda step: numbers(step, 5000)),
        "letter": ("", lambda step: letters(step, 1)),
        "letters": ("", lambda step: letters(step, 2, 1)),
        "word": ("", lambda step: letters(step, 3)),
        "words": ("", lambda step: letters(step, 2, 3)),
    }
    put_steps(file, 3, **puts)
    new = path.with_name("new")
    subprocess.run([*words, str(path), str(new)], check=True)
    whole = new.read_bytes()
    new.rename(path)
    assert "torn" not in command("ls", path)
    assert "damaged" not in command("verify", path)
    for step, values in seen_alike(trials, path, form).items():
        for name, (_, values_of) in puts.items():
            assert np.array_equal(values[name], values_of(step)), name
    path.write_bytes(whole[: len(whole) * 2 // 3])
    assert "torn" in command("ls", path)
    with pytest.raises(iocomp.StorageError, match="it is torn"):
        iocomp.open_files(path)


def test_names_along_time_do_not_look_like_steps(begin: Begin) -> None:
    file, _ = begin("hdf5-time")
    file.define("u", "f8", (4,))
    with pytest.raises(iocomp.UnsupportedError, match="0/u"):
        file.define("0/u", "f8", (4,))
    file.close()


@every_format
def test_an_array_may_be_called_time(trials: Trials, begin: Begin, form: str) -> None:
    file, path = begin(form)
    time, u = file.define("time", "f8", (3,)), file.define("u", "f8", (4,))
    for step in range(3):
        time.put(numbers(step, 3), buffered=True)
        u.put(numbers(step), buffered=True)
        file.end_step()
    file.close()
    seen_alike(trials, path, form)
    with xarray.open_dataset(path, engine=IocompBackend) as found:
        assert found["time"].dims == ("step", "dim_3") and found["u"].dims == ("step", "dim_4")
        assert np.array_equal(found["time"].values, [numbers(step, 3) for step in range(3)])
        assert np.array_equal(found["u"].values, [numbers(step) for step in range(3)])
    if form in OF_NETCDF:  # xarray's own engine wants `time` to be a coordinate
        with pytest.raises(ValueError, match="same name as one of its dimensions"):
            xarray.open_dataset(path, engine="netcdf4")


@every_format
def test_readers_stay_open_while_a_series_grows(begin: Begin, form: str) -> None:
    file, path = begin(form)
    u = file.define("u", "f8", (4,))
    kept: list[tuple[iocomp.Files, Any]] = []
    for step in range(5):
        file.begin_step(step, float(step))
        u.put(numbers(step), buffered=True)
        file.end_step()
        file.wait_step(step)
        kept.append((iocomp.open_files(path), xarray.open_dataset(path, engine=IocompBackend)))
        for last, (files, dataset) in enumerate(kept):
            assert files.steps == list(range(last + 1))
            for each in files.steps:
                assert np.array_equal(files.read("u", each), numbers(each))
            assert np.array_equal(dataset["u"][-1].values, numbers(last))
    file.close()
    for files, dataset in kept:
        files.close()
        dataset.close()


@pytest.mark.parametrize("form", ["posix", "hdf5", "netcdf", "bp5"])
def test_steps_that_are_read_later_elsewhere(begin: Begin, form: str) -> None:
    """Lazily, by threads, and by processes that were begun anew."""
    file, path = begin(form)
    put_steps(file, 4, u=("", numbers))
    expected = [numbers(step).tolist() for step in range(4)]
    with xarray.open_dataset(path, engine=IocompBackend) as found:
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
            values = list(processes.map(step_of, [found] * 4, range(4)))
        assert values == expected
        pytest.importorskip("dask")
        chunked = found.chunk({"time": 1})["u"]
        for scheduler in ("threads", "synchronous"):
            assert chunked.compute(scheduler=scheduler).values.tolist() == expected
        doubled = (chunked * 2).compute(scheduler="processes", num_workers=2)
        assert (doubled.values / 2).tolist() == expected


def step_of(dataset: Any, step: int) -> Any:
    return dataset["u"][step].values.tolist()


@pytest.mark.parametrize("form", ["posix", *TELL_THEMSELVES, "zarr", *OF_BP])
@pytest.mark.parametrize("recovers", [False, True])
def test_files_of_one_step_keep_its_number(
    trials: Trials, begin: Begin, form: str, recovers: bool
) -> None:
    if form == "hdf5-time":
        pytest.skip("its files hold all steps")
    if form == "posix" and not recovers:
        pytest.skip("it says nothing of itself")
    file, path = begin(form, kind="file_per_step")
    u = file.define("u", "f8", (4,))
    for number in (3, 7, 12):
        file.begin_step(number, float(number))
        u.put(numbers(number), buffered=True)
        file.end_step()
    file.close()
    for manifest in path.parent.glob(f"{path.stem}.*.json"):
        if form != "posix":
            manifest.unlink()
    if recovers:
        command("recover", path.parent)
    seen = seen_alike(trials, path, form, "checkpoint")
    assert list(seen) == [3, 7, 12]
    for number, values in seen.items():
        assert np.array_equal(values["u"], numbers(number))
