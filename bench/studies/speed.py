#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measure how long it takes to collect 100,000 results of a study, and to draw all their figures.

Run by hand: bench/studies/speed.py [LINES]. docs/developers/benchmark_figures.md.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "studies"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests/python"))

from studies_data import record

from iocomp_studies.plan.study import read_study
from iocomp_studies.plots.folder import draw_figures, write_figures
from iocomp_studies.results.lines import Writer, read_lines
from iocomp_studies.results.rows import rows_of

ROOT = Path(__file__).resolve().parents[2]
LINES = 100_000
SEATS = [{"rank": r, "role": "compute", "host": "here", "cpus": str(r)} for r in range(16)]
BLOCKS = ("open", "put", "wait", "finish")


def write_results(path: Path, lines: int) -> None:
    """Write as many results as that, of the cells of `make study`, as long as real ones are."""
    cells = read_study(ROOT / "studies/here.toml").cells
    with Writer(path) as writer:
        for number in range(lines):
            cell, wall = cells[number % len(cells)], 1.0 + (number * 7919 % 1000) / 1e4
            one = record(cell, number // len(cells), wall)
            one["seconds"] |= {f"{name}_per_set": wall / 4 for name in ("loop", "compute", "wait")}
            one["seconds"] |= {name: wall / 9 for name in BLOCKS}
            one["seconds"] |= {f"handed_over.{4096 << i}": wall / 1e4 for i in range(0, 13, 4)}
            one["values"] = {name: wall for name in (
                "gib_per_second", "traffic_gib_per_second", "beside_over_alone")}  # fmt: skip
            one["mapping"] = {"asked": cell.mapping, "found": "", "seats": SEATS, "wrong": []}
            one["trace"] = {f"counter_{i}": i for i in range(100)}
            writer.write(one)


def main() -> int:
    """Write, collect and draw; print the seconds of each."""
    lines = int(sys.argv[1]) if len(sys.argv) > 1 else LINES
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_results(folder / "results.jsonl", lines)
        begin, cpu = time.monotonic(), time.process_time()
        records, complaints = read_lines([folder / "results.jsonl"])
        rows = rows_of(records)
        collected = time.monotonic()
        drawn = list(draw_figures(rows))
        write_figures(drawn, folder / "figures")
        end, cpu = time.monotonic(), time.process_time() - cpu
        size = (folder / "results.jsonl").stat().st_size / 2**20
    assert len(rows) == lines, complaints[:3]
    print(
        f"{lines} lines ({size:.0f} MiB) collected in {collected - begin:.1f} s, "
        f"{len(drawn)} figures drawn in {end - collected:.1f} s: {end - begin:.1f} s, "
        f"{cpu:.1f} s of processor time"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
