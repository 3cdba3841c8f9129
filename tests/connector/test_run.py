# SPDX-License-Identifier: BSD-3-Clause
"""`iocomp run` finds the plugin for a program, or says in one line why there is none."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

from conftest import Programs, for_another_hdf5

NONE = {"connector": False, "late": None, "settings": {}}


def run(programs: Programs, *words: object, ranks: int = 1) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*programs.launcher, str(ranks), programs.command, "run", *map(str, words)],
        env=programs.environment(**NONE),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_program_runs_with_the_plugin(programs: Programs, tmp_path: Path) -> None:
    for words in ([], ["--"]):
        done = run(programs, *words, f"{programs.folder}/traps", "records", tmp_path, ranks=2)
        assert done.returncode == 0, done.stderr
        assert "of HDF5's writes taken" in done.stderr, done.stderr


def test_an_interpreter_may_load_hdf5_later(programs: Programs) -> None:
    program = (
        "import os, signal;"
        "print(os.environ['HDF5_VOL_CONNECTOR'], signal.pthread_sigmask(signal.SIG_BLOCK, []))"
    )
    done = run(programs, "/usr/bin/python3", "-c", program)
    assert done.stdout.split() == ["iocomp", "set()"], done.stdout + done.stderr


def test_the_variables_are_told_and_nothing_starts(programs: Programs, tmp_path: Path) -> None:
    words = [f"{programs.folder}/traps", "records", str(tmp_path)]
    done = run(programs, "--dry-run", "--json", *words)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["words"] == words
    assert told["environment"]["HDF5_VOL_CONNECTOR"] == "iocomp"
    line = run(programs, "--dry-run", *words).stdout
    assert f"HDF5_PLUGIN_PATH={told['environment']['HDF5_PLUGIN_PATH']} " in line
    assert not list(tmp_path.iterdir())
    refused = run(programs, "--dry-rum", *words)
    assert refused.returncode == 2
    assert 'did you mean "--dry-run"?' in refused.stderr


def test_what_cannot_be_is_said_in_one_line(programs: Programs, tmp_path: Path) -> None:
    fake = tmp_path / "static"
    fake.write_text("#!/bin/sh\n# HDF5_PLUGIN_PATH is a word that a static HDF5 has\n")
    fake.chmod(0o755)
    other = for_another_hdf5(Path(programs.folder) / "traps", tmp_path)
    told = {
        "; the plugin here is for libhdf5.so.": other,
        "there is no program": "no-such-program",
        "an HDF5 before 1.14": shutil.which("h5dump"),
        "linked statically": fake,
        "needs a program": "--",
    }
    for words, program in told.items():
        words_of_command = [programs.command, "run", str(program)]
        done = subprocess.run(
            words_of_command, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 2, done
        assert words in done.stderr, done.stderr
        assert done.stderr.count("\n") == 1, done.stderr
