# SPDX-License-Identifier: BSD-3-Clause
"""Make the runs of a study, and keep every result as one line."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from iocomp_studies.launch import (
    PIN,
    Build,
    Ended,
    Launch,
    environment_of,
    printed_result,
    run_and_collect,
)
from iocomp_studies.plan.cell import Cell
from iocomp_studies.plan.clients import CLIENTS, Measured
from iocomp_studies.plan.study import Study, StudyError
from iocomp_studies.plots.plot import WORLD
from iocomp_studies.report.conclusions import LEAST_RESULTS
from iocomp_studies.results.identity import Identity, identity_of
from iocomp_studies.results.lines import Record, Writer, is_good
from iocomp_studies.rounds import Keeping, Result, run_rounds
from iocomp_studies.runs import machine, simulated
from iocomp_studies.runs.seats import NotPossibleError, Seats, plan_seats, read_back
from iocomp_studies.statistics import median_interval
from iocomp_studies.work_directory import empty

NARROW_FROM = LEAST_RESULTS
"""Good results from which an interval is believed to be narrow."""

_HOSTS = "hosts"
"""Name of the file that tells SMPI where each rank runs."""


class StudyRunError(RuntimeError):
    """A run left no result; the text says how it ended."""


@dataclass(frozen=True)
class Surroundings:
    """The place in which a study runs: programs, directory and launcher.

    Attributes:
        command: The command `iocomp`.
        build: The build with the clients.
        directory: The directory for files that runs write; empty between runs.
        launcher: "local", "smpi", or "slurm" inside an allocation.
    """

    command: Path
    build: Build
    directory: Path
    launcher: str = "local"


@dataclass
class Outcome:
    """The outcome of a series of runs, beside their results.

    Attributes:
        made: The number of runs of this time.
        not_possible: Cells that do not fit this machine, with the reason, by label.
        failed: Cells of which a run failed, with what it printed, by label.
        was_stopped: True if Ctrl-C ended it.
        identity: The machine, the build and the file system; None if jobs have made the runs.
        others: The number of earlier results of another identity, whose rounds are made anew.
    """

    made: int = 0
    not_possible: dict[str, str] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    was_stopped: bool = False
    identity: Identity | None = None
    others: int = 0


def plan_cell(study: Study, cell: Cell, around: Surroundings) -> Seats:
    """Return where the ranks of a cell shall sit.

    Raises:
        NotPossibleError: If it does not fit the machine, with the reason.
    """
    if cell.client in around.build.missing:
        raise NotPossibleError(around.build.missing[cell.client])
    if around.launcher == "smpi":
        return simulated.plan(around.build.directory, cell)
    topology = study.slurm.topology if around.launcher == "slurm" else ""
    return plan_seats(around.command, cell, topology)


def launch_words(cell: Cell, seats: Seats, around: Surroundings) -> list[str]:
    """Return the words that start one run of a cell, without `--json`."""
    client = CLIENTS[cell.client]
    words = client.words(cell, around.directory)
    if around.launcher == "smpi":
        ranks, hosts = len(seats.roles), around.directory / _HOSTS
        build = around.build.directory
        return [*simulated.launch_words(build, ranks, cell.nodes, hosts), *words]
    if client.program:
        program = str(around.build.directory / client.program)
    else:
        first = words.pop(0)
        program = str(Path(shutil.which(first) or first).absolute())
    if around.launcher == "local":
        return around.build.command(Launch(program, tuple(words), seats.cpus))
    # The settings of the line come by the environment, as everywhere.
    line = seats.line.split()
    starts = next(i for i, word in enumerate(line) if word == "srun")
    return [*line[starts:-1], str(PIN), "-", program, *words]


def settings_of(cell: Cell, seats: Seats, files: Path, notes: Path) -> dict[str, str]:
    """Return the settings of iocomp for one run; none for a run without output.

    Args:
        cell: The cell that runs.
        seats: The seats that its ranks shall have.
        files: Directory for what it writes.
        notes: Directory for what the library says of the run.
    """
    client = CLIENTS[cell.client]
    if cell.output == "none":
        return {}
    settings = {
        **dict(cell.settings),
        **seats.settings,
        "mode": "sync" if cell.output == "sync" else "async",
        "trace.lines": "start",
        "trace.json": str(notes / "trace.json"),
        "placement.report": str(notes / "report"),
    }
    if cell.transport == "kernel":
        settings["placement.servers"] = "none"
    elif cell.output == "async":
        settings["transport.kind"] = cell.transport
    if cell.output != "idle":
        settings[f"files.{client.file or 'default'}.backend"] = cell.backend
        if client.file:
            settings[f"files.{client.file}.path"] = str(files / f"{client.file}.{cell.backend}")
    return settings


def check_settings(study: Study, command: Path) -> None:
    """Check the settings of a study by the library itself: in a run, it would only warn.

    Raises:
        StudyError: If one is unknown, or has a value that is not allowed.
    """
    inherited = {key: v for key, v in os.environ.items() if not key.startswith("IOCOMP_")}
    for settings in dict.fromkeys(cell.settings for cell in study.cells if cell.settings):
        environment = inherited | environment_of(dict(settings))
        with tempfile.TemporaryDirectory() as folder:  # no iocomp.toml lies there
            done = subprocess.run(
                [str(command), "config"], capture_output=True, text=True, timeout=60, check=False,
                env=environment, cwd=folder,
            )  # fmt: skip
        if done.returncode != 0 or "unknown setting" in done.stderr:
            told = done.stderr.strip().removeprefix("iocomp: ")
            raise StudyError(f"{study.source}: settings of a series: {told}")


def _marks(cell: Cell, ended: Ended, mapping: Mapping[str, Any], measured: Measured) -> list[str]:
    """Return why a result must not count; empty if it may."""
    marks = [f"wrong mapping: {wrong}" for wrong in mapping["wrong"]]
    marks += [f"not verified: {name}" for name, good in measured.checks.items() if not good]
    if ended.exit_code != 0:
        marks.append(f"exit code {ended.exit_code}")
    return marks


def run_once(study: Study, cell: Cell, seats: Seats, around: Surroundings) -> Result:
    """Make one run and return its result, without what is the same for all runs.

    Raises:
        StudyRunError: If the run left no result.
    """
    client = CLIENTS[cell.client]
    before = machine.load()
    began = time.time()
    with tempfile.TemporaryDirectory(prefix="seats-", dir=around.directory.parent) as name:
        folder = Path(name)
        settings = settings_of(cell, seats, around.directory, folder)
        if around.launcher == "smpi":
            hosts = simulated.hosts_text(len(seats.roles), cell.nodes)
            (around.directory / _HOSTS).write_text(hosts)
        try:
            ended = run_and_collect(
                launch_words(cell, seats, around),
                settings,
                writes_json=client.writes_json,
                extra={"STUDY_SEATS": str(folder)},
                folder=around.directory,
                timeout_seconds=study.timeout_seconds,
            )
        finally:
            empty(around.directory)
        mapping = (
            simulated.read_back(ended.result or {}, seats, cell)
            if around.launcher == "smpi"
            else read_back(folder, folder / "report", seats, cell)
        )
        trace = printed_result(_one_line(folder / "trace.json"))
    raw = ended.result
    # The program of a user need not print anything: then its wall time is that of the job.
    is_silent = trace is not None or (cell.output == "none" and not client.program)
    if raw is None and is_silent and ended.exit_code == 0:
        raw = {}
    if raw is None:
        printed = ended.printed.strip() or "it printed nothing"
        if ended.exit_code == 0 and not client.program:
            printed += "; it did not write with iocomp, or did not reach iocomp_finalize"
        how = "no end in time" if ended.exit_code == -1 else f"exit code {ended.exit_code}"
        raise StudyRunError(f"{how}: {printed}")
    measured = client.measured(raw)
    measured.seconds.setdefault("wall", ended.seconds)
    for name, value in (*measured.seconds.items(), *measured.values.items()):
        if not math.isfinite(value):
            raise StudyRunError(f"{name} is {value}: {ended.printed.strip()}")
    return {
        "began": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began)),
        "exit_code": ended.exit_code,
        "marks": _marks(cell, ended, mapping, measured),
        "checks": measured.checks,
        "seconds": {**measured.seconds, "launch_to_end": ended.seconds},
        "values": measured.values,
        "mapping": mapping,
        "load": {"before": before, "after": machine.load()},
        "environment": environment_of(settings),
        "servers": seats.servers(),
        "trace": trace or {},
    }


def _one_line(path: Path) -> str:
    try:
        return path.read_text().replace("\n", " ")
    except OSError:
        return ""


def is_compared(cell: Cell, base: Cell) -> bool:
    """Return whether reports compare a cell with another, within rounds."""
    world = ("client", *WORLD)
    return base.output in ("none", "sync") and all(
        getattr(cell, name) == getattr(base, name) for name in world
    )


class _Kept:
    """Results of a study, those of earlier runs and those of this one."""

    def __init__(self, earlier: Sequence[Record]) -> None:
        self._walls: dict[str, list[float]] = defaultdict(list)
        self._rounds: dict[str, set[int]] = defaultdict(set)
        for record in earlier:
            self.add(Cell.of_record(record["cell"]).key(), record)

    def add(self, key: str, record: Mapping[str, Any]) -> None:
        """Remember a result; one that is marked does not count, but its round was made."""
        if record.get("failed"):
            return
        number = int(record["round"])
        if number >= 0:
            self._rounds[key].add(number)
        if is_good(dict(record)):
            self._walls[key].append(float(record["seconds"]["wall"]))

    def has(self, key: str, number: int) -> bool:
        """Return whether a round was made; warm-ups are not made again for cells that have any."""
        return number in self._rounds[key] or (number < 0 and bool(self._rounds[key]))

    def is_narrow(self, key: str, part: float) -> bool:
        """Return whether the interval of the wall time is narrow enough."""
        walls = self._walls[key]
        if len(walls) < NARROW_FROM:
            return False
        found = median_interval(walls)
        return (found.high - found.low) / 2 <= part * found.value


def run_study(
    study: Study,
    around: Surroundings,
    out: Path,
    earlier: Sequence[Record] = (),
    *,
    minutes: float | None = None,
    first_round: int = 0,
) -> Outcome:
    """Make the runs that are missing, in rounds, and append each result to a file.

    Args:
        study: The study to run.
        around: The place in which it runs.
        out: The file of results.
        earlier: Results that are there already; the rounds of those of the same study, machine,
            build and file system are not made again.
        minutes: The budget, instead of that of the study.
        first_round: Number of the first round; parts of an array begin at different ones.
    """
    same: dict[str, Any] = {
        "study": study.name,
        "seed": study.seed,
        **machine.about(around.command, around.build, around.directory),
        "launcher": around.launcher,
    }
    mine = [one for one in earlier if one.get("study") == study.name]
    goes_on = [one for one in mine if identity_of(one) == identity_of(same)]
    outcome = Outcome(identity=identity_of(same), others=len(mine) - len(goes_on))
    kept = _Kept(goes_on)
    by_label: dict[str, tuple[Cell, Seats]] = {}
    methods: dict[str, Callable[[], Result]] = {}
    for cell in study.cells:
        label = cell.label()
        if label in by_label:  # cells that differ in their arguments alone
            label += f" ({cell.key()})"
        try:
            seats = plan_cell(study, cell, around)
        except NotPossibleError as error:
            outcome.not_possible[label] = str(error)
            continue
        by_label[label] = cell, seats
        methods[label] = partial(run_once, study, cell, seats, around)

    with Writer(out) as writer:

        def write(label: str, result: Mapping[str, Any]) -> None:
            cell, _ = by_label[label]
            number = int(result.get("round", 0))
            record: Record = {**same, "key": cell.key(), "cell": cell.record(), **result}
            record["round"] = number + first_round if number >= 0 else number
            writer.write(record)
            kept.add(cell.key(), record)
            outcome.made += 1

        def failed(label: str, story: str) -> None:
            outcome.failed[label] = story
            write(label, {"failed": story, "marks": ["failed"], "seconds": {}, "round": 0})

        def enough(label: str) -> bool:
            """Return whether a cell, and each that is compared with it, needs no further round."""
            cell, _ = by_label[label]
            others = [other for other, _ in by_label.values() if is_compared(other, cell)]
            return all(kept.is_narrow(one.key(), study.interval) for one in (cell, *others))

        keeping = Keeping(
            warm_up=study.warm_up,
            has=lambda label, n: kept.has(
                by_label[label][0].key(), n + first_round if n >= 0 else n
            ),
            enough=enough,
            keep=write,
            failed=failed,
            ends_in_time=True,
        )
        try:
            run_rounds(
                methods,
                least=study.least,
                most=study.most,
                seconds=60 * (study.minutes if minutes is None else minutes),
                seed=study.seed,
                give_up=(StudyRunError, OSError, ValueError),
                keeping=keeping,
            )
        except KeyboardInterrupt:
            outcome.was_stopped = True
    return outcome


def with_part(study: Study, cells: Sequence[Cell], most: int) -> Study:
    """Return a study of some of the cells, with fewer rounds."""
    return replace(study, cells=tuple(cells), most=most, least=min(study.least, most))
