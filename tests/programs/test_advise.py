# SPDX-License-Identifier: BSD-3-Clause
"""`iocomp advise` as a user calls it: what it says, writes, runs and refuses."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

BUILD = Path(os.environ["IOCOMP_BUILD"])
COMMAND = BUILD / "tools/iocomp"
HEAT = BUILD / "apps/heat/heat"
SIZES = ("--bytes-per-step", "64 MiB", "--seconds-per-step", "2")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some results of ARCHER2: a machine that takes no time to measure, nor to fit the model to."""
    out = tmp_path_factory.mktemp("published")
    words = [str(COMMAND), "study", "import", "archer2", "--out", str(out)]
    subprocess.run(words, check=True, capture_output=True, timeout=60)
    file = out / "archer2.jsonl"
    lines = [line for line in file.read_text().splitlines() if '"client":"stream"' in line]
    file.write_text("\n".join(lines[::3]) + "\n")
    return out


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=BUILD) as name:
        yield Path(name)


def advise(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(COMMAND), "advise", *words],
        cwd=folder, capture_output=True, text=True, timeout=150, check=False,
    )  # fmt: skip


def found(folder: Path, *words: str) -> dict[str, Any]:
    done = advise(folder, "--json", *words)
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_sizes_and_results_are_enough_for_an_answer_with_its_error(
    folder: Path, published: Path
) -> None:
    done = advise(folder, *SIZES, "--from", str(published), "--backend", "hdf5")
    assert done.returncode == 0, done.stderr
    assert "Take kernel, hdf5." in done.stdout
    assert "The model is fitted to 20 ways of writing" in done.stdout
    assert "Each predicted from the others: median" in done.stdout
    assert list(folder.iterdir()) == []


def test_what_is_allowed_decides_what_is_compared(folder: Path, published: Path) -> None:
    one = found(folder, *SIZES, "--from", str(published), "--backend", "hdf5", "--scattered")
    assert "kernel" in one["not_possible"]
    assert {choice["way"]["name"] for choice in one["choices"]} >= {"synchronous", "oversubscribe"}
    library = found(folder, *SIZES, "--from", str(published), "--backend", "mpiio")
    assert "kernel, mpiio" in library["not_possible"]
    alone = found(
        folder, *SIZES, "--from", str(published), "--mapping", "oversubscribe", "--ranks", "4",
        "--topology", "pack:1 core:4 pu:1",
    )  # fmt: skip
    ratios = sorted(choice["way"]["servers"] for choice in alone["choices"])
    assert ratios == [1, 2, 4]
    assert alone["settings"]["staging.memory"] == "80 MiB"
    assert alone["settings"]["mode"] == "async"


def test_without_results_the_machine_is_measured(folder: Path) -> None:
    done = advise(folder, *SIZES)
    assert done.returncode == 0, done.stderr
    assert "Measured now: copy" in done.stdout
    assert "the error is not known" in done.stdout


def test_settings_that_are_written_are_told_inside_the_json(folder: Path, published: Path) -> None:
    one = found(folder, *SIZES, "--from", str(published), "--apply")
    assert one["written"] == "iocomp.toml"
    assert (folder / "iocomp.toml").exists()


@pytest.mark.skipif(not HEAT.exists(), reason="needs apps/heat")
def test_a_program_is_run_once_and_the_settings_are_written_and_right(
    folder: Path, published: Path
) -> None:
    words = ("--from", str(published), "--apply", "--check", "--", str(HEAT))
    sizes = ("--size", "32", "--steps", "40", "--every", "20")
    done = advise(folder, *words, *sizes)
    assert done.returncode == 0, done.stderr
    assert "in calls of iocomp for each step" in done.stdout
    assert "checked:" in done.stdout
    config = subprocess.run(
        [str(COMMAND), "config"], cwd=folder, capture_output=True, text=True, check=True, timeout=60
    )
    lines = config.stdout.splitlines()
    assert any(line.startswith("mode") and "iocomp.toml" in line for line in lines)
    again = advise(folder, *SIZES, "--from", str(published), "--apply")
    assert again.returncode == 2
    assert "iocomp.toml is there already" in again.stderr
    assert advise(folder, *SIZES, "--from", str(published), "--apply", "--replace").returncode == 0
    assert sorted(path.name for path in folder.iterdir()) == ["iocomp.toml"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "tell the program in one of three ways"),
        (("--", "true"), "wanted is a program that puts with iocomp"),
        (("--", "cat", "input.txt"), "in an empty directory, without your settings: name its input"),
        (("--bytes-per-step", "infGiB", "--seconds-per-step", "1"), "it must be a number of bytes"),
        (("--", "no-such-program"), "no-such-program: exit code"),
        (("--bytes-per-step", "1 GiB"), "--seconds-per-step is missing"),
        (("--bytes-per-step", "much", "--seconds-per-step", "1"), "--bytes-per-step much: it must"),
        (("--bytes-per-step", "1 GiB", "--seconds-per-step", "-1"), "--seconds-per-step -1"),
        ((*SIZES, "--backend", "hdf6"), "--backend hdf6: allowed are posix"),
        ((*SIZES, "--mapping", "here"), "--mapping here: allowed are sequential"),
        ((*SIZES, "--from", "nowhere"), "nowhere: no results"),
        ((*SIZES, "--check"), "--check needs the program"),
        (("--run", "nothing.json"), "nothing.json"),
        ((*SIZES, "--mapping", "hyperthread", "--topology", "pack:1 core:1 pu:1"),
         "nothing that is allowed is possible"),
    ],
)  # fmt: skip
def test_a_mistake_is_told(folder: Path, words: tuple[str, ...], told: str) -> None:
    done = advise(folder, *words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert told in done.stderr
    assert "Traceback" not in done.stderr
