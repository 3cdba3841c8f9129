# SPDX-License-Identifier: BSD-3-Clause
"""Run methods again and again, interleaved, in a new order each time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
    """The reason why a method is not among the results, by method."""

    def with_others(self, others: Rounds) -> Rounds:
        """Return these and others; of a method that both have, the results of the others."""
        return Rounds(
            self.results | others.results,
            self.disturbed + others.disturbed,
            self.made + others.made,
            self.failures | others.failures,
        )

    def later(self, first: int) -> Rounds:
        """Return these with other numbers, so that they are no rounds of an earlier series."""
        results = {
            name: [{**result, "round": int(result["round"]) + first} for result in of]
            for name, of in self.results.items()
        }
        return replace(self, results=results)

    def end(self) -> int:
        """Return the number after that of the last round."""
        numbers = (int(result["round"]) for of in self.results.values() for result in of)
        return max(numbers, default=-1) + 1

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


@dataclass(frozen=True)
class Keeping:
    """The links of a series of rounds to the outside, so that it can continue an earlier one.

    Attributes:
        warm_up: Rounds before the first one, which do not count.
        has: Returns True if a method has a result of a round already, from an earlier series.
        enough: Returns True if a method needs no further round; asked after the least ones.
        ends_in_time: True if the series may end within a round, even one of the least.
        keep: Called with every result as soon as it is there. Rounds before the first are negative.
        failed: Called with the story of each run that failed.
    """

    warm_up: int = 0
    has: Callable[[str, int], bool] = lambda name, number: False
    enough: Callable[[str], bool] = lambda name: False
    keep: Callable[[str, Result], None] = lambda name, result: None
    failed: Callable[[str, str], None] = lambda name, story: None
    ends_in_time: bool = False


def run_rounds(
    methods: Mapping[str, Callable[[], Result]],
    *,
    least: int,
    most: int,
    seconds: float,
    seed: int | None = None,
    after_round: Callable[[Rounds], None] | None = None,
    give_up: tuple[type[Exception], ...] = (),
    seldom: Collection[str] = (),
    keeping: Keeping | None = None,
) -> Rounds:
    """Run every method once per round.

    A run during which something else used the machine is repeated at once, a few times per series;
    the result that was disturbed less counts.

    Args:
        methods: The methods to run, by name.
        least: Rounds that are made whatever they take.
        most: Rounds that are made if time permits.
        seconds: No round starts that would likely end later than this.
        seed: The seed of the order.
        after_round: Called with all results so far, to prepare the next round.
        give_up: Exceptions of a method after which the others go on without it.
        seldom: Methods that run in every third round only, from the first on.
        keeping: The links to the outside, for series that are kept and continued.
    """
    series = _Series(methods, least, most, seconds, seed, give_up, seldom, keeping or Keeping())
    with series.progress:
        for number in range(-series.keeping.warm_up, most):
            names = series.due(number)
            if number >= least and not series.keeping.ends_in_time and series.is_over(names):
                break
            if not series.run(number, names):
                break
            if number >= 0:
                series.rounds.made += 1
                if after_round:
                    after_round(series.rounds)
    return series.rounds


class _Series:
    """Rounds while they are made."""

    def __init__(
        self,
        methods: Mapping[str, Callable[[], Result]],
        least: int,
        most: int,
        seconds: float,
        seed: int | None,
        give_up: tuple[type[Exception], ...],
        seldom: Collection[str],
        keeping: Keeping,
    ) -> None:
        self._methods = methods
        self._least = least
        self._most = most
        self._seconds = seconds
        self._seed = random.randrange(1 << 62) if seed is None else seed
        self._give_up = give_up
        self._seldom = seldom
        self._begin = time.monotonic()
        self._repeats_left = most * len(methods) // 5
        self._took: dict[str, float] = {}
        self.keeping = keeping
        self.rounds = Rounds({name: [] for name in methods})
        runs = sum(self._runs(name, -keeping.warm_up) for name in methods)
        self.progress = Progress(runs, seconds=seconds)

    def _runs(self, name: str, begin: int) -> int:
        """Return how many runs of a method are to be made from a round on."""
        return sum(self._is_due(name, number) for number in range(begin, self._most))

    def _is_due(self, name: str, number: int) -> bool:
        seldom = name in self._seldom and number % SELDOM != 0
        return not seldom and not self.keeping.has(name, number)

    def due(self, number: int) -> list[str]:
        """Return the methods of a round, in the order in which they run."""
        names = [name for name in self.rounds.results if self._is_due(name, number)]
        if number >= self._least:
            names = [name for name in names if not self.keeping.enough(name)]
        # The order of a round does not depend on what was run before, by this series or another.
        return random.Random(f"{self._seed} {number}").sample(names, len(names))

    def is_over(self, names: Sequence[str]) -> bool:
        """Return whether a round of these methods would likely end too late."""
        passed = time.monotonic() - self._begin
        takes = sum(self._took.get(name, 0.0) for name in names)
        return passed + takes > self._seconds

    def run(self, number: int, names: Sequence[str]) -> bool:
        """Run some methods once; return whether there was time for all of them."""
        for name in names:
            if self.keeping.ends_in_time and self.is_over([name]):
                return False
            self.progress.show(name)
            began = time.monotonic()
            try:
                result, repeated = _quiet_result(
                    self._methods[name], may_repeat=number >= 0 and self._repeats_left > 0
                )
            except self._give_up as error:
                self.rounds.failures[name] = str(error)
                del self.rounds.results[name]
                self.progress.forget(self._runs(name, number))
                self.keeping.failed(name, str(error))
                continue
            self._repeats_left -= repeated
            result["round"] = number
            result["run_seconds"] = time.monotonic() - began  # a repetition included
            self._took[name] = result["run_seconds"]
            if number >= 0:
                self.rounds.disturbed += result["foreign_part"] > DISTURBED_FROM
                self.rounds.results[name].append(result)
            self.progress.done()
            self.keeping.keep(name, result)
        return True


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
