# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures of the suites whose scripts actors carry out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from actors import Actors, Build, read_build
from company import Companies


@pytest.fixture(scope="session")
def build() -> Build:
    """Return what CMake told."""
    return read_build()


@pytest.fixture(scope="session")
def companies(build: Build, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Companies]:
    """Return the launches that scripts share."""
    folder = tmp_path_factory.mktemp("companies")
    all_of_them = Companies(build.launcher, build.actor_words(), folder, build.environment)
    yield all_of_them
    all_of_them.dismiss()


@pytest.fixture
def actors(build: Build, tmp_path: Path, companies: Companies) -> Actors:
    """Return who carries out scripts."""
    return Actors(build, tmp_path, companies)
