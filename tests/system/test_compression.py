# SPDX-License-Identifier: BSD-3-Clause
"""Compressed HDF5 and netCDF: zstd and deflate, any number of threads, other readers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from actors import INVALID_SETTING, Actors, Job
from files import extension, file_settings, mode_settings, skip_if_missing, values
from processes import environment_without_iocomp

ZSTD = 32015  # among HDF5's filters
DEFLATE = 1
STEPS = 3
ROWS = 64
COLUMNS = 300
SCRIPT = (
    f"init\nopen out series\ndefine out u float64 {ROWS}x{COLUMNS}\n"
    + "put out u by=columns\nend_step out\n" * STEPS
    + "close out\n"
)
BACK_ENDS = ["hdf5", "netcdf"]
MODES = ["async", "sync"]  # the kernel writes no compressed files


def play(
    actors: Actors, back_end: str, mode: str, compression: str, threads: int = 1, **more: object
) -> Job:
    """Write a compressed series of some chunks a step."""
    skip_if_missing(actors.build, back_end)
    file = {"path": f"out{extension(back_end)}", "compression": compression, "chunk": "16 KiB"}
    if back_end == "hdf5":
        file["layout"] = "time"
    return actors.play(
        SCRIPT,
        ranks=4,
        settings={
            **mode_settings(mode),
            "writing": {"threads": threads},
            "files": {"out": file_settings(back_end, **file, **more)},
        },
    )


def file_of(job: Job, back_end: str) -> Path:
    """Return the file that a job was to write."""
    if "without libzstd" in " ".join(entry.get("story", "") for entry in job.calls("open")):
        pytest.skip("this build has no zstd")
    assert job.status == 0 and not job.failures(), job
    return job.folder / f"out{extension(back_end)}"


def expected() -> np.ndarray[Any, Any]:
    """Return all steps of u."""
    steps = [values("f8", ROWS * COLUMNS, step).reshape(ROWS, COLUMNS) for step in range(STEPS)]
    return np.stack(steps)


def read_elsewhere(program: str, path: Path, environment: dict[str, str]) -> None:
    """Read the file in a process of its own, whose HDF5 has not seen our filter or a plug-in."""
    told = path.parent / "read.npy"
    done = subprocess.run(
        [sys.executable, "-c", program, str(path), str(told)],
        env=environment_without_iocomp() | environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done
    np.testing.assert_array_equal(np.load(told), expected())


WITH_H5PY = """
import sys, h5py, hdf5plugin, numpy
numpy.save(sys.argv[2], h5py.File(sys.argv[1])["u"][:])
"""
WITH_NETCDF4 = """
import sys, netCDF4, numpy
numpy.save(sys.argv[2], netCDF4.Dataset(sys.argv[1])["u"][:].data)
"""


@pytest.mark.parametrize("back_end", BACK_ENDS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("compression", "number"), [("zstd", ZSTD), ("deflate", DEFLATE)])
def test_chunks_pass_the_filter_that_was_asked_for(
    actors: Actors, back_end: str, mode: str, compression: str, number: int
) -> None:
    import h5py

    path = file_of(play(actors, back_end, mode, compression), back_end)
    with h5py.File(path) as file:
        u = file["u"]
        create = u.id.get_create_plist()
        filters = [create.get_filter(i)[0] for i in range(create.get_nfilters())]
        assert filters == [h5py.h5z.FILTER_SHUFFLE, number]
        assert u.id.get_num_chunks() > 3 * STEPS
        assert u.id.get_storage_size() < 0.5 * u.nbytes
        if number == DEFLATE:
            np.testing.assert_array_equal(u[:], expected())
    shown = subprocess.run(
        [actors.build.command, "show", str(path), "--variable", "u", "--step", "2", "--json"],
        env=environment_without_iocomp(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60 * actors.build.time_factor,
    )
    assert shown.returncode == 0, shown


@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_zstd_is_read_by_h5py_with_its_plug_in(actors: Actors, back_end: str) -> None:
    pytest.importorskip("hdf5plugin")
    path = file_of(play(actors, back_end, "async", "zstd"), back_end)
    read_elsewhere(WITH_H5PY, path, {})


def test_zstd_is_read_by_netcdf_where_a_plug_in_is_found(actors: Actors) -> None:
    plugins = pytest.importorskip("hdf5plugin").PLUGIN_PATH
    path = file_of(play(actors, "netcdf", "async", "zstd"), "netcdf")
    read_elsewhere(WITH_NETCDF4, path, {"HDF5_PLUGIN_PATH": str(plugins)})


def chunks_in(path: Path) -> list[tuple[Any, int, bytes]]:
    """Return where each chunk of u lies in the dataset and in the file, and its bytes there.

    Other bytes of the file may differ: HDF5 writes the time into headers.
    """
    import h5py

    raw = path.read_bytes()
    with h5py.File(path) as file:
        u = file["u"].id
        found = [u.get_chunk_info(number) for number in range(u.get_num_chunks())]
    return [
        (one.chunk_offset, one.byte_offset, raw[one.byte_offset : one.byte_offset + one.size])
        for one in found
    ]


@pytest.mark.parametrize("back_end", BACK_ENDS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("compression", ["zstd", "deflate"])
def test_any_number_of_threads_writes_the_same_chunks_to_the_same_places(
    actors: Actors, back_end: str, mode: str, compression: str
) -> None:
    one = file_of(play(actors, back_end, mode, compression, threads=1), back_end)
    many = file_of(play(actors, back_end, mode, compression, threads=5), back_end)
    chunks = chunks_in(one)
    assert len(chunks) > 3 * STEPS
    assert chunks == chunks_in(many)


@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_zstd_is_read_back_by_us(actors: Actors, back_end: str) -> None:
    job = play(actors, back_end, "async", "zstd")
    path = file_of(job, back_end)
    again = actors.play(
        "init\nread out\n",
        ranks=2,
        folder=job.folder,
        settings={
            "mode": "sync",
            "files": {"out": file_settings(back_end, path=path.name)},
        },
    )
    assert again.status == 0 and not again.failures(), again


def test_a_level_that_deflate_does_not_have_is_refused(actors: Actors) -> None:
    job = play(actors, "hdf5", "sync", "deflate:12")
    assert [entry["code"] for entry in job.calls("init")] == [INVALID_SETTING] * 4
    assert all('compression = "deflate:12"' in entry["story"] for entry in job.calls("init"))


@pytest.mark.parametrize("back_end", BACK_ENDS)
@pytest.mark.parametrize("mode", MODES)
def test_variables_have_compression_of_their_own(actors: Actors, back_end: str, mode: str) -> None:
    import h5py

    skip_if_missing(actors.build, back_end)
    names = ["u", "v", "rho", "rho_e"]
    script = "init\nopen out series\n"
    script += "".join(f"define out {name} float64 {ROWS}x{COLUMNS}\n" for name in names)
    script += ("".join(f"put out {name} by=rows\n" for name in names) + "end_step out\n") * STEPS
    more = {"layout": "time"} if back_end == "hdf5" else {}
    chosen = file_settings(
        back_end,
        path=f"out{extension(back_end)}",
        variables={
            "u": {"compression": "deflate", "chunk": "16 KiB"},
            '"rho*"': {"compression": "deflate unshuffled"},
            "rho_e": {"compression": "none", "chunk": "32 KiB"},
        },
        **more,
    )
    job = actors.play(
        script + "close out\nread out\n",
        ranks=4,
        settings={**mode_settings(mode), "files": {"out": chosen}},
    )
    assert job.status == 0 and not job.failures(), job
    with h5py.File(job.folder / f"out{extension(back_end)}") as file:
        found = {}
        for name in names:
            create = file[name].id.get_create_plist()
            filters = [create.get_filter(i)[0] for i in range(create.get_nfilters())]
            found[name] = (filters, file[name].chunks[1:] == (ROWS, COLUMNS))
            np.testing.assert_array_equal(file[name][:], expected())
    assert found == {
        "u": ([h5py.h5z.FILTER_SHUFFLE, DEFLATE], False),
        "v": ([], True),
        "rho": ([DEFLATE], True),
        "rho_e": ([], False),
    }


def test_what_compression_gained_is_told(actors: Actors) -> None:
    job = play(actors, "hdf5", "async", "deflate")
    path = file_of(job, "hdf5")
    shown = subprocess.run(
        [actors.build.command, "show", str(path), "--json"],
        env=environment_without_iocomp(),
        capture_output=True,
        text=True,
        check=True,
        timeout=60 * actors.build.time_factor,
    )
    said = json.loads(shown.stdout)
    assert said["bytes"] == path.stat().st_size
    assert said["value_bytes"] == STEPS * ROWS * COLUMNS * 8 > 2 * said["bytes"]
    assert (
        ": 1)"
        in subprocess.run(
            [actors.build.command, "show", str(path)],
            env=environment_without_iocomp(),
            capture_output=True,
            text=True,
            check=True,
            timeout=60 * actors.build.time_factor,
        ).stdout
    )
