# SPDX-License-Identifier: BSD-3-Clause
"""A trial sees that its jobs were jobs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
for folder in ("faults", "actor", "system", "conformance/files"):
    sys.path.insert(0, str(HERE.parent / folder))
sys.path.insert(0, str(HERE.parents[1] / "studies"))

from actors import Actors  # noqa: E402
from cell import Cell  # noqa: E402
from fixtures import actors, build, companies  # noqa: E402, F401
from oracle import Violation  # noqa: E402
from trial import Trial  # noqa: E402
from workload import Workload  # noqa: E402


def trial_of(actors: Actors, folder: Path) -> Trial:
    cell = Cell(0, 0, "posix", "kernel", "", "series", "")
    return Trial(cell, actors.build, actors, actors, folder / "disk", folder)


def workload_of(**settings: Any) -> Workload:
    return Workload(
        ranks=1,
        lines=["open out series", "define out u float64 4", "put out u", "end_step out", "close out"],
        settings={"placement": {"servers": "none"}, "disk": {"engine": "auto"}, **settings},
        seeds={"u": 0},
        path="out.bin",
        steps=1,
        file_per_step=False,
        keep=0,
    )


def test_a_job_that_does_its_work_is_one(actors: Actors, tmp_path: Path) -> None:
    job = trial_of(actors, tmp_path).play(workload_of())
    assert job.status == 0 and not job.failures(), job


def test_settings_that_a_session_refuses_are_a_violation(actors: Actors, tmp_path: Path) -> None:
    with pytest.raises(Violation, match="sideways"):
        trial_of(actors, tmp_path).play(workload_of(mode="sideways"))
