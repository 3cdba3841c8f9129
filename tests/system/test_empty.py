# SPDX-License-Identifier: BSD-3-Clause
"""Arrays without elements: put, committed and read like others, in every format."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from actors import Actors
from files import MODES, extension, file_settings, leftovers, mode_settings, skip_if_missing
from zarr_packages import dumped, has_zarr

from iocomp import open_files
from manifests import manifest_steps

FORMS = ["posix", "mpiio", "hdf5", "hdf5-time", "hdf5-deflate", "netcdf", "pnetcdf", "zarr", "adios2"]
IN_TIME = ("hdf5-time", "hdf5-deflate")  # of series only
CASES = [(form, "series") for form in FORMS]
CASES += [(form, "checkpoint") for form in FORMS if form not in IN_TIME]

SCRIPT = """
init
open out {kind}
define out none float64 0
define out flat int32 3x0x5
{full}
put out none
put out flat
{put_full}
end_step out
put out none
put out flat
{put_full}
end_step out
close out
read out
read out step=1
"""


def names_in(back_end: str, path: str) -> dict[str, tuple[int, ...]]:
    """Return what the format's own reader finds of empty variables, without the steps."""
    if back_end == "netcdf":
        import netCDF4

        with netCDF4.Dataset(path) as file:
            return {name: variable.shape for name, variable in file.variables.items()}
    if back_end == "zarr":
        return {name: tuple(array["shape"]) for name, array in dumped(Path(path))["arrays"].items()}
    import h5py

    with h5py.File(path) as file:
        group = file if back_end in IN_TIME else file["1"]
        return {name: np.shape(found) for name, found in group.items()}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("back_end", "kind"), CASES)
@pytest.mark.parametrize("alone", [False, True])
def test_empty_arrays_are_there(
    actors: Actors, back_end: str, kind: str, mode: str, alone: bool
) -> None:
    """`alone`: there is nothing else in the file."""
    skip_if_missing(actors.build, back_end)
    full = "" if alone else "define out full int64 8x8"
    put_full = "" if alone else "put out full"
    job = actors.play(
        SCRIPT.format(kind=kind, full=full, put_full=put_full),
        ranks=4 if mode == "async" else 2,
        settings={
            **mode_settings(mode),
            "files": {"out": file_settings(back_end, path=f"out{extension(back_end)}")},
        },
    )
    assert job.status == 0 and not job.failures(), job
    reads = job.calls("read")
    assert all(entry["right"] for entry in reads), job
    assert [entry["steps"] for entry in reads if entry["rank"] == 0] == [[0, 1], [1]], job
    name = f"out{'.000001' if kind == 'checkpoint' else ''}{extension(back_end)}"
    manifest = json.loads((job.folder / f"{name}.json").read_text())
    of_last = {v["name"]: v["shape"] for v in [*manifest_steps(manifest)][-1]["variables"]}
    assert of_last == {"none": [0], "flat": [3, 0, 5]} | ({} if alone else {"full": [8, 8]}), job
    if back_end in ("posix", "mpiio", "pnetcdf", "adios2"):
        return  # raw; read above; and CDF-5 has no dimension of length 0
    if back_end == "zarr" and not has_zarr():
        return
    shapes = names_in(back_end, str(job.folder / name))
    steps = (2,) if kind == "series" and back_end != "hdf5" else ()
    assert (shapes["none"], shapes["flat"]) == ((*steps, 0), (*steps, 3, 0, 5)), shapes


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back_end", FORMS)
@pytest.mark.parametrize("begin", ["replace", "continue"])
def test_a_job_without_a_step_leaves_earlier_ones(
    actors: Actors, begin: str, back_end: str, mode: str
) -> None:
    """The first commit replaces them; a job that is stopped before it has none."""
    skip_if_missing(actors.build, back_end)
    if back_end == "adios2" and begin == "continue":  # series of it are not gone on with
        return
    file = file_settings(back_end, path=f"out{extension(back_end)}")
    more = mode_settings(mode, "1 per node")
    lines = ["init", "open out series", "define out u int64 8x4", "put out u", "end_step out"]
    first = actors.play(
        "\n".join([*lines, "close out"]), ranks=3, settings={**more, "files": {"out": file}}
    )
    assert not first.failures(), first
    again = {"out": {**file, "existing": begin}}
    opened = "open out series after=-1" if begin == "continue" else "open out series"
    second = actors.play(
        "\n".join(["init", opened, "define out u int64 8x4", "close out", "read out"]),
        ranks=3,
        settings={**more, "files": again},
        folder=first.folder,
    )
    assert not second.failures(), second
    assert {tuple(entry["steps"]) for entry in second.calls("read")} == {(0,)}, second
    assert all(entry["right"] for entry in second.calls("read")), second
    assert not leftovers(second.folder), second


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back_end", FORMS)
def test_a_file_that_is_closed_without_a_step(actors: Actors, back_end: str, mode: str) -> None:
    """Every command says what is there, which is nothing; and a later job goes on with it."""
    skip_if_missing(actors.build, back_end)
    name = f"out{extension(back_end)}"
    file = file_settings(back_end, path=name)
    more = mode_settings(mode, "1 per node")
    lines = ["init", "open out series", "define out u int64 8x4", "close out"]
    job = actors.play("\n".join(lines), ranks=3, settings={**more, "files": {"out": file}})
    assert job.status == 0 and not job.failures(), job
    for words, status, told in (
        (("show",), 0, "steps"),
        (("show", "--json"), 0, '"steps": []'),
        (("ls",), 0, "closed without a step"),
        (("verify",), 0, "0 steps"),
        (("recover",), 0, ""),
        (("latest",), 1, "no step"),
    ):
        done = subprocess.run(
            [actors.build.command, *words, name],
            cwd=job.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == status and told in done.stdout + done.stderr, (words, done)
    if back_end == "adios2":  # series of it are not gone on with, its Python package is not there
        return
    with open_files(job.folder / name) as found:
        assert list(found.steps) == []
    lines[3:3] = ["put out u", "end_step out"]
    going = {"out": {**file, "existing": "continue"}}
    second = actors.play(
        "\n".join([*lines, "read out"]),
        ranks=3,
        settings={**more, "files": going},
        folder=job.folder,
    )
    assert second.status == 0 and not second.failures(), second
    assert all(entry["right"] and entry["steps"] == [0] for entry in second.calls("read")), second


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back_end", [form for form in FORMS if form not in IN_TIME])
def test_checkpoints_that_are_closed_without_a_step(
    actors: Actors, back_end: str, mode: str
) -> None:
    """There is no file, every command says so, and a later job begins with step 0."""
    skip_if_missing(actors.build, back_end)
    name = f"out{extension(back_end)}"
    settings = mode_settings(mode, "1 per node")
    settings["files"] = {"out": file_settings(back_end, path=name)}
    lines = ["init", "open out checkpoint", "define out u int64 8x4", "close out", "latest out"]
    job = actors.play("\n".join(lines), ranks=3, settings=settings)
    assert job.status == 0 and not job.failures(), job
    asked = job.calls("latest")
    assert asked and not any(entry["has_input"] for entry in asked), job
    assert [path.name for path in job.folder.iterdir()] == ["iocomp.toml"], job
    for command in ("show", "ls", "verify", "recover", "latest"):
        done = subprocess.run(
            [actors.build.command, command, name],
            cwd=job.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode in (1, 2), (command, done)
        assert done.stderr == f"iocomp: there is no {name}\n", (command, done)
    lines[3:] = ["put out u", "end_step out", "close out", "read out"]
    second = actors.play("\n".join(lines), ranks=3, settings=settings, folder=job.folder)
    assert second.status == 0 and not second.failures(), second
    reads = second.calls("read")
    assert reads and all(entry["right"] and entry["steps"] == [0] for entry in reads), second
