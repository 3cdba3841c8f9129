# SPDX-License-Identifier: BSD-3-Clause
"""Writing from Python, with 1 to 4 ranks."""

from __future__ import annotations

import contextlib
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest
from conftest import MODES, Launcher, Play

import iocomp
from iocomp import open_files

BACK_ENDS = ["posix", "mpiio", "hdf5", "netcdf", "pnetcdf", "adios2"]


@pytest.mark.parametrize(
    ("back_end", "mode"), zip(BACK_ENDS, cycle(["kernel", "shared"]), strict=False)
)
def test_what_is_written_is_read_in_every_format(
    launch: Launcher, back_end: str, mode: str
) -> None:
    if not launch.build.has_back_end(back_end):
        pytest.skip(f"the back-end {back_end} was not built")
    launch.play("write_steps", ranks=4, FILES_FIELDS_BACKEND=back_end, **MODES[mode])


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("mode", ["sync", "kernel"])
def test_any_number_of_ranks_writes(launch: Launcher, ranks: int, mode: str) -> None:
    launch.play("write_steps", ranks=ranks, FILES_FIELDS_BACKEND="posix", **MODES[mode])


@pytest.mark.parametrize("mode", MODES)
def test_a_session_takes_arrays_of_every_sort(play: Play, mode: str) -> None:
    play("uses_of_a_session", ranks=2, alone=True, **MODES[mode])


@pytest.mark.parametrize("mode", MODES)
def test_each_call_comes_from_another_thread(play: Play, mode: str) -> None:
    play("calls_from_threads", ranks=2, **MODES[mode])


def test_blocks_are_assigned_as_with_numpy(play: Play) -> None:
    play("assignments", ranks=3)


def test_files_and_values_are_met_as_python_has_them(play: Play) -> None:
    play("manners", ranks=2)


def test_masks_and_texts_become_what_the_variable_holds(play: Play) -> None:
    play("masks_and_texts", ranks=1)


def test_lists_keep_masks_and_integers(play: Play) -> None:
    play("lists", ranks=1)


def test_each_step_has_the_type_that_it_was_written_with(play: Play) -> None:
    play("types_of_steps", ranks=1)


def test_a_fill_value_has_the_type_that_the_program_knows(play: Play) -> None:
    play("known_fills", ranks=1)


@pytest.mark.parametrize(
    ("mode", "backend"), [("kernel", "posix"), ("sync", "netcdf"), ("shared", "hdf5")]
)
def test_a_series_may_be_called_like_a_step(play: Play, mode: str, backend: str) -> None:
    play("dated_names", ranks=2, FILES_DEFAULT_BACKEND=backend, **MODES[mode])


@pytest.mark.parametrize("backend", ["netcdf", "zarr", "posix"])
def test_a_step_that_is_refused_has_not_begun(play: Play, backend: str) -> None:
    play("refused_steps", ranks=2, FILES_OUT_BACKEND=backend)


def test_numbers_of_every_type_are_packed_alike(play: Play) -> None:
    play("packed_numbers", ranks=1)


@pytest.mark.parametrize("mode", ["kernel", "shared"])
def test_a_failed_step_is_told_though_nobody_asks_its_tickets(play: Play, mode: str) -> None:
    play("failed_steps", ranks=2, alone=True, **MODES[mode])


@pytest.mark.parametrize("mode", ["kernel", "message"])
def test_decompositions_come_from_index_arrays(play: Play, mode: str) -> None:
    play("decompositions", ranks=4, **MODES[mode])


@pytest.mark.parametrize("mode", ["kernel", "shared"])
def test_what_fails_is_an_exception_with_the_story(play: Play, mode: str) -> None:
    play("failures", ranks=4, **MODES[mode])


@pytest.mark.parametrize("mode", ["kernel", "shared"])
def test_arrays_of_the_library_outlive_its_session(play: Play, mode: str) -> None:
    play("memory_outlives_the_session", ranks=2, **MODES[mode])


def test_files_on_sub_communicators(play: Play) -> None:
    play("sub_communicators", ranks=4)


def test_servers_that_return_say_so(play: Play) -> None:
    told = play("serving", ranks=4, alone=True, PLACEMENT_SERVERS="1-per-1")
    assert (told.count("role SERVER"), told.count("role COMPUTE"), told.count("back")) == (2, 2, 4)


def test_servers_leave_the_program(launch: Launcher) -> None:
    code = "import iocomp; print('begin'); io = iocomp.Session(); io.finalize(); print('back')"
    done = launch.run("-c", code, ranks=4, PLACEMENT_SERVERS="1-per-1")
    assert (done.stdout.count("begin"), done.stdout.count("back")) == (4, 2)


@pytest.mark.parametrize("mode", ["kernel", "shared"])
def test_an_exception_commits_no_half_step(launch: Launcher, mode: str) -> None:
    done = launch.run(
        str(Path(__file__).with_name("programs.py")),
        "left_by_all",
        ranks=2,
        status=1,
        **MODES[mode],
    )
    assert "half a step" in done.stderr  # both ranks tell it, the one amid the words of the other
    # All ranks abort at once, so a step that they had ended may or may not be committed.
    with contextlib.suppress(iocomp.NotFoundError):
        assert set(open_files(launch.folder / "fields").steps) <= {0, 1}


def test_an_exception_on_one_rank_ends_the_job(launch: Launcher) -> None:
    done = launch.run(
        str(Path(__file__).with_name("programs.py")), "left_by_one", ranks=3, status=1, seconds=20
    )
    assert "RuntimeError: one has failed" in done.stderr


@pytest.mark.parametrize("mode", MODES)
def test_a_step_that_an_exception_ends_is_dropped(play: Play, mode: str) -> None:
    play("dropped_steps", ranks=4, **MODES[mode])


@pytest.mark.parametrize("mode", ["kernel", "shared"])
def test_odd_arguments_are_refused_or_taken(play: Play, mode: str) -> None:
    play("odd_arguments", ranks=4, **MODES[mode])


def test_an_exit_with_a_status_is_an_exception(launch: Launcher) -> None:
    words = [str(Path(__file__).with_name("programs.py")), "left_by_status"]
    launch.run(*words, "0", "all", ranks=2)
    assert open_files(launch.folder / "fields").steps == [0]
    done = launch.run(
        *words, "NaN in u", "one", ranks=2, status=1, seconds=20, FILES_DEFAULT_EXISTING="replace"
    )
    assert "NaN in u" in done.stderr


@pytest.mark.parametrize("mode", ["kernel", "shared"])
def test_a_program_stops_and_goes_on(play: Play, mode: str) -> None:
    play("stopping", ranks=4, alone=True, SERVER_END="return", **MODES[mode])


def test_memory_shapes() -> None:
    from iocomp.session import memory_shape

    big = np.zeros((4, 5, 6))
    assert memory_shape(big) == (4, 5, 6)
    assert memory_shape(big[1:3, 1:3, 1:3]) == (2, 5, 6)
    assert memory_shape(big[::2, ::2, 1:3]) == (2, 5, 12)
    assert memory_shape(big[:, 2:3, 1:3]) == (4, 15, 2)
    assert memory_shape(big[:, :, ::2]) is None
    assert memory_shape(big[:, ::-1]) is None
    assert memory_shape(big.T) is None
    assert memory_shape(np.broadcast_to(big[0], (3, 5, 6))) is None
