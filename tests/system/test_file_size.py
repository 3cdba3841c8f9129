# SPDX-License-Identifier: BSD-3-Clause
"""A limit of file sizes (`ulimit -f`): told as "File too large", and never the end of a process."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from actors import OK, STORAGE_FAILURE, Actors, Build, Job
from files import (
    FORMATS,
    MODES,
    check_file,
    extension,
    file_settings,
    leftovers,
    mode_settings,
    skip_if_missing,
)
from processes import environment_without_iocomp

WAYS = [
    (f, m)
    for f in FORMATS
    for m in MODES
    if m != "kernel" or f.partition("-")[0] in ("posix", "hdf5", "netcdf", "pnetcdf")
]
# The limit is reached by values, or by what describes them.
LIMITS = {"values": (1_500_000, "1024x512"), "metadata": (20_000, "8x8")}


def script(limit: int, shape: str, kind: str, ranks: int) -> str:
    lines = ["init", *(f"@0 limit_file_size {limit} of={rank}" for rank in range(ranks)), "barrier"]
    lines += [f"open out {kind}", f"define out u int64 {shape} seed=3"]
    lines.append(f"attribute out about {'x' * 30_000}")
    for step in range(3):
        lines += ["put out u", "end_step out", f"wait_step out {step}"]
    lines += [
        "close out",
        "open next series",
        "define next u int64 8x8",
        "put next u",
        "end_step next",
        "close next",
    ]
    return "\n".join(lines)


def check_told(job: Job) -> None:
    assert job.status == 0, job
    told = job.failures(file="out")
    assert told, job
    for entry in told:
        assert entry["code"] == STORAGE_FAILURE, entry
    assert any("File too large" in entry["story"] for entry in told), job
    # The next file is small enough.
    assert not job.failures(file="next"), job


@pytest.mark.parametrize("what", LIMITS)
@pytest.mark.parametrize("kind", ["series", "checkpoint"])
@pytest.mark.parametrize(("back_end", "mode"), WAYS)
def test_too_large_is_told(actors: Actors, back_end: str, mode: str, kind: str, what: str) -> None:
    skip_if_missing(actors.build, back_end)
    if kind == "checkpoint" and back_end.endswith(("-time", "hdf5-deflate")):
        pytest.skip("there is no such thing")
    limit, shape = LIMITS[what]
    path = f"out{extension(back_end)}"
    ranks = 4 if mode == "async" else 2
    job = actors.play(
        script(limit, shape, kind, ranks),
        ranks=ranks,
        settings={
            **mode_settings(mode),
            "files": {"out": file_settings(back_end, path=path), "next": {"path": "next.dat"}},
        },
        alone=True,
    )
    check_told(job)
    assert check_file(job.folder / "next.dat") == {0}
    committed = [entry["step"] for entry in job.calls("wait_step", file="out", code=OK)]
    assert not committed or (job.folder / path).exists() or kind == "checkpoint", job
    assert not leftovers(job.folder), job


def limited(
    build: Build, words: list[str], folder: Path, kib: int = 0
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "-c", f'ulimit -f {kib}; exec "$@"', "bash", *words],
        cwd=folder,
        env=environment_without_iocomp(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@pytest.fixture
def written(actors: Actors) -> Path:
    """Return a folder with a series, a timeline and what a job has left."""
    lines = "init\nopen out series\ndefine out u int64 8x8\nput out u\nend_step out\nclose out\n"
    job = actors.play(
        lines,
        ranks=2,
        settings={
            "mode": "sync",
            "trace": {"timeline": "trace", "lines": "none"},
            "files": {"out": file_settings("hdf5", path="out.h5")},
        },
    )
    assert not job.failures(), job
    return job.folder


PLACE = ["--mapping", "consecutive", "--ranks", "2", "--topology", "archer2"]
COMMANDS = {
    "recover": ["recover", "out.h5"],
    "trace as events": ["trace", "trace", "--perfetto", "trace.json"],
    "trace as a picture": ["trace", "trace", "--picture", "trace.svg"],
    "map as a picture": ["map", *PLACE, "--picture", "map.svg"],
    "map with settings": ["map", *PLACE, "--settings", "iocomp.toml"],
    "launch": ["launch", "--mapping", "sequential", "--ranks", "1", "--", "true"],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_that_write_tell_it(actors: Actors, written: Path, command: str) -> None:
    if command == "recover":
        (written / "out.h5.json").unlink()
    done = limited(actors.build, [actors.build.command, *COMMANDS[command]], written)
    assert done.returncode > 0, done
    assert "File too large" in done.stdout + done.stderr, done


def test_what_is_launched_has_the_signal_as_usual(actors: Actors, tmp_path: Path) -> None:
    """The launcher and the program end by it, unless they do something about it."""
    launch = ["launch", "--mapping", "sequential", "--kernel", "--ranks", "1", "--"]
    words = [actors.build.command, *launch, "truncate", "--size", "100M"]
    assert limited(actors.build, [*words, "small"], tmp_path, kib=200 << 10).returncode == 0
    done = limited(actors.build, [*words, "large"], tmp_path, kib=64 << 10)
    assert done.returncode != 0 and "File too large" not in done.stderr, done
