# SPDX-License-Identifier: BSD-3-Clause
"""hpcg computes what HPCG computes, writes what it says, and goes on where it was."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clients import KERNEL, QUIET, SYNC, Client

from iocomp_studies.launch import Build, RunFailedError

run = Client("hpcg")
ONE_SERVER = QUIET | {
    "mode": "async",
    "transport.kind": "message",
    "placement.policy": "tail",
    "placement.servers": "1 per node",
}

# From the output of HPCG 3.1, made with its reference kernels: entries of each level, the norm of
# the first residual, and those after 1, 5, 10 and 20 iterations relative to it.
REFERENCE = {
    1: ([97336, 10648, 1000, 64], 368.706, [0.175288, 4.17347e-4, 1.63531e-7, 2.01269e-15], 1),
    2: ([198904, 22264, 2200, 160], 472.144, [0.186457, 7.54721e-3, 3.86172e-6, 3.86491e-12], 2),
}


@pytest.fixture
def build() -> Build:
    return Build.read(Path(os.environ["IOCOMP_BUILD"]))


def paths(directory: Path) -> str:
    return f"--backend posix --file {directory}/out --set files.restart.path='{directory}/ckpt'"


@pytest.mark.parametrize("layout", ["rows", "blocks"])
@pytest.mark.parametrize("ranks", REFERENCE)
def test_residuals_are_those_of_the_reference(build: Build, ranks: int, layout: str) -> None:
    nonzeros, first, residuals, preconditioned = REFERENCE[ranks]
    arguments = f"--plain --local 16 --sets 2 --format {layout} --checks"
    result = run(build, arguments, ranks, {})
    assert result["rows"][0] == 4096 * ranks
    assert result["nonzeros"] == nonzeros
    assert result["first_residual"] == pytest.approx(first, rel=2e-6)
    for iteration, expected in zip((1, 5, 10, 20), residuals, strict=True):
        # A number as small as that depends on rounding.
        digits = 1e-5 if expected > 1e-14 else 1e-3
        assert result["residuals"][iteration - 1] == pytest.approx(expected, rel=digits, abs=0)
    assert len(result["residuals"]) == 50
    assert result["residuals"][-1] < 1e-30
    assert len(set(result["final_residuals"])) == 1  # the same bits in each set
    spectral = result["checks"]["spectral"]
    assert spectral["plain_iterations"] == 11
    assert spectral["preconditioned_iterations"] == preconditioned
    assert 0 <= result["checks"]["symmetry"]["multigrid"] <= 1
    assert 0 <= result["checks"]["symmetry"]["spmv"] <= 1


def test_every_grid_of_ranks_has_the_same_solution(build: Build, tmp_path: Path) -> None:
    solutions = []
    grids = ((1, "32", "1,1,1"), (2, "32,32,16", "1,1,2"), (4, "16,16,32", "2,2,1"))
    for ranks, local, grid in grids:
        path = tmp_path / grid
        path.mkdir()
        arguments = f"--local {local} --grid {grid} --sets 2 --iterations 30 --output solution"
        result = run(build, f"{arguments} --format blocks --verify {paths(path)}", ranks)
        assert result["file_verified"]
        before, after = np.fromfile(path / "out", "<f8", 2 * 32**3).reshape(2, 32, 32, 32)
        assert not before.any()
        solutions.append(after)
    for solution in solutions:
        assert np.abs(solution - 1).max() < 1e-9
        assert np.abs(solution - solutions[0]).max() < 1e-9


@pytest.mark.parametrize(
    ("output", "backend", "settings"),
    [
        ("matrix", "posix", ONE_SERVER),
        ("matrix", "hdf5", SYNC),
        ("solution", "hdf5", ONE_SERVER),
        ("solution", "mpiio", SYNC),
    ],
)
def test_output_reads_back(
    build: Build, tmp_path: Path, output: str, backend: str, settings: dict[str, str]
) -> None:
    ranks = 3 if settings is ONE_SERVER else 2
    arguments = f"--local 16 --sets 3 --iterations 12 --output {output} --verify"
    try:
        result = run(
            build, f"{arguments} --backend {backend} --file {tmp_path}/out", ranks, settings
        )
    except RunFailedError as error:
        if "not installed" not in str(error):
            raise
        pytest.skip(f"built without {backend}")
    assert result["file_verified"]
    assert result["compute_ranks"] == 2
    values = result["nonzeros"][0] if output == "matrix" else result["rows"][0]
    assert result["bytes_written"] == 3 * 8 * values
    for seconds in ("send", "wait", "compute", "loop", "close"):
        assert result[f"{seconds}_seconds"] >= 0
    assert result["effective_gib_per_second"] * result["loop_seconds"] == pytest.approx(
        result["traffic_bytes"]["total"] / 2**30
    )
    if (output, backend) == ("matrix", "posix"):
        entries = np.fromfile(tmp_path / "out", "<f8", values)  # of the first set
        assert np.array_equal(np.sort(entries), np.repeat([-1.0, 26.0], [values - 8192, 8192]))


@pytest.mark.parametrize("settings", [KERNEL, ONE_SERVER], ids=["kernel", "server"])
def test_a_restart_goes_on_with_the_same_bits(
    build: Build, tmp_path: Path, settings: dict[str, str]
) -> None:
    servers, layout = (1, "blocks") if settings is ONE_SERVER else (0, "rows")
    whole, chain, other = (tmp_path / name for name in ("whole", "chain", "other"))
    whole.mkdir()
    chain.mkdir()
    common = f"--sets 2 --output solution --checkpoint 20 --format {layout}"
    two = f"{common} --local 32,16,16 --grid 1,1,2"
    expected = run(build, f"{two} {paths(whole)}", 2 + servers, settings)
    assert expected["checkpoints"] == 5
    # It ends in the second set, ten iterations behind its newest checkpoint.
    with pytest.raises(RunFailedError):
        run(build, f"{two} {paths(chain)} --stop-after 70", 2 + servers, settings)
    shutil.copytree(chain, other)

    found = run(build, f"{two} {paths(chain)} --restart", 2 + servers, settings)
    assert (found["restarted_at"], found["iterations"]) == (60, 40)
    assert found["residuals"] == expected["residuals"]
    assert (chain / "out").read_bytes() == (whole / "out").read_bytes()
    name = "ckpt.000100"
    assert (chain / name).read_bytes() == (whole / name).read_bytes()

    if settings is KERNEL:
        goes_on_elsewhere(build, f"{common} {paths(other)}", expected["residuals"])


def goes_on_elsewhere(build: Build, arguments: str, expected: list[float]) -> None:
    """Restart on four ranks, behind 10 of 50 iterations that two have made.

    Four ranks smooth in other blocks, so theirs is another preconditioner.
    """
    result = run(build, f"{arguments} --local 16,16,16 --grid 2,1,2 --restart", 4)
    assert (result["restarted_at"], result["iterations"]) == (60, 40)
    found = result["residuals"]
    assert found[:10] == expected[:10]
    assert found[10:20] == pytest.approx(expected[10:20], rel=4, abs=0)
    assert found[10:20] != expected[10:20]
    assert found[-1] < 1e-18


@pytest.mark.parametrize(
    ("arguments", "ranks", "words"),
    [
        ("--local 20", 1, "20 is no multiple of 8 of at least 16"),
        ("--local 8,16,16", 1, "8 is no multiple of 8 of at least 16"),
        ("--local 16 --grid 2,2,1", 2, "--grid 2 x 2 x 1 has 4 places, but 2 ranks compute"),
        ("--local 2048", 1, "take more ranks, or a smaller --local"),
        ("--plain --restart", 1, "--plain goes without"),
    ],
)
def test_mistakes_are_told(build: Build, arguments: str, ranks: int, words: str) -> None:
    with pytest.raises(RunFailedError) as failure:
        run(build, arguments, ranks)
    told = [line for line in str(failure.value).splitlines() if words in line]
    assert len(told) == 1, str(failure.value)  # by one rank


def test_a_checkpoint_of_another_problem_is_refused(build: Build, tmp_path: Path) -> None:
    common = f"--output none --checkpoint 10 --sets 1 --iterations 10 {paths(tmp_path)}"
    run(build, f"{common} --local 16", 1)
    for arguments, words in (
        (f"{common} --local 16", "target exists"),
        (f"{common} --local 24,16,16 --restart", "the checkpoint has 16 x 16 x 16 points"),
    ):
        with pytest.raises(RunFailedError) as failure:
            run(build, arguments, 1)
        assert words in str(failure.value)
