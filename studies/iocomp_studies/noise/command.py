# SPDX-License-Identifier: BSD-3-Clause
"""The command `iocomp study noise`."""

from __future__ import annotations

import json

import typer

from iocomp_studies.called import fail
from iocomp_studies.noise.ways import WAYS, Scene, slow_down
from iocomp_studies.plan.clients import bytes_of
from iocomp_studies.table import table


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
    found = {
        name: [
            slow_down(
                Scene(
                    number,
                    compute=iteration,
                    phase=phase,
                    synchronous=synchronous,
                    bytes=bytes_of_rank,
                    node=node,
                ),
                way,
            )
            for number in ranks
        ]
        for name, way in WAYS.items()
    }
    found = {"synchronous": [1 + synchronous for _ in ranks]} | found
    if as_json:
        print(json.dumps({"ranks": ranks, "slow_down": found}))
        return
    head = ["wall ÷ without output", *(f"{number} ranks" for number in ranks)]
    print(table(head, [[name, *(f"{one:.4f}" for one in all_)] for name, all_ in found.items()]))
