# SPDX-License-Identifier: BSD-3-Clause
"""The fixtures that the tests of this folder share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
for folder in (ROOT / "tests/actor", ROOT / "bindings/python"):
    sys.path.insert(0, str(folder))

from fixtures import actors, build, companies  # noqa: E402, F401


def pytest_configure(config: pytest.Config) -> None:
    """Name the marks."""
    config.addinivalue_line("markers", "quick: part of the short run")
    config.addinivalue_line("markers", "fresh_threads: part of it where calls come from threads")
