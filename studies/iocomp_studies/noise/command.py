# SPDX-License-Identifier: BSD-3-Clause
"""The command `iocomp study noise`."""

from __future__ import annotations

import json

import typer

from iocomp_studies.called import fail
from iocomp_studies.noise.ways import MIB, WAYS, Scene, SlowDown, slow_down
from iocomp_studies.plan.clients import bytes_of
from iocomp_studies.table import counted, table

MOST_ITERATIONS = 100_000
MOST_COMPUTED = 200_000_000
"""Iterations of all ranks together, which a minute or two are enough for."""
MOST_REQUESTS = 1 << 22
"""Requests of 1 MiB of all ranks, which some hundred MiB of memory are enough for."""


def noise(
    ranks: list[int] = typer.Option([64, 512, 2048, 8192], help="of the jobs; may be repeated"),
    iteration: float = typer.Option(0.01, help="seconds from one halo exchange to the next"),
    phase: float = typer.Option(10.0, help="seconds from one output to the next"),
    synchronous: float = typer.Option(0.1, help="part of a phase that output takes synchronously"),
    size: str = typer.Option("16MiB", help="that each rank puts in an output"),
    node: int = typer.Option(128, help="ranks of a node"),
    as_json: bool = typer.Option(False, "--json", help="one object instead of a table"),
) -> None:
    """Simulate how much a coupled job loses to its writers, by way of writing and ranks."""
    try:
        bytes_of_rank = bytes_of(size)
    except ValueError:
        fail(f"--size {size}: not a size; 16MiB and 1GiB are")
    if min(ranks) < 1 or node < 1 or bytes_of_rank < 1:
        fail("--ranks, --node and --size have to be positive")
    if not 0 < iteration <= phase:
        fail(f"--iteration {iteration:g}: it has to be positive, and at most a phase of {phase:g} s")
    if not 0 < synchronous < 1:
        fail(f"--synchronous {synchronous:g}: it has to be between 0 and 1")
    if phase > MOST_ITERATIONS * iteration:
        most = MOST_ITERATIONS * iteration
        fail(f"--phase {phase:g}: at most {MOST_ITERATIONS} iterations, which are {most:g} s")
    scenes = [
        Scene(
            number,
            compute=iteration,
            phase=phase,
            synchronous=synchronous,
            bytes=bytes_of_rank,
            node=node,
        )
        for number in ranks
    ]
    iterations = scenes[0].iterations
    if sum(ranks) * iterations > MOST_COMPUTED:
        fail(
            f"--ranks: {sum(ranks)} together are too many; with {iterations} iterations in a "
            f"phase they can be 1 to {MOST_COMPUTED // iterations}"
        )
    if max(ranks) * bytes_of_rank > MOST_REQUESTS * MIB:
        fail(f"--size {size}: with {max(ranks)} ranks at most {MOST_REQUESTS // max(ranks)}MiB")
    found = {"synchronous": [SlowDown(1 + synchronous, waits=False) for _ in ranks]}
    found |= {name: [slow_down(scene, way) for scene in scenes] for name, way in WAYS.items()}
    if as_json:
        ratios = {name: [one.ratio for one in all_] for name, all_ in found.items()}
        waits = {name: [one.waits for one in all_] for name, all_ in found.items()}
        print(json.dumps({"ranks": ranks, "slow_down": ratios, "waits": waits}))
        return
    head = ["wall ÷ without output", *(counted(number, "rank") for number in ranks)]
    rows = [
        [name, *(f"{one.ratio:.4f}{'*' if one.waits else ' '}" for one in all_)]
        for name, all_ in found.items()
    ]
    print(table(head, rows))
    if any(one.waits for all_ in found.values() for one in all_):
        print("* Output takes longer than the phase: the next one waits for it.")
