# SPDX-License-Identifier: BSD-3-Clause
"""The clients: each has a command line for a cell, and a reader of its result."""

from __future__ import annotations

import math
import re
import shlex
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iocomp_studies.plan.cell import Cell

Raw = Mapping[str, Any]


@dataclass(frozen=True)
class Measured:
    """The result of a run, in its own words.

    Attributes:
        seconds: Timers by name; "wall" is always there.
        values: Rates and ratios by name, with the unit in the name.
        checks: The checks that were made, and True for those that passed.
    """

    seconds: dict[str, float] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)
    checks: dict[str, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class Steps:
    """The puts of a client's rank in a run: docs/developers/model.md.

    Attributes:
        steps: The number of steps of output in a run.
        step_bytes: The bytes of each step; 0 if the library has to tell.
        puts: The number of puts in each step.
        reuse_part: The part of a step's computing from a put until the array is changed.
        before_part: The part of a step's computing before its first put.
        is_contiguous: True if the block of a rank lies in one piece in the file.
        waits_for_memory: True if computing waits for memory, as that of STREAM; else for the core.
    """

    steps: int = 0
    step_bytes: float = 0.0
    puts: float = 1.0
    reuse_part: float = 1.0
    before_part: float = 1.0
    is_contiguous: bool = True
    waits_for_memory: bool = True


@dataclass(frozen=True)
class Client:
    """A program that can be measured.

    Attributes:
        program: The path below the build directory; "" for the words of the series.
        words: Makes the command line from a cell and the directory for the files.
        file: Name of its file in the settings; "" where words say it, or where it lies in the
            directory of the run.
        measured: Makes a `Measured` from the JSON of a run.
        outputs: Values of `output` that it can do.
        has_progress: True if it can call iocomp_progress.
        writes_json: True if it takes `--json FILE`.
        steps: Returns the puts of a cell; None if only the library can tell.
    """

    program: str
    words: Callable[[Cell, Path], list[str]]
    file: str = ""
    measured: Callable[[Raw], Measured] = field(default=lambda raw: flat(raw))
    outputs: tuple[str, ...] = ("none", "idle", "sync", "async")
    has_progress: bool = False
    writes_json: bool = True
    steps: Callable[[Cell], Steps | None] = field(default=lambda cell: None)


def _numbers(found: object) -> dict[str, float]:
    if not isinstance(found, Mapping):
        return {}
    return {k: float(v) for k, v in found.items() if isinstance(v, int | float)}


def flat(raw: Raw) -> Measured:
    """Return what names with units say: `x_seconds`, `x_per_second`, `x_checked`, `x_verified`.

    A table such as `kernel_seconds` gives `kernel.copy` and so on.
    """
    found = Measured()
    for key, value in raw.items():
        if isinstance(value, bool):
            if key.endswith(("_checked", "_verified", "_passed")):
                found.checks[key] = value
        elif key.endswith("_seconds"):
            name = key.removesuffix("_seconds")
            if isinstance(value, int | float):
                found.seconds[name] = float(value)
            found.seconds.update({f"{name}.{k}": v for k, v in _numbers(value).items()})
        elif "_per_second" in key:
            if isinstance(value, int | float):
                found.values[key] = float(value)
            found.values.update({f"{key}.{k}": v for k, v in _numbers(value).items()})
    for name in ("wall_until_durable", "wall", "loop"):
        if name in found.seconds:
            found.seconds["wall"] = found.seconds[name]
            break
    return found


def bytes_of(size: str) -> int:
    """Return a size in bytes.

    Raises:
        ValueError: If it is no number, with or without a unit: those of the library's settings.
    """
    units = {"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}
    units |= {"KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "B": 1}
    text = size.replace(" ", "").upper()
    for unit, factor in units.items():
        if text.endswith(unit) and text.removesuffix(unit):
            number = float(text.removesuffix(unit)) * factor
            if not math.isfinite(number):
                raise ValueError(f"{size!r} is no number of bytes")
            return int(number)
    return int(text)


def _bytes_of_array(cell: Cell) -> int:
    """Return the size of an array of a rank of STREAM."""
    try:
        size = bytes_of(cell.size or "64MiB")
    except ValueError:
        size = 0
    if size < 1:
        raise _not_a_size(cell, "bytes of an array, as 64 MiB")
    return size // (cell.ranks if cell.scaling == "strong" else 1)


def _not_a_size(cell: Cell, allowed: str) -> ValueError:
    return ValueError(f"size = {cell.size!r}: {cell.client} takes {allowed}")


def _stream(cell: Cell, directory: Path) -> list[str]:
    size = _bytes_of_array(cell)
    words = ["--size", str(size), *(cell.arguments or ("--loops", "20", "--write-every", "10"))]
    if cell.output == "none":
        return [*words, "--plain"]
    if cell.output == "idle":
        return [*words, "--write-every", "0"]
    words += ["--progress", "on" if cell.progress else "off"]
    return [*words, "--verify"] if cell.verify else words


def _number_after(cell: Cell, option: str, default: int) -> int:
    """Return the number of an option, given as two words or with "=": the last one counts."""
    words = cell.arguments
    found = [after for word, after in zip(words, words[1:], strict=False) if word == option]
    found += [word.partition("=")[2] for word in words if word.startswith(f"{option}=")]
    return int(found[-1]) if found else default


def _stream_steps(cell: Cell) -> Steps | None:
    """Return the steps of STREAM: in a writing loop each kernel's array is put, and reused soon."""
    loops, every = _number_after(cell, "--loops", 20), _number_after(cell, "--write-every", 10)
    if not every:
        return None
    size = _bytes_of_array(cell)
    if "--in-turn" in cell.arguments:  # what was put is left alone until the next step
        return Steps(-(-loops // every), 3 * size, 3)
    kernel = 1 / (4 * every)
    return Steps(-(-loops // every), 4 * size, 4, kernel, kernel)


def _points(cell: Cell, default: str, dimensions: int) -> list[int]:
    """Return the points of a box along each dimension."""
    words = (cell.size or default).split(",")
    if len(words) not in (1, dimensions) or not all(map(_is_count, words)):
        box = ",".join([default] * dimensions)
        raise _not_a_size(cell, f"points, as {default} or {box}")
    numbers = [int(word) for word in words]
    return numbers * dimensions if len(numbers) == 1 else numbers


def _is_count(word: str) -> bool:
    return re.fullmatch(r" *0*[1-9][0-9]* *", word) is not None


def _hpcg(cell: Cell, directory: Path) -> list[str]:
    box = _points(cell, "64", 3)
    words: list[str] = []
    if cell.scaling == "strong":  # ranks lie along the last dimension
        box[2] //= cell.ranks
        words = ["--grid", f"1,1,{cell.ranks}"]
    words += ["--local", ",".join(map(str, box)), *(cell.arguments or ("--sets", "2"))]
    if cell.output == "none":
        return [*words, "--plain"]
    if cell.output == "idle":
        return [*words, "--output", "none"]
    return [*words, "--verify"] if cell.verify else words


def _add_parts_of_one(found: Measured, count: float, unit: str) -> None:
    """Add the timers of the loop, divided by how often it was made."""
    if count:
        for name in ("loop", "compute", "send", "wait"):
            found.seconds[f"{name}_per_{unit}"] = found.seconds[name] / count


def _hpcg_measured(raw: Raw) -> Measured:
    found = flat(raw)
    traffic = _numbers(raw.get("traffic_bytes")).get("total", 0.0)
    # As the paper defines it: over the wall time, not the loop alone.
    found.values["traffic_gib_per_second"] = traffic / 2**30 / found.seconds["wall"]
    sets = float(raw.get("iterations", 0)) / max(float(raw.get("iterations_per_set", 1)), 1)
    _add_parts_of_one(found, sets, "set")
    checks = raw.get("checks")
    if isinstance(checks, Mapping):
        found.checks.update({k: bool(v["passed"]) for k, v in checks.items()})
    return found


def _hpl_words(cell: Cell) -> tuple[int, list[str]]:
    """Return N, and the words of a size such as "2000", "2000,128" or "2000,128,1x2"."""
    rows, *others = (cell.size or "2000").split(",")
    counts = [rows, *others[:1], *(word for grid in others[1:] for word in grid.split("x"))]
    if len(others) > 2 or len(counts) not in (1, 2, 4) or not all(map(_is_count, counts)):
        raise _not_a_size(cell, "N, NB and grid, as 2000 or 2000,128 or 2000,128,1x2")
    size = int(rows)
    if cell.scaling == "weak":  # as much memory for each rank
        size = round(size * cell.ranks**0.5)
    words = ["--size", str(size)]
    for option, value in zip(("--block", "--grid"), others, strict=False):
        words += [option, value.replace("x", ",")]
    return size, words


def _hpl(cell: Cell, directory: Path) -> list[str]:
    words = _hpl_words(cell)[1] + list(cell.arguments or ("--repetitions", "3"))
    if cell.output == "none":
        return [*words, "--plain"]
    if cell.output == "idle":
        return [*words, "--output", "none"]
    words += ["--progress", "on" if cell.progress else "off"]
    return [*words, "--verify"] if cell.verify else words


def _hpl_steps(cell: Cell) -> Steps | None:
    """Return the steps of HPL: factors are put when the next matrix is still to be factored."""
    if any(word.partition("=")[0] == "--output" for word in cell.arguments):
        return None
    size = _hpl_words(cell)[0]
    return Steps(
        _number_after(cell, "--repetitions", 3), 8 * size * size / cell.ranks,
        is_contiguous=cell.ranks == 1, waits_for_memory=False,
    )  # fmt: skip


def _hpl_measured(raw: Raw) -> Measured:
    found = flat(raw)
    _add_parts_of_one(found, float(raw.get("repetitions", 0)), "repetition")
    return found


def _blocks(cell: Cell, directory: Path) -> list[str]:
    words = ["--directory", str(directory), *(cell.arguments or ("--repetitions", "1"))]
    words += ["--check", "last" if cell.verify and cell.output != "none" else "none"]
    if cell.output == "none":
        return [*words, "--baseline", "none"]
    return [*words, "--backend", cell.backend]


def _benchio(cell: Cell, directory: Path) -> list[str]:
    option = "--size" if cell.scaling == "strong" else "--per-rank"
    size = _points(cell, "128", 3)
    return [option, ",".join(map(str, size)), *_blocks(cell, directory)]


def _tile(cell: Cell, directory: Path) -> list[str]:
    size = _points(cell, "1024", 2)
    if cell.scaling == "strong":
        size[0] //= cell.ranks
    return ["--size", ",".join(map(str, size)), *_blocks(cell, directory)]


def _blocks_measured(raw: Raw) -> Measured:
    """Return the medians over the repetitions within the run."""
    found = Measured()
    ways = raw.get("ways")
    way = next(iter(ways.values())) if isinstance(ways, Mapping) and ways else {}
    for key, samples in way.items():
        if isinstance(samples, list) and (key == "seconds" or key.endswith("_seconds")):
            name = "wall" if key == "seconds" else key.removesuffix("_seconds")
            found.seconds[name] = statistics.median(float(one) for one in samples)
        elif key.endswith("gib_per_second") and isinstance(samples, Mapping):
            found.values[key] = float(samples["median"])
    if way.get("checked_repetitions"):
        found.checks["every_element_checked"] = True
    return found


def _heat(cell: Cell, directory: Path) -> list[str]:
    size = _points(cell, "96", 3)[0]
    return ["--size", str(size), *(cell.arguments or ("--steps", "200", "--every", "50"))]


def _interference(cell: Cell, directory: Path) -> list[str]:
    server = {"none": "none", "idle": "idle"}.get(cell.output, "writing")
    words = ["--server", server, "--pairs", "1", *cell.arguments]
    return [*words, "--file", str(directory / "interference.dat")]


def _interference_measured(raw: Raw) -> Measured:
    found = flat(raw)
    kernels = raw.get("kernels")
    for name, kernel in (kernels if isinstance(kernels, Mapping) else {}).items():
        if kernel.get("beside_seconds"):
            ratio = float(kernel["beside_seconds"]) / float(kernel["alone_seconds"])
            found.values[f"beside_over_alone.{name}"] = ratio
    if found.seconds.get("beside"):
        found.values["beside_over_alone"] = found.seconds["beside"] / found.seconds["alone"]
    found.seconds["wall"] = found.seconds.get("beside", found.seconds.get("alone", 0.0))
    return found


def _hand_off(cell: Cell, directory: Path) -> list[str]:
    words = list(cell.arguments or ("--sizes", "4KiB,64KiB,1MiB,16MiB"))
    return [*words, "--file", str(directory / "hand_off.dat")]


def _hand_off_measured(raw: Raw) -> Measured:
    found = Measured()
    sizes = raw.get("sizes")
    for size, whats in (sizes if isinstance(sizes, Mapping) else {}).items():
        for what, times in whats.items():
            if isinstance(times, Mapping) and "median" in times:
                found.seconds[f"{what}.{size}"] = float(times["median"])
    found.seconds["wall"] = sum(v for k, v in found.seconds.items() if k.startswith("written."))
    return found


def _command(cell: Cell, directory: Path) -> list[str]:
    names = {
        "size": cell.size, "ranks": cell.ranks, "directory": str(directory),
        "backend": cell.backend, "output": cell.output,
    }  # fmt: skip
    try:
        return [word.format(**names) for word in cell.arguments]
    except (KeyError, IndexError, ValueError) as error:
        raise ValueError(
            f"{shlex.join(cell.arguments)}: {error}: allowed in braces are {', '.join(names)}"
        ) from error


def _scale(cell: Cell, directory: Path) -> list[str]:
    return [*(("--values", cell.size) if cell.size else ()), *cell.arguments]


def _scale_measured(raw: Raw) -> Measured:
    """Return simulated times of a job; its wall is that of one step with data."""
    found = flat(raw)
    found.seconds["wall"] = found.seconds["step"]
    for name in ("server_messages", "mean_server_messages", "compute_messages", "most_pending",
                 "server_message_bytes", "longest_message_bytes", "process_bytes"):  # fmt: skip
        found.values[name] = float(raw[name])
    busiest = max(found.values["server_messages"], found.values["compute_messages"])
    found.values["busiest_messages"] = busiest
    return found


_WRITES = ("sync", "async")
CLIENTS: dict[str, Client] = {
    "stream": Client(
        "apps/stream/stream", _stream, "stream", has_progress=True, steps=_stream_steps
    ),
    "hpcg": Client(
        "apps/hpcg/hpcg", _hpcg, "hpcg", _hpcg_measured,
        steps=lambda cell: Steps(before_part=0.0),  # what is put is computed before the first set
    ),
    "hpl": Client(
        "apps/hpl/hpl", _hpl, "hpl", _hpl_measured, has_progress=True, steps=_hpl_steps
    ),
    "benchio": Client(
        "apps/benchio/benchio", _benchio, "", _blocks_measured, ("none", *_WRITES)
    ),
    "tile": Client("apps/tile/tile", _tile, "", _blocks_measured, _WRITES),
    "heat": Client("apps/heat/heat", _heat, outputs=_WRITES, writes_json=False),
    "interference": Client(
        "bench/interference", _interference, "", _interference_measured,
        ("idle", "async"),
    ),
    "hand_off": Client(
        "bench/hand_off", _hand_off, "", _hand_off_measured, ("async",)
    ),
    "scale": Client(
        "tests/smpi/libsmpi_client.so", _scale, "out", _scale_measured, ("async",),
        writes_json=False,
    ),
    "command": Client("", _command, writes_json=False),
}  # fmt: skip
"""Every client by the name that a study uses."""
