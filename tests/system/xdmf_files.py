# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that have their files described by XDMF, and what the XDMF files say."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from actors import Actors, Job
from files import file_settings, mode_settings

ENDINGS = {"posix": ".dat", "mpiio": ".dat", "netcdf": ".nc", "pnetcdf": ".nc"}


def path_of(back_end: str) -> str:
    return "out" + ENDINGS.get(back_end, ".h5")


def settings(back_end: str, mode: str, **more: object) -> dict[str, Any]:
    described = {"path": path_of(back_end), "describe": "xdmf", **more}
    return {**mode_settings(mode), "files": {"out": file_settings(back_end, **described)}}


def play(
    actors: Actors, back_end: str, mode: str, script: str, *, fault: str = "", **more: Any
) -> Job:
    """Run a job of three ranks (asynchronously with servers: two compute ranks)."""
    return actors.play(
        f"{fault}\ninit\n{script}",
        ranks=3,
        settings=settings(back_end, mode, **more.pop("file", {})),
        **more,
    )


def steps_of(job: Job, back_end: str) -> list[tuple[int, float]]:
    """Return number and time of the steps that the XDMF file names; none where there is no such file."""
    path = job.folder / f"{path_of(back_end)}.xdmf"
    if not path.exists():
        return []
    series = ElementTree.parse(path).getroot().find("Domain/Grid")
    assert series is not None
    assert series.get("CollectionType") == "Temporal"
    found = []
    for step in series.findall("Grid"):
        time = step.find("Time")
        assert time is not None
        found.append((int(step.get("Name", "").removeprefix("step ")), float(time.get("Value", ""))))
    for item in ElementTree.parse(path).getroot().iter("DataItem"):
        if item.get("Format") in ("Binary", "HDF"):
            file = str(item.text).split(":")[0]
            assert Path(job.folder, file).exists(), f"{path} names {file}, which is not there"
    return found
