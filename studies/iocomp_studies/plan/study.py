# SPDX-License-Identifier: BSD-3-Clause
"""Read the file that describes a study, and list the cells that it asks for."""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from iocomp_studies.plan.cell import MAPPINGS, NOT_USED, OUTPUTS, Cell
from iocomp_studies.plan.clients import CLIENTS

BACKENDS = ("posix", "mpiio", "hdf5", "netcdf", "pnetcdf", "adios2")
TRANSPORTS = ("auto", "shared", "message")
SCALINGS = ("weak", "strong")
LAUNCHERS = ("local", "slurm", "smpi")
SIMULATED = "scale"
"""The client of simulated ranks."""


class StudyError(ValueError):
    """The file asks for what cannot be; the text says where, what, and what is allowed."""


@dataclass(frozen=True)
class Slurm:
    """The jobs that a study asks Slurm for.

    Attributes:
        options: Lines of `#SBATCH`, such as "--partition=standard".
        parts: Jobs of an array, each of which makes a part of the repetitions.
        minutes: The time limit of each job.
        topology: A node, as `iocomp map --topology` takes it; "" for this machine.
        setup: Lines of shell before the runs, such as "module load cray-python".
    """

    options: tuple[str, ...] = ()
    parts: int = 1
    minutes: int = 30
    topology: str = ""
    setup: tuple[str, ...] = ()


@dataclass(frozen=True)
class Study:
    """A study as its file says.

    Attributes:
        name: The name of the study.
        cells: The cells that run, without those that cannot be.
        left_out: Combinations that have no meaning, with the reason.
        least, most: Repetitions of each cell.
        interval: A cell has enough when half the width of the 95 % interval of its wall time is at
            most this part of the median.
        minutes: The budget of all runs.
        warm_up: Repetitions before the first that counts.
        seed: The seed of the order.
        timeout_seconds: The time limit of one run.
        launcher: One of LAUNCHERS.
        slurm: The form of jobs.
        source: The file.
    """

    name: str
    cells: tuple[Cell, ...]
    left_out: tuple[str, ...] = ()
    least: int = 3
    most: int = 9
    interval: float = 0.03
    minutes: float = 10
    warm_up: int = 1
    seed: int = 1
    timeout_seconds: float = 300
    launcher: str = "local"
    slurm: Slurm = field(default_factory=Slurm)
    source: Path = Path()


_STUDY_KEYS = {
    "name", "least", "most", "interval", "minutes", "warm_up", "seed", "timeout_seconds",
    "launcher",
}  # fmt: skip
_SLURM_KEYS = {"options", "parts", "minutes", "topology", "setup"}
_AXES = {
    "client": tuple(CLIENTS), "output": OUTPUTS, "mapping": MAPPINGS, "backend": BACKENDS,
    "transport": TRANSPORTS, "ranks": None, "nodes": None, "ratio": None, "size": None,
    "scaling": SCALINGS, "progress": None,
}  # fmt: skip
_SERIES_KEYS = {*_AXES, "arguments", "settings", "verify"}
_OWNED = {
    "mode": "output", "transport.kind": "transport", "placement.servers": "mapping and ratio",
    "placement.policy": "mapping", "placement.mapping": "mapping", "placement.report": "",
    "trace.json": "", "trace.lines": "",
}  # fmt: skip
"""Settings that a cell makes, and the key of a series that says them."""
_TYPES: dict[str, tuple[type, ...]] = {
    "ranks": (int,), "nodes": (int,), "progress": (bool,), "ratio": (int, str), "size": (int, str),
    "name": (str,), "least": (int,), "most": (int,), "interval": (float, int),
    "minutes": (float, int), "warm_up": (int,), "seed": (int,), "timeout_seconds": (float, int),
    "launcher": (str,),
}  # fmt: skip


def read_study(path: Path) -> Study:
    """Read and check a study.

    Raises:
        StudyError: For what it cannot be; the text names the file and the place in it.
        OSError: If it cannot be read.
    """
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:  # no TOML, or no UTF-8
        raise StudyError(f"{path}: {error}") from error
    _check_keys(path, "the file", content, {"study", "series", "slurm"})
    head = _table(path, "[study]", content.get("study", {}), _STUDY_KEYS)
    for key, value in head.items():
        _check_type(path, "[study]", key, value)
    if head.get("launcher", "local") not in LAUNCHERS:
        raise StudyError(_not_allowed(path, "[study]", "launcher", head["launcher"], LAUNCHERS))
    least, most = head.get("least", Study.least), head.get("most", Study.most)
    if not 1 <= least <= most:
        raise StudyError(f"{path}: [study]: least = {least}, most = {most}: 1 <= least <= most")
    series = content.get("series", [])
    if not isinstance(series, list) or not series:
        raise StudyError(f"{path}: there is no [[series]]: each names a client and what varies")
    cells: dict[str, Cell] = {}
    left_out: dict[str, None] = {}
    for number, one in enumerate(series, 1):
        where = f"[[series]] {number}"
        found, dropped = _cells(path, where, _table(path, where, one, _SERIES_KEYS))
        cells |= {cell.key(): cell for cell in found}
        left_out |= dict.fromkeys(dropped)
    slurm = _table(path, "[slurm]", content.get("slurm", {}), _SLURM_KEYS)
    for key in ("options", "setup"):
        slurm[key] = tuple(slurm.get(key, ()))
    head.setdefault("name", path.stem)
    return Study(
        cells=tuple(cells.values()),
        left_out=tuple(left_out),
        slurm=Slurm(**slurm),
        source=path,
        **head,
    )


def _table(path: Path, where: str, found: object, allowed: set[str]) -> dict[str, Any]:
    if not isinstance(found, dict):
        raise StudyError(f"{path}: {where} is not a table")
    _check_keys(path, where, found, allowed)
    return dict(found)


def _check_keys(path: Path, where: str, found: Mapping[str, Any], allowed: set[str]) -> None:
    unknown = sorted(set(found) - allowed)
    if unknown:
        raise StudyError(
            f"{path}: {where}: unknown key {unknown[0]!r}; allowed are {', '.join(sorted(allowed))}"
        )


def _not_allowed(path: Path, where: str, key: str, value: object, allowed: Sequence[str]) -> str:
    return f"{path}: {where}: {key} = {value!r}; allowed are {', '.join(allowed)}"


def _check_type(path: Path, where: str, key: str, value: object) -> None:
    types = _TYPES.get(key, (str,))
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        names = " or ".join(one.__name__ for one in types)
        raise StudyError(f"{path}: {where}: {key} = {value!r}: it must be {names}")
    if key in ("ranks", "nodes") and isinstance(value, int) and value < 1:
        raise StudyError(f"{path}: {where}: {key} = {value}: at least 1")


def _axis(path: Path, where: str, key: str, values: object, default: object) -> list[Any]:
    """Return the values of one axis: one, or a list of them."""
    listed = values if isinstance(values, list) else [default if values is None else values]
    if not listed:
        raise StudyError(f"{path}: {where}: {key} is an empty list")
    allowed = _AXES[key]
    for value in listed:
        _check_type(path, where, key, value)
        if allowed is not None and value not in allowed:
            raise StudyError(_not_allowed(path, where, key, value, allowed))
    return [str(value) if key in ("ratio", "size") else value for value in listed]


def _cells(path: Path, where: str, series: Mapping[str, Any]) -> tuple[list[Cell], list[str]]:
    if "client" not in series:
        raise StudyError(f"{path}: {where}: client is missing; there are {', '.join(CLIENTS)}")
    if not isinstance(series.get("settings", {}), dict):
        raise StudyError(f"{path}: {where}: settings is not a table of settings of iocomp")
    arguments = series.get("arguments", [])
    if not isinstance(arguments, list):
        raise StudyError(f"{path}: {where}: arguments is not a list of words")
    settings = _flat_settings(path, where, series.get("settings", {}))
    fixed: dict[str, Any] = {
        "arguments": tuple(str(word) for word in arguments),
        "settings": tuple(sorted(settings.items())),
        "verify": bool(series.get("verify", True)),
    }
    defaults = {name: getattr(Cell, name, None) for name in _AXES}
    axes = {key: _axis(path, where, key, series.get(key), defaults[key]) for key in _AXES}
    cells, dropped = [], []
    for values in itertools.product(*axes.values()):
        cell = Cell(**dict(zip(axes, values, strict=True)), **fixed)
        reason = _has_no_meaning(cell)
        if reason:
            dropped.append(reason)
        else:
            _check_words(path, where, cell)
            _check_owned(path, where, cell)
            cells.append(_without_what_is_not_used(cell))
    return cells, dropped


def _flat_settings(path: Path, where: str, table: Mapping[str, Any]) -> dict[str, str]:
    """Return settings by their whole keys, whether the file has them in tables or with dots."""
    found: dict[str, str] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            inner = _flat_settings(path, where, value)
            found |= {f"{key}.{name}": text for name, text in inner.items()}
        elif isinstance(value, bool):
            found[key] = str(value).lower()
        elif isinstance(value, list):
            found[key] = ",".join(map(str, value))
        else:
            found[key] = str(value)
    return found


def _check_owned(path: Path, where: str, cell: Cell) -> None:
    """Check that settings leave alone what the cell says itself: its label would be wrong."""
    client = CLIENTS[cell.client]
    file = f"files.{client.file or 'default'}"
    owned = _OWNED | {f"{file}.backend": "backend"}
    owned |= {f"{file}.path": ""} if client.file else {}
    owned |= {key: "output" for key, _ in cell.settings if re.fullmatch(r"files\..+\.mode", key)}
    for key, _ in cell.settings:
        if key in owned:
            instead = f"the series has {owned[key]} for it" if owned[key] else "a study sets it"
            raise StudyError(f"{path}: {where}: settings: {key}: {instead}")


def _check_words(path: Path, where: str, cell: Cell) -> None:
    """Check that a client can be called with what the cell says."""
    try:
        CLIENTS[cell.client].words(cell, Path())
    except ValueError as error:
        raise StudyError(f"{path}: {where}: {error}") from error


def _has_no_meaning(cell: Cell) -> str:
    """Return why a combination is left out, or nothing."""
    serves = cell.mapping != "sequential"
    client = CLIENTS[cell.client]
    if cell.output not in client.outputs:
        return f"{cell.client} has no output {cell.output!r}: {', '.join(client.outputs)}"
    if cell.output == "sync" and serves:
        return f"synchronous output has no servers: not with mapping {cell.mapping}"
    if cell.output == "idle" and not serves:
        return "idle servers need a mapping that has some"
    if cell.client == SIMULATED and cell.mapping not in ("sequential", "consecutive"):
        return f"{SIMULATED} has servers on cores of their own: not mapping {cell.mapping}"
    if cell.output == "none" and serves:
        return "without output there are no servers"
    return ""


def _without_what_is_not_used(cell: Cell) -> Cell:
    """Return the cell with "-" wherever something plays no part, so that it runs once."""
    changes: dict[str, Any] = {}
    writes = cell.output in ("sync", "async")
    serves = cell.mapping != "sequential"
    if not writes:
        changes["backend"] = NOT_USED
    if cell.output == "none":
        changes["settings"] = ()
    if cell.output != "async":
        changes |= {"transport": NOT_USED, "progress": False}
    elif not serves:
        changes["transport"] = "kernel"
    elif cell.client == SIMULATED:  # the ranks share one process
        changes["transport"] = "message"
    if not serves:
        changes["ratio"] = "1"
    client = CLIENTS[cell.client]
    if not client.has_progress:
        changes["progress"] = False
    if client.words(cell, Path()) == client.words(replace(cell, verify=True), Path()):
        changes["verify"] = True
    return Cell(**{**cell.__dict__, **changes})


def check_launcher(study: Study, launcher: str) -> None:
    """Check that a launcher can start the clients of a study.

    Raises:
        StudyError: If it is none, or cannot.
    """
    if launcher not in LAUNCHERS:
        raise StudyError(f"launcher {launcher}: allowed are {', '.join(LAUNCHERS)}")
    simulates = launcher == "smpi"
    for cell in study.cells:
        if (cell.client == SIMULATED) != simulates:
            allowed = f"client {SIMULATED} alone" if simulates else f"any client but {SIMULATED}"
            raise StudyError(
                f"{study.source}: client {cell.client} with launcher {launcher}, which starts "
                f"{allowed}"
            )


def runs_in(study: Study) -> int:
    """Return the most runs that a study makes."""
    return len(study.cells) * (study.most + study.warm_up)


def groups_by_nodes(cells: Sequence[Cell]) -> Iterator[tuple[int, list[Cell]]]:
    """Yield the cells of each number of nodes."""
    for nodes in sorted({cell.nodes for cell in cells}):
        yield nodes, [cell for cell in cells if cell.nodes == nodes]
