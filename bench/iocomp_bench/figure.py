# SPDX-License-Identifier: BSD-3-Clause
"""The form of a figure, and the computations that many figures share."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from iocomp_studies.rounds import Rounds
from iocomp_studies.statistics import Estimate, Goal, estimate

WALL = "wall_until_durable_seconds"
COMPUTE = "compute_seconds"
ALONE = "alone_seconds"
MIB = 1 << 20
GIB = 1 << 30


LEAST_ROUNDS = 5
"""Rounds that a verdict needs."""


class NotKnownError(ValueError):
    """The samples do not tell a figure; the text says why."""


@dataclass(frozen=True)
class Found:
    """A figure and what is shown beside it."""

    estimate: Estimate
    beside: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """One line of the table of goals.

    Attributes:
        id: The name in the table.
        unit: The unit of the value; "1" for ratios.
        goal: The bound.
        methods: Names of the runs it needs.
        find: Computes the figure from the samples.
        counts_with: Another figure that must be met for this one to count.
        optional: Names of runs that it shows if they could be made.
    """

    id: str
    unit: str
    goal: Goal
    methods: tuple[str, ...]
    find: Callable[[Rounds], Found]
    counts_with: str = ""
    optional: tuple[str, ...] = ()

    def has_goal(self) -> bool:
        """Return whether it is judged, not only printed."""
        return self.goal.bound is not None


def groups_of(figures: Sequence[Figure]) -> list[list[Figure]]:
    """Return the figures in groups that share runs, those with goals first.

    What is compared runs in the same rounds; what is not need not wait for it.
    """
    groups: list[list[Figure]] = []
    for figure in figures:
        runs = {*figure.methods, *figure.optional}
        joined = [g for g in groups if any(runs & {*f.methods, *f.optional} for f in g)]
        groups = [g for g in groups if g not in joined]
        groups.append([f for g in joined for f in g] + [figure])
    return sorted(groups, key=lambda group: not any(figure.has_goal() for figure in group))


def median(rounds: Rounds, method: str, key: str) -> float:
    """Return the median of one number of one method."""
    return statistics.median(float(result[key]) for result in rounds.results[method])


def per_round(
    rounds: Rounds, methods: Sequence[str], figure: Callable[[list[dict[str, Any]]], float]
) -> Estimate:
    """Return the median over the rounds of a figure that is made within each round.

    Args:
        rounds: The samples.
        methods: The runs whose results the figure gets, in this order.
        figure: Computes a number from the results of one round; NaN where it is not known.

    Raises:
        NotKnownError: If it is not known in so many rounds that too few remain for a verdict.
    """
    found = [figure(results) for results in rounds.together(methods)]
    samples = [{"figure": one} for one in found if not math.isnan(one)]
    if len(samples) < min(len(found), LEAST_ROUNDS):
        raise NotKnownError(
            f"not known in {len(found) - len(samples)} of {len(found)} rounds: "
            "synchronous output cost nothing there"
        )
    return estimate(samples, lambda m: m["figure"])


def median_ratio(above: Sequence[float], below: Sequence[float]) -> float:
    """Return the median of the ratios of what was measured in pairs."""
    return statistics.median(a / b for a, b in zip(above, below, strict=True))


def worst(
    rounds: Rounds,
    modes: Mapping[str, str],
    value: Callable[[dict[str, Any]], float],
    beside: str,
    *,
    of: Callable[[Iterable[float]], float] = max,
) -> Found:
    """Return the worst value of a round, and beside it that of each mode.

    Args:
        rounds: The samples.
        modes: The run of each mode.
        value: Computes the value of one result.
        beside: The name for the values of the modes.
        of: Chooses the worst of them: max or min.
    """
    found = per_round(rounds, tuple(modes.values()), lambda runs: of(map(value, runs)))
    by_mode = {
        mode: per_round(rounds, (name,), lambda runs: value(runs[0])).value
        for mode, name in modes.items()
    }
    return Found(found, {beside: by_mode})


def ratio(id_: str, goal: Goal, key: str, above: str, below: str) -> Figure:
    """Return the figure: median of one method divided by that of another."""

    def find(rounds: Rounds) -> Found:
        found = estimate(rounds.values(key, (above, below)), lambda m: m[above] / m[below])
        seconds = {name: median(rounds, name, key) for name in (above, below)}
        return Found(found, {"median_seconds": seconds})

    return Figure(id_, "1", goal, (above, below), find)
