# SPDX-License-Identifier: BSD-3-Clause
"""The command `iocomp advise`."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn, Optional

import typer

from iocomp_studies import called
from iocomp_studies.advice.choices import (
    ALL_MAPPINGS,
    Advice,
    Allowed,
    NoChoiceError,
    advise_on,
    toml_of,
)
from iocomp_studies.advice.learned import (
    Learned,
    NothingToLearnError,
    learn_from_machine,
    learn_from_results,
)
from iocomp_studies.advice.output import json_of, text_of
from iocomp_studies.advice.own_run import (
    NotUsableError,
    OwnRun,
    read_run,
    run_program,
    what_it_says,
)
from iocomp_studies.advice.work import BOUNDS, Work
from iocomp_studies.plan.cell import NOT_USED, Cell
from iocomp_studies.plan.clients import bytes_of
from iocomp_studies.plan.study import BACKENDS
from iocomp_studies.runs.campaign import StudyRunError, Surroundings
from iocomp_studies.runs.seats import NotPossibleError
from iocomp_studies.table import seconds_text
from iocomp_studies.work_directory import NotEnoughSpaceError, work_directory

_SETTINGS = Path("iocomp.toml")
_FREE_BYTES = 1 << 30
_MEMORY_PART = 4  # of a node's memory, one in so many parts for staging
_LEAST_SECONDS = 1e-6


def _fail(text: str) -> NoReturn:
    called.fail(text)


def _size(option: str, text: str) -> int:
    try:
        found = bytes_of(text)
    except ValueError:
        found = 0
    if found <= 0:
        _fail(f"{option} {text}: it must be a number of bytes above 0, or one such as 1.5 GiB")
    return found


def _words(option: str, text: str, allowed: tuple[str, ...]) -> tuple[str, ...]:
    words = tuple(word.strip() for word in text.split(",") if word.strip())
    unknown = [word for word in words if word not in allowed]
    if unknown or not words:
        _fail(f"{option} {text}: allowed are {', '.join(allowed)}")
    return words


def _node_memory() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


@dataclass(frozen=True)
class _Told:
    """The user's description of the program; a field that the user has not given is None."""

    ranks: int | None
    nodes: int | None
    steps: int | None
    step_bytes: int | None
    step_seconds: float | None
    puts: int | None
    reuse_seconds: float | None
    bound: str | None

    def work(self) -> Work:
        """Return what the program does, told by its sizes alone."""
        if self.step_seconds is None:
            _fail("--seconds-per-step is missing: the computing of a step, without output")
        seconds = max(self.step_seconds, _LEAST_SECONDS)
        ranks = self.ranks or 1
        begin = Work(ranks, 10, (self.step_bytes or 0) / ranks, seconds, reuse_seconds=seconds)
        return self.changed(begin)

    def changed(self, work: Work) -> Work:
        """Return what a run says of a program, with what was said beside."""
        return replace(
            work,
            ranks=self.ranks or work.ranks,
            nodes=self.nodes or work.nodes,
            steps=self.steps or work.steps,
            puts=self.puts or work.puts,
            reuse_seconds=work.reuse_seconds if self.reuse_seconds is None else self.reuse_seconds,
            bound=self.bound or work.bound,
        )


def _tell(text: str, as_json: bool) -> None:
    """Print what was done, beside JSON on stderr."""
    print(text, file=sys.stderr if as_json else sys.stdout)


def _write_settings(advice: Advice, replaces: bool) -> str:
    """Write the settings, and return their file."""
    if _SETTINGS.exists() and not replaces:
        _fail(f"{_SETTINGS} is there already: --replace overwrites it")
    comment = ("Written by `iocomp advise`.", *advice.reason, f"Start: {advice.best.launch()}")
    _SETTINGS.write_text(toml_of(advice.best.settings(), comment))
    return str(_SETTINGS)


def _checked(words: tuple[str, ...], advice: Advice, around: Surroundings, topology: str) -> float:
    """Run the program as advised, and return how long it took."""
    best = advice.best
    settings = {k: v for k, v in best.settings().items() if k.startswith("staging.")}
    cell = replace(best.cell, settings=tuple(settings.items()))
    return what_it_says(run_program(words, cell, around, topology)).wall


def _checked_text(wall: float, predicted: float) -> str:
    """Say how good the prediction was."""
    return (
        f"checked: {seconds_text(wall)} s measured, {seconds_text(predicted)} s "
        f"predicted: predicted ÷ measured {predicted / wall:.2f}"
    )


def advise(
    program: Optional[list[str]] = typer.Argument(
        None,
        show_default=False,
        help="after --: the program and its arguments, which is run once, synchronously",
    ),
    from_: Optional[list[Path]] = typer.Option(
        None,
        "--from",
        show_default=False,
        help="results of studies to learn from; else this machine is measured now",
    ),
    source: str = typer.Option("", help="the machine, where results are of several"),
    run: Optional[Path] = typer.Option(
        None,
        show_default=False,
        help="instead of a program: trace.json of a run of it, or a result of a study",
    ),
    wall: Optional[float] = typer.Option(
        None, show_default=False, help="with trace.json: seconds of the run, instead of its own"
    ),
    ranks: Optional[int] = typer.Option(
        None, show_default=False, min=1, help="ranks that compute [1]"
    ),
    nodes: Optional[int] = typer.Option(
        None, show_default=False, min=1, help="nodes of the job [1]"
    ),
    steps: Optional[int] = typer.Option(
        None, show_default=False, min=1, help="steps of output [10]"
    ),
    bytes_per_step: Optional[str] = typer.Option(
        None, show_default=False, help="bytes of one step, all ranks together"
    ),
    seconds_per_step: Optional[float] = typer.Option(
        None, show_default=False, help="seconds of computing between two steps"
    ),
    puts: Optional[int] = typer.Option(
        None, show_default=False, min=1, help="puts of each rank in a step [1]"
    ),
    reuse_after: Optional[float] = typer.Option(
        None,
        show_default=False,
        help="seconds of computing from a put until the array is changed [a whole step]",
    ),
    bound: Optional[str] = typer.Option(
        None,
        show_default=False,
        help="what the program waits for while it computes: memory, or computing, where it needs "
        "the processor alone, as products of matrices do [memory]",
    ),
    scattered: bool = typer.Option(
        False, help="what a rank puts is not in one piece in the file, as blocks of 3-D arrays"
    ),
    backend: str = typer.Option("posix", help="back-ends to choose from, separated by commas"),
    mapping: str = typer.Option(
        ",".join(ALL_MAPPINGS), help="mappings to choose from; sequential: no servers"
    ),
    memory: Optional[str] = typer.Option(
        None,
        show_default=False,
        help="memory that the servers of a node may take [a quarter of this machine's]",
    ),
    topology: str = typer.Option("", help="of a node, as iocomp map takes it [this machine]"),
    directory: Path = typer.Option(Path(), help="on the file system that is written to"),
    build: Optional[Path] = typer.Option(None, show_default=False, help="as for iocomp study run"),
    apply: bool = typer.Option(False, "--apply", help="write the settings into iocomp.toml"),
    replaces: bool = typer.Option(False, "--replace", help="overwrite iocomp.toml, if it is there"),
    check: bool = typer.Option(
        False, "--check", help="run the program again as advised, and compare with the prediction"
    ),
    as_json: bool = typer.Option(False, "--json", help="print it as JSON"),
) -> None:
    """Say how a program should write here, and how long it would take in each way.

    The program is told by its sizes (--bytes-per-step, --seconds-per-step), by a run that was made
    (--run), or by itself after --.
    """
    backends = _words("--backend", backend, BACKENDS)
    allowed = Allowed(
        backends,
        _words("--mapping", mapping, ALL_MAPPINGS),
        not scattered,
        float(_size("--memory", memory) if memory else _node_memory() / _MEMORY_PART),
        topology,
    )
    numbers = (("seconds-per-step", seconds_per_step), ("reuse-after", reuse_after), ("wall", wall))
    for option, value in numbers:
        if value is not None and not 0 <= value < float("inf"):
            _fail(f"--{option} {value:g}: it must be a number of seconds, 0 or more")
    if [bool(program), run is not None, bytes_per_step is not None].count(True) != 1:
        _fail(
            "tell the program in one of three ways: --bytes-per-step and --seconds-per-step, "
            "--run FILE, or the program itself after --"
        )
    if check and not program:
        _fail("--check needs the program itself, after --")
    if bound is not None and bound not in BOUNDS:
        _fail(f"--bound {bound}: allowed are {', '.join(BOUNDS)}")
    told = _Told(
        ranks, nodes, steps, _size("--bytes-per-step", bytes_per_step) if bytes_per_step else None,
        seconds_per_step, puts, reuse_after, bound,
    )  # fmt: skip
    command = called.iocomp_command()
    words = tuple(program or ())
    try:
        with work_directory(directory.resolve(), _FREE_BYTES) as folder:
            own: OwnRun | None = None
            around: Surroundings | None = None
            if words:
                around = Surroundings(command, called.build_of(build, command), folder)
                first = Cell(
                    "command", output="sync", backend=backends[0], transport=NOT_USED,
                    ranks=ranks or 1, nodes=nodes or 1,
                )  # fmt: skip
                own = what_it_says(run_program(words, first, around, topology))
            elif run is not None:
                own = what_it_says(read_run(run, wall))
            work = told.changed(own.work) if own else told.work()
            learned: Learned = (
                learn_from_results(called.read_results(from_), source)
                if from_
                else learn_from_machine(folder, backends)
            )
            if own:
                learned = learned.with_run(own, backends)
            advice = advise_on(work, learned.model, allowed, command, same=learned.same())
            done: dict[str, str | float] = {}
            if not as_json:
                print(text_of(work, advice, learned))
            if apply:
                done["written"] = _write_settings(advice, replaces)
                _tell(f"written: {_SETTINGS}", as_json)
            if check and around:
                wall = _checked(words, advice, around, topology)
                done["checked_seconds"] = wall
                _tell(_checked_text(wall, advice.best.prediction.wall), as_json)
            if as_json:
                print(json_of(work, advice, learned, done))
    except StudyRunError as error:
        _fail(
            f"{words[0]}: {error}\nwanted is a program that puts with iocomp and ends with 0 in an "
            "empty directory, without your settings: name its input by whole paths"
        )
    except NotPossibleError as error:
        _fail(str(error))
    except (OSError, NotEnoughSpaceError, NotUsableError, NothingToLearnError) as error:
        _fail(str(error))
    except NoChoiceError as error:
        _fail(str(error))
