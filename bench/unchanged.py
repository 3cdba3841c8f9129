#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measure an HDF5 program without output, with HDF5 alone, and with the connector, in turn.

The build is one with the connector, as `make check-hdf5-connector` makes it:
    bench/unchanged.py --build build/connector-1.14-openmpi --directory /disk/of/yours
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "studies"))

from iocomp_studies.packages import complain_of_missing

if complain_of_missing("unchanged", ("numpy", "rich")):
    sys.exit(2)

from iocomp_studies.rounds import Rounds, run_rounds
from iocomp_studies.work_directory import end_tidily_when_terminated, work_directory

PATTERNS = {
    "vol-one-file": "one",
    "vol-flush": "flush",
    "vol-file-per-step": "files",
    "vol-records": "records",
}
RANKS = 2
STEPS = 16
MIB = 64
# Compressed, by one rank: a core is left for the threads that filter.
PACKED = {"steps": 8, "mib": 32}
PROBED_ROUNDS = 20000

Result = dict[str, Any]


class Program:
    """The program of one build, and where it writes."""

    def __init__(self, build: Path, directory: Path) -> None:
        self._facts = json.loads((build / "tests/connector/connector.json").read_text())
        self._programs = build / "bench"
        self._directory = directory

    def run_packed(self, pattern: str, rounds: int, *, connector: bool) -> Result:
        """Run the one whose file is compressed, or the same without output."""
        return self.run(pattern, rounds, connector=connector, ranks=1, **PACKED)

    def run(
        self,
        pattern: str,
        rounds: int,
        *,
        connector: bool,
        ranks: int = RANKS,
        steps: int = STEPS,
        mib: int = MIB,
    ) -> Result:
        """Run it once; return what it prints."""
        self._clear()
        environment = dict(os.environ)
        if connector:
            environment["HDF5_VOL_CONNECTOR"] = "iocomp"
            environment["HDF5_PLUGIN_PATH"] = self._facts["plugins"]
        return self._result(
            "unchanged_program", ranks, environment, pattern, rounds, steps=steps, mib=mib
        )

    def run_by_iocomp(self, rounds: int) -> Result:
        """Run the one that is written for iocomp."""
        self._clear()
        return self._result("unchanged_by_iocomp", RANKS, dict(os.environ), None, rounds)

    def _clear(self) -> None:
        for old in self._directory.iterdir():
            old.unlink()
        os.sync()

    def _result(
        self,
        program: str,
        ranks: int,
        environment: dict[str, str],
        pattern: str | None,
        rounds: int,
        *,
        steps: int = STEPS,
        mib: int = MIB,
    ) -> Result:
        of_pattern = [] if pattern is None else [pattern]
        words = [*self._facts["launcher"], str(ranks), str(self._programs / program), *of_pattern,
                 str(self._directory / "out.h5"), str(steps), str(mib), str(rounds)]  # fmt: skip
        done = subprocess.run(
            words, env=environment, capture_output=True, text=True, timeout=600, check=True
        )
        result: Result = json.loads(done.stdout.splitlines()[-1])
        return result


def work_per_packed_step(program: Program) -> int:
    """Return the rounds of work that take as long as HDF5's own compression of a step."""
    pack = statistics.median(
        float(program.run_packed("packed", 0, connector=False)["write_seconds"]) for _ in range(3)
    )
    work = statistics.median(
        float(program.run_packed("none", PROBED_ROUNDS, connector=False)["compute_seconds"])
        for _ in range(3)
    )
    print(f"a step is compressed in {1000 * pack / PACKED['steps']:.0f} ms by HDF5 alone", file=sys.stderr)
    return max(1, int(pack / (work / PROBED_ROUNDS)))


def work_per_step(program: Program, multiple: float) -> int:
    """Return the rounds of work that take so many times as long as HDF5's own write of a step."""

    def median(pattern: str, rounds: int, key: str) -> float:
        return statistics.median(
            float(program.run(pattern, rounds, connector=False)[key]) for _ in range(3)
        )

    write = median("one", 0, "wall_seconds") / STEPS
    work = median("none", PROBED_ROUNDS, "compute_seconds") / STEPS / PROBED_ROUNDS
    print(f"a step is written in {1000 * write:.0f} ms by HDF5 alone", file=sys.stderr)
    return max(1, int(multiple * write / work))


def line(name: str, values: list[float], unit: str = "") -> str:
    """Return one figure: median and range."""
    return (
        f"{name:34} {statistics.median(values):8.3f}{unit} "
        f"({min(values):.3f} to {max(values):.3f}, {len(values)} rounds)"
    )


def report(rounds: Rounds) -> list[str]:
    """Return the figures, each the median over rounds of what one round gives."""
    lines = []
    for figure, pattern in PATTERNS.items():
        for way in ("native", "connector"):
            method = f"{pattern} {way}"
            pairs = rounds.values("wall_seconds", [method, "none"])
            lines.append(line(f"{figure} {way}", [one[method] / one["none"] for one in pairs]))
            for part in ("write_seconds", "close_seconds"):
                shown = [one[method] for one in rounds.values(part, [method])]
                lines.append(line(f"  {part}", shown, " s"))
    for way in ("native", "connector"):
        method = f"packed {way}"
        pairs = rounds.values("wall_seconds", [method, "none by one"])
        ratios = [one[method] / one["none by one"] for one in pairs]
        lines.append(line(f"vol-packed {way}", ratios))
        shown = [one[method] for one in rounds.values("write_seconds", [method])]
        lines.append(line("  write_seconds", shown, " s"))
    pairs = rounds.values("wall_seconds", ["packed together", "none together"])
    ratios = [one["packed together"] / one["none together"] for one in pairs]
    lines.append(line("vol-packed with MPI, left to HDF5", ratios))
    pairs = rounds.values("wall_seconds", ["iocomp", "one connector", "none"])
    lines.append(line("vol-iocomp by iocomp", [one["iocomp"] / one["none"] for one in pairs]))
    against = [one["iocomp"] / one["one connector"] for one in pairs]
    lines.append(line("vol-iocomp / connector", against))
    for way in ("native", "connector"):
        calls = rounds.results[f"call {way}"]
        small = [1e6 * (one["small_seconds"] - one["small_copy_seconds"]) for one in calls]
        large = [one["large_seconds"] / one["large_copy_seconds"] for one in calls]
        lines.append(line(f"vol-call {way} 4 KiB over memcpy", small, " us"))
        lines.append(line(f"vol-call {way} 64 MiB / memcpy", large))
    return lines


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--directory", type=Path, default=Path("build"), help="on the disk to measure")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--multiple", type=float, default=3, help="a phase ÷ HDF5's own write")
    asked = parser.parse_args()
    end_tidily_when_terminated()
    with work_directory(asked.directory, (STEPS * MIB * RANKS + 1024) << 20) as directory:
        program = Program(asked.build, directory)
        work = work_per_step(program, asked.multiple)
        packed_work = work_per_packed_step(program)
        methods = {"none": functools.partial(program.run, "none", work, connector=False)}
        for connector, way in ((False, "native"), (True, "connector")):
            for pattern in PATTERNS.values():
                methods[f"{pattern} {way}"] = functools.partial(
                    program.run, pattern, work, connector=connector
                )
            methods[f"packed {way}"] = functools.partial(
                program.run_packed, "packed", packed_work, connector=connector
            )
            methods[f"call {way}"] = functools.partial(
                program.run, "call", 0, connector=connector, ranks=1
            )
        methods["packed together"] = functools.partial(
            program.run, "packed-together", packed_work, connector=True, **PACKED
        )
        methods["none together"] = functools.partial(
            program.run, "none", packed_work, connector=False, **PACKED
        )
        methods["none by one"] = functools.partial(
            program.run_packed, "none", packed_work, connector=False
        )
        methods["iocomp"] = functools.partial(program.run_by_iocomp, work)
        rounds = run_rounds(methods, least=asked.rounds, most=asked.rounds, seconds=3600)
        print("\n".join(report(rounds)))


if __name__ == "__main__":
    main()
