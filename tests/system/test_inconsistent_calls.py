# SPDX-License-Identifier: BSD-3-Clause
"""Ranks that do not make the same calls: all that are concerned are told, and nobody hangs."""

from __future__ import annotations

import pytest
from actors import INCONSISTENT_CALLS, OK, Actors, Job
from files import (
    BACK_ENDS,
    MODES,
    check_file,
    check_whole_or_absent,
    file_settings,
    leftovers,
    mode_settings,
    skip_if_missing,
)

# One rank does otherwise than the others, between two good steps of the file "out".
TROUBLE = {
    "another definition": """
@1 define out v int32 16x16
@!1 define out v int64 16x16
""",
    "another shape": """
@1 define out v int64 16x17
@!1 define out v int64 16x16
""",
    "another name": """
@1 define out w int64 16x16
@!1 define out v int64 16x16
""",
    "definitions in another order": """
@1 define out w int64 16x16
define out v int64 16x16
@!1 define out w int64 16x16
""",
    "a definition of one rank": "@1 define out v int64 16x16",
    "a definition that one rank leaves out": "@!1 define out v int64 16x16",
    "an attribute of one rank": "@1 attribute out author nobody",
    "another attribute": """
@1 attribute out author nobody
@!1 attribute out author everybody
""",
    "a shape of one rank": "@1 set_shape out u 32x16",
}

ENDING = {
    "one step more": "@1 put out u\n@1 end_step out",
    "one step less": "@!1 put out u\n@!1 end_step out",
}
ENDED = {"one step more": 2, "one step less": 2}  # steps, by all

PLACEMENTS = {
    "sync": mode_settings("sync"),
    "kernel": mode_settings("kernel"),
    "async with two servers": {"placement": {"servers": "2 per node", "policy": "spread"}},
    "async with one server": {"placement": {"servers": [3]}},
}


SAME_AS_OTHERS = [("mpiio", "kernel")]  # MPI-IO writes synchronously where there are no servers


def compute_ranks(placement: str, ranks: int) -> int:
    return {"sync": ranks, "kernel": ranks, "async with two servers": ranks - 2}.get(placement, ranks - 1)


def check_told(job: Job, members: int, *, committed: int = 1) -> None:
    """Check that every rank of the file got this code, and no other, and that the story helps."""
    told = job.failures(file="out")
    assert {entry["code"] for entry in told} == {INCONSISTENT_CALLS}, job
    assert len({entry["rank"] for entry in told}) == members, job
    for entry in told:
        assert '"out"' in entry["story"], entry
    assert any("rank" in entry["story"] for entry in told), job
    assert job.status == 0, job
    assert not leftovers(job.folder), job
    # The steps that all ranks had ended before they differed stay, and nothing else.
    check_whole_or_absent(
        job.folder / "out.bin", committed=range(committed), failed=range(committed, 3)
    )
    # The session is none the worse for it.
    assert not job.failures(file="next"), job
    assert check_file(job.folder / "next.bin") == {0, 1}


def script(trouble: str) -> str:
    after = "\n".join(
        f"put next u\nend_step next\nwait_step next {step}" for step in range(2)
    )
    return f"""
init
open out series
define out u int64 16x16
put out u
end_step out
wait_step out 0
{trouble}
put out u
end_step out
close out
open next series
define next u int64 16x16
{after}
close next
"""


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("trouble", TROUBLE)
def test_one_rank_makes_other_calls(actors: Actors, trouble: str, placement: str) -> None:
    job = actors.play(script(TROUBLE[trouble]), ranks=4, settings=PLACEMENTS[placement])
    check_told(job, compute_ranks(placement, 4))


@pytest.mark.parametrize("mode", ["sync", "kernel"])
def test_one_rank_asks_whether_to_stop(actors: Actors, mode: str) -> None:
    job = actors.play(
        "init\n@1 should_stop\nopen out series\nclose out\n", ranks=3, settings=mode_settings(mode)
    )
    told = [entry for entry in job.failures() if "should_stop" in entry.get("story", "")]
    assert {entry["rank"] for entry in told} == {0, 1, 2}, job
    assert {entry["code"] for entry in told} == {INCONSISTENT_CALLS}, job
    assert job.status == 0, job


@pytest.mark.parametrize("placement", PLACEMENTS)
@pytest.mark.parametrize("trouble", ENDING)
def test_one_rank_ends_another_number_of_steps(
    actors: Actors, trouble: str, placement: str
) -> None:
    job = actors.play(script(ENDING[trouble]), ranks=4, settings=PLACEMENTS[placement])
    check_told(job, compute_ranks(placement, 4), committed=ENDED[trouble])


@pytest.mark.parametrize(
    ("back_end", "placement"),
    [(b, p) for b in BACK_ENDS[1:] for p in PLACEMENTS if (b, p) not in SAME_AS_OTHERS],
)
def test_every_back_end_gives_up_its_file(actors: Actors, back_end: str, placement: str) -> None:
    """Formats that write together must not wait for one another when the file is given up."""
    skip_if_missing(actors.build, back_end)
    names = {name: file_settings(back_end, path=f"{name}.bin") for name in ("out", "next")}
    for trouble, ended in ((TROUBLE["another definition"], 1), (ENDING["one step more"], 2)):
        job = actors.play(
            script(trouble), ranks=4, settings={**PLACEMENTS[placement], "files": names}
        )
        check_told(job, compute_ranks(placement, 4), committed=ended)


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_one_rank_opens_it_as_another_kind(actors: Actors, placement: str) -> None:
    text = script("").replace("open out series", "@1 open out checkpoint\n@!1 open out series")
    job = actors.play(text, ranks=4, settings=PLACEMENTS[placement])
    told = [entry for entry in job.failures() if entry["call"] != "define"]
    assert {entry["code"] for entry in told} == {INCONSISTENT_CALLS}, job
    assert len({entry["rank"] for entry in told}) == compute_ranks(placement, 4), job
    assert job.status == 0, job
    assert check_file(job.folder / "next.bin") == {0, 1}


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_one_rank_never_opens_it(actors: Actors, placement: str) -> None:
    calls = ("open out series", "define out u int64 16x16", "put out u", "end_step out", "close out")
    text = "init\n" + "".join(f"@!1 {call}\n" for call in calls) + "finalize\n"
    job = actors.play(text, ranks=4, settings=PLACEMENTS[placement])
    told = job.failures(file="out")
    assert {entry["code"] for entry in told} == {INCONSISTENT_CALLS}, job
    assert len({entry["rank"] for entry in told}) == compute_ranks(placement, 4) - 1, job
    assert all("compute rank 1 called finalize" in entry["story"] for entry in told), job
    assert not leftovers(job.folder), job


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_puts_of_a_variable_that_others_know_otherwise(actors: Actors, placement: str) -> None:
    """The blocks of such a variable may reach a server before it hears of the trouble."""
    steps = "\n".join("put out v by=whole\nend_step out" for _ in range(5))
    text = f"""
init
open out series
@1 define out v float64 512x512
@!1 define out v int32 8x8
{steps}
close out
open next series
define next u int64 16x16
put next u
end_step next
put next u
end_step next
close next
"""
    # The kernel answers fsync with EIO after buffered and direct writes to one place at a time.
    settings = {**PLACEMENTS[placement], "disk": {"direct": "off"}}
    for _ in range(3):
        job = actors.play(text, ranks=4, settings=settings)
        check_told(job, compute_ranks(placement, 4), committed=0)


# Without servers nobody can know any more which calls belong together once they concern different
# files: every later call on a file is told so, and nobody waits.
CROSSED = {
    "files opened": """
@0 open one series
@0 open two series
@1 open two series
@1 open one series
define one u int64 8x8
define two u int64 8x8
put one u
end_step one
put two u
end_step two
""",
    "steps ended": """
open one series
open two series
define one u int64 8x8
define two u int64 8x8
put one u
put two u
@0 end_step one
@0 end_step two
@1 end_step two
@1 end_step one
""",
    "a step and a file": """
open one series
define one u int64 8x8
put one u
@0 end_step one
open two series
@1 end_step one
define two u int64 8x8
put two u
end_step two
""",
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("crossed", CROSSED)
def test_calls_on_two_files_in_another_order(actors: Actors, crossed: str, mode: str) -> None:
    text = f"init\n{CROSSED[crossed]}\nclose one\nclose two\nopen next series\nclose next\n"
    ranks = 2 if mode != "async" else 4
    job = actors.play(text, ranks=ranks, settings=mode_settings(mode))
    assert job.status == 0, job
    assert not leftovers(job.folder), job
    if mode == "async" or (mode == "kernel" and "open" not in crossed):  # sorted out
        assert not job.failures(), job
        assert check_file(job.folder / "one.bin") == {0}
        assert check_file(job.folder / "two.bin") == {0}
        return
    told = job.failures()
    assert {entry["code"] for entry in told} == {INCONSISTENT_CALLS}, job
    assert {entry["rank"] for entry in told} == {0, 1}, job
    assert len({entry["story"] for entry in told}) == 1, job
    for part in ('"one"', '"two"', "compute rank 0 called", "compute rank 1 called"):
        assert part in told[0]["story"], told[0]
    assert not list(job.folder.glob("*.bin")), job


@pytest.mark.parametrize("mode", MODES)
def test_different_attributes_at_the_end(actors: Actors, mode: str) -> None:
    text = """
init
open out series
define out u int64 16x16
put out u
end_step out
@1 attribute out author nobody
close out
"""
    job = actors.play(text, ranks=4, settings=mode_settings(mode))
    assert {entry["code"] for entry in job.failures(call="close")} == {INCONSISTENT_CALLS}, job
    assert all(entry["code"] != OK for entry in job.calls("close")), job
    assert job.status == 0, job


@pytest.mark.parametrize("back_end", ["posix", "hdf5"])
@pytest.mark.parametrize("mode", MODES)
def test_a_file_that_failed_is_written_again_at_once(actors: Actors, mode: str, back_end: str) -> None:
    """For the program it is closed at once, for its servers only when all has settled."""
    skip_if_missing(actors.build, back_end)
    text = """
init
open out series
@1 define out v int32 512x512
@!1 define out v int64 512x512
put out v by=whole
end_step out
close out
barrier
open out series
define out u int64 512x512
put out u by=columns
end_step out
close out
"""
    files = {"out": file_settings(back_end, existing="replace")}
    job = actors.play(text, ranks=4, settings={**mode_settings(mode), "files": files})
    assert all(entry["code"] == OK for entry in job.calls("open")), job
    for rank in {entry["rank"] for entry in job.calls("open")}:
        assert job.calls("close", rank=rank)[-1]["code"] == OK, job
    (path,) = [one for one in job.folder.glob("out.*") if one.suffix != ".json"]
    assert check_file(path) == {0}
