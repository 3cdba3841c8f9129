# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of this folder share."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "actor"))

from fixtures import actors, build, companies  # noqa: E402, F401


def pytest_configure(config: pytest.Config) -> None:
    """Name the marks."""
    config.addinivalue_line("markers", "quick: part of the short run")
