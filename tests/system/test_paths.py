# SPDX-License-Identifier: BSD-3-Clause
"""A path is resolved once, and nothing that others put under a name is followed or waited for."""

from __future__ import annotations

from typing import Any

import pytest
from actors import OK, STORAGE_FAILURE, Actors, Job
from files import (
    ALL_WAYS,
    READABLE_WAYS,
    WAYS,
    check_file,
    extension,
    file_settings,
    leftovers,
    mode_settings,
    skip_if_missing,
)

KINDS = ["series", "checkpoint"]
SECRET = "of somebody else\n"


def settings(back_end: str, mode: str, **more: object) -> dict[str, Any]:
    file = file_settings(back_end, path=f"out{extension(back_end)}", **more)
    return {**mode_settings(mode), "files": {"out": file}}


def script(kind: str, before: str = "", between: str = "") -> str:
    """Return three steps of one variable, with lines before `init` and after the first step."""
    lines = [before, "init", f"open out {kind}", "define out u int64 64x32"]
    for step in range(3):
        lines += ["put out u", "end_step out", f"wait_step out {step}"]
        lines += ["barrier", between, "barrier"] if step == 0 else []
    return "\n".join([*filter(None, lines), "close out"])


def check_steps(job: Job, back_end: str, kind: str) -> None:
    """Check that all of them lie where the program was started, and nothing else does."""
    assert not job.failures(), job
    assert job.status == 0, job
    ending = extension(back_end)
    names = [f"out.{step:06}{ending}" for step in range(3)]
    if kind == "series":
        assert check_file(job.folder / f"out{ending}") == {0, 1, 2}, job
    else:
        assert [check_file(job.folder / name) for name in names] == [{0}, {1}, {2}], job
    assert not leftovers(job.folder), job


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("back_end", "mode"), READABLE_WAYS)
def test_the_working_directory_may_change(
    actors: Actors, back_end: str, mode: str, kind: str
) -> None:
    skip_if_missing(actors.build, back_end)
    job = actors.play(
        script(kind, "@0 make_folder other", "enter other"),
        ranks=4,
        settings=settings(back_end, mode),
    )
    check_steps(job, back_end, kind)
    assert not list((job.folder / "other").iterdir()), job


@pytest.mark.parametrize(("back_end", "mode"), ALL_WAYS)
def test_ranks_in_different_directories_are_told(actors: Actors, back_end: str, mode: str) -> None:
    skip_if_missing(actors.build, back_end)
    job = actors.play(
        script("series", "@0 make_folder a\n@0 make_folder b", "").replace(
            "open out", "barrier\n@!1 enter a\n@1 enter b\nopen out"
        ),
        ranks=4,
        settings=settings(back_end, mode),
    )
    assert job.status == 0, job
    told = job.failures(file="out")
    assert {entry["rank"] for entry in told} == {e["rank"] for e in job.calls("open")}, job
    assert any("means another folder" in entry["story"] for entry in told), job
    assert not list(job.folder.glob("?/out*")), job
    assert not leftovers(job.folder / "a", job.folder / "b"), job


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
    for read in job.calls("read"):
        assert (read["steps"], read["right"]) == ([0, 1, 2], True), job
    if (back_end, mode) in READABLE_WAYS:
        check_steps(job, back_end, kind)
    assert not job.failures(), job
    assert not leftovers(job.folder), job


@pytest.mark.parametrize(
    ("call", "after"), [*(("open", after) for after in range(5)), ("open_to_read", 0)]
)
@pytest.mark.parametrize(("back_end", "mode"), WAYS)
def test_what_others_swap_is_not_followed(
    actors: Actors, back_end: str, mode: str, call: str, after: int
) -> None:
    """Whatever was there when it was looked at is a link when it is opened: told, or no harm."""
    skip_if_missing(actors.build, back_end)
    private = actors.folder / "private"
    private.write_text(SECRET)
    fault = f"fault {call} SWAP to={private} after={after} path=out"
    job = actors.play(script("series", fault), ranks=4, settings=settings(back_end, mode))
    assert private.read_text() == SECRET, job
    assert job.status == 0, job
    assert {entry["code"] for entry in job.failures()} <= {OK, STORAGE_FAILURE}, job
    path = job.folder / f"out{extension(back_end)}"
    if not job.failures() and not path.is_symlink():
        assert check_file(path) == {0, 1, 2}, job
