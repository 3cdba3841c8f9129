# SPDX-License-Identifier: BSD-3-Clause
"""`iocomp check-site` on this machine, with some things switched off, and on made-up sites."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from iocomp_studies.runs.seats import Seats
from iocomp_studies.site_check.judge import (
    BUFFERED,
    DEFAULT,
    DIRECT,
    FACT,
    NO,
    NOT_TRIED,
    SYNCHRONOUS,
    YES,
    Check,
    judge_kills,
    judge_ranks,
    judge_seats,
    judge_writing,
    text_of,
    text_of,
)

BUILD = Path(os.environ["IOCOMP_BUILD"])
COMMAND = BUILD / "tools/iocomp"


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=BUILD) as name:
        yield Path(name)


def check(*words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(COMMAND), "check-site", *words],
        env=os.environ | variables, capture_output=True, text=True, check=False,
    )  # fmt: skip


def found(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, Any]]:
    assert done.returncode in (0, 1), done.stderr
    site = json.loads(done.stdout)
    assert site["good"] is (done.returncode == 0)
    return {each["name"]: each for each in site["checks"]}


def test_everything_is_looked_at_and_nothing_is_left(folder: Path) -> None:
    checks = found(check(str(folder), "--minutes", "0.2", "--json"))
    here = json.loads(subprocess.check_output([str(COMMAND), "info", "--json"], text=True))
    has_uring = here["disk_engine"] == "io_uring"
    assert checks["io_uring"]["works"] == (YES if has_uring else NO)
    works = {name for name, each in checks.items() if each["works"] == YES}
    assert works >= {
        "MPI", "locks", "fsync of folder", "file system", "mapping sequential",
        "mapping oversubscribe", "shared memory", "write, default", "write, mode=sync",
        "write, buffered", "write, O_DIRECT", "kills",
    }, checks  # fmt: skip
    assert not checks["kills"]["found"].startswith("0 faults"), checks["kills"]
    checks.pop("write, compared", None)  # in so short a time there may be too few rounds
    assert all(each["works"] != NOT_TRIED for each in checks.values()), checks
    assert list(folder.iterdir()) == []


def test_what_settings_have_switched_off_is_told_with_the_cure(folder: Path) -> None:
    off = {"IOCOMP_DISK_ENGINE": "threads", "IOCOMP_TRANSPORT_KIND": "message"}
    done = check(str(folder), "--minutes", "0.1", **off)
    assert done.returncode == 1, done.stdout
    assert "\nno         io_uring " in done.stdout, done.stdout
    assert "let disk.engine be auto" in done.stdout
    assert "\nno         shared memory " in done.stdout
    assert "\nnot in order: io_uring, shared memory" in done.stdout


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="no file system in memory")
def test_a_folder_in_memory_is_refused() -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm") as name:
        checks = found(check(name, "--json"))
    assert checks["folder"]["works"] == NO
    assert "lies in memory" in checks["folder"]["found"]


def test_no_job_is_said_so() -> None:
    """A launcher that is not there, and then a folder."""
    with tempfile.TemporaryDirectory(dir=BUILD) as name:
        checks = found(check(name, "--launcher", "slurm", "--json"))
    assert checks["launcher"]["works"] == NO
    assert "srun" in checks["launcher"]["found"]
    done = check("/nowhere")
    assert done.returncode == 2
    assert "/nowhere is not a directory" in done.stderr


LUSTRE = {"alignment_bytes": 1 << 20, "command": "lfs setstripe -c -1 /scratch"}


def two_nodes(lock: str = "alive", **place: object) -> dict[str, Any]:
    """Return what two ranks on two nodes tell."""
    there = {"file_system": "lustre", "direct_io": True, "advice": LUSTRE} | place
    rank = {"engine": "io_uring", "failures": {}, "place": there, "folder_sync_seconds": 0.001}
    return {
        "thread_level": "multiple",
        "each": [rank | {"host": "a", "lock": "taken"}, rank | {"host": "b", "lock": lock}],
    }


def judged(told: dict[str, Any]) -> dict[str, Check]:
    return {each.name: each for each in judge_ranks(told, ranks=2, nodes=2)}


def test_lustre_gets_its_lines() -> None:
    checks = judged(two_nodes())
    assert {each.works for each in checks.values()} == {YES}
    assert checks["file system"].settings == {"files.default.alignment": "1024 KiB"}
    assert "lfs setstripe" in checks["file system"].found


@pytest.mark.parametrize(
    ("lock", "cure"), [("ended", "localflock"), ("nobody", "localflock"), ("unknown", "35 s")]
)
def test_a_lock_that_the_other_node_does_not_see_is_told(lock: str, cure: str) -> None:
    locks = judged(two_nodes(lock))["locks"]
    assert locks.works == NO
    assert cure in locks.cure
    assert locks.found.endswith("on b")


def test_nfs_and_refused_direct_writes_are_told() -> None:
    checks = judged(two_nodes(file_system="nfs", direct_io=False, advice=None))
    assert checks["file system"].works == checks["O_DIRECT"].works == NO
    assert checks["file system"].settings == {"files.default.backend": "mpiio"}


def test_ranks_that_find_themselves_alone_are_told() -> None:
    told = two_nodes()
    told["each"] = told["each"][:1]
    assert judged(told)["MPI"].works == NO
    assert judged(told)["locks"].works == NOT_TRIED


def test_a_folder_that_cannot_be_written_is_told() -> None:
    told = two_nodes()
    told["each"][1]["failures"] = {"place": "cannot create x: Read-only file system"}
    told["each"][1].pop("engine")
    assert judged(told)["place"].works == judged(told)["io_uring"].works == NO


def test_ranks_that_sit_elsewhere_are_told() -> None:
    seats = Seats((0, 0), ("compute", "server"), {}, "")
    head = "# asked: oversubscribe\n# found: oversubscribe (1 of 1)\n"
    row = "{}\tcompute\ta\t0\t{}\t-\t-\n"
    good = head + row.format(0, "0") + row.format(1, "0")
    assert judge_seats("oversubscribe", seats, good).works == YES
    wrong = judge_seats("oversubscribe", seats, head + row.format(0, "0") + row.format(1, "0-1"))
    assert (wrong.works, "rank 1 on 0-1, not on 0" in wrong.found) == (NO, True)
    assert judge_seats("oversubscribe", seats, head).works == NO


def test_rates_choose_settings_when_there_are_enough_of_them() -> None:
    def chosen(*rates: float, rounds: int = 3) -> dict[str, str]:
        ways = (DEFAULT, SYNCHRONOUS, BUFFERED, DIRECT)
        found = {way: [rate] * rounds for way, rate in zip(ways, rates, strict=True)}
        checks = judge_writing(found, {})
        return {key: value for each in checks for key, value in each.settings.items()}

    assert chosen(1, 1, 1, 1) == {}
    assert chosen(1, 1, 2, 1) == {"disk.direct": "off"}
    assert chosen(1, 1, 1, 2) == {"disk.direct": "on"}
    assert chosen(1, 2, 2, 2) == {}  # what asynchronous output hides is not measured
    assert chosen(1, 1, 2, 1, rounds=2) == {}
    few = judge_writing({way: [1.0] * 2 for way in (DEFAULT, SYNCHRONOUS, BUFFERED, DIRECT)}, {})
    assert [each.works for each in few] == [YES] * 4 + [NOT_TRIED]
    assert "2 of the 3 rounds" in few[-1].found
    about = {"folder": "f", "nodes": 1, "ranks": 1, "at": "", "seconds": 1, "host": {"processor": "", "kernel": ""}}
    assert "no setting is needed" not in text_of(about, few)
    assert "not in order: write, compared" in text_of(about, few)
    (failed,) = judge_writing({DEFAULT: []}, {DEFAULT: "wrong values"})
    assert failed.works == NO


def test_lost_bytes_and_kills_that_were_not_tried_are_told() -> None:
    def told(faults: int, *cells: str) -> str:
        violations = [{"cell": cell, "story": "some", "repeat": "it"} for cell in cells]
        each = {"kill-rank": {"cells": 3, "faults": faults, "violations": len(cells)}}
        more = {"violations": violations, "left_in_shared_memory": []}
        return json.dumps({"seconds": 4.0, "faults": each} | more)

    good = judge_kills(0, told(9))
    assert (good.works, good.found) == (YES, "9 faults in 3 cells and 4 s: 0 violations")
    lost = judge_kills(1, told(9, "cell 7"))
    assert (lost.works, lost.found) == (NO, "VIOLATION cell 7; repeat: it")
    assert judge_kills(0, told(0)).works == NO
    assert judge_kills(1, "", "Traceback\nKeyError: 1").works == NOT_TRIED
    none = judge_kills(2, "", "iocomp torture: jobs do not run here\nstatus 1\n---\n")
    assert (none.works, none.found) == (NOT_TRIED, "iocomp torture: jobs do not run here")


def test_the_page_ends_with_the_lines_to_copy() -> None:
    host = {"processor": "p", "kernel": "6"}
    about = {"folder": "/s", "nodes": 1, "ranks": 2, "seconds": 3.0, "at": "now", "host": host}
    page = text_of(about, [Check("a", FACT, "x"), Check("b", YES, "y", settings={"mode": "sync"})])
    assert "all of it works" in page
    assert page.rstrip().endswith('mode = "sync"')
