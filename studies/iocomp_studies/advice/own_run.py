# SPDX-License-Identifier: BSD-3-Clause
"""The description of the user's own program, taken from a run of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from iocomp_studies.advice.samples import steps_in_trace
from iocomp_studies.advice.work import COMPUTING, MEMORY, Work
from iocomp_studies.plan.cell import NOT_USED, Cell
from iocomp_studies.plan.clients import CLIENTS
from iocomp_studies.plan.study import Study
from iocomp_studies.results.lines import Record, is_good, read_lines
from iocomp_studies.runs.campaign import Surroundings, run_once
from iocomp_studies.runs.seats import plan_seats

TIMEOUT_SECONDS = 3600.0
TRACE_FORM = 1
"""The value of `iocomp_trace` in each trace that is known here."""


class NotUsableError(ValueError):
    """A run says too little of the program; the text says what is missing."""


@dataclass(frozen=True)
class OwnRun:
    """The findings of one run of the user's program.

    Attributes:
        work: The work of the program.
        write_seconds: The time of a step written synchronously; 0 if the run was not synchronous.
        backend: The format of its file; "-" where nobody tells.
        wall: The seconds of the run.
    """

    work: Work
    write_seconds: float
    backend: str
    wall: float


def run_program(
    words: tuple[str, ...], cell: Cell, around: Surroundings, topology: str = ""
) -> Record:
    """Run a program once in the way of a cell, and return the result as a study keeps it.

    Raises:
        StudyRunError: If it left no result.
        NotPossibleError: If its ranks cannot sit so here.
    """
    # Braces are those of the program, not of a study.
    as_they_are = (word.replace("{", "{{").replace("}", "}}") for word in words)
    named = replace(cell, arguments=tuple(as_they_are))
    study = Study("advise", (named,), timeout_seconds=TIMEOUT_SECONDS)
    result = run_once(study, named, plan_seats(around.command, named, topology), around)
    return {"key": named.key(), "cell": named.record(), "round": 0, **result}


def read_run(path: Path, wall_seconds: float | None) -> Record:
    """Return the run that a file tells of: the last result of a study there, or `trace.json`.

    Raises:
        OSError: If it cannot be read.
        NotUsableError: If it is neither, or a trace of another form.
    """
    try:
        trace = json.loads(path.read_text())
    except ValueError:
        trace = None
    if isinstance(trace, dict) and "compute_sum" in trace:
        if trace.get("iocomp_trace") != TRACE_FORM:
            form = trace.get("iocomp_trace", "not told")
            raise NotUsableError(f"{path}: its iocomp_trace is {form}; wanted is {TRACE_FORM}")
        try:
            return _record_of(trace, wall_seconds)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise NotUsableError(f"{path}: no trace.json of a run: {error!r}") from error
    records, complaints = read_lines([path])
    good = [record for record in records if is_good(record)]
    if records and not good:
        why = records[-1].get("marks") or ["a warm-up"]
        raise NotUsableError(f"{path}: no result there counts: {'; '.join(map(str, why))}")
    if not good:
        why = complaints[0] if complaints else f"{path}: empty"
        raise NotUsableError(f"{why}; wanted is trace.json of a run, or a result of a study")
    return good[-1]


def _record_of(trace: Record, wall_seconds: float | None) -> Record:
    """Return what `trace.json` tells as a result. It does not tell the format of the file."""
    wall = float(trace["seconds"]) if wall_seconds is None else wall_seconds
    output = "sync" if trace["transport"] == "direct" and not trace["servers"] else "async"
    cell = Cell("command", output=output, backend=NOT_USED, ranks=int(trace["compute_ranks"]))
    steps_in_trace(trace, cell.ranks)
    return {"cell": cell.record(), "seconds": {"wall": wall}, "trace": trace}


def what_it_says(record: Mapping[str, Any]) -> OwnRun:
    """Return what a run says of its program.

    The time in calls is that of the rank with most. In a synchronous run it is what output takes;
    otherwise it is what was not hidden, and is no computing either.

    Raises:
        NotUsableError: If the run failed, put nothing, or spent all its time in calls.
    """
    if not is_good(dict(record)):
        raise NotUsableError(f"the run does not count: {'; '.join(record.get('marks', ()))}")
    cell = Cell.of_record(dict(record["cell"]))
    trace = record.get("trace", {})
    steps = steps_in_trace(trace, cell.ranks)
    if steps is None:
        raise NotUsableError("the run put nothing with iocomp, or did not reach iocomp_finalize")
    wall = float(record["seconds"]["wall"])
    if wall == record["seconds"].get("launch_to_end"):  # the launch is no computing
        wall = float(trace.get("seconds", wall))
    calls = float(trace["compute_max"]["call_seconds"])
    computing = wall - calls
    if computing <= 0:
        raise NotUsableError(
            f"{wall:.3g} s of wall time with {calls:.3g} s inside iocomp: nothing was computed"
        )
    seconds = computing / steps.steps
    known = CLIENTS[cell.client].steps(cell)
    work = Work(
        cell.ranks, steps.steps, steps.step_bytes, seconds, cell.nodes, steps.puts, seconds,
        bound=COMPUTING if known and not known.waits_for_memory else MEMORY,
    )  # fmt: skip
    write = calls / steps.steps if cell.output == "sync" else 0.0
    return OwnRun(work, write, cell.backend, wall)
