# SPDX-License-Identifier: BSD-3-Clause
"""The samples of benchmarks in a file: each with its origin and date, so that a run can go on."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from iocomp_studies.launch import Build
from iocomp_studies.results.identity import identity_of
from iocomp_studies.rounds import Rounds
from iocomp_studies.runs import machine

RAW = "raw.json"
Method = Callable[[], dict[str, Any]]


class DamagedError(ValueError):
    """The samples of an earlier run cannot be read; the text says where they are, and what to do."""


def origin_of(build: Build, directory: Path) -> list[str]:
    """Return the machine, the build and the file system; samples of another one do not count."""
    about = machine.about(build.directory / "tools/iocomp", build, directory)
    return list(identity_of(about))


def with_origin(method: Method, origin: list[str]) -> Method:
    """Return a method whose results say where and when they were made."""

    def run() -> dict[str, Any]:
        return {**method(), "origin": origin, "date": time.strftime("%Y-%m-%d")}

    return run


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is there as a whole, or the old one still is."""
    beside = path.with_name(f"{path.name}.new")
    with beside.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)


def write_samples(out: Path, rounds: Rounds) -> None:
    """Write all samples."""
    write_whole(out / RAW, json.dumps(rounds.results, indent=1) + "\n")


def read_samples(out: Path, origin: list[str]) -> tuple[Rounds, int]:
    """Return the samples that an earlier run of this origin has left, and how many others have.

    Raises:
        DamagedError: If the file is none of samples.
    """
    file = out / RAW
    if not file.exists():
        return Rounds(), 0
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        mine = {
            name: [one for one in of if one.get("origin") == origin]
            for name, of in content.items()
        }
        count = sum(map(len, content.values())) - sum(map(len, mine.values()))
    except (ValueError, AttributeError, TypeError) as error:
        raise DamagedError(
            f"{file}: no samples of an earlier run: {error}; --anew (make: ANEW=1) measures again"
        ) from error
    return Rounds({name: of for name, of in mine.items() if of}), count


def dates_of(rounds: Rounds) -> str:
    """Return when samples were made, the first and the last day."""
    dates = {str(one["date"]) for of in rounds.results.values() for one in of if "date" in one}
    ends = dict.fromkeys((min(dates), max(dates))) if dates else ("no samples",)
    return " to ".join(ends)
