# SPDX-License-Identifier: BSD-3-Clause
"""The cost of a step for each rank does not grow with the job: docs/developers/scale.md.

python3 -m pytest tests/smpi                      64 and 256 ranks, some seconds
SCALE_RANKS=64,1024,4096 python3 -m pytest ...    on demand
"""

from __future__ import annotations

import json
import os
import pathlib
import sys
from typing import Any

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import run
from iocomp_studies.launch import Build
from iocomp_studies.plan.study import check_launcher, read_study
from iocomp_studies.results.lines import read_lines
from iocomp_studies.runs.campaign import Surroundings, run_study

BUILD = pathlib.Path(os.environ.get("IOCOMP_SMPI_BUILD", run.ROOT / "build" / "smpi"))
RANKS = [int(number) for number in os.environ.get("SCALE_RANKS", "64,256").split(",")]
TREE_WIDTH = 8  # server::Place
LIMIT = float(os.environ.get("SCALE_SECONDS", "250"))


@pytest.fixture(scope="module")
def results() -> list[dict[str, Any]]:
    return [run.simulate(BUILD, ranks, 4, limit=LIMIT) for ranks in RANKS]


def test_a_compute_rank_sends_and_receives_the_same_in_any_job(
    results: list[dict[str, Any]],
) -> None:
    # A header of a piece and the end of the step; back come notices.
    assert {result["compute_messages"] for result in results} == {results[0]["compute_messages"]}
    assert results[0]["compute_messages"] <= 5


def test_no_server_sends_more_than_the_tree_is_wide(results: list[dict[str, Any]]) -> None:
    for result in results:
        own_ranks = 5 * 5  # up to 5 of its own: ratio 4, and 64 is no multiple of 5
        orders = 2  # what to expect; the step is settled
        reports = 2  # all have ended it; all of it is durable
        assert result["server_messages"] <= (TREE_WIDTH + 1) * (orders + reports) + own_ranks


def test_the_busiest_server_does_not_know_how_large_the_job_is(
    results: list[dict[str, Any]],
) -> None:
    first, last = results[0], results[-1]
    assert last["server_messages"] <= 1.25 * first["server_messages"]
    assert last["mean_server_messages"] <= 1.1 * first["mean_server_messages"]
    for result in results:  # how many pieces went to each server: 12 bytes
        assert result["longest_message_bytes"] <= 256 + 12 * result["servers"]


def test_a_step_costs_little_more_in_a_larger_job(results: list[dict[str, Any]]) -> None:
    first, last = results[0], results[-1]
    assert last["empty_step_seconds"] <= 2 * first["empty_step_seconds"]
    assert last["init_seconds"] + last["open_seconds"] <= 1


def test_blocks_that_touch_many_servers_are_told(tmp_path: pathlib.Path) -> None:
    def notes(cut: str) -> list[str]:
        trace = tmp_path / f"{cut}.json"
        settings = {"IOCOMP_TRACE_JSON": str(trace)}
        run.simulate(BUILD, 64, 4, cut=cut, steps=2, limit=LIMIT, settings=settings)
        return list(json.loads(trace.read_text())["notes"])

    (told,) = notes("columns")
    assert 'file "out", variable "u": a block goes to 13 servers, 630 B each' in told
    assert notes("rows") == []


def test_memory_of_a_rank_does_not_grow_with_the_job(results: list[dict[str, Any]]) -> None:
    first, last = results[0], results[-1]
    for heap in ("server_heap_bytes", "mean_server_heap_bytes", "mean_compute_heap_bytes"):
        assert 0 < last[heap] <= 1.1 * first[heap], heap


STUDY = """
[study]
name = "simulated"
launcher = "smpi"
least = 1
most = 1
warm_up = 0
[[series]]
client = "scale"
mapping = ["sequential", "consecutive"]
ratio = 4
ranks = [12, 300]
nodes = 2
size = 256
arguments = ["--steps", "2"]
"""


def test_a_study_takes_the_simulation_for_one_more_launcher(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "study.toml"
    file.write_text(STUDY)
    study = read_study(file)
    check_launcher(study, "smpi")
    work = tmp_path / "work"
    work.mkdir()
    around = Surroundings(pathlib.Path("iocomp"), Build.read(BUILD), work, "smpi")
    outcome = run_study(study, around, tmp_path / "results.jsonl")
    assert outcome.failed == {}
    assert all("room for 256" in why for why in outcome.not_possible.values())
    assert len(outcome.not_possible) == 2  # 300 ranks on two nodes
    found, _ = read_lines([tmp_path / "results.jsonl"])
    assert [one["marks"] for one in found] == [[], []]
    for one in found:
        assert one["mapping"]["found"] == f"{one['servers']} servers"
        assert one["servers"] == (4 if one["cell"]["mapping"] == "consecutive" else 0)
        assert 0 < one["seconds"]["wall"] == one["seconds"]["step"] < 0.1
        assert one["values"]["busiest_messages"] >= one["values"]["compute_messages"] > 0
        assert one["trace"]["compute_ranks"] == 12
