# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures of the system tests."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
for folder in (HERE, HERE.parent / "actor", ROOT / "studies", ROOT / "bindings/python"):
    sys.path.insert(0, str(folder))

from fixtures import actors, build, companies  # noqa: E402, F401
