"""Run methods again and again, interleaved, in a new order each time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from iocomp_studies.progress import Progress
from iocomp_studies.quiet import Watch

DISTURBED_FROM = 0.1
"""Part of a core that others may take during a run."""
SELDOM = 3
"""Rounds from one run of a seldom method to the next."""

Result = dict[str, Any]


@dataclass
class Rounds:
    """All results of a series: by method, one per round in which it ran."""

    results: dict[str, list[Result]] = field(default_factory=dict)
    disturbed: int = 0
    made: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    """Why a method is not among the results, by method."""

    def with_others(self, others: Rounds) -> Rounds:
        """Return these and others, whose methods are different ones."""
        return Rounds(
            self.results | others.results,
            self.disturbed + others.disturbed,
            self.made + others.made,
            self.failures | others.failures,
        )

    def together(self, methods: Collection[str]) -> list[list[Result]]:
        """Return the results of those rounds in which all these methods ran, in their order."""
        by_round = [
            {
                int(result.get("round", i)): result
                for i, result in enumerate(self.results.get(method, ()))
            }
            for method in methods
        ]
        if not by_round:
            return []
        numbers = sorted(set.intersection(*(set(results) for results in by_round)))
        return [[results[number] for results in by_round] for number in numbers]

    def count(self, methods: Collection[str] | None = None) -> int:
        """Return the number of rounds in which all these methods ran; None: all methods."""
        return len(self.together(self.results if methods is None else methods))

    def values(self, key: str, methods: Sequence[str]) -> list[dict[str, float]]:
        """Return one number of every result, by round and method."""
        return [
            {method: float(result[key]) for method, result in zip(methods, results, strict=True)}
            for results in self.together(methods)
        ]


def run_rounds(
    methods: dict[str, Callable[[], Result]],
    *,
    least: int,
    most: int,
    seconds: float,
    seed: int | None = None,
    after_round: Callable[[Rounds], None] | None = None,
    give_up: tuple[type[Exception], ...] = (),
    seldom: Collection[str] = (),
) -> Rounds:
    """Run every method once per round.

    A run during which something else used the machine is repeated at once, a few times per series;
    the result that was disturbed less counts.

    Args:
        methods: What to run, by name.
        least: Rounds that are made whatever they take.
        most: Rounds that are made if time permits.
        seconds: No round starts that would likely end later than this.
        seed: Of the order.
        after_round: Called with all results so far, to prepare the next round.
        give_up: Exceptions of a method after which the others go on without it.
        seldom: Methods that run in every third round only, from the first on.
    """
    order = random.Random(seed)
    rounds = Rounds({name: [] for name in methods})
    progress = Progress(sum(_runs(name, 0, most, seldom) for name in methods))
    repeats_left = most * len(methods) // 5
    begin = time.monotonic()
    for number in range(most):
        passed = time.monotonic() - begin
        if number >= least and passed * (number + 1) / number > seconds:
            break
        names = [name for name in rounds.results if _is_due(name, number, seldom)]
        for name in order.sample(names, len(names)):
            progress.show(name)
            began = time.monotonic()
            try:
                result, repeated = _quiet_result(methods[name], may_repeat=repeats_left > 0)
            except give_up as error:
                rounds.failures[name] = str(error)
                del rounds.results[name]
                progress.forget(_runs(name, number, most, seldom))
                continue
            repeats_left -= repeated
            result["round"] = number
            result["run_seconds"] = time.monotonic() - began  # a repetition included
            rounds.disturbed += result["foreign_part"] > DISTURBED_FROM
            rounds.results[name].append(result)
            progress.done()
        rounds.made += 1
        if after_round:
            after_round(rounds)
    progress.end()
    return rounds


def _is_due(name: str, number: int, seldom: Collection[str]) -> bool:
    return name not in seldom or number % SELDOM == 0


def _runs(name: str, begin: int, most: int, seldom: Collection[str]) -> int:
    return sum(_is_due(name, number, seldom) for number in range(begin, most))


def _quiet_result(method: Callable[[], Result], *, may_repeat: bool) -> tuple[Result, bool]:
    """Return the result, of two if the first was disturbed, and whether there were two."""
    result, foreign = _watched(method)
    repeats = foreign > DISTURBED_FROM and may_repeat
    if repeats:
        again, foreign_again = _watched(method)
        if foreign_again < foreign:
            result, foreign = again, foreign_again
    result["foreign_part"] = foreign
    return result, repeats


def _watched(method: Callable[[], Result]) -> tuple[Result, float]:
    watch = Watch()
    result = method()
    return result, watch.foreign_part()
