# SPDX-License-Identifier: BSD-3-Clause
"""The packages that programs need beside Python; without any, so that it can be told."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence


def complain_of_missing(program: str, needed: Sequence[str]) -> bool:
    """Return whether a package is missing, and say which and how to get it."""
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        packages = " ".join(f"python3-{name}" for name in missing)
        print(
            f"{program}: {sys.executable} has no {', '.join(missing)}: "
            f"install them (Debian: apt-get install {packages}; elsewhere: pip install "
            f"{' '.join(missing)})",
            file=sys.stderr,
        )
    return bool(missing)
