# SPDX-License-Identifier: BSD-3-Clause
"""The processor time that writers take from the cores of ranks, and when computing ends there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
Ranks = NDArray[np.int64]
_MOST = 1 - 1e-9  # a core that is lost altogether would make no time at all pass


@dataclass(frozen=True)
class Losses:
    """Intervals in which a writer takes a part of a core.

    Attributes:
        rank: The rank whose core it is, of each interval.
        begin: The begin of each interval in seconds.
        length: The length of each interval in seconds.
        part: The part of the core, from 0 to 1. Overlapping parts add up, to 1 at most.
    """

    rank: Ranks
    begin: Reals
    length: Reals
    part: Reals

    def end(self) -> float:
        """Return the end of the last interval."""
        return float(np.max(self.begin + self.length, initial=0.0))

    def most(self) -> float:
        """Return the seconds of the core that loses most."""
        return float(np.max(np.bincount(self.rank, self.length * self.part), initial=0.0))


def in_turn(arrivals: Reals, length: float) -> Reals:
    """Return when requests begin that a core handles one after the other.

    Args:
        arrivals: The time at which each comes, sorted along the last axis; the others are cores.
        length: Seconds that one takes.
    """
    before = length * np.arange(arrivals.shape[-1])
    begin: Reals = np.maximum.accumulate(arrivals - before, axis=-1) + before
    return begin


class Cores:
    """The computing that each rank's core has done by any time, beside its losses.

    Until some time t a core has computed for C(t) <= t. C is made of straight lines, one array of
    corners for all cores: that of rank r is moved by r times more than any of them is long.
    """

    def __init__(self, ranks: int, losses: Losses, end: float) -> None:
        """Take in what is lost.

        Args:
            ranks: The number of cores, one for each rank.
            losses: The losses; their ranks are below that number.
            end: Seconds until which the model is asked; it is right beyond the last interval too.
        """
        own = np.arange(ranks)
        self._last = losses.end()
        self._apart = 2 * max(end, self._last) + 1
        rank = np.concatenate([losses.rank, losses.rank, own, own])
        when = np.concatenate(
            [
                losses.begin,
                losses.begin + losses.length,
                np.zeros(ranks),
                np.full(ranks, 0.999 * self._apart),
            ]
        )
        change = np.concatenate([losses.part, -losses.part, np.zeros(2 * ranks)])
        order = np.lexsort((when, rank))
        rank, when, change = rank[order], when[order], change[order]
        lost = np.cumsum(change)
        free = 1 - np.clip(lost, 0, _MOST)
        same = rank[1:] == rank[:-1]
        worked = np.where(same, np.diff(when) * free[:-1], 0)
        computed = np.concatenate([[0.0], np.cumsum(worked)])
        first = np.searchsorted(rank, own)
        computed -= computed[first][rank]
        self._shift = own * self._apart
        self._when = when + rank * self._apart
        self._computed = computed + rank * self._apart

    def is_free_from(self, now: Reals) -> bool:
        """Return whether all ranks go on at the same time, with no more to lose."""
        return bool(now[0] >= self._last and (now == now[0]).all())

    def end(self, now: Reals, work: float) -> Reals:
        """Return when each rank has computed for `work` seconds, of those that begin `now`."""
        before = np.interp(now + self._shift, self._when, self._computed)
        after: Reals = np.interp(before + work, self._computed, self._when)
        return after - self._shift
