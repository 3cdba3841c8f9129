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


def test_a_case_of_e3sm_is_compared_by_medians() -> None:
    run = {
        "iocomp": {"durable_seconds": [1.0, 9.0, 2.0], "put_seconds": [0.5, 0.5, 0.5]},
        "pnetcdf": {"durable_seconds": [4.0, 4.0, 1.0], "put_seconds": [0.1, 2.0, 1.0]},
    }
    found = figure("e3sm-g").find(rounds_of("e3sm-g", run))
    assert found.estimate.value == pytest.approx(0.5)
    assert found.beside["puts"] == pytest.approx(0.5)
