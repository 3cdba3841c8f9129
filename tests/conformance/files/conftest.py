"""What the tests of this folder share."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "actor"))

from actors import Actors, Build, read_build  # noqa: E402
from company import Companies  # noqa: E402


@pytest.fixture(scope="session")
def build() -> Build:
    """Return what CMake told."""
    return read_build()


@pytest.fixture(scope="session")
def companies(build: Build) -> Iterator[Companies]:
    """Return launches that scripts share."""
    all_of_them = Companies(build.launcher, build.actor)
    yield all_of_them
    all_of_them.dismiss()


@pytest.fixture
def actors(build: Build, tmp_path: Path, companies: Companies) -> Actors:
    """Return who carries out scripts."""
    return Actors(build, tmp_path, companies)


def pytest_configure(config: pytest.Config) -> None:
    """Name the marks."""
    config.addinivalue_line("markers", "quick: part of the short run")
