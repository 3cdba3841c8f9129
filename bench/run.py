#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run the benchmarks and judge them against their goals: docs/developers/benchmark_figures.md."""

from __future__ import annotations

import argparse
import functools
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "studies"))

from iocomp_studies.packages import complain_of_missing

if complain_of_missing("bench", ("numpy", "rich", "matplotlib")):
    sys.exit(2)

from iocomp_bench import evidence
from iocomp_bench.calibrate import RUNS, Calibration, calibrate, follow
from iocomp_bench.claims import Claims, read_claims
from iocomp_bench.figure import Figure, groups_of
from iocomp_bench.figures import chosen, shortened
from iocomp_bench.methods import BYTES_PER_RANK, Runner, all_methods
from iocomp_bench.report import LEAST_ROUNDS, Judged, judge, text, unexpected
from iocomp_bench.samples import (
    RAW,
    dates_of,
    origin_of,
    read_samples,
    with_origin,
    write_samples,
    write_whole,
)
from iocomp_bench.ways import OVERLAPS
from iocomp_studies.launch import Build, RunFailedError
from iocomp_studies.rounds import Rounds, run_rounds
from iocomp_studies.work_directory import (
    NotEnoughSpaceError,
    end_tidily_when_terminated,
    work_directory,
)

PRINTED_ROUNDS = 3
"""The most rounds of figures that have no goal."""
NEEDED_BYTES = 2 * BYTES_PER_RANK + (2 << 30)


def arguments() -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True, help="build directory")
    parser.add_argument("--out", type=Path, required=True, help="where the results go")
    parser.add_argument("--only", default="", help="ids, separated by commas")
    parser.add_argument("--rounds", type=int, default=9, help="at most")
    parser.add_argument(
        "--least",
        type=int,
        default=LEAST_ROUNDS,
        help=f"rounds in any case where there is a goal; a verdict needs {LEAST_ROUNDS}",
    )
    parser.add_argument(
        "--short",
        action="store_true",
        help="without figures that take long, and without what is only shown beside others",
    )
    parser.add_argument(
        "--evidence",
        action="store_true",
        help="the figures of bench/claims.toml (--only: of them), and a page of what holds; "
        "what --out has already is not measured again",
    )
    parser.add_argument("--anew", action="store_true", help="measure all of the evidence again")
    parser.add_argument("--seconds", type=float, default=540, help="no round beyond those later")
    return parser.parse_args()


def measure_group(
    runner: Runner,
    figures: Sequence[Figure],
    least: int,
    rounds: int,
    seconds: float,
    after_round: Callable[[Rounds], None],
    calibrated: Callable[[int], Calibration],
) -> Rounds:
    """Run all rounds of figures that share runs."""
    needed = {name for figure in figures for name in (*figure.methods, *figure.optional)}
    judged = {name for figure in figures if figure.has_goal() for name in figure.methods}
    begin = time.monotonic()
    used = [series for series in OVERLAPS if needed.intersection(series.methods())]
    calibrations = {series.ranks: calibrated(series.ranks) for series in used}
    compute_bytes: dict[str, int] = {}
    methods = all_methods(runner, compute_bytes)

    def prepare(so_far: Rounds) -> None:
        for series in used:
            calibration = calibrations[series.ranks]
            compute_bytes[series.name] = follow(calibration, series, so_far.results)

    def made(so_far: Rounds) -> None:
        prepare(so_far)
        after_round(so_far)

    prepare(Rounds())
    return run_rounds(
        {
            name: with_origin(method, runner.origin)
            for name, method in methods.items()
            if name in needed
        },
        least=min(least if judged else 1, rounds),
        most=rounds if judged else min(rounds, PRINTED_ROUNDS),
        seconds=seconds - (time.monotonic() - begin),
        after_round=made,
        give_up=(RunFailedError,),
        seldom=needed - judged if judged else (),
    )


def measure(
    runner: Runner,
    figures: Sequence[Figure],
    least: int,
    rounds: int,
    seconds: float,
    tell: Callable[[Rounds], None],
    calibrated: Callable[[int], Calibration],
    earlier: Rounds,
    group_made: Callable[[Rounds], None],
) -> Rounds:
    """Measure one group of figures after the other, each with its part of the time left.

    Args:
        runner: Runs the programs.
        figures: The figures to measure.
        least: Rounds of a group with a goal, whatever they take.
        rounds: The most of a group.
        seconds: The time for all of them.
        tell: Called with everything so far after every round.
        calibrated: Speeds with so many ranks; what is measured corrects them.
        earlier: Rounds that were made before; groups with enough of them are not measured.
        group_made: Called with everything so far after every group.
    """
    end = time.monotonic() + seconds
    groups = [one for one in groups_of(figures) if not evidence.is_measured(one, earlier, least)]
    ids = {figure.id for group in groups for figure in group}
    kept = [figure.id for figure in figures if figure.id not in ids]
    if kept:
        print(f"measured already (--anew measures it again): {', '.join(kept)}", file=sys.stderr)
    all_rounds = earlier
    for number, group in enumerate(groups):
        names = ", ".join(figure.id for figure in group)
        print(f"\n[{number + 1}/{len(groups)}] {names}", file=sys.stderr, flush=True)
        part = max(0.0, end - time.monotonic()) / (len(groups) - number)
        before, first = all_rounds, all_rounds.end()
        found = measure_group(
            runner,
            group,
            least,
            rounds,
            part,
            lambda now, before=before, first=first: tell(before.with_others(now.later(first))),
            calibrated,
        )
        all_rounds = before.with_others(found.later(first))
        group_made(all_rounds)
    return all_rounds


def calibrator(runner: Runner, runs: int) -> Callable[[int], Calibration]:
    """Return what calibrates once with each number of ranks, and prints what it has found."""

    @functools.cache
    def calibrated(ranks: int) -> Calibration:
        print(f"calibrating with {ranks} rank(s) ...", file=sys.stderr, flush=True)
        found = calibrate(runner, ranks, runs)
        print(found.text(OVERLAPS), flush=True)
        return found

    return calibrated


def write_results(out: Path, figures: Sequence[Figure], rounds: Rounds) -> list[Judged]:
    """Judge what was measured so far and write it; return the verdicts."""
    judged = judge(figures, rounds)
    results = [one.record() for one in judged]
    write_whole(out / "results.json", json.dumps(results, indent=1) + "\n")
    write_samples(out, rounds)
    return judged


def read_earlier(out: Path, origin: list[str]) -> Rounds:
    """Return the samples that an earlier run of the same build has left here."""
    earlier, others = read_samples(out, origin)
    if others:
        print(
            f"bench: {others} samples in {out / RAW} are of another machine, version, build or "
            "file system: they are measured again",
            file=sys.stderr,
        )
    return earlier


def write_evidence(out: Path, claims: Claims, rounds: Rounds) -> None:
    """Judge the claims by what was measured, and write the page."""
    found = evidence.records(claims, rounds)
    machine = f"{dates_of(rounds)}, {platform.machine()}, {os.cpu_count()} processors"
    write_whole(
        out / "evidence.json", json.dumps(found, indent=1, ensure_ascii=False) + "\n"
    )
    write_whole(out / "evidence.md", evidence.page(found, machine))


def main() -> int:
    """Run, print and write; return 0, or 1 with the reason on stderr if something failed."""
    given = arguments()
    end_tidily_when_terminated()
    try:
        ids = [id_ for id_ in given.only.split(",") if id_]
        claims = read_claims().of_figures(ids)
        figures = chosen(ids)
        if given.evidence:
            figures = evidence.needed(claims)
        if given.short:
            figures = shortened(figures)
        build = Build.read(given.build)
        if build.build_type != "Release":
            print(
                f"bench: {given.build} is a {build.build_type or 'nameless'} build", file=sys.stderr
            )
        goes_on = given.evidence and not given.anew
        origin = origin_of(build, given.out)
        earlier = read_earlier(given.out, origin) if goes_on else Rounds()

        def tell_claims(so_far: Rounds) -> None:
            if given.evidence:
                write_evidence(given.out, claims, so_far)

        with work_directory(given.out.resolve(), NEEDED_BYTES) as directory:
            runner = Runner(build, directory, origin)
            rounds = measure(
                runner,
                figures,
                given.least,
                given.rounds,
                given.seconds,
                lambda so_far: write_results(given.out, figures, so_far),
                calibrator(runner, 1 if given.short else RUNS),
                earlier,
                tell_claims,
            )
    except (OSError, ValueError, RunFailedError, NotEnoughSpaceError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 1
    judged = write_results(given.out, figures, rounds)
    print(f"\n{text(judged)}\n\nRuns in a new order in each round.")
    if rounds.disturbed:
        print(f"Something else used the machine during {rounds.disturbed} of the runs.")
    print(f"Results: {given.out / 'results.json'}, samples: {given.out / 'raw.json'}")
    tell_claims(rounds)
    if given.evidence:
        print(f"Claims: {given.out / 'evidence.md'}")
    failed = unexpected(rounds.failures)
    for name, story in failed.items():
        print(f"bench: {name}: {story}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
