# SPDX-License-Identifier: BSD-3-Clause
"""All faults, and the cells that are drawn of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from cell import BACK_ENDS, KINDS, MODES, ONLY_WITH_SERVERS, TRANSPORTS, Cell
from disk_faults import (
    clock_jumps,
    folder_goes,
    no_name,
    no_room,
    no_sync,
    no_write,
    read_only,
    short_writes,
    small_file_system,
    small_shared_memory,
)
from file_faults import damage, links, two_jobs
from power_faults import power_loss
from process_faults import (
    end_launcher,
    end_rank,
    kill_everything,
    kill_in_call,
    kill_launcher,
    kill_node,
    kill_rank,
    kill_server,
    server_dies_alone,
    stop,
    stop_node,
)
from trial import Trial


@dataclass(frozen=True)
class Kind:
    """A fault by name."""

    weight: float
    happen: Callable[[Trial], None]
    needs_servers: bool = False
    without: str = ""  # a back-end that it is not tried with


FAULTS = {
    "kill-server": Kind(1, kill_server, needs_servers=True),
    "kill-rank": Kind(1, kill_rank),
    "kill-launcher": Kind(0.5, kill_launcher),
    "kill-everything": Kind(1, kill_everything),
    "kill-in-call": Kind(1.5, kill_in_call),
    "end-rank": Kind(0.4, end_rank),
    "end-launcher": Kind(0.4, end_launcher),
    "server-dies-alone": Kind(0.5, server_dies_alone, needs_servers=True),
    "stop": Kind(0.6, stop),
    "kill-node": Kind(0.5, kill_node),
    "stop-node": Kind(0.4, stop_node),
    "no-room": Kind(4, no_room),
    "small-file-system": Kind(2, small_file_system),
    "no-write": Kind(3, no_write),
    "short-writes": Kind(2, short_writes),
    "no-sync": Kind(3, no_sync),
    "no-name": Kind(2, no_name),
    "read-only": Kind(1, read_only),
    "folder-goes": Kind(2, folder_goes),
    "small-shared-memory": Kind(0.3, small_shared_memory, needs_servers=True),
    "clock-jumps": Kind(1, clock_jumps),
    "two-jobs": Kind(2, two_jobs),
    "links": Kind(1, links),
    "damage": Kind(1, damage),
    "power-loss": Kind(3, power_loss, without="adios2"),
}


def draw(seed: int, number: int) -> Cell:
    """Return the cell with this number, the same wherever it is drawn."""
    dice = random.Random(f"{seed}/{number}")
    fault = dice.choices(list(FAULTS), [fault.weight for fault in FAULTS.values()])[0]
    back_end = dice.choices(list(BACK_ENDS), list(BACK_ENDS.values()))[0]
    if back_end == FAULTS[fault].without:
        back_end = "posix"
    mode = dice.choice(MODES)
    if FAULTS[fault].needs_servers or (mode == "kernel" and back_end in ONLY_WITH_SERVERS):
        mode = "servers"
    transport = dice.choice(TRANSPORTS) if mode == "servers" else ""
    kind = dice.choice(KINDS if back_end != "hdf5-time" else ["series"])
    return Cell(seed, number, back_end, mode, transport, kind, fault)
