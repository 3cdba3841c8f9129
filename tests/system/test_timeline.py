# SPDX-License-Identifier: BSD-3-Clause
"""The timeline of a run: what the library writes, and what `iocomp trace` makes of it."""

from __future__ import annotations

import json
import re
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from actors import INVALID_SETTING, Actors, Job
from files import file_settings, mode_settings, skip_if_missing
from processes import environment_without_iocomp

STEPS = 3
SCRIPT = (
    "init\nopen out series\ndefine out u float64 256x64\n"
    + "put out u\nend_step out\nwait out durable\n" * STEPS
    + "close out\n"
)
RANKS = 4
BLOCK = 256 * 64 * 8  # of all ranks that compute
COMPLETE = {"ph", "name", "cat", "pid", "tid", "ts", "dur", "args"}
BAD_INPUT = 2

Event = dict[str, Any]


def play(actors: Actors, mode: str, script: str = SCRIPT, alone: bool = False) -> Job:
    """Write a series and the timeline of that."""
    return actors.play(
        script,
        ranks=RANKS,
        settings={
            **mode_settings(mode),
            "trace": {"timeline": "line"},
            "files": {"out": {"path": "out.dat"}},
        },
        alone=alone,
    )


def test_a_later_session_leaves_the_traces_of_an_earlier_one(actors: Actors) -> None:
    session = "init\nopen {0} series\ndefine {0} u int64 8\n" + "put {0} u\nend_step {0}\n" * 2
    job = actors.play(
        session.format("a") + "close a\nfinalize\n" + session.format("b") + "put b u\nclose b\n",
        ranks=2,
        settings={
            **mode_settings("kernel"),
            "trace": {"timeline": "line/", "json": "trace.json"},
        },
        alone=True,
    )
    assert not job.failures(), job
    for number, steps in (("", 2), ("-2", 3)):
        summary = json.loads((job.folder / f"trace{number}.json").read_text())
        assert summary["compute_max"]["steps"] == steps
        told = json.loads(trace(actors, job.folder, f"line{number}", "--json")[0])
        assert not told["faults"], told
        puts = [row for row in told["events"] if row["event"] == "put"]
        assert sum(row["count"] for row in puts) == 2 * steps, told
    (job.folder / "line/rank-1.events").unlink()
    told = json.loads(trace(actors, job.folder, "line", "--json")[0])
    assert told["faults"] == ["line: it has the timelines of 1 of 2 processes of the job"]


def trace(actors: Actors, folder: Path, *words: str, status: int = 0) -> tuple[str, str]:
    """Run `iocomp trace`; return stdout and stderr."""
    done = subprocess.run(
        [actors.build.command, "trace", *words],
        cwd=folder,
        env=environment_without_iocomp(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60 * actors.build.time_factor,
    )
    print(words, done)
    assert done.returncode == status, done
    return done.stdout, done.stderr


def events_of(actors: Actors, job: Job) -> list[Event]:
    """Return the complete events, as Perfetto finds them."""
    _, errors = trace(actors, job.folder, "line", "--perfetto", "line.json")
    assert errors == ""
    told = json.loads((job.folder / "line.json").read_text())
    complete = [event for event in told["traceEvents"] if event["ph"] == "X"]
    named = {
        (event["pid"], event["tid"])
        for event in told["traceEvents"]
        if event["ph"] == "M" and event["name"] == "thread_name"
    }
    for event in complete:
        assert set(event) == COMPLETE
        assert event["ts"] >= 0 and event["dur"] >= 0
        assert isinstance(event["pid"], int) and isinstance(event["tid"], int)
        assert (event["pid"], event["tid"]) in named
    check_nesting(complete)
    return complete


def check_nesting(events: list[Event]) -> None:
    """Events of one thread lie apart or in one another: Perfetto draws no others."""
    rounding = 0.002
    threads: dict[tuple[int, int], list[Event]] = {}
    for event in events:
        threads.setdefault((event["pid"], event["tid"]), []).append(event)
    for thread in threads.values():
        ends: list[float] = []
        for event in sorted(thread, key=lambda one: (one["ts"], -one["dur"])):
            while ends and ends[-1] <= event["ts"] + rounding:
                ends.pop()
            end = event["ts"] + event["dur"]
            assert not ends or end <= ends[-1] + rounding, event
            ends.append(end)


def of_put(events: list[Event], kind: str, put: Event) -> list[Event]:
    """Return the events of one kind that are about one put."""
    return [
        event
        for event in events
        if event["cat"] == kind
        and event["args"].get("rank") == put["pid"]
        and event["args"].get("ticket") == put["args"]["ticket"]
    ]


def calls(events: list[Event], name: str) -> list[Event]:
    """Return the calls of one function."""
    return [event for event in events if event["cat"] == "call" and event["name"] == name]


def end(event: Event) -> float:
    """Return when it ended."""
    return float(event["ts"] + event["dur"])


def check_puts(events: list[Event], ranks: int) -> list[Event]:
    """Each put of each rank is there, and its memory was free before the program was told so."""
    puts = calls(events, "put")
    assert len(puts) == ranks * STEPS
    assert sum(put["args"]["bytes"] for put in puts) == STEPS * BLOCK
    for put in puts:
        assert put["args"]["file"] == "out"
        handed = of_put(events, "hand over", put)
        assert len(handed) == 1, put
        assert put["ts"] <= handed[0]["ts"] <= end(handed[0])
    return puts


def check_durable_before_told(events: list[Event], steps: int = STEPS) -> None:
    """No wait for durability ends before an fsync has."""
    syncs = [event for event in events if event["cat"] == "fsync"]
    assert len(syncs) >= steps
    first = min(end(sync) for sync in syncs)
    assert all(end(wait) >= first for wait in calls(events, "wait"))


def test_servers_fetch_write_and_commit_what_was_put(actors: Actors) -> None:
    job = play(actors, "async")
    assert not job.failures(), job
    events = events_of(actors, job)
    for put in check_puts(events, RANKS // 2):
        taken = of_put(events, "pull", put) + of_put(events, "take", put)
        written = of_put(events, "write", put)
        assert taken and written, put
        assert {event["pid"] for event in taken + written}.isdisjoint({put["pid"]})
        assert put["ts"] <= min(event["ts"] for event in taken)
        assert min(end(event) for event in taken) <= min(event["ts"] for event in written)
        syncs = [event for event in events if event["cat"] == "fsync"]
        assert max(end(sync) for sync in syncs) >= max(end(event) for event in written)
    check_durable_before_told(events)
    assert [event for event in events if event["cat"] == "commit"]


def test_the_kernel_writes_what_was_put(actors: Actors) -> None:
    job = play(actors, "kernel")
    assert not job.failures(), job
    events = events_of(actors, job)
    for put in check_puts(events, RANKS):
        written = of_put(events, "write", put)
        assert written, put
        assert all(event["pid"] == put["pid"] for event in written)
        assert put["ts"] <= min(event["ts"] for event in written)
    check_durable_before_told(events)


def test_synchronous_calls_contain_their_writes(actors: Actors) -> None:
    job = play(actors, "sync")
    assert not job.failures(), job
    events = events_of(actors, job)
    check_puts(events, RANKS)
    inside = [
        call for call in events if call["cat"] == "call" and call["name"] in ("put", "end_step")
    ]
    written = [event for event in events if event["cat"] == "write"]
    assert written
    for write in written:
        assert any(
            call["pid"] == write["pid"] and call["ts"] <= write["ts"] and end(write) <= end(call)
            for call in inside
        ), write


def test_a_compressed_step_tells_what_it_gained_and_its_time(actors: Actors) -> None:
    skip_if_missing(actors.build, "netcdf")
    job = actors.play(
        SCRIPT,
        ranks=2,
        settings={
            **mode_settings("sync"),
            "trace": {"timeline": "line"},
            "files": {"out": file_settings("netcdf", path="out.nc", compression="deflate")},
        },
    )
    assert not job.failures(), job
    told = [
        event["args"].get("what", "")
        for event in events_of(actors, job)
        if event["cat"] == "write" and event["args"].get("file") == "out"
    ]
    gain = r"compressed [\d.]+ [KM]iB to [\d.]+ (B|KiB), \d\.\d{3} s of threads"
    assert len([text for text in told if re.fullmatch(gain, text)]) >= STEPS, told


def test_what_waited_is_told_with_its_reason(actors: Actors) -> None:
    job = play(actors, "async", SCRIPT.replace("put out", "@0 pause 0.3\nput out", 1))
    told = json.loads(trace(actors, job.folder, "line", "--json")[0])
    assert told["clock_error_seconds"] == 0  # all on one node
    assert {process["role"] for process in told["processes"]} == {"compute", "server"}
    assert all(process["dropped"] == 0 for process in told["processes"])
    longest = told["waits"][0]
    assert longest["seconds"] > 0.1 and longest["for"] and longest["in"] != "-"
    words, _ = trace(actors, job.folder, "line")
    assert longest["for"] in words


def test_a_killed_rank_leaves_what_was_open(actors: Actors) -> None:
    script = SCRIPT.replace("close out\n", "@0 pause 2.5\n@0 kill 0\nclose out\n")
    job = play(actors, "sync", script, alone=True)
    assert job.status != 0
    told, errors = trace(actors, job.folder, "line", "--json")
    assert "rank-0.events: the process did not end its session" in errors
    puts = [one for one in json.loads(told)["events"] if one["event"] == "put"]
    assert puts[0]["count"] == RANKS * STEPS
    # The others waited in close for the one that never came.
    waits = [one for one in json.loads(told)["waits"] if "never ended" in one["for"]]
    assert {one["rank"] for one in waits} == set(range(1, RANKS))
    assert all(one["in"].startswith("close of out") for one in waits)


def test_torn_files_are_told_and_left_out(actors: Actors) -> None:
    job = play(actors, "kernel")
    line = job.folder / "line"
    whole = (line / "rank-1.events").read_bytes()
    (line / "rank-1.events").write_bytes(whole[:-100])
    (line / "rank-2.events").write_bytes(b"no timeline")
    told, errors = trace(actors, job.folder, "line", "--json")
    assert "rank-1.events: 1 damaged or missing events" in errors
    assert "rank-2.events: this is not a timeline" in errors
    assert [process["rank"] for process in json.loads(told)["processes"]] == [0, 1, 3]
    _, errors = trace(actors, job.folder, "nowhere", status=BAD_INPUT)
    assert "nowhere: there is no timeline" in errors


def test_a_timeline_keeps_the_newest_events(actors: Actors) -> None:
    kept = 1024
    steps = 300
    job = actors.play(
        "init\nopen out series\ndefine out u float64 64\n"
        + "put out u\nend_step out\nwait out written\n" * steps
        + "close out\n",
        ranks=1,
        settings={
            **mode_settings("kernel"),
            "trace": {"timeline": "line"},
            "test": {"timeline_events": kept},
            "files": {"out": {"path": "out.dat"}},
        },
    )
    assert not job.failures(), job
    told, errors = trace(actors, job.folder, "line", "--json")
    process = json.loads(told)["processes"][0]
    assert process["events"] == kept and process["dropped"] > 0
    assert f"{process['dropped']} events were dropped" in errors
    closed = [one for one in json.loads(told)["events"] if one["event"] == "close"]
    assert closed[0]["count"] == 1  # the last call


@pytest.mark.parametrize("mode", ["async", "sync"])
def test_the_picture_has_a_band_for_each_process(actors: Actors, mode: str) -> None:
    job = play(actors, mode)
    trace(actors, job.folder, "line", "--picture", "line.svg")
    picture = ET.parse(job.folder / "line.svg").getroot()
    space = "{http://www.w3.org/2000/svg}"
    words = [text.text or "" for text in picture.iter(f"{space}text")]
    bands = [text for text in words if "(rank " in text]
    assert len(bands) == RANKS
    assert "calls" in words and "disk" in words
    assert len(list(picture.iter(f"{space}rect"))) > 5 * RANKS


def test_a_folder_that_cannot_be_made_is_told_to_all_ranks(actors: Actors) -> None:
    job = actors.play(
        "init\n",
        ranks=2,
        settings={"mode": "sync", "trace": {"timeline": "iocomp.toml/line"}},
    )
    failures = job.failures(call="init")
    assert {failure["code"] for failure in failures} == {INVALID_SETTING}
    assert len(failures) == 2
    assert all("trace.timeline" in failure["story"] for failure in failures)
