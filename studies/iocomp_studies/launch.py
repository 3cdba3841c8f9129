# SPDX-License-Identifier: BSD-3-Clause
"""Start MPI programs of a build, each rank on a core of choice, and collect their results."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PIN = Path(__file__).resolve().parent / "pin.sh"

# Open MPI refuses root and more ranks than cores unless told so, and must not bind over our pins.
# Other MPIs ignore these.
_OF_LAUNCHER = re.compile(
    r"\[[^\] ]+:\d+\]|Abort\(\d+\) on node |Run with --help for more information\."
)
"""Lines of the launcher outside its boxes, and the second line that CLI11 prints."""
_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
}


class RunFailedError(RuntimeError):
    """A program ended with a failure, or too late; the text holds what it printed."""


@dataclass(frozen=True)
class Launch:
    """One run of a program.

    Attributes:
        program: Path below the build directory, such as "apps/stream/stream", or an absolute one.
        arguments: The arguments of the program; `--json` is added.
        cpus: The core of each rank, or several: "0-1"; their number is the number of ranks.
        settings: Settings of iocomp by key, such as {"mode": "sync"}.
    """

    program: str
    arguments: tuple[str, ...]
    cpus: tuple[int | str, ...]
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Ended:
    """The end of a run: its exit code, and what it left.

    Attributes:
        exit_code: The exit code of the launcher; -1 if it was late and had to be stopped.
        result: The JSON that the program wrote, if it did.
        printed: The end of stdout and stderr together.
        seconds: The time from start to end, including the launcher's.
    """

    exit_code: int
    result: dict[str, Any] | None
    printed: str
    seconds: float


def environment_of(settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings as the environment variables that iocomp reads."""
    return {
        f"IOCOMP_{re.sub('[.-]', '_', key).upper()}": value for key, value in settings.items()
    }


def _json_object(text: str) -> dict[str, Any] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def printed_result(printed: str) -> dict[str, Any] | None:
    """Return the last line that is a JSON object, of programs that print their result."""
    for line in reversed(printed.splitlines()):
        if line.lstrip().startswith("{"):
            found = _json_object(line)
            if found is not None:
                return found
    return None


def telling_line(printed: str) -> str:
    """Return the last line of a job that failed which is not the launcher's own."""
    lines = []
    in_box = False  # Open MPI tells how it ends a job between two lines of dashes
    for line in map(str.strip, printed.splitlines()):
        if line and not line.strip("-"):
            in_box = not in_box
        elif line and not in_box and not _OF_LAUNCHER.match(line):
            lines.append(line)
    return lines[-1] if lines else (printed.strip().splitlines() or [""])[-1]


def run_and_collect(
    command: Sequence[str],
    settings: Mapping[str, str],
    *,
    writes_json: bool = True,
    extra: Mapping[str, str] | None = None,
    folder: Path | None = None,
    timeout_seconds: float = 120,
) -> Ended:
    """Run a launch line to its end; what runs longer is stopped with all that it has started.

    Args:
        command: The launcher and all its words.
        settings: The settings of iocomp; settings around this process do not reach it.
        writes_json: True if the program takes `--json FILE`; else its result is looked for in what
            it prints.
        extra: Further variables of the environment.
        folder: The folder in which it runs; the current one by default.
        timeout_seconds: The time after which it is stopped.
    """
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("IOCOMP_")}
    environment = inherited | _ENVIRONMENT | dict(extra or {}) | environment_of(settings)
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "result.json"
        words = [*command, "--json", str(file)] if writes_json else list(command)
        begin = time.monotonic()
        process = subprocess.Popen(
            words,
            env=environment,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=timeout_seconds)
            exit_code = process.returncode
        except subprocess.TimeoutExpired:
            out, err = _stop(process)
            exit_code = -1
        except BaseException:  # Ctrl-C: no rank outlives it
            _stop(process)
            raise
        seconds = time.monotonic() - begin
        result = _json_object(file.read_text()) if writes_json and file.exists() else None
    return Ended(exit_code, result or printed_result(out), (out + err)[-2000:], seconds)


def _stop(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Let the launcher end its ranks; what then still lives is killed."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        try:
            return process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            continue
    return "", ""


@dataclass(frozen=True)
class Build:
    """A build directory and the launcher of the MPI it was built with.

    Attributes:
        directory: The directory of the build.
        mpiexec: The launcher, with words of its own.
        ranks_flag: The launcher's option before the number of ranks.
        build_type: The build type of CMake.
        missing: The reason why a client was not built, by its name.
    """

    directory: Path
    mpiexec: tuple[str, ...]
    ranks_flag: str
    build_type: str
    missing: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, directory: Path) -> Build:
        """Read `launcher.json`, which CMake writes.

        Raises:
            FileNotFoundError: If the directory is not a build with the clients in it.
        """
        about = json.loads((directory / "launcher.json").read_text())
        mpiexec = tuple(word for word in about["mpiexec"] if word)
        missing = about.get("missing", {})
        return cls(directory.resolve(), mpiexec, about["ranks_flag"], about["build_type"], missing)

    def command(self, launch: Launch) -> list[str]:
        """Return the command line of a launch, without `--json`."""
        cpus = ",".join(str(cpu) for cpu in launch.cpus)
        return [
            *self.mpiexec,
            self.ranks_flag,
            str(len(launch.cpus)),
            str(PIN),
            cpus,
            str(self.directory / launch.program),
            *launch.arguments,
        ]

    def run(self, launch: Launch, timeout_seconds: float = 120) -> dict[str, Any]:
        """Run a program and return its JSON result.

        Raises:
            RunFailedError: If it fails, takes too long or leaves no result.
        """
        command = self.command(launch)
        ended = run_and_collect(command, launch.settings, timeout_seconds=timeout_seconds)
        if ended.exit_code == -1:
            raise RunFailedError(f"{' '.join(command)}: no end after {timeout_seconds} s")
        if ended.exit_code != 0 or ended.result is None:
            settings = " ".join(f"{k}={v}" for k, v in environment_of(launch.settings).items())
            raise RunFailedError(
                f"{settings} {' '.join(command)}: exit code {ended.exit_code}\n{ended.printed}"
            )
        return ended.result
