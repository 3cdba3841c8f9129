# SPDX-License-Identifier: BSD-3-Clause
"""The losses of a coupled job to writers, by hand: docs/developers/decisions/noise.md."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from iocomp_studies.command import app
from iocomp_studies.noise import ways
from iocomp_studies.noise.job import Job, box
from iocomp_studies.noise.losses import Cores, Losses, in_turn

SCENE = ways.Scene(64, compute=0.01, phase=1.0, node=16)


def losses(*each: tuple[int, float, float, float]) -> Losses:
    rank, begin, length, part = zip(*each, strict=True) if each else ((), (), (), ())
    return Losses(np.array(rank, int), *(np.array(one, float) for one in (begin, length, part)))


def ends(found: Losses, now: list[float], work: float) -> list[float]:
    return list(Cores(len(now), found, 100.0).end(np.array(now), work))


def test_computing_passes_what_a_writer_takes() -> None:
    found = losses((0, 1.0, 2.0, 1.0), (2, 1.0, 2.0, 0.5), (2, 2.0, 4.0, 0.25))
    assert ends(found, [0.0, 0.0, 0.0], 0.5) == pytest.approx([0.5, 0.5, 0.5])
    # Rank 2: 1 s free, 1 s half, 1 s a quarter, and 3 s three quarters.
    assert ends(found, [0.0, 0.0, 0.0], 4.0) == pytest.approx([6.0, 4.0, 6.0])
    assert ends(found, [3.0, 7.0, 6.0], 4.0) == pytest.approx([7.0, 11.0, 10.0])


def test_parts_that_overlap_take_the_core_and_no_more() -> None:
    found = losses((0, 0.0, 2.0, 0.8), (0, 0.0, 2.0, 0.8))
    assert ends(found, [0.0], 1.0) == pytest.approx([3.0])


def test_requests_of_a_core_are_handled_in_turn() -> None:
    arrivals = np.array([[0.0, 0.1, 0.2, 5.0], [0.0, 2.0, 4.0, 4.5]])
    assert in_turn(arrivals, 1.0).tolist() == [[0, 1, 2, 5], [0, 2, 4, 5]]


@pytest.mark.parametrize(
    ("ranks", "shape"), [(1, (1, 1, 1)), (7, (7, 1, 1)), (64, (4, 4, 4)), (96, (6, 4, 4))]
)
def test_a_box_is_as_near_to_a_cube_as_can_be(ranks: int, shape: tuple[int, int, int]) -> None:
    assert box(ranks) == shape


def test_all_wait_for_one_rank_where_they_sum_and_its_neighbours_where_not() -> None:
    one = losses((0, 0.0, 0.005, 1.0))
    for sums in (0, 1):
        job = Job(512, 0.01, sums, latency=0.0)
        assert job.run(Cores(512, one, 10), 3) == pytest.approx(0.035)
    # Without sums those that are far away have not heard of it yet.
    two = losses((0, 0.0, 0.005, 1.0), (292, 0.02, 0.005, 1.0))  # 292 is in the middle of the box
    assert Job(512, 0.01, 0, latency=0.0).run(Cores(512, two, 10), 3) == pytest.approx(0.035)
    assert Job(512, 0.01, 1, latency=0.0).run(Cores(512, two, 10), 3) == pytest.approx(0.04)


def test_what_all_lose_together_is_lost_once() -> None:
    lost = SCENE.direct * SCENE.bytes / SCENE.phase
    for way in (ways.kernel_together, ways.kernel_even):
        assert ways.slow_down(SCENE, way).ratio == pytest.approx(1 + lost, abs=lost / 20)


def test_what_each_loses_at_its_own_time_is_lost_more_often_in_larger_jobs() -> None:
    found = [
        ways.slow_down(replace(SCENE, ranks=ranks), ways.kernel_over_the_phase).ratio - 1
        for ranks in (1, 64, 1024)
    ]
    assert 10 * found[0] < found[1] < found[2]


def test_a_writer_that_cannot_keep_up_holds_the_job_up() -> None:
    """16 ranks of a node put 4 GiB in a second; a core copies and writes a GiB in 0.28 s."""
    large = replace(SCENE, bytes=256 * ways.MIB)
    for way, cores in ((ways.server_of_a_node, 1.0), (ways.thread_beside_a_rank, 0.5)):
        found = ways.slow_down(large, way)
        assert found.ratio == pytest.approx(4 * 0.28 / cores, rel=0.003)
        assert found.waits
    two = ways.slow_down(replace(large, domain=8), ways.server_of_a_domain)
    assert not two.waits
    assert two.ratio == pytest.approx(1 + 3 * 4 / 300, rel=0.001)  # what memory takes
    assert not ways.slow_down(SCENE, ways.server_of_a_node).waits


@pytest.mark.parametrize("way", ways.WAYS.values(), ids=ways.WAYS)
def test_every_rank_pays_for_its_own_bytes(way: ways.Way) -> None:
    """No way takes more processor time from a node than it costs to write what it puts."""
    found = way(SCENE)
    taken = float(np.sum(found.length * found.part))
    of_byte = taken / (SCENE.ranks * SCENE.bytes)
    memory = 3 * SCENE.node / SCENE.memory
    assert any(
        of_byte == pytest.approx(cost)
        for cost in (
            SCENE.direct,
            SCENE.huge,
            SCENE.copying - SCENE.direct + SCENE.huge,
            SCENE.copying,
            SCENE.compressing,
            SCENE.sibling * SCENE.copying,
            memory,
        )
    )


def test_the_command_shows_a_line_for_each_way() -> None:
    words = ["noise", "--ranks", "8", "--ranks", "27", "--phase", "0.1", "--size", "1MiB"]
    told = CliRunner().invoke(app, [*words, "--json"])
    assert told.exit_code == 0
    found = json.loads(told.stdout)
    assert found["ranks"] == [8, 27]
    assert set(found["slow_down"]) == {"synchronous", *ways.WAYS}
    assert found["slow_down"]["synchronous"] == [1.1, 1.1]
    shown = CliRunner().invoke(app, words).stdout.splitlines()
    assert len(shown) == len(ways.WAYS) + 3


def test_the_command_marks_output_that_takes_longer_than_the_phase() -> None:
    words = ["noise", "--ranks", "1", "--ranks", "16", "--phase", "0.1", "--size", "256MiB"]
    shown = CliRunner().invoke(app, words).stdout.splitlines()
    assert shown[0].split("output", 1)[1].split() == ["1", "rank", "16", "ranks"]
    (server,) = [line for line in shown if line.startswith("server of a node")]
    assert re.search(r" 1\.\d{4}  +11\.18\d\d\*$", server)
    assert shown[-1] == "* Output takes longer than the phase: the next one waits for it."
    told = json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)
    assert told["waits"]["server of a node, core of its own"] == [False, True]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--size", "x"], "--size x"),
        (["--iteration", "0"], "--iteration 0"),
        (["--synchronous", "1"], "--synchronous 1"),
        (["--ranks", "0"], "--ranks"),
        (["--ranks", "100000000"], "with 1000 iterations in a phase they can be 1 to 200000"),
        (["--phase", "1000"], "with 100000 iterations in a phase they can be 1 to 2000"),
        (["--phase", "inf"], "at most 100000 iterations, which are 1000 s"),
        (["--size", "4GiB"], "--size 4GiB: with 8192 ranks at most 512MiB"),
    ],
)
def test_what_cannot_be_simulated_is_refused_with_what_can(words: list[str], told: str) -> None:
    result = CliRunner().invoke(app, ["noise", *words])
    assert result.exit_code == 2
    assert told in result.output
