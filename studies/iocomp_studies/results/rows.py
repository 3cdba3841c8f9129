# SPDX-License-Identifier: BSD-3-Clause
"""Results as rows for figures: what was varied, and what came out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from iocomp_studies.plan.cell import NOT_USED
from iocomp_studies.results.identity import identity_of, source_names
from iocomp_studies.results.lines import Record, is_good

NO_OUTPUT = "no output"
SYNCHRONOUS = "synchronous"
Value = str | int | float | bool


@dataclass(slots=True)
class Row:
    """One result that counts.

    Attributes:
        fields: The choices: those of a cell, and `source` and `way`.
        measures: "seconds.wall", "values.gib_per_second" and so on.
        spread: One standard deviation by measure; published means have it, our own results do not.
        round: Results of one round of one study and source belong together.
        runs: The number of runs behind it: more than one behind a published mean.
    """

    fields: dict[str, Value]
    measures: dict[str, float]
    spread: dict[str, float] = field(default_factory=dict)
    round: int = 0
    runs: int = 1
    study: str = ""

    def together(self) -> tuple[str, int]:
        """Return what those results of a source share that belong together."""
        return self.study, self.round


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


def _fields_of(record: Record, source: str) -> dict[str, Value]:
    """Return what was varied, of a result."""
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
    fields["source"] = source
    return fields


def _row_of(record: Record, fields: dict[str, Value]) -> Row:
    measures = {f"seconds.{name}": value for name, value in record.get("seconds", {}).items()}
    measures |= {f"values.{name}": value for name, value in record.get("values", {}).items()}
    return Row(
        fields,
        measures,
        record.get("spread", {}),
        int(record.get("round", 0)),
        int(record.get("runs", 1)),
        str(record.get("study", "")),
    )


def rows_of(records: Iterable[Record]) -> list[Row]:
    """Return the rows of those results that count: nothing is marked, and it was no warm-up.

    Results of one machine, but of different builds or file systems, are of different sources.
    Results of one cell share their fields, so that what looks at many rows looks at few cells.
    """
    records = list(records)
    names = source_names(records)
    known: dict[str, dict[str, Value]] = {}
    rows = []
    for record in records:
        if not is_good(record):
            continue
        source = names[identity_of(record)]
        key = f"{record['cell']}{source}"
        if key not in known:
            known[key] = _fields_of(record, source)
        rows.append(_row_of(record, known[key]))
    return rows
