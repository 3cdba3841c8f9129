"""Fixtures of the system tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parents[1] / "studies"):
    sys.path.insert(0, str(folder))

from actors import Actors, Build, read_build  # noqa: E402


@pytest.fixture(scope="session")
def build() -> Build:
    return read_build()


@pytest.fixture
def actors(build: Build, tmp_path: Path) -> Actors:
    return Actors(build, tmp_path)
