"""What the tests of this folder share."""

from __future__ import annotations

from pathlib import Path

import pytest
from job import Tools


@pytest.fixture(scope="session")
def tools() -> Tools:
    """Return what CMake told."""
    return Tools.from_environment()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return where one job may make its folder."""
    return tmp_path / "job"


def pytest_configure(config: pytest.Config) -> None:
    """Name the marks."""
    config.addinivalue_line("markers", "quick: part of the short run")
