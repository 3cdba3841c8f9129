# SPDX-License-Identifier: BSD-3-Clause
"""The examples run, and do what they say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import MODES, ROOT, Launcher

from iocomp import open_files

EXAMPLES = ROOT / "examples/python"
LANGUAGES = ["c", "cpp", "fortran", "python"]


def test_examples_are_short() -> None:
    found = [path for path in (ROOT / "examples").rglob("*.*") if path.suffix != ".txt"]
    for path in found:
        assert len(path.read_text().splitlines()) < 120, path
    programs = {path.stem for path in found if path.parent.name == "c"}
    assert programs == {"one_step", "first_array", "groups", "heat", "mesh", "particles"}
    for language in LANGUAGES:
        assert programs <= {path.stem for path in found if path.parent.name == language}, language


def run_example(
    launch: Launcher, language: str, name: str, mode: str = "kernel", seconds: int = 60, **more: str
) -> None:
    """Run it on 4 compute ranks in the test's folder; skip where it was not built."""
    settings = MODES[mode] | more | ({"PLACEMENT_SERVERS": "1-per-4"} if "TRANSPORT_KIND" in MODES[mode] else {})
    ranks = 5 if "TRANSPORT_KIND" in settings else 4
    if language == "python":
        launch.run(str(EXAMPLES / f"{name}.py"), ranks=ranks, seconds=seconds, **settings)
        return
    done = start_example(launch, language, name, ranks, settings)
    assert done.returncode == 0, done.stderr


def start_example(
    launch: Launcher, language: str, name: str, ranks: int, settings: dict[str, str], *words: str
) -> subprocess.CompletedProcess[str]:
    """Run a compiled one, whatever its status."""
    suffix = {"fortran": "f90"}.get(language, language)
    built = Path(launch.build.modules).parents[1] / f"examples/{language}/example_{name}_{suffix}"
    if not built.exists():
        pytest.skip(f"{built} was not built")
    return subprocess.run(
        [*launch.build.launcher, str(ranks), built, *words],
        cwd=launch.folder,
        env=launch.environment(settings),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_the_first_array_of_other_languages(launch: Launcher, language: str) -> None:
    run_example(launch, language, "first_array")
    with open_files(launch.folder / "fields") as files:
        assert files.steps == list(range(10)) and files.time(4) == 2.0
        assert np.array_equal(files.read("u", 9), np.tile(9 + 1e-3 * np.arange(1000), (4, 1)))


@pytest.mark.parametrize(
    ("language", "mode"), [*((each, "kernel") for each in LANGUAGES), ("c", "shared")]
)
def test_particles(launch: Launcher, language: str, mode: str) -> None:
    run_example(launch, language, "particles", mode)
    for step in range(4):
        rows = [(r, i, step) for r in range(4) for i in range(1 + (r + step) % 4)]
        with open_files(launch.folder / f"particles{step}.out") as files:
            assert np.array_equal(files.read("x", 0), np.array(rows, "f8"))
            assert np.array_equal(files.read("id", 0), 1000 * step + np.arange(len(rows)))


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_unstructured_mesh(launch: Launcher, language: str) -> None:
    run_example(launch, language, "mesh")
    with open_files(launch.folder / "mesh") as files:
        assert files.steps == [0, 1, 2]
        for step in files.steps:
            assert np.array_equal(files.read("pressure", step), np.arange(60.0) ** 2 + step)


@pytest.mark.parametrize(
    ("language", "mode"),
    [
        ("c", "kernel"),
        ("c", "shared"),
        ("cpp", "kernel"),
        ("fortran", "kernel"),
        ("python", "sync"),
    ],
)
def test_groups_of_ranks(launch: Launcher, language: str, mode: str) -> None:
    run_example(launch, language, "groups", mode)
    for group in range(2):
        with open_files(launch.folder / f"group{group}.out") as files:
            assert files.steps == list(range(2 + group))
            for step in files.steps:
                u = files.read("u", step)
                assert list(u) == [100 * group, step, 100 * group + 1, step]


def test_values_of_dolfinx(launch: Launcher) -> None:
    pytest.importorskip("dolfinx")
    run_example(launch, "python", "dolfinx_poisson", seconds=300)  # it compiles its forms
    with open_files(launch.folder / "solution") as files:
        x, u = files.read("x", 0), files.read("u", 0)
        assert len(u) == 33 * 33
        assert np.allclose(u, 1 + x[:, 0] ** 2 + 2 * x[:, 1] ** 2, atol=1e-8)


@pytest.mark.parametrize("mode", ["kernel", "shared"])
def test_the_first_array_is_written_and_read(launch: Launcher, installed: Path, mode: str) -> None:
    servers = {"PLACEMENT_SERVERS": "1-per-4"} if "TRANSPORT_KIND" in MODES[mode] else {}
    launch.run(
        str(EXAMPLES / "first_array.py"), ranks=5 if servers else 4, **(MODES[mode] | servers)
    )
    with open_files(launch.folder / "fields") as files:
        assert files.steps == list(range(10))
        assert np.array_equal(files.read("u", 9), np.tile(9 + 1e-6 * np.arange(1_000_000), (4, 1)))
    if mode != "kernel":
        return
    pytest.importorskip("xarray")
    pytest.importorskip("dask")
    done = subprocess.run(
        [sys.executable, EXAMPLES / "read_with_xarray.py", launch.folder / "fields.bin"],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(installed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "10 committed steps of u" in done.stdout
    assert "at time 2: [4.       4.000001 4.000002] K" in done.stdout, done.stdout


@pytest.mark.parametrize("mode", ["kernel", "shared"])
def test_heat_that_goes_on_ends_with_the_same_bytes(launch: Launcher, mode: str) -> None:
    def run(folder: str, ranks: int, steps: int) -> Path:
        where = launch.folder / folder
        where.mkdir(exist_ok=True)
        here = Launcher(launch.build, where)
        words = [str(EXAMPLES / "heat.py"), "--size", "40", "--steps", str(steps), "--every", "20"]
        here.run(*words, ranks=ranks, **MODES[mode])
        return where

    whole = run("whole", 4, 90)
    run("parts", 2, 25)
    run("parts", 3, 60)
    parts = run("parts", 4, 90)
    for name in ("restart.000079.bin", "restart.000089.bin", "plane.bin"):
        assert (parts / name).read_bytes() == (whole / name).read_bytes(), name
    with open_files(parts / "restart") as files:
        assert files.steps == [79, 89] and files.time(89) == pytest.approx(9.0)
        u = files.read("u")
        assert u[10, 10] > u[-5, -5] > 0


def heat_after(steps: int) -> np.ndarray:
    """Return what the compiled programs compute, in the order of the file."""
    u = np.zeros((66, 66))
    u[1:-1, 1:33] = 1
    for _ in range(steps):
        sides = u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1]
        u[1:-1, 1:-1] += 0.1 * (sides - 4 * u[1:-1, 1:-1])
    return u[1:-1, 1:-1]


@pytest.mark.parametrize("language", ["c", "cpp"])
def test_heat_of_other_languages_goes_on(launch: Launcher, language: str) -> None:
    now = {"STOP_AT": "2000-01-01T00:00:00 - 1 s"}
    told = start_example(launch, language, "heat", 2, now, "250")
    assert told.returncode == 3, told.stderr
    for ranks, steps, mode in [(3, 120, "kernel"), (5, 250, "shared")]:
        done = start_example(launch, language, "heat", ranks, MODES[mode], str(steps))
        assert done.returncode == 0, done.stderr
        assert f"heat: {steps} steps are done" in done.stdout
    with open_files(launch.folder / "restart") as files:
        assert files.steps == [0, 99, 119, 199, 249] and files.time(249) == pytest.approx(24.9)
        for step in files.steps:
            assert np.allclose(files.read("u", step), heat_after(step + 1), rtol=1e-12, atol=0)
    with open_files(launch.folder / "middle") as files:
        assert files.steps == [0, 99, 119, 199, 249]
