# SPDX-License-Identifier: BSD-3-Clause
"""The start of the commands in Python: they find iocomp and their input, and tell mistakes."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any, NoReturn, Optional

import click
import typer

from iocomp_studies.launch import Build
from iocomp_studies.results.lines import read_lines, result_files


_OWN_NAMES = ("advise", "check-site")
"""The programs in Python that users call without `study`."""


def fail(text: str) -> NoReturn:
    """Say what the user did wrong, and end the command with status 2."""
    context = click.get_current_context(silent=True)
    called = context.info_name if context else None
    print(f"iocomp {called if called in _OWN_NAMES else 'study'}: {text}", file=sys.stderr)
    raise typer.Exit(2)


def iocomp_command() -> Path:
    """Return the command `iocomp`: the one that has started this, or that of the PATH."""
    given = os.environ.get("STUDY_COMMAND") or shutil.which("iocomp")
    if not given:
        fail("the command iocomp is not in the PATH: start this as `iocomp study`")
    return Path(given).resolve()


def build_of(given: Optional[Path], command: Path) -> Build:
    """Return the build with the clients: the one given, or the one that the command is part of."""
    # build/tools/iocomp, or prefix/bin/iocomp with prefix/share/iocomp/studies/launcher.json.
    own = [command.parents[1], Path(__file__).resolve().parents[1]]
    for place in [given] if given else own:
        try:
            return Build.read(place)
        except (OSError, ValueError, KeyError):
            continue
    fail(
        f"no launcher.json in {given or ' or '.join(map(str, own))}: "
        "--build names a build directory of iocomp with its clients (IOCOMP_BUILD_APPS=ON)"
    )


def read_results(places: list[Path]) -> list[dict[str, Any]]:
    """Return the results in some places, and tell what was skipped."""
    try:
        records, complaints = read_lines(result_files(places))
    except OSError as error:
        fail(str(error))
    for complaint in complaints:
        print(f"iocomp study: {complaint}; skipped", file=sys.stderr)
    return records
