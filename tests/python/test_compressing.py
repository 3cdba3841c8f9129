# SPDX-License-Identifier: BSD-3-Clause
from typing import Any

import pytest

from iocomp_bench.compressing import account
from iocomp_bench.figures import FIGURES
from iocomp_studies.rounds import Rounds


def run(hidden: float, waiting: float) -> dict[str, Any]:
    """Return a run of 10 s of phases, in whose output 2 s of processor time are needed."""
    sync = 1.5
    cpu = 2 * 10 * (1 - waiting)

    def way(seconds: float, cpu_seconds: float) -> dict[str, list[float]]:
        return {"seconds": [seconds], "cpu_seconds": [cpu_seconds]}

    return {
        "ways": {
            "none": way(10, cpu),
            "iocomp hdf5:sync": way(10 + sync, cpu + 1.8),
            "iocomp hdf5": way(10 + sync * (1 - hidden), cpu + 0.25),
        },
        "bytes": 2e9,
        "trace": {"server_sum": {"cpu_seconds": 3.5, "raw_bytes": 4e9}},
    }


def test_the_hidden_part_of_compression_stands_beside_its_processor_time() -> None:
    (figure,) = (figure for figure in FIGURES if figure.id == "compress-hidden")
    found = figure.find(Rounds({"compress-hidden": [run(part, 0.25) for part in (0.7, 0.8, 0.9)]}))
    assert found.estimate.value == pytest.approx(0.8)
    assert found.beside["cpu_seconds_of_synchronous_output"] == pytest.approx(1.8)
    assert found.beside["cpu_seconds_of_output"] == pytest.approx(2)
    assert found.beside["idle_seconds_of_phases"] == pytest.approx(5)


def test_what_no_idle_time_is_left_for_cannot_be_hidden() -> None:
    assert account(run(0.5, 0.25))["hidden_if_all_idle_time_was_used"] == 1
    # All cores are busy: 2 s of processor time take 1 s of two cores, of the 1.5 s.
    busy = account(run(0.3, 0.0))
    assert busy["hidden_if_all_idle_time_was_used"] == pytest.approx(1 - 1 / 1.5)
