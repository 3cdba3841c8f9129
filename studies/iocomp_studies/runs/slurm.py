# SPDX-License-Identifier: BSD-3-Clause
"""Run a study as jobs of Slurm: write them, submit them, wait, and collect what they left."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from iocomp_studies.launch import Build
from iocomp_studies.plan.cell import Cell
from iocomp_studies.plan.study import Study, groups_by_nodes
from iocomp_studies.results.identity import identity_of
from iocomp_studies.results.lines import Record, is_good, read_lines
from iocomp_studies.runs import machine
from iocomp_studies.runs.campaign import Outcome, Surroundings, run_study, with_part
from iocomp_studies.runs.seats import NotPossibleError, plan_seats

POLL_SECONDS = 2.0
_SPARE_MINUTES = 2
"""The minutes of a job that are left for its start and its end."""


class SlurmError(OSError):
    """Slurm is missing, or refuses a job; the text is its own."""


def _ask(words: Sequence[str]) -> str:
    if shutil.which(words[0]) is None:
        raise SlurmError(f"{words[0]} is not in the PATH: --launcher slurm needs Slurm")
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise SlurmError(f"{shlex.join(words)}: {done.stderr.strip()}")
    return done.stdout.strip()


def rounds_of_a_part(study: Study) -> int:
    """Return how many repetitions each job of an array makes."""
    return -(-study.most // study.slurm.parts)


def script(study: Study, command: Path, build: Build, place: Path, nodes: int) -> str:
    """Return the batch script for all cells of so many nodes."""
    slurm = study.slurm
    options = [
        f"--job-name=study-{study.name}",
        f"--nodes={nodes}",
        f"--time={slurm.minutes}",
        "--exclusive",
        f"--output={place}/slurm/nodes-{nodes}.%a.log",
        f"--array=0-{slurm.parts - 1}",
        *slurm.options,
    ]
    words = [str(command), "study", "run", str(study.source.resolve())]
    words += ["--build", str(build.directory), "--out", str(place)]
    words += ["--launcher", "slurm", "--inside", str(nodes)]
    lines = ["#!/bin/bash", *(f"#SBATCH {option}" for option in options), *slurm.setup]
    return "\n".join((*lines, f'exec {shlex.join(words)} --part "$SLURM_ARRAY_TASK_ID"', ""))


def run(study: Study, command: Path, build: Build, place: Path, *, wait: bool) -> Outcome:
    """Submit the jobs that are missing, and wait for them unless told otherwise.

    Jobs of an earlier call that still run are waited for, not submitted again.

    Raises:
        SlurmError: If Slurm is missing or refuses.
    """
    folder = place / "slurm"
    folder.mkdir(parents=True, exist_ok=True)
    outcome = Outcome()
    jobs = _jobs(folder)
    here = machine.about(command, build, place)
    for nodes, cells in groups_by_nodes(study.cells):
        possible = _possible(study, command, cells, outcome)
        name = f"nodes-{nodes}"
        if not possible or _is_running(jobs.get(name)) or _is_complete(study, here, place, possible):
            continue
        path = folder / f"{name}.sh"
        path.write_text(script(study, command, build, place, nodes))
        jobs[name] = _ask(["sbatch", "--parsable", str(path)]).split(";")[0]
        (folder / "jobs.json").write_text(json.dumps(jobs) + "\n")
        print(f"submitted job {jobs[name]}: {path}", file=sys.stderr)
    try:
        while wait and any(_is_running(job) for job in jobs.values()):
            time.sleep(POLL_SECONDS)
    except KeyboardInterrupt:
        outcome.was_stopped = True
        print("the jobs go on; the same command waits for them again", file=sys.stderr)
    if wait and not outcome.was_stopped:
        _tell_failures(study, place, outcome)
    return outcome


def _jobs(folder: Path) -> dict[str, str]:
    try:
        found = json.loads((folder / "jobs.json").read_text())
    except (OSError, ValueError):
        return {}
    return dict(found)


def _is_running(job: str | None) -> bool:
    if job is None:
        return False
    try:
        return bool(_ask(["squeue", "--noheader", "--jobs", job, "--format=%i"]))
    except SlurmError:  # Slurm forgets jobs that ended some minutes ago
        return False


def _possible(study: Study, command: Path, cells: Sequence[Cell], outcome: Outcome) -> list[Cell]:
    found = []
    for cell in cells:
        try:
            plan_seats(command, cell, study.slurm.topology)
            found.append(cell)
        except NotPossibleError as error:
            outcome.not_possible[cell.label()] = str(error)
    return found


def _is_complete(
    study: Study, here: Record, place: Path, cells: Sequence[Cell]
) -> bool:
    """Return whether every cell has its least repetitions already, by this build."""
    records, _ = read_lines(sorted(place.glob("*.jsonl")))
    counts: dict[str, int] = {}
    for record in records:
        # This node is another one than those of the jobs, and does not know the cluster's name.
        if is_good(record) and identity_of(record)[2:] == identity_of(here)[2:]:
            counts[record["key"]] = counts.get(record["key"], 0) + 1
    return all(counts.get(cell.key(), 0) >= study.least for cell in cells)


def _tell_failures(study: Study, place: Path, outcome: Outcome) -> None:
    """Say of every cell without a good result why it has none."""
    records, _ = read_lines(sorted(place.glob("*.jsonl")))
    good = {record["key"] for record in records if is_good(record)}
    stories = {record["key"]: record["failed"] for record in records if record.get("failed")}
    for cell in study.cells:
        label = cell.label()
        if cell.key() not in good and label not in outcome.not_possible:
            logs = f"no result: see {place}/slurm/nodes-{cell.nodes}.*.log"
            outcome.failed[label] = str(stories.get(cell.key(), logs))


def run_inside(study: Study, around: Surroundings, place: Path, nodes: int, part: int) -> Outcome:
    """Run the cells of so many nodes within an allocation: one part of the repetitions."""
    cells = [cell for cell in study.cells if cell.nodes == nodes]
    most = rounds_of_a_part(study)
    out = place / f"nodes-{nodes}.part-{part}.jsonl"
    earlier: list[dict[str, Any]] = read_lines([out])[0] if out.exists() else []
    minutes = min(study.minutes, max(1, study.slurm.minutes - _SPARE_MINUTES))
    return run_study(
        with_part(study, cells, most), around, out, earlier, minutes=minutes,
        first_round=part * most,
    )  # fmt: skip
