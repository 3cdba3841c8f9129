# SPDX-License-Identifier: BSD-3-Clause
"""States of the disk after a power loss."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from cell import WHOLE_STEPS
from oracle import Look, Told, Violation, check_sight, check_with_foreign_tools, told
from power_loss import Disk, read_log
from trial import CHECKED_BY_FOREIGN_TOOLS, Trial
from workload import NAME, Workload, draw_rival, draw_workload

STATES_OF_A_RECORD = 30


def power_loss(trial: Trial) -> None:
    """States of the disk after a power loss at any moment, with an old target or none before."""
    workload = draw_workload(trial.cell)
    old: Workload | None = None
    trial.folder.mkdir()
    disk_folder = trial.folder / "disk"
    # The inode tells which folder a manifest belongs to, and no copy has the same.
    if trial.dice.random() < 0.3 and trial.cell.back_end not in WHOLE_STEPS:
        old = draw_rival(trial.cell, workload)
        trial.check_end(trial.play(old, folder=disk_folder))
        workload.settings["files"][NAME]["existing"] = "replace"
    if trial.dice.random() < 0.2:
        workload.before.append(f"fault sync EIO times=1 after={trial.dice.randrange(8)}")
    log = trial.folder / "record"
    workload.before.append(f"record {log}")
    disk_folder.mkdir(exist_ok=True)
    (disk_folder / "iocomp.toml").write_text("")  # written again by `play`, as the same file
    disk = Disk(disk_folder)
    job = trial.play(workload, folder=disk_folder)
    trial.check_status(job)
    _check_states(trial, workload, old, disk, log)
    log.unlink()


@dataclass(frozen=True)
class _State:
    folder: Path
    said: Told
    moment: int


def _check_states(
    trial: Trial, workload: Workload, old: Workload | None, disk: Disk, log: Path
) -> None:
    records = read_log(log)
    moments = sorted(trial.dice.choices(range(len(records) + 1), k=STATES_OF_A_RECORD))
    states: list[_State] = []
    entries = []
    for at in range(len(records) + 1):
        for _ in range(moments.count(at)):
            folder = trial.folder / f"state{len(states)}"
            disk.lay_out(folder, trial.dice)
            states.append(_State(folder, told(trial.cell, workload, entries), at))
        if at < len(records):
            disk.take(records[at])
            if records[at].word == "told":
                entries.append(records[at].entry)
    lost = any(record.word == "lost" for record in records)
    if not lost and (wrong := disk.differences(trial.folder / "disk")):
        wrong = [one for one in wrong if "iocomp.toml" not in one]
        if wrong:
            raise Violation(f"the record does not have everything: {wrong}")
    looks = [Look(state.folder / workload.path, workload.seeds) for state in states]
    sights = trial.reader.see(trial.cell, looks)
    before = trial.reader.see(trial.cell, [Look(look.path, old.seeds) for look in looks]) if (
        old is not None) else [None] * len(states)  # fmt: skip
    trial.struck += len(states)
    for state, sight, other in zip(states, sights, before, strict=True):
        try:
            if old is not None and other is not None and not state.said.committed and not old.file_per_step:
                if not (sight.code == 0 and sight.right):
                    check_sight(old, other, Told(frozenset(range(old.steps)), frozenset()))
            elif old is None or not old.file_per_step:
                check_sight(workload, sight, state.said)
            if old is None and trial.dice.random() < CHECKED_BY_FOREIGN_TOOLS:
                check_with_foreign_tools(trial.cell, workload, state.folder, sight, state.said)
        except Violation as violation:
            raise Violation(
                f"after a power loss at record {state.moment} of {len(records)} ({log}), in"
                f" {state.folder}: {violation}"
            ) from violation
