# SPDX-License-Identifier: BSD-3-Clause
"""hpl solves its systems, writes what it says, and goes on where it was, on any grid of ranks."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt
import pytest

from clients import KERNEL, QUIET, SYNC, Client

from iocomp_studies.launch import Build, Launch, RunFailedError

run = Client("hpl")
ONE_SERVER = QUIET | {
    "mode": "async",
    "placement.policy": "tail",
    "placement.servers": "1 per node",
}
Matrix = npt.NDArray[np.float64]


@pytest.fixture
def build(monkeypatch: pytest.MonkeyPatch) -> Build:
    build = Build.read(Path(os.environ["IOCOMP_BUILD"]))
    if "hpl" in build.missing:
        pytest.skip(build.missing["hpl"])
    monkeypatch.setenv("OMPI_MCA_mpi_yield_when_idle", "1")  # whatever else runs beside the tests
    return build


def paths(directory: Path) -> str:
    return f"--file {directory}/out --set files.restart.path='{directory}/ckpt'"


def numbers(size: int, first: int, count: int, seed: int, repetition: int) -> Matrix:
    """Return elements of a system as apps/hpl/generator.h says: SplitMix64 of their places."""
    golden = np.uint64(0x9E3779B97F4A7C15)

    def mixed(state: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return state ^ (state >> np.uint64(31))

    start = mixed(mixed(np.array([seed], np.uint64) + golden) + np.uint64(repetition))
    places = np.arange(first + 1, first + count + 1, dtype=np.uint64)
    bits = mixed(start + places * golden) >> np.uint64(11)
    return bits.astype(np.float64) * 2.0**-53 - 0.5


def system(size: int, seed: int, repetition: int) -> tuple[Matrix, Matrix]:
    """Return A and b."""
    matrix = numbers(size, 0, size * size, seed, repetition).reshape(size, size).T
    return matrix, numbers(size, size * size, size, seed, repetition)


def read(path: Path, step: int, name: str) -> npt.NDArray[Any]:
    """Read an array of a step without iocomp."""
    if h5py.is_hdf5(path):
        with h5py.File(path) as file:
            return np.array(file[f"{step}/{name}"])
    manifest = json.loads(path.with_name(f"{path.name}.json").read_text())
    steps = max((s for s in manifest["steps"] if s["step"] <= step), key=lambda s: s["step"])
    variable = next(v for v in steps["variables"] if v["name"] == name)
    at = variable["offset"] + (step - steps["step"]) * variable.get("advance", 0)
    count = int(np.prod(variable["shape"]))
    types = {"float64": "<f8", "int64": "<i8"}
    found = np.fromfile(path, types[variable["type"]], count, offset=at)
    return found.reshape(variable["shape"])


def product(columns: Matrix, pivots: npt.NDArray[np.int64]) -> Matrix:
    """Return P L U of factors as they are in a file."""
    factors = columns.T
    lower = np.tril(factors, -1) + np.eye(len(pivots))
    found = lower @ np.triu(factors)
    for row, pivot in reversed(list(enumerate(pivots))):
        found[[row, pivot]] = found[[pivot, row]]
    return found


@pytest.mark.parametrize(
    ("ranks", "grid"),
    [(1, "1,1"), (2, "1,2"), (2, "2,1"), (4, "2,2"), (4, "1,4"), (4, "4,1")],
)
def test_every_grid_solves_the_same_systems(
    build: Build, tmp_path: Path, ranks: int, grid: str
) -> None:
    arguments = f"--size 300 --block 16 --grid {grid} --repetitions 2 --seed 7 --output solution"
    result = run(build, f"{arguments} --verify {paths(tmp_path)}", ranks)
    assert len(result["residuals"]) == 2
    assert all(0 < residual < 16 for residual in result["residuals"])
    assert result["file_verified"]
    assert result["bytes_written"] == 2 * 300 * 8
    assert result["blas"]["threads"] == 1
    for repetition in range(2):
        matrix, right = system(300, 7, repetition)
        expected = np.linalg.solve(matrix, right)
        found = read(tmp_path / "out", repetition, "solution")
        assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()
    rate = (2 / 3 * 300**3 + 3 / 2 * 300**2) * 2 / 1e9
    assert result["gflop_per_second"] * result["hpl_seconds"] == pytest.approx(rate)
    assert sum(result["hpl_seconds_by_repetition"]) == pytest.approx(result["hpl_seconds"])


@pytest.mark.parametrize("backend", ["posix", "hdf5"])
@pytest.mark.parametrize(
    ("settings", "ranks", "grid"),
    [
        (KERNEL, 1, "1,1"),
        (KERNEL, 2, "1,2"),
        (KERNEL, 4, "2,2"),
        (ONE_SERVER, 4, "2,2"),
        (ONE_SERVER, 2, "2,1"),
        (SYNC, 4, "4,1"),
    ],
    ids=["alone", "kernel", "kernel-2x2", "server-2x2", "server-2x1", "sync"],
)
def test_the_factors_that_were_written_multiply_to_the_matrix(
    build: Build, tmp_path: Path, backend: str, settings: dict[str, str], ranks: int, grid: str
) -> None:
    arguments = f"--size 200 --block 24 --grid {grid} --repetitions 3 --backend {backend}"
    try:
        result = run(
            build, f"{arguments} --verify {paths(tmp_path)}", ranks + (settings is ONE_SERVER),
            settings,
        )  # fmt: skip
    except RunFailedError as error:
        if "not installed" not in str(error):
            raise
        pytest.skip(f"built without {backend}")
    assert result["file_verified"]
    assert result["compute_ranks"] == ranks
    assert result["bytes_written"] == 3 * 200 * 200 * 8
    for repetition in range(3):
        factors = read(tmp_path / "out", repetition, "factors")
        pivots = read(tmp_path / "out", repetition, "pivots")
        assert np.abs(np.tril(factors.T, -1)).max() <= 1  # as partial pivoting has it
        matrix, _ = system(200, 1, repetition)
        assert np.abs(product(factors, pivots) - matrix).max() < 1e-13


@pytest.mark.parametrize("settings", [KERNEL, ONE_SERVER], ids=["kernel", "server"])
def test_a_restart_on_another_grid_has_the_same_residual(
    build: Build, tmp_path: Path, settings: dict[str, str]
) -> None:
    servers = 1 if settings is ONE_SERVER else 0
    whole, chain = (tmp_path / name for name in ("whole", "chain"))
    whole.mkdir()
    chain.mkdir()
    common = "--size 200 --checkpoint 2 --repetitions 6"
    expected = run(
        build, f"{common} --block 20 --grid 2,2 {paths(whole)}", 4 + servers, settings
    )
    assert expected["checkpoints"] == 3
    with pytest.raises(RunFailedError):  # it ends with 3, behind its newest checkpoint
        run(
            build, f"{common} --block 20 --grid 2,2 {paths(chain)} --stop-after 3", 4 + servers,
            settings,
        )  # fmt: skip
    for number, (ranks, grid, block) in enumerate(((2, "2,1", 20), (3, "1,3", 8), (1, "1,1", 64))):
        here = tmp_path / f"on {number}".replace(" ", "")
        shutil.copytree(chain, here)
        result = run(
            build, f"{common} --block {block} --grid {grid} {paths(here)} --restart",
            ranks + servers, settings,
        )  # fmt: skip
        assert (result["restarted_at"], result["repetitions"]) == (2, 4)
        assert result["restart"]["residual"] == expected["residuals"][1]  # the same bits
        assert 0 < result["restart"]["solved_residual"] < 16
        assert all(0 < residual < 16 for residual in result["residuals"])
        for repetition in range(6):
            factors = read(here / "out", repetition, "factors")
            pivots = read(here / "out", repetition, "pivots")
            matrix, _ = system(200, 1, repetition)
            assert np.abs(product(factors, pivots) - matrix).max() < 1e-13


def test_progress_calls_and_iocomp_memory_change_nothing(build: Build, tmp_path: Path) -> None:
    arguments = "--size 200 --block 24 --grid 1,2 --repetitions 3"
    files = []
    for number, more in enumerate(("", "--progress on", "--alloc")):
        path = tmp_path / str(number)
        result = run(build, f"{arguments} {more} --file {path}", 2)
        assert result["progress_calls"] == ("progress" in more)
        files.append(path.read_bytes())
    assert files[0] == files[1] == files[2]


def test_blas_has_the_threads_that_are_asked_for(
    build: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run(build, "--plain --size 100 --repetitions 1", 1, {})["blas"]["threads"] == 1
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    if len(os.sched_getaffinity(0)) > 1:
        cpus = sorted(os.sched_getaffinity(0))
        words = ("--plain", "--size", "100", "--repetitions", "1")
        several = (f"{cpus[0]}-{cpus[-1]}",)
        assert build.run(Launch("apps/hpl/hpl", words, several))["blas"]["threads"] == 2


@pytest.mark.parametrize(
    ("arguments", "ranks", "words"),
    [
        ("--size 0", 1, "--size: Value 0 not in range"),
        ("--block 0", 1, "--block: Value 0 not in range"),
        ("--size 100 --grid 2,2", 2, "--grid 2 x 2 has 4 places, but 2 ranks compute: without"),
        ("--size 100 --block 64 --grid 4,1", 4, "2 blocks of --block 64, too few for a grid of 4"),
        ("--size 100 --block 200", 4, "1 block of --block 200, too few for a grid of 2 x 2 ranks: take --block 50"),
        ("--size 3 --block 1 --grid 4,1", 4, "take fewer ranks"),
        ("--size 2000000", 1, "ScaLAPACK counts to 2147483647: take more ranks"),
        ("--output lu", 1, "--output: 'lu' is none of factors, none, solution"),
        ("--plain --restart", 1, "--plain goes without"),
        ("--output none --verify", 1, "--verify needs an output"),
    ],
)
def test_mistakes_are_told_in_one_line(
    build: Build, arguments: str, ranks: int, words: str
) -> None:
    with pytest.raises(RunFailedError) as failure:
        run(build, arguments, ranks)
    told = [line for line in str(failure.value).splitlines() if words in line]
    assert len(told) == 1, str(failure.value)


def test_more_memory_than_there_is_is_told_before_it_is_touched(build: Build) -> None:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    ranks = 1 + memory // (30 << 30)  # 33 GiB for each
    if ranks > 16:
        pytest.skip("no 16 ranks can ask for more memory than there is")
    with pytest.raises(RunFailedError) as failure:
        run(build, f"--size {int(46000 * ranks**0.5)} --grid 1,{ranks}", ranks)
    assert "the ranks of a node want" in str(failure.value)
    assert "take a smaller size, or more nodes" in str(failure.value)


def test_a_checkpoint_of_another_system_is_refused(build: Build, tmp_path: Path) -> None:
    common = f"--output none --checkpoint 1 --repetitions 1 {paths(tmp_path)}"
    run(build, f"{common} --size 100", 1)
    for arguments, words in (
        (f"{common} --size 100", "target exists"),
        (f"{common} --size 120 --restart", "the checkpoint is of --size 100 --seed 1, this run"),
        (f"{common} --size 100 --seed 2 --restart", "this run of --size 100 --seed 2"),
    ):
        with pytest.raises(RunFailedError) as failure:
            run(build, arguments, 1)
        assert words in str(failure.value)
