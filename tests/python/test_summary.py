# SPDX-License-Identifier: BSD-3-Clause
import math
from dataclasses import replace
from pathlib import Path

import pytest

import picture
from iocomp_bench.figure import Figure, Found, NotKnownError, per_round
from iocomp_bench.report import judge
from iocomp_studies.hidden import hidden_part
from iocomp_studies.plots.draw import Drawing
from iocomp_studies.plots.plot import Panel
from iocomp_studies.rounds import Rounds
from iocomp_studies.statistics import Estimate, Goal, Verdict
from summary import is_too_noisy, rows_of, sentence, text_table
from ways import (
    BACKENDS,
    CONSECUTIVE,
    KERNEL,
    LEFT_ALONE,
    OVERSUBSCRIBE,
    PROGRAMS,
    SYNCHRONOUS,
    Size,
    method_name,
)

DRAWN = Drawing(b"", b"", ())
ROWS = sum(1 + len(BACKENDS) * len(program.ways) for program in PROGRAMS)
WALLS = {SYNCHRONOUS: 3.0, KERNEL: 2.1, CONSECUTIVE: 2.2, OVERSUBSCRIBE: 3.1}


def rounds_with(spread: float) -> Rounds:
    def runs(wall: float) -> list[dict[str, float]]:
        return [
            {
                "wall_until_durable_seconds": wall + shift,
                "compute_seconds": 2.0,
                "inside_iocomp_seconds": wall - 2.0,
            }
            for shift in (0.0, spread, -spread)
        ]

    results = {}
    for program in PROGRAMS:
        results[method_name(program)] = runs(2.0)
        for backend in BACKENDS:
            results |= {
                method_name(program, backend, way): runs(WALLS[way]) for way in program.ways
            }
    return Rounds(results)


def test_hidden_is_the_part_of_the_cost_that_is_saved() -> None:
    assert hidden_part(1.0, 0.2) == pytest.approx(0.8)
    assert hidden_part(1.0, 1.1) == pytest.approx(-0.1)


@pytest.mark.parametrize("synchronous", [0.0, -0.01])
@pytest.mark.parametrize("asynchronous", [-0.02, 0.0, 1.0])
def test_what_costs_nothing_synchronously_has_no_hidden_part(
    synchronous: float, asynchronous: float
) -> None:
    assert math.isnan(hidden_part(synchronous, asynchronous))


def test_a_figure_leaves_rounds_out_in_which_it_is_not_known() -> None:
    def hidden(*costs: float) -> Estimate:
        rounds = Rounds({"m": [{"sync": cost} for cost in costs]})
        return per_round(rounds, ("m",), lambda runs: hidden_part(runs[0]["sync"], 0.5))

    assert hidden(1.0, -1.0, 1.0, 1.0, 1.0, 1.0).value == 0.5
    with pytest.raises(NotKnownError, match="in 2 of 6 rounds"):
        hidden(1.0, -1.0, 1.0, 0.0, 1.0, 1.0)
    figure = Figure("hidden", "1", Goal(0.8, at_most=False), ("m",), lambda _: hidden_of_nothing())
    (judged,) = judge([figure], Rounds({"m": [{"sync": 0.0}] * 6}))
    assert (judged.verdict, judged.found) == (Verdict.NOT_MEASURED, None)
    assert "not known in 6 of 6 rounds" in judged.note


def hidden_of_nothing() -> Found:
    rounds = Rounds({"m": [{}] * 6})
    return Found(per_round(rounds, ("m",), lambda _: hidden_part(0.0, 1.0)))


def test_the_demonstration_says_that_a_part_is_not_known() -> None:
    rounds = rounds_with(0.0)
    synchronous = method_name(LEFT_ALONE, "posix", SYNCHRONOUS)
    rounds.results[synchronous] = rounds.results[method_name(LEFT_ALONE)]
    rows = rows_of(rounds)
    assert "not known" in text_table(rows)
    assert "The kernel hid nothing that stands out from the noise (posix), 90 % (hdf5)" in sentence(
        rows, Size()
    )


def test_the_sentence_says_what_was_hidden_and_where_nothing_was() -> None:
    said = sentence(rows_of(rounds_with(0.0)), Size())
    assert "writing 0.75 GiB made the run 1.00 s longer synchronously and 0.10 s longer" in said
    assert "The kernel hid 90 % (posix), 90 % (hdf5)" in said
    assert "overwritten one kernel later, it hid 90 % (posix), 90 % (hdf5)" in said
    assert "on the other core 80 % (posix), 80 % (hdf5)" in said
    assert "on the same core nothing, it took longer (posix)" in said


def test_on_a_noisy_machine_the_sentence_says_so_once_and_the_picture_has_no_percentages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quiet = rows_of(rounds_with(0.0))
    noisy = [replace(row, hidden=row.hidden and Estimate(0.1, -1.0, 1.2)) for row in quiet]
    assert (is_too_noisy(quiet), is_too_noisy(noisy)) == (False, True)
    said = sentence(noisy, Size())
    assert said.count("noisy") == 1
    assert "%" not in said
    texts: list[str] = []

    def note(_: object, panels: list[Panel], **__: object) -> Drawing:
        texts.extend(text for panel in panels for text in panel.notes.values())
        return DRAWN

    monkeypatch.setattr(picture, "draw_plot", note)
    picture.draw(noisy, Size(), 3, tmp_path / "a.png", noisy=True)
    assert len(texts) == ROWS
    assert not any("%" in text for text in texts)
    picture.draw(quiet, Size(), 3, tmp_path / "a.png", noisy=False)
    assert sum("hidden" in text for text in texts) == ROWS - len(PROGRAMS) * (1 + len(BACKENDS))


def test_the_picture_is_drawn_from_the_rows(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "demo.png"
    picture.draw(rows_of(rounds_with(0.1)), Size(), 3, path, noisy=False)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_every_way_has_a_line() -> None:
    rows = rows_of(rounds_with(0.1))
    assert len(rows) == ROWS
    lines = text_table(rows).splitlines()
    assert len(lines) == len(rows) + 4 * len(PROGRAMS) + 1
    assert lines[0] == LEFT_ALONE.title
    assert lines[4].startswith("no output")
    assert "2.900 - 3.100 s" in lines[5]


def test_what_is_written_follows_from_the_size() -> None:
    assert Size(bytes_per_array=64 << 20, loops=40, write_every=10).bytes_written() == 1 << 30
    assert Size(bytes_per_array=1, loops=41, write_every=10).bytes_written() == 20
    assert Size(bytes_per_array=1, loops=41, write_every=10).bytes_written(LEFT_ALONE) == 15
