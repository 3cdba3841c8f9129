# SPDX-License-Identifier: BSD-3-Clause
"""The command `iocomp check-site`."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Optional

import typer

from iocomp_studies import called
from iocomp_studies.launch import Ended, run_and_collect, telling_line
from iocomp_studies.plan.cell import Cell
from iocomp_studies.runs import machine
from iocomp_studies.runs.seats import NotPossibleError, plan_seats
from iocomp_studies.site_check.judge import (
    FACT,
    NO,
    NOT_TRIED,
    WAYS,
    Check,
    is_good,
    json_of,
    judge_installation,
    judge_kills,
    judge_ranks,
    judge_seats,
    judge_sharing,
    judge_writing,
    text_of,
)
from iocomp_studies.work_directory import (
    NotEnoughSpaceError,
    end_tidily_when_terminated,
    work_directory,
)

_KILLS = ("kill-rank", "kill-server", "kill-everything", "kill-in-call")
_KILLS_PART = 0.4
"""The part of the time that goes to the kills; the rest is for writing."""
_BLOCK = "128,256,256"
_BLOCK_BYTES = 8 * 128 * 256 * 256
_JOB_SECONDS = 600
_RESULT = "result.json"


@dataclass(frozen=True)
class _Site:
    """The place in which jobs run, and the words that start them.

    Attributes:
        command: The command `iocomp`.
        benchio: The client that writes.
        folder: The folder for their files; new, in the folder under test.
        node_ranks: The number of ranks that compute on a node.
        nodes: The number of nodes of the job.
        launcher: Words for `iocomp launch`.
    """

    command: Path
    benchio: Path
    folder: Path
    node_ranks: int
    nodes: int
    launcher: tuple[str, ...]

    def ranks(self, mapping: str) -> int:
        """Return how many compute: with servers on cores of their own, half of them."""
        node = self.node_ranks // 2 if mapping == "consecutive" else self.node_ranks
        return max(1, node) * self.nodes

    def cell(self, mapping: str) -> Cell:
        """Return a job by its mapping."""
        return Cell("command", mapping=mapping, ranks=self.ranks(mapping), nodes=self.nodes)

    def run(self, mapping: str, program: Sequence[str], settings: Mapping[str, str]) -> Ended:
        """Start a job. The settings of the user are in force, as in any job."""
        words = [str(self.command), "launch", *self.launcher, "--mapping", mapping]
        words += ["--kernel"] if mapping == "sequential" else []
        words += ["--compute-ranks", str(self.ranks(mapping)), "--nodes", str(self.nodes)]
        own = {key: text for key, text in os.environ.items() if key.startswith("IOCOMP_")}
        return run_and_collect(
            [*words, "--", *program], settings, writes_json=False, extra=own,
            timeout_seconds=_JOB_SECONDS,
        )  # fmt: skip

    def write(self, mapping: str, mode: str, settings: Mapping[str, str]) -> Ended:
        """Let all ranks write, each in one piece, and read it back.

        What is told of it lies in the folder too: rank 0 may be on another node than this.
        """
        grid = f"{self.ranks(mapping)},1,1"
        words = ["--per-rank", _BLOCK, "--grid", grid, "--backend", f"posix:{mode}"]
        words += ["--check", "last", "--directory", str(self.folder), "--repetitions", "2"]
        words += ["--json", str(self.folder / _RESULT)]
        return self.run(mapping, [str(self.benchio), *words], {**settings, "trace.lines": "none"})


def _failed(ended: Ended) -> str:
    late = f"no end after {_JOB_SECONDS} s" if ended.exit_code == -1 else ""
    return late or telling_line(ended.printed) or f"exit code {ended.exit_code}"


def _ranks(site: _Site) -> list[Check]:
    program = [str(site.command), "site-rank", str(site.folder)]
    ended = site.run("sequential", program, {})
    if ended.exit_code != 0 or ended.result is None:
        return [Check("launcher", NO, _failed(ended), "no job runs here")]
    return judge_ranks(ended.result, site.ranks("sequential"), site.nodes)


def _mappings(site: _Site) -> Iterator[Check]:
    """Let a job write in each mapping, and look where its ranks sat."""
    shares = None
    for mapping in ("sequential", "consecutive", "hyperthread", "oversubscribe"):
        try:
            seats = plan_seats(site.command, site.cell(mapping))
        except NotPossibleError as reason:
            yield Check(f"mapping {mapping}", FACT, f"not possible here: {reason}")
            continue
        report, trace = site.folder / f"{mapping}.report", site.folder / f"{mapping}.json"
        said = {"placement.report": str(report), "trace.json": str(trace)}
        ended = site.write(mapping, "async", said)
        if ended.exit_code != 0:
            yield Check(f"mapping {mapping}", NO, _failed(ended))
            continue
        yield judge_seats(mapping, seats, report.read_text())
        if seats.servers():
            shares = judge_sharing(json.loads(trace.read_text()))
    yield shares or Check("shared memory", NOT_TRIED, "no job had servers")


def _writing(site: _Site, until: float) -> list[Check]:
    """Write in each way, again and again."""
    rates: dict[str, list[float]] = {way: [] for way in WAYS}
    failed: dict[str, str] = {}
    rounds = 0
    while not failed and (rounds == 0 or time.monotonic() < until):
        for way, (mode, settings) in WAYS.items():
            ended = site.write("sequential", mode, settings)
            if ended.exit_code != 0:
                failed[way] = _failed(ended)
                continue
            (found,) = json.loads((site.folder / _RESULT).read_text())["ways"].values()
            rates[way].append(float(found["gib_per_second"]["median"]))
        rounds += 1
    return judge_writing(rates, failed)


def _kills(command: Path, folder: Path, seconds: float) -> Check:
    words = [str(command), "torture", str(folder), "--seconds", f"{seconds:.0f}", "--jobs", "2"]
    done = subprocess.run(
        [*words, "--json", "--only", *_KILLS], capture_output=True, text=True, check=False,
    )  # fmt: skip
    return judge_kills(done.returncode, done.stdout, done.stderr)


def _node_ranks() -> int:
    found = machine.topology()
    return min(found["cores"], found["usable_hardware_threads"])


def _try_everything(site: _Site, target: Path, begin: float, seconds: float) -> list[Check]:
    info = subprocess.run(
        [str(site.command), "info", "--json"], capture_output=True, text=True, check=True,
    )  # fmt: skip
    checks = [*judge_installation(json.loads(info.stdout)), *_ranks(site)]
    if any(check.name == "launcher" for check in checks):
        return checks
    checks += _mappings(site)
    kills = _KILLS_PART * seconds
    checks += _writing(site, begin + seconds - kills)
    return [*checks, _kills(site.command, target, kills)]


def check_site(
    folder: Path = typer.Argument(..., help="on the file system that jobs will write to"),
    minutes: float = typer.Option(5, min=0.1, max=30, help="for all of it"),
    nodes: Optional[int] = typer.Option(
        None, show_default=False, min=1, help="of the allocation [those of Slurm, or 1]"
    ),
    ranks: Optional[int] = typer.Option(
        None, show_default=False, min=1, help="that compute, on a node [its cores]"
    ),
    launcher: str = typer.Option("", help="as for iocomp launch"),
    hosts: str = typer.Option("", help="as for iocomp launch"),
    build: Optional[Path] = typer.Option(None, show_default=False, help="as for iocomp study run"),
    as_json: bool = typer.Option(False, "--json", help="print it as JSON"),
) -> None:
    """Say what works in a folder and on the nodes of this job, and what to set.

    It ends with 0 if all of it works, and with 1 if something does not, or could not be tried.
    Kills are tried on this node alone.
    """
    end_tidily_when_terminated()
    if not folder.is_dir():
        called.fail(f"{folder} is not a directory")
    target = folder.resolve()
    command = called.iocomp_command()
    benchio = called.build_of(build, command).directory / "apps/benchio/benchio"
    if not benchio.exists():
        called.fail(f"there is no {benchio}: --build names a build directory")
    node_count = nodes or int(os.environ.get("SLURM_JOB_NUM_NODES", "1"))
    node_ranks = ranks or _node_ranks()
    words = (
        *(("--launcher", launcher) if launcher else ()),
        *(("--hosts", hosts) if hosts else ()),
    )
    begin = time.monotonic()
    with ExitStack() as stack:
        try:
            own = stack.enter_context(
                work_directory(target, 2 * node_ranks * node_count * _BLOCK_BYTES)
            )
            site = _Site(command, benchio, own, node_ranks, node_count, words)
        except (OSError, NotEnoughSpaceError) as error:
            checks = [Check("folder", NO, str(error), "nothing else was tried: take another one")]
        else:
            checks = _try_everything(site, target, begin, 60 * minutes)
    about: dict[str, Any] = {
        "folder": str(target),
        "nodes": node_count,
        "ranks": node_ranks * node_count,
        "seconds": time.monotonic() - begin,
        "at": datetime.now().astimezone().isoformat(timespec="seconds"),
        "host": machine.host(target),
    }
    print((json_of if as_json else text_of)(about, checks))
    raise typer.Exit(0 if is_good(checks) else 1)
