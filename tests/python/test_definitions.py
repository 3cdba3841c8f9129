# SPDX-License-Identifier: BSD-3-Clause
from typing import Any

import pytest

from iocomp_bench.definitions import MODES, definition_figures
from iocomp_studies.rounds import Rounds


def figure(id_: str) -> Any:
    return next(one for one in definition_figures() if one.id == id_)


def rounds_of(id_: str, *runs: dict[str, Any]) -> Rounds:
    methods = figure(id_).methods
    return Rounds({name: [run] * 5 for name, run in zip(methods, runs, strict=True)})


def test_small_variables_count_as_in_the_slowest_mode() -> None:
    seconds = dict(zip(MODES, (15e-6, 18e-6, 25e-6, 11e-6), strict=True))
    runs = ({"wall_seconds_per_variable": each} for each in seconds.values())
    found = figure("small-variables").find(rounds_of("small-variables", *runs))
    assert found.estimate.value == pytest.approx(25)
    assert found.beside["microseconds"]["sync"] == pytest.approx(11)


def test_a_definition_has_a_time_and_a_size() -> None:
    run = {"define_seconds": 0.2, "bytes_per_run": 16.5}
    for id_, value in (("irregular-definition", 0.2), ("irregular-definition-bytes", 16.5)):
        found = figure(id_).find(rounds_of(id_, run))
        assert found.estimate.value == pytest.approx(value)
