# SPDX-License-Identifier: BSD-3-Clause
"""A format refuses in the call, on all ranks, what it cannot hold; its own readers find all else.

Many random files (accepted.py) of all back-ends share a script, and scripts a launch.
IOCOMP_TEST_SEED repeats one of them, IOCOMP_TEST_FILES says how many there are.
"""

from __future__ import annotations

import multiprocessing
import os
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from accepted import Call, RandomFile, model_of, random_file
from actors import INVALID_ARGUMENT, OK, UNSUPPORTED, Actors, Job
from case import Placement
from script import FileScript
from verification import verify_file

IN_ONE_SCRIPT = 40
WAYS = [
    Placement("sync1", 1, 1, {"mode": "sync"}),
    Placement("sync2", 2, 2, {"mode": "sync"}),
    Placement("kernel2", 2, 2, {"mode": "async", "placement": {"servers": "none"}}),
    Placement("halves4", 4, 2, {"mode": "async", "placement": {"policy": "halves"}}),
    Placement(
        "message3",
        3,
        2,
        {"mode": "async", "placement": {"servers": "1 per node"}, "transport": {"kind": "message"}},
    ),
]
REFUSALS = {INVALID_ARGUMENT, UNSUPPORTED}


class _Batch:
    """Files that are written in one session."""

    def __init__(self, seed: int, count: int, actors: Actors) -> None:
        chance = random.Random(seed)
        self.way = chance.choice(WAYS)
        made = (random_file(chance.randrange(1 << 32), f"f{i}") for i in range(count))
        self.files = [file for file in made if actors.build.has_back_end(file.back_end.name)]

    def play(self, actors: Actors) -> Job:
        settings = dict(self.way.settings)
        settings["files"] = {file.name: file.settings for file in self.files}
        lines = ["init", *(line for file in self.files for line in file.script())]
        return actors.play("\n".join(lines), ranks=self.way.ranks, settings=settings, seconds=240)


def _answers(job: Job) -> dict[int, dict[int, dict[str, object]]]:
    """Return what the calls of each line came to, by rank."""
    found: dict[int, dict[int, dict[str, object]]] = {}
    for entry in job.entries:
        if "line" in entry:
            found.setdefault(entry["line"], {})[entry["rank"]] = entry
    return found


def _judge(
    file: RandomFile, first_line: int, answers: dict[int, dict[int, dict[str, object]]], ranks: int
) -> tuple[list[str], list[Call], Counter[str]]:
    """Return what is wrong with the answers, what was accepted, and how often what was refused."""
    wrong: list[str] = []
    accepted: list[Call] = []
    refused: Counter[str] = Counter()
    for number, call in enumerate(file.calls, first_line):
        of_ranks = answers.get(number, {})
        codes = {entry["code"] for entry in of_ranks.values()}
        if len(of_ranks) != (1 if call.is_put else ranks) or len(codes) != 1:
            wrong.append(f"{call.line[:200]}: the ranks were told {of_ranks}")
        elif codes == {OK}:
            accepted.append(call)
        else:
            story = next(iter(of_ranks.values()))["story"]
            refused[call.line.split()[0]] += 1
            if call.must_succeed or not codes <= REFUSALS:
                wrong.append(f"{call.line[:200]}: {codes}: {story}")
    return wrong, accepted, refused


def _wrong_in(batch: _Batch, job: Job, totals: Counter[str]) -> list[str]:
    if job.status != 0:
        return [f"{job.command}\nended with {job.status}\n{job.output[-4000:]}"]
    answers = _answers(job)
    wrong = []
    line = 2
    models = []
    for file in batch.files:
        told, accepted, refused = _judge(file, line, answers, batch.way.compute_ranks)
        line += len(file.calls)
        totals.update(accepted=len(accepted), refused=refused.total())
        models.append((file, model_of(file, accepted), told))
    for file, told in _compared(job.folder, models):
        if told:
            label = f"seed {file.seed}, {file.back_end.label}, {file.kind}, {batch.way.label}"
            wrong.append("\n  ".join([f"{label} in {job.folder}/{file.name}", *told[:6]]))
    return wrong


def _compared(
    folder: Path, models: Sequence[tuple[RandomFile, FileScript, list[str]]]
) -> Iterator[tuple[RandomFile, list[str]]]:
    """Compare files with what they must hold, in a process that a reader may crash."""
    first = 0
    while first < len(models):
        ours, theirs = multiprocessing.Pipe(duplex=False)
        reader = multiprocessing.get_context("fork").Process(
            target=_compare, args=(folder, models[first:], theirs)
        )
        reader.start()
        theirs.close()
        try:
            while first < len(models):
                differs = ours.recv()
                file, _, told = models[first]
                yield file, [*told, *differs]
                first += 1
        except EOFError:
            reader.join()
            yield models[first][0], [f"its reader ends with {reader.exitcode}"]
            first += 1
        reader.join()


def _compare(
    folder: Path, models: Sequence[tuple[RandomFile, FileScript, list[str]]], answers: Connection
) -> None:
    for file, model, _ in models:
        answers.send(verify_file(model, folder, file.back_end))


@pytest.mark.quick
def test_what_is_accepted_is_there(actors: Actors) -> None:
    asked = os.environ.get("IOCOMP_TEST_FILES")
    count = int(asked or 200)
    given = os.environ.get("IOCOMP_TEST_SEED")
    # The same files in each `make check`, so that what fails is the change.
    # `make check-accepted` tries new ones.
    seeds = random.SystemRandom() if asked else random.Random(1)
    began = time.monotonic()
    totals: Counter[str] = Counter()
    wrong: list[str] = []
    for first in range(0, count, IN_ONE_SCRIPT):
        seed = int(given) if given else seeds.randrange(1 << 32)
        batch = _Batch(seed, min(IN_ONE_SCRIPT, count - first), actors)
        job = batch.play(actors)
        if found := _wrong_in(batch, job, totals):
            wrong += [f"IOCOMP_TEST_SEED={seed}", *found]
            totals.update(differ=len(found))
        else:
            job.forget()
        totals.update(files=len(batch.files))
        if given or len(wrong) > 40:
            break
    seconds = time.monotonic() - began
    print(
        f"{totals['files']} files, {totals['accepted']} calls accepted, {totals['refused']} refused,"
        f" {totals['differ']} differ, {seconds:.0f} s"
    )
    assert not wrong, "\n".join(wrong)
