# SPDX-License-Identifier: BSD-3-Clause
"""The model of a power loss tells right from wrong, and scripts that once lost something lose nothing."""

from __future__ import annotations

import random
import sys
from dataclasses import replace
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
for folder in ("faults", "actor", "system", "conformance/files"):
    sys.path.insert(0, str(HERE.parent / folder))
sys.path.insert(0, str(HERE.parents[1] / "studies"))

from actors import OK, Actors  # noqa: E402
from cell import Cell  # noqa: E402
from files import file_settings, leftovers  # noqa: E402
from fixtures import actors, build, companies  # noqa: E402, F401
from oracle import Look, Reader, Told, check_sight, told  # noqa: E402
from power_loss import Disk, Record, read_log  # noqa: E402
from workload import Workload  # noqa: E402

STATES = 200


class Story:
    """A record as processes would leave it, of one folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.disk = Disk(folder)
        self.inode = folder.stat().st_ino

    def record(self, word: str, *numbers: int, bytes: bytes = b"") -> None:
        a, b, c = (*numbers, 0, 0, 0)[:3]
        self.disk.take(Record(word, (a, b, c), bytes))

    def name(self, word: str, number: int, *names: str) -> None:
        self.record(word, number, bytes="\0".join(f"{self.folder}/{n}" for n in names).encode())

    def states(self, into: Path) -> list[dict[str, bytes]]:
        dice = random.Random(1)
        found = []
        for number in range(STATES):
            self.disk.lay_out(into / str(number), dice)
            files = (into / str(number)).iterdir()
            found.append({path.name: path.read_bytes() for path in files})
        return found


@pytest.fixture
def story(tmp_path: Path) -> Story:
    return Story(tmp_path / "disk")


def test_what_was_synced_is_there(story: Story, tmp_path: Path) -> None:
    story.name("create", 1, "a")
    story.record("write", 1, 0, 0, bytes=b"x" * 2000)
    story.record("sync", 1)
    story.record("sync", story.inode)
    assert story.states(tmp_path / "states") == [{"a": b"x" * 2000}] * STATES


def test_what_was_not_synced_is_there_or_not_by_sectors(story: Story, tmp_path: Path) -> None:
    story.name("create", 1, "a")
    story.record("sync", story.inode)
    story.record("write", 1, 0, 0, bytes=b"x" * 2000)
    contents = {state["a"] for state in story.states(tmp_path / "states")}
    assert {b"", b"x" * 2000} < contents
    torn = contents - {b"", b"x" * 2000}
    assert torn
    for content in torn:
        sectors = [content[at : at + 512] for at in range(0, len(content), 512)]
        assert all(set(sector) in ({0}, {ord("x")}) for sector in sectors)


def test_a_name_is_there_for_sure_when_its_folder_was_synced(story: Story, tmp_path: Path) -> None:
    story.name("create", 1, "a")
    story.record("write", 1, 0, 0, bytes=b"x")
    story.record("sync", 1)
    story.name("rename", 0, "a", "b")
    names = {tuple(sorted(state)) for state in story.states(tmp_path / "before")}
    assert names == {(), ("a",), ("b",)}
    story.record("sync", story.inode)
    assert story.states(tmp_path / "after") == [{"b": b"x"}] * STATES


def test_names_may_come_back_in_another_order(story: Story, tmp_path: Path) -> None:
    for number, name in enumerate(("a", "b"), start=1):
        story.name("create", number, name)
    story.record("sync", story.inode)
    story.name("unlink", 0, "a")
    story.name("unlink", 0, "b")
    names = {tuple(sorted(state)) for state in story.states(tmp_path / "states")}
    assert names == {(), ("a",), ("b",), ("a", "b")}


def test_a_sync_covers_what_had_ended_before_it(story: Story, tmp_path: Path) -> None:
    story.name("create", 1, "a")
    story.record("sync", story.inode)
    story.record("write", 1, 0, 7, bytes=b"x" * 512)
    story.record("sync", 1)
    assert {state["a"] for state in story.states(tmp_path / "before")} == {b"", b"x" * 512}
    story.record("done", 7, 512)
    story.record("sync", 1)
    assert {state["a"] for state in story.states(tmp_path / "after")} == {b"x" * 512}


def test_what_a_failed_sync_should_have_covered_is_never_durable(
    story: Story, tmp_path: Path
) -> None:
    story.name("create", 1, "a")
    story.record("sync", story.inode)
    story.record("write", 1, 0, 0, bytes=b"x")
    story.record("lost", 1)
    story.record("sync", 1)
    assert {state["a"] for state in story.states(tmp_path / "states")} == {b"\0", b"x"}


def lines(kind: str, steps: int) -> list[str]:
    script = [f"open out {kind}", "define out u int64 64x96 seed=5"]
    for step in range(steps):
        script += ["put out u by=columns", "end_step out", f"wait_step out {step}"]
    return [*script, "close out"]


@pytest.mark.parametrize("back_end", ["posix", "hdf5", "netcdf"])
@pytest.mark.parametrize("mode", ["servers", "kernel", "sync"])
def test_a_checkpoint_that_is_not_kept_leaves_no_half_of_it(
    actors: Actors, tmp_path: Path, back_end: str, mode: str
) -> None:
    cell = Cell(0, 0, back_end, mode, "shared" if mode == "servers" else "", "checkpoint", "")
    ending = {"posix": "dat", "hdf5": "h5", "netcdf": "nc"}[back_end]
    workload = Workload(
        ranks=4 if mode == "servers" else 2,
        lines=lines("checkpoint", 4),
        settings={
            "mode": "sync" if mode == "sync" else "async",
            "placement": {"servers": "none"} if mode == "kernel" else {},
            "files": {"out": file_settings(back_end, path=f"out.{ending}", keep=1)},
        },
        seeds={"u": 5},
        path=f"out.{ending}",
        steps=4,
        file_per_step=True,
        keep=1,
        before=[f"record {tmp_path / 'log'}"],
    )
    folder = tmp_path / "disk"
    folder.mkdir()
    (folder / "iocomp.toml").write_text("")
    disk = Disk(folder)
    job = actors.play(
        workload.script, ranks=workload.ranks, settings=workload.settings, folder=folder
    )
    assert job.status == 0 and not job.failures() and not leftovers(folder), job
    states = states_of(disk, tmp_path, cell, workload, folder)
    looks = [Look(state / workload.path, workload.seeds) for state, _ in states]
    for (state, said), sight in zip(states, Reader(actors).see(cell, looks), strict=True):
        print(state)
        check_sight(workload, sight, said)


def states_of(
    disk: Disk, tmp_path: Path, cell: Cell, workload: Workload, folder: Path
) -> list[tuple[Path, Told]]:
    entries = []
    states = []
    for record in read_log(tmp_path / "log"):
        disk.take(record)
        if record.word == "told":
            entries.append(record.entry)
        elif record.word in ("rename", "unlink", "sync"):
            for number in range(3):
                state = tmp_path / "states" / f"{len(states)}"
                disk.lay_out(state, random.Random(f"{len(states)}/{number}"))
                states.append((state, told(cell, workload, entries)))
    assert states
    assert not [one for one in disk.differences(folder) if "iocomp.toml" not in one]
    return states


@pytest.mark.parametrize("back_end", ["posix", "hdf5", "pnetcdf"])
@pytest.mark.parametrize("mode", ["servers", "kernel", "sync"])
def test_the_old_file_can_be_read_until_the_new_one_is_committed(
    actors: Actors, tmp_path: Path, back_end: str, mode: str
) -> None:
    cell = Cell(0, 0, back_end, mode, "shared" if mode == "servers" else "", "series", "")
    ending = {"posix": "dat", "hdf5": "h5", "pnetcdf": "nc"}[back_end]
    new = Workload(
        ranks=4 if mode == "servers" else 2,
        lines=lines("series", 2),
        settings={
            "mode": "sync" if mode == "sync" else "async",
            "placement": {"servers": "none"} if mode == "kernel" else {},
            "files": {"out": file_settings(back_end, path=f"out.{ending}", existing="replace")},
        },
        seeds={"u": 5},
        path=f"out.{ending}",
        steps=2,
        file_per_step=False,
        keep=0,
    )
    old = replace(new, lines=[line.replace("seed=5", "seed=6") for line in lines("series", 3)])
    folder = tmp_path / "disk"
    for workload in (old, new):
        if workload is new:
            new.before.append(f"record {tmp_path / 'log'}")
            disk = Disk(folder)
        job = actors.play(
            workload.script, ranks=new.ranks, settings=workload.settings, folder=folder
        )
        assert job.status == 0 and not job.failures() and not leftovers(folder), job
    states = states_of(disk, tmp_path, cell, new, folder)
    reader = Reader(actors)
    sights = [
        reader.see(cell, [Look(state / new.path, {"u": seed}) for state, _ in states])
        for seed in (5, 6)
    ]
    for (state, said), of_new, of_old in zip(states, *sights, strict=True):
        print(state)
        if said.committed or (of_new.code == OK and of_new.right):
            check_sight(new, of_new, said)
        else:
            check_sight(old, of_old, Told(frozenset(range(3)), frozenset()))
