# SPDX-License-Identifier: BSD-3-Clause
"""Start the client of tests/smpi on simulated ranks, by SMPI: docs/developers/scale.md."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from iocomp_studies.plan.cell import Cell
from iocomp_studies.runs.seats import NotPossibleError, Seats

RANKS_OF_NODE = 128
FOLDER = Path("tests/smpi")
"""The folder in the build with the libraries that the simulation loads."""
# Collectives of SMPI itself, in MPI_Comm_split and the like: in log P messages.
_COLLECTIVES = (
    "allgather:bruck",
    "gather:ompi_binomial",
    "bcast:binomial_tree",
    "barrier:ompi_bruck",
)
_OPTIONS = (
    "--log=root.thres:error",
    "--cfg=smpi/simulate-computation:no",
    "--cfg=smpi/privatization:no",
    "--cfg=smpi/iprobe:1e-7",
    "--cfg=smpi/test:1e-7",
    "--cfg=smpi/grow-injected-times:no",
    "--cfg=contexts/stack-size:512",
    *(f"--cfg=smpi/{algorithm}" for algorithm in _COLLECTIVES),
)


def hosts_text(ranks: int, nodes: int) -> str:
    """Return the file of hosts: which node has which rank, as many on each."""
    return "".join(f"node{rank * nodes // ranks}\n" for rank in range(ranks))


def launch_words(build: Path, ranks: int, nodes: int, hosts: Path) -> list[str]:
    """Return the words that start the client, without its own arguments.

    Args:
        build: The tree of the preset smpi.
        ranks: The number of ranks, servers included.
        nodes: The number of nodes of the platform.
        hosts: The file with `hosts_text`.
    """
    folder = build / FOLDER
    # smpirun itself must not see the calls of the simulation.
    inside = f"env LD_PRELOAD={folder / 'libsmpi_calls.so'} SMPI_NODES={nodes}"
    words = ["smpirun", "-wrapper", inside, "-quiet", "-np", str(ranks)]
    words += ["-platform", str(folder / "libsmpi_platform.so"), "-hostfile", str(hosts)]
    return [*words, *_OPTIONS, str(folder / "libsmpi_client.so")]


def settings(build: Path, ratio: int) -> dict[str, str]:
    """Return the settings of iocomp that a simulation needs.

    Args:
        build: The tree of the preset smpi.
        ratio: Compute ranks per server; 0 for no servers.
    """
    found = {
        "transport.kind": "message" if ratio else "auto",  # the ranks share one process
        "storage.modules": str(build / "lib" / "iocomp"),
        "disk.engine": "threads",
        "disk.direct": "off",
        "test.touch": "0",
        "server.end": "return",
        "trace.lines": "none",
        "files.out.guard": "false",
    }
    return found | (
        {"placement.policy": "spread", "placement.servers": f"1 per {ratio}"} if ratio else {}
    )


def plan(build: Path, cell: Cell) -> Seats:
    """Return the servers of a cell; where its ranks sit is a matter of the platform.

    Raises:
        NotPossibleError: If a node would have too many ranks, or another number than the others.
    """
    of_node, rest = divmod(cell.ranks, cell.nodes)
    if rest:
        raise NotPossibleError(
            f"{cell.ranks} compute ranks cannot be as many on each of {cell.nodes} nodes"
        )
    serves = cell.mapping != "sequential"
    ratio = int(cell.ratio) if serves else 0
    servers = cell.nodes * -(-of_node // ratio) if serves else 0
    most = cell.nodes * RANKS_OF_NODE
    if cell.ranks + servers > most:
        raise NotPossibleError(
            f"{cell.ranks} compute ranks and {servers} servers: {cell.nodes} simulated nodes "
            f"have room for {most}"
        )
    roles = ("compute",) * cell.ranks + ("server",) * servers
    return Seats((), roles, settings(build, ratio), "")


def read_back(result: Mapping[str, Any], seats: Seats, cell: Cell) -> dict[str, Any]:
    """Return how many servers the library has made, and whether these were asked for."""
    found = int(result.get("servers", -1))
    wrong = [] if found == seats.servers() else [f"{found} servers, not {seats.servers()}"]
    return {"asked": cell.mapping, "found": f"{found} servers", "seats": [], "wrong": wrong}
