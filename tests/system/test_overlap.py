# SPDX-License-Identifier: BSD-3-Clause
"""Puts of one step that overlap: the step fails and all ranks are told whose they are; or any of them wins."""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt
import pytest
from actors import OK, OVERLAPPING_PUTS, Actors
from files import (
    WAYS,
    MODES,
    STEP,
    check_whole_or_absent,
    extension,
    file_settings,
    leftovers,
    mode_settings,
    skip_if_missing,
    values_in,
)

RANKS = 4  # with servers: two of them compute
SHAPE = "4x8"

# The puts of the step that fails, and what is said of it.
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
@pytest.mark.parametrize(("back_end", "mode"), WAYS)
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
        settings["test"] = {"kernel_from": 4096}
    job = actors.play("\n".join(lines), ranks=RANKS, settings=settings)
    assert job.status == 0, job
    assert {entry["code"] for entry in job.calls("wait_step")} == {OVERLAPPING_PUTS}, job
    assert not (job.folder / "out.dat").exists(), job


ANY_SHAPE = (60, 500)
ANY_STEPS = 4
MORE = 1_000_000_000  # what the values of one put differ by from another's
FILL = 77
VARIABLES = ("u", "v")  # the first one has a fill value

# Mode, transport. With two servers each.
ANY_WAYS = [("async", "shared"), ("async", "message"), ("sync", None), ("kernel", None)]
ANY_BACK_ENDS = ["posix", "hdf5", "hdf5-time", "hdf5-deflate", "pnetcdf", "netcdf"]
# Compressed files are written synchronously where there are no servers.
SAME_AS_OTHERS = [("hdf5-deflate", ("kernel", None))]


class Candidates:
    """The values that each element of a variable may hold after a step."""

    def __init__(self, step: int, fill: int) -> None:
        count = int(np.prod(ANY_SHAPE))
        self.all = (np.arange(count, dtype=np.int64) + step * STEP).reshape(ANY_SHAPE)
        self.fill = fill
        self.puts: list[tuple[npt.NDArray[np.bool_], int]] = []

    def put(self, start: list[int], count: list[int], more: int) -> None:
        mask = np.zeros(ANY_SHAPE, dtype=np.bool_)
        mask[tuple(slice(s, s + c) for s, c in zip(start, count, strict=True))] = True
        self.puts.append((mask, more))

    def put_runs(self, runs: list[tuple[int, int]], more: int) -> None:
        mask = np.zeros(ANY_SHAPE, dtype=np.bool_)
        for first, count in runs:
            mask.flat[first : first + count] = True
        self.puts.append((mask, more))

    def wrong(self, found: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        found = found.reshape(ANY_SHAPE)
        right = np.zeros(ANY_SHAPE, dtype=np.bool_)
        holes = np.ones(ANY_SHAPE, dtype=np.bool_)
        for mask, more in self.puts:
            right |= mask & (found == self.all + more)
            holes &= ~mask
        return np.flatnonzero(~(right | (holes & (found == self.fill))))


def by(numbers: list[int]) -> str:
    return "x".join(map(str, numbers))


def random_step(
    dice: random.Random, ranks: int, candidates: dict[str, Candidates]
) -> list[str]:
    lines = []
    for more in range(MORE, MORE * dice.randint(2, 12), MORE):
        rank = dice.randrange(ranks)
        name = dice.choice(VARIABLES)
        buffered = dice.choice(["no", "yes"])
        if dice.random() < 0.3:
            edges = sorted(dice.sample(range(int(np.prod(ANY_SHAPE)) + 1), 6))
            runs = [(a, b - a) for a, b in zip(edges[::2], edges[1::2], strict=True)]
            candidates[name].put_runs(runs, more)
            text = ",".join(f"{first}:{count}" for first, count in runs)
            line = f"put_elements out {name} runs={text}"
        else:
            start = [dice.randrange(extent) for extent in ANY_SHAPE]
            count = [
                dice.randint(1, extent - at) for extent, at in zip(ANY_SHAPE, start, strict=True)
            ]
            candidates[name].put(start, count, more)
            line = f"put out {name} start={by(start)} count={by(count)} halo={dice.choice([0, 2])}"
        lines.append(f"@{rank} {line} add={more} buffered={buffered}")
    return lines


@pytest.mark.parametrize(
    ("back_end", "way"),
    [(b, way) for b in ANY_BACK_ENDS for way in ANY_WAYS if (b, way) not in SAME_AS_OTHERS],
)
def test_any_of_puts_that_overlap_is_there_and_the_step_is_committed(
    actors: Actors, back_end: str, way: tuple[str, str | None]
) -> None:
    skip_if_missing(actors.build, back_end)
    seed = random.randrange(1 << 30)
    dice = random.Random(seed)
    compute = dice.randint(2, 3)
    lines = ["init", "open out series"]
    lines += [f"define out {name} int64 {by(list(ANY_SHAPE))}" for name in VARIABLES]
    lines += [f"fill out u {FILL}"]
    expected = []
    half = [ANY_SHAPE[0], ANY_SHAPE[1] // 2]
    for step in range(ANY_STEPS):
        candidates = {name: Candidates(step, FILL if name == "u" else 0) for name in VARIABLES}
        for name, candidate in candidates.items():
            if step == 1:  # half of it twice: as many elements as there are
                for rank in (0, 1):
                    candidate.put([0, 0], half, rank * MORE)
                    lines += [f"@{rank} put out {name} start=0x0 count={by(half)} add={rank * MORE}"]
            else:  # the variables of a netCDF series are those of its first step
                candidate.put([3, 4], [9, 10], MORE // 2)
                lines += [f"@0 put out {name} start=3x4 count=9x10 add={MORE // 2}"]
        if step != 1:
            lines += random_step(dice, compute, candidates)
        lines += ["end_step out", "wait out durable", f"wait_step out {step}"]
        expected.append(candidates)
    mode, transport = way
    path = f"out{extension(back_end)}"
    settings: dict[str, object] = {
        **mode_settings(mode, "2 per node"),
        "staging": {"memory": "8 MiB"},
        "test": {"stripe": "64 KiB"},
        "files": {"out": file_settings(back_end, path=path, overlap="any", guard=False)},
    }
    if transport is not None:
        settings["transport"] = {"kind": transport}
    ranks = compute + (2 if mode == "async" else 0)
    job = actors.play("\n".join([*lines, "close out"]), ranks=ranks, settings=settings)
    assert job.status == 0 and not job.failures(), f"seed {seed}: {job}"
    assert not leftovers(job.folder), job
    for step, candidates in enumerate(expected):
        for name, candidate in candidates.items():
            found = values_in(back_end, job.folder / path, step, name)
            assert found is not None, f"seed {seed}: {name}, {step}: {job}"
            wrong = candidate.wrong(found)
            assert wrong.size == 0, (
                f"seed {seed}: {name} of step {step}: {wrong.size} values are wrong, the first "
                f"at {wrong[0]}: {found.flat[wrong[0]]}; {job}"
            )
