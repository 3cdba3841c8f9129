# SPDX-License-Identifier: BSD-3-Clause
"""Run ordinary HDF5 programs with and without the connector, each under a timeout."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
for folder in (HERE, HERE.parent / "system"):
    sys.path.insert(0, str(folder))

TIMEOUT = 120


@dataclass
class Programs:
    """The programs of one build, and how to start them."""

    launcher: list[str]
    folder: str
    plugins: str
    late_writes: str
    command: str

    def environment(
        self, *, connector: bool, late: int | None, settings: dict[str, str]
    ) -> dict[str, str]:
        """Return the environment of a program. @param late the rank whose writes are late."""
        environment = {
            name: text
            for name, text in os.environ.items()
            if not name.startswith(("IOCOMP_", "HDF5_"))
        }
        if connector:
            environment |= {"HDF5_VOL_CONNECTOR": "iocomp", "HDF5_PLUGIN_PATH": self.plugins}
            environment |= settings
        if connector and late is not None:
            environment |= {
                "LD_PRELOAD": self.late_writes,
                "IOCOMP_TEST_LATE_RANK": str(late),
                "IOCOMP_DISK_ENGINE": "threads",
            }
        return environment

    def words(self, ranks: int, program: str, *arguments: object) -> list[str]:
        """Return the command line of a job."""
        return [*self.launcher, str(ranks), f"{self.folder}/{program}", *map(str, arguments)]

    def try_to_run(
        self,
        ranks: int,
        program: str,
        *arguments: object,
        connector: bool = True,
        late: int | None = None,
        timeout: int = TIMEOUT,
        **settings: str,
    ) -> subprocess.CompletedProcess[str]:
        """Run a program to its end, however that is."""
        return subprocess.run(
            self.words(ranks, program, *arguments),
            env=self.environment(connector=connector, late=late, settings=settings),
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def run(self, *words: Any, **how: Any) -> subprocess.CompletedProcess[str]:
        """Do the same, and fail where the program fails."""
        done = self.try_to_run(*words, **how)
        assert done.returncode == 0, done.stdout + done.stderr
        return done


def for_another_hdf5(file: Path, folder: Path) -> Path:
    """Copy a program or library, and let the copy load an HDF5 that is not there."""
    contents = file.read_bytes()
    name = re.search(rb"\0libhdf5\.so\.\d+\0", contents).group()
    copy = folder / file.name
    copy.write_bytes(contents.replace(name, re.sub(rb"\d(?=\0)", b"9", name)))
    copy.chmod(0o755)
    return copy


@pytest.fixture(scope="session")
def programs() -> Programs:
    """The programs that the build has made."""
    return Programs(**json.loads(Path(os.environ["IOCOMP_TEST_CONNECTOR"]).read_text()))
