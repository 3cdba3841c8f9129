# SPDX-License-Identifier: BSD-3-Clause
"""Results as rows for figures: what was varied, and what came out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from iocomp_studies.plan.cell import NOT_USED
from iocomp_studies.results.lines import Record

NO_OUTPUT = "no output"
SYNCHRONOUS = "synchronous"
Value = str | int | float | bool


@dataclass(slots=True)
class Row:
    """One result that counts.

    Attributes:
        fields: What was varied: those of a cell, and `source` and `way`.
        measures: "seconds.wall", "values.gib_per_second" and so on.
        spread: One standard deviation by measure; published means have it, our own results do not.
        round: Results of one round of one source belong together.
    """

    fields: dict[str, Value]
    measures: dict[str, float]
    spread: dict[str, float] = field(default_factory=dict)
    round: int = 0


def way_of(cell: Mapping[str, Any]) -> str:
    """Return in which way a cell writes, as figures call it."""
    output = cell.get("output", "async")
    if output == "none":
        return NO_OUTPUT
    if output == "sync":
        return SYNCHRONOUS
    if cell.get("mapping", "sequential") == "sequential":
        return "kernel"
    mapping = str(cell["mapping"])
    return f"{mapping}, idle" if output == "idle" else mapping


def row_of(record: Record) -> Row:
    """Return the row of a result."""
    cell = record["cell"]
    fields: dict[str, Value] = {
        name: value for name, value in cell.items() if isinstance(value, str | int | float | bool)
    }
    fields["arguments"] = " ".join(cell.get("arguments", ()))
    settings: Mapping[str, str] = cell.get("settings", {})
    fields["settings"] = ", ".join(f"{k} = {v}" for k, v in sorted(settings.items()))
    fields["way"] = way_of(cell)
    if fields["way"] == "kernel":  # says the transport already
        fields["transport"] = NOT_USED
    fields["source"] = record.get("source") or str(record.get("host", {}).get("name", "here"))
    measures = {f"seconds.{name}": value for name, value in record.get("seconds", {}).items()}
    measures |= {f"values.{name}": value for name, value in record.get("values", {}).items()}
    return Row(fields, measures, record.get("spread", {}), int(record.get("round", 0)))


def rows_of(records: Iterable[Record]) -> list[Row]:
    """Return the rows of those results that count: nothing is marked, and it was no warm-up."""
    return [
        row_of(record)
        for record in records
        if not record.get("marks") and int(record.get("round", 0)) >= 0
    ]
