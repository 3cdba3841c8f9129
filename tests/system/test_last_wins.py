"""Puts of one step that overlap where the last one wins: what is there is what numpy makes of them."""

from __future__ import annotations

import random

import numpy as np
import numpy.typing as npt
import pytest
from actors import (
    INCONSISTENT_CALLS,
    INVALID_ARGUMENT,
    OK,
    OUT_OF_STAGING,
    STORAGE_FAILURE,
    TIMED_OUT,
    Actors,
    Job,
)
from files import (
    STEP,
    check_whole_or_absent,
    extension,
    file_settings,
    leftovers,
    mode_settings,
    skip_if_missing,
    steps_in,
    values_in,
)
from iocomp_studies.reader import open_dataset

SHAPE = (60, 500)
STEPS = 4
MORE = 1_000_000_000  # what the values of one put differ by from another's
VARIABLES = ("u", "v")

# Mode, transport, back-ends. With two servers each.
WAYS = [
    ("async", "shared"),
    ("async", "message"),
    ("sync", None),
    ("kernel", None),
]
GROWING = ["hdf5-time", "hdf5-deflate"]  # series only
BACK_ENDS = ["posix", "mpiio", "hdf5", "pnetcdf", "netcdf"]
BACK_ENDS += GROWING

Values = npt.NDArray[np.int64]


def settings_of(mode: str, transport: str | None, back_end: str, **file: object) -> dict[str, object]:
    settings = mode_settings(mode)
    if transport is not None:
        settings["transport"] = {"kind": transport}
    settings["placement"] = {"servers_per_node": 2}
    whole_steps = back_end == "hdf5-deflate"  # must fit into the memory
    memory = "4 MiB" if whole_steps else "256 KiB"
    settings["staging"] = {"memory": memory, "stripe": "16 KiB"}
    settings["files"] = {
        "out": file_settings(
            back_end, path=f"out{extension(back_end)}", overlap="last", guard=False, **file
        )
    }
    return settings


class Reference:
    """What the file must hold: puts by rank, then by order."""

    def __init__(self, shape: tuple[int, ...], step: int, fill: int = 0) -> None:
        count = int(np.prod(shape))
        self.all = (np.arange(count, dtype=np.int64) + step * STEP).reshape(shape)
        self.values: Values = np.full(shape, fill, dtype=np.int64)
        self.fill = fill

    @property
    def is_put(self) -> bool:
        return bool(np.any(self.values != self.fill))

    def put(self, start: list[int], count: list[int], more: int) -> None:
        box = tuple(slice(s, s + c) for s, c in zip(start, count, strict=True))
        self.values[box] = self.all[box] + more

    def put_runs(self, runs: list[tuple[int, int]], more: int) -> None:
        for first, count in runs:
            self.values.flat[first : first + count] = self.all.flat[first : first + count] + more


def by(numbers: list[int]) -> str:
    return "x".join(map(str, numbers))


def random_step(
    dice: random.Random, ranks: int, references: dict[str, Reference]
) -> list[str]:
    """Return the lines of one step in any order of ranks, and make its puts in that which counts."""
    lines: dict[int, list[str]] = {}
    more = 0
    for rank in range(ranks):
        lines[rank] = []
        for _ in range(dice.randint(int(rank == 0), 4)):
            name = dice.choice(VARIABLES)
            more += MORE
            buffered = dice.choice(["no", "yes"])
            if dice.random() < 0.3:
                edges = sorted(dice.sample(range(int(np.prod(SHAPE)) + 1), 6))
                runs = [(a, b - a) for a, b in zip(edges[::2], edges[1::2], strict=True)]
                references[name].put_runs(runs, more)
                if dice.random() < 0.5:
                    runs.reverse()  # in the order of the rank's memory, that is
                text = ",".join(f"{first}:{count}" for first, count in runs)
                line = f"put_runs out {name} runs={text}"
            else:
                start = [dice.randrange(extent) for extent in SHAPE]
                count = [
                    dice.randint(1, extent - at) for extent, at in zip(SHAPE, start, strict=True)
                ]
                references[name].put(start, count, more)
                line = f"put out {name} start={by(start)} count={by(count)}"
                line += f" halo={dice.choice([0, 2])}"
            lines[rank].append(f"@{rank} {line} add={more} buffered={buffered}")
    order = list(range(ranks))
    dice.shuffle(order)
    return [line for rank in order for line in lines[rank]]


def play(
    actors: Actors, way: tuple[str, str | None], back_end: str, compute: int, lines: list[str]
) -> Job:
    skip_if_missing(actors.build, back_end)
    mode, transport = way
    ranks = compute + (2 if mode == "async" else 0)
    settings = settings_of(mode, transport, back_end)
    return actors.play("\n".join(["init", *lines]), ranks=ranks, settings=settings)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("back_end", "kind"),
    [(back_end, "series") for back_end in BACK_ENDS]
    + [(back_end, "checkpoint") for back_end in BACK_ENDS if back_end not in GROWING],
)
def test_the_last_of_random_puts_wins(
    actors: Actors, back_end: str, kind: str, way: tuple[str, str | None]
) -> None:
    seed = random.randrange(1 << 30)
    dice = random.Random(seed)
    compute = dice.randint(2, 4)
    fill = 77
    lines = [f"open out {kind}"]
    lines += [f"define out {name} int64 {by(list(SHAPE))}" for name in VARIABLES]
    lines += [f"fill out u {fill}"]
    expected = []
    for step in range(STEPS):
        references = {
            name: Reference(SHAPE, step, fill if name == "u" else 0) for name in VARIABLES
        }
        if step == 1:  # each element once
            lines += ["put out v by=rows", "put out u by=columns buffered=yes"]
            for reference in references.values():
                reference.values = reference.all
        else:
            if step == 0:  # the variables of a netCDF series are those of its first step
                for name, reference in references.items():
                    reference.put([3, 4], [9, 10], MORE // 2)
                    lines += [f"@0 put out {name} start=3x4 count=9x10 add={MORE // 2}"]
            lines += random_step(dice, compute, references)
        lines += ["end_step out", "wait out durable", f"wait_step out {step}"]
        expected.append(references)
    job = play(actors, way, back_end, compute, [*lines, "close out"])
    assert job.status == 0, f"seed {seed}: {job}"
    assert not job.failures(), f"seed {seed}: {job}"
    assert not leftovers(job.folder), job
    for step, references in enumerate(expected):
        number = f".{step:06}" if kind == "checkpoint" else ""
        path = job.folder / f"out{number}{extension(back_end)}"
        for name, reference in references.items():
            found = values_in(back_end, path, step, name)
            assert (found is not None) == reference.is_put, f"seed {seed}: {name}, {step}: {job}"
            if found is not None:
                wrong = np.flatnonzero(found.flat != reference.values.flat)
                assert wrong.size == 0, (
                    f"seed {seed}: {name} of step {step}: {wrong.size} values are wrong, the "
                    f"first at {wrong[0]}: {found.flat[wrong[0]]} for "
                    f"{reference.values.flat[wrong[0]]}; {job}"
                )


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("back_end", ["posix", "hdf5"])
def test_to_wait_before_the_end_of_the_step_is_refused(
    actors: Actors, back_end: str, way: tuple[str, str | None]
) -> None:
    lines = ["open out series", "define out u int64 8x8", "put out u by=whole"]
    lines += ["test out handed_over", "wait out handed_over"]
    lines += ["put out u by=whole buffered=yes", "wait out handed_over"]
    lines += ["put out u by=whole buffered=yes", "wait out written"]
    lines += ["put out u by=whole", "end_step out", "wait out durable", "close out"]
    job = play(actors, way, back_end, 2, lines)
    assert job.status == 0, job
    for rank in {entry["rank"] for entry in job.calls("wait")}:
        waits = job.calls("wait", rank=rank)
        codes = [INVALID_ARGUMENT, OK, INVALID_ARGUMENT, OK]
        assert [entry["code"] for entry in waits] == codes, job
        assert not any(entry["reached"] for entry in job.calls("test", rank=rank)), job
        for entry in waits:
            if entry["code"] == INVALID_ARGUMENT:
                assert 'file "out", variable "u": overlap = "last"' in entry["story"], job
                assert "call end_step before waiting" in entry["story"], job
    with open_dataset(job.folder / f"out{extension(back_end)}") as dataset:
        assert np.array_equal(dataset.read(0, "u", 0, 64), np.arange(64)), job


@pytest.mark.parametrize("way", WAYS)
def test_a_put_that_fails_keeps_nobody_waiting(
    actors: Actors, way: tuple[str, str | None]
) -> None:
    lines = ["open out series", "define out u int64 64x1024"]
    lines += ["put out u by=whole", "@1 put out u by=whole buffered=yes add=5 ticket=none"]
    lines += ["end_step out", "wait_step out 0", "put out u by=rows", "end_step out"]
    lines += ["wait_step out 1", "close out"]
    mode, transport = way
    settings = settings_of(mode, transport, "posix") | {"client": {"buffer_memory": "256 KiB"}}
    settings["staging"] = {"memory": "4 MiB"}
    ranks = 2 + (2 if mode == "async" else 0)
    job = actors.play("\n".join(["init", *lines]), ranks=ranks, settings=settings)
    assert job.status == 0, job
    assert [entry["call"] for entry in job.failures()] == ["put"], job
    assert job.failures()[0]["code"] == OUT_OF_STAGING, job
    assert "client.buffer_memory is 256 KiB" in job.failures()[0]["story"], job
    with open_dataset(job.folder / "out.dat") as dataset:
        for step in range(2):
            found = dataset.read(step, "u", 0, 65536)
            assert np.array_equal(found, np.arange(65536) + step * STEP), job


@pytest.mark.parametrize("way", WAYS)
def test_ranks_that_make_different_calls_are_told(
    actors: Actors, way: tuple[str, str | None]
) -> None:
    lines = ["open out series", "define out u int64 8x8", "put out u by=rows", "end_step out"]
    lines += ["put out u by=whole", "@0 end_step out", "close out"]
    job = play(actors, way, "posix", 2, lines)
    assert job.status == 0, job
    assert INCONSISTENT_CALLS in {entry["code"] for entry in job.calls("close")}, job


@pytest.mark.parametrize("way", WAYS)
def test_a_rank_that_ends_the_step_late_is_a_time_out(
    actors: Actors, way: tuple[str, str | None]
) -> None:
    lines = ["init", "open out series", "define out u int64 64x64", "put out u by=whole"]
    lines += ["end_step out", "wait_step out 0", "put out u by=whole", "@1 pause 2.5"]
    lines += ["end_step out", "wait out written", "close out", "barrier"]
    mode, transport = way
    settings = settings_of(mode, transport, "posix")
    ranks = 2 + (2 if mode == "async" else 0)
    environment = {"IOCOMP_WAIT_DEADLINE": "1"}
    job = actors.play("\n".join(lines), ranks=ranks, settings=settings, environment=environment)
    (ended,) = job.calls("end_step", compute_rank=0, step=1)
    assert ended["code"] == TIMED_OUT, job
    for text in ('file "out"', "the other ranks to end a step in which the last put wins"):
        assert text in ended["story"], job
    waited = job.calls("wait", compute_rank=0)[-1]
    assert (waited["code"], waited["story"]) == (TIMED_OUT, ended["story"]), job
    assert check_whole_or_absent(job.folder / "out.dat", committed={0}) == {0}, job


@pytest.mark.parametrize("victim", [2, 3])
def test_with_a_server_lost_the_file_fails_and_nobody_hangs(actors: Actors, victim: int) -> None:
    if actors.build.mpi != "openmpi":
        pytest.skip("only Open MPI's mpirun lets the others live (see tests/slurm)")
    first, *rest = actors.build.launcher
    lines = ["init", "open out series", "define out u int64 64x512", "put out u by=whole"]
    lines += ["end_step out", "wait_step out 0", "barrier", "put out u by=whole"]
    lines += [f"@0 kill {victim}", "end_step out", "wait_step out 1", "put out u by=whole"]
    lines += ["wait out written", "close out", "leave"]
    settings = settings_of("async", "shared", "posix")
    settings["placement"] = {"policy": "list", "servers": [2, 3]}
    job = actors.play(
        "\n".join(lines),
        ranks=4,
        launcher=[first, "--enable-recovery", *rest, "4"],
        settings=settings,
        seconds=25,
    )
    assert len(job.calls("close")) == 2, job
    assert not [entry for entry in job.entries if entry.get("seconds", 0) > 4], job
    for entry in job.calls("wait_step", step=1):
        assert entry["code"] == STORAGE_FAILURE, job
        for text in ("has ended", 'file "out"', 'overlap = "last" cannot be finished'):
            assert text in entry["story"], job
    assert steps_in(job.folder / "out.dat") == {0}, job
