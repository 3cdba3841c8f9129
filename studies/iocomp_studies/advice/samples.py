# SPDX-License-Identifier: BSD-3-Clause
"""Results of studies as what the model is fitted to."""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from iocomp_studies.advice.fit import Sample
from iocomp_studies.advice.work import AUTO, COMPUTING, MEMORY, Way, Work
from iocomp_studies.plan.cell import NOT_USED, Cell
from iocomp_studies.plan.clients import CLIENTS, Steps
from iocomp_studies.plots.plot import ratio_of
from iocomp_studies.report.conclusions import DEVIATIONS
from iocomp_studies.results.archer2 import loops_of_step, published_steps
from iocomp_studies.results.identity import identity_of, source_names
from iocomp_studies.results.lines import Record, is_good
from iocomp_studies.results.rows import NO_OUTPUT, SYNCHRONOUS, Row, rows_of, way_of
from iocomp_studies.statistics import Estimate, median_interval

WALL = "seconds.wall"
_Key = tuple[Any, ...]
_Rates = Sequence[tuple[Cell, float]]


def steps_in_trace(trace: Mapping[str, Any], ranks: int) -> Steps | None:
    """Return what the library has counted of a run, as `trace.json` tells it; None if nothing."""
    total = trace.get("compute_sum", {})
    steps = int(trace.get("compute_max", {}).get("steps", 0))
    puts, put_bytes = float(total.get("puts", 0)), float(total.get("put_bytes", 0))
    if not (steps and puts and put_bytes):
        return None
    return Steps(steps, put_bytes / steps / ranks, max(1.0, puts / steps / ranks))


def _steps(record: Record, cell: Cell) -> Steps | None:
    """Return what a run puts: as the library has counted, and when, as its client says."""
    if record.get("spread"):
        return published_steps(cell)
    known = CLIENTS[cell.client].steps(cell)
    counted = steps_in_trace(record.get("trace", {}), cell.ranks)
    if known is None or counted is None:
        return counted or (known if known and known.step_bytes else None)
    return replace(known, steps=counted.steps, step_bytes=counted.step_bytes, puts=counted.puts)


def _world(cell: Cell) -> _Key:
    return cell.client, cell.size, cell.arguments, cell.scaling, cell.ranks, cell.nodes


def _published_seconds(rows: Sequence[Row]) -> float:
    """Return the computing of one step; the timers of published runs are those of one."""
    measures = rows[0].measures
    return measures.get("seconds.compute_per_set", measures.get("seconds.compute", 0.0))


class _World:
    """All results of one program of one size, on as many ranks."""

    def __init__(self) -> None:
        self.by_cell: dict[Cell, list[Record]] = defaultdict(list)

    def baseline(self) -> list[Row]:
        return [
            row
            for cell, records in self.by_cell.items()
            if way_of(cell.record()) == NO_OUTPUT
            for row in rows_of(records)
        ]


def read_samples(records: Sequence[Record]) -> dict[tuple[str, str], list[Sample]]:
    """Return what can be learned from results: by source and client, one sample for each way.

    A wall is the median over the rounds of wall ÷ that without output in the same round, times the
    median of the latter: so what slows a whole round is no error of the model. Published walls are
    taken as they are. What has no output, no results that count, or nothing beside it that tells
    how long the computing takes, is no sample.
    """
    names = source_names(records)
    worlds: dict[tuple[str, str], dict[_Key, _World]] = defaultdict(lambda: defaultdict(_World))
    for record in records:
        if not is_good(record):
            continue
        cell = Cell.of_record(record["cell"])
        if "wall" not in record.get("seconds", {}) or cell.progress:
            continue
        source = names[identity_of(record)]
        worlds[source, cell.client][_world(cell)].by_cell[cell].append(_without_opening(record))
    found: dict[tuple[str, str], list[Sample]] = {}
    for key, by_world in worlds.items():
        rates = _published_rates(by_world)
        samples = [
            sample for name, world in by_world.items() for sample in _samples_of(name, world, rates)
        ]
        if samples:
            found[key] = samples
    return found


def _published_rates(by_world: Mapping[_Key, _World]) -> _Rates:
    """Return the computing of a step in published runs that had no servers, by cell."""
    return [
        (cell, _published_seconds(rows_of(records)))
        for world in by_world.values()
        for cell, records in world.by_cell.items()
        if records[0].get("spread") and way_of(cell.record()) == SYNCHRONOUS
    ]


def _step_seconds(cell: Cell, base: Sequence[Row], steps: Steps, rates: _Rates) -> float:
    """Return how long a program computes for a step; 0 if nothing tells."""
    if base:
        return statistics.median(row.measures[WALL] for row in base) / steps.steps
    # Published runs have none without output, but synchronous ones that tell their computing. That
    # of STREAM does not depend on the number of ranks.
    near: dict[float, list[float]] = defaultdict(list)
    for other, seconds in rates:
        if other.size == cell.size and (cell.client == "stream" or other.ranks == cell.ranks):
            distance = abs(math.log(other.ranks / cell.ranks))
            near[distance].append(seconds * loops_of_step(cell) / loops_of_step(other))
    return statistics.median(near[min(near)]) if near else 0.0


def _samples_of(name: _Key, world: _World, rates: _Rates) -> list[Sample]:
    base = world.baseline()
    found = []
    for cell, records in world.by_cell.items():
        way = way_of(cell.record())
        steps = _steps(records[0], cell) if cell.output in ("sync", "async") else None
        seconds = _step_seconds(cell, base, steps, rates) if steps else 0.0
        if not steps or not seconds:
            continue
        rows = rows_of(records)
        measured = _wall(rows, base)
        if measured is None:
            continue
        found.append(
            Sample(
                Work(
                    cell.ranks, steps.steps, steps.step_bytes, seconds, cell.nodes, steps.puts,
                    steps.reuse_part * seconds, steps.before_part,
                    MEMORY if steps.waits_for_memory else COMPUTING,
                ),
                Way(way, cell.backend, _servers(cell, records[0]), _transport(cell, steps)),
                measured, f"{cell.label()} {' '.join(cell.arguments)}".strip(), name,
            )
        )  # fmt: skip
    return found


def _wall(rows: Sequence[Row], base: Sequence[Row]) -> Estimate | None:
    if rows[0].spread:
        mean, half = rows[0].measures[WALL], DEVIATIONS * rows[0].spread.get(WALL, 0.0)
        return Estimate(mean, mean - half, mean + half)
    compared = ratio_of(rows, base, WALL)
    if compared is None:
        return median_interval([row.measures[WALL] for row in rows])
    ratio, _ = compared
    below = statistics.median(row.measures[WALL] for row in base)
    return Estimate(ratio.value * below, ratio.low * below, ratio.high * below)


def _without_opening(record: Record) -> Record:
    """Return a result whose wall is without the opening, which waits for servers to be ready."""
    seconds = record["seconds"]
    wall = float(seconds["wall"]) - float(seconds.get("open", 0.0))
    return {**record, "seconds": {**seconds, "wall": wall}}


def _servers(cell: Cell, record: Record) -> int:
    if cell.mapping == "sequential":
        return 0
    return int(record.get("servers") or cell.ranks)


def _transport(cell: Cell, steps: Steps) -> str:
    if cell.mapping == "sequential":
        return NOT_USED
    if cell.transport == AUTO and not steps.is_contiguous:
        return "shared"
    return cell.transport if cell.transport in (AUTO, "message") else "shared"
