# SPDX-License-Identifier: BSD-3-Clause
"""Figures of the Python package: what a put costs more than from C, and how fast it reads."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iocomp_bench.figure import MIB, Figure, Found, per_round
from iocomp_bench.ways import KERNEL
from iocomp_studies.statistics import Goal

if TYPE_CHECKING:
    from iocomp_bench.methods import Runner
    from iocomp_studies.rounds import Rounds

SCRIPTS = Path(__file__).resolve().parents[1] / "python"
SMALL, LARGE = str(4 << 10), str(64 * MIB)
MICROSECONDS = 1e6
FROM_C, FROM_PYTHON, READING = "put from C", "put from Python", "reading in Python"

Result = dict[str, Any]


def _put(runner: Runner, program: str, words: tuple[str, ...], more: dict[str, str]) -> Result:
    """Put blocks of both sizes, one after the other and without a pause, by the kernel."""
    file = ("--file", str(runner.directory / "b.dat"))
    arguments = (*words, "--sizes", f"{SMALL},{LARGE}", "--bytes-per-size", str(1280 * MIB), *file)
    return runner.run(program, (*arguments, "--alloc"), (0,), {**KERNEL, **more})


def python_methods(runner: Runner) -> dict[str, Callable[[], Result]]:
    """Return the runs by name."""
    library = {"library": str(runner.build.directory / "lib/libiocomp.so")}
    put, read = str(SCRIPTS / "put.py"), str(SCRIPTS / "read.py")
    file = ("--file", str(runner.directory / "b.bin"))
    return {
        FROM_C: partial(_put, runner, "bench/hand_off", ("--pause", "0"), {}),
        FROM_PYTHON: partial(_put, runner, sys.executable, (put,), library),
        READING: partial(runner.run, sys.executable, (read, *file), (0,), {**KERNEL, **library}),
    }


def _seconds(run: Result, size: str) -> float:
    return float(run["sizes"][size]["put"]["median"])


def python_figures() -> tuple[Figure, ...]:
    """Return the figures and their goals."""
    both = (FROM_C, FROM_PYTHON)

    def compared(size: str, compare: Callable[[float, float], float]) -> Callable[[Rounds], Found]:
        def find(rounds: Rounds) -> Found:
            found = per_round(
                rounds, both, lambda runs: compare(_seconds(runs[1], size), _seconds(runs[0], size))
            )
            beside = {
                name: per_round(
                    rounds, (name,), lambda r: MICROSECONDS * _seconds(r[0], size)
                ).value
                for name in both
            }
            return Found(found, {"microseconds": beside})

        return find

    def reader(rounds: Rounds) -> Found:
        def over_plain(runs: list[Result]) -> float:
            return float(runs[0]["lazy_seconds"]) / float(runs[0]["plain_seconds"])

        return Found(per_round(rounds, (READING,), over_plain))

    more = compared(SMALL, lambda python, c: MICROSECONDS * (python - c))
    ratio = compared(LARGE, lambda python, c: python / c)
    return (
        Figure("python-cost", "us", Goal(5), both, more),
        Figure("python-cost-large", "1", Goal(1.05), both, ratio),
        Figure("reader", "1", Goal(1.2), (READING,), reader),
    )
