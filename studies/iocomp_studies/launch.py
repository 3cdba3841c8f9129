"""Start MPI programs of a build, each rank on a core of choice, and collect their results."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PIN = Path(__file__).resolve().parent / "pin.sh"

# Open MPI refuses root and more ranks than cores unless told so, and must not bind over our pins.
# Other MPIs ignore these.
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
        program: Path below the build directory, such as "apps/stream/stream".
        arguments: For the program; `--json` is added.
        cpus: The core of each rank, or several: "0-1"; their number is the number of ranks.
        settings: Settings of iocomp by key, such as {"mode": "sync"}.
    """

    program: str
    arguments: tuple[str, ...]
    cpus: tuple[int | str, ...]
    settings: Mapping[str, str] = field(default_factory=dict)


def environment_of(settings: Mapping[str, str]) -> dict[str, str]:
    """Return settings as the environment variables that iocomp reads."""
    return {f"IOCOMP_{key.replace('.', '_').upper()}": value for key, value in settings.items()}


@dataclass(frozen=True)
class Build:
    """A build directory and the launcher of the MPI it was built with."""

    directory: Path
    mpiexec: tuple[str, ...]
    ranks_flag: str
    build_type: str

    @classmethod
    def read(cls, directory: Path) -> Build:
        """Read `launcher.json`, which CMake writes.

        Raises:
            FileNotFoundError: If the directory is not a build with the clients in it.
        """
        about = json.loads((directory / "launcher.json").read_text())
        mpiexec = tuple(word for word in about["mpiexec"] if word)
        return cls(directory.resolve(), mpiexec, about["ranks_flag"], about["build_type"])

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
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("IOCOMP_")}
        environment = inherited | _ENVIRONMENT | environment_of(launch.settings)
        with tempfile.TemporaryDirectory() as directory:
            result = Path(directory) / "result.json"
            command = [*self.command(launch), "--json", str(result)]
            try:
                done = subprocess.run(
                    command,
                    env=environment,
                    capture_output=True,
                    text=True,
                    errors="replace",
                    timeout=timeout_seconds,
                    check=False,
                )
            except subprocess.TimeoutExpired as late:
                raise RunFailedError(
                    f"{' '.join(command)}: no end after {late.timeout} s"
                ) from late
            if done.returncode != 0 or not result.exists():
                printed = (done.stdout + done.stderr)[-2000:]
                settings = " ".join(f"{k}={v}" for k, v in environment_of(launch.settings).items())
                raise RunFailedError(
                    f"{settings} {' '.join(command)}: exit code {done.returncode}\n{printed}"
                )
            return dict(json.loads(result.read_text()))
