#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Show what asynchronous output gains: STREAM without output, synchronous, and with a server."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "studies"))

from iocomp_studies.packages import complain_of_missing

if complain_of_missing("demo", ("numpy", "rich", "matplotlib")):
    sys.exit(2)

from iocomp_studies.launch import Build, RunFailedError
from iocomp_studies.rounds import Rounds, run_rounds
from iocomp_studies.work_directory import (
    NotEnoughSpaceError,
    end_tidily_when_terminated,
    work_directory,
)
from picture import draw
from summary import Row, is_too_noisy, rows_of, sentence, text_table
from ways import MIB, Size, methods

LEAST_ROUNDS = 3
SPARE_BYTES = 1 << 30


def arguments() -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True, help="build directory")
    parser.add_argument("--out", type=Path, required=True, help="where results and picture go")
    parser.add_argument("--size", type=int, default=64, help="MiB per array")
    parser.add_argument("--loops", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5, help=f"at most; at least {LEAST_ROUNDS}")
    parser.add_argument("--seconds", type=float, default=150, help="no further round after that")
    return parser.parse_args()


def write_results(path: Path, rows: list[Row], rounds: Rounds, size: Size, gained: str) -> None:
    """Write figures and raw samples as JSON."""
    record = {
        "program": "demo",
        "bytes_per_array": size.bytes_per_array,
        "bytes_written": size.bytes_written(),
        "loops": size.loops,
        "write_every": size.write_every,
        "rounds": rounds.count(),
        "disturbed_runs": rounds.disturbed,
        "rows": [row.record() for row in rows],
        "gained": gained,
        "samples": rounds.results,
    }
    path.write_text(json.dumps(record, indent=1) + "\n")


def main() -> int:
    """Run everything; return 0, or 1 with the reason on stderr."""
    given = arguments()
    end_tidily_when_terminated()
    if (os.cpu_count() or 1) < 2:
        print("demo: needs two cores, this machine has one", file=sys.stderr)
        return 1
    size = Size(bytes_per_array=given.size * MIB, loops=given.loops)
    print(
        f"STREAM, {given.size} MiB per array, {size.loops} loops, "
        f"up to {size.bytes_written() / 2**30:.2f} GiB written per run; ways in a new order each "
        "round"
    )
    try:
        build = Build.read(given.build)
        needed = size.bytes_written() + SPARE_BYTES
        with work_directory(given.out.resolve(), needed) as directory:
            rounds = run_rounds(
                methods(build, directory, size),
                least=min(LEAST_ROUNDS, given.rounds),
                most=given.rounds,
                seconds=given.seconds,
            )
    except (OSError, RunFailedError, NotEnoughSpaceError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    rows = rows_of(rounds)
    gained = sentence(rows, size)
    picture = given.out / "demo.png"
    draw(rows, size, rounds.count(), picture, noisy=is_too_noisy(rows))
    write_results(given.out / "results.json", rows, rounds, size, gained)
    print(f"\n{text_table(rows)}\n")
    print(f"Medians of {rounds.count()} runs each. Picture: {picture}")
    if rounds.disturbed:
        print(f"Something else used the machine during {rounds.disturbed} of the runs.")
    print(f"\n{gained}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
