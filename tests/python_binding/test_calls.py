# SPDX-License-Identifier: BSD-3-Clause
"""Options of one open, closes that nobody waits for, rows behind those of other ranks."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest
from conftest import MODES, Launcher, Play

from iocomp import open_files

WAYS = [
    *(("posix", mode) for mode in MODES),
    ("hdf5", "kernel"),
    ("hdf5", "shared"),
    ("netcdf", "kernel"),
    ("pnetcdf", "message"),
    ("mpiio", "sync"),
    ("adios2", "kernel"),
    ("adios2", "shared"),
]


def need(launch: Launcher, back_end: str) -> None:
    if not list((launch.library.parent / "iocomp").glob(f"*_{back_end}.so")):
        pytest.skip(f"{back_end} was not built")


@pytest.mark.parametrize("mode", MODES)
def test_path_and_back_end_are_said_in_the_call(launch: Launcher, mode: str) -> None:
    need(launch, "hdf5")
    launch.play("options_of_one_open", ranks=4, **MODES[mode])


@pytest.mark.parametrize(
    ("whom", "settings"),
    [
        ("all", {"FILES_PATH": "all.bin", "FILES_BACKEND": "posix"}),
        ("named", {"FILES_RUN_PATH": "named.bin"}),
    ],
)
def test_what_the_user_says_of_a_name_holds_over_the_call(
    launch: Launcher, whom: str, settings: dict[str, str]
) -> None:
    launch.play("options_under_the_user", whom, ranks=2, **settings)


@pytest.mark.parametrize("mode", MODES)
def test_ranks_that_give_other_options_are_told(launch: Launcher, mode: str) -> None:
    who = "server" if "TRANSPORT_KIND" in MODES[mode] else "rank"
    launch.play("different_options", who, ranks=4, **MODES[mode])


@pytest.mark.parametrize(("back_end", "mode"), WAYS)
def test_a_file_for_each_time_is_closed_later(launch: Launcher, back_end: str, mode: str) -> None:
    need(launch, back_end)
    launch.play("one_file_each_time", ranks=4, FILES_FIELDS_BACKEND=back_end, **MODES[mode])
    paths = sorted(launch.folder.glob("fields[0-9][0-9].out"))
    assert len(paths) == (12 if back_end == "posix" else 5)
    # Finalize has settled those that nobody asked for.
    if back_end == "adios2":
        launch.play("files_of_each_time", ranks=4, FILES_FIELDS_BACKEND=back_end, **MODES[mode])
        return
    writers = 2 if "TRANSPORT_KIND" in MODES[mode] else 4
    for time, path in enumerate(paths):
        with open_files(path) as files:
            assert files.steps == [time]
            expected = np.repeat(np.arange(writers)[:, None] + time, 20000, 1)
            assert np.array_equal(files.read("u", time), expected)


@pytest.mark.parametrize("mode", [each for each in MODES if each != "sync"])  # end_step tells
def test_a_close_that_nobody_waits_for_tells_its_failure(play: Play, mode: str) -> None:
    play("a_close_that_fails", ranks=4, **MODES[mode])


@pytest.mark.parametrize(("back_end", "mode"), [*WAYS[:6], *WAYS[-2:]])
def test_particles_follow_those_of_other_ranks(launch: Launcher, back_end: str, mode: str) -> None:
    need(launch, back_end)
    launch.play("particles", ranks=4, FILES_FIELDS_BACKEND=back_end, **MODES[mode])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back_end", ["netcdf", "pnetcdf"])
def test_a_series_that_keeps_its_shapes_takes_the_number_of_particles(
    launch: Launcher, back_end: str, mode: str
) -> None:
    need(launch, back_end)
    launch.play("particles_of_one_number", ranks=4, FILES_FIELDS_BACKEND=back_end, **MODES[mode])


def test_the_release_is_that_of_the_command(launch: Launcher) -> None:
    text, number = launch.play("release", ranks=1).split()
    major, minor, patch = map(int, text.split("."))
    assert int(number) == (major * 1000 + minor) * 1000 + patch
    said = subprocess.run(
        [launch.build.command, "--version"], capture_output=True, text=True, check=True
    )
    assert said.stdout.strip() == f"iocomp {text}"
