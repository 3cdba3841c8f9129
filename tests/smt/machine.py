# SPDX-License-Identifier: BSD-3-Clause
"""An emulated machine: 2 packages x 2 cores x 2 hardware threads and 2 NUMA nodes, or others.

It boots, runs jobs and is gone. Every wait has a limit, and the emulator dies with the test that
started it.
"""

from __future__ import annotations

import base64
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
SECONDS_PER_JOB = 90
SECONDS_IN_ALL = 900

# One machine, in the emulator's words: CPUs 0 to 3 in the first package and NUMA node.
# Emulation even where the host could do better: it shows the same machine everywhere.
COMMON = """
    -accel tcg,thread=multi -cpu max,vendor=GenuineIntel -m 2G
    -nodefaults -no-reboot -display none -net none
"""
HARDWARE = shlex.split(f"""{COMMON} -smp 8,sockets=2,cores=2,threads=2
    -object memory-backend-ram,id=m0,size=1G -numa node,nodeid=0,cpus=0-3,memdev=m0
    -object memory-backend-ram,id=m1,size=1G -numa node,nodeid=1,cpus=4-7,memdev=m1
    -numa dist,src=0,dst=1,val=21
""")
# 2 packages of 2 NUMA nodes, each with 2 cores.
FOUR_DOMAINS = shlex.split(f"""{COMMON} -smp 8,sockets=2,cores=4,threads=1
    -object memory-backend-ram,id=m0,size=512M -numa node,nodeid=0,cpus=0-1,memdev=m0
    -object memory-backend-ram,id=m1,size=512M -numa node,nodeid=1,cpus=2-3,memdev=m1
    -object memory-backend-ram,id=m2,size=512M -numa node,nodeid=2,cpus=4-5,memdev=m2
    -object memory-backend-ram,id=m3,size=512M -numa node,nodeid=3,cpus=6-7,memdev=m3
""")
KERNEL_LINE = "console=ttyS0 quiet panic=-1 tsc=reliable mitigations=off"


@dataclass(frozen=True)
class Cpu:
    """One hardware thread, as the guest's /sys describes it."""

    package: int
    core: int
    node: int
    siblings: frozenset[int]


@dataclass(frozen=True)
class Row:
    """One rank in the library's report."""

    role: str
    cpus: frozenset[int]
    server: int | None
    close: str


def cpu_list(text: str) -> frozenset[int]:
    """Read the kernel's "0-3,8"."""
    cpus: set[int] = set()
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        cpus.update(range(int(first), int(last or first) + 1))
    return frozenset(cpus)


@dataclass(frozen=True)
class Ended:
    """The folder that a job in the machine left."""

    folder: Path

    @property
    def status(self) -> int:
        return int((self.folder / "status").read_text())

    @property
    def output(self) -> str:
        return (self.folder / "output").read_text(errors="replace")

    def cpus(self) -> dict[int, frozenset[int]]:
        """Return by rank where the kernel let it run."""
        return {
            int(path.suffix[1:]): cpu_list(path.read_text()) for path in self.folder.glob("cpus.*")
        }

    def about(self) -> dict[str, str]:
        """Return what the report says of the whole job."""
        lines = (self.folder / "report").read_text().splitlines()
        return dict(line[2:].split(": ", 1) for line in lines if re.match("# [a-z]+: ", line))

    def rows(self) -> dict[int, Row]:
        """Return the report by rank."""
        rows = {}
        for line in (self.folder / "report").read_text().splitlines():
            if not line.startswith("#"):
                rank, role, _, _, cpus, server, close = line.split("\t")
                rows[int(rank)] = Row(
                    role, cpu_list(cpus), None if server == "-" else int(server), close
                )
        return rows

    def pairs(self) -> dict[int, int]:
        """Return by compute rank its server."""
        return {rank: row.server for rank, row in self.rows().items() if row.server is not None}

    def journal(self, call: str) -> list[dict[str, object]]:
        """Return how a call went on every rank, for a job of actors."""
        lines = [
            json.loads(line)
            for path in sorted(self.folder.glob("rank*.jsonl"))
            for line in path.read_text().splitlines()
        ]
        return [line for line in lines if line["call"] == call]

    def __str__(self) -> str:
        report = self.folder / "report"
        told = report.read_text() if report.exists() else "no report"
        return f"{self.folder.name}: status {self.status}\n{self.output}\n{told}"


@dataclass(frozen=True)
class Machine:
    """A machine that has run its jobs and is switched off."""

    results: Path
    console: str

    def job(self, name: str) -> Ended:
        assert (self.results / name / "status").exists(), f"{name} has not run:\n{self.console}"
        return Ended(self.results / name)

    def cpus(self) -> dict[int, Cpu]:
        facts: dict[int, dict[str, str]] = {}
        for line in (self.results / "topology").read_text().splitlines():
            cpu, fact, value = line.split()
            facts.setdefault(int(cpu), {})[fact] = value
        return {
            cpu: Cpu(
                package=int(fact["physical_package_id"]),
                core=int(fact["core_id"]),
                node=int(fact["node"]),
                siblings=cpu_list(fact["thread_siblings_list"]),
            )
            for cpu, fact in facts.items()
        }


class BootError(Exception):
    """The machine has not come to its end."""


def _fill(tree: Path, jobs: Mapping[str, str]) -> None:
    """Write what is no program into the machine's root folder."""
    text = (HERE / "init").read_text().replace("SECONDS_PER_JOB", str(SECONDS_PER_JOB))
    (tree / "jobs").mkdir(parents=True)
    (tree / "bin").mkdir()
    (tree / "init").write_text(text)
    (tree / "init").chmod(0o755)
    shutil.copy(HERE / "seated", tree / "bin")
    for name, script in jobs.items():
        (tree / "jobs" / name).write_text(script)


def _emulate(hardware: list[str], kernel: Path, initramfs: Path, folder: Path) -> str:
    """Run the machine until it switches itself off; return what its console showed."""
    console = folder / "console"
    words = ["-kernel", str(kernel), "-initrd", str(initramfs), "-append", KERNEL_LINE]
    words += ["-serial", f"file:{console}", "-serial", f"file:{folder / 'sent'}"]
    trouble = ""
    try:
        done = subprocess.run(
            ["setpriv", "--pdeathsig", "KILL", "qemu-system-x86_64", *hardware, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=SECONDS_IN_ALL,
            check=False,
        )
        trouble = done.stderr if done.returncode == 0 else f"{done.stderr} status {done.returncode}"
    except subprocess.TimeoutExpired:
        trouble = f"ended after {SECONDS_IN_ALL} s"
    shown = console.read_text(errors="replace") if console.exists() else ""
    if "sent the results" not in shown:
        raise BootError(f"the machine has not finished: {trouble}\n{shown}")
    return shown


def run_machine(
    kernel: Path,
    programs: Iterable[Path],
    jobs: Mapping[str, str],
    results: Path,
    hardware: list[str] = HARDWARE,
) -> Machine:
    """Boot a machine with these programs, run the jobs (shell scripts), fetch their folders.

    Raises:
        BootError: If it does not boot, or not end in time.
    """
    results.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=results.parent) as name:
        folder = Path(name)
        _fill(folder / "tree", jobs)
        initramfs = folder / "initramfs"
        subprocess.run(
            [HERE / "make_initramfs", initramfs, folder / "tree", *programs],
            check=True,
            timeout=120,
            env={**os.environ, "LC_ALL": "C"},
        )
        shutil.rmtree(folder / "tree")
        console = _emulate(hardware, kernel, initramfs, folder)
        packed = base64.b64decode((folder / "sent").read_bytes())
    shutil.rmtree(results, ignore_errors=True)
    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:gz") as archive:
        archive.extractall(results)
    (results / "console").write_text(console)
    return Machine(results, console)
