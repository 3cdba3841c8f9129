"""Puts of one step that overlap: the step fails on all ranks, and they are told whose these are."""

from __future__ import annotations

import pytest
from actors import OK, OVERLAPPING_PUTS, Actors
from files import (
    BACK_ENDS,
    MODES,
    check_whole_or_absent,
    extension,
    file_settings,
    leftovers,
    mode_settings,
    skip_if_missing,
)

RANKS = 4  # with servers: two of them compute
SHAPE = "4x8"

# What is put in the step that fails, and what is said of it.
OVERLAPS = {
    "too_much": (
        ["@0 put out u start=0x0 count=3x8", "@1 put out u start=2x1 count=2x7"],
        ["compute rank 0 ([0:3, 0:8])", "compute rank 1 ([2:4, 1:8])", "element [2, 1]"],
    ),
    # As many elements as the variable has.
    "beside_a_hole": (
        ["@0 put out u start=0x0 count=2x8", "@1 put out u start=1x0 count=2x8"],
        ["compute rank 0 ([0:2, 0:8])", "compute rank 1 ([1:3, 0:8])", "element [1, 0]"],
    ),
    "by_one_rank": (
        ["@1 put out u start=0x0 count=4x8", "@1 put out u start=3x7 count=1x1"],
        ["compute rank 1 ([0:4, 0:8])", "compute rank 1 ([3:4, 7:8])", "element [3, 7]"],
    ),
}


@pytest.mark.parametrize("overlap", OVERLAPS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_a_step_with_puts_that_overlap_fails_and_the_others_stay(
    actors: Actors, back_end: str, mode: str, overlap: str
) -> None:
    skip_if_missing(actors.build, back_end)
    puts, told = OVERLAPS[overlap]
    lines = ["init", "open out series", f"define out u int64 {SHAPE}"]
    for step in range(3):
        lines += puts if step == 1 else ["put out u by=rows"]
        lines += ["end_step out", f"wait_step out {step}"]
    lines += ["close out"]
    ending = extension(back_end)
    settings = {
        **mode_settings(mode),
        "files": {"out": file_settings(back_end, path=f"out{ending}")},
    }
    job = actors.play("\n".join(lines), ranks=RANKS, settings=settings)
    assert job.status == 0, job
    for entry in job.calls("wait_step"):
        expected = OVERLAPPING_PUTS if entry["step"] == 1 else OK
        assert entry["code"] == expected, job
        if entry["step"] == 1:
            story = entry["story"]
            assert 'file "out"' in story, job
            assert "step 1" in story, job
            assert '"u"' in story, job
            assert all(part in story for part in told), job
    assert len(job.calls("wait_step", step=1)) == len(job.calls("wait_step", step=0)) > 0, job
    check_whole_or_absent(job.folder / f"out{ending}", committed={0, 2}, failed={1})
    assert not leftovers(job.folder), job


@pytest.mark.parametrize("mode", MODES)
def test_blocks_that_ranks_write_themselves_are_compared_too(actors: Actors, mode: str) -> None:
    lines = ["init", "open out series", "define out u int64 2048x512"]
    lines += ["@0 put out u start=0x0 count=1500x512", "@1 put out u start=1000x0 count=1048x512"]
    lines += ["end_step out", "wait_step out 0", "close out"]
    settings = {
        **mode_settings(mode),
        "files": {"out": file_settings("posix", path="out.dat")},
    }
    if mode == "async":
        settings["transport"] = {"kind": "auto", "kernel_from": 4096}
    job = actors.play("\n".join(lines), ranks=RANKS, settings=settings)
    assert job.status == 0, job
    assert {entry["code"] for entry in job.calls("wait_step")} == {OVERLAPPING_PUTS}, job
    assert not (job.folder / "out.dat").exists(), job
