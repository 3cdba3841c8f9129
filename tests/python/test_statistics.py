# SPDX-License-Identifier: BSD-3-Clause
import random

import pytest

from iocomp_studies.statistics import (
    Estimate,
    Goal,
    Verdict,
    estimate,
    median_interval,
    medians,
    quantile,
    ratio_interval,
)


def test_medians_are_taken_by_method() -> None:
    rounds = [{"a": 1.0, "b": 10.0}, {"a": 3.0, "b": 30.0}, {"a": 2.0, "b": 99.0}]
    assert medians(rounds) == {"a": 2.0, "b": 30.0}


def test_a_quantile_lies_between_its_neighbours() -> None:
    assert quantile([0.0, 1.0, 2.0], 0.0) == 0.0
    assert quantile([0.0, 1.0, 2.0], 0.75) == 1.5
    assert quantile([0.0, 1.0, 2.0], 1.0) == 2.0


def test_samples_without_spread_have_an_interval_without_width() -> None:
    rounds = [{"a": 2.0, "b": 4.0}] * 5
    assert estimate(rounds, lambda m: m["b"] / m["a"]) == Estimate(2.0, 2.0, 2.0)


def test_what_moves_all_methods_of_a_round_does_not_widen_their_ratio() -> None:
    rounds = [{"a": slow, "b": 2 * slow} for slow in (1.0, 1.5, 2.0, 2.5, 3.0)]
    found = estimate(rounds, lambda m: m["b"] / m["a"])
    assert found.low == pytest.approx(2.0)
    assert found.high == pytest.approx(2.0)


def test_the_interval_holds_the_value_and_stays_near_the_samples() -> None:
    rounds = [{"a": value} for value in (1.0, 2.0, 3.0, 4.0, 100.0)]
    found = estimate(rounds, lambda m: m["a"])
    assert 0.0 <= found.low <= found.value == 3.0 <= found.high <= 102.0


def test_the_interval_of_many_skewed_values_holds_their_median() -> None:
    noise = random.Random(1)
    found = median_interval([noise.lognormvariate(0.0, 2.0) for _ in range(400)])
    assert found.low < found.value < found.high


def test_an_estimate_of_one_method_is_the_interval_of_its_median() -> None:
    values = [1.0, 5.0, 2.0, 9.0, 4.0, 4.5]
    found = estimate([{"a": value} for value in values], lambda m: m["a"], resamples=1000)
    assert found == median_interval(values)


def test_the_order_of_rounds_plays_no_part() -> None:
    rounds = [{"a": 1.0, "b": 2.0}, {"a": 3.0, "b": 1.0}, {"a": 2.0, "b": 5.0}]
    assert estimate(rounds, lambda m: m["b"] / m["a"]) == estimate(
        rounds[::-1], lambda m: m["b"] / m["a"]
    )


@pytest.mark.parametrize("count", [5, 7, 9])
def test_of_100_intervals_of_a_ratio_about_95_hold_it(count: int) -> None:
    noise = random.Random(1)
    missed = 0
    for _ in range(400):
        slow = [noise.uniform(1.0, 2.0) for _ in range(count)]
        rounds = [{"a": s * noise.gauss(1, 0.05), "b": 3 * s * noise.gauss(1, 0.05)} for s in slow]
        found = estimate(rounds, lambda m: m["b"] / m["a"], resamples=500)
        missed += not found.low <= 3.0 <= found.high
    assert missed <= 36  # 20 are expected


def test_equal_samples_give_equal_intervals() -> None:
    rounds = [{"a": value} for value in (1.0, 5.0, 2.0, 9.0)]
    assert estimate(rounds, lambda m: m["a"]) == estimate(rounds, lambda m: m["a"])


def test_an_estimate_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one round"):
        estimate([], lambda m: 0.0)


@pytest.mark.parametrize("count", [5, 7, 9, 15, 21, 35])
def test_of_100_intervals_of_a_median_about_95_hold_it(count: int) -> None:
    noise = random.Random(1)
    missed = 0
    for _ in range(400):
        found = median_interval([noise.gauss(3.0, 1.0) for _ in range(count)])
        missed += not found.low <= 3.0 <= found.high
    assert missed <= 36  # 20 are expected; 36 or fewer in all but 1 of 3000 tries


def test_the_interval_of_a_median_does_not_depend_on_the_order() -> None:
    values = [1.0, 5.0, 2.0, 9.0, 4.0]
    assert median_interval(values) == median_interval(values[::-1])
    assert median_interval([2.0]) == median_interval([2.0, 2.0, 2.0]) == Estimate(2.0, 2.0, 2.0)


def test_a_ratio_is_that_of_each_round() -> None:
    found = ratio_interval([(3.0, 1.0), (30.0, 10.0), (6.0, 2.0)])
    assert found == Estimate(3.0, 3.0, 3.0)


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.9, 1.0, Verdict.MET), (0.9, 1.1, Verdict.UNRESOLVED), (1.1, 1.2, Verdict.NOT_MET)],
)
def test_an_upper_goal_is_met_only_by_the_whole_interval(
    low: float, high: float, verdict: Verdict
) -> None:
    assert Goal(1.0).judge(Estimate(0.95, low, high)) is verdict


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [(0.7, 0.9, Verdict.MET), (0.6, 0.9, Verdict.UNRESOLVED), (0.5, 0.6, Verdict.NOT_MET)],
)
def test_a_lower_goal_is_met_only_by_the_whole_interval(
    low: float, high: float, verdict: Verdict
) -> None:
    assert Goal(0.7, at_most=False).judge(Estimate(0.8, low, high)) is verdict


def test_a_figure_without_a_goal_is_only_printed() -> None:
    assert Goal().judge(Estimate(5.0, 4.0, 6.0)) is Verdict.PRINTED
    assert Goal().text() == "printed"
    assert Goal(1.02).text() == "<= 1.02"
    assert Goal(0.7, at_most=False).text() == ">= 0.7"
