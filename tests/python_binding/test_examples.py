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


def test_examples_are_short() -> None:
    for path in EXAMPLES.glob("*.py"):
        assert len(path.read_text().splitlines()) < 100, path


@pytest.mark.parametrize("mode", MODES)
def test_the_first_array_is_written_and_read(launch: Launcher, installed: Path, mode: str) -> None:
    servers = {"PLACEMENT_RATIO": "4"} if "PLACEMENT_RATIO" in MODES[mode] else {}
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
