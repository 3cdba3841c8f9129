# SPDX-License-Identifier: BSD-3-Clause
"""The scenarios of the matrix: each adds its calls, and a file or two, to a script."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any

from element_pattern import DTYPES
from script import Extents, FileScript, Script

Box = tuple[tuple[int, ...], tuple[int, ...]]  # start, count


def blocks(shape: Extents, parts: Extents) -> Iterator[Box]:
    """Cut a shape into parts[d] parts in dimension d, as equal as can be."""
    ranges = [
        [(n * i // p, n * (i + 1) // p) for i in range(p)]
        for n, p in zip(shape, parts, strict=True)
    ]
    for corner in product(*ranges):
        yield tuple(a for a, _ in corner), tuple(b - a for a, b in corner)


def put_blocks(file: FileScript, name: str, parts: Extents, buffered: bool = False) -> None:
    """Put a whole variable, one block per writer."""
    for writer, (start, count) in enumerate(blocks(file.variables[name].shape, parts)):
        file.put(name, writer, start, count, buffered)


def with_halo(count: Extents, low: int, high: int) -> tuple[Extents, Extents]:
    """Return shape and start of a local array that has `low` and `high` more elements around it."""
    return [c + low + high for c in count], [low] * len(count)


def types(script: Script) -> None:
    """Every element type, in steps."""
    file = script.open("types")
    names = [file.define(f"of_{t}", t, [37]) for t in script.types]
    for step in range(2):
        for name in names:
            put_blocks(file, name, [3], buffered=step == 1)
        file.end_step()
        file.wait("written", "backward")
    file.close()


def dimensions(script: Script) -> None:
    """Scalars to eight dimensions."""
    file = script.open("dimensions")
    names = [file.define(f"d{n}", "int32", [2 + (d % 3) for d in range(n)]) for n in range(9)]
    for step in range(2):
        for n, name in enumerate(names):
            parts = [2 if d in (n - 1, n // 2) else 1 for d in range(n)]
            put_blocks(file, name, parts, buffered=(n + step) % 2 == 0)
        file.end_step()
    file.close()


def slabs(script: Script) -> None:
    """The ordinary program: a slab per rank, waited for one step later."""
    file = script.open("slabs")
    file.define("u", "float64", [10007])
    file.define("v", "float32", [5000])
    for _ in range(4):
        file.wait("handed_over", how="wait_puts")
        put_blocks(file, "u", [4])
        put_blocks(file, "v", [4])
        file.end_step()
    file.wait("durable")
    file.close()


def halos(script: Script) -> None:
    """Blocks in 2 and 3 dimensions inside arrays with halos, copied and not."""
    file = script.open("halos")
    file.define("flat", "float64", [45, 61])
    file.define("cube", "complex64", [13, 9, 22])
    for step in range(3):
        for name, parts in (("flat", [2, 2]), ("cube", [2, 1, 3])):
            for writer, (start, count) in enumerate(blocks(file.variables[name].shape, parts)):
                memory = with_halo(count, 1 + step, writer % 2)
                file.put(name, writer, start, count, (writer + step) % 2 == 0, memory)
        file.end_step()
        file.wait("handed_over", "odd_first", how="poll")
    file.close()


def several_boxes(script: Script) -> None:
    """A checkerboard: many small boxes per rank, out of order."""
    file = script.open("several_boxes")
    file.define("board", "uint16", [24, 30])
    for _ in range(2):
        boxes = list(blocks([24, 30], [6, 5]))
        for number, (start, count) in enumerate(reversed(boxes)):
            file.put("board", number % 7, start, count)
        file.end_step()
    file.close()


def some_ranks_idle(script: Script) -> None:
    """Variables that one writer puts, others that are put in some steps only, steps without any."""
    file = script.open("some_ranks_idle")
    file.define("by_first", "int64", [50])
    file.define("nobody", "float64", [100])
    file.define("by_second", "uint8", [1000])
    file.define("partly", "int32", [20, 20])
    for step in range(5):
        file.put("by_first", 0, [0], [50])
        if step in (1, 4):
            file.put("by_second", 1, [0], [1000])
        if step >= 2:
            file.put("partly", step, [step, 3], [4, 5 + step])  # the rest stays zero
        file.end_step()
        if step == 2:
            file.end_step()  # a step of nothing
    file.close()


def moving_boxes(script: Script) -> None:
    """Another decomposition in each step, with other writers."""
    file = script.open("moving_boxes")
    file.define("u", "float32", [32, 33])
    for step, parts in enumerate(([4, 1], [1, 4], [2, 2], [3, 1], [1, 1])):
        for number, (start, count) in enumerate(blocks([32, 33], parts)):
            file.put("u", number * 2 + step, start, count)
        file.end_step()
    file.close()


def changing_shapes(script: Script) -> None:
    """Shapes that grow, shrink and vanish."""
    file = script.open("changing_shapes", **script.for_changes)
    file.define("before", "int16", [11])
    file.define("particles", "float64", [100])
    file.define("after", "int16", [3, 5])
    for step, particles in enumerate((100, 250, 0, 17, 17, 4000)):
        if step > 0:
            file.set_shape("particles", [particles])
        if step == 3:
            file.set_shape("after", [5, 1])
            file.set_shape("after", [4, 7])
        put_blocks(file, "before", [2])
        put_blocks(file, "particles", [3], buffered=step % 2 == 0)
        put_blocks(file, "after", [1, 1])
        file.end_step()
    file.close()


def defined_later(script: Script) -> None:
    """Variables that appear in later steps, one in the middle of a step."""
    file = script.open("defined_later", **script.for_changes)
    file.define("first", "int32", [64])
    for step in range(4):
        put_blocks(file, "first", [2])
        if step == 1:
            file.define("second", "complex128", [6, 6])
        if step == 3:
            third = file.define("group/third", "float64", [40])
            put_blocks(file, third, [4])
        if step >= 1:
            put_blocks(file, "second", [3, 1])
        file.end_step()
    file.close()


def nothing(script: Script) -> None:
    """Blocks and shapes without elements, and a file without anything."""
    file = script.open("nothing")
    file.define("full", "uint64", [12, 4])
    file.define("empty", "float64", [0])
    file.define("flat", "float64", [3, 0, 5])
    file.define("end", "int8", [5])
    for _ in range(2):
        for writer in range(3):
            file.put("full", writer, [4 * writer, 2], [4, 0])
            file.put("full", writer, [4 * writer, 0], [4, 4])
            file.put("full", writer, [12, 4], [0, 0], buffered=True)
            file.put("empty", writer, [0], [0])
            file.put("flat", writer, [1, 0, 0], [2, 0, 5])
        file.wait("handed_over")
        file.end_step()
        file.wait("durable")
    file.close()
    script.open("nothing_at_all").close()


def small_puts(script: Script) -> None:
    """Hundreds of puts of a few elements."""
    file = script.open("small_puts")
    file.define("u", "float64", [1200])
    file.define("v", "int8", [40, 40])
    for step in range(2):
        for number in range(150):
            file.put("u", number * 5 + step, [number * 8], [8], buffered=number % 3 == 0)
        for number in range(100):
            start = [4 * (number // 10), 4 * (number % 10)]
            file.put("v", number, start, [4, 4])
        file.end_step()
    file.wait("written", "odd_first")
    file.close()


def attributes(script: Script) -> None:
    """Attributes of all types on the file and on variables, set early and late and replaced."""
    file = script.open("attributes")
    file.define("u", "float64", [10])
    file.define("v", "int32", [])
    values: dict[str, list[Any]] = {
        "i": [-7, 0, 100],
        "u": [0, 200],
        "f": [0.5, -2.0, float("inf"), float("nan")],
    }
    for name, dtype in DTYPES.items():
        if name == "char":  # text, below
            continue
        file.attribute(f"a_{name}", name, values.get(dtype[1], [1 - 2j, 0.25j]))
        file.attribute(f"one_{name}", name, [3], variable="u")
    file.attribute("largest", "uint64", [(1 << 64) - 1])
    file.attribute("smallest", "int64", [-(1 << 63)])
    file.attribute("none", "int32", [])
    file.text("title", 'waves, in metres: \u00e9\u6ce2 \\ "quoted"\tand a tab')
    file.text("blank", "")
    file.texts("members", ["mean", "spread, gr\u00f6\u00dfer", "b"], variable="u")
    file.texts("one", ["alone"])
    file.text("unit", "m", variable="u")
    file.text("replaced", "old text")
    for step in range(3):
        put_blocks(file, "u", [2])
        file.put("v", step, [], [], buffered=True)
        if step == 1:
            file.attribute("replaced", "int16", [4, 5, 6])
            file.text("unit", "km", variable="u")
        file.end_step()
    file.attribute("at_the_end", "float32", [0.1], variable="v")
    file.close()


def sub_communicators(script: Script) -> None:
    """Two files at once on the two halves of the ranks, beside one of all of them."""
    whole = script.open("whole")
    halves = [script.open(f"half{i}", group=(i, 2)) for i in range(2)]
    files = [whole, *halves]
    for file in files:
        file.define("u", "float64", [301])
        file.text("who", file.name)
    for step in range(3):
        for file in files:
            put_blocks(file, "u", [3])
            file.end_step()
        halves[step % 2].wait("written")
    halves[1].wait_step(2)
    for file in (halves[1], halves[0], whole):
        file.close()


def rows(script: Script) -> None:
    """Rows of each member behind those before it: of all ranks, and with the last one first."""
    for order in ("forward", "backward"):
        file = script.open(f"rows_{order}", order=order)
        file.define("u", "float32", [53, 3])
        for _ in range(2):
            file.put_rows("u")
            file.end_step()
        file.close()


def interleaved(script: Script) -> None:
    """Several files open at once, their calls interleaved, closed in another order."""
    files = [script.open(f"interleaved_{i}") for i in range(3)]
    for i, file in enumerate(files):
        file.define("u", "int32", [100 + 50 * i])
        file.define("v", "float32", [7, 9])
    for step in range(4):
        for file in files:
            put_blocks(file, "u", [4])
        for file in reversed(files):
            put_blocks(file, "v", [2, 2])
            if step % 2 == 0:
                file.end_step()
        script.progress()
        for file in files:
            if step % 2 == 1:
                file.end_step()
        files[0].wait("handed_over", "backward")
    for i in (1, 2, 0):
        files[i].close()


def waits(script: Script) -> None:
    """Waiting for anything in any order, also for earlier steps."""
    file = script.open("waits")
    file.define("u", "float64", [4000])
    for step in range(6):
        for number, (start, count) in enumerate(blocks([4000], [16])):
            file.put("u", number + step, start, count, buffered=number % 5 == 0)
        if step == 0:
            file.wait("handed_over", "odd_first")
        if step == 3 and script.writes_at_once:
            file.wait("written", "odd_first", how="poll")
        if step == 4 and script.writes_at_once:
            file.wait("durable", "backward")
        file.end_step()
        if step == 1:
            file.wait("durable", "backward")
            file.wait("written", "forward")
        if step == 2:
            file.wait("written", "odd_first", how="poll")
            file.wait_step(2)
            file.wait_step(0)
        if step == 4:
            file.wait_step(3)
    file.wait_step(5)
    file.wait("durable")
    file.close()


def no_wait(script: Script) -> None:
    """Nothing is waited for, nothing buffered: close settles it."""
    file = script.open("no_wait")
    file.define("u", "int64", [5, 700])
    for _ in range(4):
        put_blocks(file, "u", [5, 1])
        file.end_step()
    file.close()


def open_step(script: Script) -> None:
    """Close ends a step that was begun, even by one rank; another file is left to finalize."""
    file = script.open("open_step")
    file.define("u", "uint32", [77])
    put_blocks(file, "u", [3])
    file.end_step()
    file.put("u", 1, [5], [60])
    file.close()
    left = script.open("left_open")
    left.define("u", "uint32", [78])
    put_blocks(left, "u", [3])
    left.end_step()
    put_blocks(left, "u", [2])
    left.leave()


def checkpoints(script: Script) -> None:
    """A file per step, each with the attributes and shapes of its step; old ones are removed."""
    variants: list[tuple[str, str, dict[str, Any]]] = [
        ("checkpoint", "checkpoint", {}),
        ("newest", "checkpoint", {"keep": 2}),
        ("per_step", "series", {"kind": "file_per_step", "steps_in_flight": 4}),
    ]
    for name, kind, settings in variants:
        file = script.open(name, kind, **settings)
        file.define("u", "float64", [200])
        file.define("v", "complex64", [3, 4, 5])
        file.text("title", name)
        for step in range(4):
            file.attribute("time", "float64", [0.5 * step])
            file.attribute("cycle", "int32", [step], variable="u")
            if step == 2:
                file.set_shape("v", [2, 2, 6])
                file.define("w", "int16", [9])
            put_blocks(file, "u", [3])
            put_blocks(file, "v", [1, 2, 1], buffered=True)
            if step >= 2:
                put_blocks(file, "w", [1])
            file.end_step()
            if step == 1 and name != "per_step":
                file.wait_step(1)
        file.close()


def replaced(script: Script) -> None:
    """The same name a second time, with other contents."""
    for extent in (64, 48):
        file = script.open("replaced", existing="replace")
        file.define("u", "float64", [extent])
        put_blocks(file, "u", [4])
        file.end_step()
        file.close()


def large_blocks(script: Script) -> None:
    """Blocks of many chunks, contiguous in the file and not."""
    file = script.open("large_blocks")
    file.define("rows", "float64", [96, 300])
    file.define("columns", "complex128", [64, 120])
    for _ in range(2):
        put_blocks(file, "rows", [4, 1])
        for writer, (start, count) in enumerate(blocks([64, 120], [1, 4])):
            file.put("columns", writer, start, count, writer % 2 == 0, with_halo(count, 2, 3))
        file.end_step()
    file.close()


def irregular(script: Script) -> None:
    """Index maps and runs, in and out of order, the same in several steps; halos are left out."""
    file = script.open("irregular")
    file.define("mesh", "float64", [4001])
    file.define("flags", "uint8", [4001])
    file.define("plane", "float32", [37, 29])
    owner = [(i * i // 50 + i // 97) % 3 for i in range(4001)]
    parts = [[i for i in range(4001) if owner[i] == p] for p in range(3)]
    parts[1].reverse()
    parts[2] = [v for i in parts[2] for v in (i, -1)]  # every second element in memory is a halo
    cells = [[i for i in range(37 * 29) if (i // 5) % 2 == p] for p in range(2)]
    cells[1] = cells[1][301:] + cells[1][:301]
    for step in range(3):
        for writer, indices in enumerate(parts):
            file.put_irregular("mesh", writer, indices, "map", buffered=step == 1)
            file.put_irregular("flags", writer + step, indices, "map")
        for writer, indices in enumerate(cells):
            file.put_irregular("plane", writer, indices, "runs", buffered=writer == step)
        file.put_irregular("plane", 2, [], "runs")
        file.end_step()
        file.wait("handed_over", "backward")
    file.close()


def fills(script: Script) -> None:
    """Elements that nobody puts, in the same places and in others, in some steps nowhere."""
    file = script.open("fills", **script.for_changes)
    file.define("board", "float64", [30, 41])
    file.define("line", "int16", [100_000])
    file.define("whole", "complex64", [12])
    for name, value in (("board", -1.5), ("line", 77), ("whole", 3 - 4j)):
        file.set_fill(name, value)
    for step in range(5):
        if step == 3:
            file.set_fill("line", -2)
        boxes = list(blocks([30, 41], [5, 4]))
        for number, (start, count) in enumerate(boxes):
            if number % 3 != (0 if step < 3 else 1):
                file.put("board", number, start, count)
        if step != 1:
            for writer in (1, 2):  # each block fits into the least memory for copies
                file.put("line", writer, [30_000 * writer - 25_000], [30_000])
            file.put("line", 2, [90_001], [step])
        put_blocks(file, "whole", [2])
        file.end_step()
    file.close()


SCENARIOS: list[Callable[[Script], None]] = [
    types,
    dimensions,
    slabs,
    halos,
    several_boxes,
    some_ranks_idle,
    moving_boxes,
    changing_shapes,
    defined_later,
    nothing,
    small_puts,
    attributes,
    sub_communicators,
    rows,
    interleaved,
    waits,
    no_wait,
    open_step,
    checkpoints,
    replaced,
    large_blocks,
    irregular,
    fills,
]


def all_scenarios(
    writes_at_once: bool,
    lacks: Sequence[str] = (),
    is_netcdf: bool = False,
    may_change: bool = True,
    engine: str = "",
) -> Script:
    """Return one script with all of them; see Script."""
    script = Script(writes_at_once, lacks, is_netcdf, may_change, engine)
    for add in SCENARIOS:
        add(script)
    return script
