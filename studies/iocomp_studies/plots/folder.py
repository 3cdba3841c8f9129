# SPDX-License-Identifier: BSD-3-Clause
"""Draw all figures of some results into a directory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from iocomp_studies.plots.draw import Drawing, draw
from iocomp_studies.plots.figures import FIGURES
from iocomp_studies.plots.plot import Panel, Plot, panels, variants
from iocomp_studies.results.rows import Row

MOST_VARIANTS = 6
"""The largest number of variants of a figure that are drawn unless all are asked for."""


@dataclass(frozen=True)
class Drawn:
    """One variant of a figure.

    Attributes:
        plot: The figure.
        variant: The choices that are the same for all its points, in words.
        name: The name of its files.
        numbers: The numbers in it.
        drawing: The picture.
    """

    plot: Plot
    variant: str
    name: str
    numbers: list[Panel]
    drawing: Drawing


def draw_figures(
    rows: Sequence[Row], *, every: bool = False, only: Sequence[str] = ()
) -> Iterator[Drawn]:
    """Yield all figures for which there are results.

    Args:
        rows: The results.
        every: All variants of a figure, not only those with the most results.
        only: Ids of figures; all by default.

    Raises:
        ValueError: For an id that does not exist.
    """
    ids = [plot.id for plot in FIGURES]
    unknown = [one for one in only if one not in ids]
    if unknown:
        raise ValueError(f"no figure {', '.join(unknown)}; there are {', '.join(ids)}")
    by_client: dict[object, list[Row]] = {}
    for row in rows:
        by_client.setdefault(row.fields["client"], []).append(row)
    for plot in FIGURES:
        if only and plot.id not in only:
            continue
        mine = [row for client in plot.where["client"] for row in by_client.get(client, ())]
        found = variants(plot, mine)
        for variant in found if every else found[:MOST_VARIANTS]:
            numbers = panels(plot, variant)
            if not numbers:
                continue
            name = plot.id
            if len(found) > 1:
                name += "-" + re.sub(r"[^a-z0-9]+", "-", variant.words.lower()).strip("-")
            drawing = draw(plot, numbers, subtitle=variant.common, prefix=name)
            yield Drawn(plot, variant.words, name, numbers, drawing)


def write_figures(drawn: Sequence[Drawn], folder: Path) -> list[Path]:
    """Write figures as SVG and PNG; return the files."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for one in drawn:
        for suffix, content in (("svg", one.drawing.svg), ("png", one.drawing.png)):
            path = folder / f"{one.name}.{suffix}"
            path.write_bytes(content)
            written.append(path)
    return written
