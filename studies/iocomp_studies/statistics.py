"""Medians, their intervals, and whether a goal is met."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

Sample = Mapping[str, float]
"""The values of one round by method."""


@dataclass(frozen=True)
class Estimate:
    """A figure and its 95 % interval."""

    value: float
    low: float
    high: float


def medians(rounds: Sequence[Sample]) -> dict[str, float]:
    """Return the median of every method over the rounds."""
    return {method: statistics.median(sample[method] for sample in rounds) for method in rounds[0]}


def quantile(ordered: Sequence[float], part: float) -> float:
    """Return the value below which `part` of an ordered sequence lies, interpolated."""
    position = part * (len(ordered) - 1)
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


def estimate(
    rounds: Sequence[Sample],
    figure: Callable[[dict[str, float]], float],
    *,
    resamples: int = 2000,
    level: float = 0.95,
    seed: int = 1,
) -> Estimate:
    """Return a figure of medians and its bootstrap interval.

    Whole rounds are drawn with replacement, so that what moves all methods of a round together does
    not widen the interval of their ratio.

    Args:
        rounds: One value per method and round; every round has the same methods.
        figure: From the medians of all methods to one number.
        resamples: Number of draws.
        level: Of the interval.
        seed: Of the draws, so that the same samples give the same interval.

    Raises:
        ValueError: If there are no rounds.

    Source: docs/metrics.md, "Median and interval".
    """
    if not rounds:
        raise ValueError("an estimate needs at least one round")
    drawn = random.Random(seed)
    values = sorted(figure(medians(drawn.choices(rounds, k=len(rounds)))) for _ in range(resamples))
    tail = (1 - level) / 2
    return Estimate(figure(medians(rounds)), quantile(values, tail), quantile(values, 1 - tail))


class Verdict(Enum):
    """What an interval says about a goal."""

    MET = "met"
    UNRESOLVED = "unresolved"
    NOT_MET = "not met"
    PRINTED = "printed"
    NOT_MEASURED = "not measured"


@dataclass(frozen=True)
class Goal:
    """A bound that a figure must stay below or above; none if it is only printed."""

    bound: float | None = None
    at_most: bool = True

    def text(self) -> str:
        """Return it as in the table of goals."""
        if self.bound is None:
            return "printed"
        return f"{'<=' if self.at_most else '>='} {self.bound:g}"

    def judge(self, found: Estimate) -> Verdict:
        """Return met if the whole interval is on the right side, not met if all of it is wrong."""
        if self.bound is None:
            return Verdict.PRINTED
        inside = (found.low <= self.bound, found.high <= self.bound)
        if not self.at_most:
            inside = (found.low >= self.bound, found.high >= self.bound)
        if all(inside):
            return Verdict.MET
        return Verdict.UNRESOLVED if any(inside) else Verdict.NOT_MET
