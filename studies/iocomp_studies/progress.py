"""Tell whoever waits how far a series of runs is."""

from __future__ import annotations

import sys
import time
from typing import TextIO


class Progress:
    """A line with what runs now and the time that is left; on a terminal it overwrites itself."""

    def __init__(self, runs: int, out: TextIO = sys.stderr) -> None:
        """Begin a series of at most `runs` runs."""
        self._runs = runs
        self._done = 0
        self._begin = time.monotonic()
        self._out = out
        self._overwrite = out.isatty()

    def show(self, label: str) -> None:
        """Say that `label` starts now."""
        passed = time.monotonic() - self._begin
        left = passed / self._done * (self._runs - self._done) if self._done else 0
        estimate = f", about {left:.0f} s left" if self._done else ""
        text = f"run {self._done + 1} of {self._runs}: {label}{estimate}"
        if self._overwrite:
            self._out.write(f"\r\033[K{text}")
        elif self._done % max(1, self._runs // 10) == 0:
            self._out.write(f"{text}\n")
        self._out.flush()

    def done(self) -> None:
        """One run has ended."""
        self._done += 1

    def forget(self, runs: int) -> None:
        """So many runs will not be made."""
        self._runs -= runs

    def end(self) -> None:
        """Leave the line."""
        if self._overwrite:
            self._out.write("\r\033[K")
        passed = time.monotonic() - self._begin
        self._out.write(f"{self._done} runs in {passed:.0f} s\n")
        self._out.flush()
