# SPDX-License-Identifier: BSD-3-Clause
"""The traps of a connector, each with a program that shows it."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
from compare_files import compare
from conftest import Programs, for_another_hdf5
from places import small_disk

ROWS = (96, 500)
SMALL = {"IOCOMP_TEST_DIRECT_FROM": "4KiB"}


def ended_well(text: str) -> bool:
    """Return True if HDF5 has ended without complaints."""
    return "infinite loop" not in text and "HDF5-DIAG" not in text


def values(path: Path, name: str) -> np.ndarray:
    with h5py.File(path, "r") as file:
        return file[name][()]


def run_both_ways(
    programs: Programs, folder: Path, ranks: int, case: str
) -> tuple[Path, Path, str]:
    """Run a case without the connector and with it. @return both files, what the second run said."""
    files = []
    for way, connector in (("native", False), ("connector", True)):
        (folder / way).mkdir()
        done = programs.run(ranks, "traps", case, folder / way, connector=connector)
        assert ended_well(done.stderr), done.stderr
        files.append(folder / way / "out.h5")
    return files[0], files[1], done.stderr


@pytest.mark.parametrize("ranks", [1, 3])
def test_the_transfer_list_of_a_fallback_may_be_closed(
    programs: Programs, tmp_path: Path, ranks: int
) -> None:
    done = programs.run(ranks, "traps", "fallback", tmp_path)
    assert ended_well(done.stderr), done.stderr
    assert (values(tmp_path / "out.h5", "u") == 19).all()


@pytest.mark.parametrize("engine", ["auto", "threads"])
@pytest.mark.parametrize(
    "case",
    [
        "other_files",
        "serial",
        "filtered",
        "not_taken",
        "opened_twice",
        "forks",
        "forks_beside",
        "user_block",
        "unlinked_groups_alone",
        "skipped_filter",
        "removed",
        "linked_first",
        "counts",
        "many_files",
        "ends_open_alone",
        "ends_open_filtered",
        "overtaken_events",
    ],
)
def test_programs_without_mpi(programs: Programs, tmp_path: Path, case: str, engine: str) -> None:
    late = 0 if engine == "threads" else None
    done = programs.run(1, "traps", case, tmp_path, late=late, IOCOMP_DISK_ENGINE=engine, **SMALL)
    assert ended_well(done.stderr), done.stderr
    assert "of HDF5's writes taken" in done.stderr, done.stderr
    if case.startswith("ends_open"):
        assert (values(tmp_path / "out.h5", "u") == 6).all()


def test_hdf5_still_searches_its_own_folder(programs: Programs, tmp_path: Path) -> None:
    programs.run(1, "traps", "plugin_folders", tmp_path)


@pytest.mark.parametrize("late", [None, 0, 1, 2])
@pytest.mark.parametrize(
    "case",
    [
        "freed",
        "unlinked_groups",
        "after_flush",
        "closed_first",
        "records",
        "records_together",
        "columns",
        "events",
    ],
)
def test_no_rank_is_overtaken(
    programs: Programs, tmp_path: Path, case: str, late: int | None
) -> None:
    done = programs.run(3, "traps", case, tmp_path, late=late, **SMALL)
    assert ended_well(done.stderr), done.stderr
    if case.startswith("records"):
        assert ", 0 calls left to HDF5" in done.stderr, done.stderr
        cells = np.arange(ROWS[0] * ROWS[1]).reshape(ROWS)
        for step, record in enumerate(values(tmp_path / "out.h5", "u")):
            assert (record == step * 1000000 + cells).all()


# ROMIO is MPICH's, and one of two in Open MPI.
@pytest.mark.parametrize("case", ["between_chunks", "between_metadata"])
def test_mpi_io_writes_nothing_old_once_more(
    programs: Programs, tmp_path: Path, case: str
) -> None:
    settings = {"OMPI_MCA_io": "romio321", "IOCOMP_TEST_SLOW_RANK": "0", **SMALL}
    programs.run(2, "traps", case, tmp_path, late=1, **settings)


# To find the place of one more chunk takes as long as there are chunks. So most of these records are
# left to HDF5: else 10,000 of them would take a minute.
@pytest.mark.parametrize("late", [None, 0, 1])
def test_most_of_many_short_records_are_left_to_hdf5(
    programs: Programs, tmp_path: Path, late: int | None
) -> None:
    done = programs.run(2, "traps", "short_records", tmp_path, late=late, **SMALL)
    left = int(re.search(r", (\d+) calls left to HDF5", done.stderr).group(1))
    assert 2500 < left < 3000, done.stderr
    records = values(tmp_path / "out.h5", "u")
    assert (records == np.arange(3000)[:, None]).all()


def test_numbers_are_converted_as_hdf5_does(programs: Programs, tmp_path: Path) -> None:
    native, connector, said = run_both_ways(programs, tmp_path, 2, "numbers")
    assert ", 0 calls left to HDF5" in said, said
    assert not compare(native, connector)


def test_a_call_that_fails_has_the_cause_that_hdf5_gives(
    programs: Programs, tmp_path: Path
) -> None:
    native, connector = (
        programs.run(1, "traps", "causes", tmp_path, connector=way).stdout for way in (False, True)
    )
    assert native == connector
    assert "errno = 2" in native, native


def test_a_flush_tells_of_mounted_files(programs: Programs, tmp_path: Path) -> None:
    settings = {"IOCOMP_TEST_FAILS": "1", **SMALL}
    programs.run(1, "traps", "failing_mount", tmp_path, late=0, **settings)


def test_short_runs_are_left_to_hdf5_together(programs: Programs, tmp_path: Path) -> None:
    done = programs.run(3, "traps", "columns", tmp_path)
    assert ", 39 calls left to HDF5" in done.stderr, done.stderr  # 13 of each rank


# HDF5 gets chunks from a later call. All that is written in whole chunks is taken, and no chunk of a
# part: those of "parts", a box of seven columns.
def test_whole_chunks_are_filtered_by_threads(programs: Programs, tmp_path: Path) -> None:
    native, connector, said = run_both_ways(programs, tmp_path, 1, "filtered")
    assert ", 1 calls left to HDF5" in said, said
    assert not compare(native, connector)
    assert native.stat().st_size == pytest.approx(connector.stat().st_size, rel=0.1)


def test_an_event_that_fails_says_why(programs: Programs, tmp_path: Path) -> None:
    with small_disk(tmp_path / "small", "8m") as disk:
        done = programs.run(1, "traps", "failing_event", disk)
    assert "No space left on device" in done.stderr, done.stderr


def test_memory_is_bounded_and_may_be_none(programs: Programs, tmp_path: Path) -> None:
    for memory, left in (("64 KiB", "0 calls"), ("0 B", "20 calls")):
        settings = {"IOCOMP_CLIENT_BUFFER_MEMORY": memory, **SMALL}
        done = programs.run(1, "traps", "records", tmp_path, **settings)
        assert f", {left} left to HDF5" in done.stderr, done.stderr
        assert values(tmp_path / "out.h5", "u")[19, 95, 499] == 19000000 + ROWS[0] * ROWS[1] - 1


@pytest.mark.skipif(
    int(os.environ.get("IOCOMP_TEST_PROGRAMS", "14")) < 60, reason="2 GiB; in the whole suite alone"
)
def test_a_write_may_be_longer_than_31_bits_count(programs: Programs, tmp_path: Path) -> None:
    done = programs.run(1, "traps", "long_write", tmp_path)
    assert "2 GiB of HDF5's writes taken, 0 calls left" in done.stderr, done.stderr


@pytest.mark.parametrize("case", ["full_disk", "full_disk_of_chunks", "full_disk_when_closed"])
def test_a_full_disk_is_told_by_the_next_call(
    programs: Programs, tmp_path: Path, case: str
) -> None:
    with small_disk(tmp_path / "small", "8m") as disk:
        done = programs.run(1, "traps", case, disk)
    assert "No space left on device" in done.stderr, done.stderr
    assert str(disk / "out.h5") in done.stderr, done.stderr


def test_a_rank_that_fails_keeps_no_other_waiting(programs: Programs, tmp_path: Path) -> None:
    settings = {"IOCOMP_TEST_FAILS": "1", **SMALL}
    done = programs.run(3, "traps", "failing_rank", tmp_path, late=1, **settings)
    assert "rank 0: 0 failures" in done.stderr, done.stderr
    assert "rank 1: 0 failures" not in done.stderr, done.stderr
    assert "Input/output error" in done.stderr, done.stderr


@pytest.mark.parametrize("late", [None, 1])
@pytest.mark.parametrize("end", ["ends_open", "ends_by_exit", "ends_by_h5close"])
def test_what_was_flushed_is_whole_however_a_program_ends(
    programs: Programs, tmp_path: Path, end: str, late: int | None
) -> None:
    done = programs.try_to_run(2, "traps", end, tmp_path, late=late, **SMALL)  # _exit may be told
    assert ended_well(done.stderr), done.stderr
    assert (values(tmp_path / "out.h5", "u") == (8 if end == "ends_by_h5close" else 6)).all()


@pytest.mark.parametrize(("ranks", "case"), [(1, "serial"), (3, "records")])
def test_figures_and_timeline_are_those_of_the_library(
    programs: Programs, tmp_path: Path, ranks: int, case: str
) -> None:
    timeline, figures = tmp_path / "timeline", tmp_path / "figures.json"
    settings = {"IOCOMP_TRACE_TIMELINE": str(timeline), "IOCOMP_TRACE_JSON": str(figures)}
    programs.run(ranks, "traps", case, tmp_path, **settings, **SMALL)
    counted = json.loads(figures.read_text())
    of_all = counted["compute_sum"]
    assert counted["compute_ranks"] == ranks
    assert of_all["put_bytes"] == of_all["copied_bytes"] > 0
    assert of_all["put_bytes"] == of_all["direct_bytes"] + of_all["buffered_bytes"]
    assert of_all["puts"] > 0 < of_all["call_seconds"]
    shown = subprocess.run(
        [programs.command, "trace", timeline], capture_output=True, text=True, check=True
    ).stdout
    assert shown.startswith(f"{ranks} process"), shown
    assert "did not end" not in shown, shown
    for event in ("H5Dwrite", "H5Fclose", "write", "fsync"):
        assert f" {event} " in shown, shown


# HDF5 cannot start the connector: it says why, and the program goes on without.
def test_bad_settings_are_told_and_hdf5_writes(programs: Programs, tmp_path: Path) -> None:
    settings = tmp_path / "iocomp.toml"
    for text, told in {
        "[connector]\nthreads = 4": "unknown setting connector.threads",
        "[connector]": "unknown setting [connector]",
        "[client]\nbuffer_memory = -1": 'client.buffer_memory = "-1"',
    }.items():
        settings.write_text(text)
        done = programs.run(1, "traps", "serial", tmp_path, IOCOMP_CONFIG=str(settings))
        assert f"{told} ({settings}:" in done.stderr, done.stderr
        assert "of HDF5's writes taken" not in done.stderr, done.stderr


def test_a_timeline_that_cannot_be_written_is_told(programs: Programs, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    folder = str(tmp_path / "file" / "timeline")
    done = programs.run(1, "traps", "opened_twice", tmp_path, IOCOMP_TRACE_TIMELINE=folder)
    assert done.stderr.count(f'no timeline, trace.timeline = "{folder}"') == 1, done.stderr


def test_hdf5_passes_over_the_plugin_for_another_hdf5(programs: Programs, tmp_path: Path) -> None:
    other = for_another_hdf5(next(Path(programs.plugins).glob("*.so")), tmp_path)
    done = replace(programs, plugins=str(other.parent)).run(1, "traps", "serial", tmp_path)
    assert "can't find plugin" in done.stderr, done.stderr
    assert "of HDF5's writes taken" not in done.stderr, done.stderr


def test_flushed_steps_survive_a_kill(programs: Programs, tmp_path: Path) -> None:
    for number in range(int(os.environ.get("IOCOMP_TEST_KILLS", "5"))):
        folder = tmp_path / str(number)
        folder.mkdir()
        environment = programs.environment(connector=True, late=None, settings=SMALL)
        log = folder / "log"
        with log.open("w") as output:
            job = subprocess.Popen(
                programs.words(2, "traps", "until_killed", folder),
                env=environment,
                stdout=output,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
            end = time.monotonic() + 60
            while not log.read_text() and time.monotonic() < end:
                time.sleep(0.01)
            time.sleep(random.Random(number).uniform(0, 0.5))
            for pid in ranks_below(job.pid):
                os.kill(pid, signal.SIGKILL)
            job.wait(timeout=60)
        lines = log.read_text().split("\n")[:-1]  # some launchers say that a rank was killed
        flushed = [int(line) for line in lines if line.isdigit()]
        assert flushed
        with h5py.File(folder / "out.h5", "r") as file:
            for step in flushed:
                assert (file[f"step{step}"][()] == step + 1).all(), step


def ranks_below(launcher: int) -> list[int]:
    """The processes of the program that a launcher has started, perhaps through others."""
    parent_of, names = {}, {}
    for folder in Path("/proc").iterdir():
        if not folder.name.isdigit():
            continue
        try:
            stat = (folder / "stat").read_text()
        except OSError:
            continue
        pid = int(folder.name)
        names[pid] = stat[stat.index("(") + 1 : stat.rindex(")")]
        parent_of[pid] = int(stat[stat.rindex(")") + 2 :].split()[1])
    below = {launcher}
    while more := {pid for pid, parent in parent_of.items() if parent in below} - below:
        below |= more
    return [pid for pid in below if names.get(pid) == "traps"]
