# SPDX-License-Identifier: BSD-3-Clause
"""The published measurements on ARCHER2, as results that stand beside our own.

Source: Bhardwaj, Bartholomew, Parsons: "Hiding I/O using SMT on the ARCHER2 HPE Cray EX system",
CUG 2023; means and standard deviations made from the result files that the authors published.
"""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from iocomp_studies.plan.cell import NOT_USED, Cell
from iocomp_studies.plan.clients import Steps, bytes_of
from iocomp_studies.results.lines import Record

FILE = Path(__file__).resolve().parent / "archer2.csv"
SOURCE = "ARCHER2 (published 2023)"
_LOOPS = "100"
_WRITES = 10
"""The writes of a run of STREAM: its wall times are those of ten times its timers."""
_MATRIX = 27
"""Coefficients for each row of HPCG's matrix."""


def _cell(line: dict[str, str]) -> Cell:
    mapping = line["mapping"].lower()
    every = line["compute_loops_per_write"]
    return Cell(
        client=line["study"],
        output="sync" if mapping == "sequential" else "async",
        mapping=mapping,
        backend=line["backend"].lower().replace("_", "-"),
        transport=NOT_USED,
        ranks=int(line["compute_ranks"]),
        size=f"{float(line['local_size_mib']):g} MiB",
        arguments=("--loops", _LOOPS, "--write-every", every) if every else (),
    )


def loops_of_step(cell: Cell) -> int:
    """Return how many loops of STREAM a published run computes for each step."""
    return int(cell.arguments[-1]) if cell.arguments else 1


def published_steps(cell: Cell) -> Steps:
    """Return what a published run puts. HPCG's timers are those of one set."""
    size = bytes_of(cell.size)
    if cell.client == "hpcg":
        return Steps(1, _MATRIX * size, before_part=0.0)
    kernel = 1 / (4 * loops_of_step(cell))
    return Steps(_WRITES, 4 * size, 4, kernel, kernel)


def read_archer2(path: Path = FILE) -> Iterator[Record]:
    """Yield one result for each published run.

    Raises:
        OSError: If the file cannot be read.
        ValueError: For a line that is not as it should be; the text has its number.
    """
    found: dict[Cell, list[dict[str, str]]] = defaultdict(list)
    with path.open(newline="") as file:
        lines = csv.DictReader(file)
        for line in lines:
            try:
                found[_cell(line)].append(line)
            except (KeyError, ValueError) as error:
                raise ValueError(f"{path}:{lines.line_num}: {error!r}") from error
    for cell, of_cell in found.items():
        yield _record(cell, of_cell)


def _record(cell: Cell, lines: list[dict[str, str]]) -> Record:
    seconds: dict[str, float] = defaultdict(float)
    variance: dict[str, float] = defaultdict(float)
    for line in lines:
        mean, deviation = float(line["mean_seconds"]), float(line["std_seconds"])
        names = [line["timer"]]
        if cell.client == "hpcg":  # of one set of CG
            names = [f"{line['timer']}_per_set"]
        elif line["timer"] == "compute":
            names.append(f"kernel.{line['kernel']}")
        for name in names:
            seconds[name] += mean
            variance[f"seconds.{name}"] += deviation**2
    if cell.client == "hpcg":
        seconds["wall"] = seconds["loop_per_set"]
        variance["seconds.wall"] = variance["seconds.loop_per_set"]
    about = cell.record()
    del about["nodes"]  # which the publication does not tell
    return {
        "source": SOURCE,
        "key": cell.key(),
        "cell": about,
        "seconds": dict(seconds),
        "spread": {name: math.sqrt(value) for name, value in variance.items()},
        "runs": min(int(line["runs"]) for line in lines),
        "round": 0,
    }
