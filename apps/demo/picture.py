# SPDX-License-Identifier: BSD-3-Clause
"""The picture of the demonstration."""

from __future__ import annotations

from pathlib import Path

from iocomp_studies.plots.draw import draw as draw_plot
from iocomp_studies.plots.plot import Panel, Plot, Point
from iocomp_studies.results.rows import NO_OUTPUT
from iocomp_studies.statistics import Estimate
from summary import Row
from ways import SYNCHRONOUS, Size

WIDTH_INCHES = 7.5
SHORT_LABELS = {
    "by the kernel, no server": "kernel",
    "server on the other core": "server, other core",
    "server on the same core": "server, same core",
}
COMPUTING = "computing"
PLOT = Plot(
    "demo",
    "STREAM, 1 compute rank",
    "stack",
    ("compute", "rest"),
    "wall time until all is durable, s",
    x="backend",
    names={"rest": "waiting for output"},
)


def _points(row: Row, place: str, count: int) -> list[Point]:
    """Return both parts of a bar; its interval reaches from the least to the most wall time."""
    series = SHORT_LABELS.get(row.way, row.way)
    compute = row.compute_seconds
    inside = max(0.0, row.wall_seconds - compute)
    rest = Estimate(
        inside,
        inside + row.wall_least_seconds - row.wall_seconds,
        inside + row.wall_most_seconds - row.wall_seconds,
    )
    return [
        Point(series, place, COMPUTING, Estimate(compute, compute, compute), count),
        Point(series, place, "waiting for output", rest, count),
    ]


def panel_of(rows: list[Row], count: int) -> Panel:
    """Return the numbers of the picture: no output stands on its own."""
    points = [p for row in rows for p in _points(row, row.backend or NO_OUTPUT, count)]
    return Panel("", points)


def draw(rows: list[Row], size: Size, rounds: int, path: Path, *, noisy: bool) -> None:
    """Draw stacked bars of the wall time by back-end and way into a PNG file.

    Args:
        rows: What they show.
        size: Of the runs.
        rounds: That were made.
        path: Of the file.
        noisy: Whether the parts that were hidden are left out, because they are not known.
    """
    notes = {}
    for row in rows:
        text = f"{row.wall_seconds:.2f} s"
        if row.hidden and not noisy:
            text += f"\nhidden\n{100 * row.hidden.value:.0f} %"
        notes[SHORT_LABELS.get(row.way, row.way), row.backend or NO_OUTPUT] = text
    writing = -(-size.loops // size.write_every)
    words = [
        f"{size.bytes_written() / 2**30:.2f} GiB written in {writing} of {size.loops} loops",
        f"medians of {rounds} interleaved runs, bars from least to most",
        "dashed: no output",
    ]
    if not noisy:
        words.append(f"hidden: compared with {SYNCHRONOUS.label}")
    drawing = draw_plot(
        PLOT,
        [panel_of(rows, rounds)],
        subtitle="; ".join(words),
        reference=rows[0].wall_seconds,
        notes=notes,
        width_inches=WIDTH_INCHES,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(drawing.png)
