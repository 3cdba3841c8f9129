# SPDX-License-Identifier: BSD-3-Clause
"""Datasets of ADIOS2: folders that appear, are replaced and survive a kill; steps that are whole or absent."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from actors import (
    INVALID_ARGUMENT,
    INVALID_SETTING,
    OK,
    OUT_OF_STAGING,
    STORAGE_FAILURE,
    TARGET_EXISTS,
    Actors,
    Job,
)
from files import dumped_steps, leftovers, mode_settings, skip_if_missing, values

from iocomp import open_files
from manifests import whole_manifest

ENGINES = ["BP5", "BP4"]


@pytest.fixture(autouse=True)
def _has_adios2(actors: Actors) -> None:
    skip_if_missing(actors.build, "adios2")


def file_settings(engine: str, **more: object) -> dict[str, Any]:
    return {"backend": "adios2", "engine": engine, **more}


def steps_of(actors: Actors, path: Path, engine: str) -> list[int]:
    """Check every value that ADIOS2 finds against what the actors put; return steps with variables."""
    first = whole_manifest(Path(f"{path}.json").read_bytes())["first_step"]
    found = []
    for step, variables in enumerate(dumped_steps(actors.build, path, engine), first):
        if variables:
            found.append(step)
        for name, read in variables.items():
            assert (read == values(read.dtype, read.size, step)).all(), f"{path}: {name} of step {step}"
    return found


def play(actors: Actors, lines: list[str], engine: str, **more: object) -> Job:
    folder = more.pop("folder", None)
    mode = str(more.pop("mode", "async"))
    settings = {**mode_settings(mode), **more.pop("settings", {})}
    settings["files"] = {"out": file_settings(engine, **more)}
    return actors.play("\n".join(lines), ranks=4, settings=settings, folder=folder, seconds=60)


@pytest.mark.parametrize("mode", ["async", "sync"])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_dataset_is_replaced_only_if_that_is_asked_for(actors: Actors, engine: str, mode: str) -> None:
    def lines(steps: int) -> list[str]:
        each = ["put out u by=columns", "end_step out"]
        return ["init", "open out series", "define out u float64 64x48", *(each * steps), "close out"]

    first = play(actors, lines(3), engine, mode=mode)
    assert not first.failures(), first
    path = first.folder / "out.bp"
    assert steps_of(actors, path, engine) == [0, 1, 2]
    refused = play(actors, lines(1)[:2], engine, mode=mode, folder=first.folder)
    assert {entry["code"] for entry in refused.calls("open")} == {TARGET_EXISTS}, refused
    assert steps_of(actors, path, engine) == [0, 1, 2]
    second = play(actors, lines(1), engine, mode=mode, folder=first.folder, existing="replace")
    assert not second.failures(), second
    assert steps_of(actors, path, engine) == [0]
    assert not leftovers(first.folder), second


@pytest.mark.parametrize("engine", ENGINES)
def test_a_folder_of_the_user_is_not_replaced(actors: Actors, engine: str, tmp_path: Path) -> None:
    (tmp_path / "out.bp").mkdir()
    (tmp_path / "out.bp" / "thesis.tex").write_text("years of work")
    job = play(actors, ["init", "open out series"], engine, folder=tmp_path, existing="replace")
    assert job.failures(call="open"), job
    assert "no dataset" in job.failures(call="open")[0]["story"], job
    assert (tmp_path / "out.bp" / "thesis.tex").read_text() == "years of work"


@pytest.mark.parametrize(("mode", "victim"), [("async", 3), ("async", 1), ("sync", 1)])
@pytest.mark.parametrize("kind", ["series", "checkpoint"])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_killed_rank_tears_no_dataset(
    actors: Actors, engine: str, kind: str, mode: str, victim: int
) -> None:
    lines = ["init", f"open out {kind}", "define out u int64 256x512"]
    for step in range(3):
        lines += ["put out u by=columns", "end_step out", f"wait_step out {step}"]
    lines += ["barrier", "put out u by=columns", "end_step out", "put out u by=columns"]
    lines += [f"@0 kill {victim}", "end_step out", "put out u by=columns", "end_step out", "close out"]
    job = play(actors, lines, engine, mode=mode)
    assert job.calls("kill"), job
    committed = {e["step"] for e in job.calls("wait_step", file="out") if e["code"] == OK}
    assert committed >= {0, 1, 2}, job
    if kind == "series":
        assert set(steps_of(actors, job.folder / "out.bp", engine)) >= committed, job
    else:
        for path in job.folder.glob("out.*.bp"):
            assert steps_of(actors, path, engine) == [int(path.name.split(".")[1])], job
        assert len(list(job.folder.glob("out.*.bp"))) >= len(committed), job
    # The next job clears away what this one left.
    lines = ["init", "open out checkpoint", "define out u int64 8x8", "put out u", "close out"]
    after = play(actors, lines, engine, folder=job.folder, existing="replace")
    assert not after.failures(), after
    assert not leftovers(job.folder), after


def test_a_step_larger_than_the_staging_memory_is_absent_and_the_others_are_there(actors: Actors) -> None:
    lines = ["init", "open out series", "define out u float64 1024x512", "define out v float64 64x8"]
    for step in range(3):
        lines += [f"put out {'u' if step == 1 else 'v'}", "end_step out", f"wait_step out {step}"]
    lines += ["close out"]
    job = play(actors, lines, "BP5", settings={"staging": {"memory": "256 KiB"}})
    assert job.status == 0, job
    told = job.failures(call="wait_step")
    assert {(entry["step"], entry["code"]) for entry in told} == {(1, OUT_OF_STAGING)}, job
    assert "whole steps" in told[0]["story"] and "staging.memory" in told[0]["story"], told[0]
    assert steps_of(actors, job.folder / "out.bp", "BP5") == [0, 2]


@pytest.mark.parametrize("mode", ["async", "sync"])
def test_a_block_cannot_be_waited_for_as_written_before_its_step_ends(actors: Actors, mode: str) -> None:
    lines = ["init", "open out series", "define out u int64 8x8", "define out v int64 8x8"]
    lines += ["put out u", "wait out written", "put out v"]  # u is still in use
    lines += ["end_step out", "put out u", "end_step out", "wait out durable", "close out"]
    job = play(actors, lines, "BP5", mode=mode)
    for rank in job.ranks():
        codes = [entry["code"] for entry in job.calls("wait", rank=rank)]
        assert codes in ([INVALID_ARGUMENT, OK, OK, OK], []), job
    assert "end_step" in job.failures(call="wait")[0]["story"], job
    assert steps_of(actors, job.folder / "out.bp", "BP5") == [0, 1]


def test_bad_settings_are_told(actors: Actors) -> None:
    job = play(actors, ["init", "open out series"], "BP6")
    assert "BP6" in job.output + str(job.entries) and "BP5" in job.output + str(job.entries), job
    job = play(actors, ["init", "open out series"], "BP5", hints="AsyncWrite=On")
    told = job.calls("open")
    assert {entry["code"] for entry in told} == {INVALID_SETTING}, job
    assert "AsyncWrite" in told[0]["story"], job


@pytest.mark.parametrize("mode", ["async", "sync"])
def test_variables_pass_the_operator_that_was_asked_for(actors: Actors, mode: str) -> None:
    engine = "BP5"
    lines = ["init", "open out series", "define out u float64 64x480", "define out n int64 64x480"]
    each = ["put out u by=columns", "put out n by=rows", "end_step out"]
    lines += [*(each * 2), "close out"]
    chosen = {"operator": "bzip2", "variables": {"n": {"operator": ""}}}
    job = play(actors, lines, engine, mode=mode, **chosen)
    told = " ".join(entry.get("story", "") for entry in job.calls("open"))
    if "no such operator" in told:
        pytest.skip("this ADIOS2 was built without bzip2")
    assert not job.failures(), job
    path = job.folder / "out.bp"
    assert steps_of(actors, path, engine) == [0, 1]
    plain = play(actors, lines, engine, mode=mode)
    assert not plain.failures(), plain

    def size(folder: Path) -> int:
        return sum(each.stat().st_size for each in folder.rglob("data.*"))

    u = n = 64 * 480 * 8 * 2
    assert size(plain.folder / "out.bp") >= u + n
    assert n < size(path) < n + 0.5 * u


def test_an_operator_that_is_not_there_is_refused(actors: Actors) -> None:
    for chosen in (
        {"operator": "nothing"},
        {"operator": "bzip2", "engine": "HDF5"},
        {"operator": "BZip2", "engine": "BP4"},  # it would end the program
    ):
        engine = str(chosen.pop("engine", "BP5"))
        job = play(actors, ["init", "open out series"], engine, **chosen)
        told = {(entry["code"], "operator = " in entry["story"]) for entry in job.calls("open")}
        assert told == {(INVALID_SETTING, True)}, job


@pytest.mark.parametrize("engine", ENGINES)
def test_a_pipe_in_a_dataset_is_refused(actors: Actors, engine: str) -> None:
    lines = ["init", "open out series", "define out u float64 64x48", "put out u by=columns"]
    written = play(actors, [*lines, "end_step out", "close out"], engine)
    assert not written.failures(), written
    (written.folder / "out.bp.json").unlink()  # its sizes would tell of the pipe
    for path in sorted((written.folder / "out.bp").iterdir()):
        whole = path.read_bytes()
        path.unlink()
        os.mkfifo(path)
        read = play(actors, ["init", "read out"], engine, folder=written.folder)
        assert {entry["code"] for entry in read.calls("read")} == {STORAGE_FAILURE}, read
        assert "is a pipe, not a file" in read.failures()[0]["story"], read
        path.unlink()
        path.write_bytes(whole)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_dataset_that_lacks_a_file_is_left_out(actors: Actors, engine: str) -> None:
    lines = ["init", "open out checkpoint", "define out u float64 64x48"]
    lines += ["put out u by=columns", "end_step out"] * 2
    written = play(actors, [*lines, "close out"], engine)
    assert not written.failures(), written
    newest = written.folder / "out.000001.bp"
    manifest = Path(f"{newest}.json")
    for path in sorted(newest.iterdir()):
        whole = path.read_bytes()
        path.unlink()
        read = play(actors, ["init", "read out"], engine, folder=written.folder)
        assert not read.failures(), read
        found = {(*entry["steps"], *entry["left_out"], entry["right"]) for entry in read.calls("read")}
        assert found == {(0, 1, True)}, read
        if path.name.startswith("md"):
            told, _ = manifest.read_bytes(), manifest.unlink()
            read = play(actors, ["init", "read out step=1"], engine, folder=written.folder)
            assert {entry["code"] for entry in read.calls("read")} == {STORAGE_FAILURE}, read
            manifest.write_bytes(told)
        path.write_bytes(whole)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_is_not_read_of_others_is_named(actors: Actors, engine: str) -> None:
    """A local array has no shape, as a scalar has none, and all of its values."""
    path = actors.folder / "theirs.bp"
    subprocess.run([actors.build.dump_adios2, str(path), engine], check=True, timeout=60)
    with open_files(path) as files:
        assert files.variables() == ["grid"]
        np.testing.assert_array_equal(files.read("grid", 1), [1.5] * 4)
        assert files.not_read == {
            "local": "a local array: each writer has its own",
            "time": "a local array: each writer has its own",
            "text": "its type is string",
            "deep": "an array of 9 dimensions",
        }


@pytest.mark.parametrize("mode", ["async", "sync"])
@pytest.mark.parametrize("engine", ENGINES)
def test_an_environment_without_home_is_enough(actors: Actors, engine: str, mode: str) -> None:
    """ADIOS2 looks for settings of the user there."""
    lines = ["init", "open out series", "define out u float64 64x48", "put out u by=columns"]
    job = actors.play(
        "\n".join([*lines, "close out", "read out"]),
        ranks=4,
        settings={**mode_settings(mode), "files": {"out": file_settings(engine, path="out.bp")}},
        prefix=["env", "-u", "HOME"],
    )
    assert job.status == OK and not job.failures(), job
    without = {name: value for name, value in os.environ.items() if name != "HOME"}
    command = [actors.build.command, "show", str(job.folder / "out.bp")]
    assert subprocess.run(command, env=without, check=False, capture_output=True).returncode == 0
