# SPDX-License-Identifier: BSD-3-Clause
"""The commands below `iocomp study`."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any, Optional

import typer
from rich.console import Console

from iocomp_studies.advice.command import advise
from iocomp_studies.called import build_of, fail, iocomp_command, read_results
from iocomp_studies.launch import telling_line
from iocomp_studies.noise.command import noise
from iocomp_studies.plan.study import Study, StudyError, check_launcher, read_study, runs_in
from iocomp_studies.results.archer2 import read_archer2
from iocomp_studies.results.identity import identity_of
from iocomp_studies.results.lines import Writer, is_good, read_lines, result_files
from iocomp_studies.results.rows import rows_of
from iocomp_studies.runs.campaign import (
    Outcome,
    Surroundings,
    check_settings,
    launch_words,
    plan_cell,
    run_study,
    settings_of,
)
from iocomp_studies.runs.seats import NotPossibleError
from iocomp_studies.site_check.command import check_site
from iocomp_studies.work_directory import (
    NotEnoughSpaceError,
    end_tidily_when_terminated,
    work_directory,
)

FREE_BYTES = 2 << 30
RESULTS = "results.jsonl"
NOT_POSSIBLE = "not-possible.txt"

app = typer.Typer(
    add_completion=False,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Run a matrix of measurements, draw its figures, and write a report of it.",
)
_console = Console(stderr=True, highlight=False, soft_wrap=True)

_FILE = typer.Argument(..., help="the study, a TOML file")
_OUT = typer.Option(None, "--out", help="directory of the results [study-NAME]")
_BUILD = typer.Option(
    None, "--build", help="build directory with the clients [that of the command]"
)
_PLACES = typer.Argument(..., help="directories with results, or files of them")
_JSON = typer.Option(False, "--json", help="print it as JSON")


def _study(path: Path) -> Study:
    try:
        return read_study(path)
    except (OSError, StudyError) as error:
        fail(str(error))


def _earlier(out: Path) -> list[dict[str, Any]]:
    """Return the results that are there."""
    return read_results([out]) if list(out.glob("*.jsonl")) else []


def _print(text: str, told: dict[str, Any], *, as_json: bool) -> None:
    """Print what was done, for a person or for a program."""
    print(json.dumps(told, indent=2) if as_json else text)


def _tell(outcome: Outcome, study: Study, out: Path, *, as_json: bool) -> None:
    for label, reason in outcome.not_possible.items():
        _console.print(f"not possible here: {label}: {reason}", markup=False)
    for label, story in outcome.failed.items():
        _console.print(f"failed: {label}: {telling_line(story)}", markup=False)
    records, _ = read_lines(sorted(out.glob("*.jsonl")))
    mine = [
        record
        for record in records
        if record.get("study") == study.name
        and outcome.identity in (None, identity_of(record))
    ]
    if outcome.others:
        _console.print(
            f"{outcome.others} results there are of another machine, version, build or file "
            "system: their rounds are made anew"
        )
    counts = [is_good(record) for record in mine]
    marked = sum(bool(record.get("marks")) for record in mine)
    lines = [f"{label}: {reason}" for label, reason in outcome.not_possible.items()]
    (out / NOT_POSSIBLE).write_text("".join(f"{line}\n" for line in lines))
    counted = f"{sum(counts)} results that count, {marked} that are marked and do not, in {out}"
    stopped = "\nstopped; the same command goes on from here" if outcome.was_stopped else ""
    told = {
        "results": str(out),
        "count": sum(counts),
        "marked": marked,
        "not_possible": outcome.not_possible,
        "failed": outcome.failed,
        "stopped": outcome.was_stopped,
    }
    _print(counted + stopped, told, as_json=as_json)


def _notes(places: list[Path]) -> list[Path]:
    """Return what runs have told of cells that do not fit their machine."""
    return [place / NOT_POSSIBLE for place in places if (place / NOT_POSSIBLE).is_file()]


def _dry_run(study: Study, around: Surroundings, *, as_json: bool) -> None:
    cells: list[dict[str, Any]] = []
    lines = []
    for cell in study.cells:
        label = cell.label()
        try:
            seats = plan_cell(study, cell, around)
        except NotPossibleError as error:
            cells.append({"label": label, "not_possible": str(error)})
            lines += [label, f"    not possible here: {error}"]
            continue
        settings = settings_of(cell, seats, around.directory, around.directory)
        words = launch_words(cell, seats, around)
        cells.append({"label": label, "words": words, "settings": settings})
        more = " ".join(f"{key}={value}" for key, value in settings.items())
        lines += [label, f"    {shlex.join(words)}" + (f"   with {more}" if more else "")]
    lines += [f"left out: {reason}" for reason in study.left_out]
    lines.append(
        f"{len(study.cells)} cells, {study.least} to {study.most} repetitions and "
        f"{study.warm_up} to warm up: at most {runs_in(study)} runs in {study.minutes:g} minutes"
    )
    told = {
        "cells": cells,
        "left_out": study.left_out,
        "most_runs": runs_in(study),
        "minutes": study.minutes,
    }
    _print("\n".join(lines), told, as_json=as_json)


app.command(hidden=True)(advise)
app.command()(noise)
app.command("check-site", hidden=True)(check_site)


@app.callback()
def _all() -> None:
    """Run a matrix of measurements, draw its figures, and write a report of it."""


@app.command()
def run(
    file: Path = _FILE,
    out: Optional[Path] = _OUT,
    build: Optional[Path] = _BUILD,
    launcher: Optional[str] = typer.Option(
        None, help="local, slurm or smpi, instead of that of the file"
    ),
    minutes: Optional[float] = typer.Option(None, help="budget, instead of that of the file"),
    dry_run: bool = typer.Option(False, "--dry-run", help="say what would run, and run nothing"),
    wait: bool = typer.Option(True, help="Slurm: wait for the jobs and collect their results"),
    inside: int = typer.Option(0, hidden=True, help="Slurm: run the cells of so many nodes here"),
    part: int = typer.Option(0, hidden=True, help="Slurm: which part of the array this is"),
    as_json: bool = _JSON,
) -> None:
    """Make the runs of a study. A second run goes on where the first one ended."""
    end_tidily_when_terminated()
    study = _study(file)
    kind = launcher or study.launcher
    try:
        check_launcher(study, kind)
    except StudyError as error:
        fail(str(error))
    command = iocomp_command()
    found = build_of(build, command)
    try:
        check_settings(study, command)
    except StudyError as error:
        fail(str(error))
    place = (out or Path(f"study-{study.name}")).resolve()
    if dry_run:
        _dry_run(study, Surroundings(command, found, place / "work", kind), as_json=as_json)
        return
    try:
        if kind == "slurm":
            from iocomp_studies.runs import slurm

            if not inside:
                outcome = slurm.run(study, command, found, place, wait=wait)
                _tell(outcome, study, place, as_json=as_json)
                raise typer.Exit(1 if outcome.failed else 0)
        with work_directory(place, FREE_BYTES) as directory:
            around = Surroundings(command, found, directory, kind)
            if kind == "slurm":
                outcome = slurm.run_inside(study, around, place, inside, part)
            else:
                earlier = _earlier(place)
                outcome = run_study(study, around, place / RESULTS, earlier, minutes=minutes)
    except (OSError, NotEnoughSpaceError) as error:
        fail(str(error))
    except KeyboardInterrupt:  # not in a run, of which `outcome` tells
        raise typer.Exit(130) from None
    _tell(outcome, study, place, as_json=as_json)
    if outcome.was_stopped:
        raise typer.Exit(130)
    raise typer.Exit(1 if outcome.failed else 0)


@app.command()
def plot(
    places: list[Path] = _PLACES,
    out: Path = typer.Option(Path("figures"), help="directory of the pictures"),
    only: str = typer.Option("", help="ids of figures, separated by commas"),
    every: bool = typer.Option(False, "--all", help="all variants, not only the most measured"),
    as_json: bool = _JSON,
) -> None:
    """Draw the figures of some results, as SVG and PNG."""
    from iocomp_studies.plots.folder import draw_figures, write_figures

    ids = [word for word in only.split(",") if word]
    try:
        drawn = list(draw_figures(rows_of(read_results(places)), every=every, only=ids))
        if not drawn:
            fail("no figure has results there that count")
        files = write_figures(drawn, out)
    except (OSError, ValueError) as error:
        fail(str(error))
    told = {"figures": len(drawn), "files": [str(file) for file in files]}
    _print(f"{len(drawn)} figures, {len(files)} files in {out}", told, as_json=as_json)


@app.command("import")
def import_(
    what: str = typer.Argument(..., help="archer2: the published measurements of 2023"),
    out: Path = typer.Option(Path("study-archer2"), help="directory of the results"),
    as_json: bool = _JSON,
) -> None:
    """Write published measurements as results, so that figures can show both."""
    if what != "archer2":
        fail(f"import {what}: there is archer2 only")
    file = out / "archer2.jsonl"
    try:
        file.unlink(missing_ok=True)
        with Writer(file) as writer:
            records = list(read_archer2())
            for record in records:
                writer.write(record)
    except OSError as error:
        fail(str(error))
    told = {"results": len(records), "file": str(file)}
    _print(f"{len(records)} published results in {file}", told, as_json=as_json)


@app.command()
def report(
    places: list[Path] = _PLACES,
    out: Path = typer.Option(Path("report.html"), help="the page"),
    as_json: bool = _JSON,
) -> None:
    """Write a page with tables, figures, outliers and conclusions; it needs nothing else."""
    from iocomp_studies.report.page import make_page

    try:
        records, complaints = read_lines(result_files(places))
        for complaint in complaints:
            print(f"iocomp study: {complaint}; skipped", file=sys.stderr)
        notes = [line for file in _notes(places) for line in file.read_text().splitlines()]
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(make_page(records, complaints, notes))
    except OSError as error:
        fail(str(error))
    told = {"results": len(records), "skipped": len(complaints), "page": str(out)}
    _print(
        f"{len(records)} results, {len(complaints)} lines skipped: {out}", told, as_json=as_json
    )
