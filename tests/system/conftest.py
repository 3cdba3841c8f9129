"""Fixtures of the system tests."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parent / "actor", HERE.parents[1] / "studies"):
    sys.path.insert(0, str(folder))

from actors import Actors, Build, read_build  # noqa: E402
from company import Companies  # noqa: E402


@pytest.fixture(scope="session")
def build() -> Build:
    return read_build()


@pytest.fixture(scope="session")
def companies(build: Build) -> Iterator[Companies]:
    all_of_them = Companies(build.launcher, build.actor)
    yield all_of_them
    all_of_them.dismiss()


@pytest.fixture
def actors(build: Build, tmp_path: Path, companies: Companies) -> Actors:
    return Actors(build, tmp_path, companies)
