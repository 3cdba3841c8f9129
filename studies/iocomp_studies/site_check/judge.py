# SPDX-License-Identifier: BSD-3-Clause
"""Judgements on a site, from what its ranks and jobs have told. Nothing is run here."""

from __future__ import annotations

import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from iocomp_studies.advice.choices import toml_of
from iocomp_studies.runs.seats import Seats

YES, NO, FACT, NOT_TRIED = "yes", "no", "-", "not tried"

SYNCHRONOUS, DEFAULT, BUFFERED, DIRECT = "mode=sync", "default", "buffered", "O_DIRECT"
WAYS: dict[str, tuple[str, dict[str, str]]] = {
    DEFAULT: ("async", {}),
    SYNCHRONOUS: ("sync", {}),
    BUFFERED: ("sync", {"disk.direct": "off"}),
    DIRECT: ("sync", {"disk.direct": "on"}),
}
"""The ways of writing that are measured: the mode and the settings of each."""

_SLOWER = 0.8
"""A way that is slower than so much of another is not chosen."""
_LEAST_ROUNDS = 3
"""Rounds from which on rates are compared."""


@dataclass(frozen=True)
class Check:
    """One thing that was looked at.

    Attributes:
        name: The name of the thing.
        works: YES or NO, FACT where there is nothing to judge, or NOT_TRIED.
        found: The finding in words.
        cure: The remedy, or the consequence, if it does not work.
        settings: The settings that a site should have, as the thing is.
    """

    name: str
    works: str
    found: str
    cure: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)


def _yes(good: bool) -> str:
    return YES if good else NO


def _each(values: Sequence[str]) -> str:
    """Return values once each, in their order."""
    return ", ".join(dict.fromkeys(values))


def judge_installation(info: Mapping[str, Any]) -> list[Check]:
    """Judge what `iocomp info --json` says."""
    formats = {str(one["name"]): bool(one["found"]) for one in info["back_ends"]}
    missing = [name for name, found in formats.items() if not found]
    pages = bool(info["huge_shared_memory"])
    first = str(info["mpi_library"]).splitlines()[0].partition(",")[0]  # the MPIs tell much more
    mpi = " ".join(first.split())
    return [
        Check("iocomp", FACT, f"{info['version']}, {mpi}"),
        Check(
            "formats", FACT,
            ", ".join(name for name in formats if formats[name])
            + (f"; missing: {', '.join(missing)}" if missing else ""),
        ),
        Check(
            "huge pages", FACT,
            "shared memory has them" if pages else "shared memory has small ones: servers copy "
            "more, unless /sys/kernel/mm/transparent_hugepage/shmem_enabled says advise",
        ),
    ]  # fmt: skip


def judge_ranks(told: Mapping[str, Any], ranks: int, nodes: int) -> list[Check]:
    """Judge what `iocomp site-rank` says of all ranks."""
    each = told["each"]
    hosts = list(dict.fromkeys(str(one["host"]) for one in each))
    checks = [
        Check(
            "MPI", _yes(len(each) == ranks and len(hosts) == nodes),
            f"{len(each)} ranks on {', '.join(hosts)}; threads: {told['thread_level']}",
            f"{ranks} ranks on {nodes} nodes were asked for: take the launcher of iocomp's MPI; "
            "under Slurm set SLURM_MPI_TYPE",
        )
    ]  # fmt: skip
    places = [one["place"] for one in each if "place" in one]
    checks += [
        Check(name, NO, _each(failed), "mend it first: nothing else counts")
        for name in ("engine", "place", "folder_sync_seconds", "lock")
        if (failed := [one["failures"][name] for one in each if name in one["failures"]])
    ]
    engines = [str(one["engine"]) for one in each if "engine" in one]
    checks.append(
        Check(
            "io_uring", _yes(engines == ["io_uring"] * len(each)), _each(engines) or "not known",
            "threads write instead: allow it (seccomp of containers, kernel.io_uring_disabled), "
            "and let disk.engine be auto",
        )
    )  # fmt: skip
    if places:
        checks += _judge_places(places, nodes)
        syncs = [one["folder_sync_seconds"] for one in each if "folder_sync_seconds" in one]
        checks += [Check("fsync of folder", YES, f"{1e3 * max(syncs):.1f} ms")] if syncs else []
    return [*checks, _judge_locks(each)]


def _judge_places(places: Sequence[Mapping[str, Any]], nodes: int) -> list[Check]:
    kinds = [str(place["file_system"]) for place in places]
    advice = places[0]["advice"] or {}
    settings = {}
    if advice.get("alignment_bytes"):
        settings["files.default.alignment"] = f"{advice['alignment_bytes'] >> 10} KiB"
    by_hand = str(advice.get("command") or "")
    is_shared_nfs = "nfs" in kinds and nodes > 1
    if is_shared_nfs:
        settings["files.default.backend"] = "mpiio"
    same = len(set(kinds)) == 1
    return [
        Check(
            "file system", _yes(same and not is_shared_nfs),
            _each(kinds) + (f"; once, by hand: {by_hand}" if by_hand else ""),
            "from several nodes, NFS loses bytes where blocks meet in a page: write mpiio"
            if same else "the nodes see different file systems there: take a shared folder",
            settings,
        ),
        Check(
            "O_DIRECT", _yes(all(place["direct_io"] for place in places)),
            "files open with it" if all(place["direct_io"] for place in places) else "refused",
            "the page cache takes all bytes, which costs memory and processor time",
        ),
    ]  # fmt: skip


def _judge_locks(each: Sequence[Mapping[str, Any]]) -> Check:
    seen = [str(one["lock"]) for one in each[1:] if "lock" in one]
    blind = [one for one in each[1:] if one.get("lock", "alive") != "alive"]
    if not seen:
        return Check("locks", NOT_TRIED, "there was no second rank to see the lock of the first")
    if not blind:
        return Check("locks", YES, "a lock of rank 0 is seen by all ranks")
    return Check(
        "locks", NO,
        f"{len(blind)} of {len(seen)} other ranks see no lock that rank 0 holds: on "
        + _each([str(one["host"]) for one in blind]),
        "a second job waits 35 s before it may replace what a killed one left"
        if {one["lock"] for one in blind} == {"unknown"}
        else "two jobs can write one file unnoticed: mount with flock (Lustre: not localflock)",
    )  # fmt: skip


def judge_seats(mapping: str, seats: Seats, report: str) -> Check:
    """Judge where the library says that ranks of a mapping sat.

    Args:
        mapping: The mapping that was asked for.
        seats: The seats that its ranks should have.
        report: The text of `placement.report`.
    """
    lines = report.splitlines()
    found = next((line[9:] for line in lines if line.startswith("# found: ")), "nothing")
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    wrong = [
        f"rank {row[0]} on {row[4]}, not on {cpu}"
        for row, cpu in zip(rows, seats.cpus, strict=False)
        if row[4] != str(cpu)
    ]
    good = len(rows) == len(seats.cpus) and not wrong
    return Check(
        f"mapping {mapping}", _yes(good),
        f"{len(rows)} ranks, {seats.servers()} server{'' if seats.servers() == 1 else 's'}"
        + (f"; {found}" if seats.servers() else "")
        + (f"; {'; '.join(wrong[:4])}" if wrong else ""),
        "ranks are not bound as asked: whole nodes (--exclusive), and no binding by other means",
    )  # fmt: skip


def judge_sharing(trace: Mapping[str, Any]) -> Check:
    """Judge what `trace.json` of a job with servers says of the way to them."""
    way = str(trace["transport"])
    return Check(
        "shared memory", _yes(way.startswith("shared")), way,
        "ranks send messages within the node: enlarge /dev/shm, and let transport.kind be auto",
    )  # fmt: skip


def judge_writing(rates: Mapping[str, Sequence[float]], failed: Mapping[str, str]) -> list[Check]:
    """Judge how fast values became durable in each way, in GiB/s, round by round."""
    checks = [Check(f"write, {way}", NO, story) for way, story in failed.items()]
    middle = {way: statistics.median(found) for way, found in rates.items() if found}
    settings: dict[str, str] = {}
    rounds = min(map(len, rates.values()), default=0)
    if rounds >= _LEAST_ROUNDS and not failed:
        best = max((BUFFERED, DIRECT), key=lambda way: middle[way])
        if middle[SYNCHRONOUS] < _SLOWER * middle[best]:
            settings = WAYS[best][1]
    for way, found in rates.items():
        if found and way not in failed:
            text = f"{middle[way]:.3g} GiB/s until durable and read back"
            spread = f" ({min(found):.3g} to {max(found):.3g}, {len(found)} rounds)"
            own = settings if way == SYNCHRONOUS else {}
            checks.append(Check(f"write, {way}", YES, text + spread, settings=own))
    if rounds < _LEAST_ROUNDS and not failed:
        told = f"{rounds} of the {_LEAST_ROUNDS} rounds that it takes: more --minutes"
        checks.append(Check("write, compared", NOT_TRIED, told))
    return checks


def judge_kills(status: int, printed: str, complained: str = "") -> Check:
    """Judge how `iocomp torture --json` ended, from its stdout and stderr."""
    if status not in (0, 1) or not printed:
        lines = complained.splitlines() or ["it printed nothing"]
        told = [line for line in lines if line.startswith("iocomp")] or lines[-1:]
        return Check("kills", NOT_TRIED, told[0])
    found = json.loads(printed)
    violations = [f"VIOLATION {one['cell']}; repeat: {one['repeat']}" for one in found["violations"]]
    violations += [f"left in /dev/shm: {name}" for name in found["left_in_shared_memory"]]
    if violations:
        cure = "do not use this folder; tell the developers"
        return Check("kills", NO, "; ".join(violations), cure)
    each = found["faults"].values()
    faults, cells = (sum(one[key] for one in each) for key in ("faults", "cells"))
    text = f"{faults} faults in {cells} cells and {found['seconds']:.0f} s: 0 violations"
    return Check("kills", _yes(faults > 0), text)


def is_good(checks: Sequence[Check]) -> bool:
    """Return whether all that can work does, and was tried."""
    return all(check.works in (YES, FACT) for check in checks)


def _settings(checks: Sequence[Check]) -> dict[str, str]:
    return {key: value for check in checks for key, value in check.settings.items()}


def text_of(about: Mapping[str, Any], checks: Sequence[Check]) -> str:
    """Return the page for people."""
    width = max(len(check.name) for check in checks)
    lines = [
        f"{about['folder']}; nodes: {about['nodes']}; ranks that compute: {about['ranks']}; "
        f"{about['at']}, {about['seconds']:.0f} s",
        f"{about['host']['processor']}, Linux {about['host']['kernel']}",
        "",
    ]
    for check in checks:
        lines.append(f"{check.works:9}  {check.name:{width}}  {check.found}")
        if check.works == NO and check.cure:
            lines.append(f"{'':9}  {'':{width}}  -> {check.cure}")
    bad = [check.name for check in checks if check.works in (NO, NOT_TRIED)]
    lines += ["", f"not in order: {', '.join(bad)}" if bad else "all of it works"]
    if settings := _settings(checks):
        lines += ["", toml_of(settings, ("iocomp.toml of this site: IOCOMP_CONFIG names it",))]
    elif not bad:
        lines.append("no setting is needed: the defaults suit")
    return "\n".join(lines)


def json_of(about: Mapping[str, Any], checks: Sequence[Check]) -> str:
    """Return the same for programs."""
    each = [asdict(check) for check in checks]
    found = {**about, "good": is_good(checks), "checks": each, "settings": _settings(checks)}
    return json.dumps(found, indent=1)
