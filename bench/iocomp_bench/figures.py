# SPDX-License-Identifier: BSD-3-Clause
"""The figures of the benchmarks and their goals: docs/developers/benchmark_figures.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from iocomp_bench.bindings import binding_figures
from iocomp_bench.blocks import block_figures
from iocomp_bench.committing import commit_figures
from iocomp_bench.compressing import compression_figures
from iocomp_bench.definitions import definition_figures
from iocomp_bench.figure import WALL, Figure, ratio
from iocomp_bench.from_python import python_figures
from iocomp_bench.handing import (
    free_before_written,
    hand_off,
    hand_off_rate,
    hand_off_scaling,
    idle_cpu,
    idle_tax,
    interference,
    put_microseconds,
    put_over_memcpy,
    wake_up,
)
from iocomp_bench.hiding import (
    cpu_lost,
    hidden,
    put_time,
    staging_overrun,
    wall_against,
    wall_over_none,
)
from iocomp_bench.hpcg import hpcg_figures
from iocomp_bench.hpl import hpl_figures
from iocomp_bench.methods import LOADS, PUTS
from iocomp_bench.restarting import restart_figures
from iocomp_bench.simulating import noise_figure
from iocomp_bench.stores import store_figures
from iocomp_bench.streaming import plain_bandwidth, stream_output, stream_ratio
from iocomp_bench.ways import CONSECUTIVE, IN_PLACE, LONG_PHASES, ORDINARY, PULLED, TWO_RANKS
from iocomp_studies.statistics import Goal

HIDDEN_CONSECUTIVE = "hidden-consecutive"
HIDDEN_KERNEL = "hidden-kernel"


def _at_least(bound: float) -> Goal:
    return Goal(bound, at_most=False)


FIGURES: tuple[Figure, ...] = (
    idle_tax("idle-tax-same-core", Goal(1.005), "idle tax"),
    idle_cpu("idle-cpu-shared", Goal(10), "idle cpu/shared"),
    idle_cpu("idle-cpu-message", Goal(200), "idle cpu/message"),
    interference("interference"),
    cpu_lost("io-cpu-kernel", Goal(0.02), "kernel"),
    cpu_lost("io-cpu-in-place", Goal(0.10), IN_PLACE),
    cpu_lost("io-cpu-pulled", Goal(0.35), PULLED),
    stream_ratio(
        "stream-ratio-oversubscribed", Goal(1.05), "stream/same core, in place", HIDDEN_CONSECUTIVE
    ),
    stream_ratio("stream-ratio-kernel", Goal(1.02), "stream/kernel", HIDDEN_KERNEL),
    stream_output("stream-output"),
    ratio("stream-in-turn", Goal(), WALL, "stream in turn/kernel", "stream in turn/plain"),
    ratio("stream-server", Goal(), WALL, "stream/other core, pulled", "stream/kernel"),
    ratio("timeline-cost", Goal(1.01), WALL, "stream/kernel, timeline", "stream/kernel"),
    hidden(HIDDEN_KERNEL, _at_least(0.90), LONG_PHASES, "kernel"),
    hidden("hidden-oversubscribed", _at_least(0.70), LONG_PHASES, PULLED),
    hidden(HIDDEN_CONSECUTIVE, _at_least(0.85), CONSECUTIVE, IN_PLACE, (PULLED,)),
    hidden("hidden-two-ranks-two-cores", Goal(), TWO_RANKS, PULLED),
    put_time("put-time", Goal(1.0), CONSECUTIVE.method(IN_PLACE), PUTS, HIDDEN_CONSECUTIVE),
    put_microseconds("put-time-kernel", Goal(200), ("hand-off/kernel",), HIDDEN_KERNEL),
    put_microseconds(
        "put-time-pull", Goal(50), (f"hand-off/{PULLED}", f"hand-off/{IN_PLACE}"), ""
    ),
    put_over_memcpy("put-time-staged", Goal(1.1)),
    wake_up("wake-up", Goal(100), "median"),
    wake_up("wake-up-p99", Goal(1000), "p99"),
    hand_off("hand-off"),
    free_before_written("free-before-written"),
    hand_off_rate("hand-off-rate", _at_least(200_000)),
    hand_off_scaling("hand-off-scaling", Goal(1.2)),
    wall_against("wall-vs-thread", Goal(1.05), "thread"),
    wall_against("wall-vs-iwrite", Goal(0.75), "iwrite"),
    wall_against("wall-vs-bp5", Goal(0.50), "bp5-naive", "bp5-guided"),
    ratio("sync-posix", Goal(1.05), WALL, "write/sync", "write/pwrite"),
    ratio("sync-direct", Goal(1.05), WALL, "write 2/sync", "write 2/pwrite-direct"),
    wall_over_none("sync-malloc", Goal(1.45), "sync, malloc", "sync", "kernel, malloc"),
    ratio("alloc", Goal(), WALL, ORDINARY.method("kernel"), ORDINARY.method("kernel, malloc")),
    plain_bandwidth("stream-plain-bandwidth", _at_least(0.95)),
    staging_overrun("staging-overrun", Goal(64.0), LOADS),
    *block_figures(),
    *definition_figures(),
    *commit_figures(),
    *restart_figures(),
    *hpcg_figures(),
    *hpl_figures(),
    *compression_figures(),
    *binding_figures(),
    *python_figures(),
    *store_figures(),
    noise_figure(),
)


LONG = (
    "hidden-blocks",
    "exposed-blocks",
    "blocks-no-server-posix",
    "default-vs-sync",
    "blocks-no-server-hdf5",
)
"""They take over a minute; a short run leaves them out."""


def shortened(figures: Sequence[Figure]) -> list[Figure]:
    """Return those of a short run, without what would only be shown beside them."""
    return [replace(figure, optional=()) for figure in figures if figure.id not in LONG]


def chosen(ids: list[str]) -> list[Figure]:
    """Return the figures with these ids, and those that must be met for them to count.

    Raises:
        ValueError: For an id that does not exist.
    """
    by_id = {figure.id: figure for figure in FIGURES}
    unknown = [id_ for id_ in ids if id_ not in by_id]
    if unknown:
        raise ValueError(f"no benchmark {', '.join(unknown)}; there are {', '.join(by_id)}")
    wanted = set(ids) | {by_id[id_].counts_with for id_ in ids}
    return [figure for figure in FIGURES if not ids or figure.id in wanted]
