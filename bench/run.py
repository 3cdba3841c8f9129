#!/usr/bin/python3
"""Run the benchmarks and judge them against their goals; docs/metrics.md defines every figure."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "studies"))

from iocomp_bench.calibrate import calibrate, follow
from iocomp_bench.figure import Figure
from iocomp_bench.figures import chosen
from iocomp_bench.methods import BYTES_PER_RANK, Runner, all_methods
from iocomp_bench.report import LEAST_ROUNDS, judge, text, unexpected
from iocomp_bench.ways import OVERLAPS
from iocomp_studies.launch import Build, RunFailedError
from iocomp_studies.rounds import Rounds, run_rounds
from iocomp_studies.work_directory import (
    NotEnoughSpaceError,
    end_tidily_when_terminated,
    work_directory,
)

NEEDED_BYTES = 2 * BYTES_PER_RANK + (2 << 30)


def arguments() -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True, help="build directory")
    parser.add_argument("--out", type=Path, required=True, help="where the results go")
    parser.add_argument("--only", default="", help="ids, separated by commas")
    parser.add_argument("--rounds", type=int, default=9, help=f"at most; at least {LEAST_ROUNDS}")
    parser.add_argument("--seconds", type=float, default=540, help="no further round after that")
    return parser.parse_args()


def measure(runner: Runner, figures: list[Figure], rounds: int, seconds: float) -> Rounds:
    """Calibrate what is needed and run all rounds."""
    needed = {name for figure in figures for name in (*figure.methods, *figure.optional)}
    judged = {name for figure in figures if figure.has_goal() for name in figure.methods}
    begin = time.monotonic()
    used = [series for series in OVERLAPS if needed.intersection(series.methods())]
    calibrations = {}
    for ranks in sorted({series.ranks for series in used}):
        print(f"calibrating with {ranks} rank(s) ...", file=sys.stderr, flush=True)
        calibrations[ranks] = calibrate(runner, ranks)
        print(calibrations[ranks].text())
    compute_bytes: dict[str, int] = {}
    methods = all_methods(runner, compute_bytes)

    def recalibrate(so_far: Rounds) -> None:
        for series in used:
            calibration = calibrations[series.ranks]
            compute_bytes[series.name] = follow(calibration, series, so_far.results)

    recalibrate(Rounds())

    return run_rounds(
        {name: method for name, method in methods.items() if name in needed},
        least=min(LEAST_ROUNDS, rounds),
        most=rounds,
        seconds=seconds - (time.monotonic() - begin),
        after_round=recalibrate,
        give_up=(RunFailedError,),
        seldom=needed - judged if judged else (),
    )


def main() -> int:
    """Run, print and write; return 0, or 1 with the reason on stderr if something failed."""
    given = arguments()
    end_tidily_when_terminated()
    try:
        figures = chosen([id_ for id_ in given.only.split(",") if id_])
        build = Build.read(given.build)
        if build.build_type != "Release":
            print(
                f"bench: {given.build} is a {build.build_type or 'nameless'} build", file=sys.stderr
            )
        with work_directory(given.out.resolve(), NEEDED_BYTES) as directory:
            rounds = measure(Runner(build, directory), figures, given.rounds, given.seconds)
    except (OSError, ValueError, RunFailedError, NotEnoughSpaceError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    judged = judge(figures, rounds)
    results = [one.record() for one in judged]
    (given.out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    (given.out / "raw.json").write_text(json.dumps(rounds.results, indent=1) + "\n")
    print(f"\n{text(judged)}\n\n{rounds.made} rounds, methods in a new order in each.")
    if rounds.disturbed:
        print(f"Something else used the machine during {rounds.disturbed} of the runs.")
    print(f"Results: {given.out / 'results.json'}, samples: {given.out / 'raw.json'}")
    failed = unexpected(rounds.failures)
    for name, story in failed.items():
        print(f"bench: {name}: {story}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
