from typing import Any

import pytest

from iocomp_bench.calibrate import Calibration, compute_bytes_for, follow
from iocomp_bench.figures import FIGURES, Figure, chosen
from iocomp_bench.methods import MIB, PUT_BYTES, PUTS, WAYS
from iocomp_bench.report import judge, text
from iocomp_studies.rounds import Rounds
from iocomp_studies.statistics import Verdict

WALLS = {"none": 1.0, "pwrite": 2.2, "sync buffered": 2.4, "sync direct": 2.0, "async": 1.1}


def figure(id_: str) -> Figure:
    return next(figure for figure in FIGURES if figure.id == id_)


def overlap_rounds(walls: dict[str, float], put_seconds: float, rounds: int = 5) -> Rounds:
    def result(way: str) -> dict[str, Any]:
        return {
            "wall_until_durable_seconds": walls[way],
            "compute_seconds": 1.0,
            "put_seconds": put_seconds,
            "put_longest_seconds": put_seconds,
        }

    return Rounds({f"overlap 1/{way}": [result(way)] * rounds for way in WAYS})


def test_the_compute_phase_follows_the_disk() -> None:
    calibration = Calibration(1, 0.05, "pwrite", 3 * PUT_BYTES, 64 * PUT_BYTES)
    results = {f"overlap 1/{way}": [] for way in WAYS}
    assert follow(calibration, results) == 3 * PUT_BYTES
    # Writing as in WALLS takes (2.0 - 1.0) s for all puts.
    measured = overlap_rounds(WALLS, 0.001).results
    assert follow(calibration, measured) == compute_bytes_for(1.0 / PUTS, 64 * PUT_BYTES)


def test_the_exposed_time_is_shown_beside() -> None:
    found = figure("hidden-consecutive").find(overlap_rounds(WALLS, 0.001))
    assert found.estimate.value == pytest.approx(0.9)
    assert found.beside["exposed_seconds_per_gib"] == pytest.approx(0.1 / 1.25)
    assert found.beside["compute_phase_over_write"] == pytest.approx(1.0)


def test_the_time_of_a_put_is_a_mean_in_milliseconds() -> None:
    found = figure("put-time").find(overlap_rounds(WALLS, PUTS * 0.002))
    assert found.estimate.value == pytest.approx(2.0)


@pytest.mark.parametrize(("async_wall", "verdict"), [(1.1, Verdict.MET), (1.9, Verdict.UNRESOLVED)])
def test_a_short_put_counts_only_where_output_is_hidden(
    async_wall: float, verdict: Verdict
) -> None:
    rounds = overlap_rounds({**WALLS, "async": async_wall}, PUTS * 0.0005)
    judged = judge(chosen(["put-time"]), rounds)
    put = next(one for one in judged if one.figure.id == "put-time")
    assert put.verdict is verdict
    assert ("counts only with hidden-consecutive" in text(judged)) is (verdict is not Verdict.MET)


def test_figures_that_count_with_another_bring_it_along() -> None:
    assert [f.id for f in chosen(["put-time"])] == ["hidden-consecutive", "put-time"]
    assert [f.id for f in chosen([])] == [f.id for f in FIGURES]
    with pytest.raises(ValueError, match="no benchmark nonsense; there are idle-tax-same-core"):
        chosen(["nonsense"])


def test_the_worst_kernel_counts() -> None:
    plain = {"copy": 1.0, "scale": 1.0, "add": 1.0, "triad": 1.0}
    beside = {**plain, "add": 1.3}

    def run(seconds: dict[str, float]) -> dict[str, Any]:
        return {"kernel_seconds": seconds, "kernel_seconds_in_writing_loops": seconds}

    rounds = Rounds({"stream/plain": [run(plain)] * 5, "stream/same core": [run(beside)] * 5})
    assert figure("stream-ratio-oversubscribed").find(rounds).estimate.value == pytest.approx(1.3)


def test_the_worst_load_counts_for_memory() -> None:
    grown = {"large": 40.0, "many": 50.0, "small": 120.0}
    rounds = Rounds(
        {f"memory/{load}": [{"server_growth_bytes": mib * MIB}] for load, mib in grown.items()}
    )
    found = figure("staging-overrun").find(rounds)
    assert found.estimate.value == pytest.approx(88.0)
    assert figure("staging-overrun").goal.judge(found.estimate) is Verdict.NOT_MET


def test_results_have_the_agreed_form() -> None:
    record = judge(chosen(["hidden-consecutive"]), overlap_rounds(WALLS, 0.001))[0].record()
    assert record["id"] == "hidden-consecutive"
    assert record["spread"] == pytest.approx([0.9, 0.9])
    assert (record["unit"], record["goal"], record["met"]) == ("1", ">= 0.7", True)


def test_a_compute_phase_is_as_long_as_a_write_but_at_least_one_array() -> None:
    assert compute_bytes_for(0.02, 10e9, aim=1.1) == 220_000_000 // MIB * MIB
    assert compute_bytes_for(1e-6, 10e9) == PUT_BYTES


def test_too_few_rounds_settle_nothing() -> None:
    one = judge(chosen(["hidden-consecutive"]), overlap_rounds(WALLS, 0.001, rounds=4))[0]
    assert one.verdict is Verdict.UNRESOLVED
    assert one.note == "4 rounds are too few, a verdict needs 5"
