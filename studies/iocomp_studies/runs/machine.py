# SPDX-License-Identifier: BSD-3-Clause
"""The machine, the versions and the load, as a result tells them."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from iocomp_studies.launch import Build
from iocomp_studies.work_directory import file_system_type

_CPUS = Path("/sys/devices/system/cpu")


def _text(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _first_line(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (done.stdout.splitlines() or [""])[0].strip()


def _field(file: str, name: str) -> str:
    for line in _text(Path(file)).splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return ""


def _distinct(names: Iterable[str], which: str) -> int:
    return len({_text(_CPUS / name / which) for name in names} - {""})


def topology() -> dict[str, int]:
    """Return how many packages, NUMA nodes, L3 groups, cores and hardware threads there are."""
    cpus = [path.name for path in _CPUS.glob("cpu[0-9]*")]
    nodes = len(list(Path("/sys/devices/system/node").glob("node[0-9]*")))
    return {
        "packages": _distinct(cpus, "topology/physical_package_id") or 1,
        "numa_nodes": nodes or 1,
        "l3_groups": _distinct(cpus, "cache/index3/shared_cpu_list"),
        "cores": _distinct(cpus, "topology/core_cpus_list") or len(cpus),
        "hardware_threads": len(cpus),
        "usable_hardware_threads": len(os.sched_getaffinity(0)),
    }


def host(directory: Path) -> dict[str, Any]:
    """Return what this host is, and the file system of a directory."""
    return {
        "name": platform.node(),
        "processor": _field("/proc/cpuinfo", "model name"),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "kernel": platform.release(),
        "file_system": file_system_type(directory.resolve()),
        "is_virtual": "hypervisor" in _field("/proc/cpuinfo", "flags").split(),
    }


def versions(command: Path, build: Build) -> dict[str, str]:
    """Return what was built of what, by name."""
    return {
        "iocomp": _first_line([str(command), "--version"]).removeprefix("iocomp "),
        "build_type": build.build_type,
        "mpi": _first_line([build.mpiexec[0], "--version"]) if build.mpiexec else "",
        "library": _digest(command.resolve().parent.parent),
        "python": platform.python_version(),
    }


def _digest(place: Path) -> str:
    """Return a short name of the library that is built or installed there; "" if there is none."""
    for file in sorted(place.glob("lib*/libiocomp.so")):
        return hashlib.sha256(file.read_bytes()).hexdigest()[:8]
    return ""


def about(command: Path, build: Build, directory: Path) -> dict[str, Any]:
    """Return what a result tells of the machine, the build and the file system of a directory."""
    cluster = os.environ.get("SLURM_CLUSTER_NAME")
    return {
        "versions": versions(command, build),
        "host": host(directory),
        "topology": topology(),
        **({"cluster": cluster} if cluster else {}),
    }


def load() -> float:
    """Return how many processes want a core, on average over the last minute."""
    return os.getloadavg()[0]
