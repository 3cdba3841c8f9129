# SPDX-License-Identifier: BSD-3-Clause
"""Arguments that make no sense: told on every rank that gives them; the file is none the worse."""

from __future__ import annotations

import pytest
from actors import INVALID_ARGUMENT, OK, Actors
from files import MODES, check_file, file_settings, leftovers, mode_settings

RANKS = 4

# The call, and what its story must name.
TROUBLE = {
    "a block that leaves the array": (
        "put out u start=2x0 count=3x8",
        ['"u"', '"out"', "dimension 0"],
    ),
    "a block before the array": (
        "put out u start=0x-1 count=1x2",
        ['"u"', '"out"', "dimension 1"],
    ),
    "a negative extent": ("define out w int64 4x-2", ["-2", "dimension 1"]),
    "more elements than can be counted": (
        "define out w int64 4294967296x4294967296",
        ["elements"],
    ),
    "more bytes than can be counted": ("define out w float64 4611686018427387904", ['"w"']),
    "a name that is a group already": ("define out g int64 4", ['"g"', '"g/v"']),
    "a name that is none": ("define out /w int64 4", ['"/w"']),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("trouble", TROUBLE)
def test_a_call_that_makes_no_sense_changes_nothing(
    actors: Actors, trouble: str, mode: str
) -> None:
    call, told = TROUBLE[trouble]
    lines = ["init", "open out series", "define out u int64 4x8", "define out g/v int64 6"]
    lines += ["put out u by=rows", "put out g/v", "end_step out", call]
    lines += ["put out u by=columns", "end_step out", "wait_step out 1", "close out"]
    settings = {
        **mode_settings(mode),
        "files": {"out": file_settings("posix", path="out.dat")},
    }
    job = actors.play("\n".join(lines), ranks=RANKS, settings=settings)
    assert job.status == 0, job
    failures = job.failures()
    assert {entry["code"] for entry in failures} == {INVALID_ARGUMENT}, job
    assert {entry["rank"] for entry in failures} == {e["rank"] for e in job.calls("close")}, job
    for entry in failures:
        assert all(part in entry["story"] for part in told), job
    assert {entry["code"] for entry in job.calls("wait_step")} == {OK}, job
    assert check_file(job.folder / "out.dat") == {0, 1}
    assert not leftovers(job.folder), job


@pytest.mark.parametrize("mode", MODES)
def test_a_variable_that_is_defined_twice(actors: Actors, mode: str) -> None:
    lines = ["init", "open out series", "define out u int64 4x8"]
    lines += ["put out u by=rows", "end_step out", "define out u int64 5x8", "close out"]
    settings = {
        **mode_settings(mode),
        "files": {"out": file_settings("posix", path="out.dat")},
    }
    job = actors.play("\n".join(lines), ranks=RANKS, settings=settings)
    assert job.status == 0, job
    failures = job.failures()
    assert {(entry["call"], entry["code"]) for entry in failures} == {
        ("define", INVALID_ARGUMENT)
    }, job
    assert all("defined already" in entry["story"] for entry in failures), job
    assert {entry["code"] for entry in job.calls("close")} == {OK}, job
    assert check_file(job.folder / "out.dat") == {0}
