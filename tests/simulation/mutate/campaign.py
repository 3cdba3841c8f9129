# SPDX-License-Identifier: BSD-3-Clause
"""A campaign: it finds the test that kills each mutant."""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from sources import BUILD, COPY, FOLDER, PROGRAM, environment

KEPT = COPY / "tests" / "simulation" / "kept"
REACHED = FOLDER / "reached"
RESULTS = FOLDER / "results.jsonl"
MOST = 1 << 16  # bytes of the file that tells what was reached: mutants::most
FIRST_SEEDS = 1000  # they come before the sweep, the others after it
SWEEP_STEP = 5  # each fifth history of the sweep comes before the others
MEMORY = 16 << 30  # bytes of addresses: the simulation sets 8 GiB aside
ASLEEP = 15  # seconds after which a test that only sleeps hangs
# Seconds of the processor that a child of the simulation may take: a plan, 500 seeds, the sweep.
LONGEST = {"kept": 10, "seeds": 30, "later": 30, "sweep": 900}
SLOW = 1.0  # seconds of the processor from which a unit test comes later
# The trials, in this order: all mutants by the first, then those that are left by the next.
ROUNDS = ("unit", "kept", "seeds", "slow", "fifth", "sweep", "later")


@dataclass(frozen=True)
class UnitTest:
    """A program of unit tests."""

    name: str
    program: str
    seconds: float  # of the processor, without a mutant
    reaches: frozenset[int]


@dataclass(frozen=True)
class Result:
    """The findings on a mutant."""

    key: str
    tried: tuple[str, ...] = ()  # of ROUNDS
    killer: str = ""  # "unit", "kept", "sweep", "seeds", or nothing
    by: str = ""  # which of them
    histories: int = 0  # of the killer, from its first to the one that kills
    reached_by: int = 0  # histories and unit tests that came to its place
    seconds: float = 0.0

    @property
    def is_done(self) -> bool:
        return bool(self.killer) or set(self.tried) >= set(ROUNDS)


class Killers:
    """All tests, and what each of them reaches."""

    def __init__(self, first_seed: int, histories: int) -> None:
        """Know what to run.

        Args:
            first_seed: The first seed of the new histories.
            histories: The number of new histories.
        """
        self.first_seed = first_seed
        self.histories = histories
        self.units: list[UnitTest] = []
        self.reached: dict[str, dict[str, frozenset[int]]] = {}

    def look(self) -> None:
        """Run what is cheap without a mutant, and learn what each test reaches."""
        REACHED.mkdir(parents=True, exist_ok=True)
        self.units = [self.look_at_unit(*one) for one in unit_tests()]

    def reached_in(self, killer: str) -> dict[str, frozenset[int]]:
        """Return what each history of a killer reaches; that is found once."""
        if killer not in self.reached:
            path = REACHED / f"{killer}.txt"
            if not path.exists():
                self.look_at(killer, path)
            self.reached[killer] = read_reached(path)
        return self.reached[killer]

    def look_at_unit(self, name: str, program: str) -> UnitTest:
        path = REACHED / f"unit.{name}.json"
        if not path.exists():
            with tempfile.NamedTemporaryFile() as shared:
                shared.truncate(MOST)
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                done = subprocess.run(
                    [program],
                    env=environment(reached=Path(shared.name)),
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    check=False,
                )
                if done.returncode != 0:
                    raise RuntimeError(f"{name} fails without a mutant:\n{done.stdout[-2000:]}")
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                bytes_read = Path(shared.name).read_bytes()
            seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            reaches = [number for number, is_reached in enumerate(bytes_read) if is_reached]
            path.write_text(json.dumps({"seconds": seconds, "reaches": reaches}))
        known = json.loads(path.read_text())
        return UnitTest(name, program, known["seconds"], frozenset(known["reaches"]))

    def look_at(self, killer: str, path: Path) -> None:
        made = path.with_suffix(".new")
        made.unlink(missing_ok=True)
        with tempfile.NamedTemporaryFile() as shared:
            shared.truncate(MOST)
            done = subprocess.run(
                [*self.command(killer), "--reached", str(made)],
                env=environment(reached=Path(shared.name)),
                stdout=subprocess.PIPE,
                text=True,
                check=False,
            )
        if done.returncode != 0:
            raise RuntimeError(f"{killer} fails without a mutant:\n{done.stdout[-2000:]}")
        made.rename(path)

    def command(self, killer: str) -> list[str]:
        if killer == "kept":
            return [str(PROGRAM), "--kept", str(KEPT)]
        if killer == "sweep":
            return [str(PROGRAM), "--sweep"]
        first, count = self.first_seed, min(FIRST_SEEDS, self.histories)
        if killer == "later":
            first, count = first + count, self.histories - count
        return [str(PROGRAM), "--from", str(first), "--seeds", str(count)]

    # One mutant.

    def try_mutant(self, number: int, known: Result, what: str) -> Result:
        """Run what reaches a mutant, in one of ROUNDS, until something sees it."""
        begin = time.monotonic()
        if what in ("unit", "slow"):
            reaching, killer, by, count = self.try_units(number, is_slow=what == "slow")
        else:
            reaching, killer, by, count = self.try_histories(number, what)
        return Result(
            known.key,
            (*known.tried, what),
            killer,
            by,
            count,
            known.reached_by + reaching,
            round(known.seconds + time.monotonic() - begin, 1),
        )

    def try_units(self, number: int, is_slow: bool) -> tuple[int, str, str, int]:
        units = sorted(
            (
                one
                for one in self.units
                if number in one.reaches and (one.seconds > SLOW) == is_slow
            ),
            key=lambda one: one.seconds,
        )
        for unit in units:
            if self.kills_unit(number, unit):
                return len(units), "unit", unit.name, 0
        return len(units), "", "", 0

    def try_histories(self, number: int, what: str) -> tuple[int, str, str, int]:
        source = "sweep" if what == "fifth" else what
        reached = self.reached_in(source)
        order = list(reached)
        chosen = [one for one in order if number in reached[one]]
        if source == "sweep":
            first = set(chosen[::SWEEP_STEP])
            chosen = [one for one in chosen if (one in first) == (what == "fifth")]
        by = self.kills(number, source, chosen)
        if by is None:
            return len(chosen), "", "", 0
        count = order.index(by) + 1 if by in order else 0
        if source == "later":
            count += FIRST_SEEDS
        killer = "seeds" if source == "later" else source
        return len(chosen), killer, by, count

    def kills_unit(self, number: int, unit: UnitTest) -> bool:
        with tempfile.TemporaryDirectory() as folder:
            done = run_limited(
                [unit.program],
                number,
                seconds=5 + 10 * unit.seconds,
                wall=60 + 60 * unit.seconds,
                folder=Path(folder),
            )
        return done is None or done.returncode != 0

    def kills(self, number: int, killer: str, chosen: Iterable[str]) -> str | None:
        """@return the history that sees it, or nothing."""
        chosen = list(chosen)
        if not chosen:
            return None
        name = {"kept": r"^(\S+\.plan):", "sweep": r"^history (\d+)"}.get(killer, r"^seed (\d+)")
        with tempfile.TemporaryDirectory() as folder:
            only = Path(folder) / "only"
            only.write_text("\n".join(chosen) + "\n")
            done = run_limited(
                [*self.command(killer), "--only", str(only)],
                number,
                seconds=LONGEST[killer],
                wall=4 * 3600,
                folder=Path(folder),
                enough=name,
            )
        if done is None:
            return "hangs"
        if done.returncode == 0:
            return None
        found = re.search(name, done.stdout, re.MULTILINE)
        if not found:
            raise RuntimeError(f"{killer} fails without a history, mutant {number}: {done.stdout}")
        return found.group(1)


def run_limited(
    command: list[str],
    mutant: int,
    seconds: float,
    wall: float,
    folder: Path,
    enough: str | None = None,
) -> subprocess.CompletedProcess[str] | None:
    """Run a test with a mutant, until it ends or has told enough.

    Returns:
        Nothing if it takes too long, or only sleeps.
    """

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    told = folder / "told"
    with told.open("wb") as output:
        process = subprocess.Popen(
            command,
            env=environment(mutant=mutant) | {"TMPDIR": str(folder), "GTEST_FAIL_FAST": "1"},
            cwd=folder,
            stdout=output,
            stderr=subprocess.DEVNULL,
            process_group=0,
            preexec_fn=limit,
        )
    end = time.monotonic() + wall
    asleep = 0
    before = 0
    try:
        while asleep < ASLEEP and time.monotonic() < end:
            try:
                code = process.wait(1)
            except subprocess.TimeoutExpired:
                text = told.read_text(errors="replace")
                if enough and re.search(enough, text, re.MULTILINE):
                    return subprocess.CompletedProcess(command, 1, text)
                used, is_asleep = work_of(process.pid)
                asleep = asleep + 1 if is_asleep and used == before else 0
                before = used
            else:
                text = told.read_text(errors="replace")
                return subprocess.CompletedProcess(command, code, text)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return None


def work_of(group: int) -> tuple[int, bool]:
    """Return the ticks that a group of processes has worked, and whether all of it sleeps."""
    used = 0
    is_asleep = True
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if os.getpgid(int(process.name)) == group:
                for thread in (process / "task").iterdir():
                    words = (thread / "stat").read_text().rpartition(") ")[2].split()
                    is_asleep = is_asleep and words[0] not in "RDTt"
                    used += int(words[11]) + int(words[12])
        except (FileNotFoundError, ProcessLookupError):
            pass  # it has just ended
    return used, is_asleep


def unit_tests() -> list[tuple[str, str]]:
    """Return the name and the program of each."""
    told = subprocess.run(
        ["ctest", "--show-only=json-v1", "-L", "unit", "-LE", "full"],
        cwd=BUILD,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return [
        (one["name"], one["command"][0])
        for one in json.loads(told)["tests"]
        if len(one.get("command", [])) == 1
    ]


def read_reached(path: Path) -> dict[str, frozenset[int]]:
    """Return by history, in their order, which mutants it reaches."""
    known = {}
    for line in path.read_text().splitlines():
        name, _, numbers = line.partition(":")
        known[name] = frozenset(int(one) for one in numbers.split())
    return known


def read_results() -> dict[str, Result]:
    """Return what is known of mutants, by key; what came last counts."""
    if not RESULTS.exists():
        return {}
    lines = [json.loads(line) for line in RESULTS.read_text().splitlines()]
    results = [Result(**{**line, "tried": tuple(line["tried"])}) for line in lines]
    return {one.key: one for one in results}


def run(killers: Killers, wanted: dict[int, Result], rounds: Iterable[str]) -> None:
    """Try these mutants, by number with what is known of them, and keep each result at once."""
    for what in rounds:
        for number, known in wanted.items():
            if known.killer or what in known.tried:
                continue
            result = wanted[number] = killers.try_mutant(number, known, what)
            with RESULTS.open("a") as file:
                file.write(json.dumps(asdict(result)) + "\n")
            print(f"{number:4} {what:6} {result.by or '-':24} {result.key}", flush=True)
        left = sum(1 for one in wanted.values() if not one.killer)
        print(f"{what}: {left} are left", flush=True)
