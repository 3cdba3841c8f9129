# SPDX-License-Identifier: BSD-3-Clause
"""Samples of benchmarks have an origin and a date, and a run goes on with its own alone."""

from pathlib import Path

import pytest

from iocomp_bench.samples import (
    RAW,
    DamagedError,
    dates_of,
    read_samples,
    with_origin,
    write_samples,
    write_whole,
)
from iocomp_studies.rounds import Rounds

HERE = ["here", "0.3.0", "Release"]


def samples(origin: list[str], count: int = 2) -> list[dict[str, object]]:
    return [{**with_origin(lambda: {"x": 1.0}, origin)(), "round": n} for n in range(count)]


def test_samples_of_another_origin_do_not_count(tmp_path: Path) -> None:
    assert read_samples(tmp_path, HERE) == (Rounds(), 0)
    old = {"x": 1.0, "round": 0}  # of a version that did not tell
    written = {"a": samples(HERE), "b": samples(["there"]), "c": [old, *samples(HERE, 1)]}
    write_samples(tmp_path, Rounds(written))
    found, others = read_samples(tmp_path, HERE)
    assert {name: len(of) for name, of in found.results.items()} == {"a": 2, "c": 1}
    assert others == 3


@pytest.mark.parametrize("text", ['{"a": [{"x":', "[1]", '{"a": 5}', '{"a": [5]}', "\\x00"])
def test_damaged_samples_are_told_with_their_file_and_the_cure(tmp_path: Path, text: str) -> None:
    (tmp_path / RAW).write_text(text)
    with pytest.raises(DamagedError, match=r"raw\.json: .*ANEW=1"):
        read_samples(tmp_path, HERE)


def test_a_file_that_cannot_be_written_is_the_old_one(tmp_path: Path) -> None:
    file = tmp_path / RAW
    write_whole(file, "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(file, "new \udc00")
    assert file.read_text() == "old"


def test_the_page_tells_when_its_samples_were_made() -> None:
    dates = ("2026-11-28", "2026-11-30", "2026-11-29")
    assert dates_of(Rounds({"a": [{"date": day} for day in dates]})) == "2026-11-28 to 2026-11-30"
    assert dates_of(Rounds({"a": [{"date": "2026-11-28"}]})) == "2026-11-28"
    assert dates_of(Rounds()) == "no samples"
