# SPDX-License-Identifier: BSD-3-Clause
"""The module iocomp for Fortran: what its programs write, read, print and exit with."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
ABOUT = json.loads(Path(os.environ["IOCOMP_TEST_BUILD"]).read_text())
SECONDS = 60 * ABOUT["time_factor"]
WITH_SERVERS = {"IOCOMP_PLACEMENT_SERVERS": "1-per-1"}

Run = Callable[..., subprocess.CompletedProcess[str]]


def environment(settings: dict[str, str]) -> dict[str, str]:
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("IOCOMP_")}
    return inherited | {"IOCOMP_TRACE_LINES": "none"} | settings


def command(program: str, ranks: int, *arguments: str) -> list[str]:
    return [*ABOUT["launcher"], str(ranks), ABOUT["programs"][program], *arguments]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return what runs a program in an empty folder; it must end well unless told otherwise."""

    def run_one(
        program: str,
        ranks: int,
        *arguments: str,
        may_fail: bool = False,
        folder: Path = tmp_path,
        **settings: str,
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command(program, ranks, *arguments),
            cwd=folder,
            env=environment(settings),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert may_fail or done.returncode == 0, done.stdout + done.stderr
        return done

    return run_one


@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_every_kind_and_rank_comes_back(run: Run, tmp_path: Path, ranks: int) -> None:
    run("fortran_kinds", ranks)
    manifest = json.loads((tmp_path / "int32.bin.json").read_text())
    (step,) = manifest["steps"]
    variables = {variable["name"]: variable for variable in step["variables"]}
    assert len(variables) == 8
    # Fortran's element order, whoever reads it: dimensions are reversed, no byte moves.
    assert variables["r3"]["shape"] == [2 * ranks, 3, 2]
    numbers = np.fromfile(tmp_path / "int32.bin", "<i4", 12 * ranks, offset=variables["r3"]["offset"])
    for rank in range(ranks):
        assert numbers[12 * rank : 12 * rank + 12].tolist() == [-100 * rank - i for i in range(1, 13)]


@pytest.mark.skipif(ABOUT["hdf5"] != "1", reason="no HDF5")
def test_other_tools_see_dimensions_reversed(run: Run, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    run("fortran_kinds", 2, IOCOMP_FILES_DEFAULT_BACKEND="hdf5")
    types = {"int8": "i1", "int64": "i8", "uint16": "u2", "float16": "f2", "real32": "f4", "complex128": "c16"}
    for name, dtype in types.items():
        with h5py.File(tmp_path / f"{name}.h5") as file:
            group = file["0"]
            assert group["r0"].shape == ()
            assert group["r3"].shape == (4, 3, 2)
            assert group["r7"].shape == (6, 2, 1, 2, 1, 2, 2)
            assert group["r2"].dtype == np.dtype(dtype)
    with h5py.File(tmp_path / "int16.h5") as file:
        expected = [[-1, -2, -3], [-4, -5, -6], [-101, -102, -103], [-104, -105, -106]]
        assert file["0"]["r2"][()].tolist() == expected
    with h5py.File(tmp_path / "character.h5") as file:
        assert file["0"]["r1"][()].tolist()[:3] == [b"bbcdB", b"cbcdC", b"dbcdD"]


@pytest.mark.parametrize("settings", [{}, {"IOCOMP_MODE": "sync"}, WITH_SERVERS], ids=["kernel", "sync", "servers"])
@pytest.mark.parametrize("ranks", [2, 4])
def test_sections_go_out_as_the_program_sees_them(run: Run, ranks: int, settings: dict[str, str]) -> None:
    run("fortran_sections", ranks, **settings)


def test_only_sections_with_gaps_are_copied(run: Run, tmp_path: Path) -> None:
    def copied(which: str) -> float:
        folder = tmp_path / which
        folder.mkdir()
        run("fortran_sections", 2, which, folder=folder, **WITH_SERVERS, IOCOMP_TRACE_JSON="trace.json",
            IOCOMP_TRANSPORT_KIND="message")  # fmt: skip
        return float(json.loads((folder / "trace.json").read_text())["compute_sum"]["copied_bytes"])

    assert copied("whole") == 0
    assert copied("columns") == 0
    assert copied("gaps") == 334 * 800 * 8


@pytest.mark.parametrize(
    "case", ["maps", "rows", "options", "steps", "overwrite", "attributes", "logicals", "odd reads", "session"]
)
@pytest.mark.parametrize(("ranks", "settings"), [(1, {}), (2, {}), (3, {}), (4, WITH_SERVERS)])
def test_calls(run: Run, case: str, ranks: int, settings: dict[str, str]) -> None:
    if case == "session" and settings:
        settings = {}  # the role is of a rank without servers
    run("fortran_calls", ranks, case, **settings)


@pytest.mark.parametrize("ranks", [1, 3])
def test_programs_of_the_module_mpi(run: Run, tmp_path: Path, ranks: int) -> None:
    run("fortran_uses_mpi", ranks)
    assert np.fromfile(tmp_path / "numbers.bin", dtype="<i4").tolist() == list(range(ranks))


def test_mistakes_have_the_code_and_the_story_of_c(run: Run, tmp_path: Path) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "fortran").mkdir()
    in_c = run("fortran_mistakes", 1, folder=tmp_path / "c").stdout
    in_fortran, _, own = run("fortran_calls", 1, "mistakes", folder=tmp_path / "fortran").stdout.partition("--\n")
    assert in_fortran == in_c
    assert own.splitlines() == [
        '1 put of "w": the array is complex(real32), the variable has the type IOCOMP_FLOAT64',
        '1 put of "w": the array is complex(real32), the variable has the type IOCOMP_FLOAT64',
        '1 put of "w": the array has 1 dimensions, the variable has 2; say count',
        '1 put of "w": start has 1 entries, the variable has 2 dimensions',
        '1 put of "w": start is real(real32); it must be integer',
        '1 put of "w": the array has 8 elements, count says 6',
        '1 put of "w": the block leaves the local array: in dimension 1 it starts at 2 and has 4 elements,'
        " the array has 4",
        '1 put of "w": the array is logical,'
        " the variable has the type IOCOMP_FLOAT64",
        "1 shape has 9 entries; at most 8 are allowed",
        "1 begin_step: number is real(real32); it must be integer",
    ]


def test_without_ierr_a_failure_tells_its_story_and_ends_the_job(run: Run) -> None:
    failed = run("fortran_calls", 2, "no ierr", may_fail=True)
    assert failed.returncode != 0
    assert 'iocomp: invalid argument: the file name "one/two" is not allowed' in failed.stderr


@pytest.mark.parametrize("settings", [{}, {"IOCOMP_MODE": "sync"}, WITH_SERVERS], ids=["kernel", "sync", "servers"])
@pytest.mark.parametrize("calls", ["of a team", "of threads that end"])
def test_each_call_comes_from_another_thread(run: Run, settings: dict[str, str], calls: str) -> None:
    fresh = {"LD_PRELOAD": ABOUT["fresh_calls"], "ASAN_OPTIONS": "detect_leaks=0:verify_asan_link_order=0"}
    run("fortran_threads", 2, **settings, **(fresh if calls == "of threads that end" else {}))


def test_should_stop_tells_all_ranks(tmp_path: Path) -> None:
    with subprocess.Popen(
        command("fortran_calls", 3, "stop"),
        cwd=tmp_path,
        env=environment({"IOCOMP_STOP_SIGNALS": "SIGUSR1"}),
        stdout=subprocess.PIPE,
        text=True,
    ) as job:
        assert job.stdout is not None
        assert job.stdout.readline() == "running\n"
        job.send_signal(signal.SIGUSR1)  # the launcher passes it on
        assert job.wait(timeout=SECONDS) == 0


def test_the_first_array_takes_twelve_lines(run: Run, tmp_path: Path) -> None:
    run("example_first_array_f90", 3)
    values = np.fromfile(tmp_path / "fields.bin").reshape(150, 100)
    assert all((values[50 * rank : 50 * rank + 50] == rank).all() for rank in range(3))
    source = (ROOT / "examples/fortran/first_array.f90").read_text().splitlines()
    lines = [line for line in source if "iocomp" in line and not line.startswith("!")]
    assert len(lines) <= 12
    assert len(source) < 40


def test_heat_goes_on_where_it_was(run: Run, tmp_path: Path) -> None:
    at_once, in_parts = tmp_path / "at_once", tmp_path / "in_parts"
    at_once.mkdir()
    in_parts.mkdir()
    run("example_heat_f90", 1, "400", folder=at_once)
    run("example_heat_f90", 3, "150", folder=in_parts)
    run("example_heat_f90", 2, "320", folder=in_parts)
    run("example_heat_f90", 4, "400", folder=in_parts, **WITH_SERVERS)
    name = "restart.000399.bin"
    assert (at_once / name).read_bytes() == (in_parts / name).read_bytes()
    assert len((ROOT / "examples/fortran/heat.f90").read_text().splitlines()) < 100


def test_heat_exits_with_3_when_it_is_told_to_stop(tmp_path: Path, run: Run) -> None:
    told = run("example_heat_f90", 2, may_fail=True, IOCOMP_STOP_AT="2000-01-01T00:00:00 - 1 s")
    assert told.returncode == 3, told.stderr
    assert (tmp_path / "restart.000000.bin").exists()


def header() -> str:
    text = (ROOT / "include/iocomp/iocomp.h").read_text()
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def test_every_call_of_the_header_has_a_counterpart() -> None:
    text = (ROOT / "bindings/fortran/iocomp.f90").read_text()
    public = set(re.findall(r"\biocomp_\w+", " ".join(re.findall(r"^\s*public :: (.*)$", text, re.MULTILINE))))
    there = set(re.findall(r"^ +(?:interface|subroutine|(?:[\w()]+ )?function) (iocomp_\w+)", text, re.MULTILINE))
    calls = set(re.findall(r"\b(iocomp_\w+)\s*\(", header()))
    assert len(calls) > 40
    # Optional arguments stand for the calls with structs.
    without = {"iocomp_define_with", "iocomp_put_block", "iocomp_read_block"}
    assert calls - public == without
    assert calls - there == without
    types = set(re.findall(r"typedef struct \w+ (iocomp_\w+);", header())) | {"iocomp_ticket"}
    assert public == calls - without | types | {"iocomp_put_buffered"}


def test_every_constant_has_its_value() -> None:
    text = (ROOT / "bindings/fortran/iocomp.f90").read_text()
    pattern = r"\b(IOCOMP_[A-Z0-9_]+)\s*=\s*(\d+)"
    expected = dict(re.findall(pattern, header()))
    del expected["IOCOMP_BUFFERED"]  # iocomp_put_buffered
    expected["IOCOMP_MAX_DIMS"] = re.search(r"#define IOCOMP_MAX_DIMS (\d+)", header())[1]
    assert len(expected) > 35
    assert dict(re.findall(pattern, text)) == expected


def test_arrays_that_are_put_are_asynchronous() -> None:
    text = (ROOT / "bindings/fortran/iocomp.f90").read_text()
    bodies = dict(re.findall(r"(?s)subroutine (iocomp_put\w*)\((.*?)end subroutine", text))
    dummy = "type(*), dimension(..), intent(in){} :: values"
    assert set(bodies) == {"iocomp_put", "iocomp_put_buffered"}
    assert dummy.format(", asynchronous") in bodies["iocomp_put"]
    assert dummy.format("") in bodies["iocomp_put_buffered"]  # so that it takes a(list)
