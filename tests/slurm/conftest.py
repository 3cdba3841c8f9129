# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures of the Slurm tests: those of the system tests."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
for folder in ("tests/system", "tests/actor", "studies", "bindings/python"):
    sys.path.insert(0, str(ROOT / folder))

from fixtures import actors, build, companies  # noqa: E402, F401
