# SPDX-License-Identifier: BSD-3-Clause
"""The computation of the demonstration's figures from samples."""

from __future__ import annotations

import math
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
    LEFT_ALONE,
    OVERSUBSCRIBE,
    OVERWRITTEN,
    PLAIN,
    PROGRAMS,
    SYNCHRONOUS,
    Program,
    Size,
    method_name,
)

WALL = "wall_until_durable_seconds"
COMPUTE = "compute_seconds"
INSIDE = "inside_iocomp_seconds"


@dataclass(frozen=True)
class Row:
    """One way of writing: see docs/developers/benchmark_figures.md. Times are median seconds."""

    program: str
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


def _hidden(rounds: Rounds, method: str, synchronous: str, plain: str) -> Estimate | None:
    """Return the hidden part; None if synchronous output may cost nothing, as the noise is."""
    walls = rounds.values(WALL, (plain, synchronous, method))
    found = estimate(
        walls, lambda m: hidden_part(m[synchronous] - m[plain], m[method] - m[plain])
    )
    return None if math.isnan(found.value + found.low + found.high) else found


def _row(
    rounds: Rounds,
    program: Program,
    backend: str,
    way: str,
    method: str,
    hidden: Estimate | None,
) -> Row:
    plain = method_name(program)

    def median(key: str, of: str = method) -> float:
        return statistics.median(float(result[key]) for result in rounds.results[of])

    walls = [float(result[WALL]) for result in rounds.results[method]]
    return Row(
        program=program.label,
        backend=backend,
        way=way,
        wall_seconds=median(WALL),
        wall_least_seconds=min(walls),
        wall_most_seconds=max(walls),
        compute_seconds=median(COMPUTE),
        inside_iocomp_seconds=median(INSIDE),
        exposed_seconds=median(WALL) - median(WALL, plain),
        compute_ratio=median(COMPUTE) / median(COMPUTE, plain),
        hidden=hidden,
    )


def rows_of(rounds: Rounds) -> list[Row]:
    """Return all rows by program: no output first, then by back-end."""
    rows = []
    for program in PROGRAMS:
        plain = method_name(program)
        rows.append(_row(rounds, program, "", PLAIN, plain, None))
        for backend in BACKENDS:
            synchronous = method_name(program, backend, SYNCHRONOUS)
            for way in program.ways:
                method = method_name(program, backend, way)
                hidden = None
                if way is not SYNCHRONOUS:
                    hidden = _hidden(rounds, method, synchronous, plain)
                rows.append(_row(rounds, program, backend, way.label, method, hidden))
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
        hidden = "not known" if row.backend and row.way != SYNCHRONOUS.label else ""
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

    parts = []
    for program in PROGRAMS:
        lines = [cells(row) for row in rows if row.program == program.label]
        parts.append(f"{program.title}\n\n{table(head, lines)}")
    return "\n\n".join(parts)


def is_too_noisy(rows: list[Row]) -> bool:
    """Return whether of no way it can be said that it hid something, or that it took longer."""
    known = [row.hidden for row in rows if row.hidden]
    return not any(hidden.low > 0 or hidden.high < 0 for hidden in known)


def _gain(rows: list[Row], program: Program, way: str) -> str:
    """Say what one asynchronous way hid, back-end by back-end."""
    parts = []
    for row in rows:
        if (row.program, row.way) != (program.label, way):
            continue
        gain = "nothing that stands out from the noise"
        if row.hidden and row.hidden.low > 0:
            gain = percent_text(row.hidden.value)
        elif row.hidden and row.hidden.high < 0:
            gain = "nothing, it took longer"
        parts.append(f"{gain} ({row.backend})")
    return ", ".join(parts)


def _longer(row: Row) -> str:
    """Say what output added to the wall time."""
    seconds = row.exposed_seconds
    return f"{abs(seconds):.2f} s {'longer' if seconds >= 0 else 'shorter'}"


def sentence(rows: list[Row], size: Size) -> str:
    """Say in a few sentences what was gained, or that nothing was."""
    by_name = {(row.program, row.backend, row.way): row for row in rows}
    synchronous = by_name[LEFT_ALONE.label, "posix", SYNCHRONOUS.label]
    kernel = by_name[LEFT_ALONE.label, "posix", KERNEL.label]
    written = f"{size.bytes_written(LEFT_ALONE) / 2**30:.2f} GiB"
    begin = (
        f"Where arrays are left alone, writing {written} made the run {_longer(synchronous)} "
        f"synchronously and {_longer(kernel)} by the kernel, which is the default (posix)"
    )
    if is_too_noisy(rows):
        return (
            f"{begin}, but the machine is too noisy to say what was hidden: run it again when "
            "nothing else runs."
        )
    return (
        f"{begin}. The kernel hid {_gain(rows, LEFT_ALONE, KERNEL.label)} of the time that output "
        "costs. Where arrays are overwritten one kernel later, it hid "
        f"{_gain(rows, OVERWRITTEN, KERNEL.label)}, a server on the other core "
        f"{_gain(rows, OVERWRITTEN, CONSECUTIVE.label)}, one on the same core "
        f"{_gain(rows, OVERWRITTEN, OVERSUBSCRIBE.label)}."
    )
