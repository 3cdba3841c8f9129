# SPDX-License-Identifier: BSD-3-Clause
"""`iocomp study`, `iocomp advise` and `iocomp check-site`, also as `python3 -m iocomp_studies`."""

from __future__ import annotations

import importlib.util
import json
import sys
from typing import Any

_NEEDED = {
    "typer": "python3-typer",
    "rich": "python3-rich",
    "numpy": "python3-numpy",
    "matplotlib": "python3-matplotlib",
}


def main() -> int:
    """Run the command; say so clearly if a package is missing."""
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        packages = " ".join(_NEEDED[name] for name in missing)
        print(
            f"iocomp study: {sys.executable} has no {', '.join(missing)}: "
            f"install them (Debian: apt-get install {packages}; elsewhere: pip install "
            f"{' '.join(missing)})",
            file=sys.stderr,
        )
        return 2
    from typer.main import get_command as typer_command

    from iocomp_studies.command import app
    from iocomp_studies.words import words_of

    is_of_study = sys.argv[1:2] not in (["advise"], ["check-site"])
    if sys.argv[-1] == "--tell-words":
        command: Any = typer_command(app)  # a group: it has commands
        print(json.dumps(words_of(command if is_of_study else command.commands[sys.argv[1]])))
        return 0
    app(prog_name="iocomp study" if is_of_study else "iocomp")
    return 0


if __name__ == "__main__":
    sys.exit(main())
