# SPDX-License-Identifier: BSD-3-Clause
from dataclasses import replace

import pytest
from studies_data import KERNEL, NONE, OVERSUBSCRIBE, planted, record

from iocomp_studies.report.conclusions import Conclusion, Difference, by_way, conclude, outliers
from iocomp_studies.results.archer2 import read_archer2
from iocomp_studies.results.rows import rows_of


def compared(factors: dict[str, float], rounds: int = 9, seed: int = 1) -> dict[str, Conclusion]:
    """Compare the wall times of both ways with that without output."""
    cells = {NONE: 1.0, KERNEL: factors["kernel"], OVERSUBSCRIBE: factors["oversubscribe"]}
    found = conclude(rows_of(planted(cells, rounds, seed)))
    return {one.what.split(",")[0]: one for one in found if one.measure == "seconds.wall"}


def test_planted_three_percent_are_found_and_a_planted_zero_is_not() -> None:
    found = compared({"kernel": 1.03, "oversubscribe": 1.0})
    assert found["kernel"].difference is Difference.LONGER
    assert 1.0 < found["kernel"].ratio.low < 1.03 < found["kernel"].ratio.high < 1.05
    assert found["oversubscribe"].difference is Difference.NONE_SEEN
    assert "no difference seen" in found["oversubscribe"].sentence()
    assert "% longer" in found["kernel"].sentence()


def test_of_many_studies_three_percent_are_nearly_always_found_and_zero_nearly_never() -> None:
    seen = {"kernel": 0, "oversubscribe": 0}
    for seed in range(60):
        for way, one in compared({"kernel": 1.03, "oversubscribe": 1.0}, 15, seed).items():
            seen[way] += one.difference is not Difference.NONE_SEEN
    assert seen["kernel"] >= 58
    assert seen["oversubscribe"] <= 8  # of 60, at 95 %


def test_pairs_are_counted_not_results() -> None:
    records = planted({NONE: 1.0, OVERSUBSCRIBE: 1.05})
    few = [one for one in records if one["cell"]["output"] != "none" or one["round"] < 2]
    (found,) = (one for one in conclude(rows_of(few)) if one.measure == "seconds.wall")
    assert (found.count, found.difference) == (2, Difference.TOO_FEW)


def test_rounds_of_different_studies_are_no_pairs() -> None:
    records = [
        record(cell, number, seconds, study=study)
        for study, seconds in (("a", 1.0), ("b", 2.0))
        for number in range(6)
        for cell in (NONE, OVERSUBSCRIBE)
    ]
    for order in (records, records[::-1]):
        (found,) = (one for one in conclude(rows_of(order)) if one.measure == "seconds.wall")
        assert (found.ratio.value, found.ratio.low, found.ratio.high) == (1.0, 1.0, 1.0)
        assert found.count == 12


@pytest.mark.parametrize(
    "other",
    [
        {"versions": {"iocomp": "0.2"}},
        {"versions": {"build_type": "Debug"}},
        {"versions": {"mpi": "another"}},
        {"versions": {"library": "another"}},
        {"host": {"name": "here", "file_system": "lustre"}},
        {"host": {"name": "here", "processor": "another"}},
        {"cluster": "there"},
    ],
)
def test_results_of_different_origins_are_not_compared(other: dict[str, object]) -> None:
    records = [
        record(cell, number, seconds, **origin)
        for begin, origin, slow in ((0, {}, 1.0), (3, other, 3.0))
        for number in range(begin, begin + 3)
        for cell, seconds in ((NONE, 1.0), (OVERSUBSCRIBE, slow))
    ]
    found = [one for one in conclude(rows_of(records)) if one.measure == "seconds.wall"]
    assert [one.count for one in found] == [3, 3]
    assert len({one.source for one in found}) == 2


def test_nodes_of_a_cluster_are_one_machine() -> None:
    records = [
        record(cell, 3 * node + number, 1.0, cluster="c", host={"name": f"nid{node}"})
        for node in range(3)
        for number in range(3)
        for cell in (NONE, OVERSUBSCRIBE)
    ]
    (found,) = (one for one in conclude(rows_of(records)) if one.measure == "seconds.wall")
    assert (found.source, found.count, found.difference) == ("c", 9, Difference.NONE_SEEN)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("verify", (True, False)),
        ("settings", ((("disk.direct", "off"),), (("disk.direct", "on"),))),
        ("backend", ("posix", "hdf5")),
    ],
)
def test_results_are_compared_with_those_of_the_same_choices(
    name: str, values: tuple[object, object]
) -> None:
    sync = replace(KERNEL, output="sync", transport="-")
    cells = {
        replace(cell, **{name: value}): seconds
        for value, seconds in zip(values, (4.0, 2.0), strict=True)
        for cell in (sync, OVERSUBSCRIBE)
    }
    found = [
        one
        for one in conclude(rows_of(planted(cells)))
        if one.measure == "seconds.wall" and one.way == "oversubscribe"
    ]
    assert [one.difference for one in found] == [Difference.NONE_SEEN] * 2
    assert len({one.what for one in found}) == 2


def test_what_is_shorter_is_said_so() -> None:
    assert compared({"kernel": 0.9, "oversubscribe": 1})["kernel"].difference is Difference.SHORTER


def test_four_results_are_too_few_to_conclude_from() -> None:
    found = compared({"kernel": 2.0, "oversubscribe": 1.0}, rounds=4)["kernel"]
    assert found.difference is Difference.TOO_FEW
    assert "4 rounds with both are too few" in found.sentence()


def test_a_result_that_is_marked_changes_nothing() -> None:
    records = planted({NONE: 1.0, KERNEL: 1.0})
    bad = [{**one, "marks": ["wrong mapping: rank 1 sat on CPU 0, not on 1"]} for one in records]
    for one in bad:
        one["seconds"] = {"wall": 100.0}
    both = conclude(rows_of([*records, *bad]))
    assert both == conclude(rows_of(records))
    assert conclude(rows_of(bad)) == []


def test_a_warm_up_does_not_count() -> None:
    records = planted({NONE: 1.0, KERNEL: 1.0})
    warm = [{**one, "round": -1, "seconds": {"wall": 9.0}} for one in records]
    assert len(rows_of([*records, *warm])) == len(records)


def test_an_outlier_is_listed_and_still_counts() -> None:
    records = planted({KERNEL: 1.0})
    records[3]["seconds"]["wall"] = 50.0
    (found,) = outliers(rows_of(records))
    assert found.row.round == 3
    assert "wall time 50 s" in found.sentence()
    assert outliers(rows_of(planted({KERNEL: 1.0}, rounds=4))) == []


@pytest.mark.parametrize("ranks", [1, 2])
def test_only_runs_with_the_same_number_of_ranks_are_compared(ranks: int) -> None:
    cells = {NONE: 1.0, replace(KERNEL, ranks=ranks): 1.1}
    assert bool(conclude(rows_of(planted(cells)))) is (ranks == 1)


def test_published_means_are_divided_and_their_spreads_add_up_in_quadrature() -> None:
    found = conclude(rows_of(read_archer2()))
    (one,) = (c for c in found if c.what == "hyperthread, mpiio, 256 ranks, 128 MiB")
    assert one.ratio.value == pytest.approx(720.8 / 361.8, rel=0.001)
    parts = (one.ratio.high / one.ratio.value - 1) / 2
    assert parts == pytest.approx(((14.9 / 361.8) ** 2 + (39.7 / 720.8) ** 2) ** 0.5, rel=0.01)
    assert one.difference is Difference.LONGER
    assert "wall time compared with that of synchronous output: 99.2 % longer" in one.sentence()


def test_a_single_published_run_says_nothing_but_all_of_a_way_do() -> None:
    found = conclude(rows_of(read_archer2()))
    single = [one for one in found if one.count == 1]
    assert {one.difference for one in single} == {Difference.TOO_FEW}
    assert all("of a run without a spread" in one.sentence() for one in single)
    said = {(one.client, one.way): one for one in by_way(found)}
    assert said["hpcg", "consecutive"].difference() is Difference.SHORTER
    assert said["hpcg", "hyperthread"].difference() is Difference.LONGER
    assert 1.9 < said["hpcg", "oversubscribe"].ratio.value < 2.1
    assert said["stream", "hyperthread"].differences[Difference.LONGER] == 8


def test_a_way_that_was_compared_once_is_as_long_as_its_comparison_says() -> None:
    found = conclude(rows_of(planted({NONE: 1.0, KERNEL: 1.03})))
    (one,) = by_way(found)
    (wall,) = (c for c in found if c.measure == "seconds.wall")
    assert (one.way, one.count(), one.ratio) == ("kernel", 1, wall.ratio)
