# SPDX-License-Identifier: BSD-3-Clause
"""Companies of actors: one launch carries out many scripts, each in a session of its own.

company.h is the other end, and python_binding/programs.py that of programs in Python.
"""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from processes import end, environment_without_iocomp

MOST = 30  # processes that wait at a time


class Company:
    """The processes of one launch, which wait for orders."""

    def __init__(
        self,
        launcher: Sequence[str],
        ranks: int,
        actor: Sequence[str],
        folder: Path,
        environment: Mapping[str, str],
    ) -> None:
        """Launch it. `launcher` ends with the option that takes the number of ranks."""
        self.folder = folder
        folder.mkdir()
        self.played: list[Path] = []
        pipes = [self.folder / f"orders{rank}" for rank in range(ranks)]
        for pipe in (*pipes, self.folder / "answers"):
            os.mkfifo(pipe)
        # For both ways: so that opening waits for nobody.
        self._orders = [os.open(pipe, os.O_RDWR) for pipe in pipes]
        self._answers = os.open(self.folder / "answers", os.O_RDWR)
        self.command = [*launcher, str(ranks), *actor, "--company", str(self.folder)]
        with (self.folder / "log").open("w") as log:
            self._process = subprocess.Popen(
                self.command,
                cwd=self.folder,
                env=environment_without_iocomp() | dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                text=True,
            )

    def play(self, order: Path, seconds: float) -> int | None:
        """Return 0, or the launcher's status if it has ended, or None if the script hangs."""
        self.played.append(order.parent)
        for pipe in self._orders:
            os.write(pipe, f"{order}\n".encode())
        until = time.monotonic() + seconds
        answered = 0
        while answered < len(self._orders) and time.monotonic() < until:
            if select.select([self._answers], [], [], 0.1)[0]:
                answered += os.read(self._answers, 4096).count(b"\n")
            elif self._process.poll() is not None:
                return self._process.returncode or 1
        return 0 if answered == len(self._orders) else None

    def log(self) -> str:
        """Return what the launcher has said."""
        return (self.folder / "log").read_text(errors="replace")

    def dismiss(self) -> int:
        """Let it end by itself; return its status."""
        if self._process.poll() is None:
            for pipe in self._orders:
                os.write(pipe, b"\n")
            try:
                self._process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                pass
        return self.end()

    def end(self, *folders: Path) -> int:
        """End it, with what is left of it there and in `folders`; return its status."""
        if self._process.poll() is None:
            end(self._process, self.folder, *folders)
        for pipe in (*self._orders, self._answers):
            os.close(pipe)
        return self._process.returncode


class Companies:
    """One company for each number of ranks, launched when it is first needed."""

    def __init__(
        self,
        launcher: Sequence[str],
        actor: Sequence[str],
        folder: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Remember what to launch, and where each may have a folder."""
        self._launcher = launcher
        self._actor = actor
        self._folder = folder
        self._environment = environment or {}
        self._launched = 0
        self._companies: dict[int, Company] = {}  # the one that was used last is the last

    def of(self, ranks: int) -> Company:
        """Return a company of so many ranks."""
        company = self._companies.pop(ranks, None)
        if company is None:
            while self._companies and sum(self._companies) + ranks > MOST:
                self._companies.pop(next(iter(self._companies))).dismiss()
            self._launched += 1
            folder = self._folder / f"company{self._launched}"
            company = Company(self._launcher, ranks, self._actor, folder, self._environment)
        self._companies[ranks] = company
        return company

    def forget(self, company: Company) -> None:
        """The next script of so many ranks gets a new launch."""
        self._companies = {n: one for n, one in self._companies.items() if one is not company}

    def dismiss(self) -> None:
        """Let all of them end.

        Raises:
            AssertionError: If one does not end well.
        """
        companies, self._companies = self._companies, {}
        statuses = {company: company.dismiss() for company in companies.values()}
        bad = [(company.played, status) for company, status in statuses.items() if status != 0]
        assert not bad, f"launches that did not end well, with what they had played: {bad}"


def write_order(
    path: Path, script: Path | str, journals: Path, folder: Path, environment: Mapping[str, str]
) -> None:
    """Write what company.h reads."""
    order = {"script": script, "journals": journals, "folder": folder}
    words = {name: str(value) for name, value in order.items()}
    path.write_text(json.dumps({**words, "environment": dict(environment)}))
