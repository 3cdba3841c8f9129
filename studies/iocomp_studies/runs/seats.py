# SPDX-License-Identifier: BSD-3-Clause
"""The cores of the ranks of a cell: those that it asks for, and those that they had."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iocomp_studies.plan.cell import Cell


class NotPossibleError(RuntimeError):
    """The ranks cannot sit so on this machine; the text is that of `iocomp map`."""


@dataclass(frozen=True)
class Seats:
    """The cores and roles that ranks shall have.

    Attributes:
        cpus: The core of each rank.
        roles: The role of each rank: "compute" or "server".
        settings: The settings with which the library finds the same servers.
        line: The line that starts the job under Slurm, and ends with "./program".
    """

    cpus: tuple[int, ...]
    roles: tuple[str, ...]
    settings: dict[str, str]
    line: str

    def servers(self) -> int:
        """Return how many ranks serve."""
        return self.roles.count("server")


def plan_seats(command: Path, cell: Cell, topology: str = "") -> Seats:
    """Ask `iocomp map` where the ranks of a cell shall sit.

    Args:
        command: The command `iocomp`.
        cell: The cell that shall run.
        topology: A node, as `--topology` takes it; this machine by default.

    Raises:
        NotPossibleError: If it does not fit this machine, with the reason.
    """
    words = [str(command), "map", "--json", "--launcher", "slurm", "--mapping", cell.mapping]
    words += ["--compute-ranks", str(cell.ranks), "--nodes", str(cell.nodes)]
    if cell.mapping == "sequential":
        words += ["--kernel"] if cell.output == "async" else []
    elif cell.mapping in ("consecutive", "hyperthread", "oversubscribe", "l3", "numa", "node"):
        words += ["--ratio", cell.ratio] if cell.ratio != "1" else []
    if topology:
        words += ["--topology", topology]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        raise NotPossibleError(done.stderr.strip().removeprefix("iocomp: "))
    found = json.loads(done.stdout)
    ranks = found["ranks"]
    return Seats(
        tuple(int(rank["cpu"]) for rank in ranks),
        tuple(str(rank["role"]) for rank in ranks),
        {k: str(v) for k, v in found["settings"].items()},
        str(found["launch"]),
    )


def read_back(folder: Path, report: Path, seats: Seats, cell: Cell) -> dict[str, Any]:
    """Return where the ranks really sat, and whether that is what was asked.

    Args:
        folder: The folder in which pin.sh let each rank write its host and CPUs.
        report: The file that the library wrote for `placement.report`; missing without output.
        seats: The seats that were asked for.
        cell: The cell of the run.
    """
    rows: list[dict[str, Any]] = []
    wrong: list[str] = []
    for rank, (cpu, role) in enumerate(zip(seats.cpus, seats.roles, strict=True)):
        host, cpus = _seat(folder / f"seat.{rank}")
        rows.append({"rank": rank, "role": role, "host": host, "cpus": cpus})
        if cpus != str(cpu):
            wrong.append(f"rank {rank} sat on CPU {cpus or '?'}, not on {cpu}")
    hosts = {row["host"] for row in rows}
    if len(hosts) != cell.nodes:
        wrong.append(f"{len(hosts)} hosts, not {cell.nodes}")
    found = ""
    if report.exists():
        lines = report.read_text().splitlines()
        about = dict(line[2:].split(": ", 1) for line in lines if ": " in line)
        found = about.get("found", "")
        for line in lines:
            row = line.split("\t")
            if line.startswith("#") or len(row) < 2 or int(row[0]) >= len(rows):
                continue
            role = seats.roles[int(row[0])]
            if row[1] != role:
                wrong.append(f"rank {row[0]} is a {row[1]}, not a {role}")
        name = found.split(" ")[0]
        if cell.mapping in ("consecutive", "hyperthread", "oversubscribe") and name != cell.mapping:
            wrong.append(f"the library finds mapping {found}")
    return {"asked": cell.mapping, "found": found, "seats": rows, "wrong": wrong}


def _seat(path: Path) -> tuple[str, str]:
    try:
        host, _, cpus = path.read_text().strip().partition(" ")
    except OSError:
        return "", ""
    return host, cpus
