# SPDX-License-Identifier: BSD-3-Clause
"""Scripts that share a launch: each is told for itself, and none finds what another has left."""

from __future__ import annotations

import os

import pytest
from actors import INVALID_SETTING, STORAGE_FAILURE, Actors, Hang, Job
from files import check_file

pytestmark = pytest.mark.skipif(
    os.environ.get("IOCOMP_TEST_ALONE") == "1", reason="no launches are shared"
)

WRITE = "init\nopen out series\ndefine out u int64 64x32\nput out u\nend_step out\nclose out\n"


def check_well(job: Job) -> None:
    assert job.status == 0 and not job.failures(), job
    assert len(job.calls("close")) == 2, job  # of 4 ranks; the servers keep silent
    assert check_file(job.folder / "out.bin") == {0}


def test_each_has_its_own_settings_folder_output_and_faults(actors: Actors) -> None:
    check_well(actors.play(WRITE, ranks=4))
    fault = actors.play(f"@2 fault pwrite EIO path=out\n{WRITE}", ranks=4)
    assert {entry["code"] for entry in fault.failures()} == {STORAGE_FAILURE}, fault
    limit = actors.play(f"limit_file_size 4096\n{WRITE}", ranks=4)
    assert {entry["code"] for entry in limit.failures()} == {STORAGE_FAILURE}, limit
    refused = actors.play("init\n", ranks=4, environment={"IOCOMP_MODE": "quick"})
    assert {entry["code"] for entry in refused.calls("init")} == {INVALID_SETTING}, refused
    told = actors.play(WRITE, ranks=4, environment={"IOCOMP_TRACE_LINES": "summary"})
    check_well(told)
    assert told.output.startswith("iocomp: "), told
    sync = actors.play(WRITE, ranks=4, settings={"mode": "sync"})
    assert len(sync.calls("close")) == 4 and not sync.failures(), sync
    last = actors.play(WRITE, ranks=4)
    check_well(last)
    assert last.output == "", last


def test_a_script_that_hangs_is_named_and_the_next_goes_on(actors: Actors) -> None:
    check_well(actors.play(WRITE, ranks=4))
    with pytest.raises(Hang, match="journals2/script") as told:
        actors.play("init\n@0 pause 1000\n", ranks=4, seconds=2)
    assert "journals1\n" in str(told.value), told.value  # what was played before it
    check_well(actors.play(WRITE, ranks=4))


@pytest.mark.parametrize(
    ("trouble", "told"),
    [("nonsense", 'there is no word "nonsense"'), ("@1 pin 4000", "there is no CPU 4000")],
)
def test_a_script_that_crashes_is_told_and_the_next_goes_on(
    actors: Actors, trouble: str, told: str
) -> None:
    check_well(actors.play(WRITE, ranks=4))
    crashed = actors.play(f"init\n{trouble}\n", ranks=4)
    assert crashed.status != 0, crashed
    assert told in crashed.output and "in a launch after" in crashed.output, crashed
    check_well(actors.play(WRITE, ranks=4))
