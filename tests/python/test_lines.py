# SPDX-License-Identifier: BSD-3-Clause
import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from studies_data import KERNEL, planted, record

from iocomp_studies.results.lines import FORMAT, InUseError, Writer, read_lines, result_files


def written(path: Path, count: int = 3) -> Path:
    with Writer(path) as writer:
        for one in planted({KERNEL: 1.0}, rounds=count):
            writer.write(one)
    return path


def test_what_was_written_is_read(tmp_path: Path) -> None:
    path = written(tmp_path / "deep" / "results.jsonl")
    records, complaints = read_lines([path])
    assert complaints == []
    assert [one["round"] for one in records] == [0, 1, 2]


def test_a_torn_line_is_told_with_its_number_and_skipped(tmp_path: Path) -> None:
    path = written(tmp_path / "results.jsonl")
    text = path.read_text().splitlines()
    path.write_text("\n".join((text[0], text[1][:40], text[2])) + "\n")
    records, complaints = read_lines([path])
    assert [one["round"] for one in records] == [0, 2]
    assert complaints == [f"{path}:2: torn: the line ends too early or is damaged"]


def test_the_next_run_does_not_continue_a_torn_line(tmp_path: Path) -> None:
    path = written(tmp_path / "results.jsonl")
    path.write_bytes(path.read_bytes()[:-20])
    with Writer(path) as writer:
        writer.write(record(KERNEL, 7, 1.0))
    records, complaints = read_lines([path])
    assert [one["round"] for one in records] == [0, 1, 7]
    assert len(complaints) == 1
    assert complaints[0].startswith(f"{path}:3: torn")


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("[1, 2]", "no JSON object"),
        ('{"program": "stream"}', "format is None"),
        (json.dumps({"format": "iocomp-study-0", "cell": {"client": "x"}}), "iocomp-study-0"),
        (json.dumps({"format": FORMAT, "cell": {}}), "no cell"),
        (json.dumps({"format": FORMAT, "cell": {"client": "x", "newer": 1}}), "newer = 1"),
        (json.dumps({"format": FORMAT, "cell": {"client": "x", "ranks": "2"}}), "ranks = '2'"),
        (json.dumps({"format": FORMAT, "cell": {"client": "x"}, "round": "x"}), "round is 'x'"),
        (json.dumps({"format": FORMAT, "cell": {"client": "x"}, "host": 1}), "host is no table"),
        (
            json.dumps({"format": FORMAT, "cell": {"client": "x"}, "seconds": {"wall": math.nan}}),
            "seconds has a value that is no number",
        ),
        (json.dumps({"format": FORMAT, "cell": {"client": "x"}}), "no wall time"),
        (
            json.dumps({"format": FORMAT, "cell": {"client": "x"}, "seconds": {"wall": "1"}}),
            "seconds is no table of numbers",
        ),
    ],
)
def test_a_foreign_line_is_told_and_skipped(tmp_path: Path, line: str, why: str) -> None:
    path = written(tmp_path / "results.jsonl", 1)
    with path.open("a") as file:
        file.write(line + "\n\n")
    records, (complaint,) = read_lines([path])
    assert len(records) == 1
    assert complaint.startswith(f"{path}:2: foreign: ")
    assert why in complaint


def test_a_second_result_of_a_round_is_told_and_skipped(tmp_path: Path) -> None:
    path = written(tmp_path / "results.jsonl")
    with Writer(path) as writer:
        writer.write(record(KERNEL, 2, 9.0))
        writer.write(record(KERNEL, 2, 9.0, study="another"))
        writer.write(record(KERNEL, 2, 9.0, versions={"iocomp": "another"}))
        writer.write(record(KERNEL, 2, 9.0, marks=["not verified: file"]))
    records, (complaint,) = read_lines([path])
    assert len(records) == 6
    assert complaint.startswith(f"{path}:4: twice: ")


def test_two_runs_do_not_write_one_file(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    with Writer(path), pytest.raises(InUseError, match="another run writes"):
        Writer(path)
    Writer(path).__exit__(None, None, None)


@settings(database=None)
@given(st.binary(max_size=200))
def test_no_bytes_at_all_stop_the_reading(
    tmp_path_factory: pytest.TempPathFactory, junk: bytes
) -> None:
    path = tmp_path_factory.mktemp("junk") / "results.jsonl"
    path.write_bytes(junk)
    records, _ = read_lines([path])
    assert records == []


def test_places_without_results_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=str(tmp_path)):
        result_files([tmp_path])
    file = written(tmp_path / "a.jsonl")
    assert result_files([tmp_path, file]) == [file, file]
