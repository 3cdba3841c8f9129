# SPDX-License-Identifier: BSD-3-Clause
"""Medians, their intervals, and whether a goal is met."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Sample = Mapping[str, float]
"""The values of one round by method."""


SMOOTHED_BELOW = 30
"""Rounds; of more the median takes enough values by itself; skewed ones noise would move."""


_WIDTH = 3.92
"""Standard deviations in a 95 % interval."""


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


@lru_cache(maxsize=64)
def _draws(rounds: int, resamples: int, seed: int) -> npt.NDArray[np.intp]:
    """Return which rounds are drawn, with replacement: one row per resample."""
    return np.random.default_rng(seed).integers(0, rounds, size=(resamples, rounds))


@lru_cache(maxsize=16)
def _noise(rounds: int, methods: int, resamples: int, seed: int) -> npt.NDArray[np.float64]:
    """Return numbers of a normal distribution, one for each value that is drawn."""
    return np.random.default_rng(seed + 1).standard_normal((resamples, rounds, methods))


def _bandwidths(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return how far drawn values of each method are moved: Silverman's rule, 1986."""
    if not 2 <= len(values) < SMOOTHED_BELOW:
        return np.zeros(values.shape[1])
    low, high = np.quantile(values, (0.25, 0.75), axis=0)
    deviation = values.std(axis=0, ddof=1)
    robust = (high - low) / 1.34
    narrow = np.where(robust > 0, np.minimum(deviation, robust), deviation)
    return np.asarray(0.9 * narrow / math.pow(len(values), 0.2), dtype=np.float64)


def _together(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return a matrix that gives independent noise the correlation of the methods' values."""
    if values.shape[1] == 1:
        return np.ones((1, 1))
    centred = values - values.mean(axis=0)
    lengths = np.sqrt((centred**2).sum(axis=0))
    directions = centred / np.where(lengths > 0, lengths, 1.0)
    parts, vectors = np.linalg.eigh(directions.T @ directions)
    root: npt.NDArray[np.float64] = (vectors * np.sqrt(np.maximum(parts, 0.0))) @ vectors.T
    return root


def _drawn_order_statistics(
    ordered: npt.NDArray[np.float64], resamples: int, seed: int
) -> npt.NDArray[np.float64]:
    """Return the medians of draws of many values, without drawing these.

    The k-th smallest of n uniform numbers has the distribution Beta(k, n + 1 - k); it says which
    of the values the k-th smallest of a draw is.
    """
    count = len(ordered)
    random = np.random.default_rng(seed)
    place = (count + 1) // 2
    lower = random.beta(place, count + 1 - place, resamples)
    found = ordered[(lower * count).astype(np.intp)]
    if count % 2 == 0:
        upper = lower + (1 - lower) * random.beta(1, count - place, resamples)
        found = (found + ordered[np.minimum(upper * count, count - 1).astype(np.intp)]) / 2
    return found


def _drawn_medians(
    values: npt.NDArray[np.float64], resamples: int, seed: int
) -> npt.NDArray[np.float64]:
    """Return the medians of all methods for each draw: one row per resample."""
    rounds, methods = values.shape
    if methods == 1 and rounds >= SMOOTHED_BELOW:
        return _drawn_order_statistics(np.sort(values[:, 0]), resamples, seed)[:, np.newaxis]
    found = values[_draws(rounds, resamples, seed)]
    bandwidths = _bandwidths(values)
    if bandwidths.any():
        found += (_noise(rounds, methods, resamples, seed) @ _together(values)) * bandwidths
    middle = rounds // 2
    wanted = (middle,) if rounds % 2 else (middle - 1, middle)
    found.partition(wanted, axis=1)
    return np.asarray(found[:, wanted, :].mean(axis=1), dtype=np.float64)


def _interval(value: float, drawn: npt.NDArray[np.float64], level: float) -> Estimate:
    tail = (1 - level) / 2
    low, high = np.quantile(drawn, (tail, 1 - tail))
    return Estimate(value, float(low), float(high))


def estimate(
    rounds: Sequence[Sample],
    figure: Callable[[dict[str, float]], float],
    *,
    resamples: int = 2000,
    level: float = 0.95,
    seed: int = 1,
) -> Estimate:
    """Return a figure of medians and its bootstrap interval, whatever the order of the rounds.

    Whole rounds are drawn with replacement, so that what moves all methods of a round together does
    not widen the interval of their ratio. Of fewer than 30 rounds the bootstrap is smoothed: each
    round that is drawn is moved a little, its methods together as they move from round to round.
    The median of few values takes few values otherwise, and 12 of 100 intervals of 7 or 15 values
    would miss, not 5.

    Args:
        rounds: One value per method and round; every round has the same methods.
        figure: Computes one number from the medians of all methods.
        resamples: Number of draws.
        level: The level of the interval.
        seed: The seed of the draws, so that the same samples give the same interval.

    Raises:
        ValueError: If there are no rounds.

    Source: docs/developers/benchmark_figures.md, "Hidden part and interval".
    """
    if not rounds:
        raise ValueError("an estimate needs at least one round")
    methods = list(rounds[0])
    values = np.array(sorted([one[method] for method in methods] for one in rounds), dtype=float)
    drawn = _drawn_medians(values, resamples, seed)
    figures = [figure(dict(zip(methods, row, strict=True))) for row in drawn.tolist()]
    return _interval(figure(medians(rounds)), np.array(figures), level)


def median_interval(values: Sequence[float], *, resamples: int = 1000, seed: int = 1) -> Estimate:
    """Return the median of some values and its bootstrap interval: the estimate of one method.

    Raises:
        ValueError: If there are none.
    """
    if not values:
        raise ValueError("an estimate needs at least one value")
    if len(values) == 1:
        return Estimate(values[0], values[0], values[0])
    ordered = np.sort(np.asarray(values, dtype=np.float64))
    drawn = _drawn_medians(ordered[:, np.newaxis], resamples, seed)
    return _interval(statistics.median(values), drawn[:, 0], 0.95)


def combined(found: Sequence[Estimate], *, resamples: int = 2000, seed: int = 1) -> Estimate:
    """Return the median of some estimates; its interval has theirs in it, and how they differ.

    Estimates are drawn with replacement, each moved within its own interval as a normal
    distribution has it, and as in `estimate` by a little more where there are few.

    Raises:
        ValueError: If there are none.
    """
    if len(found) == 1:
        return found[0]
    values = np.array(sorted((one.value, one.high - one.low) for one in found), dtype=np.float64)
    width = np.hypot(values[:, 1] / _WIDTH, _bandwidths(values[:, :1]))
    random = np.random.default_rng(seed)
    moved = values[:, 0] + width * random.standard_normal((resamples, len(found)))
    drawn = np.take_along_axis(moved, _draws(len(found), resamples, seed), axis=1)
    middle = statistics.median(one.value for one in found)
    return _interval(middle, np.median(drawn, axis=1), 0.95)


def ratio_interval(
    pairs: Sequence[tuple[float, float]], *, resamples: int = 2000, seed: int = 1
) -> Estimate:
    """Return the median over rounds of first ÷ second, and its bootstrap interval.

    Args:
        pairs: The two values of each round.
        resamples: Number of draws.
        seed: The seed of the draws.
    """
    return median_interval([a / b for a, b in pairs], resamples=resamples, seed=seed)


class Verdict(Enum):
    """The verdict of an interval on a goal."""

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
