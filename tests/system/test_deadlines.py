# SPDX-License-Identifier: BSD-3-Clause
"""A rank that does not come: the others say whom they waited for, and for what, when the deadline is over."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from actors import OK, TIMED_OUT, Actors, Job
from files import (
    MODES,
    WAYS,
    check_whole_or_absent,
    extension,
    file_settings,
    mode_settings,
    skip_if_missing,
)
from processes import processes_in

# Alone: how a job ends whose ranks have given up matters too.
DEADLINE = {"IOCOMP_WAIT_DEADLINE": "2"}

# The last rank stays away from one call for longer than the others wait.
LATE = """
init
open out series
define out u int64 256x256
put out u
end_step out
wait_step out 0
put out u
{call}
"""


def check_timed_out(job: Job, call: str, who: int) -> None:
    told = job.calls(call, code=TIMED_OUT)
    assert {entry["compute_rank"] for entry in told} >= set(range(who)), job
    for entry in told:
        assert "waited 2 s" in entry["story"], entry
        assert '"out"' in entry["story"], entry
        assert entry["seconds"] < 10, entry


@pytest.mark.parametrize("mode", MODES)
def test_a_wait_warns_long_before_it_fails(actors: Actors, mode: str) -> None:
    """And goes on when the rank comes."""
    ranks = 3 if mode != "async" else 6
    text = LATE.format(call="end_step out\n@2 pause 1.5\nclose out\n")
    job = actors.play(
        text,
        ranks=ranks,
        settings={**mode_settings(mode), "files": {"out": file_settings("posix", path="out.dat")}},
        environment={"IOCOMP_WAIT_DEADLINE": "10"},
    )
    assert job.status == 0 and not job.failures(), job
    warnings = [line for line in job.stderr.splitlines() if "waiting for " in line]
    assert warnings and all('"out"' in line and "(wait.deadline)" in line for line in warnings), job
    assert not [line for line in warnings if "compute 2" in line or "rank 2:" in line], job


@pytest.mark.parametrize(("back_end", "mode"), WAYS)
def test_a_rank_that_closes_late(actors: Actors, back_end: str, mode: str) -> None:
    """It closes when the others have given up: it must neither hang nor crash anybody."""
    skip_if_missing(actors.build, back_end)
    ranks = 3 if mode != "async" else 6
    text = LATE.format(call="end_step out\n@2 pause 5\nclose out\nbarrier\n")
    path = f"out{extension(back_end)}"
    job = actors.play(
        text,
        ranks=ranks,
        settings={**mode_settings(mode), "files": {"out": file_settings(back_end, path=path)}},
        environment=DEADLINE,
        alone=True,
    )
    check_timed_out(job, "close", 2)
    check_whole_or_absent(job.folder / path)


@pytest.mark.parametrize("mode", MODES)
def test_a_rank_that_never_ends_the_step(actors: Actors, mode: str) -> None:
    ranks = 3 if mode != "async" else 6
    text = LATE.format(call="@!2 end_step out\n@!2 wait_step out 1\n@2 pause 6\nbarrier\n")
    job = actors.play(text, ranks=ranks, settings=mode_settings(mode), environment=DEADLINE, alone=True)
    check_timed_out(job, "end_step" if mode == "sync" else "wait_step", 2)
    assert all(entry["code"] == OK for entry in job.calls("wait_step", step=0)), job
    assert check_whole_or_absent(job.folder / "out.bin", committed={0}) <= {0, 1}, job


@pytest.mark.parametrize("mode", MODES)
def test_a_rank_that_does_not_open_the_file(actors: Actors, mode: str) -> None:
    ranks = 3 if mode != "async" else 6
    text = "init\n@!2 open out series\n@2 pause 5\n@!2 close out\nbarrier\n"
    job = actors.play(text, ranks=ranks, settings=mode_settings(mode), environment=DEADLINE, alone=True)
    check_timed_out(job, "open" if mode != "async" else "close", 2)


def test_a_rank_that_does_not_finalize(actors: Actors) -> None:
    text = "init\n@1 pause 5\nfinalize\n"
    job = actors.play(text, ranks=4, environment=DEADLINE, alone=True)
    told = job.calls("finalize", code=TIMED_OUT)
    # Rank 1 comes when rank 0 has given up, and may find that out.
    assert [entry["compute_rank"] for entry in told] in ([0], [0, 1]), job
    for entry in told:
        assert "server 0" in entry["story"] or "finalize" in entry["story"], told
    assert job.seconds < 20, job


def kill_what_is_stopped(folder: Path) -> None:
    """Kill the stopped ones among the processes that work in a folder; others may end meanwhile."""
    for one in processes_in(folder):
        with contextlib.suppress(OSError):
            if Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()[0] == "T":
                os.kill(one, signal.SIGKILL)


# Everything that waits, while one process is stopped: of files that are left to finalize, too.
BEGIN = """
init
open a series
open b series
open c series
define a u int64 256x256
define b u int64 256x256
define c u int64 256x256
put a u
put b u
put c u
end_step a
end_step b
end_step c
wait_step a 0
barrier
@0 stop VICTIM
pause 0.2
"""
WAITING = """
put a u
wait a handed_over
end_step a
put a u by=columns buffered=yes
end_step a
wait a written
wait a durable
wait_step a 1
put b u
end_step b
put c u
wait_step b 1
close a
open d series
read c
latest c
should_stop
finalize
"""
STOPPED = [  # mode, transport, ranks, victim: of the compute ranks, or a server
    ("kernel", "auto", 2, 0),
    ("kernel", "auto", 2, 1),
    ("kernel", "auto", 3, 2),
    ("kernel", "auto", 3, 0),
    ("sync", "auto", 3, 1),
    ("async", "shared", 4, 1),
    ("async", "shared", 4, 2),
    ("async", "shared", 4, 3),
    ("async", "message", 4, 1),
    ("async", "message", 4, 2),
    ("async", "message", 4, 3),
]


@pytest.mark.parametrize("back_end", ["posix", "hdf5", "mpiio"])
@pytest.mark.parametrize(("mode", "transport", "ranks", "victim"), STOPPED)
def test_a_call_waits_for_one_deadline(
    actors: Actors, back_end: str, mode: str, transport: str, ranks: int, victim: int
) -> None:
    """However much it has to wait for.

    What others do late may be progress, once: of a rank that waits in another call, or a server.
    """
    skip_if_missing(actors.build, back_end)
    deadline = 4
    computing = range(ranks // 2 if mode == "async" else ranks)
    others = [rank for rank in computing if rank != victim]
    begin = BEGIN.replace("VICTIM", str(victim)).replace("@0", f"@{others[0]}")
    who = f"@!{victim} " if victim in computing else ""
    waiting = "".join(f"{who}{line}\n" for line in WAITING.strip().split("\n"))
    files = {name: file_settings(back_end, path=f"{name}{extension(back_end)}") for name in "abcd"}
    more = {"transport": {"kind": transport}} if mode == "async" else {}

    def kill_the_victim(process: subprocess.Popen[str], journals: Path) -> None:
        """When the others have finished: it is not to go on with memory that they have freed."""
        texts = [journals / f"rank{rank}.jsonl" for rank in others]
        while process.poll() is None:
            if all(text.exists() and '"call":"finalize"' in text.read_text() for text in texts):
                kill_what_is_stopped(journals.parent / "job1")
            time.sleep(0.1)

    job = actors.play(
        begin + waiting,
        ranks=ranks,
        settings={**mode_settings(mode), **more, "files": files},
        environment={"IOCOMP_WAIT_DEADLINE": str(deadline)},
        meanwhile=kill_the_victim,
        seconds=150,
    )
    for rank in others:
        assert any(entry["rank"] == rank for entry in job.calls("finalize")), job
    calls = [entry for entry in job.entries if "seconds" in entry and entry["rank"] in others]
    one_waits = mode == "sync" or transport == "shared" or (len(others) == 1 and victim in computing)
    most = (1.6 if one_waits else 2.4) * deadline
    slow = [entry for entry in calls if entry["seconds"] > most]
    assert not slow, f"{slow}\n{job}"


def test_a_long_computation_is_no_timeout(actors: Actors) -> None:
    """Only waiting counts: servers wait for as long as the program computes."""
    text = "init\nopen out series\ndefine out u int64 8x8\npause 4\nput out u\nclose out\n"
    job = actors.play(text, ranks=2, environment=DEADLINE, alone=True)
    assert not job.failures(), job
    assert job.status == 0, job


@pytest.mark.parametrize("mode", ["kernel", "sync", "async"])
def test_time_in_which_the_whole_job_is_suspended_is_no_waiting(actors: Actors, mode: str) -> None:
    """As a batch system suspends it: its ranks go on one after the other."""
    script = "init\nopen out series\ndefine out u int64 256x256\n"
    for step in range(60):
        script += f"put out u\nend_step out\nwait_step out {step}\npause 0.03\n"

    def suspend(_launcher: subprocess.Popen[str], journals: Path) -> None:
        deadline = time.monotonic() + 30 * actors.build.time_factor
        first = journals / "rank0.jsonl"
        while time.monotonic() < deadline:
            if first.exists() and first.read_text().count('"call":"wait_step"') > 5:
                break
            time.sleep(0.05)
        processes = processes_in(journals.parent / "job1")
        for word, seconds in ((signal.SIGSTOP, 5), (signal.SIGCONT, 0)):
            for process in processes:
                os.kill(process, word)
                time.sleep(0.1)
            time.sleep(seconds)

    job = actors.play(
        script + "close out\n",
        ranks=4,
        settings=mode_settings(mode),
        environment={"IOCOMP_WAIT_DEADLINE": "3"},
        meanwhile=suspend,
        alone=True,
    )
    assert not job.failures(), job
    assert job.status == 0, job
    assert "waited" not in job.output, job


@pytest.mark.parametrize(
    "call", ["open out series", "put_rows out u", "should_stop", "end_step out", "close out", "read in"]
)
@pytest.mark.parametrize("mode", MODES)
def test_a_program_that_has_waited_in_vain_ends_as_usual(actors: Actors, mode: str, call: str) -> None:
    """MPI goes on with what the wait has given up, in the MPI_Finalize of the program too."""
    calls = [
        "init",
        "open in series",
        "define in u int64 8x8",
        "put in u",
        "close in",
        "open out series",
        "define out u int64 8x8",
        "put_rows out u",
        "should_stop",
        "end_step out",
        "close out",
        "read in",
    ]
    before = calls[: calls.index(call)]
    text = "\n".join([*before, "@1 pause 4", call, "finalize"]) + "\n"
    job = actors.play(
        text,
        ranks=3 if mode != "async" else 6,
        settings=mode_settings(mode),
        environment=DEADLINE,
        alone=True,
    )
    assert job.status == 0, job
