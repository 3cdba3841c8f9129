"""The picture of the demonstration."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from summary import Row
from ways import BACKENDS, SYNCHRONOUS, WAYS, Size

# Told apart by people with any colour vision, and in grey.
COMPUTE_COLOUR = "#4477aa"
INSIDE_COLOUR = "#ee6677"
SHORT_LABELS = ("sync", "kernel", "server,\nother\ncore", "server,\nsame\ncore")


def positions() -> tuple[float, dict[str, list[float]]]:
    """Return where the bars stand: that of no output, and those of each back-end."""
    groups = {
        backend: [1.8 + i * (len(WAYS) + 0.8) + j for j in range(len(WAYS))]
        for i, backend in enumerate(BACKENDS)
    }
    return 0.0, groups


def _bar(axes: Axes, x: float, row: Row, top: float) -> None:
    inside = row.wall_seconds - row.compute_seconds
    axes.bar(x, row.compute_seconds, 0.8, color=COMPUTE_COLOUR)
    axes.bar(x, inside, 0.8, bottom=row.compute_seconds, color=INSIDE_COLOUR)
    spread = [
        [row.wall_seconds - row.wall_least_seconds],
        [row.wall_most_seconds - row.wall_seconds],
    ]
    axes.errorbar(x, row.wall_seconds, yerr=spread, color="black", capsize=3, linewidth=1)
    text = f"{row.wall_seconds:.2f} s"
    if row.hidden:
        text += f"\nhidden\n{100 * row.hidden.value:.0f} %"
    axes.text(x, row.wall_most_seconds + 0.02 * top, text, ha="center", va="bottom", fontsize=9)


def draw(rows: list[Row], size: Size, rounds: int, path: Path) -> None:
    """Draw stacked bars of the wall time by back-end and way into a PNG file."""
    figure, axes = plt.subplots(figsize=(13, 5.5))
    top = max(row.wall_most_seconds for row in rows)
    plain_x, groups = positions()
    plain = rows[0]
    _bar(axes, plain_x, plain, top)
    ticks, labels = [plain_x], ["no\noutput"]
    for backend, places in groups.items():
        mine = [row for row in rows if row.backend == backend]
        for x, row, label in zip(places, mine, SHORT_LABELS, strict=True):
            _bar(axes, x, row, top)
            ticks.append(x)
            labels.append(label)
        centre = sum(places) / len(places)
        axes.text(centre, -0.2, backend, ha="center", va="top", fontsize=12, weight="bold",
                  transform=axes.get_xaxis_transform())  # fmt: skip
    axes.axhline(plain.wall_seconds, color="black", linestyle="--", linewidth=0.8, zorder=0)
    axes.bar(0, 0, color=COMPUTE_COLOUR, label="computing")
    axes.bar(0, 0, color=INSIDE_COLOUR, label="waiting for output (all else until durable)")
    axes.set_xticks(ticks, labels)
    axes.set_ylim(0, 1.25 * top)
    axes.set_ylabel("wall time until all is durable, seconds")
    axes.set_title(
        f"STREAM, 1 compute rank, {size.bytes_written() / 2**30:.2f} GiB written in "
        f"{-(-size.loops // size.write_every)} of {size.loops} loops\n"
        f"medians of {rounds} interleaved runs, bars from least to most; "
        f"dashed: no output; hidden: compared with {SYNCHRONOUS.label}",
        fontsize=10,
    )
    axes.legend(loc="upper left", ncols=2, frameon=False, fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(axis="x", length=0)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
    plt.close(figure)
