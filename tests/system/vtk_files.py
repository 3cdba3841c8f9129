# SPDX-License-Identifier: BSD-3-Clause
"""Files described by `iocomp describe`, and what VTK makes of them.

VTK is fetched by tools/install-wheel vtk. Without it tests that import this are skipped; with
IOCOMP_TEST_NEED_VTK=1 they fail.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
VTK = Path(os.environ.get("IOCOMP_VTK", HERE.parents[1] / "build" / "vtk"))

if not (VTK / "iocomp-installed").exists():
    missing = f"VTK is not in {VTK}: tools/install-wheel vtk fetches it (140 MB)"
    if os.environ.get("IOCOMP_TEST_NEED_VTK") == "1":
        raise RuntimeError(missing)
    pytest.skip(missing, allow_module_level=True)


def shown(folder: Path, *names: str) -> list[dict[str, Any]]:
    """Return what VTK makes of files; see show_vtk.py."""
    done = subprocess.run(
        [sys.executable, str(HERE / "show_vtk.py"), *names],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(VTK)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def described(command: str | Path, folder: Path, path: str, *words: str) -> dict[str, Any]:
    """Return what `iocomp describe` tells."""
    done = subprocess.run(
        [str(command), "describe", path, *words, "--json"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told
