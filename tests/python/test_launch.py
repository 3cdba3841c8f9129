# SPDX-License-Identifier: BSD-3-Clause
import json
from pathlib import Path

import pytest

from iocomp_studies.launch import PIN, Build, Launch, RunFailedError, environment_of


def make_build(directory: Path, program: str) -> Build:
    """A build whose launcher drops "-n <ranks>" and whose only program is a shell script."""
    launcher = directory / "mpiexec"
    launcher.write_text('#!/bin/sh\nshift 2\nexec "$@"\n')
    script = directory / "program"
    script.write_text(f"#!/bin/sh\n{program}\n")
    for path in (launcher, script):
        path.chmod(0o755)
    about = {"mpiexec": [str(launcher)], "ranks_flag": "-n", "build_type": "Release"}
    (directory / "launcher.json").write_text(json.dumps(about))
    return Build.read(directory)


def test_settings_become_environment_variables() -> None:
    settings = {"mode": "sync", "files.stream.path": "/x"}
    assert environment_of(settings) == {"IOCOMP_MODE": "sync", "IOCOMP_FILES_STREAM_PATH": "/x"}


def test_there_is_a_rank_for_every_core(tmp_path: Path) -> None:
    build = make_build(tmp_path, "")
    command = build.command(Launch("program", ("--x",), (0, 1, 0)))
    assert command[1:5] == ["-n", "3", str(PIN), "0,1,0"]
    assert command[-1] == "--x"


def test_the_result_and_the_core_of_a_run_come_back(tmp_path: Path) -> None:
    build = make_build(
        tmp_path,
        'cpus=$(taskset -cp $$ | sed "s/.*: //")\n'
        'echo "{\\"mode\\": \\"$IOCOMP_MODE\\", \\"cpus\\": \\"$cpus\\"}" > "$2"',
    )
    assert build.run(Launch("program", (), (0,), {"mode": "sync"})) == {"mode": "sync", "cpus": "0"}


def test_settings_around_the_measurement_do_not_reach_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IOCOMP_MODE", "sync")
    build = make_build(tmp_path, 'echo "{\\"mode\\": \\"$IOCOMP_MODE\\"}" > "$2"')
    assert build.run(Launch("program", (), (0,))) == {"mode": ""}


def test_a_failure_tells_what_the_program_printed(tmp_path: Path) -> None:
    build = make_build(tmp_path, "echo disk is full >&2; exit 3")
    with pytest.raises(RunFailedError, match=r"(?s)IOCOMP_MODE=sync.*exit code 3.*disk is full"):
        build.run(Launch("program", (), (0,), {"mode": "sync"}))
