# SPDX-License-Identifier: BSD-3-Clause
"""Files that keep to CF and UGRID: compliance-checker has nothing to say about them.

It is fetched by tools/install-wheel compliance. Without it these tests are skipped; with
IOCOMP_TEST_NEED_COMPLIANCE=1 they fail.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT, Launcher

PACKAGES = ROOT / "build/compliance"


@pytest.fixture(scope="module", autouse=True)
def _checker() -> None:
    if not (PACKAGES / "iocomp-installed").exists():
        missing = f"{PACKAGES} is missing: tools/install-wheel compliance fetches it"
        if os.environ.get("IOCOMP_TEST_NEED_COMPLIANCE") == "1":
            pytest.fail(missing)
        pytest.skip(missing)


def complaints(path: Path, rules: str) -> subprocess.CompletedProcess[str]:
    """Let the checker read a file; it ends with 0 if nothing is wrong, missing or recommended."""
    return subprocess.run(
        # Without the packages of the system, which want its NumPy.
        [sys.executable, "-S", str(PACKAGES / "bin/compliance-checker"), "--criteria=strict"]
        + [f"--test={rules}", str(path)],
        env={**os.environ, "PYTHONPATH": str(PACKAGES)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("back_end", ["netcdf", "pnetcdf"])
@pytest.mark.parametrize(
    ("program", "rules"), [("climate", "cf:1.8"), ("triangles", "UGRID:2.0")]
)
def test_there_is_no_complaint(launch: Launcher, back_end: str, program: str, rules: str) -> None:
    launch.play(program, ranks=2, FILES_OUT_BACKEND=back_end, FILES_OUT_PATH="out.nc")
    done = complaints(launch.folder / "out.nc", rules)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_complaint_is_found(launch: Launcher) -> None:
    launch.play("triangles", ranks=1, FILES_OUT_BACKEND="netcdf", FILES_OUT_PATH="out.nc")
    rename = "import netCDF4; netCDF4.Dataset('out.nc', 'a').renameVariable('faces', 'other')"
    subprocess.run([sys.executable, "-c", rename], cwd=launch.folder, check=True)
    assert complaints(launch.folder / "out.nc", "UGRID:2.0").returncode != 0
