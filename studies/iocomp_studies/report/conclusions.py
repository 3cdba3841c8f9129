# SPDX-License-Identifier: BSD-3-Clause
"""Conclusions from the results: ratios with their intervals, and outliers."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from iocomp_studies.plan.cell import NOT_USED
from iocomp_studies.plots.plot import CHOICES, WORLD, plays_no_part, ratio_of, series_rank
from iocomp_studies.results.rows import NO_OUTPUT, SYNCHRONOUS, Row, Value
from iocomp_studies.statistics import Estimate, combined
from iocomp_studies.table import counted

LEAST_RESULTS = 5
"""The least number of rounds, or results, for a conclusion: with fewer an interval says little."""
LEAST_RUNS = 2
"""The least number of runs behind a published mean: a single run has no spread."""
DEVIATIONS = 2.0
"""Standard deviations from the mean within which 95 of 100 values lie."""
OUTLYING = 5.0
"""Robust standard deviations from the median."""
_ROBUST = 1.4826  # makes the median deviation of a normal distribution its standard deviation


class Difference(Enum):
    """The meaning of a ratio's interval."""

    LONGER = "longer"
    SHORTER = "shorter"
    NONE_SEEN = "no difference seen"
    TOO_FEW = "too few results"


_TIMERS = {
    "seconds.wall": "wall time",
    "seconds.compute": "compute time",
    "seconds.loop_per_set": "loop time",
    "seconds.loop_per_repetition": "loop time",
    "seconds.hpl": "time of factoring and solving",
}


@dataclass(frozen=True)
class Conclusion:
    """A comparison of one way with another.

    Attributes:
        source: The machine on which it was measured.
        client: The program that was measured.
        way: The way of writing.
        what: The way and its settings, in words.
        measure: The measure that is compared: "seconds.wall".
        against: The way below the line: without output, or synchronous.
        ratio: The ratio of the two, with its 95 % interval.
        count: The number of rounds that have both; the runs behind a published mean.
        difference: The meaning of the interval.
        is_published: True if means are compared, not the results of rounds.
    """

    source: str
    client: str
    way: str
    what: str
    measure: str
    against: str
    ratio: Estimate
    count: int
    difference: Difference
    is_published: bool = False

    def counts(self) -> bool:
        """Return whether it says something beside others: a single published run does."""
        return self.is_published or self.difference is not Difference.TOO_FEW

    def sentence(self) -> str:
        """Return it in words."""
        low, high = (f"{100 * (end - 1):+.1f}" for end in (self.ratio.low, self.ratio.high))
        timer = _TIMERS.get(self.measure, self.measure)
        below = "without output" if self.against == NO_OUTPUT else f"of {self.against} output"
        about = f"{self.client}, {self.what}: {timer} compared with that {below}"
        if self.difference is Difference.TOO_FEW and self.is_published:
            return f"{about}: {100 * (self.ratio.value - 1):+.1f} %, of a run without a spread"
        if self.difference is Difference.TOO_FEW:
            are = "is" if self.count == 1 else "are"
            return (
                f"{about}: {counted(self.count, 'round')} with both {are} too few to say, "
                f"{LEAST_RESULTS} are needed"
            )
        if self.difference is Difference.NONE_SEEN:
            return f"{about}: no difference seen (between {low} and {high} %)"
        change = 100 * abs(self.ratio.value - 1)
        return f"{about}: {change:.1f} % {self.difference.value} ({low} to {high} %)"


def difference_of(ratio: Estimate, count: int, least: int = LEAST_RESULTS) -> Difference:
    """Return what the interval of a ratio says, if it is made of enough results."""
    if count < least:
        return Difference.TOO_FEW
    if ratio.low > 1:
        return Difference.LONGER
    return Difference.SHORTER if ratio.high < 1 else Difference.NONE_SEEN


_COMPARED = (
    ("seconds.wall", NO_OUTPUT),
    ("seconds.compute", NO_OUTPUT),
    ("seconds.loop_per_set", NO_OUTPUT),
    ("seconds.loop_per_repetition", NO_OUTPUT),
    ("seconds.hpl", NO_OUTPUT),
    ("seconds.wall", SYNCHRONOUS),
)
Key = tuple[Value, ...]


def conclude(rows: Sequence[Row]) -> list[Conclusion]:
    """Compare every way with no output and with synchronous output, where both were measured.

    Results are compared within rounds. Published means, which have none, are divided.
    """
    by_world: dict[Key, dict[Key, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        world = tuple(row.fields.get(name, "") for name in ("source", "client", *WORLD))
        choice = tuple(row.fields.get(name, "") for name in CHOICES)
        by_world[world][choice].append(row)
    found = []
    for groups in by_world.values():
        differ = [
            name
            for i, name in enumerate(("", *CHOICES))
            if i and len({key[i - 1] for key in groups} - {NOT_USED}) > 1
        ]
        for of in groups.values():
            found += _conclusions(of, groups, differ)
    return sorted(found, key=lambda one: (one.source, one.client, one.against, one.what))


def _conclusions(
    rows: Sequence[Row], groups: dict[Key, list[Row]], differ: Sequence[str]
) -> list[Conclusion]:
    way = rows[0].fields["way"]
    found = []
    for measure, against in _COMPARED:
        if way in (against, NO_OUTPUT) or measure not in rows[0].measures:
            continue
        base = _base(rows[0], groups, against)
        having = [row for row in rows if measure in row.measures]
        compared = ratio_of(having, base, measure, deviations=DEVIATIONS)
        if compared is not None:
            ratio, count = compared
            is_published = bool(rows[0].spread)
            if is_published:
                count = min(rows[0].runs, base[0].runs)
            least = LEAST_RUNS if is_published else LEAST_RESULTS
            found.append(
                Conclusion(
                    str(rows[0].fields["source"]), str(rows[0].fields["client"]), str(way),
                    _in_words(rows[0], differ), measure, against, ratio, count,
                    difference_of(ratio, count, least), is_published,
                )
            )  # fmt: skip
    return found


def _base(row: Row, groups: dict[Key, list[Row]], against: str) -> list[Row]:
    """Return the results to compare with: those that agree in all choices that play a part."""

    def is_same(other: Row, name: str) -> bool:
        return row.fields.get(name, "") == other.fields.get(name, "")

    choices = [name for name in CHOICES if name != "way"]
    possible = [
        others
        for others in groups.values()
        if others[0].fields["way"] == against
        and all(is_same(others[0], name) or plays_no_part(others[0], name) for name in choices)
    ]
    return max(
        possible, key=lambda of: sum(is_same(of[0], name) for name in choices), default=[]
    )


def _in_words(row: Row, differ: Sequence[str]) -> str:
    words = [str(row.fields["way"])]
    for name in differ:
        value = row.fields.get(name, "")
        if name == "progress":
            words += ["progress calls"] if value else []
        elif name == "verify":
            words += [] if value else ["not read back"]
        elif name != "way" and value not in (NOT_USED, ""):
            words.append(str(value))
    words.append(counted(int(row.fields.get("ranks", 1)), "rank"))
    if row.fields.get("size"):
        words.append(str(row.fields["size"]))
    if row.fields.get("scaling") == "strong":
        words.append("strong scaling")
    return ", ".join(words)


@dataclass(frozen=True)
class Summary:
    """All comparisons of the wall time of one way of a program with that of another way.

    Attributes:
        source: The machine on which it was measured.
        client: The program that was measured.
        way: The way of writing.
        against: The way below the line: without output, or synchronous.
        ratio: The median of the ratios, with its 95 % interval.
        differences: The number of comparisons by what they say.
    """

    source: str
    client: str
    way: str
    against: str
    ratio: Estimate
    differences: Mapping[Difference, int]

    def count(self) -> int:
        """Return the number of comparisons."""
        return sum(self.differences.values())

    def difference(self) -> Difference:
        """Return what those say together that say something: many of single runs do, too."""
        is_enough = self.count() > self.differences[Difference.TOO_FEW]
        return difference_of(self.ratio, LEAST_RESULTS if is_enough else self.count())


def by_way(found: Sequence[Conclusion]) -> list[Summary]:
    """Return what comparisons of different sizes, ranks and settings say of each way together."""
    groups: dict[tuple[str, str, str, str], list[Conclusion]] = defaultdict(list)
    for one in found:
        if one.measure == "seconds.wall":
            groups[one.source, one.client, one.against, one.way].append(one)
    return [
        Summary(
            source, client, way, against,
            combined([one.ratio for one in of if one.counts()] or [one.ratio for one in of]),
            Counter(one.difference for one in of),
        )
        for (source, client, against, way), of in sorted(
            groups.items(), key=lambda group: (*group[0][:3], series_rank(group[0][3]))
        )
    ]  # fmt: skip


@dataclass(frozen=True)
class Outlier:
    """A result that lies far from the others of its cell; it counts all the same."""

    row: Row
    median: float

    def sentence(self) -> str:
        """Return it in words."""
        wall = self.row.measures["seconds.wall"]
        what = _in_words(self.row, ("backend", "transport", "progress"))
        return (
            f"{self.row.fields['source']}: {self.row.fields['client']}, {what}, round "
            f"{self.row.round}: wall time {wall:.3g} s, median {self.median:.3g} s"
        )


def outliers(rows: Sequence[Row]) -> list[Outlier]:
    """Return results whose wall time lies far from the median of their cell."""
    cells: dict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        if not row.spread and "seconds.wall" in row.measures:
            cells[tuple(f"{k} {v}" for k, v in sorted(row.fields.items()))].append(row)
    found = []
    for of in cells.values():
        walls = [row.measures["seconds.wall"] for row in of]
        if len(walls) < LEAST_RESULTS:
            continue
        middle = statistics.median(walls)
        spread = _ROBUST * statistics.median(abs(wall - middle) for wall in walls)
        found += [
            Outlier(row, middle)
            for row, wall in zip(of, walls, strict=True)
            if spread > 0 and abs(wall - middle) > OUTLYING * spread
        ]
    return found
