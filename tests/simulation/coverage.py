#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Say which lines of the library simulated histories reach: docs/developers/simulation.md.

Usage: coverage.py [--missed] [options of the simulation], such as `--seeds 20000 --jobs 2`
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "coverage"
ROOMS = ["steps", "writing", "writer", "commit", "client", "server"]


def build() -> None:
    """Build the simulation with counters, and forget what was counted before."""
    if not (BUILD / "build.ninja").exists():
        flags = [
            "-DCMAKE_CXX_FLAGS=--coverage",
            "-DCMAKE_CXX_FLAGS_RELEASE=-O1",
            "-DCMAKE_EXE_LINKER_FLAGS=-Wl,-u,__gcov_dump",  # children of the program call it
        ]
        subprocess.run(
            ["cmake", "--preset", "simulation", "-B", BUILD, *flags],
            cwd=ROOT,
            check=True,
            stdout=sys.stderr,
        )
    subprocess.run(
        ["cmake", "--build", BUILD, "--target", "simulation"], check=True, stdout=sys.stderr
    )
    for counted in BUILD.rglob("*.gcda"):
        counted.unlink()


def reached_lines() -> dict[Path, dict[int, bool]]:
    """Return for each source of the rooms whether its lines were reached."""
    lines: dict[Path, dict[int, bool]] = defaultdict(dict)
    for room in ROOMS:
        for counted in (BUILD / "src" / room).rglob("*.gcda"):
            done = subprocess.run(
                ["gcov", "--json-format", "--stdout", counted],
                cwd=BUILD,
                capture_output=True,
                check=True,
            )
            for text in done.stdout.splitlines():
                report = json.loads(text)
                for file in report["files"]:
                    path = (Path(report["current_working_directory"]) / file["file"]).resolve()
                    if not any(path.is_relative_to(ROOT / "src" / one) for one in ROOMS):
                        continue
                    known = lines[path.relative_to(ROOT / "src")]
                    for line in file["lines"]:
                        number = line["line_number"]
                        known[number] = known.get(number, False) or line["count"] > 0
    return lines


def in_ranges(numbers: list[int]) -> str:
    """Return "3-5, 9" for 3, 4, 5, 9."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and number == ranges[-1][1] + 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges)


def main() -> int:
    """Build, run, count."""
    options = sys.argv[1:]
    tells_missed = "--missed" in options
    options = [one for one in options if one != "--missed"] or ["--seeds", "20000", "--jobs", "2"]
    build()
    program = BUILD / "tests" / "simulation" / "simulation"
    status = 0
    for run in (["--sweep"], ["--kept", ROOT / "tests" / "simulation" / "kept"], options):
        status |= subprocess.run([program, *run], check=False).returncode
    lines = reached_lines()
    for room in (*ROOMS, "all"):
        of_room = {path: known for path, known in sorted(lines.items()) if path.parts[0] == room}
        of_room = lines if room == "all" else of_room
        total = sum(len(known) for known in of_room.values())
        reached = sum(sum(known.values()) for known in of_room.values())
        print(f"{room:8} {reached:5} of {total:5} lines: {100 * reached / max(total, 1):5.1f} %")
        for path, known in of_room.items() if tells_missed and room != "all" else ():
            missed = sorted(number for number, is_reached in known.items() if not is_reached)
            if missed:
                print(f"    {path}: {in_ranges(missed)}")
    return status


if __name__ == "__main__":
    sys.exit(main())
