# SPDX-License-Identifier: BSD-3-Clause
"""Notice when something else used the machine during a run."""

from __future__ import annotations

import os
import resource
import time
from pathlib import Path


def foreign_seconds(user_seconds: float, stolen_seconds: float, own_user_seconds: float) -> float:
    """Return the processor time that went to other programs or to the host of a virtual machine.

    Only user time counts for other programs: system time includes what the kernel does for us,
    such as writing dirty pages.
    """
    return max(0.0, user_seconds - own_user_seconds) + stolen_seconds


class Watch:
    """Observes the machine from its creation on."""

    def __init__(self) -> None:
        """Remember the counters."""
        self._begin = time.monotonic()
        self._machine = self._machine_seconds()
        self._own = self._own_seconds()

    @staticmethod
    def _machine_seconds() -> tuple[float, float]:
        """Return user and stolen seconds of all cores since boot."""
        fields = [int(n) for n in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]]
        ticks = os.sysconf("SC_CLK_TCK")
        return (fields[0] + fields[1]) / ticks, fields[7] / ticks

    @staticmethod
    def _own_seconds() -> float:
        """Return user seconds of this process and its children that have ended."""
        kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        return sum(resource.getrusage(kind).ru_utime for kind in kinds)

    def foreign_part(self) -> float:
        """Return the processor time that others took, as a part of the time passed on one core."""
        user, stolen = self._machine_seconds()
        foreign = foreign_seconds(
            user - self._machine[0], stolen - self._machine[1], self._own_seconds() - self._own
        )
        return foreign / max(time.monotonic() - self._begin, 1e-9)
