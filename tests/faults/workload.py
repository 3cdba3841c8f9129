# SPDX-License-Identifier: BSD-3-Clause
"""A program of the kind that iocomp has: some variables, some steps, and waits in any way."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cell import WHOLE_STEPS, Cell
from files import extension, file_settings

TYPES = ["int64", "float64", "int32", "uint8"]
SHAPES = ["3", "1000", "64x96", "200x40", "7x9x11", "256x512", "1024x300"]
# Series have the variables of the first step in all steps.
FIXED = {"hdf5-time", "netcdf", "pnetcdf", "zarr", "zarr-zstd"}
NAME = "out"
NAMES = ["v0", "v1", "v2"]  # of variables


@dataclass
class Workload:
    """Lines of a script, and what must be known of them."""

    ranks: int
    lines: list[str]
    settings: dict[str, Any]
    seeds: dict[str, int]  # of the values, by variable
    path: str
    steps: int
    file_per_step: bool
    keep: int
    before: list[str] = field(default_factory=list)  # lines before `init`
    leaves: bool = False  # without MPI_Finalize

    @property
    def script(self) -> str:
        lines = [*self.before, "init", *self.lines, *(["leave"] if self.leaves else [])]
        return "\n".join(lines)

    def insert(self, dice: random.Random, line: str) -> None:
        """Let it happen anywhere after the file is open."""
        self.lines.insert(dice.randint(1, len(self.lines)), line)

    def targets(self, folder: Path) -> list[Path]:
        """Return the files and folders that are there under final names."""
        name, dot, ending = self.path.rpartition(".")
        pattern = f"{name}.[0-9]*{dot}{ending}" if self.file_per_step else self.path
        return sorted(folder.glob(pattern))


def _wait(dice: random.Random, step: int, waits_in_step: bool) -> list[str]:
    states = ["handed_over", *(["written"] if waits_in_step else [])]
    return dice.choice(
        [
            [],
            [f"wait {NAME} {dice.choice(states)}"],
            [f"wait {NAME} {dice.choice(states)} order=backward"],
            ["progress"],
            [f"test {NAME} durable"],
            [f"wait_step {NAME} {step - 1}"] if step > 0 else [],
        ]
    )


def _put(dice: random.Random, name: str, shape: str) -> str:
    cut = dice.choice(["rows", "columns"])
    more = dice.choice(["", "", " buffered=yes", " halo=1", " in=session"])
    return f"put {NAME} {name} by={cut}{more}" if "x" in shape else f"put {NAME} {name}{more}"


def draw_rival(cell: Cell, to: Workload) -> Workload:
    """Return another program with a target of the same names."""
    for number in range(1000):
        rival = draw_workload(cell, base=1 << 31, purpose=f"rival {number}")
        if (rival.file_per_step, rival.keep) == (to.file_per_step, to.keep):
            return rival
    raise AssertionError("no program has such a target")


def draw_workload(
    cell: Cell, base: int = 0, steps: tuple[int, int] = (3, 7), purpose: str = "workload"
) -> Workload:
    """Return a program for a cell. `base`: of its values, so that two programs differ in them."""
    dice = cell.dice(purpose)
    number_of_steps = dice.randint(*steps)
    names = NAMES[: dice.randint(1, 3)]
    shapes = {name: dice.choice(SHAPES) for name in names}
    seeds = {name: base + dice.randrange(1, 1 << 30) for name in names}
    file: dict[str, Any] = {}
    if cell.kind == "series" and dice.random() < 0.15 and cell.back_end != "hdf5-time":
        file["kind"] = "file_per_step"
    if cell.kind == "checkpoint" and dice.random() < 0.3:
        file["keep"] = dice.randint(1, 3)
    if dice.random() < 0.3:
        file["steps_in_flight"] = dice.randint(1, 3)
    per_step = cell.kind == "checkpoint" or "kind" in file
    lines = [f"open {NAME} {cell.kind}"]
    lines += [
        f"define {NAME} {name} {dice.choice(TYPES)} {shapes[name]} seed={seeds[name]}"
        for name in names
    ]
    all_in_all = cell.back_end in FIXED and not per_step
    # Without servers the place of a variable is known before the end of a step in posix alone.
    waits_in_step = cell.mode == "servers" and cell.back_end not in {"mpiio"} | WHOLE_STEPS
    waits_in_step = waits_in_step or (cell.mode == "kernel" and cell.back_end == "posix")
    for step in range(number_of_steps):
        put = [name for name in names if step == 0 or all_in_all or dice.random() < 0.9]
        dice.shuffle(put)
        for name in put or names[:1]:
            lines.append(_put(dice, name, shapes[name]))
            lines += _wait(dice, step, waits_in_step) if dice.random() < 0.2 else []
        lines.append(f"end_step {NAME}")
        if dice.random() < 0.4:
            lines.append(f"wait_step {NAME} {dice.randint(max(0, step - 1), step)}")
        if dice.random() < 0.2:
            lines.append(f"pause {dice.choice([0.001, 0.005, 0.02])}")
    lines.append(f"close {NAME}")
    path = f"{NAME}{extension(cell.back_end)}"
    settings: dict[str, Any] = {
        "mode": "sync" if cell.mode == "sync" else "async",
        "placement": {} if cell.has_servers else {"servers": "none"},
        "transport": {"kind": cell.transport} if cell.has_servers else {},
        "disk": {"engine": dice.choice(["auto", "auto", "threads"])},
        "test": {"direct_from": dice.choice(["4 KiB", "64 KiB", "1 MiB"])},
        "files": {NAME: file_settings(cell.back_end, path=path, **file)},
    }
    if cell.transport == "shared" and dice.random() < 0.5:
        settings["test"]["way"] = dice.choice(["pull", "staged", "in-place"])
    if cell.has_servers and dice.random() < 0.3:
        settings["placement"] = {"servers": "1 per node"}
    if cell.has_servers and dice.random() < 0.3:
        settings["test"]["stripe"] = dice.choice(["0 B", "64 KiB", "1 MiB"])
    return Workload(
        ranks=dice.choice([2, 4, 4]) if cell.has_servers else dice.choice([1, 2, 3]),
        lines=lines,
        settings=settings,
        seeds=seeds,
        path=path,
        steps=number_of_steps,
        file_per_step=per_step,
        keep=file.get("keep", 0),
    )
