# SPDX-License-Identifier: BSD-3-Clause
"""The figures of bench/commit."""

from __future__ import annotations

from typing import Any

import pytest

from iocomp_bench.committing import MODES, commit_figures
from iocomp_studies.rounds import Rounds


def figure(id_: str) -> Any:
    return next(one for one in commit_figures() if one.id == id_)


def rounds_of(id_: str, *runs: dict[str, Any]) -> Rounds:
    methods = figure(id_).methods
    return Rounds({name: [run] * 5 for name, run in zip(methods, runs, strict=True)})


def test_small_commits_count_as_in_the_slowest_mode() -> None:
    two = {"median": 4e-4}
    seconds = dict(zip(MODES, (6e-4, 9e-4, 5e-4), strict=True))
    runs = (
        {"small_step_seconds": {"median": each}, "two_fsyncs_seconds": two}
        for each in seconds.values()
    )
    found = figure("commit-small").find(rounds_of("commit-small", *runs))
    assert found.estimate.value == pytest.approx(2.25)
    assert found.beside["by_mode"]["sync"] == pytest.approx(1.25)


def test_growth_is_the_last_commits_over_the_first() -> None:
    run = {"first_steps_seconds": 0.002, "last_steps_seconds": 0.0025}
    found = figure("manifest-growth").find(rounds_of("manifest-growth", run))
    assert found.estimate.value == pytest.approx(1.25)


def test_the_cost_of_a_commit_is_a_part_of_its_step() -> None:
    run = {"durable_seconds": [0.2, 0.4], "committed_seconds": [0.203, 0.406]}
    found = figure("commit-cost").find(rounds_of("commit-cost", run))
    assert found.estimate.value == pytest.approx(0.015)
