# SPDX-License-Identifier: BSD-3-Clause
from typing import Any

import pytest

from iocomp_bench.blocks import (
    block_figures,
    exposed_over_cpu,
    hidden_in,
    hidden_without_server,
)
from iocomp_studies.rounds import Rounds


def way(seconds: float, cpu_seconds: float = 0.0) -> dict[str, Any]:
    gib = {"best": 1 / seconds, "median": 1 / seconds, "worst": 1 / seconds}
    return {"seconds": [seconds], "cpu_seconds": [cpu_seconds], "gib_per_second": gib}


PHASES = {
    "ways": {
        "none": way(10.0, 40.0),
        "iocomp posix:sync": way(15.0),
        "iocomp hdf5:sync": way(16.0, 42.0),
        "iocomp hdf5": way(11.0),
    }
}


def test_the_hidden_part_is_that_of_the_fastest_synchronous_way() -> None:
    assert hidden_in(PHASES, "hdf5") == pytest.approx(1 - 1 / 5)


def test_without_servers_a_library_may_be_the_fastest_synchronous_way() -> None:
    ways = PHASES["ways"] | {"iocomp posix": way(11.0), "mpiio": way(14.0), "hdf5": way(20.0)}
    assert hidden_without_server({"ways": ways}, "posix") == pytest.approx(1 - 1 / 4)


def test_exposed_time_is_compared_with_the_processor_time_of_the_format() -> None:
    assert exposed_over_cpu(PHASES, "hdf5") == pytest.approx(1.0 / 2.0)


def figure(id_: str) -> Any:
    return next(one for one in block_figures() if one.id == id_)


def rounds_of(id_: str, *runs: dict[str, Any]) -> Rounds:
    methods = figure(id_).methods
    assert len(methods) == len(runs)
    return Rounds({name: [run] * 5 for name, run in zip(methods, runs, strict=True)})


def test_the_worst_job_counts() -> None:
    quick = {"ways": {"iocomp posix": way(1.0), "posix-one": way(0.95)}}
    slow = {"ways": {"iocomp posix": way(1.0), "posix-one": way(0.5)}}
    found = figure("blocks-posix").find(rounds_of("blocks-posix", quick, quick, slow, quick))
    assert found.estimate.value == pytest.approx(0.5)
    each = sorted(run["value"] for run in found.beside["by_run"].values())
    assert each == pytest.approx([0.5, 0.95, 0.95, 0.95])
    assert found.beside["median_gib_per_second"]["blocks/posix 4+1"]["iocomp posix"] == 1.0


def test_of_times_the_largest_is_the_worst() -> None:
    quick = {"ways": {"iocomp adios2": way(1.0), "adios2-async": way(2.0)}}
    slow = {"ways": {"iocomp adios2": way(3.0), "adios2-async": way(2.0)}}
    found = figure("bp5-vs-direct").find(rounds_of("bp5-vs-direct", quick, slow))
    assert found.estimate.value == pytest.approx(1.5)  # wall times


def test_messages_of_opening_and_closing_do_not_count() -> None:
    def run(messages: float) -> dict[str, Any]:
        return {"trace": {"compute_sum": {"control_messages": messages}}}

    # 4 ranks and 8 ranks, 20 and 40 steps: 7 messages per rank beside 2, and 3, in each step
    runs = [run(ranks * (7 + each * steps)) for ranks, each in ((4, 2), (8, 3)) for steps in (20, 40)]
    found = figure("messages-per-step").find(rounds_of("messages-per-step", *runs))
    assert found.estimate.value == pytest.approx(3)
    assert found.beside["by_job"] == pytest.approx({"4+1": 2, "8+2": 3})
