# SPDX-License-Identifier: BSD-3-Clause
"""Studies of real programs: what is run, kept, marked, stopped and continued."""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BUILD = Path(os.environ["IOCOMP_BUILD"])
COMMAND = BUILD / "tools/iocomp"

STREAM = """
[study]
name = "small"
least = {rounds}
most = {rounds}
warm_up = 1
[[series]]
client = "stream"
output = ["none", "sync", "async"]
mapping = ["sequential", "oversubscribe"]
size = "64 KiB"
arguments = ["--loops", "4", "--write-every", "2"]
"""
PRINTS = """
[study]
name = "prints"
least = 3
most = 3
warm_up = 0
[[series]]
client = "command"
output = "async"
mapping = ["{mapping}"]
arguments = ["sh", "-c", '''echo '{{{{"wall_seconds": 0.5, "file_verified": {good}}}}}' ''']
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A directory on the disk of the build: studies refuse memory."""
    with tempfile.TemporaryDirectory(dir=BUILD) as name:
        yield Path(name)


def words(folder: Path, text: str, *more: str) -> list[str]:
    file = folder / "study.toml"
    file.write_text(text)
    return [str(COMMAND), "study", "run", str(file), "--out", str(folder / "out"), *more]


def study(folder: Path, text: str, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words(folder, text, *more), capture_output=True, text=True, timeout=150, check=False
    )


def results(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "out/results.jsonl").read_text().splitlines()]


@pytest.fixture(scope="module")
def small() -> Iterator[Path]:
    """A folder with the results of one round of small runs."""
    with tempfile.TemporaryDirectory(dir=BUILD) as name:
        done = study(Path(name), STREAM.format(rounds=1))
        assert done.returncode == 0, done.stdout + done.stderr
        yield Path(name)


def test_every_result_is_kept_with_all_that_belongs_to_it_and_a_second_run_goes_on(
    folder: Path, small: Path
) -> None:
    shutil.copytree(small / "out", folder / "out")
    found = results(folder)
    assert sorted(one["round"] for one in found) == [-1] * 4 + [0] * 4
    for one in found:
        assert one["marks"] == [], one
        assert one["checks"].get("arrays_checked") is True
        assert {"wall", "compute", "kernel.copy", "launch_to_end"} <= set(one["seconds"])
        assert one["host"]["name"]
        assert one["versions"]["iocomp"]
        assert one["topology"]["cores"] >= 1
        assert {"before", "after"} <= set(one["load"])
        seats = one["mapping"]["seats"]
        server = one["cell"]["mapping"] == "oversubscribe"
        assert [seat["role"] for seat in seats] == ["compute", "server"][: 1 + server]
        assert len({seat["cpus"] for seat in seats}) == 1  # on the same hardware thread
        if one["cell"]["output"] != "none":
            assert one["checks"]["file_verified"] is True
            assert one["environment"]["IOCOMP_MODE"] in ("sync", "async")
            assert one["trace"]
    before = len(found)
    again = study(folder, STREAM.format(rounds=1))
    assert len(results(folder)) == before, again.stderr
    more = study(folder, STREAM.format(rounds=2))
    assert more.returncode == 0, more.stderr
    assert sorted(one["round"] for one in results(folder)) == [-1] * 4 + [0] * 4 + [1] * 4


@pytest.mark.parametrize(
    ("table", "field"), [("host", "name"), ("versions", "iocomp"), ("versions", "build_type")]
)
def test_results_of_another_machine_or_build_are_kept_and_made_anew(
    folder: Path, table: str, field: str
) -> None:
    text = PRINTS.format(mapping="sequential", good="true")
    assert study(folder, text).returncode == 0
    file = folder / "out/results.jsonl"
    theirs = [{**one, table: {**one[table], field: "another"}} for one in results(folder)]
    file.write_text("".join(f"{json.dumps(one)}\n" for one in theirs))
    done = study(folder, text)
    assert "3 results there are of another machine, version, build" in done.stderr
    assert "3 results that count" in done.stdout
    assert results(folder)[:3] == theirs
    assert [one["round"] for one in results(folder)[3:]] == [0, 1, 2]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('disk.dirct = "on"', "IOCOMP_DISK_DIRCT (environment): the nearest known one is"),
        ("disk.direct = true", 'disk.direct = "true" (environment IOCOMP_DISK_DIRECT): allowed'),
        ('files.stream.checksm = "none"', "unknown setting IOCOMP_FILES_STREAM_CHECKSM"),
    ],
)
def test_a_setting_that_the_library_does_not_take_runs_nothing(
    folder: Path, line: str, told: str
) -> None:
    done = study(folder, STREAM.format(rounds=1) + f"[series.settings]\n{line}\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert told in done.stderr
    assert not (folder / "out").exists()


def test_the_wall_of_a_silent_program_is_that_of_the_job(folder: Path) -> None:
    text = PRINTS.format(mapping="sequential", good="true").split("[[series]]")[0]
    text += """[[series]]
        client = "command"
        output = ["none", "async"]
        arguments = ["sleep", "0.2"]
        """
    done = study(folder, text)
    assert "3 results that count" in done.stdout
    assert "it did not write with iocomp, or did not reach iocomp_finalize" in done.stderr
    good = [one for one in results(folder) if not one["marks"]]
    assert {one["cell"]["output"] for one in good} == {"none"}
    assert all(one["seconds"]["wall"] == one["seconds"]["launch_to_end"] > 0.2 for one in good)


@pytest.mark.parametrize("number", ["NaN", "Infinity"])
def test_numbers_that_are_none_fail_the_run(folder: Path, number: str) -> None:
    text = PRINTS.format(mapping="sequential", good="true").replace("0.5", number)
    done = study(folder, text)
    assert done.returncode == 1
    assert f"wall is {float(number)}" in done.stderr
    assert "Traceback" not in done.stderr
    assert all(one["marks"] == ["failed"] for one in results(folder))


def test_what_cannot_be_read_or_written_ends_with_status_2_in_one_line(folder: Path) -> None:
    good = folder / "good.jsonl"
    good.write_text("")
    page = folder / "page.html"

    def status(*words: str, out: int | None = subprocess.PIPE) -> tuple[int, int]:
        line = [str(COMMAND), "study", *words]
        done = subprocess.run(
            line, stdout=out, stderr=subprocess.PIPE, text=True, timeout=60, check=False
        )
        assert "Traceback" not in done.stderr
        return done.returncode, len(done.stderr.splitlines())

    assert status("import", "archer2", "--out", "/proc/x") == (2, 1)
    assert status("report", str(folder / "none.jsonl"), "--out", str(page)) == (2, 1)
    assert status("report", str(good), "--out", "/proc/x/page.html") == (2, 1)
    assert status("run", str(folder)) == (2, 1)
    with open("/dev/full", "w") as full:
        assert status("report", str(good), "--out", str(page), out=full.fileno()) == (2, 1)
        assert status("report", "--help", out=full.fileno()) == (2, 1)


def test_a_fault_of_the_program_itself_ends_with_status_3_in_one_line(folder: Path) -> None:
    script = BUILD / "share/iocomp/studies/study.py"
    code = (
        f"import runpy, sys; sys.argv = ['study', 'report', {str(folder)!r}]; "
        f"sys.path.insert(0, {str(script.parent)!r}); import iocomp_studies.command as c; "
        "c.result_files = lambda places: 1 / 0; "
        f"runpy.run_path({str(script)!r}, run_name='__main__')"
    )
    done = subprocess.run(
        ["/usr/bin/python3", "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (3, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("iocomp study: a fault of iocomp (")
    assert "ZeroDivisionError: division by zero" in line


def test_ctrl_c_keeps_what_is_there_and_the_next_run_goes_on(folder: Path) -> None:
    started = subprocess.Popen(
        words(folder, STREAM.format(rounds=2)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    file = folder / "out/results.jsonl"
    deadline = time.monotonic() + 60
    while not (file.exists() and file.read_text().count("\n") >= 2):
        assert time.monotonic() < deadline
        assert started.poll() is None, started.communicate()
        time.sleep(0.02)
    os.killpg(started.pid, signal.SIGINT)
    out, err = started.communicate(timeout=30)
    assert started.returncode == 130, out + err
    assert "the same command goes on" in out
    kept = results(folder)
    assert 2 <= len(kept) < 12
    assert list((folder / "out").glob("work-*")) == []
    assert study(folder, STREAM.format(rounds=2)).returncode == 0
    found = results(folder)
    assert found[: len(kept)] == kept
    assert sorted(one["round"] for one in found if one["round"] >= 0) == [0] * 4 + [1] * 4


def test_data_that_did_not_verify_is_kept_and_marked(folder: Path) -> None:
    done = study(folder, PRINTS.format(mapping="sequential", good="false"))
    assert "0 results that count, 3 that are marked" in done.stdout, done.stdout + done.stderr
    found = results(folder)
    assert [one["marks"] for one in found] == [["not verified: file_verified"]] * 3
    assert {one["seconds"]["wall"] for one in found} == {0.5}


def test_a_mapping_that_was_not_the_one_asked_for_is_kept_and_marked(folder: Path) -> None:
    """By a launcher that puts both ranks on one CPU, whatever it is told."""
    about = json.loads((BUILD / "launcher.json").read_text())
    launcher = folder / "launcher"
    launcher.write_text(
        "#!/bin/sh\n"
        'for word; do shift; [ "$word" = 0,1 ] && word=0,0; set -- "$@" "$word"; done\n'
        f'exec {" ".join(word for word in about["mpiexec"] if word)} "$@"\n'
    )
    launcher.chmod(launcher.stat().st_mode | stat.S_IXUSR)
    (folder / "launcher.json").write_text(json.dumps({**about, "mpiexec": [str(launcher)]}))
    text = PRINTS.format(mapping="consecutive", good="true")
    if study(folder, text, "--dry-run").stdout.count("not possible"):
        pytest.skip("this machine has one core")
    done = study(folder, text, "--build", str(folder))
    assert "0 results that count, 3 that are marked" in done.stdout, done.stdout + done.stderr
    for one in results(folder):
        assert one["marks"] == ["wrong mapping: rank 1 sat on CPU 0, not on 1"]
    # The same program on the right CPUs counts.
    other = folder / "right"
    other.mkdir()
    assert "3 results that count, 0" in study(other, text).stdout


def test_a_client_that_was_not_built_is_told_and_the_others_run(folder: Path) -> None:
    about = json.loads((BUILD / "launcher.json").read_text())
    missing = {"hpl": "built without ScaLAPACK: it is not found"}
    (folder / "launcher.json").write_text(json.dumps({**about, "missing": missing}))
    text = PRINTS.format(mapping="sequential", good="true") + (
        '[[series]]\nclient = "hpl"\noutput = ["none", "async"]\n'
    )
    done = study(folder, text, "--build", str(folder))
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(missing["hpl"]) + done.stderr.count(missing["hpl"]) == 2
    assert "3 results that count, 0" in done.stdout, done.stdout
    assert {one["cell"]["client"] for one in results(folder)} == {"command"}


HPL = """
[study]
name = "hpl"
least = 1
most = 1
warm_up = 0
[[series]]
client = "hpl"
output = ["none", "idle", "sync", "async"]
mapping = ["sequential", "oversubscribe"]
size = "200,32"
arguments = ["--repetitions", "2"]
"""


def test_hpl_is_studied_in_every_way_and_has_its_figures(folder: Path) -> None:
    about = json.loads((BUILD / "launcher.json").read_text())
    if "hpl" in about["missing"]:
        pytest.skip(about["missing"]["hpl"])
    done = study(folder, HPL)
    assert done.returncode == 0, done.stdout + done.stderr
    found = results(folder)
    ways = {(one["cell"]["output"], one["cell"]["mapping"]) for one in found}
    assert ways == {
        ("none", "sequential"), ("sync", "sequential"), ("async", "sequential"),
        ("idle", "oversubscribe"), ("async", "oversubscribe"),
    }  # fmt: skip
    for one in found:
        assert one["marks"] == [], one
        assert one["checks"]["residual_passed"] is True
        assert one["values"]["gflop_per_second"] > 0
        assert {"hpl", "loop_per_repetition", "kernel.factor"} <= set(one["seconds"])
        if one["cell"]["output"] in ("sync", "async"):
            assert one["checks"]["file_verified"] is True
    line = [str(COMMAND), "study", "plot", str(folder / "out"), "--out", str(folder / "figures")]
    subprocess.run(line, capture_output=True, text=True, timeout=150, check=True)
    drawn = {path.name.split(".")[0] for path in (folder / "figures").iterdir()}
    for figure in ("hpl-rate", "hpl-parts", "hpl-loop"):
        assert any(name.startswith(figure) for name in drawn), drawn


def test_a_run_that_fails_is_told_and_the_others_go_on(folder: Path) -> None:
    text = PRINTS.format(mapping="sequential", good="true") + (
        '[[series]]\nclient = "command"\noutput = "sync"\n'
        'arguments = ["sh", "-c", "echo the disk is full >&2; exit 3"]\n'
        '[[series]]\nclient = "stream"\noutput = "sync"\narguments = ["--loops", "none"]\n'
        '[[series]]\nclient = "hpcg"\noutput = "sync"\nsize = "16"\n'
        'arguments = ["--grid", "1,2,1"]\n'
    )
    done = study(folder, text)
    assert done.returncode == 1
    told = {line for line in done.stderr.splitlines() if line.startswith("failed: ")}
    for client, reason in (
        ("command", "the disk is full"),
        ("stream", "--loops: Value none not in range 1 to"),
        ("hpcg", "hpcg: rank 0: --grid 1 x 2 x 1 has 2 places"),
    ):  # not what the launcher says of it
        begin = f"failed: {client}, sync, sequential"
        assert any(line.startswith(begin) and reason in line for line in told), done.stderr
    assert "3 results that count, 3 that are marked" in done.stdout, done.stdout
    stories = [one["failed"] for one in results(folder) if one["marks"]]
    assert any("the disk is full" in story for story in stories)


def test_figures_and_a_report_come_from_the_same_results(folder: Path, small: Path) -> None:
    shutil.copytree(small / "out", folder / "out")
    with (folder / "out/results.jsonl").open("a") as file:
        file.write('{"torn": ')
    out = folder / "out"

    def run(*more: str) -> subprocess.CompletedProcess[str]:
        line = [str(COMMAND), "study", *more]
        return subprocess.run(line, capture_output=True, text=True, timeout=150, check=True)

    drawn = run("plot", str(out), "--out", str(folder / "figures"), "--only", "stream-wall-mapping")
    assert {path.suffix for path in (folder / "figures").iterdir()} == {".svg", ".png"}
    assert "results.jsonl:9: torn" in drawn.stderr
    run("import", "archer2", "--out", str(folder / "published"))
    run("report", str(out), "--out", str(folder / "report.html"))
    page = (folder / "report.html").read_text()
    assert "results.jsonl:9: torn" in page
    assert "stream, async, oversubscribe, posix, 1 rank, 64 KiB" in page


def test_a_program_is_told_what_was_done(folder: Path, small: Path) -> None:
    shutil.copytree(small / "out", folder / "out")
    planned = json.loads(study(folder, STREAM.format(rounds=1), "--dry-run", "--json").stdout)
    assert all("words" in cell or "not_possible" in cell for cell in planned["cells"])
    assert planned["most_runs"] == 2 * len(planned["cells"])
    told = json.loads(study(folder, STREAM.format(rounds=1), "--json").stdout)
    assert told["results"] == str(folder / "out")
    assert (told["count"], told["marked"], told["failed"], told["stopped"]) == (4, 0, {}, False)
    page = folder / "page.html"
    report = [str(COMMAND), "study", "report", str(folder / "out"), "--out", str(page), "--json"]
    done = subprocess.run(report, capture_output=True, text=True, timeout=60, check=True)
    assert json.loads(done.stdout) == {"results": 8, "skipped": 0, "page": str(page)}


def test_a_missing_package_is_named(folder: Path) -> None:
    script = BUILD / "share/iocomp/studies/study.py"
    line = ["/usr/bin/python3", "-S", str(script), "run", "x.toml"]  # without Debian's packages
    done = subprocess.run(line, capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 2
    assert "has no typer, rich, numpy, matplotlib" in done.stderr
    assert "apt-get install python3-typer" in done.stderr
