# SPDX-License-Identifier: BSD-3-Clause
"""The description of a figure, and the numbers in it."""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from iocomp_studies.plan.cell import NOT_USED
from iocomp_studies.results.rows import NO_OUTPUT, SYNCHRONOUS, Row, Value
from iocomp_studies.statistics import Estimate, median_interval

Kind = Literal["bars", "lines", "stack"]
REST = "rest"
WORLD = ("size", "arguments", "scaling", "ranks", "nodes")
"""Fields in which the rows of one panel must agree."""
CHOICES = ("way", "backend", "transport", "progress", "ratio", "settings", "verify")
"""Fields in which they must agree unless they play no part for a row."""


@dataclass(frozen=True)
class Plot:
    """A figure, without its numbers.

    Attributes:
        id: Name of its files.
        title: The line above it.
        kind: bars; lines over a numeric `x`; stack: bars of which each part is a measure.
        measures: The measures that are shown, such as "seconds.wall": one bar or part for each.
        label: The label of the axis, with the unit.
        x: Field along the axis; "" where the measures stand there.
        by: Fields that tell the series apart.
        where: Values allowed, by field.
        over: Ways, best first, by whose result of the same round each result is divided.
        scale: Factor of the values, such as 1e6 for microseconds.
        rest: stack: measure that all parts add up to; what is left is shown as "rest".
        logarithmic: Axis of the values.
        names: Measures in words.
        source: The figure of a paper that it repeats.
        emphasised: bars: series in full colour; those of others are pale. None: all are full.
    """

    id: str
    title: str
    kind: Kind
    measures: tuple[str, ...]
    label: str
    x: str = "ranks"
    by: tuple[str, ...] = ("way",)
    where: Mapping[str, tuple[Value, ...]] = field(default_factory=dict)
    over: tuple[str, ...] = ()
    scale: float = 1.0
    rest: str = ""
    logarithmic: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    emphasised: tuple[str, ...] = ()

    def name_of(self, measure: str) -> str:
        """Return a measure in words."""
        return self.names.get(measure) or measure.rsplit(".", 1)[-1].replace("_", " ")


@dataclass(frozen=True)
class Point:
    """One value with its interval.

    Attributes:
        series: The name that tells it from others at the same place.
        x: The place along the axis.
        part: Measure, in words.
        found: Value and interval.
        count: Results, or pairs of them, that it is made of; of published means 0.
    """

    series: str
    x: Value
    part: str
    found: Estimate
    count: int


@dataclass
class Panel:
    """All points of one source."""

    title: str
    points: list[Point] = field(default_factory=list)
    below: str = ""
    """The divisor of the values, in words."""
    reference: float | None = None
    """The value at which a dashed line lies; 1 for ratios without it."""
    notes: Mapping[tuple[str, object], str] = field(default_factory=dict)
    """Text above a bar, by series and place."""

    def series(self) -> list[str]:
        """Return the series in their order."""
        return sorted({point.series for point in self.points}, key=series_rank)

    def places(self) -> list[Value]:
        """Return the places along the axis, in their order."""
        found = dict.fromkeys(point.x for point in self.points)
        if all(isinstance(x, int | float) for x in found):
            return sorted(found, key=float)
        return sorted(found, key=lambda x: series_rank(str(x)))

    def parts(self) -> list[str]:
        """Return the parts in the order in which they were listed."""
        return list(dict.fromkeys(point.part for point in self.points))


_RANKS = (
    NO_OUTPUT, SYNCHRONOUS, "sequential", "kernel", "consecutive", "hyperthread", "oversubscribe",
    "posix", "mpiio", "hdf5", "netcdf", "pnetcdf", "adios2",
    "copy", "scale", "add", "triad",
)  # fmt: skip


def series_rank(name: str) -> tuple[int, str]:
    """Return where a series stands among others: those of the papers first, in their order."""
    first = name.split(",")[0]
    return (_RANKS.index(first) if first in _RANKS else len(_RANKS), name)


def fits(plot: Plot, row: Row) -> bool:
    """Return whether a row belongs into a figure."""
    for name, allowed in plot.where.items():
        if row.fields.get(name) not in allowed and row.fields.get(name) != NOT_USED:
            return False
    return any(measure in row.measures for measure in plot.measures)


@dataclass(frozen=True)
class Variant:
    """Rows of a figure that may be compared.

    Attributes:
        words: The choices that all of them share and other variants do not.
        common: The part of these words that holds for all sources.
        titles: The same for each source, as it stands above its panel.
        rows: The results.
    """

    words: str
    common: str
    titles: Mapping[str, str]
    rows: list[Row]


def variants(plot: Plot, rows: Iterable[Row]) -> list[Variant]:
    """Return the rows of a figure in groups that may be compared, the largest group first.

    What a figure does not tell apart must not differ within a panel: each back-end, for example, is
    a variant. Sizes may differ from source to source, so that old results stand beside new ones.
    """
    mine = [row for row in rows if fits(plot, row)]
    used = {plot.x, *plot.by}
    chosen = _that_differ(mine, [name for name in CHOICES if name not in used])
    worlds = [name for name in WORLD if name not in used]
    if plot.x == "ranks" and _nodes_follow_ranks(mine):
        worlds.remove("nodes")
    by_choice: dict[tuple[Value, ...], list[Row]] = {}
    for row in mine:
        key = tuple(row.fields.get(name, "") for name in chosen)
        if not any(plays_no_part(row, name) for name in chosen):
            by_choice.setdefault(key, [])
    if not by_choice:
        by_choice[tuple("" for _ in chosen)] = mine
    found: list[Variant] = []
    for key, of in by_choice.items():
        joined = of or [row for row in mine if _joins(row, chosen, key)]
        # A source that has not measured this choice would stand there with its baselines alone.
        has_chosen = {
            row.fields["source"]
            for row in joined
            if of or not any(plays_no_part(row, name) for name in chosen)
        }
        joined = [row for row in joined if row.fields["source"] in has_chosen]
        found += _by_world(_in_words(chosen, key), joined, worlds)
    # Own results first, and of these what stands beside published ones.
    return sorted(
        found,
        key=lambda one: (
            all(row.spread for row in one.rows), -len(one.titles), -len(one.rows), one.words,
        ),
    )  # fmt: skip


def _by_world(words: str, rows: Sequence[Row], worlds: Sequence[str]) -> list[Variant]:
    """Return the first variant of what is most measured in each source, then the others."""
    by_source: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_source[str(row.fields["source"])].append(row)
    ranked: dict[str, list[tuple[str, list[Row]]]] = {}
    for source, of in by_source.items():
        differ = _that_differ(of, worlds)
        groups: dict[tuple[Value, ...], list[Row]] = defaultdict(list)
        for row in of:
            groups[tuple(row.fields.get(name, "") for name in differ)].append(row)
        ordered = sorted(groups.items(), key=lambda group: (-len(group[1]), str(group[0])))
        ranked[source] = [(_in_words(differ, key), group) for key, group in ordered]
    found = []
    for number in range(max((len(groups) for groups in ranked.values()), default=0)):
        here = {source: groups[number] for source, groups in ranked.items() if number < len(groups)}
        parts = [words, *dict.fromkeys(world for world, _ in here.values())]
        titles = {source: f"{source}, {world}" if world else source
                  for source, (world, _) in here.items()}  # fmt: skip
        together = [row for _, group in here.values() for row in group]
        all_words = "; ".join(part for part in parts if part)
        found.append(Variant(all_words, words, titles, together))
    return found


def _that_differ(rows: Sequence[Row], names: Sequence[str]) -> list[str]:
    """Return the fields in which some rows differ."""
    cells = {id(row.fields): row.fields for row in rows}.values()
    return [name for name in names if len({cell.get(name, "") for cell in cells} - {NOT_USED}) > 1]


def _nodes_follow_ranks(rows: Sequence[Row]) -> bool:
    """Return whether the same number of ranks is always on the same number of nodes."""
    nodes: dict[tuple[Value, Value], Value] = {}
    return all(
        nodes.setdefault((row.fields["source"], row.fields["ranks"]), row.fields.get("nodes", 1))
        == row.fields.get("nodes", 1)
        for row in rows
    )


def plays_no_part(row: Row, name: str) -> bool:
    """Return whether a choice makes no difference to a row."""
    way = row.fields["way"]
    if name == "way" or (way == NO_OUTPUT and name in ("settings", "verify")):
        return way == NO_OUTPUT
    return row.fields.get(name) == NOT_USED or (
        way in (NO_OUTPUT, SYNCHRONOUS) and name in ("transport", "progress", "ratio")
    )


def _joins(row: Row, names: Sequence[str], key: Sequence[Value]) -> bool:
    return all(
        row.fields.get(name, "") == value or plays_no_part(row, name)
        for name, value in zip(names, key, strict=True)
    )


def _in_words(names: Sequence[str], values: Sequence[Value]) -> str:
    words = []
    for name, value in zip(names, values, strict=True):
        if name == "verify":
            words.append("read back" if value else "not read back")
        elif isinstance(value, bool):
            words.append(f"{name} calls" if value else f"no {name} calls")
        elif value != "":
            words.append(str(value) if name in ("way", "arguments") else f"{name} {value}")
    return ", ".join(words)


def _series_of(plot: Plot, row: Row) -> str:
    """Return the series of a row: the values of the fields that tell series apart."""
    words = []
    for name in plot.by:
        value = row.fields.get(name, "")
        if isinstance(value, bool):
            words += ["progress calls"] if value else []
        elif value not in (NOT_USED, "", None):
            words.append(str(value))
    way = row.fields["way"]
    if "way" not in plot.by and way in (NO_OUTPUT,):
        return NO_OUTPUT
    return ", ".join(words)


def _value(row: Row, measure: str) -> float | None:
    return row.measures.get(measure)


def _estimate(rows: Sequence[Row], measure: str, scale: float) -> tuple[Estimate, int]:
    """Return the median and its interval; of a published mean, the mean and one deviation."""
    if len(rows) == 1 and measure in rows[0].spread:
        mean, deviation = rows[0].measures[measure], rows[0].spread[measure]
        return Estimate(scale * mean, scale * (mean - deviation), scale * (mean + deviation)), 1
    return median_interval([scale * row.measures[measure] for row in rows]), len(rows)


def ratio_of(
    rows: Sequence[Row], base: Sequence[Row], measure: str, *, deviations: float = 1.0
) -> tuple[Estimate, int] | None:
    """Return the median over the rounds of a row ÷ that of the base, or nothing to compare with.

    Beside it stands the number of rounds that have both. Published means are divided. Their
    interval is so many standard deviations of the quotient.
    """
    below = {row.together(): row for row in base if row.measures.get(measure)}
    pairs = [(row, below[row.together()]) for row in rows if row.together() in below]
    if not pairs:
        return None
    ratios = [row.measures[measure] / other.measures[measure] for row, other in pairs]
    row, other = pairs[0]
    if len(pairs) == 1 and measure in row.spread and measure in other.spread:
        parts = [one.spread[measure] / one.measures[measure] for one in (row, other)]
        deviation = deviations * ratios[0] * float(sum(part**2 for part in parts)) ** 0.5
        return Estimate(ratios[0], ratios[0] - deviation, ratios[0] + deviation), 1
    return median_interval(ratios), len(pairs)


def panels(plot: Plot, variant: Variant) -> list[Panel]:
    """Return the numbers of a figure, in a panel for each source."""
    by_source: dict[str, list[Row]] = defaultdict(list)
    for row in variant.rows:
        by_source[str(row.fields["source"])].append(row)
    found = [
        _panel(plot, variant.titles.get(source, source), of)
        for source, of in sorted(by_source.items())
    ]
    return [panel for panel in found if panel.points]


def _panel(plot: Plot, source: str, rows: Sequence[Row]) -> Panel:
    groups: dict[tuple[str, Value], list[Row]] = defaultdict(list)
    for row in rows:
        groups[_series_of(plot, row), row.fields.get(plot.x, "")].append(row)
    if plot.kind == "stack":
        return Panel(source, _stack_points(plot, groups))
    if not plot.over:
        return Panel(source, _points(plot, groups, lambda g, r, m: _estimate(r, m, plot.scale)))
    for way in plot.over:
        base: dict[Value, list[Row]] = defaultdict(list)
        for row in rows:
            if row.fields["way"] == way:
                base[row.fields.get("ranks", "")].append(row)
        if base:
            others = {key: of for key, of in groups.items() if of[0].fields["way"] != way}
            return Panel(source, _points(plot, others, partial(_over, base)), below=way)
    return Panel(source)


def _over(
    base: Mapping[Value, Sequence[Row]], group: tuple[str, Value], rows: Sequence[Row], measure: str
) -> tuple[Estimate, int] | None:
    return ratio_of(rows, base.get(rows[0].fields.get("ranks", ""), ()), measure)


Figure = Callable[[tuple[str, Value], Sequence[Row], str], tuple[Estimate, int] | None]


def _points(
    plot: Plot, groups: Mapping[tuple[str, Value], Sequence[Row]], figure: Figure
) -> list[Point]:
    points = []
    for (series, x), rows in groups.items():
        for measure in plot.measures:
            having = [row for row in rows if _value(row, measure) is not None]
            found = figure((series, x), having, measure) if having else None
            if found is not None:
                part = plot.name_of(measure)
                value, count = found
                count = 0 if having[0].spread else count
                points.append(Point(series, x if plot.x else part, part, value, count))
    return points


def _stack_points(plot: Plot, groups: Mapping[tuple[str, Value], Sequence[Row]]) -> list[Point]:
    points = []
    for (series, x), rows in groups.items():
        count = 0 if rows[0].spread else len(rows)
        total = 0.0
        for measure in plot.measures:
            values = [plot.scale * row.measures[measure] for row in rows if measure in row.measures]
            if not values:
                continue
            middle = statistics.median(values)
            total += middle
            points.append(
                Point(series, x, plot.name_of(measure), Estimate(middle, middle, middle), count)
            )
        if plot.rest:
            having = [row for row in rows if plot.rest in row.measures]
            if having:
                whole, _ = _estimate(having, plot.rest, plot.scale)
                rest = max(0.0, whole.value - total)
                # The interval is that of the whole bar, wherever its top lies.
                found = Estimate(
                    rest, rest + whole.low - whole.value, rest + whole.high - whole.value
                )
                points.append(Point(series, x, REST, found, count))
    return points
