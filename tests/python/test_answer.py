# SPDX-License-Identifier: BSD-3-Clause
"""The report begins with an answer to whether spare hardware threads hide output."""

from dataclasses import replace

import pytest
from studies_data import KERNEL, NONE, OVERSUBSCRIBE, planted, record

from iocomp_studies.plan.cell import Cell
from iocomp_studies.report.answer import QUESTION, Answer, answer
from iocomp_studies.report.conclusions import conclude
from iocomp_studies.report.page import make_page
from iocomp_studies.results.archer2 import read_archer2
from iocomp_studies.results.rows import rows_of

SYNCHRONOUS = replace(KERNEL, output="sync", transport="-")
HYPERTHREAD = replace(OVERSUBSCRIBE, mapping="hyperthread")


def told(factors: dict[Cell, float], rounds: int = 9) -> Answer | None:
    return answer(conclude(rows_of(planted(factors, rounds))))


@pytest.mark.parametrize(
    ("factor", "verdict"), [(1.0, "yes, no loss is seen"), (1.1, "yes, a part"), (1.6, "no")]
)
def test_output_is_hidden_if_it_takes_less_than_synchronous_output(
    factor: float, verdict: str
) -> None:
    found = told({NONE: 1.0, SYNCHRONOUS: 1.5, HYPERTHREAD: factor, OVERSUBSCRIBE: 2.0})
    assert found
    where = "here, servers on hardware threads beside the ranks"
    head, value = found.sentence.split(f"stream: {verdict}, ")
    assert head == f"{QUESTION} {where}: "
    assert float(value.split()[0]) == pytest.approx(factor, abs=0.02)
    assert found.sentence.endswith("of its time without output.")


@pytest.mark.parametrize(
    ("middles", "half", "verdict"),
    [
        ((1.01, 1.012), 0.1, "not seen"),  # each comparison alone sees no difference
        ((1.0, 1.001), 0.02, "yes, no loss is seen"),
        ((1.2, 1.2), 0.4, "not seen"),
        ((1.3, 1.31), 0.05, "not all of it"),
    ],
)
def test_what_is_not_known_is_neither_yes_nor_no(
    middles: tuple[float, ...], half: float, verdict: str
) -> None:
    records = [
        record(replace(cell, size=f"{size} MiB"), number, seconds)
        for size, middle in enumerate(middles, 1)
        for number, off in enumerate((-half, -half / 2, 0, half / 2, half))
        for cell, seconds in ((NONE, 1.0), (OVERSUBSCRIBE, middle + off))
    ]
    found = answer(conclude(rows_of(records)))
    assert found
    assert f"stream: {verdict}, " in found.sentence


def test_a_way_as_long_as_synchronous_output_is_not_seen_to_hide_anything() -> None:
    found = told({NONE: 1.0, SYNCHRONOUS: 1.5, HYPERTHREAD: 1.5})
    assert found
    assert "stream: not seen, 1." in found.sentence


def test_cores_of_ranks_answer_where_there_are_no_hardware_threads() -> None:
    found = told({SYNCHRONOUS: 1.5, OVERSUBSCRIBE: 1.0})
    assert found
    assert "servers on the cores of ranks" in found.sentence
    assert "stream: yes, at least a part, 0.6" in found.sentence
    few = told({NONE: 1.0, OVERSUBSCRIBE: 1.0}, rounds=4)
    assert few
    assert "stream: too few results" in few.sentence


def test_nothing_is_answered_without_servers_beside_the_ranks() -> None:
    idle = replace(HYPERTHREAD, output="idle")
    assert told({NONE: 1.0, KERNEL: 1.0, idle: 1.0}) is None


def test_a_page_of_published_results_begins_with_their_answer() -> None:
    records = list(read_archer2())
    found = answer(conclude(rows_of(records)))
    assert found
    assert "ARCHER2 (published 2023), servers on hardware threads beside" in found.sentence
    assert "hpcg: no, 1.07 (1.04 to 1.19) of its time with synchronous output" in found.sentence
    points = {series for text, series in found.drawing.points if text}
    assert points == {"consecutive", "hyperthread", "oversubscribe"}
    text = make_page([one for one in records if one["cell"]["ranks"] == 256])
    head = text[text.index("<h1>") : text.index("results count")]
    assert head.startswith(f"<h1>Study</h1><p class=answer>{QUESTION}")
    assert head.count("<svg") == 1
