# SPDX-License-Identifier: BSD-3-Clause
"""Fit the model to measured walls, and see how well it predicts those that it was not fitted to."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from iocomp_studies.advice.model import Model, expected, names_of_all
from iocomp_studies.advice.work import Way, Work
from iocomp_studies.statistics import Estimate, median_interval, quantile

NOISE = 0.05
"""One standard deviation of the logarithm of a wall that was measured exactly: the model's own."""
_WIDTH = 3.92
"""Standard deviations in a 95 % interval."""
MOST_PARTS = 60
"""Samples up to which each is predicted from all others; of more, a tenth from the rest."""
CLEAR = 0.05
"""Part by which two measured walls must differ for their order to count."""
_MOST_ROUNDS = 60
_SMALL = 1e-5
Vector = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """One measured wall.

    Attributes:
        work: The computing and the puts.
        way: The way to write.
        measured: The wall in seconds.
        label: The sample in words.
        world: The properties that it shares with others: size, ranks and so on.
    """

    work: Work
    way: Way
    measured: Estimate
    label: str
    world: Hashable = ""

    def noise(self) -> float:
        """Return one standard deviation of the logarithm of the wall, as the model sees it."""
        width = (self.measured.high - self.measured.low) / self.measured.value
        return math.hypot(NOISE, width / _WIDTH)

    def holds(self, wall: float) -> bool:
        """Return whether a wall lies in the interval of what was measured."""
        return self.measured.low <= wall <= self.measured.high


@dataclass(frozen=True)
class Errors:
    """The distances of predictions from measured walls, as parts of one.

    Attributes:
        median: The median of the absolute errors, with its 95 % interval.
        worst: The largest absolute error, and its label.
        of: Predicted ÷ measured less 1, of each.
        order: Pairs of ways of the same work whose walls differ clearly: how many were predicted
            in the right order, and how many there are.
        inside: Walls whose prediction lies in the interval of what was measured.
    """

    median: Estimate
    worst: tuple[float, str]
    of: Sequence[float]
    order: tuple[int, int]
    inside: int

    @classmethod
    def between(cls, predicted: Sequence[float], samples: Sequence[Sample]) -> Errors:
        """Return the errors of some predictions."""
        off = [
            wall / sample.measured.value - 1
            for wall, sample in zip(predicted, samples, strict=True)
        ]
        worst, label = max(
            ((abs(one), sample.label) for one, sample in zip(off, samples, strict=True)),
            key=lambda one: one[0],
        )
        middle = median_interval([abs(one) for one in off])
        inside = sum(sample.holds(wall) for wall, sample in zip(predicted, samples, strict=True))
        return cls(middle, (worst, label), off, _order(predicted, samples), inside)

    def usual_factor(self) -> float:
        """Return the factor within which 90 of 100 walls lie of what was predicted."""
        return math.exp(quantile(sorted(abs(math.log1p(one)) for one in self.of), 0.9))


def _order(predicted: Sequence[float], samples: Sequence[Sample]) -> tuple[int, int]:
    right = pairs = 0
    for (one, a), (other, b) in itertools.combinations(zip(samples, predicted, strict=True), 2):
        first, second = one.measured.value, other.measured.value
        if one.world == other.world and abs(first - second) > CLEAR * min(first, second):
            pairs += 1
            right += (a < b) == (first < second)
    return right, pairs


def fit(samples: Sequence[Sample], start: Model | None = None) -> Model:
    """Return the model whose walls are nearest to what was measured.

    Each parameter is moved from what is expected of it only as far as the samples ask for: least
    squares of logarithms (Levenberg and Marquardt), with the expected values as further samples.

    Args:
        samples: The samples, at least one.
        start: The model to begin with, such as that of nearly the same samples; the expected one by
            default.

    Raises:
        ValueError: If there is no sample.
    """
    if not samples:
        raise ValueError("a model needs at least one measured wall")
    names = names_of_all((sample.way, sample.work) for sample in samples)
    middle = np.array([math.log(expected(name).value) for name in names])
    spread = np.array([expected(name).spread for name in names])
    logs = np.array([math.log(sample.measured.value) for sample in samples])
    noises = np.array([sample.noise() for sample in samples])

    def model(at: Vector) -> Model:
        values = np.exp(middle + spread * at)
        return Model(dict(zip(names, values.tolist(), strict=True)))

    def residuals(at: Vector) -> Vector:
        found = model(at)
        walls = [math.log(found.predict(one.work, one.way).wall) for one in samples]
        return np.concatenate(((np.array(walls) - logs) / noises, at))

    if start is not None:
        begin = np.array([(math.log(start.value(n)) - math.log(expected(n).value)) for n in names])
        return model(_least_squares(residuals, begin / spread))
    # The limit of a run changes abruptly, so the search begins at slow, usual and quick disks.
    bandwidths = np.array([name.startswith("bandwidth.") for name in names], dtype=np.float64)
    ends = [_least_squares(residuals, offset * bandwidths) for offset in (-1.0, 0.0, 0.5)]
    return model(min(ends, key=lambda end: float((residuals(end) ** 2).sum())))


def _least_squares(residuals: Callable[[Vector], Vector], at: Vector) -> Vector:
    """Return where the sum of squares is least, near a beginning."""
    damping = 1e-2
    now = residuals(at)
    for _ in range(_MOST_ROUNDS):
        columns = [(residuals(at + step) - now) / 1e-4 for step in 1e-4 * np.eye(len(at))]
        slopes = np.stack(columns, axis=1)
        square = slopes.T @ slopes
        downhill = -slopes.T @ now
        while damping < 1e8:
            move = np.linalg.solve(square + damping * np.diag(np.diag(square)), downhill)
            then = residuals(at + move)
            if float((then**2).sum()) < float((now**2).sum()):
                break
            damping *= 4
        else:
            return at
        gain = float((now**2).sum()) - float((then**2).sum())
        at, now, damping = at + move, then, damping / 4
        if gain < _SMALL * float((now**2).sum()):
            break
    return at


def errors_of(model: Model, samples: Sequence[Sample]) -> Errors:
    """Return the errors on samples, such as those that the model was fitted to."""
    return Errors.between([model.predict(one.work, one.way).wall for one in samples], samples)


def left_out(
    samples: Sequence[Sample], by: Callable[[Sample], Hashable] | None = None
) -> Errors | None:
    """Return the errors of predicting each group of samples from all others.

    Args:
        samples: All of them.
        by: The group of a sample: groups are left out as a whole. By default each sample is one.

    Returns:
        None if there are fewer than two groups.
    """
    group_of = [by(sample) if by else number for number, sample in enumerate(samples)]
    groups = list(dict.fromkeys(group_of))
    if len(groups) < 2:
        return None
    start = fit(samples)
    parts = len(groups) if len(groups) <= MOST_PARTS else 10
    predicted = [0.0] * len(samples)
    for part in range(parts):
        mine = set(groups[part::parts])
        rest = [one for one, group in zip(samples, group_of, strict=True) if group not in mine]
        model = fit(rest, start)
        for number, one in enumerate(samples):
            if group_of[number] in mine:
                predicted[number] = model.predict(one.work, one.way).wall
    return Errors.between(predicted, samples)
