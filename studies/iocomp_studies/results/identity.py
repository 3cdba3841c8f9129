# SPDX-License-Identifier: BSD-3-Clause
"""The properties of a machine and of a build that results must share to be compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple


class Identity(NamedTuple):
    """The origin of a result.

    Attributes:
        machine: The name of the cluster under Slurm, else of the host; of a publication its own.
        processor: The model of the processor.
        iocomp: The version of iocomp.
        build_type: The build type of CMake.
        mpi: The version of MPI.
        library: The library, by its content: a build that has changed is another one.
        file_system: The type of the file system that was written to.
    """

    machine: str
    processor: str = ""
    iocomp: str = ""
    build_type: str = ""
    mpi: str = ""
    library: str = ""
    file_system: str = ""


def identity_of(about: Mapping[str, Any]) -> Identity:
    """Return the origin of a result, or of the results that are about to be made."""
    if about.get("source"):
        return Identity(str(about["source"]))
    host, versions = about.get("host") or {}, about.get("versions") or {}
    return Identity(
        str(about.get("cluster") or host.get("name", "here")),
        str(host.get("processor", "")),
        str(versions.get("iocomp", "")),
        str(versions.get("build_type", "")),
        str(versions.get("mpi", "")),
        str(versions.get("library", "")),
        str(host.get("file_system", "")),
    )


def source_names(records: Iterable[Mapping[str, Any]]) -> dict[Identity, str]:
    """Return a name for each origin of some results: the machine, and what tells it from others."""
    found = dict.fromkeys(map(identity_of, records))
    by_machine: dict[str, list[Identity]] = defaultdict(list)
    for one in found:
        by_machine[one.machine].append(one)
    names = {}
    for machine, of in by_machine.items():
        differ = [name for name in Identity._fields if len({getattr(one, name) for one in of}) > 1]
        for one in of:
            parts = (f"{name.replace('_', ' ')} {getattr(one, name) or '?'}" for name in differ)
            names[one] = ", ".join((machine, *parts))
    return names
