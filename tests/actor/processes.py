# SPDX-License-Identifier: BSD-3-Clause
"""The processes of a job: found by their working directory, ended when they do not end."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path


def environment_without_iocomp() -> dict[str, str]:
    """Return this process's environment without settings of the library."""
    return {name: text for name, text in os.environ.items() if not name.startswith("IOCOMP_")}


def processes_in(*folders: Path) -> list[int]:
    """Return the processes whose working directory is one of these: those of a job."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                if (process / "cwd").readlink() in folders:
                    found.append(int(process.name))
            except OSError:
                pass  # it has ended, or is not ours
    return found


def processes_that_stay_in(folder: Path, grace_seconds: float = 5) -> list[int]:
    """The same, without those about to end: a launcher does not wait for whom it kills."""
    until = time.monotonic() + grace_seconds
    while (left := processes_in(folder)) and time.monotonic() < until:
        time.sleep(0.05)
    return left


def end(launcher: subprocess.Popen[str], *folders: Path) -> tuple[str, str]:
    """End a launcher, and what is left of its processes in these folders; return what it printed."""
    launcher.terminate()
    out = err = ""
    try:
        out, err = launcher.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        launcher.kill()
        launcher.wait()
    for left in processes_in(*folders):
        os.kill(left, signal.SIGKILL)
    return out, err
