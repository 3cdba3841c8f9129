# SPDX-License-Identifier: BSD-3-Clause
"""Servers with little memory, and many puts on their way."""

from __future__ import annotations

import json

import pytest
from actors import OK, OUT_OF_STAGING, Actors
from files import (
    BACK_ENDS,
    check_file,
    extension,
    file_settings,
    mode_settings,
    skip_if_missing,
)

from manifests import manifest_steps

KIB = 1024


@pytest.mark.parametrize("by", ["rows", "columns"])
@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_large_arrays_pass_through_tiny_staging(actors: Actors, back_end: str, by: str) -> None:
    skip_if_missing(actors.build, back_end)
    lines = ["init", "open out series", "define out u float64 2048x1024"]  # 16 MiB a step
    for _ in range(2):
        lines += [f"put out u by={by}", "end_step out"]
    lines += ["close out"]
    path = f"out{extension(back_end)}"
    job = actors.play(
        "\n".join(lines),
        ranks=4,
        settings={
            "staging": {"memory": "256 KiB"},
            "trace": {"json": "trace.json"},
            "files": {"out": file_settings(back_end, path=path)},
        },
        seconds=90,
    )
    assert not job.failures(), job
    assert job.status == 0, job
    assert check_file(job.folder / path) == {0, 1}
    trace = json.loads((job.folder / "trace.json").read_text())
    peaks = _numbers(trace, "staging_peak_bytes")
    assert peaks and max(peaks) <= 256 * KIB, trace


def _numbers(tree: object, name: str) -> list[float]:
    """Return all numbers of that name in nested tables."""
    found: list[float] = []
    if isinstance(tree, dict):
        for key, value in tree.items():
            if key == name and isinstance(value, int | float):
                found.append(value)
            found += _numbers(value, name)
    return found


@pytest.mark.parametrize("settings", [{"inline": "1 MiB"}, {"chunk": "1 GiB"}, {"chunk": "1 B"}])
def test_staging_smaller_than_messages(actors: Actors, settings: dict[str, str]) -> None:
    """The demands on the transport give way to the memory that there is."""
    lines = ["init", "open out series", "define out u int64 64x64", "define out v int64 512x512"]
    for _ in range(3):
        lines += ["put out u", "put out v by=columns", "end_step out"]
    lines += ["close out"]
    job = actors.play(
        "\n".join(lines),
        ranks=4,
        settings={"staging": {"memory": "256 KiB"}, "test": settings},
    )
    assert not job.failures(), job
    assert job.status == 0, job
    assert check_file(job.folder / "out.bin") == {0, 1, 2}


@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_a_full_staging_memory_can_be_an_error(actors: Actors, back_end: str) -> None:
    """The blocks that found no room fail; their steps are absent, and the others right."""
    skip_if_missing(actors.build, back_end)
    lines = ["init", "open out series", "define out u float64 1024x1024"]
    lines += ["put out u by=columns", "end_step out", "wait out written", "wait_step out 0"]
    for step in range(1, 4):
        lines += ["put out u start=0x0 count=1x1", "end_step out"]
        lines += ["wait out durable", f"wait_step out {step}"]
    lines += ["close out"]
    path = f"out{extension(back_end)}"
    job = actors.play(
        "\n".join(lines),
        ranks=2,
        settings={
            "staging": {"memory": "64 KiB"},
            # Copies that servers read in place need no staging memory; and what is handed to the
            # kernel's queue is written faster than the next comes.
            "transport": {"kind": "message"},
            "disk": {"engine": "threads"},
            "files": {"out": file_settings(back_end, path=path, when_full="error")},
        },
    )
    assert job.status == 0, job
    told = job.failures()
    if back_end == "mpiio" and not told:
        # The loop that receives also writes this: it takes no more than it has room for.
        steps = manifest_steps(json.loads((job.folder / f"{path}.json").read_text()))
        assert [step["step"] for step in steps] == [0, 1, 2, 3]
        return
    assert {entry["code"] for entry in told} == {OUT_OF_STAGING}, job
    assert {entry["step"] for entry in told} == {0}, job
    for entry in told:
        assert "when_full" in entry["story"], entry
        assert '"out"' in entry["story"] and '"u"' in entry["story"], entry
        assert "server 0" in entry["story"] and "64 KiB" in entry["story"], entry
    assert (job.folder / path).exists(), job


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_no_more_steps_are_in_flight_than_allowed(actors: Actors, limit: int) -> None:
    """Rank 1 holds step 0 back; rank 0 gets as many steps further as it may, and then waits."""
    lines = ["init", "open out series", "define out u int64 8x8", "@1 pause 2"]
    lines += ["put out u", "end_step out"] * 8
    lines += ["close out"]
    job = actors.play(
        "\n".join(lines), ranks=4, settings={"files": {"out": {"steps_in_flight": limit}}}
    )
    assert not job.failures(), job
    puts = job.calls("put", compute_rank=0)
    held = [entry["step"] for entry in puts if entry["seconds"] > 1]
    assert held == [limit + 1] or held == [limit], job
    assert check_file(job.folder / "out.bin") == set(range(8))


def test_tickets_can_be_asked_after_the_file_was_closed(actors: Actors) -> None:
    lines = ["init", "open out series", "define out u int64 64x64"]
    lines += ["put out u", "end_step out"] * 3
    lines += ["close out", "test out handed_over", "test out durable", "wait out durable"]
    job = actors.play("\n".join(lines), ranks=4)
    assert not job.failures(), job
    assert all(entry["reached"] == 1 for entry in job.calls("test")), job
    assert all(entry["code"] == OK for entry in job.calls("wait")), job


@pytest.mark.parametrize("back_end", ["posix", "hdf5", "netcdf", "pnetcdf"])
@pytest.mark.parametrize("by", ["whole", "columns"])
def test_the_kernel_takes_blocks_that_are_larger_than_memory_for_copies(
    actors: Actors, back_end: str, by: str
) -> None:
    """Blocks that cannot go in place, and are waited for before their place is known."""
    skip_if_missing(actors.build, back_end)
    who = "@1 " if by == "whole" else ""
    text = "init\nopen out series\ndefine out u float64 64x16384\n"
    for step in range(2):
        # The lead, which finds places, comes late.
        text += f"@0 pause 0.2\n{who}put out u by={by} halo=1\nwait out handed_over\nend_step out\n"
        text += f"wait_step out {step}\n"
    job = actors.play(
        f"{text}close out\nread out\n",
        ranks=2,
        settings={
            **mode_settings("kernel"),
            "client": {"buffer_memory": "1 MiB"},
            "files": {"out": file_settings(back_end, path=f"out{extension(back_end)}")},
        },
    )
    assert job.status == 0 and not job.failures(), job
    assert all(entry["right"] and entry["steps"] == [0, 1] for entry in job.calls("read")), job
