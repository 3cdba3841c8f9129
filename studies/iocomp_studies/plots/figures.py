# SPDX-License-Identifier: BSD-3-Clause
"""The table of figures."""

from __future__ import annotations

from iocomp_studies.plots.plot import Plot
from iocomp_studies.results.rows import NO_OUTPUT, SYNCHRONOUS

KERNELS = tuple(f"seconds.kernel.{name}" for name in ("copy", "scale", "add", "triad"))
PARTS = ("seconds.compute", "seconds.open", "seconds.send", "seconds.wait", "seconds.close")
OF_A_SET = ("seconds.compute_per_set", "seconds.send_per_set", "seconds.wait_per_set")
OF_A_REPETITION = tuple(
    f"seconds.{name}_per_repetition" for name in ("compute", "send", "wait")
)
BLOCK_PARTS = (
    "seconds.open", "seconds.put", "seconds.wait", "seconds.finish", "seconds.compute",
)  # fmt: skip
WALL = "seconds.wall"
_STREAM = {"client": ("stream",), "scaling": ("weak",)}
_STREAM_STRONG = {"client": ("stream",), "scaling": ("strong",)}
_PAPER = "CUG 2023, figure "
_WORDS = {
    "seconds.send": "handing over",
    "seconds.send_per_set": "handing over",
    "seconds.send_per_repetition": "handing over",
    "seconds.put": "handing over",
    "seconds.wait": "waiting",
    "seconds.wait_per_set": "waiting",
    "seconds.wait_per_repetition": "waiting",
    "seconds.compute_per_set": "computing",
    "seconds.compute_per_repetition": "computing",
    "seconds.compute": "computing",
    "seconds.open": "opening",
    "seconds.close": "closing",
    "seconds.finish": "finishing",
    "seconds.read": "reading",
}

FIGURES: tuple[Plot, ...] = (
    Plot(
        "stream-compute-ratio", "STREAM: what output costs its kernels", "bars", KERNELS,
        "compute time ÷ that without output", x="", where=_STREAM,
        over=(NO_OUTPUT, SYNCHRONOUS), source=_PAPER + "3",
    ),
    Plot(
        "stream-wall-mapping", "STREAM: wall time, by mapping", "lines", (WALL,),
        "wall time, s", where={**_STREAM, "progress": (False,)}, source=_PAPER + "4",
    ),
    Plot(
        "stream-wall-progress", "STREAM: wall time, with and without progress calls", "lines",
        (WALL,), "wall time, s", by=("way", "progress"), where=_STREAM, source=_PAPER + "5",
    ),
    Plot(
        "stream-wall-backend", "STREAM: wall time, by back-end", "lines", (WALL,),
        "wall time, s", by=("backend",),
        where={**_STREAM, "progress": (False,)}, source=_PAPER + "6",
    ),
    Plot(
        "stream-parts-backend", "STREAM: computing and output, by back-end", "stack", PARTS,
        "time, s", by=("backend",), rest=WALL, names=_WORDS,
        where={**_STREAM, "progress": (False,)}, source=_PAPER + "7",
    ),
    Plot(
        "stream-progress-speed-up", "STREAM: compute time with progress calls", "bars", KERNELS,
        "compute time ÷ that without output", x="", by=("way", "progress"), where=_STREAM,
        over=(NO_OUTPUT,), source=_PAPER + "8",
    ),
    Plot(
        "stream-strong-wall", "STREAM, strong scaling: wall time", "lines", (WALL,),
        "wall time, s", where={**_STREAM_STRONG, "progress": (False,)}, source=_PAPER + "9",
    ),
    Plot(
        "stream-strong-parts", "STREAM, strong scaling: computing and output, by mapping",
        "stack", PARTS, "time, s", rest=WALL, names=_WORDS,
        where={**_STREAM_STRONG, "progress": (False,)}, source=_PAPER + "10",
    ),
    Plot(
        "stream-strong-parts-backend", "STREAM, strong scaling: by back-end", "stack", PARTS,
        "time, s", by=("backend",), rest=WALL, names=_WORDS,
        where={**_STREAM_STRONG, "progress": (False,)}, source=_PAPER + "11",
    ),
    Plot(
        "hpcg-bandwidth", "HPCG: effective bandwidth", "bars",
        ("values.traffic_gib_per_second",), "memory traffic ÷ wall time, GiB/s",
        where={"client": ("hpcg",)}, source=_PAPER + "12",
    ),
    Plot(
        "hpcg-parts", "HPCG: one set of CG", "stack", OF_A_SET, "time, s",
        rest="seconds.loop_per_set", names=_WORDS, where={"client": ("hpcg",)},
        source=_PAPER + "13",
    ),
    Plot(
        "hpcg-loop", "HPCG: what servers and output cost", "bars", ("seconds.loop_per_set",),
        "loop time ÷ that without output", over=(NO_OUTPUT, SYNCHRONOUS),
        where={"client": ("hpcg",)},
    ),
    Plot(
        "hpl-rate", "HPL: its rate beside servers and output", "bars",
        ("values.gflop_per_second",), "10⁹ operations a second", where={"client": ("hpl",)},
    ),
    Plot(
        "hpl-rate-backend", "HPL: its rate, by back-end", "bars",
        ("values.gflop_per_second",), "10⁹ operations a second", by=("backend",),
        where={"client": ("hpl",), "output": ("sync", "async")},
    ),
    Plot(
        "hpl-parts", "HPL: one repetition", "stack", OF_A_REPETITION, "time, s",
        rest="seconds.loop_per_repetition", names=_WORDS, where={"client": ("hpl",)},
    ),
    Plot(
        "hpl-loop", "HPL: what servers and output cost", "bars",
        ("seconds.loop_per_repetition",), "loop time ÷ that without output",
        over=(NO_OUTPUT, SYNCHRONOUS), where={"client": ("hpl",)},
    ),
    Plot(
        "benchio-rates", "benchio: bandwidth of a 3-D array in blocks", "bars",
        ("values.gib_per_second",), "GiB/s", x="backend", by=("way",),
        where={"client": ("benchio",), "output": ("sync", "async")},
    ),
    Plot(
        "benchio-parts", "benchio: where the time goes", "stack", BLOCK_PARTS, "time, s",
        x="backend", rest=WALL, names=_WORDS,
        where={"client": ("benchio",), "output": ("sync", "async")},
    ),
    Plot(
        "tile-exchange", "tile: what the exchange of tiles costs", "stack", BLOCK_PARTS[:-1],
        "time, s", rest=WALL, names=_WORDS, where={"client": ("tile",)},
    ),
    Plot(
        "interference", "Computing beside a server", "bars", ("values.beside_over_alone",),
        "compute time ÷ alone", where={"client": ("interference",)},
    ),
    Plot(
        "hand-off", "Time until an array is handed over", "bars",
        tuple(f"seconds.handed_over.{size}" for size in (4096, 65536, 1 << 20, 16 << 20)),
        "µs", x="", by=("way", "transport"), where={"client": ("hand_off",)}, scale=1e6,
        logarithmic=True,
        names={
            f"seconds.handed_over.{size}": name
            for size, name in (
                (4096, "4 KiB"), (65536, "64 KiB"), (1 << 20, "1 MiB"), (16 << 20, "16 MiB"),
            )
        },
    ),
    Plot(
        "scale-messages", "Simulated ranks: control messages of the busiest one", "lines",
        ("values.busiest_messages",), "messages in a step", by=("way", "ratio"),
        where={"client": ("scale",)},
    ),
    Plot(
        "scale-step", "Simulated ranks: a step until it is committed", "lines", (WALL,),
        "simulated time, ms", by=("way", "ratio"), where={"client": ("scale",)}, scale=1e3,
    ),
    Plot(
        "programs-wall", "Wall time of other programs", "bars", (WALL,), "s",
        x="client", where={"client": ("heat", "command")},
    ),
)  # fmt: skip
"""Figures 3 to 13 of the paper, and those of the other clients."""
