# SPDX-License-Identifier: BSD-3-Clause
"""Figures of bench/interference, bench/hand_off and bench/scale."""

from __future__ import annotations

from typing import Any

from iocomp_bench.figure import MIB, Figure, Found, median, per_round
from iocomp_bench.methods import interference_name
from iocomp_bench.ways import HAND_OFFS, IN_PLACE, PULLED, SCALES
from iocomp_studies.rounds import Rounds
from iocomp_studies.statistics import Goal

PUT_SIZE = str(64 * MIB)
WAKE_UP_SIZE = str(16 << 10)
MICROSECONDS = 1e6
CORES = 2

Result = dict[str, Any]


def _beside_over_alone(run: Result) -> float:
    return float(run["beside_seconds"]) / float(run["alone_seconds"])


def idle_tax(id_: str, goal: Goal, method: str) -> Figure:
    """Return the compute time beside an idle server divided by that with the server stopped."""

    def find(rounds: Rounds) -> Found:
        kernels = rounds.results[method][0]["kernels"]
        by_kernel = {
            kernel: per_round(
                rounds, (method,), lambda runs, k=kernel: _beside_over_alone(runs[0]["kernels"][k])
            ).value
            for kernel in kernels
        }
        found = per_round(rounds, (method,), lambda runs: _beside_over_alone(runs[0]))
        return Found(found, {"by_kernel": by_kernel})

    return Figure(id_, "1", goal, (method,), find)


def interference(id_: str) -> Figure:
    """Return the compute time beside a server that writes in place, same core, divided by alone.

    Beside it stand the kernels and the other states and cores.
    """
    needed = interference_name("writing", IN_PLACE, True)
    others = [
        interference_name(server, IN_PLACE, same_core)
        for server in ("idle", "writing")
        for same_core in (True, False)
    ]
    others.append(interference_name("writing", PULLED, True))
    others.append(interference_name("writing", "kernel", True))
    optional = tuple(name for name in others if name != needed)

    def find(rounds: Rounds) -> Found:
        beside: dict[str, Any] = {"by_run": {}, "by_run_and_kernel": {}}
        for name in (needed, *optional):
            if name not in rounds.results:
                continue
            tax = idle_tax(id_, Goal(), name).find(rounds)
            beside["by_run"][name] = tax.estimate.value
            beside["by_run_and_kernel"][name] = tax.beside["by_kernel"]
        return Found(per_round(rounds, (needed,), lambda r: _beside_over_alone(r[0])), beside)

    return Figure(id_, "1", Goal(), (needed,), find, optional=optional)


def idle_cpu(id_: str, goal: Goal, method: str) -> Figure:
    """Return the processor time of an idle server in 10 s, in milliseconds."""

    def find(rounds: Rounds) -> Found:
        found = per_round(
            rounds,
            (method,),
            lambda runs: 1e4 * runs[0]["server_cpu_seconds"] / runs[0]["idle_seconds"],
        )
        wake_ups = median(rounds, method, "server_wake_ups")
        return Found(found, {"wake_ups": wake_ups})

    return Figure(id_, "ms", goal, (method,), find)


def _seconds(run: Result, size: str, what: str, which: str = "median") -> float:
    return float(run["sizes"][size][what][which])


def _put_seconds(rounds: Rounds, method: str) -> float:
    return per_round(rounds, (method,), lambda r: _seconds(r[0], PUT_SIZE, "put")).value


def put_microseconds(id_: str, goal: Goal, methods: tuple[str, ...], counts_with: str) -> Figure:
    """Return the time inside a put of 64 MiB, of the slowest of some ways."""

    def find(rounds: Rounds) -> Found:
        found = per_round(
            rounds,
            methods,
            lambda runs: MICROSECONDS * max(_seconds(run, PUT_SIZE, "put") for run in runs),
        )
        beside = {method: MICROSECONDS * _put_seconds(rounds, method) for method in methods}
        return Found(found, {"by_way": beside})

    return Figure(id_, "us", goal, methods, find, counts_with)


def put_over_memcpy(id_: str, goal: Goal) -> Figure:
    """Return the time inside a buffered, staged put of 64 MiB divided by that of memcpy.

    Buffered, because then the copy is made before the put returns, whoever makes it.
    """
    method, unbuffered = "hand-off/buffered", "hand-off/staged"

    def find(rounds: Rounds) -> Found:
        found = per_round(
            rounds,
            (method,),
            lambda r: _seconds(r[0], PUT_SIZE, "put") / _seconds(r[0], PUT_SIZE, "memcpy"),
        )
        beside = {"put_milliseconds": 1000 * _put_seconds(rounds, method)}
        if unbuffered in rounds.results:
            beside["unbuffered_put_milliseconds"] = 1000 * _put_seconds(rounds, unbuffered)
        return Found(found, beside)

    return Figure(id_, "1", goal, (method,), find, optional=(unbuffered,))


def wake_up(id_: str, goal: Goal, which: str) -> Figure:
    """Return how long a small put to a sleeping server takes until handed over: pulled."""
    method, same = "wake-up/other core", "wake-up/same core"

    def find(rounds: Rounds) -> Found:
        def found(name: str) -> Any:  # noqa: ANN401
            return per_round(
                rounds,
                (name,),
                lambda r: MICROSECONDS * _seconds(r[0], WAKE_UP_SIZE, "handed_over", which),
            )

        beside = {"same_core_microseconds": found(same).value} if same in rounds.results else {}
        return Found(found(method), beside)

    return Figure(id_, "us", goal, (method,), find, optional=(same,))


def hand_off(id_: str) -> Figure:
    """Return the time until 64 MiB are handed over by a pull, divided by that of MPI.

    Beside it stand all ways and sizes, MPI and memcpy, in seconds.
    """
    methods = (f"hand-off/{PULLED}", "hand-off/buffered")
    optional = tuple(f"hand-off/{way}" for way in HAND_OFFS if f"hand-off/{way}" not in methods)

    def find(rounds: Rounds) -> Found:
        found = per_round(
            rounds,
            methods,
            lambda r: (
                _seconds(r[0], PUT_SIZE, "handed_over")
                / _seconds(r[1], PUT_SIZE, "mpi_handed_over")
            ),
        )
        table: dict[str, Any] = {}
        for method in (*methods, *optional):
            for size, run in (rounds.results.get(method) or [{"sizes": {}}])[0]["sizes"].items():
                table.setdefault(method, {})[size] = {
                    what: per_round(
                        rounds, (method,), lambda r, s=size, w=what: _seconds(r[0], s, w)
                    ).value
                    for what, value in run.items()
                    if isinstance(value, dict)
                }
        return Found(found, {"median_seconds": table})

    return Figure(id_, "1", Goal(), methods, find, optional=optional)


def free_before_written(id_: str) -> Figure:
    """Return the time until 64 MiB may be changed, divided by that until they are written."""
    method = f"hand-off/{PULLED}"

    def find(rounds: Rounds) -> Found:
        found = per_round(
            rounds,
            (method,),
            lambda r: _seconds(r[0], PUT_SIZE, "handed_over") / _seconds(r[0], PUT_SIZE, "written"),
        )
        return Found(found)

    return Figure(id_, "1", Goal(), (method,), find)


def _scale_table(rounds: Rounds) -> dict[str, Any]:
    table = {}
    for ranks, servers in SCALES:
        name = f"scale/{ranks}x{servers}"
        if name not in rounds.results:
            continue
        hand_offs = median(rounds, name, "hand_offs")
        cpu = median(rounds, name, "compute_cpu_seconds") + median(
            rounds, name, "server_cpu_seconds"
        )
        table[name] = {
            "hand_offs_per_second": median(rounds, name, "hand_offs_per_second"),
            "bytes_per_second": median(rounds, name, "bytes_per_second"),
            "cpu_microseconds_per_hand_off": MICROSECONDS * cpu / hand_offs,
            "server_wake_ups": median(rounds, name, "server_wake_ups"),
            "compute_wake_ups": median(rounds, name, "compute_wake_ups"),
            "server_peak_bytes": median(rounds, name, "server_peak_bytes"),
            "compute_growth_bytes": median(rounds, name, "compute_growth_bytes"),
        }
    return table


def hand_off_rate(id_: str, goal: Goal) -> Figure:
    """Return the hand-offs of 4 KiB per second and core, 2 ranks and 2 servers on 2 cores."""
    method = "scale/2x2"
    optional = tuple(f"scale/{r}x{s}" for r, s in SCALES if f"scale/{r}x{s}" != method)

    def find(rounds: Rounds) -> Found:
        found = per_round(rounds, (method,), lambda r: r[0]["hand_offs_per_second"] / CORES)
        return Found(found, {"by_ranks_and_servers": _scale_table(rounds)})

    return Figure(id_, "1/s", goal, (method,), find, optional=optional)


def hand_off_scaling(id_: str, goal: Goal) -> Figure:
    """Return the cost of a hand-off with 32 compute ranks divided by that with 2."""
    methods = ("scale/2x2", "scale/32x2")

    def find(rounds: Rounds) -> Found:
        found = per_round(
            rounds,
            methods,
            lambda r: r[0]["hand_offs_per_second"] / r[1]["hand_offs_per_second"],
        )
        return Found(found)

    return Figure(id_, "1", goal, methods, find)
