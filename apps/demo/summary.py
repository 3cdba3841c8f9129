# SPDX-License-Identifier: BSD-3-Clause
"""From samples to the figures that the demonstration shows."""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass
from typing import Any

from iocomp_studies.hidden import hidden_part
from iocomp_studies.rounds import Rounds
from iocomp_studies.statistics import Estimate, estimate
from iocomp_studies.table import percent_text, seconds_text, table
from ways import (
    BACKENDS,
    CONSECUTIVE,
    KERNEL,
    OVERSUBSCRIBE,
    PLAIN,
    SYNCHRONOUS,
    WAYS,
    Size,
    method_name,
)

WALL = "wall_until_durable_seconds"
COMPUTE = "compute_seconds"
INSIDE = "inside_iocomp_seconds"


@dataclass(frozen=True)
class Row:
    """One way of writing, as docs/metrics.md defines its figures; times are medians in seconds."""

    backend: str
    way: str
    wall_seconds: float
    wall_least_seconds: float
    wall_most_seconds: float
    compute_seconds: float
    inside_iocomp_seconds: float
    exposed_seconds: float
    compute_ratio: float
    hidden: Estimate | None

    def record(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return asdict(self)


def _hidden(rounds: Rounds, method: str, synchronous: str) -> Estimate:
    walls = rounds.values(WALL, (PLAIN, synchronous, method))
    return estimate(walls, lambda m: hidden_part(m[synchronous] - m[PLAIN], m[method] - m[PLAIN]))


def _row(rounds: Rounds, backend: str, way: str, method: str, hidden: Estimate | None) -> Row:
    def median(key: str, of: str = method) -> float:
        return statistics.median(float(result[key]) for result in rounds.results[of])

    walls = [float(result[WALL]) for result in rounds.results[method]]
    return Row(
        backend=backend,
        way=way,
        wall_seconds=median(WALL),
        wall_least_seconds=min(walls),
        wall_most_seconds=max(walls),
        compute_seconds=median(COMPUTE),
        inside_iocomp_seconds=median(INSIDE),
        exposed_seconds=median(WALL) - median(WALL, PLAIN),
        compute_ratio=median(COMPUTE) / median(COMPUTE, PLAIN),
        hidden=hidden,
    )


def rows_of(rounds: Rounds) -> list[Row]:
    """Return all rows: no output first, then by back-end."""
    rows = [_row(rounds, "", PLAIN, PLAIN, None)]
    for backend in BACKENDS:
        synchronous = method_name(backend, SYNCHRONOUS)
        for way in WAYS:
            method = method_name(backend, way)
            hidden = None if way is SYNCHRONOUS else _hidden(rounds, method, synchronous)
            rows.append(_row(rounds, backend, way.label, method, hidden))
    return rows


def text_table(rows: list[Row]) -> str:
    """Return the table for the terminal."""
    head = (
        "output",
        "wall until durable",
        "least - most",
        "compute",
        "inside iocomp",
        "hidden (95 %)",
        "compute / plain",
    )

    def cells(row: Row) -> tuple[str, ...]:
        hidden = ""
        if row.hidden:
            low, high = (f"{100 * end:.0f}" for end in (row.hidden.low, row.hidden.high))
            hidden = f"{percent_text(row.hidden.value)} ({low} to {high})"
        return (
            f"{row.backend}, {row.way}" if row.backend else row.way,
            f"{seconds_text(row.wall_seconds)} s",
            f"{seconds_text(row.wall_least_seconds)} - {seconds_text(row.wall_most_seconds)} s",
            f"{seconds_text(row.compute_seconds)} s",
            f"{seconds_text(row.inside_iocomp_seconds)} s" if row.backend else "",
            hidden,
            f"{row.compute_ratio:.2f}",
        )

    return table(head, [cells(row) for row in rows])


def is_too_noisy(rows: list[Row]) -> bool:
    """Return whether of no way it can be said that it hid something, or that it took longer."""
    known = [row.hidden for row in rows if row.hidden]
    return not any(hidden.low > 0 or hidden.high < 0 for hidden in known)


def _gain(rows: list[Row], way: str) -> str:
    """Say what one asynchronous way hid, back-end by back-end."""
    parts = []
    for row in rows:
        if row.way != way or row.hidden is None:
            continue
        gain = "nothing that stands out from the noise"
        if row.hidden.low > 0:
            gain = percent_text(row.hidden.value)
        elif row.hidden.high < 0:
            gain = "nothing, it took longer"
        parts.append(f"{gain} ({row.backend})")
    return ", ".join(parts)


def _longer(row: Row) -> str:
    """Say what output added to the wall time."""
    seconds = row.exposed_seconds
    return f"{abs(seconds):.2f} s {'longer' if seconds >= 0 else 'shorter'}"


def sentence(rows: list[Row], size: Size) -> str:
    """Say in one sentence what was gained, or that nothing was."""
    by_name = {(row.backend, row.way): row for row in rows}
    synchronous = by_name["posix", SYNCHRONOUS.label]
    asynchronous = by_name["posix", KERNEL.label]
    written = f"{size.bytes_written() / 2**30:.2f} GiB"
    if is_too_noisy(rows):
        return (
            f"Writing {written} made this run {_longer(synchronous)} synchronously and "
            f"{_longer(asynchronous)} by the kernel (posix), but the machine is too noisy to say "
            "what was hidden: run it again when nothing else runs."
        )
    return (
        f"Writing {written} made this run {_longer(synchronous)} synchronously and "
        f"{_longer(asynchronous)} by the kernel (posix); of the time that output costs, the kernel "
        f"hid {_gain(rows, KERNEL.label)}, a server on the other core "
        f"{_gain(rows, CONSECUTIVE.label)}, one on the same core "
        f"{_gain(rows, OVERSUBSCRIBE.label)}."
    )
