# SPDX-License-Identifier: BSD-3-Clause
"""A path is resolved once, and nothing that others put under a name is followed or waited for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from actors import OK, STORAGE_FAILURE, Actors, Job
from files import (
    ALL_WAYS,
    READABLE_WAYS,
    check_file,
    extension,
    file_settings,
    leftovers,
    mode_settings,
    skip_if_missing,
)

KINDS = ["series", "checkpoint"]
READABLE = {back_end for back_end, _ in READABLE_WAYS}  # by `check_file`
SECRET = "of somebody else\n"


def settings(back_end: str, mode: str, **more: object) -> dict[str, Any]:
    file = file_settings(back_end, path=f"out{extension(back_end)}", **more)
    return {**mode_settings(mode), "files": {"out": file}}


def script(kind: str, before: str = "", between: str = "") -> str:
    """Return three steps of one variable, with lines before `init` and after the first step."""
    lines = [before, "init", f"open out {kind}", "define out u int64 64x32"]
    for step in range(3):
        lines += ["put out u", "barrier", "end_step out", f"wait_step out {step}"]
        lines += ["barrier", between, "barrier"] if step == 0 else []
    return "\n".join([*filter(None, lines), "close out"])


def check_read(job: Job) -> None:
    """Check what the job itself has read."""
    assert job.calls("read"), job
    for read in job.calls("read"):
        assert (read["steps"], read["right"]) == ([0, 1, 2], True), job


def files_of(job: Job, back_end: str, kind: str) -> list[tuple[Path, set[int]]]:
    """Return its files, and the steps of each."""
    ending = extension(back_end)
    if kind == "series":
        return [(job.folder / f"out{ending}", {0, 1, 2})]
    return [(job.folder / f"out.{step:06}{ending}", {step}) for step in range(3)]


def check_steps(job: Job, back_end: str, kind: str) -> None:
    """Check that all of them lie where the program was started, and nothing else does."""
    assert not job.failures(), job
    assert job.status == 0, job
    check_read(job)
    assert not leftovers(job.folder), job
    for path, steps in files_of(job, back_end, kind):
        assert back_end not in READABLE or check_file(path) == steps, job


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("back_end", "mode"), ALL_WAYS)
def test_the_working_directory_may_change(
    actors: Actors, back_end: str, mode: str, kind: str
) -> None:
    skip_if_missing(actors.build, back_end)
    job = actors.play(
        script(kind, "@0 make_folder other", "enter other") + "\nenter ..\nread out",
        ranks=4,
        settings=settings(back_end, mode),
    )
    check_steps(job, back_end, kind)
    assert not list((job.folder / "other").iterdir()), job


@pytest.mark.parametrize(("back_end", "mode"), ALL_WAYS)
def test_ranks_in_different_directories_are_told(actors: Actors, back_end: str, mode: str) -> None:
    """By the launcher, as `mpirun -n 1 -wdir a program : -n 1 -wdir b program` does."""
    skip_if_missing(actors.build, back_end)
    folder = actors.folder / "job"
    parts = [folder / name for name in "abab"]  # 0 and 1 compute in each mode
    for part in parts:
        part.mkdir(parents=True, exist_ok=True)
    line = " : ".join(f'-n 1 -wdir {part} "$@"' for part in parts)
    job = actors.play(
        script("series"),
        ranks=len(parts),
        settings=settings(back_end, mode),
        folder=folder,
        launcher=["sh", "-c", f"exec {actors.build.launcher[0]} {line}", "sh"],
        environment={"IOCOMP_CONFIG": str(folder / "iocomp.toml")},
    )
    assert job.status == 0, job
    told = job.failures(file="out")
    assert {entry["rank"] for entry in told} == {e["rank"] for e in job.calls("open")}, job
    assert any("means another folder" in entry["story"] for entry in told), job
    assert not list(folder.glob("?/out*")), job
    assert not leftovers(folder, *parts), job


@pytest.mark.parametrize("planted", ["LINK", "PIPE"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("back_end", "mode"), ALL_WAYS)
def test_what_others_put_under_a_new_name_is_removed(
    actors: Actors, back_end: str, mode: str, kind: str, planted: str
) -> None:
    """Each name is free when it is looked at, and taken when it is opened."""
    skip_if_missing(actors.build, back_end)
    private = actors.folder / "private"
    private.write_text(SECRET)
    fault = f"fault open {planted} to={private} path=.out times=4"
    job = actors.play(
        script(kind, fault) + "\nread out", ranks=4, settings=settings(back_end, mode)
    )
    assert private.read_text() == SECRET, job
    check_steps(job, back_end, kind)


def strikes(
    actors: Actors, back_end: str, mode: str, kind: str, fault: str, whom: str = ""
) -> bool:
    """Play one fault: nothing of it is followed, and it is told if a value is lost.

    Returns:
        Whether any rank came to the call.
    """
    private, sign = actors.folder / "private", actors.folder / "sign"
    private.write_text(SECRET)
    sign.unlink(missing_ok=True)
    fault = f"{whom}fault {fault} to={private} sign={sign}"
    job = actors.play(script(kind, fault), ranks=4, settings=settings(back_end, mode, keep=3))
    assert private.read_text() == SECRET, job
    assert job.status == 0, job
    assert {entry["code"] for entry in job.failures()} <= {OK, STORAGE_FAILURE}, job
    if not job.failures() and back_end in READABLE:
        for path, steps in files_of(job, back_end, kind):
            assert path.is_symlink() or check_file(path) == steps, job
    has_struck = sign.exists()
    job.forget()
    return has_struck


@pytest.mark.parametrize("planted", ["LINK", "PIPE", "SWAP"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("back_end", "mode"), ALL_WAYS)
def test_what_others_put_at_the_lock_is_told(
    actors: Actors, back_end: str, mode: str, kind: str, planted: str
) -> None:
    skip_if_missing(actors.build, back_end)
    assert strikes(actors, back_end, mode, kind, f"open {planted} path=iocomp-lock")


@pytest.mark.parametrize("whom", ["", "@0 ", "@!0 "])
@pytest.mark.parametrize("call", ["open", "open_to_read"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("back_end", "mode"), ALL_WAYS)
def test_what_others_swap_is_not_followed(
    actors: Actors, back_end: str, mode: str, kind: str, call: str, whom: str
) -> None:
    """Whatever was there when it was looked at is a link when it is opened: told, or no harm.

    Each open of the job has its turn: alone, of `whom`, and with all that come after it.
    """
    skip_if_missing(actors.build, back_end)
    for times in (1, -1):
        after = 0
        while strikes(
            actors, back_end, mode, kind, f"{call} SWAP after={after} times={times} path=out", whom
        ):
            after += 1
        assert after > 0 or whom, "nobody has opened anything"
