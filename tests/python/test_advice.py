# SPDX-License-Identifier: BSD-3-Clause
import json
import tomllib
from pathlib import Path

import pytest
from studies_data import record

from iocomp_studies.advice.choices import toml_of
from iocomp_studies.advice.learned import NothingToLearnError, learn_from_results
from iocomp_studies.advice.machine import REQUESTS, measure
from iocomp_studies.advice.own_run import NotUsableError, read_run, what_it_says
from iocomp_studies.plan.cell import Cell

TRACE = {
    "compute_ranks": 2,
    "compute_sum": {"puts": 20.0, "put_bytes": 4e9},
    "compute_max": {"steps": 10.0, "call_seconds": 4.0},
}
SYNC = Cell("command", output="sync", transport="-", ranks=2, arguments=("./program",))


def test_a_synchronous_run_tells_its_computing_and_its_writing() -> None:
    own = what_it_says(record(SYNC, 0, 24.0, trace=TRACE))
    assert own.work.step_seconds == pytest.approx(2.0)
    assert own.work.step_bytes == pytest.approx(2e8)
    assert own.write_seconds == pytest.approx(0.4)
    assert own.work.reuse_seconds == pytest.approx(2.0)


def test_an_asynchronous_run_tells_no_bandwidth() -> None:
    cell = Cell("command", ranks=2, arguments=("./program",))
    assert what_it_says(record(cell, 0, 24.0, trace=TRACE)).write_seconds == 0


@pytest.mark.parametrize(
    ("wall", "trace", "told"),
    [
        (3.0, TRACE, "nothing was computed"),
        (24.0, {}, "put nothing with iocomp"),
        (24.0, {"compute_sum": {"puts": 0}, "compute_max": {"steps": 3}}, "put nothing"),
    ],
)
def test_a_run_that_says_too_little_is_refused(
    wall: float, trace: dict[str, object], told: str
) -> None:
    with pytest.raises(NotUsableError, match=told):
        what_it_says(record(SYNC, 0, wall, trace=trace))


def test_a_run_is_read_from_its_trace_or_from_results(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps(TRACE, indent=1))
    found = read_run(trace, 24.0)
    assert found["cell"]["ranks"] == 2
    assert what_it_says(found).work.steps == 10
    with pytest.raises(NotUsableError, match="--wall"):
        read_run(trace, None)
    lines = tmp_path / "results.jsonl"
    one = {"format": "iocomp-study-1", **record(SYNC, 0, 24.0, trace=TRACE)}
    lines.write_text(json.dumps(one) + "\n")
    assert what_it_says(read_run(lines, None)).work.steps == 10
    lines.write_text("hello\n")
    with pytest.raises(NotUsableError, match=r"results.jsonl:1: torn.*wanted is"):
        read_run(lines, None)


def test_settings_become_tables_that_can_be_read() -> None:
    settings = {
        "mode": "async",
        "placement.policy": "tail",
        "placement.servers": "1 per 4",
        "transport.kind": "auto",
        "staging.memory": "320 MiB",
        "files.default.backend": "posix",
    }
    text = toml_of(settings, ("Why.", "How."))
    assert text.startswith("# Why.\n# How.\nmode = ")
    assert tomllib.loads(text) == {
        "mode": "async",
        "placement": {"policy": "tail", "servers": "1 per 4"},
        "transport": {"kind": "auto"},
        "staging": {"memory": "320 MiB"},
        "files": {"default": {"backend": "posix"}},
    }


def test_a_machine_is_measured_and_leaves_nothing(tmp_path: Path) -> None:
    machine = measure(tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert set(machine.write) == set(REQUESTS)
    rates = (machine.copy, machine.write_by_two, *machine.write.values())
    assert all(1e6 < rate < 1e12 for rate in rates), machine
    assert 0 < machine.flush_seconds < 10
    assert 0 < machine.wake_up_seconds < 1
    model = machine.model(("posix", "hdf5"))
    assert model.value("bandwidth.hdf5") == machine.write[REQUESTS[-1]]
    assert model.value("copy.shared") == machine.copy
    assert 0 < model.value("writers.posix") <= 1


def test_results_that_teach_nothing_are_refused() -> None:
    with pytest.raises(NothingToLearnError, match="beside them"):
        learn_from_results([record(SYNC, 0, 5.0)])
    with pytest.raises(NothingToLearnError, match="--source there: there are none"):
        learn_from_results([record(SYNC, 0, 5.0)], "there")
