# SPDX-License-Identifier: BSD-3-Clause
"""Processes that are killed, stopped or asked to end."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from actors import INVALID_ARGUMENT, Job, no_nodes, over_nodes
from oracle import Violation, told
from processes import processes_in
from trial import NotHere, Trial
from workload import NAME, Workload, draw_rival, draw_workload

NODES = 2


def _ranks(processes: list[int]) -> dict[int, int]:
    """Return the processes by their rank."""
    found = {}
    for process in processes:
        with suppress(OSError):
            text = Path(f"/proc/{process}/environ").read_text(errors="replace")
            for variable in text.split("\0"):
                name, _, value = variable.partition("=")
                if name in ("OMPI_COMM_WORLD_RANK", "PMI_RANK"):
                    found[int(value)] = process
    return found


def _entries(journals: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in journals.glob("rank*.jsonl"))


def _servers(journals: Path) -> list[int]:
    """Return the ranks that have not come back from iocomp_init, when others have long."""
    ranks = {path: int(path.stem.removeprefix("rank")) for path in journals.glob("rank*.jsonl")}
    return sorted(rank for path, rank in ranks.items() if b'"init"' not in path.read_bytes())


def _have_finalized(journals: Path) -> bool:
    """Return True if all compute ranks have, and none of them waits for anybody any more."""
    texts = [path.read_bytes() for path in journals.glob("rank*.jsonl")]
    computing = [text for text in texts if b'"init"' in text]
    return bool(computing) and all(b'"finalize"' in text for text in computing)


@dataclass
class Strike:
    """Something that happens to the processes of a job when they have made some calls."""

    folder: Path
    after: int  # entries in the journals
    delay: float
    act: Callable[[subprocess.Popen[str], dict[int, int], list[int]], None]
    has_struck: bool = False

    def __call__(self, launcher: subprocess.Popen[str], journals: Path) -> None:
        while launcher.poll() is None and _entries(journals) < self.after:
            if _have_finalized(journals):
                return
            time.sleep(0.001)
        time.sleep(self.delay)
        if launcher.poll() is None and (ranks := _ranks(processes_in(self.folder))):
            self.act(launcher, ranks, _servers(journals))
            self.has_struck = True


def _strike(
    trial: Trial, workload: Workload, act: Callable[..., None], after_start: bool = False
) -> Strike:
    """`after_start`: not while ranks are in iocomp_init, where they wait for all others."""
    servers = workload.ranks // 2 if trial.cell.has_servers else 0
    entries = (workload.ranks - servers) * len(workload.lines) + servers
    least = 3 * (workload.ranks - servers) + servers + 1 if after_start else 1  # all have opened it
    after = trial.dice.randint(least, max(least, entries * 3 // 4))
    return Strike(trial.folder, after, trial.dice.uniform(0, 0.01), act)


def _signal(process: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, number)


def _kill(trial: Trial, whom: str, number: int) -> None:
    workload = draw_workload(trial.cell)

    def act(launcher: subprocess.Popen[str], ranks: dict[int, int], servers: list[int]) -> None:
        if whom in ("launcher", "everything"):
            _signal(launcher.pid, number)
        if whom == "everything":
            for process in ranks.values():
                _signal(process, number)
        if whom == "rank":
            _signal(ranks[trial.dice.choice(sorted(ranks))], number)
        if whom == "server":
            _signal(ranks[trial.dice.choice(servers)], number)

    strike = _strike(trial, workload, act, after_start=whom == "server")
    job = trial.play(workload, meanwhile=strike)
    _check_after_a_kill(trial, workload, job, strike)


def _check_after_a_kill(trial: Trial, workload: Workload, job: Job, strike: Strike) -> None:
    trial.struck += strike.has_struck
    trial.check(workload, job)
    if trial.dice.random() < 0.3:
        _check_the_next_job(trial, workload)


def _check_the_next_job(trial: Trial, before: Workload) -> None:
    """Check that it removes what was left, and is not in the way of its own."""
    workload = draw_rival(trial.cell, before)
    workload.settings["files"][NAME]["existing"] = "replace"
    job = trial.play(workload)
    trial.check_end(job)
    trial.check(workload, job)


def kill_server(trial: Trial) -> None:
    _kill(trial, "server", signal.SIGKILL)


def kill_rank(trial: Trial) -> None:
    _kill(trial, "rank", signal.SIGKILL)


def kill_launcher(trial: Trial) -> None:
    _kill(trial, "launcher", signal.SIGKILL)


def kill_everything(trial: Trial) -> None:
    _kill(trial, "everything", signal.SIGKILL)


def end_rank(trial: Trial) -> None:
    _kill(trial, "rank", signal.SIGTERM)


def end_launcher(trial: Trial) -> None:
    _kill(trial, "launcher", signal.SIGTERM)


def kill_in_call(trial: Trial) -> None:
    """A process dies in a call to the disk."""
    workload = draw_workload(trial.cell)
    rank = trial.dice.randrange(workload.ranks)
    call = trial.dice.choice(["pwrite", "sync", "rename", "open", "write", "unlink"])
    workload.before.append(f"@{rank} fault {call} KILL after={trial.dice.randrange(8)}")
    job = trial.play(workload)
    trial.struck += job.status != 0
    trial.check(workload, job)


def server_dies_alone(trial: Trial) -> None:
    """The launcher lets the others live, which go on or are told."""
    if trial.build.mpi != "openmpi":
        raise NotHere("only Open MPI's launcher lets the others live")
    workload = draw_workload(trial.cell)
    workload.leaves = True
    workload.settings["wait"] = {"deadline": 2}

    def act(_: subprocess.Popen[str], ranks: dict[int, int], servers: list[int]) -> None:
        _signal(ranks[trial.dice.choice(servers)], signal.SIGKILL)

    strike = _strike(trial, workload, act, after_start=True)

    # Servers leave through MPI_Finalize, where Open MPI may wait for the dead for ever.
    def meanwhile(launcher: subprocess.Popen[str], journals: Path) -> None:
        strike(launcher, journals)
        while launcher.poll() is None and not _have_finalized(journals):
            time.sleep(0.01)
        time.sleep(1)
        launcher.terminate()
        time.sleep(1)
        for process in processes_in(trial.folder):
            _signal(process, signal.SIGKILL)

    first, *rest = trial.build.launcher
    launcher = [first, "--enable-recovery", *rest, str(workload.ranks)]
    job = trial.play(workload, meanwhile=meanwhile, launcher=launcher)
    trial.struck += strike.has_struck
    trial.check(workload, job)


def _of_its_node(process: int) -> list[int]:
    """Return all processes of a virtual node, that of the launcher's helper too."""
    own = os.readlink(f"/proc/{process}/ns/pid")
    found = []
    for other in Path("/proc").iterdir():
        with suppress(OSError):
            if other.name.isdigit() and os.readlink(other / "ns/pid") == own:
                found.append(int(other.name))
    return found


def _launcher_over_nodes(trial: Trial, workload: Workload) -> list[str]:
    if reason := no_nodes(trial.build):
        raise NotHere(reason)
    if trial.cell.has_servers:  # also where each node has one rank
        workload.settings["placement"] = {"policy": "halves"}
    return [*over_nodes(trial.build, NODES), str(workload.ranks)]


def kill_node(trial: Trial) -> None:
    """All processes of one of two nodes are gone at once."""
    workload = draw_workload(trial.cell)

    def act(_: subprocess.Popen[str], ranks: dict[int, int], __: list[int]) -> None:
        for process in _of_its_node(ranks[trial.dice.choice(sorted(ranks))]):
            _signal(process, signal.SIGKILL)

    strike = _strike(trial, workload, act)

    # Open MPI 4's launcher does not always end when it has lost a node.
    def meanwhile(launcher: subprocess.Popen[str], journals: Path) -> None:
        strike(launcher, journals)
        if not strike.has_struck:
            return
        try:
            launcher.wait(10)
        except subprocess.TimeoutExpired:
            for process in [launcher.pid, *processes_in(trial.folder)]:
                _signal(process, signal.SIGKILL)

    launcher = _launcher_over_nodes(trial, workload)
    job = trial.play(workload, meanwhile=meanwhile, launcher=launcher)
    _check_after_a_kill(trial, workload, job, strike)


def stop(trial: Trial) -> None:
    """A process stands still for some time, and goes on."""
    _stop(trial, draw_workload(trial.cell), lambda process: [process])


def stop_node(trial: Trial) -> None:
    """All processes of one of two nodes do."""
    workload = draw_workload(trial.cell)
    launcher = _launcher_over_nodes(trial, workload)
    _stop(trial, workload, _of_its_node, launcher=launcher)


def _stop(
    trial: Trial, workload: Workload, all_with: Callable[[int], list[int]], **more: list[str]
) -> None:
    dice = trial.dice
    seconds = dice.choice([0.05, 0.2, 0.5, 0.5, 1, 2, 10 if dice.random() < 0.3 else 3])

    def act(_: subprocess.Popen[str], ranks: dict[int, int], __: list[int]) -> None:
        processes = all_with(ranks[dice.choice(sorted(ranks))])
        for process in processes:
            _signal(process, signal.SIGSTOP)
        time.sleep(seconds)
        for process in processes:
            _signal(process, signal.SIGCONT)

    strike = _strike(trial, workload, act)
    job = trial.play(workload, meanwhile=strike, **more)
    trial.struck += strike.has_struck
    # Ranks that wait for a server that stands still may say so, and go on without it.
    failures = [entry for entry in job.failures() if entry["code"] != INVALID_ARGUMENT]
    given_up = [entry for entry in failures if "does not respond" in entry["story"]]
    if failures and not given_up:
        raise Violation(f"calls fail after {seconds} s in which a process stood still\n{job}")
    if not failures and "does not respond" not in job.output:
        trial.check_end(job)
    trial.check(workload, job)
