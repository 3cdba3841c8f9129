# SPDX-License-Identifier: BSD-3-Clause
"""The processes of a job: found by their working directory, ended when they do not end."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path


BEHIND_SECONDS = 10


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


def has_only_ended_children(launcher: int) -> bool:
    """Return True if a process has children, and has not noticed that all of them have ended."""
    states = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                state, parent = (process / "stat").read_text().rpartition(")")[2].split()[:2]
            except OSError:
                continue
            if int(parent) == launcher:
                states.append(state)
    return bool(states) and set(states) == {"Z"}


def output_of(launcher: subprocess.Popen[str], folder: Path, seconds: float) -> tuple[str, str]:
    """Return what a launcher prints until it ends.

    The mpiexec of Open MPI 4.1 may stay behind its ranks for ever, in a lock of its own, where one
    is killed while others end. Then it is ended: the job is over.

    Raises:
        subprocess.TimeoutExpired: If the job is not over after so many seconds.
    """
    until = time.monotonic() + seconds
    behind_since = None
    while True:
        try:
            return launcher.communicate(timeout=min(1, max(0, until - time.monotonic())))
        except subprocess.TimeoutExpired:
            now = time.monotonic()
            if not has_only_ended_children(launcher.pid):
                behind_since = None
            elif behind_since is None:
                behind_since = now
            elif now > behind_since + BEHIND_SECONDS:
                return end(launcher, folder)
            if now > until:
                raise


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
