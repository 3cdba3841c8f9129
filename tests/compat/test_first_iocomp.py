# SPDX-License-Identifier: BSD-3-Clause
"""Programs of the first iocomp, in the ways of its clients: every value of every file is read back."""

import json
import os
import re
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest

BUILD = json.loads(Path(os.environ["IOCOMP_TEST_BUILD"]).read_text())
STREAM = os.environ["IOCOMP_TEST_STREAM_V1"]
HPCG = os.environ["IOCOMP_TEST_HPCG_V1"]
USUAL_FILES = ["mpiio.dat", "hdf5.h5", "adios2.h5", "adios2.bp4", "adios2.bp5"]
ENDINGS = ["dat", "h5", "h5", "bp4", "bp5"]
LOOPS = 3


def launch(
    folder: Path, ranks: int, *words: object, program: str = STREAM
) -> subprocess.CompletedProcess:
    """Run a program; nothing but its own settings counts."""
    clean = {name: text for name, text in os.environ.items() if not name.startswith("IOCOMP_")}
    command = [*BUILD["launcher"], str(ranks), program, *map(str, words)]
    return subprocess.run(
        command, cwd=folder, env=clean, capture_output=True, text=True, check=False,
        timeout=120 * BUILD["time_factor"],
    )  # fmt: skip


def read(path: Path, library: int) -> np.ndarray:
    """Return the numbers of a file, by a reader that knows nothing of iocomp."""
    if library == 0:
        return np.fromfile(path)
    if library == 1:
        with h5py.File(path) as file:
            assert list(file) == ["IntArray"]
            return file["IntArray"][...]  # of one dimension, as compared below
    if library == 2:
        with h5py.File(path) as file:
            return file["Step0/IntArray"][...].ravel()
    done = subprocess.run(
        [BUILD["bpls"], str(path), "-d", "IntArray", "-f", "%.17g", "-n", "1"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return np.array([float(word) for word in re.findall(r"\)\s+(\S+)", done.stdout)])


def expected(compute_ranks: int, elements: int) -> dict[str, np.ndarray]:
    """Return what each file holds: STREAM in numpy."""
    a = np.concatenate([r * 100000.0 + np.arange(elements + r) for r in range(compute_ranks)])
    files = {}
    for loop in range(LOOPS):
        c = a.copy()
        b = 2 * c
        a = b - c + 1
        files |= {f"A_{loop}": a, f"B_{loop}": b, f"C_{loop}": c}
    return files


def libraries() -> list[int]:
    modules = Path(BUILD["modules"])
    names = ["mpiio", "hdf5", "adios2", "adios2", "adios2"]
    there = [(modules / f"libiocomp_format_{name}.so").exists() for name in names]
    return [
        number for number, found in enumerate(there) if found and (number < 3 or BUILD["bpls"])
    ]


@pytest.mark.parametrize("library", libraries())
@pytest.mark.parametrize(("way", "compute_ranks"), [("sync", 4), ("ht", 2), ("shared", 2)])
def test_every_value_is_there(tmp_path, way, compute_ranks, library):
    done = launch(tmp_path, 4, way, library, 4)
    assert done.returncode == 0, done.stderr
    wanted = expected(compute_ranks, 1000)
    for name, values in wanted.items():
        found = read(tmp_path / f"{name}.{ENDINGS[library]}", library)
        assert np.array_equal(found, values), name
    lines = (tmp_path / "write_time.csv").read_text().splitlines()
    assert {line.split(",")[0] for line in lines} == {f"{name}.{ENDINGS[library]}" for name in wanted}
    assert all(float(line.split(",")[1]) >= 0 for line in lines)


def test_a_second_run_replaces_the_files(tmp_path):
    for elements in (500, 700):
        done = launch(tmp_path, 2, "sync", 0, 2, elements)
        assert done.returncode == 0, done.stderr
    assert np.array_equal(np.fromfile(tmp_path / "B_2.dat"), expected(2, 700)["B_2"])


def test_an_unknown_library_is_refused(tmp_path):
    done = launch(tmp_path, 1, "sync", 7, 1)
    assert done.returncode != 0
    assert "ioLib is 7; allowed are 0 to 4" in done.stderr


def solved(compute_ranks: int, iterations: int) -> np.ndarray:
    """Return x after so many iterations: conjugate gradients in numpy."""
    rows = sum(500 + rank for rank in range(compute_ranks))
    x, r, p = np.zeros(rows), np.ones(rows), np.ones(rows)
    for _ in range(iterations):
        ap = 2 * p
        ap[1:] -= p[:-1]
        ap[:-1] -= p[1:]
        alpha = (r @ r) / (p @ ap)
        x += alpha * p
        rest = r - alpha * ap
        p = rest + (rest @ rest) / (r @ r) * p
        r = rest
    return x


@pytest.mark.parametrize("iterations", [1, 4])  # after one, stopSend alone can name the file
@pytest.mark.parametrize("library", libraries())
@pytest.mark.parametrize(("serves", "compute_ranks"), [(0, 4), (1, 2)])
def test_a_file_that_no_call_names_has_the_name_of_its_library(
    tmp_path, serves, compute_ranks, library, iterations
):
    done = launch(tmp_path, 4, serves, library, 4, iterations, program=HPCG)
    assert done.returncode == 0, done.stderr
    file = USUAL_FILES[library]
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {file, f"{file}.json", "write_time.csv"}
    wanted = solved(compute_ranks, iterations)
    assert np.allclose(read(tmp_path / file, library), wanted, rtol=1e-10)
    lines = (tmp_path / "write_time.csv").read_text().splitlines()
    assert [line.split(",")[0] for line in lines] == [file] * iterations
