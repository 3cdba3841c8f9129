#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run the library on simulated ranks, and tell what it costs: docs/developers/scale.md."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "studies"))

from iocomp_studies.launch import environment_of  # noqa: E402
from iocomp_studies.runs import simulated  # noqa: E402


def simulate(
    build: pathlib.Path,
    ranks: int,
    ratio: int,
    *,
    nodes: int = 0,
    steps: int = 4,
    values: int = 1024,
    cut: str = "rows",
    rows: int = 16,
    limit: float = 600,
    settings: dict[str, str] | None = None,
) -> dict[str, Any]:
    """Run one job and return what the client told, and what the simulation itself cost.

    Args:
        build: The tree that was built with the preset smpi.
        ranks: All of them, servers included.
        ratio: Compute ranks per server; 0 for no servers.
        nodes: 0 takes as many as 128 ranks a node need.
        values: Doubles that each rank puts in a step.
        cut: "rows" (contiguous in the file), "columns" or "cubes".
        rows: The number of rows of an array in columns: a block touches up to so many servers.
        limit: Seconds of this machine.
        settings: More variables IOCOMP_... of the job.

    Raises:
        RuntimeError: If the job fails, or does not end in time.
    """
    nodes = nodes or -(-ranks // simulated.RANKS_OF_NODE)
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("IOCOMP_")}
    own = environment_of(simulated.settings(build, ratio))
    environment = inherited | own | (settings or {})
    with tempfile.TemporaryDirectory(prefix="iocomp-smpi-") as scratch:
        hosts = pathlib.Path(scratch) / "hosts"
        hosts.write_text(simulated.hosts_text(ranks, nodes))
        command = simulated.launch_words(build, ranks, nodes, hosts)
        command += ["--steps", str(steps), "--values", str(values), "--cut", cut]
        command += ["--rows", str(rows)]
        begun = time.monotonic()
        with subprocess.Popen(
            command,
            env=environment,
            cwd=scratch,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as job:
            try:
                told, errors = job.communicate(timeout=limit)
            except subprocess.TimeoutExpired as late:
                os.killpg(job.pid, signal.SIGKILL)  # smpirun would leave the simulation behind
                raise RuntimeError(
                    f"{ranks} ranks, ratio {ratio}: not over after {limit:.0f} s"
                ) from late
        lines = [line for line in told.splitlines() if line.startswith("{")]
        if job.returncode != 0 or len(lines) != 1:
            raise RuntimeError(f"{' '.join(command)}: {job.returncode}\n{told}{errors[-4000:]}")
    result: dict[str, Any] = json.loads(lines[0])
    result.update(
        bytes_of_rank=result["process_bytes"] / ranks,
        ratio=ratio,
        nodes=nodes,
        wall_seconds=round(time.monotonic() - begun, 1),
    )
    return result


def columns() -> list[tuple[str, str, float]]:
    """Title, key and unit of what the table shows."""
    return [
        ("ranks", "ranks", 1),
        ("servers", "servers", 1),
        ("cut", "cut", 0),
        ("busiest server", "server_messages", 1),
        ("mean server", "mean_server_messages", 1),
        ("busiest compute rank", "compute_messages", 1),
        ("KiB a step", "server_message_bytes", 1 / 1024),
        ("longest message, KiB", "longest_message_bytes", 1 / 1024),
        ("sends under way", "most_pending", 1),
        ("init, ms", "init_seconds", 1000),
        ("open, ms", "open_seconds", 1000),
        ("step, ms", "step_seconds", 1000),
        ("empty step, ms", "empty_step_seconds", 1000),
        ("heap of a server, KiB", "server_heap_bytes", 1 / 1024),
        ("mean server", "mean_server_heap_bytes", 1 / 1024),
        ("heap of a compute rank, KiB", "compute_heap_bytes", 1 / 1024),
        ("mean compute rank", "mean_compute_heap_bytes", 1 / 1024),
        ("process, KiB a rank", "bytes_of_rank", 1 / 1024),
        ("wall, s", "wall_seconds", 1),
    ]


def line_of(result: dict[str, Any]) -> str:
    """One line of the table, as Markdown."""
    cells = []
    for _, key, unit in columns():
        value = result[key]
        cells.append(value if isinstance(value, str) else f"{value * unit:.4g}")
    return "| " + " | ".join(cells) + " |"


def main() -> int:
    """Run what the command line asks for; one line of JSON each, or a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "smpi")
    parser.add_argument("--ranks", type=int, nargs="+", default=[64, 256])
    parser.add_argument(
        "--ratio", type=int, nargs="+", default=[4], help="compute ranks per server; 0: no servers"
    )
    parser.add_argument("--cut", nargs="+", default=["rows"], choices=["rows", "columns", "cubes"])
    parser.add_argument("--rows", type=int, default=16, help="of an array in columns")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument(
        "--values", type=int, default=1024, help="doubles that each rank puts in a step"
    )
    parser.add_argument("--nodes", type=int, default=0, help="0: as many as 128 ranks a node need")
    parser.add_argument("--limit", type=float, default=600, help="seconds for each")
    parser.add_argument("--json", action="store_true", help="lines of JSON instead of a table")
    options = parser.parse_args()
    if not options.json:
        print("| " + " | ".join(title for title, _, _ in columns()) + " |")
        print("| " + " | ".join("---" for _ in columns()) + " |")
    failed = False
    for cut in options.cut:
        for ratio in options.ratio:
            for ranks in options.ranks:
                try:
                    result = simulate(
                        options.build,
                        ranks,
                        ratio,
                        nodes=options.nodes,
                        steps=options.steps,
                        values=options.values,
                        cut=cut,
                        rows=options.rows,
                        limit=options.limit,
                    )
                except RuntimeError as error:
                    print(error, file=sys.stderr)
                    failed = True
                    continue
                print(json.dumps(result) if options.json else line_of(result), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
