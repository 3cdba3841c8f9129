"""Run methods again and again, interleaved, in a new order each time."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from iocomp_studies.progress import Progress
from iocomp_studies.quiet import Watch

DISTURBED_FROM = 0.1
"""Part of a core that others may take during a run."""

Result = dict[str, Any]


@dataclass
class Rounds:
    """All results of a series: by method, one per round."""

    results: dict[str, list[Result]] = field(default_factory=dict)
    disturbed: int = 0
    failures: dict[str, str] = field(default_factory=dict)
    """Why a method is not among the results, by method."""

    def count(self) -> int:
        """Return the number of complete rounds."""
        return min((len(results) for results in self.results.values()), default=0)

    def values(self, key: str, methods: Sequence[str]) -> list[dict[str, float]]:
        """Return one number of every result, by round and method."""
        return [
            {method: float(self.results[method][i][key]) for method in methods}
            for i in range(self.count())
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
    """
    order = random.Random(seed)
    rounds = Rounds({name: [] for name in methods})
    progress = Progress(most * len(methods))
    repeats_left = most * len(methods) // 5
    begin = time.monotonic()
    for number in range(most):
        passed = time.monotonic() - begin
        if number >= least and passed * (number + 1) / number > seconds:
            break
        names = list(rounds.results)
        for name in order.sample(names, len(names)):
            progress.show(name)
            try:
                result, repeated = _quiet_result(methods[name], may_repeat=repeats_left > 0)
            except give_up as error:
                rounds.failures[name] = str(error)
                del rounds.results[name]
                progress.forget(most - number)
                continue
            repeats_left -= repeated
            rounds.disturbed += result["foreign_part"] > DISTURBED_FROM
            rounds.results[name].append(result)
            progress.done()
        if after_round:
            after_round(rounds)
    progress.end()
    return rounds


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
