# SPDX-License-Identifier: BSD-3-Clause
from collections.abc import Callable
from typing import Any

import pytest

from iocomp_studies import rounds as module
from iocomp_studies.quiet import foreign_seconds
from iocomp_studies.rounds import Rounds, run_rounds


def quiet(method: Callable[[], dict[str, Any]]) -> tuple[dict[str, Any], float]:
    return method(), 0.0


def test_every_method_runs_once_per_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_watched", quiet)
    seen: list[str] = []
    methods = {name: lambda name=name: seen.append(name) or {"x": 1.0} for name in "abc"}
    rounds = run_rounds(methods, least=4, most=4, seconds=60, seed=7)
    assert rounds.count() == 4
    assert [sorted(seen[i : i + 3]) for i in range(0, 12, 3)] == [["a", "b", "c"]] * 4
    assert len({tuple(seen[i : i + 3]) for i in range(0, 12, 3)}) > 1


def test_rounds_end_when_time_is_over_but_never_before_the_least(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_watched", quiet)
    rounds = run_rounds({"a": lambda: {"x": 1.0}}, least=3, most=9, seconds=0)
    assert rounds.count() == 3


def test_a_disturbed_run_is_repeated_and_the_quieter_one_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    foreign = iter([0.5, 0.0, 0.0, 0.0, 0.0, 0.0])
    number = iter(range(10))
    monkeypatch.setattr(module, "_watched", lambda method: (method(), next(foreign)))
    rounds = run_rounds({"a": lambda: {"x": next(number)}}, least=5, most=5, seconds=60)
    assert [result["x"] for result in rounds.results["a"]] == [1, 2, 3, 4, 5]
    assert rounds.disturbed == 0


def test_a_method_that_fails_is_left_out_and_the_others_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_watched", quiet)

    def fail() -> dict[str, Any]:
        raise ValueError("no such transport")

    methods = {"a": lambda: {"x": 1.0}, "b": fail}
    rounds = run_rounds(methods, least=3, most=3, seconds=60, give_up=(ValueError,))
    assert rounds.count() == 3
    assert list(rounds.results) == ["a"]
    assert rounds.failures == {"b": "no such transport"}
    with pytest.raises(ValueError, match="no such transport"):
        run_rounds(methods, least=3, most=3, seconds=60)


def test_seldom_methods_run_in_every_third_round_and_are_compared_within_rounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "_watched", quiet)
    number = iter(range(10))
    methods = {"a": lambda: {"x": next(number)}, "b": lambda: {"x": 10}}
    rounds = run_rounds(methods, least=5, most=5, seconds=60, seldom={"b"})
    assert (rounds.made, rounds.count(("a",)), rounds.count()) == (5, 5, 2)
    assert rounds.values("x", ("a", "b")) == [{"a": 0.0, "b": 10.0}, {"a": 3.0, "b": 10.0}]


def test_values_are_listed_by_round_and_method(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_watched", quiet)
    methods = {"a": lambda: {"x": 1}, "b": lambda: {"x": 2}}
    rounds = run_rounds(methods, least=2, most=2, seconds=60)
    assert rounds.values("x", ("a", "b")) == [{"a": 1.0, "b": 2.0}] * 2


def test_only_user_time_of_others_and_stolen_time_disturb() -> None:
    assert foreign_seconds(user_seconds=3.0, stolen_seconds=0.5, own_user_seconds=2.0) == 1.5
    assert foreign_seconds(user_seconds=1.0, stolen_seconds=0.0, own_user_seconds=2.0) == 0.0


def test_rounds_of_other_methods_stand_beside_one_another() -> None:
    a = Rounds({"a": [{"x": 1.0, "round": 0}]}, disturbed=1, made=1)
    b = Rounds({"b": [{"x": 2.0, "round": 0}]}, made=1, failures={"c": "no"})
    both = a.with_others(b)
    assert (both.disturbed, both.made, both.failures) == (1, 2, {"c": "no"})
    assert both.values("x", ("a", "b")) == [{"a": 1.0, "b": 2.0}]
    assert both.count(("a", "c")) == 0


def test_rounds_of_a_later_series_are_no_rounds_of_an_earlier_one() -> None:
    def series(*names: str) -> Rounds:
        return Rounds({name: [{"round": number} for number in range(3)] for name in names})

    earlier = series("a", "b")
    assert (Rounds().end(), earlier.end()) == (0, 3)
    both = earlier.with_others(series("b", "c").later(earlier.end()))
    assert both.count(["b", "c"]) == 3
    assert both.count(["a", "b"]) == 0
    assert both.end() == 6
