# SPDX-License-Identifier: BSD-3-Clause
"""The one function that draws."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import ScaledTranslation

from iocomp_studies.plots.plot import REST, Panel, Plot, Point
from iocomp_studies.results.rows import NO_OUTPUT, SYNCHRONOUS

WIDTH_INCHES = 3.5
"""A column of a page."""
_HEIGHT_INCHES = 2.2
_FEW_BARS = 9
"""More have names that stand upright."""
_FEW_GROUPS = 4
_PALE = 0.35
"""The opacity of what is not emphasised."""
_CONTEXT = {
    "font.family": "DejaVu Sans",
    "font.size": 7.5,
    "axes.titlesize": 7.5,
    "axes.labelsize": 7.5,
    "legend.fontsize": 6.5,
    "svg.fonttype": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.2,
}
# Okabe and Ito (2008): told apart with any colour vision. Markers and hatches say the same.
_COLOURS = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999",
)  # fmt: skip
_MARKERS = "osD^vPX*"
# Hatches have straight lines: each circle of a dotted pattern takes a hundred bytes.
_HATCHES = ("", "////", "||||", "xxxx", "\\\\", "++++", "//", "----")
_FIXED = {
    NO_OUTPUT: 7, SYNCHRONOUS: 5, "kernel": 0, "consecutive": 2, "hyperthread": 3,
    "oversubscribe": 1, "computing": 0, "waiting": 1, "handing over": 2, "opening": 3,
    "closing": 4, "finishing": 4, REST: 7,
}  # fmt: skip
"""The same series has the same colour in every figure."""


@dataclass(frozen=True)
class Drawing:
    """A figure that was drawn.

    Attributes:
        svg: The picture; each point has the id `PREFIX-NUMBER` of `points`.
        png: The same as pixels.
        points: The text and the series of each point, by number.
    """

    svg: bytes
    png: bytes
    points: tuple[tuple[str, str], ...]


class _Styles:
    """Gives each series a colour, a marker and a hatch of its own."""

    def __init__(self, names: Sequence[str]) -> None:
        self._numbers: dict[str, int] = {}
        for name in names:
            wanted = _FIXED.get(name)
            if wanted is not None and wanted not in self._numbers.values():
                self._numbers[name] = wanted
        for name in names:
            if name not in self._numbers:
                free = (n for n in range(1000) if n not in self._numbers.values())
                self._numbers[name] = next(free)

    def colour(self, name: str) -> str:
        return _COLOURS[self._numbers[name] % len(_COLOURS)]

    def marker(self, name: str) -> str:
        return _MARKERS[self._numbers[name] % len(_MARKERS)]

    def hatch(self, name: str) -> str:
        return _HATCHES[self._numbers[name] % len(_HATCHES)]


class _Ids:
    """Numbers the points of a drawing."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self.points: list[tuple[str, str]] = []

    def take(self, text: str, series: str) -> str:
        self.points.append((text, series))
        return f"{self._prefix}-{len(self.points) - 1}"


def _number(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"


def _told(plot: Plot, panel: Panel, point: Point) -> str:
    """Return what a reader is told who points at a point."""
    low, high = _number(point.found.low), _number(point.found.high)
    words = [panel.title, point.series]
    words += [f"{plot.x} {point.x}"] if plot.x else []
    words += [point.part] if len(plot.measures) > 1 or plot.kind == "stack" else []
    made = f"{point.count} results" if point.count else "published mean"
    what = plot.label + (f" ({panel.below})" if panel.below else "")
    return f"{', '.join(words)}: {_number(point.found.value)} ({low} to {high}); {what}; {made}"


def draw(
    plot: Plot,
    panels: Sequence[Panel],
    *,
    subtitle: str = "",
    prefix: str = "",
    width_inches: float = WIDTH_INCHES,
) -> Drawing:
    """Draw a figure, one panel above the other.

    The same numbers give the same bytes.

    Args:
        plot: The figure.
        panels: Its numbers.
        subtitle: The line under the title: what is the same for all points.
        prefix: The beginning of the ids of points; the id of the plot by default.
        width_inches: The width of the figure.

    Raises:
        ValueError: If there is no point.
    """
    if not any(panel.points for panel in panels):
        raise ValueError(f"{plot.id}: there is nothing to draw")
    ids = _Ids(prefix or plot.id)
    salt = {"svg.hashsalt": prefix or plot.id}
    with plt.rc_context({**_CONTEXT, **salt}):
        figure, all_axes = plt.subplots(
            len(panels),
            1,
            squeeze=False,
            figsize=(width_inches, _HEIGHT_INCHES * len(panels) + 0.5),
        )
        for axes, panel in zip(all_axes[:, 0], panels, strict=True):
            if plot.kind == "lines" and len(panel.places()) > 1:
                _draw_lines(axes, plot, panel, ids)
            elif plot.kind == "stack":
                _draw_stack(axes, plot, panel, ids)
            else:
                _draw_bars(axes, plot, panel, ids)
            _finish(axes, plot, panel)
        _legends(figure)
        _head(figure, plot.title, subtitle)
        drawing = Drawing(_saved(figure, "svg"), _saved(figure, "png"), tuple(ids.points))
        plt.close(figure)
    return drawing


def _legends(figure: Figure) -> None:
    """Put a legend under each panel, below its labels, and make room for it."""
    rows = 0
    for axes in figure.axes:
        names = [name for name in axes.get_legend_handles_labels()[1] if name]
        if len(names) < 2:
            continue
        columns = 2 if max(map(len, names)) > 14 else 3
        rows += -(-len(names) // columns)
        renderer = figure.canvas.get_renderer()
        box = axes.xaxis.get_tightbbox(renderer)
        depth = (axes.bbox.y0 - box.y0) / figure.dpi if box else 0.0
        under = axes.transAxes + ScaledTranslation(0, -depth - 0.03, figure.dpi_scale_trans)
        axes.legend(
            frameon=False, ncols=columns, loc="upper center", bbox_to_anchor=(0.45, 0.0),
            bbox_transform=under, columnspacing=1.0, handlelength=1.6, borderaxespad=0.0,
            labelspacing=0.25,
        )  # fmt: skip
    figure.set_figheight(figure.get_figheight() + 0.14 * rows)


def _wrapped(text: str, width_inches: float) -> str:
    return "\n".join(textwrap.wrap(text, int(width_inches * 18)))


def _head(figure: Figure, title: str, subtitle: str) -> None:
    """Write the title above all panels, and give them the rest of the room."""
    width = float(figure.get_figwidth())
    text = "\n".join(_wrapped(one, width) for one in (title, subtitle) if one)
    figure.suptitle(text, fontsize=7.5, x=0.01, y=0.995, ha="left", va="top")
    figure.tight_layout(pad=0.4, h_pad=1.0)


def _saved(figure: Figure, form: str) -> bytes:
    out = io.BytesIO()
    nothing: dict[str, Any] = (
        {"Date": None, "Creator": None} if form == "svg" else {"Software": None}
    )
    figure.savefig(out, format=form, dpi=200, metadata=nothing)
    return out.getvalue()


def _finish(axes: Axes, plot: Plot, panel: Panel) -> None:
    """Set what all kinds of figures have in common."""
    label = plot.label
    if panel.below and panel.below != NO_OUTPUT:
        label = label.replace("that without output", f"that of {panel.below}")
    axes.margins(y=0.12)
    axes.set_ylabel(label)
    if plot.logarithmic:
        axes.set_yscale("log")
    elif not plot.over:
        axes.set_ylim(bottom=0)
    line = 1.0 if plot.over and panel.reference is None else panel.reference
    if line is not None:
        axes.axhline(line, color="black", linestyle="--", linewidth=0.7, zorder=1)
    if panel.title:
        title = _wrapped(panel.title, float(axes.figure.get_figwidth()))
        axes.set_title(title, loc="left", pad=3, fontsize=6.5)
    axes.grid(axis="y", color="#dddddd", linewidth=0.4, zorder=0)
    axes.set_axisbelow(True)


def _bars_of(point: Point) -> list[list[float]]:
    """Return how far the interval reaches below and above the value."""
    found = point.found
    return [[max(0.0, found.value - found.low)], [max(0.0, found.high - found.value)]]


def _error_bar(
    axes: Axes, x: float, point: Point, ids: _Ids, *, y: float | None = None, colour: str = "black"
) -> None:
    """Draw the interval of a point; it belongs to the series of the point."""
    bar = axes.errorbar(
        [x], [point.found.value if y is None else y], yerr=_bars_of(point), color=colour,
        fmt="none", linewidth=0.7, capsize=1.8, capthick=0.7, zorder=4,
    )  # fmt: skip
    for part in bar.get_children():
        part.set_gid(ids.take("", point.series))


def _draw_lines(axes: Axes, plot: Plot, panel: Panel, ids: _Ids) -> None:
    styles = _Styles(panel.series())
    for series in panel.series():
        points = sorted((p for p in panel.points if p.series == series), key=lambda p: float(p.x))
        colour, marker = styles.colour(series), styles.marker(series)
        dashed = "--" if "progress calls" in series else "-"
        xs, ys = [float(p.x) for p in points], [p.found.value for p in points]
        (line,) = axes.plot(xs, ys, dashed, color=colour, zorder=2)
        line.set_gid(ids.take("", series))
        axes.plot([], [], dashed, color=colour, marker=marker, markersize=3.5, label=series)
        for point in points:
            _error_bar(axes, float(point.x), point, ids, colour=colour)
            (dot,) = axes.plot(
                [float(point.x)], [point.found.value], marker, color=colour, markersize=3.5,
                zorder=3,
            )  # fmt: skip
            dot.set_gid(ids.take(_told(plot, panel, point), series))
    places = [float(x) for x in panel.places()]
    if min(places) > 0 and max(places) > 8 * min(places):
        axes.set_xscale("log", base=2)
    axes.set_xticks(places, [f"{x:g}" for x in places])
    axes.minorticks_off()
    axes.set_xlabel(_axis_name(plot.x), labelpad=1)


def _axis_name(x: str) -> str:
    unnamed = ("", "backend", "client")
    return {"ranks": "compute ranks", "nodes": "nodes"}.get(x, "" if x in unnamed else x)


def _draw_bars(axes: Axes, plot: Plot, panel: Panel, ids: _Ids) -> None:
    names, places = panel.series(), panel.places()
    styles = _Styles(names)
    width = 0.84 / len(names)
    for number, series in enumerate(names):
        named = series
        alpha = _PALE if plot.emphasised and series not in plot.emphasised else 1.0
        for point in (p for p in panel.points if p.series == series):
            x = places.index(point.x) + (number - (len(names) - 1) / 2) * width
            bars = axes.bar(
                x, point.found.value, width * 0.94, color=styles.colour(series),
                hatch=styles.hatch(series), edgecolor="white", linewidth=0, label=named, zorder=2,
                alpha=alpha,
            )  # fmt: skip
            named = "_"  # once in the legend
            bars[0].set_gid(ids.take(_told(plot, panel, point), series))
            _error_bar(axes, x, point, ids)
            _note(axes, x, point.found.high, panel.notes.get((series, point.x)))
    axes.set_xticks(range(len(places)), [str(place) for place in places])
    axes.tick_params(axis="x", length=0)
    axes.set_xlabel(_axis_name(plot.x), labelpad=1)


def _note(axes: Axes, x: float, y: float, text: str | None) -> None:
    if text:
        axes.annotate(
            text, (x, y), xytext=(0, 2), textcoords="offset points", ha="center", va="bottom",
            fontsize=6,
        )  # fmt: skip


def _draw_stack(axes: Axes, plot: Plot, panel: Panel, ids: _Ids) -> None:
    names, places, parts = panel.series(), panel.places(), panel.parts()
    styles = _Styles(parts)
    ticks: list[float] = []
    labels: list[str] = []
    at = 0.0
    labelled: set[str] = set()
    for place in places:
        begin = at
        for series in names:
            mine = [p for p in panel.points if p.series == series and p.x == place]
            if not mine:
                continue
            bottom = 0.0
            for point in sorted(mine, key=lambda p: parts.index(p.part)):
                bars = axes.bar(
                    at, point.found.value, 0.8, bottom=bottom, color=styles.colour(point.part),
                    hatch=styles.hatch(point.part), edgecolor="white", linewidth=0,
                    label="_" if point.part in labelled else point.part, zorder=2,
                )  # fmt: skip
                labelled.add(point.part)
                bars[0].set_gid(ids.take(_told(plot, panel, point), point.part))
                bottom += point.found.value
            last = max(mine, key=lambda p: parts.index(p.part))
            _error_bar(axes, at, last, ids, y=bottom)
            reach = last.found.high - last.found.value
            _note(axes, at, bottom + max(0.0, reach), panel.notes.get((series, place)))
            ticks.append(at)
            labels.append(series.replace(", ", ",\n"))
            at += 1
        if (len(places) > 1 or plot.x != "ranks") and str(place) not in names:
            words = str(place)
            if plot.x == "ranks" and len(places) <= _FEW_GROUPS:
                words += " rank" if place == 1 else " ranks"
            axes.annotate(
                words, ((begin + at - 1) / 2, 1.0), xycoords=("data", "axes fraction"),
                ha="center", va="top", fontsize=6.5,
            )  # fmt: skip
        at += 0.6
    # For the names of the groups, and for notes.
    axes.set_ylim(top=(1.3 if panel.notes else 1.1) * axes.get_ylim()[1])
    if len(ticks) > _FEW_BARS:
        labels = [label.replace("\n", " ") for label in labels]
        axes.set_xticks(ticks, labels, rotation=90, fontsize=5)
    else:
        slanted = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"}
        axes.set_xticks(ticks, labels, fontsize=6.5, **(slanted if len(ticks) > 3 else {}))
    axes.tick_params(axis="x", length=0, pad=1)
