# SPDX-License-Identifier: BSD-3-Clause
"""Tables for terminals."""

from __future__ import annotations

from collections.abc import Sequence


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return aligned columns: the first to the left, the others to the right."""
    if any(len(row) != len(head) for row in rows):
        raise ValueError(f"every row needs {len(head)} cells")
    widths = [max(len(row[i]) for row in (head, *rows)) for i in range(len(head))]

    def line(cells: Sequence[str]) -> str:
        first = cells[0].ljust(widths[0])
        rest = (cell.rjust(width) for cell, width in zip(cells[1:], widths[1:], strict=True))
        return "  ".join((first, *rest)).rstrip()

    rule = "-" * (sum(widths) + 2 * (len(widths) - 1))
    return "\n".join((line(head), rule, *(line(row) for row in rows)))


def seconds_text(seconds: float) -> str:
    """Return seconds with three digits that matter."""
    return f"{seconds:.3f}" if seconds < 10 else f"{seconds:.2f}"


def percent_text(part: float) -> str:
    """Return a part of one as whole percent."""
    return f"{100 * part:.0f} %"


def counted(number: int, thing: str) -> str:
    """Return a number of things: "1 rank", "2 ranks"."""
    return f"{number} {thing}{'s' if number != 1 else ''}"
