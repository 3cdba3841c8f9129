# SPDX-License-Identifier: BSD-3-Clause
"""The picture of the demonstration."""

from __future__ import annotations

from pathlib import Path

from iocomp_studies.plots.draw import draw as draw_plot
from iocomp_studies.plots.plot import Panel, Plot, Point
from iocomp_studies.results.rows import NO_OUTPUT
from iocomp_studies.statistics import Estimate
from summary import Row
from ways import PROGRAMS, SYNCHRONOUS, Program, Size

WIDTH_INCHES = 7.5
SHORT_LABELS = {
    "by the kernel, no server": "kernel, default",
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


def _note(row: Row, *, noisy: bool) -> str:
    text = f"{row.wall_seconds:.2f} s"
    if row.hidden and not noisy:
        text += f"\nhidden\n{100 * row.hidden.value:.0f} %"
    return text


def panel_of(rows: list[Row], program: Program, size: Size, count: int, *, noisy: bool) -> Panel:
    """Return the numbers of one program: no output stands on its own."""
    own = [row for row in rows if row.program == program.label]
    return Panel(
        f"{program.title}; {size.bytes_written(program) / 2**30:.2f} GiB written",
        [p for row in own for p in _points(row, row.backend or NO_OUTPUT, count)],
        reference=own[0].wall_seconds,
        notes={
            (SHORT_LABELS.get(row.way, row.way), row.backend or NO_OUTPUT): _note(row, noisy=noisy)
            for row in own
        },
    )


def draw(rows: list[Row], size: Size, rounds: int, path: Path, *, noisy: bool) -> None:
    """Draw stacked bars of the wall time by program, back-end and way into a PNG file.

    Args:
        rows: The figures that they show.
        size: The size of the runs.
        rounds: The number of rounds that were made.
        path: The path of the picture.
        noisy: True to leave out the parts that were hidden, because they are not known.
    """
    writing = -(-size.loops // size.write_every)
    words = [
        f"written in {writing} of {size.loops} loops",
        f"medians of {rounds} interleaved runs, bars from least to most",
        "dashed: no output",
    ]
    if not noisy:
        words.append(f"hidden: compared with {SYNCHRONOUS.label}")
    panels = [panel_of(rows, program, size, rounds, noisy=noisy) for program in PROGRAMS]
    drawing = draw_plot(PLOT, panels, subtitle="; ".join(words), width_inches=WIDTH_INCHES)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(drawing.png)
