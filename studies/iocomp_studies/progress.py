# SPDX-License-Identifier: BSD-3-Clause
"""Tell whoever waits how far a series of runs is."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar


def clock_text(seconds: float) -> str:
    """Return a time of the day, so many seconds from now."""
    return time.strftime("%H:%M:%S", time.localtime(time.time() + seconds))


class Progress:
    """A display of the current run, the number of runs left, and the time at which they end.

    On a terminal it is a line that changes; elsewhere about ten lines are printed in all. Use it in
    a `with` statement.
    """

    def __init__(
        self, runs: int, out: TextIO | None = None, *, seconds: float | None = None
    ) -> None:
        """Begin a series.

        Args:
            runs: The largest number of runs.
            out: The stream on which it is shown; stderr by default.
            seconds: The budget; the end is told no later than that.
        """
        self._runs = runs
        self._done = 0
        self._budget = seconds
        self._begin = time.monotonic()
        self._out = out or sys.stderr
        self._bar: Bar | None = None
        if self._out.isatty():
            self._bar = Bar(
                BarColumn(20),
                MofNCompleteColumn(),
                TextColumn("{task.fields[end]}"),
                TextColumn("{task.description}"),
                console=Console(file=self._out),
                transient=True,
            )
            self._task = self._bar.add_task("", total=runs, end="")

    def __enter__(self) -> Progress:
        """Show it."""
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave a line that says what was done."""
        if self._bar:
            self._bar.stop()
        passed = time.monotonic() - self._begin
        self._out.write(f"{self._done} runs in {passed:.0f} s\n")
        self._out.flush()

    def _end_text(self) -> str:
        if not self._done:
            return ""
        passed = time.monotonic() - self._begin
        left = passed / self._done * (self._runs - self._done)
        if self._budget is not None:
            left = min(left, max(0.0, self._budget - passed))
        return f"{left:.0f} s left, ends at {clock_text(left)}"

    def show(self, label: str) -> None:
        """Say that `label` starts now."""
        if self._bar:
            self._bar.update(
                self._task,
                description=label,
                completed=self._done,
                total=self._runs,
                end=self._end_text(),
            )
        elif self._done % max(1, self._runs // 10) == 0:
            end = f", about {self._end_text()}" if self._done else ""
            self._out.write(f"run {self._done + 1} of {self._runs}: {label}{end}\n")
            self._out.flush()

    def done(self) -> None:
        """Count a run as ended."""
        self._done += 1

    def forget(self, runs: int) -> None:
        """Take `runs` runs, which will not be made, from the number that is left."""
        self._runs -= runs
