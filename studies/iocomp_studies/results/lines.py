# SPDX-License-Identifier: BSD-3-Clause
"""Results as lines of JSON: written one by one, and read whatever happened to the file."""

from __future__ import annotations

import fcntl
import json
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from iocomp_studies.plan.cell import Cell
from iocomp_studies.results.identity import identity_of

FORMAT = "iocomp-study-1"
"""The value of `format` in each line of ours."""

Record = dict[str, Any]


class InUseError(OSError):
    """Another program appends to the file; the text names it."""


class Writer:
    """Appends results to a file; what was written stays whatever comes after it."""

    def __init__(self, path: Path) -> None:
        """Open the file, which need not exist; a torn last line is closed first.

        Raises:
            InUseError: If another program has it open.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise InUseError(f"{path}: another run writes its results there now") from None
        except OSError:  # a file system without locks
            pass
        if self._file.tell() > 0:
            self._file.seek(-1, 2)
            if self._file.read(1) != b"\n":
                self._file.write(b"\n")

    def __enter__(self) -> Writer:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self._file.close()

    def write(self, record: Record) -> None:
        """Append one result, in one write."""
        line = json.dumps({"format": FORMAT, **record}, separators=(",", ":"), allow_nan=False)
        self._file.write(line.encode() + b"\n")
        self._file.flush()


def is_good(record: Record) -> bool:
    """Return whether a result counts: nothing is marked, and it was no warm-up."""
    return not record.get("marks") and int(record.get("round", 0)) >= 0


def _complaint(record: object) -> str:
    """Return why a line is not a result of ours, or nothing."""
    if not isinstance(record, dict):
        return "foreign: no JSON object"
    if record.get("format") != FORMAT:
        return f"foreign: format is {record.get('format')!r}, not {FORMAT!r}"
    try:
        Cell.of_record(record.get("cell", {}))
    except (ValueError, AttributeError, TypeError) as error:
        return f"foreign: {error}"
    if type(record.get("round", 0)) is not int:
        return f"foreign: round is {record['round']!r}, no number"
    for name in ("seconds", "values", "spread"):
        table = record.get(name, {})
        if not isinstance(table, dict) or not all(
            isinstance(value, int | float) for value in table.values()
        ):
            return f"foreign: {name} is no table of numbers"
        if not math.isfinite(sum(table.values())):
            return f"foreign: {name} has a value that is no number"
    for name in ("host", "versions", "trace", "mapping", "topology"):
        if not isinstance(record.get(name, {}), dict):
            return f"foreign: {name} is no table"
    if is_good(record) and "wall" not in record.get("seconds", {}):
        return "foreign: it has no wall time"
    return ""


def read_lines(paths: Iterable[Path]) -> tuple[list[Record], list[str]]:
    """Read results, and skip what is none.

    Returns:
        The results in the order of the files, and one complaint for each line that was skipped:
        "FILE:LINE: torn: …", "FILE:LINE: foreign: …" or "FILE:LINE: twice: …".

    Raises:
        OSError: If a file cannot be read.
    """
    records: list[Record] = []
    complaints: list[str] = []
    seen: set[tuple[Any, ...]] = set()
    for path in paths:
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                try:
                    record = json.loads(line)
                except ValueError:
                    what = "torn: the line ends too early or is damaged"
                    complaints.append(f"{path}:{number}: {what}")
                    continue
                complaint = _complaint(record)
                if not complaint and is_good(record):
                    cell = record.get("key") or json.dumps(record["cell"], sort_keys=True)
                    one = identity_of(record), record.get("study"), cell, record.get("round")
                    complaint = "twice: another line has a result of this round" if one in seen else ""
                    seen.add(one)
                if complaint:
                    complaints.append(f"{path}:{number}: {complaint}")
                else:
                    records.append(record)
    return records, complaints


def result_files(places: Sequence[Path]) -> list[Path]:
    """Return the files of results in some directories, or the files themselves, in order.

    Raises:
        FileNotFoundError: If a place is not there, or has none.
    """
    found: list[Path] = []
    for place in places:
        if place.is_file():
            found.append(place)
            continue
        inside = sorted(place.glob("*.jsonl"))
        if not inside:
            raise FileNotFoundError(f"{place}: no results (*.jsonl) there")
        found += inside
    return found
