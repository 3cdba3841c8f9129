# SPDX-License-Identifier: BSD-3-Clause
"""The figures of bench/checkpoint, bench/restart and of the command latest."""

from __future__ import annotations

from typing import Any

import pytest

from iocomp_bench.restarting import restart_figures
from iocomp_studies.rounds import Rounds


def figure(id_: str) -> Any:
    return next(one for one in restart_figures() if one.id == id_)


def rounds_of(id_: str, *runs: dict[str, Any]) -> Rounds:
    methods = figure(id_).methods
    return Rounds({name: [run] * 5 for name, run in zip(methods, runs, strict=True)})


def written(with_checksums: float, without: float, commit: float) -> dict[str, Any]:
    return {
        "with_seconds": [with_checksums] * 2,
        "without_seconds": [without] * 2,
        "trace": {"compute_sum": {"commit_seconds": 4 * commit}},
    }


def test_the_cost_of_checksums_holds_the_manifest() -> None:
    runs = (written(1.02, 1.01, 0.01), written(1.0, 1.0, 0.0))
    found = figure("checksum-cost").find(rounds_of("checksum-cost", *runs))
    assert found.estimate.value == pytest.approx(0.02)
    assert found.beside["by_mode"] == pytest.approx({"sync": 0.02, "kernel": 0.0})
    assert found.beside["manifest"]["sync"] == pytest.approx(0.01 / 1.01)


def test_the_way_that_saves_least_by_float32_counts() -> None:
    found = figure("float32").find(
        rounds_of("float32", written(0.6, 1.0, 0.0), written(0.7, 1.0, 0.0))
    )
    assert found.estimate.value == pytest.approx(0.7)
    assert found.beside["by_mode"] == pytest.approx({"sync": 0.6, "kernel": 0.7})


def test_the_slowest_restart_counts() -> None:
    def read(plain: float, iocomp: float) -> dict[str, Any]:
        disk = {"plain_seconds": [plain] * 3, "iocomp_seconds": [iocomp] * 3}
        cache = {"plain_seconds": [0.1] * 3, "iocomp_seconds": [0.1] * 3}
        return {"from_disk": disk, "from_cache": cache}

    runs = (read(1.0, 1.0), read(1.0, 1.25), read(1.0, 0.9), read(1.0, 1.0))
    found = figure("restart-read").find(rounds_of("restart-read", *runs))
    assert found.estimate.value == pytest.approx(0.8)
    assert found.beside["by_run"]["posix by 3"] == pytest.approx(0.8)
    cached = figure("restart-read-cache").find(rounds_of("restart-read-cache", *runs))
    assert cached.estimate.value == pytest.approx(1.0)


def test_the_newest_step_is_looked_for_in_one_file_and_in_many() -> None:
    found = figure("latest-time").find(rounds_of("latest-time", {"seconds": 0.1}, {"seconds": 0.4}))
    assert found.estimate.value == pytest.approx(0.4)
    assert found.beside["seconds"]["series"] == pytest.approx(0.1)
