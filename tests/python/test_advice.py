# SPDX-License-Identifier: BSD-3-Clause
import json
import tomllib
from pathlib import Path

import pytest
from studies_data import record

from iocomp_studies.advice.choices import toml_of
from iocomp_studies.advice.learned import Learned, NothingToLearnError, learn_from_results
from iocomp_studies.advice.machine import REQUESTS, measure
from iocomp_studies.advice.model import Model
from iocomp_studies.advice.own_run import NotUsableError, read_run, what_it_says
from iocomp_studies.plan.cell import Cell
from iocomp_studies.plan.clients import bytes_of

TRACE = {
    "iocomp_trace": 1,
    "seconds": 23.0,
    "transport": "kernel",
    "servers": 0,
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
    assert what_it_says(read_run(trace, None)).wall == 23.0
    lines = tmp_path / "results.jsonl"
    one = {"format": "iocomp-study-1", **record(SYNC, 0, 24.0, trace=TRACE)}
    lines.write_text(json.dumps(one) + "\n")
    assert what_it_says(read_run(lines, None)).work.steps == 10
    lines.write_text("hello\n")
    with pytest.raises(NotUsableError, match=r"results.jsonl:1: torn.*wanted is"):
        read_run(lines, None)


def test_a_trace_tells_whether_its_run_was_synchronous(tmp_path: Path) -> None:
    trace = tmp_path / "trace.json"
    for transport, servers, write in (("direct", 0, 0.4), ("kernel", 0, 0), ("shared", 2, 0)):
        trace.write_text(json.dumps({**TRACE, "transport": transport, "servers": servers}))
        own = what_it_says(read_run(trace, None))
        assert own.write_seconds == pytest.approx(write)
        model = Learned(Model(), ()).with_run(own, ("hdf5",)).model
        assert ("bandwidth.hdf5" in model.values) is bool(write)


@pytest.mark.parametrize("form", [None, 0, 2])
def test_a_trace_of_another_form_is_refused(tmp_path: Path, form: int | None) -> None:
    trace = tmp_path / "trace.json"
    other = {key: value for key, value in TRACE.items() if key != "iocomp_trace" or form}
    trace.write_text(json.dumps({**other, **({"iocomp_trace": form} if form else {})}))
    with pytest.raises(NotUsableError, match="iocomp_trace is"):
        read_run(trace, None)


@pytest.mark.parametrize("key", ["compute_sum", "compute_max", "compute_ranks", "seconds"])
def test_a_damaged_trace_is_refused(tmp_path: Path, key: str) -> None:
    trace = tmp_path / "trace.json"
    trace.write_text(json.dumps({**TRACE, key: "x"}))
    with pytest.raises(NotUsableError, match=r"trace\.json"):
        read_run(trace, None)


def test_a_result_that_does_not_count_is_no_run(tmp_path: Path) -> None:
    bad = record(SYNC, 1, 24.0, trace=TRACE, marks=["not verified: file"])
    with pytest.raises(NotUsableError, match="not verified: file"):
        what_it_says(bad)
    file = tmp_path / "results.jsonl"
    good = record(SYNC, 0, 12.0, trace=TRACE)
    for lines, wall in (((bad,), None), ((good, bad), 12.0)):
        file.write_text(
            "".join(f"{json.dumps({'format': 'iocomp-study-1', **one})}\n" for one in lines)
        )
        if wall:
            assert read_run(file, None)["seconds"]["wall"] == wall
        else:
            with pytest.raises(NotUsableError, match="not verified: file"):
                read_run(file, None)


def test_the_launch_of_a_program_is_no_computing() -> None:
    one = record(SYNC, 0, 30.0, trace=TRACE)
    one["seconds"]["launch_to_end"] = 30.0
    assert what_it_says(one).wall == 23.0


@pytest.mark.parametrize("text", ["inf GiB", "nanGiB", "1e999 MiB", "many"])
def test_a_size_that_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="."):
        bytes_of(text)


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
