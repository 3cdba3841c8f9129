"""Fixtures of the Slurm tests: those of the system tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
for folder in ("tests/system", "tests/actor", "studies"):
    sys.path.insert(0, str(ROOT / folder))

from actors import Actors, Build, read_build  # noqa: E402


@pytest.fixture(scope="session")
def build() -> Build:
    return read_build()


@pytest.fixture
def actors(build: Build, tmp_path: Path) -> Actors:
    return Actors(build, tmp_path)
