# SPDX-License-Identifier: BSD-3-Clause
from typing import Any

import pytest

from iocomp_bench.calibrate import Calibration, compute_bytes_for, follow
from iocomp_bench.figure import Figure, groups_of
from iocomp_bench.figures import FIGURES, LONG, chosen, shortened
from iocomp_bench.methods import MIB, PUT_BYTES, PUTS, Runner, all_methods
from iocomp_bench.report import judge, text, unexpected
from iocomp_bench.restarting import LATEST_STEPS
from iocomp_bench.simulating import NOISE, noise
from iocomp_bench.ways import CONSECUTIVE, LONG_PHASES, LOSS, OVERLAPS, WAYS, Overlap
from iocomp_studies.launch import Build, Launch
from iocomp_studies.rounds import Rounds
from iocomp_studies.statistics import Verdict

WALLS = {
    "pwrite": 2.2,
    "sync buffered": 2.4,
    "sync direct": 2.0,
    "in place": 1.1,
    "pulled": 1.3,
    "kernel": 1.05,
    "thread": 1.4,
    "iwrite": 1.5,
    "bp5-naive": 2.5,
    "bp5-guided": 2.1,
}
UNSUPPORTED = 'mpirun -n 1 x: exit code 1\nx: rank 0: iocomp_init: invalid setting: "kernel"\n--'


def figure(id_: str) -> Figure:
    return next(figure for figure in FIGURES if figure.id == id_)


def overlap_rounds(
    walls: dict[str, float],
    put_seconds: float = 0.001,
    rounds: int = 5,
    series: Overlap = CONSECUTIVE,
) -> Rounds:
    def result(way: str) -> dict[str, Any]:
        return {
            "wall_until_durable_seconds": walls[way],
            "compute_seconds": 1.0,
            "alone_seconds": 1.0,
            "compute_bytes": 128 * PUT_BYTES / PUTS,
            "put_seconds": put_seconds,
            "put_longest_seconds": put_seconds,
            "wait_seconds": 0.0,
            "close_seconds": 0.0,
        }

    return Rounds({series.method(way): [result(way)] * rounds for way in series.ways})


def test_the_compute_phase_follows_the_disk() -> None:
    calibration = Calibration(1, 0.05, "pwrite", 64 * PUT_BYTES)
    begin = compute_bytes_for(0.05, 64 * PUT_BYTES, CONSECUTIVE.aim)
    assert follow(calibration, CONSECUTIVE, {}) == begin
    # Writing as in WALLS takes (2.0 - 1.0) s for all puts, and computing was twice as quick.
    measured = overlap_rounds(WALLS).results
    for series, speed in ((CONSECUTIVE, 128), (LOSS, 64)):  # LOSS has not run yet
        expected = compute_bytes_for(1.0 / PUTS, speed * PUT_BYTES, series.aim)
        assert follow(calibration, series, measured) == expected
    assert follow(calibration, LONG_PHASES, measured) == calibration.compute_bytes(LONG_PHASES)


def test_figures_that_share_runs_are_measured_together_and_those_with_goals_first() -> None:
    groups = groups_of(FIGURES)
    assert sorted(f.id for group in groups for f in group) == sorted(f.id for f in FIGURES)
    together = next(group for group in groups if figure("hidden-kernel") in group)
    assert {figure("wall-vs-iwrite"), figure("hidden-oversubscribed")} <= set(together)
    runs = [{run for f in group for run in (*f.methods, *f.optional)} for group in groups]
    assert sum(len(names) for names in runs) == len(set.union(*runs))
    with_goal = [any(f.has_goal() for f in group) for group in groups]
    assert with_goal == sorted(with_goal, reverse=True)


def test_what_was_not_run_is_not_measured() -> None:
    judged = judge(FIGURES, overlap_rounds(WALLS))
    by_id = {one.figure.id: one for one in judged}
    assert by_id["hidden-consecutive"].found is not None
    assert by_id["hidden-kernel"].verdict is Verdict.NOT_MEASURED


def test_the_exposed_time_is_shown_beside() -> None:
    found = figure("hidden-consecutive").find(overlap_rounds(WALLS))
    assert found.estimate.value == pytest.approx(0.9)
    assert found.beside["exposed_seconds_per_gib"] == pytest.approx(0.1 / 1.25)
    assert found.beside["compute_phase_over_write"] == pytest.approx(1.0)
    assert found.beside["hidden_of_others"] == {"overlap 1/pulled": pytest.approx(0.7)}


def test_the_time_of_a_put_is_a_mean_in_milliseconds() -> None:
    found = figure("put-time").find(overlap_rounds(WALLS, PUTS * 0.002))
    assert found.estimate.value == pytest.approx(2.0)


@pytest.mark.parametrize(("async_wall", "verdict"), [(1.1, Verdict.MET), (1.9, Verdict.UNRESOLVED)])
def test_a_short_put_counts_only_where_output_is_hidden(
    async_wall: float, verdict: Verdict
) -> None:
    rounds = overlap_rounds({**WALLS, "in place": async_wall}, PUTS * 0.0005)
    judged = judge(chosen(["put-time"]), rounds)
    put = next(one for one in judged if one.figure.id == "put-time")
    assert put.verdict is verdict
    assert ("counts only with hidden-consecutive" in text(judged)) is (verdict is not Verdict.MET)


def test_figures_that_count_with_another_bring_it_along() -> None:
    assert [f.id for f in chosen(["put-time"])] == ["hidden-consecutive", "put-time"]
    assert [f.id for f in chosen([])] == [f.id for f in FIGURES]
    with pytest.raises(ValueError, match="no benchmark nonsense; there are idle-tax-same-core"):
        chosen(["nonsense"])


def test_a_short_run_has_no_long_figures_and_nothing_beside() -> None:
    short = shortened(FIGURES)
    assert [f.id for f in short] == [f.id for f in FIGURES if f.id not in LONG]
    assert {f.id for f in FIGURES} > set(LONG)
    assert not any(f.optional for f in short)
    assert any(f.optional for f in FIGURES)


def test_the_worst_kernel_counts() -> None:
    plain = {"copy": 1.0, "scale": 1.0, "add": 1.0, "triad": 1.0}
    beside = {**plain, "add": 1.3}

    def run(seconds: dict[str, float]) -> dict[str, Any]:
        return {"kernel_seconds": seconds, "kernel_seconds_in_writing_loops": seconds}

    names = {"stream/plain": plain, "stream/same core, in place": beside}
    rounds = Rounds({name: [run(seconds)] * 5 for name, seconds in names.items()})
    assert figure("stream-ratio-oversubscribed").find(rounds).estimate.value == pytest.approx(1.3)


def test_the_worst_load_counts_for_memory() -> None:
    grown = {"large": 40.0, "many": 50.0, "small": 120.0}
    rounds = Rounds(
        {f"memory/{load}": [{"server_growth_bytes": mib * MIB}] for load, mib in grown.items()}
    )
    found = figure("staging-overrun").find(rounds)
    assert found.estimate.value == pytest.approx(88.0)
    assert figure("staging-overrun").goal.judge(found.estimate) is Verdict.NOT_MET


def test_hpcg_beside_idle_servers_counts_with_the_worse_number_of_ranks() -> None:
    seconds = {"plain": 1.0, "plain 2": 2.0, "idle": 1.1, "idle 2": 2.5}
    rounds = Rounds({f"hpcg/{name}": [{"loop_seconds": s}] * 5 for name, s in seconds.items()})
    found = figure("hpcg-idle").find(rounds)
    assert found.estimate.value == pytest.approx(1.25)
    assert found.beside["by_ranks"] == pytest.approx({"1": 1.1, "2": 1.25})


def hpl(rate: float = 50.0, seconds: tuple[float, ...] = (2.0, 2.0, 2.0)) -> dict[str, Any]:
    return {
        "residuals": [0.003, 0.005],
        "operations": 1e9 * rate,
        "hpl_seconds_by_repetition": [1.0, 2.0, 1.0],
        "loop_seconds": sum(seconds),
        "loop_seconds_by_repetition": list(seconds),
        **dict.fromkeys(("send_seconds", "wait_seconds", "compute_seconds"), 0.1),
    }


def test_hpl_is_compared_by_its_median_system_and_counts_with_the_worse_grid() -> None:
    rounds = Rounds(
        {
            "hpl/rate 1x1": [hpl(50.0)] * 5,
            "hpl/hpcc 1x1": [{"gflop_per_second_by_system": [1.0, 40.0, 41.0]}] * 5,
            "hpl/rate 1x2": [hpl(81.0)] * 5,
            "hpl/hpcc 1x2": [{"gflop_per_second_by_system": [90.0, 90.0, 99.0]}] * 5,
        }
    )
    found = figure("hpl-rate").find(rounds)
    assert found.estimate.value == pytest.approx(0.9)
    assert found.beside["by_grid"] == pytest.approx({"1x1": 1.25, "1x2": 0.9})


def test_of_hpl_with_output_those_repetitions_count_behind_which_something_is_written() -> None:
    rounds = Rounds(
        {
            "hpl/plain large": [hpl()] * 5,
            "hpl/kernel": [{**hpl(seconds=(1.0, 2.1, 2.1)), "loop_seconds": 6.6}] * 5,
        }
    )
    found = figure("hpl-output").find(rounds)
    assert found.estimate.value == pytest.approx(1.05)
    assert found.beside["whole_loop"] == pytest.approx(1.1)


def test_the_largest_residual_of_hpl_counts() -> None:
    names = figure("hpl-residual").methods
    assert len(names) == 6
    residuals = {name: [{"residuals": [0.001, 0.01 * i]}] * 5 for i, name in enumerate(names)}
    assert figure("hpl-residual").find(Rounds(residuals)).estimate.value == pytest.approx(0.05)


def test_lost_compute_time_is_per_gib_written() -> None:
    rounds = overlap_rounds(WALLS, series=LOSS)
    rounds.results[LOSS.method("kernel")] = [
        {**run, "compute_seconds": 1.025} for run in rounds.results[LOSS.method("kernel")]
    ]
    assert figure("io-cpu-kernel").find(rounds).estimate.value == pytest.approx(0.02)
    assert figure("io-cpu-pulled").find(rounds).estimate.value == pytest.approx(0.0)


def test_the_better_mode_of_a_rival_counts() -> None:
    rounds = overlap_rounds(WALLS, series=LONG_PHASES)
    assert figure("wall-vs-iwrite").find(rounds).estimate.value == pytest.approx(1.05 / 1.5)
    found = figure("wall-vs-bp5").find(rounds)
    assert found.estimate.value == pytest.approx(1.05 / 2.1)
    assert found.beside["best"] == "overlap 2 long/bp5-guided"


def test_an_idle_server_is_compared_over_all_kernels() -> None:
    kernels = {
        "dense": {"alone_seconds": 1.0, "beside_seconds": 1.0},
        "sparse": {"alone_seconds": 1.0, "beside_seconds": 1.02},
    }
    run = {"alone_seconds": 2.0, "beside_seconds": 2.02, "kernels": kernels}
    found = figure("idle-tax-same-core").find(Rounds({"idle tax": [run] * 5}))
    assert found.estimate.value == pytest.approx(1.01)
    assert found.beside["by_kernel"] == {"dense": 1.0, "sparse": pytest.approx(1.02)}


def test_idle_processor_time_is_that_of_ten_seconds() -> None:
    run = {"idle_seconds": 4.0, "server_cpu_seconds": 0.002, "server_wake_ups": 3.0}
    found = figure("idle-cpu-shared").find(Rounds({"idle cpu/shared": [run] * 5}))
    assert found.estimate.value == pytest.approx(5.0)


def hand_off_run(put: float, memcpy: float) -> dict[str, Any]:
    def spread(seconds: float) -> dict[str, float]:
        return {"median": seconds, "p99": 2 * seconds, "longest": 3 * seconds}

    of_size = {"puts": 4, "put": spread(put), "handed_over": spread(put), "memcpy": spread(memcpy)}
    return {"sizes": {str(16 << 10): of_size, str(64 * MIB): of_size}}


def test_the_slower_of_pull_and_in_place_counts() -> None:
    runs = {"pulled": hand_off_run(30e-6, 1.0), "in place": hand_off_run(60e-6, 1.0)}
    rounds = Rounds({f"hand-off/{way}": [run] * 5 for way, run in runs.items()})
    found = figure("put-time-pull").find(rounds)
    assert found.estimate.value == pytest.approx(60.0)
    assert found.beside["by_way"]["hand-off/pulled"] == pytest.approx(30.0)


def test_a_staged_put_is_compared_with_memcpy_and_a_wake_up_in_microseconds() -> None:
    run = hand_off_run(0.011, 0.010)
    rounds = Rounds({"hand-off/buffered": [run] * 5, "wake-up/other core": [run] * 5})
    assert figure("put-time-staged").find(rounds).estimate.value == pytest.approx(1.1)
    assert figure("wake-up").find(rounds).estimate.value == pytest.approx(11e3)
    assert figure("wake-up-p99").find(rounds).estimate.value == pytest.approx(22e3)


def test_hand_offs_are_counted_per_core_and_compared_over_ranks() -> None:
    rounds = Rounds(
        {
            "scale/2x2": [{"hand_offs_per_second": 500e3}] * 5,
            "scale/32x2": [{"hand_offs_per_second": 400e3}] * 5,
        }
    )
    assert figure("hand-off-scaling").find(rounds).estimate.value == pytest.approx(1.25)


def test_a_figure_whose_run_failed_is_not_measured() -> None:
    rounds = overlap_rounds(WALLS, series=LONG_PHASES)
    del rounds.results[LONG_PHASES.method("kernel")]
    rounds.failures[LONG_PHASES.method("kernel")] = UNSUPPORTED
    judged = judge([figure("hidden-kernel"), figure("hidden-oversubscribed")], rounds)
    assert [one.verdict for one in judged] == [Verdict.NOT_MEASURED, Verdict.MET]
    record = judged[0].record()
    assert (record["value"], record["met"]) == (None, "not measured")
    assert record["note"] == (
        'overlap 2 long/kernel: x: rank 0: iocomp_init: invalid setting: "kernel"'
    )
    assert "hidden-kernel" in text(judged)


def test_only_what_this_build_has_fails_the_benchmarks() -> None:
    crashed = "mpirun: exit code 134\nx: rank 1: iocomp_put: internal: broken"
    found = unexpected({"a": UNSUPPORTED, "b": crashed, "c": "x: rank 0: built without ADIOS2"})
    assert found == {"b": "x: rank 1: iocomp_put: internal: broken"}


class Recorder(Build):
    """Remembers what would be run."""

    launches: list[Launch]

    def run(self, launch: Launch, timeout_seconds: float = 120) -> dict[str, Any]:
        self.launches.append(launch)
        return {}


def test_every_figure_has_its_runs_and_they_fit_two_cores(tmp_path: Any) -> None:
    build = Recorder(tmp_path, ("mpirun",), "-n", "Release")
    object.__setattr__(build, "launches", [])
    command = tmp_path / "tools" / "iocomp"  # latest-time asks it for the last of its steps
    command.parent.mkdir()
    command.write_text(f"#!/bin/sh\necho {LATEST_STEPS - 1}\n")
    command.chmod(0o755)
    (tmp_path / "work").mkdir()
    phases = {series.name: PUT_BYTES for series in OVERLAPS}
    methods = all_methods(Runner(build, tmp_path / "work"), phases)
    wanted = {name for one in FIGURES for name in (*one.methods, *one.optional)}
    assert wanted <= set(methods)
    for method in methods.values():
        method()
    assert {cpu for launch in build.launches for cpu in launch.cpus} == {0, 1, "0-1"}
    assert len(build.launches) == len(methods) - 1  # the simulation starts no program


def test_a_server_sits_where_the_way_says() -> None:
    assert WAYS["kernel"].cpus(2, same_core=False) == (0, 1)
    assert WAYS["pulled"].cpus(1, same_core=False) == (0, 1)
    assert WAYS["pulled"].cpus(1, same_core=True) == (0, 0)
    assert WAYS["pulled"].cpus(2, same_core=False) == (0, 1, 0, 1)


def test_results_have_the_agreed_form() -> None:
    record = judge(chosen(["hidden-consecutive"]), overlap_rounds(WALLS))[0].record()
    assert record["id"] == "hidden-consecutive"
    assert record["spread"] == pytest.approx([0.9, 0.9])
    assert (record["unit"], record["goal"], record["met"]) == ("1", ">= 0.85", True)


def test_a_compute_phase_is_as_long_as_a_write_but_at_least_one_array() -> None:
    assert compute_bytes_for(0.02, 10e9, aim=1.1) == 220_000_000 // MIB * MIB
    assert compute_bytes_for(1e-6, 10e9, aim=1.1) == PUT_BYTES


def test_too_few_rounds_settle_nothing() -> None:
    one = judge(chosen(["hidden-consecutive"]), overlap_rounds(WALLS, rounds=4))[0]
    assert one.verdict is Verdict.UNRESOLVED
    assert one.note == "4 rounds are too few, a verdict needs 5"


def test_a_binding_is_compared_in_its_worse_size() -> None:
    def run(small: float, large: float) -> dict[str, Any]:
        seconds = {"4096": (small, 1e-6), "67108864": (large, 1e-4)}
        return {"sizes": {z: {"fortran_seconds": f, "c_seconds": c} for z, (f, c) in seconds.items()}}

    runs = {"kernel": run(1.1e-6, 9.0), "pulled": run(9.0, 1e-4)}
    rounds = Rounds({f"bindings/fortran, {way}": [each] * 5 for way, each in runs.items()})
    found = figure("fortran-cost").find(rounds)
    assert found.estimate.value == pytest.approx(1.1)
    assert found.beside["by_size"]["67108864"] == pytest.approx(1.0)


def test_what_is_simulated_of_8192_ranks_is_as_in_the_measurements() -> None:
    run = noise()
    found = figure("noise-8192").find(Rounds({NOISE: [run] * 5}))
    assert found.estimate.value == pytest.approx(1.0011, abs=5e-5)
    assert found.beside["128 MiB small pages"] == pytest.approx(1.0276, abs=5e-5)
    assert found.beside["128 MiB malloc"] == pytest.approx(1.0063, abs=5e-5)
