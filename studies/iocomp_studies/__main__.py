# SPDX-License-Identifier: BSD-3-Clause
"""`iocomp study`, `iocomp advise` and `iocomp check-site`, also as `python3 -m iocomp_studies`."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from iocomp_studies.packages import complain_of_missing


def main() -> int:
    """Run the command and return its status; 2 for files, 3 for a fault of this program."""
    if complain_of_missing("iocomp study", ("typer", "rich", "numpy", "matplotlib")):
        return 2
    from typer.main import get_command as typer_command

    from iocomp_studies.command import app
    from iocomp_studies.words import words_of

    is_of_study = sys.argv[1:2] not in (["advise"], ["check-site"])
    name = "iocomp study" if is_of_study else "iocomp"
    try:
        if sys.argv[-1] == "--tell-words":
            command: Any = typer_command(app)  # a group: it has commands
            print(json.dumps(words_of(command if is_of_study else command.commands[sys.argv[1]])))
            return 0
        return _status_of(lambda: app(prog_name=name))
    except OSError as error:
        return _told(2, f"{name}: {error}")
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(place.filename).name}:{place.lineno}"
        return _told(3, f"{name}: a fault of iocomp ({where}): {type(error).__name__}: {error}")


def _status_of(command: Callable[[], object]) -> int:
    """Run a command of click; what it has printed is written out, or is an error."""
    try:
        command()
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 1
    sys.stdout.flush()
    return status


def _told(status: int, text: str) -> int:
    """Say in one line why a command ends, and return its status."""
    print(" ".join(text.split()), file=sys.stderr)
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    # Python would try again to write, when it ends, what could not be written.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return status


if __name__ == "__main__":
    sys.exit(main())
