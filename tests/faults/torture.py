# SPDX-License-Identifier: BSD-3-Clause
"""Break jobs in every way, and check that nothing is lost: `iocomp torture` and `make check-faults`."""

from __future__ import annotations

import argparse
import io
import json
import multiprocessing
import os
import queue
import random
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
for folder in ("actor", "system", "conformance/files"):
    sys.path.insert(0, str(HERE.parent / folder))
sys.path.insert(0, str(HERE.parents[1] / "studies"))

from actors import Actors, Build  # noqa: E402
from cell import BACK_ENDS, Cell  # noqa: E402
from company import Companies  # noqa: E402
from oracle import Violation, shared_memory  # noqa: E402
from trial import NotHere, Trial  # noqa: E402
from trials import FAULTS, draw  # noqa: E402

EXIT_VIOLATION = 1
EXIT_NOTHING_TRIED = 2


@dataclass(frozen=True)
class Result:
    """The outcome of a cell."""

    cell: Cell
    struck: int
    seconds: float
    violation: str = ""  # why it must not be
    skipped: str = ""  # why it was not tried


class Worker:
    """Tries one cell after the other, with launches that it keeps."""

    def __init__(self, build: Build, target: Path, own: Path) -> None:
        self._build = build
        self._target = target
        self._own = own
        self._companies: list[Companies] = []
        self._actors: list[Actors] = []
        for who in ("first", "rival"):
            folder = own / who
            folder.mkdir(parents=True)
            companies = Companies(build.launcher, [build.actor], folder)
            self._companies.append(companies)
            self._actors.append(Actors(build, folder, companies))

    def try_out(self, cell: Cell) -> Result:
        began = time.monotonic()
        folder = self._target / f"cell{cell.number}"
        own = self._own / f"cell{cell.number}"
        if not self._build.has_back_end(cell.back_end.partition("-")[0]):
            return Result(cell, 0, 0, skipped=f"the back-end {cell.back_end} was not built")
        own.mkdir()
        trial = Trial(cell, self._build, self._actors[0], self._actors[1], folder, own)
        violation = skipped = ""
        shown = io.StringIO()
        try:
            with redirect_stdout(shown):
                FAULTS[cell.fault].happen(trial)
        except NotHere as reason:
            skipped = str(reason)
        except Violation as error:
            violation = str(error)
        except Exception:  # noqa: BLE001 (a cell whose check fails must not end the others)
            violation = traceback.format_exc()
        if violation:
            violation = self._keep(cell, violation, shown.getvalue())
        else:
            shutil.rmtree(folder, ignore_errors=True)
            shutil.rmtree(own, ignore_errors=True)
        return Result(cell, trial.struck, time.monotonic() - began, violation, skipped)

    def _keep(self, cell: Cell, violation: str, shown: str) -> str:
        """Keep all that can be known beside the files; return the gist."""
        report = self._target / f"cell{cell.number}.txt"
        report.write_text(f"{cell}\n{violation}\n\nThe jobs:\n{shown}")
        return "\n".join([*violation.splitlines()[:4], f"all of it: {report}"])

    def end(self) -> None:
        for companies in self._companies:
            companies.dismiss()


def _work(which: int, options: argparse.Namespace, build: Build, results: Any) -> None:
    target = Path(tempfile.mkdtemp(prefix="torture-", dir=options.directory))
    worker = Worker(build, target, options.own / f"worker{which}")
    until = time.monotonic() + options.seconds
    numbers = [options.cell] if options.cell is not None else range(which, 1 << 40, options.jobs)
    for number in numbers:
        if time.monotonic() > until:
            break
        cell = draw(options.seed, number)
        if options.cell is not None or _is_wanted(cell, options):
            results.put(worker.try_out(cell))
    worker.end()
    results.put(None)
    if not any(target.iterdir()):
        target.rmdir()


def _is_wanted(cell: Cell, options: argparse.Namespace) -> bool:
    return (not options.only or cell.fault in options.only) and (
        not options.back_end or cell.back_end in options.back_end
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="iocomp torture", description=__doc__)
    parser.add_argument("directory", type=Path, help="where to write: the file system to try")
    parser.add_argument("--seconds", type=float, default=60, help="how long (60)")
    parser.add_argument("--seed", type=int, help="repeats a run; else a new one each time")
    parser.add_argument("--cell", type=int, help="try only this cell of the seed")
    for option, metavar, names in ("--only", "FAULT", FAULTS), ("--back-end", "BACK_END", BACK_ENDS):
        parser.add_argument(
            option, nargs="+", choices=names, metavar=metavar, help=f"of {', '.join(names)}"
        )
    parser.add_argument("--jobs", type=int, default=3, help="jobs at a time (3)")
    parser.add_argument("--json", action="store_true", help="print one object at the end")
    parser.add_argument("--build", type=Path, required=True, help=argparse.SUPPRESS)
    return parser


def _words() -> dict[str, Any]:
    """Return the options for completion and the manual (tools/iocomp/python_program.h)."""
    told = [
        {
            "names": ",".join(action.option_strings) or action.dest.upper(),
            "about": action.help,
            "values": list(action.choices or ()),
            "default": "",  # is part of the help
            "is_flag": action.nargs == 0,
        }
        for action in _parser()._actions  # noqa: SLF001 (argparse has no other way)
        if action.dest != "help" and action.help is not argparse.SUPPRESS
    ]
    return {"options": told, "commands": []}


def _options() -> argparse.Namespace:
    parser = _parser()
    options = parser.parse_args()
    if options.seconds <= 0 or options.jobs < 1:
        parser.error("--seconds is more than 0, and --jobs at least 1")
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1 << 31)
    if options.cell is not None:
        options.jobs = 1
    return options


def _gather(options: argparse.Namespace, build: Build) -> list[Result]:
    context = multiprocessing.get_context("fork")
    results: Any = context.Queue()
    workers = [
        context.Process(target=_work, args=(which, options, build, results))
        for which in range(options.jobs)
    ]
    for worker in workers:
        worker.start()
    found: list[Result] = []
    working = len(workers)
    while working > 0:
        try:
            result = results.get(timeout=5)
        except queue.Empty:
            if not any(worker.is_alive() for worker in workers):
                raise SystemExit("iocomp torture: a worker has ended unexpectedly") from None
            continue
        if result is None:
            working -= 1
            continue
        found.append(result)
        if result.violation and not options.json:
            print(f"VIOLATION {result.cell}\n{result.violation}")
            print(f"repeat: {_repeat(options, result.cell)}\n", flush=True)
    for worker in workers:
        worker.join()
    return found


def _repeat(options: argparse.Namespace, cell: Cell) -> str:
    return f"iocomp torture {options.directory} --seed {cell.seed} --cell {cell.number}"


def _read_build(path: Path) -> Build:
    """Installed programs are named from where the file lies."""
    told = json.loads(path.read_text())
    for name in ("actor", "command", "modules"):
        told[name] = str((path.parent / told[name]).resolve())
    return Build(**told)


def _set_launcher_up(launcher: str) -> None:
    """More ranks than cores, on any of them; and root may be who tries a file system.

    Faults look for their victims on this node. So a launcher that is not the batch system's own
    must not see an allocation, or it starts ranks through helpers and on other nodes.
    """
    if Path(launcher).name != "srun":
        for name in list(os.environ):
            if name.startswith(("SLURM_", "PBS_", "LSB_")):
                del os.environ[name]
    usual = {"rmaps_base_oversubscribe": "1", "hwloc_base_binding_policy": "none"}
    for name, value in usual.items():
        os.environ.setdefault(f"OMPI_MCA_{name}", value)
    if os.geteuid() == 0:
        os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
        os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")


def _check_that_jobs_run(build: Build, own: Path) -> None:
    actors = Actors(build, own)
    with redirect_stdout(io.StringIO()):
        job = actors.play("init", ranks=2, alone=True)
    if job.status != 0:
        print(f"iocomp torture: jobs do not run here\n{job}", file=sys.stderr)
        raise SystemExit(EXIT_NOTHING_TRIED)


def _faults(results: list[Result]) -> dict[str, dict[str, int]]:
    """Return how many cells, faults and violations there were, by the name of the fault."""
    found: dict[str, dict[str, int]] = {}
    for name in FAULTS:
        of_it = [result for result in results if result.cell.fault == name and not result.skipped]
        if of_it:
            found[name] = {
                "cells": len(of_it),
                "faults": sum(result.struck for result in of_it),
                "violations": sum(bool(result.violation) for result in of_it),
            }
    return found


def _in_json(
    options: argparse.Namespace, results: list[Result], seconds: float, left: set[str]
) -> str:
    violations = [
        {"cell": str(r.cell), "story": r.violation, "repeat": _repeat(options, r.cell)}
        for r in results
        if r.violation
    ]
    told = {
        "seed": options.seed,
        "seconds": seconds,
        "faults": _faults(results),
        "not_tried": Counter(r.skipped for r in results if r.skipped),
        "violations": violations,
        "left_in_shared_memory": sorted(left),
    }
    return json.dumps(told, indent=2)


def _in_words(results: list[Result], seconds: float, left: set[str]) -> str:
    faults = _faults(results)
    width = max(map(len, FAULTS))
    lines = [f"{'fault':{width}}  cells  faults  violations"]
    for name, one in faults.items():
        lines.append(
            f"{name:{width}}  {one['cells']:5}  {one['faults']:6}  {one['violations']:10}"
        )
    for reason, count in Counter(r.skipped for r in results if r.skipped).most_common():
        lines.append(f"not tried: {count} cells ({reason})")
    total = {
        key: sum(one[key] for one in faults.values()) for key in ("cells", "faults", "violations")
    }
    lines.append(
        f"{total['faults']} faults in {total['cells']} cells and {seconds:.0f} s:"
        f" {total['violations']} violations"
    )
    if left:
        lines.append(f"VIOLATION: left in /dev/shm: {sorted(left)}")
    return "\n".join(lines)


def main() -> int:
    if sys.argv[-1] == "--tell-words":
        print(json.dumps(_words()))
        return 0
    options = _options()
    options.directory = options.directory.resolve()
    if not options.directory.is_dir():
        print(f"iocomp torture: {options.directory} is not a directory", file=sys.stderr)
        return 2
    build = _read_build(options.build)
    _set_launcher_up(build.launcher[0])
    if not options.json:
        print(f"seed {options.seed}", flush=True)
    began = time.monotonic()
    before = shared_memory()
    with tempfile.TemporaryDirectory(prefix="iocomp-torture-") as own:
        options.own = Path(own)
        _check_that_jobs_run(build, options.own)
        results = _gather(options, build)
    seconds = time.monotonic() - began
    left = shared_memory() - before
    print(
        _in_json(options, results, seconds, left)
        if options.json
        else _in_words(results, seconds, left)
    )
    if not left and all(result.skipped for result in results):
        print("iocomp torture: nothing was tried", file=sys.stderr)
        return EXIT_NOTHING_TRIED
    return EXIT_VIOLATION if left or any(result.violation for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
