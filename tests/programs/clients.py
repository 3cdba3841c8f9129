# SPDX-License-Identifier: BSD-3-Clause
"""The runs of clients, as their tests start them."""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass
from typing import Any

from iocomp_studies.launch import Build, Launch

QUIET = {"trace.lines": "none"}
KERNEL = QUIET | {"placement.servers": "none"}
SYNC = QUIET | {"mode": "sync"}


@dataclass(frozen=True)
class Client:
    """A program below apps."""

    name: str

    def __call__(
        self, build: Build, arguments: str, ranks: int, settings: dict[str, str] | None = None
    ) -> dict[str, Any]:
        """Run it, its ranks on the cores in turn: by the kernel, unless settings are given."""
        cores = itertools.cycle(sorted(os.sched_getaffinity(0)))
        cpus = tuple(itertools.islice(cores, ranks))
        given = KERNEL if settings is None else settings
        program = f"apps/{self.name}/{self.name}"
        return build.run(Launch(program, tuple(arguments.split()), cpus, given))
