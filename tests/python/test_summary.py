# SPDX-License-Identifier: BSD-3-Clause
from dataclasses import replace
from pathlib import Path

import pytest

import picture
from iocomp_studies.hidden import hidden_part
from iocomp_studies.plots.draw import Drawing
from iocomp_studies.rounds import Rounds
from iocomp_studies.statistics import Estimate
from summary import is_too_noisy, rows_of, sentence, text_table
from ways import BACKENDS, CONSECUTIVE, KERNEL, OVERSUBSCRIBE, PLAIN, SYNCHRONOUS, Size, method_name

DRAWN = Drawing(b"", b"", ())
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

    results = {PLAIN: runs(2.0)}
    for backend in BACKENDS:
        results |= {method_name(backend, way): runs(wall) for way, wall in WALLS.items()}
    return Rounds(results)


def test_hidden_is_the_part_of_the_cost_that_is_saved() -> None:
    assert hidden_part(1.0, 0.2) == pytest.approx(0.8)
    assert hidden_part(1.0, 1.1) == pytest.approx(-0.1)
    assert hidden_part(0.0, 1.0) == 0.0


def test_the_sentence_says_what_was_hidden_and_where_nothing_was() -> None:
    said = sentence(rows_of(rounds_with(0.0)), Size())
    assert "Writing 1.00 GiB made this run 1.00 s longer synchronously and 0.10 s longer" in said
    assert "the kernel hid 90 % (posix), 90 % (hdf5)" in said
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
    monkeypatch.setattr(
        picture, "draw_plot", lambda *_, notes, **__: texts.extend(notes.values()) or DRAWN
    )
    picture.draw(noisy, Size(), 3, tmp_path / "a.png", noisy=True)
    assert len(texts) == 1 + len(BACKENDS) * len(WALLS)
    assert not any("%" in text for text in texts)
    picture.draw(quiet, Size(), 3, tmp_path / "a.png", noisy=False)
    assert sum("hidden" in text for text in texts) == len(BACKENDS) * (len(WALLS) - 1)


def test_the_picture_is_drawn_from_the_rows(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "demo.png"
    picture.draw(rows_of(rounds_with(0.1)), Size(), 3, path, noisy=False)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_every_way_has_a_line() -> None:
    rows = rows_of(rounds_with(0.1))
    assert len(rows) == 1 + len(BACKENDS) * len(WALLS)
    lines = text_table(rows).splitlines()
    assert len(lines) == 2 + len(rows)
    assert lines[2].startswith("no output")
    assert "2.900 - 3.100 s" in lines[3]


def test_what_is_written_follows_from_the_size() -> None:
    assert Size(bytes_per_array=64 << 20, loops=40, write_every=10).bytes_written() == 1 << 30
    assert Size(bytes_per_array=1, loops=41, write_every=10).bytes_written() == 20
