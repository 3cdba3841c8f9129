"""Run conformance_program under the launcher with chosen servers and settings."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from script import Script
from verification import BackEnd, verify


@dataclass(frozen=True)
class Placement:
    """A job: how many ranks, in which mode, and which of them serve."""

    label: str
    ranks: int
    compute_ranks: int
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Tuning:
    """Sizes and limits, none of which may change a byte; those of files go to every file."""

    label: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    of_files: Mapping[str, Any] = field(default_factory=dict)
    staging_per_server: int | None = None  # bytes


@dataclass(frozen=True)
class Tools:
    """What CMake tells: the program, its launcher and where the example format lies."""

    program: str
    launcher: tuple[str, ...]
    example_modules: str
    back_ends: tuple[str, ...]
    time_factor: float

    @classmethod
    def from_environment(cls) -> Tools:
        """Read the variables that CMakeLists.txt sets."""
        return cls(
            os.environ["IOCOMP_TEST_PROGRAM"],
            tuple(os.environ["IOCOMP_TEST_LAUNCHER"].split()),
            os.environ.get("IOCOMP_TEST_EXAMPLE_MODULES", ""),
            tuple(os.environ["IOCOMP_TEST_BACK_ENDS"].split()),
            float(os.environ.get("IOCOMP_TEST_TIME_FACTOR", "1")),
        )

    def has(self, back_end: BackEnd) -> bool:
        """Whether a back-end was built."""
        return back_end.name in self.back_ends


@dataclass(frozen=True)
class Outcome:
    """How a job ended."""

    command: str
    returned: int | None  # None: it took too long
    stdout: str
    stderr: str


class Job:
    """One script, one back-end, one placement, one tuning, in a folder of its own."""

    def __init__(
        self, script: Script, back_end: BackEnd, placement: Placement, tuning: Tuning, folder: Path
    ) -> None:
        """Remember what to run; nothing is run yet."""
        self.script = script
        self.back_end = back_end
        self.placement = placement
        self.tuning = tuning
        self.folder = folder
        self.alignment = int(tuning.of_files.get("alignment", 4096))

    def _settings(self, tools: Tools) -> str:
        """Return the settings as TOML."""
        general = {"wait.deadline": 20, **self.tuning.settings, **self.placement.settings}
        if self.tuning.staging_per_server is not None and not self.back_end.writes_whole_steps:
            servers = max(1, self.placement.ranks - self.placement.compute_ranks)
            general["staging.memory"] = servers * self.tuning.staging_per_server
        if self.back_end.name == "example_format":
            general["storage.modules"] = tools.example_modules
        lines = [f"{key} = {_toml(value)}" for key, value in general.items()]
        for file in self.script.files.values():
            lines.append(f'[files."{file.name}"]')
            chosen = {
                **self.back_end.settings,
                **self.tuning.of_files,
                **file.settings,
            }
            lines += [f"{key} = {_toml(value)}" for key, value in chosen.items()]
        return "\n".join(lines) + "\n"

    def run(self, tools: Tools, limit_seconds: float = 120) -> list[str]:
        """Run the program, verify its files and return what is wrong."""
        inputs = self.folder / "input"
        outputs = self.folder / "output"
        inputs.mkdir(parents=True)
        outputs.mkdir()
        (inputs / "script").write_text(self.script.text())
        (inputs / "iocomp.toml").write_text(self._settings(tools))
        outcome = self._launch(tools, inputs, outputs, limit_seconds * tools.time_factor)
        if outcome.returned != 0:
            how = "took too long" if outcome.returned is None else f"ended with {outcome.returned}"
            return [f"{outcome.command}\n{how}\n{outcome.stdout}\n{outcome.stderr[-4000:]}"]
        wrong = verify(self.script, outputs, self.back_end, self.alignment)
        printed = f"compute ranks: {self.placement.compute_ranks}\n"
        if outcome.stdout != printed:
            wrong.append(f"stdout is {outcome.stdout!r}, not {printed!r}")
        return wrong

    def mark_as_passed(self) -> None:
        """What the job wrote need not be kept."""
        shutil.rmtree(self.folder)

    def _launch(self, tools: Tools, inputs: Path, outputs: Path, limit_seconds: float) -> Outcome:
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("IOCOMP_")}
        environment = inherited | {"IOCOMP_CONFIG": str(inputs / "iocomp.toml")}
        command = [
            *tools.launcher,
            str(self.placement.ranks),
            tools.program,
            str(inputs / "script"),
        ]
        shown = f"cd {outputs} && IOCOMP_CONFIG={inputs / 'iocomp.toml'} {' '.join(command)}"
        started = subprocess.Popen(
            command,
            cwd=outputs,
            env=environment,
            text=True,
            errors="replace",
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            stdout, stderr = started.communicate(timeout=limit_seconds)
        except subprocess.TimeoutExpired:
            os.killpg(started.pid, signal.SIGTERM)  # the launcher ends its ranks
            try:
                stdout, stderr = started.communicate(timeout=10)
            except subprocess.TimeoutExpired:
                os.killpg(started.pid, signal.SIGKILL)
                stdout, stderr = started.communicate()
            return Outcome(shown, None, stdout, stderr)
        return Outcome(shown, started.returncode, stdout, stderr)


def _toml(value: Any) -> str:  # noqa: ANN401
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list):
        return "[" + ", ".join(str(item) for item in value) + "]"
    return str(value)
