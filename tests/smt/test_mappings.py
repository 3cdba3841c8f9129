# SPDX-License-Identifier: BSD-3-Clause
"""Ranks sit where they were meant to, as the guest's kernel and the library's report say."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from jobs import (
    BOUND,
    BOUND_TO_CORES,
    OFFLINE,
    SOME_CPUS,
    STREAM_BYTES,
    STREAM_FORMATS,
    STREAM_LOOPS,
    STREAM_WRITE_EVERY,
)
from machine import Cpu, Ended, Machine

ROOT = Path(__file__).resolve().parents[2]
VERIFIER = ROOT / "apps/stream/verify.py"
LIBRARY = ROOT / "build/release/lib/libiocomp.so"
INVALID_SETTING = 5

Closeness = Callable[[int, int, dict[int, Cpu]], bool]


def on_siblings(left: int, right: int, cpus: dict[int, Cpu]) -> bool:
    return left != right and right in cpus[left].siblings


def on_one_thread(left: int, right: int, cpus: dict[int, Cpu]) -> bool:
    return left == right


def on_other_cores(left: int, right: int, cpus: dict[int, Cpu]) -> bool:
    return right not in cpus[left].siblings


def in_one_numa_domain(left: int, right: int, cpus: dict[int, Cpu]) -> bool:
    return on_other_cores(left, right, cpus) and cpus[left].node == cpus[right].node


def seats(job: Ended, ranks: int) -> dict[int, int]:
    """Return by rank its one CPU, on which the kernel and the library agree."""
    assert job.status == 0, job
    seats = job.cpus()
    assert sorted(seats) == list(range(ranks)), job
    assert seats == {rank: row.cpus for rank, row in job.rows().items()}, job
    assert {len(cpus) for cpus in seats.values()} == {1}, job
    return {rank: min(cpus) for rank, cpus in seats.items()}


def cores(seats: dict[int, int], machine: Machine) -> set[frozenset[int]]:
    return {machine.cpus()[cpu].siblings for cpu in seats.values()}


def test_the_machine_has_smt_and_two_numa_domains(machine: Machine) -> None:
    cpus = machine.cpus()
    assert sorted(cpus) == list(range(8))
    assert {len(cpu.siblings) for cpu in cpus.values()} == {2}
    assert {cpu.siblings for cpu in cpus.values()} == {
        frozenset(pair) for pair in [(0, 1), (2, 3), (4, 5), (6, 7)]
    }
    for package in (0, 1):
        members = [cpu for cpu in cpus.values() if cpu.package == package]
        assert len(members) == 4
        assert {cpu.node for cpu in members} == {package}


@pytest.mark.parametrize(
    ("name", "ranks", "close", "used_cores"),
    [
        ("hyperthread", 8, on_siblings, 4),
        ("hyperthread-half", 4, on_siblings, 2),
        ("oversubscribe", 8, on_one_thread, 4),
        ("consecutive", 4, on_other_cores, 4),
        ("numa", 4, in_one_numa_domain, 4),
    ],
)
def test_every_server_sits_as_close_to_its_compute_rank_as_asked(
    machine: Machine, mpi: str, name: str, ranks: int, close: Closeness, used_cores: int
) -> None:
    job = machine.job(f"{mpi}-{name}")
    cpu_of = seats(job, ranks)
    pairs = job.pairs()
    assert len(pairs) == ranks // 2, job
    assert set(pairs) | set(pairs.values()) == set(range(ranks)), job
    for compute, server in pairs.items():
        assert close(cpu_of[compute], cpu_of[server], machine.cpus()), job
    assert len(cores(cpu_of, machine)) == used_cores, job
    assert len(set(cpu_of.values())) == ranks // (2 if close is on_one_thread else 1), job
    assert job.about()["asked"] == name.partition("-")[0], job


def test_numa_serves_every_domain_by_one_of_its_own(machine: Machine, mpi: str) -> None:
    job = machine.job(f"{mpi}-numa")
    cpu_of = seats(job, 4)
    domains = sorted(machine.cpus()[cpu_of[server]].node for server in job.pairs().values())
    assert domains == [0, 1], job


def test_with_a_ratio_the_server_sits_beside_its_first_compute_rank(
    machine: Machine, mpi: str
) -> None:
    job = machine.job(f"{mpi}-hyperthread-two-to-one")
    cpu_of = seats(job, 6)
    pairs = job.pairs()
    assert len(pairs) == 4, job
    assert len(set(pairs.values())) == 2, job
    for server in set(pairs.values()):
        first = min(compute for compute, its in pairs.items() if its == server)
        assert on_siblings(cpu_of[first], cpu_of[server], machine.cpus()), job


def test_one_server_per_node_serves_the_others_from_a_core_of_its_own(
    machine: Machine, mpi: str
) -> None:
    job = machine.job(f"{mpi}-node")
    cpu_of = seats(job, 4)
    pairs = job.pairs()
    assert len(pairs) == 3, job
    assert len(set(pairs.values())) == 1, job
    for compute, server in pairs.items():
        assert on_other_cores(cpu_of[compute], cpu_of[server], machine.cpus()), job


def test_sequential_has_no_servers_and_no_shared_cores(machine: Machine, mpi: str) -> None:
    job = machine.job(f"{mpi}-sequential")
    cpu_of = seats(job, 4)
    assert job.pairs() == {}, job
    assert len(cores(cpu_of, machine)) == 4, job


@pytest.mark.parametrize("name", ["some-cpus", "allowed-cpus"])
def test_a_part_of_the_machine_suffices(machine: Machine, mpi: str, name: str) -> None:
    job = machine.job(f"{mpi}-{name}")
    cpu_of = seats(job, 4)
    assert sorted(cpu_of.values()) == SOME_CPUS, job
    assert len(job.pairs()) == 2, job
    for compute, server in job.pairs().items():
        assert on_siblings(cpu_of[compute], cpu_of[server], machine.cpus()), job


def test_a_core_with_one_thread_offline_takes_no_pair(machine: Machine, mpi: str) -> None:
    job = machine.job(f"{mpi}-offline-hyperthread")
    cpu_of = seats(job, 6)
    assert sorted(cpu_of.values()) == [0, 1, 4, 5, 6, 7], job
    assert len(job.pairs()) == 3, job
    for compute, server in job.pairs().items():
        assert on_siblings(cpu_of[compute], cpu_of[server], machine.cpus()), job


def test_a_core_with_one_thread_offline_serves_as_a_core(machine: Machine, mpi: str) -> None:
    job = machine.job(f"{mpi}-offline-consecutive")
    cpu_of = seats(job, 4)
    (left,) = machine.cpus()[OFFLINE].siblings - {OFFLINE}
    assert sorted(cpu_of.values()) == [0, left, 4, 6], job


def test_more_pairs_than_cores_are_refused_and_the_nearest_choice_named(
    machine: Machine, mpi: str
) -> None:
    job = machine.job(f"{mpi}-too-many")
    assert job.status not in (0, 124, 143), job
    assert "nearest: 8 ranks" in job.output, job
    assert not job.cpus(), job


def test_auto_without_settings_takes_the_siblings(machine: Machine, mpi: str) -> None:
    job = machine.job(f"{mpi}-auto")
    cpu_of = seats(job, len(BOUND))
    assert [[cpu_of[rank]] for rank in range(len(BOUND))] == BOUND, job
    assert job.about()["asked"] == "any", job
    assert job.about()["found"].split()[0] == "hyperthread", job
    assert "where the ranks sit" in job.about()["why"], job
    assert len(job.pairs()) == 2, job
    for compute, server in job.pairs().items():
        assert on_siblings(cpu_of[compute], cpu_of[server], machine.cpus()), job


def test_auto_pairs_ranks_that_share_a_whole_core(machine: Machine, mpi: str) -> None:
    job = machine.job(f"{mpi}-auto-whole-cores")
    assert job.status == 0, job
    assert job.cpus() == {rank: frozenset(cpus) for rank, cpus in enumerate(BOUND_TO_CORES)}, job
    assert job.pairs() == {0: 2, 1: 3}, job
    assert {row.close for row in job.rows().values() if row.role == "compute"} == {"on one core"}


def test_auto_takes_halves_where_ranks_are_not_bound(machine: Machine, mpi: str) -> None:
    job = machine.job(f"{mpi}-auto-unbound")
    assert job.status == 0, job
    assert set(job.cpus().values()) == {frozenset(range(8))}, job
    assert job.pairs() == {0: 2, 1: 3}, job
    assert job.about()["found"].split()[0] == "unbound", job


def test_strict_refuses_ranks_that_do_not_sit_on_siblings(machine: Machine, mpi: str) -> None:
    job = machine.job(f"{mpi}-strict-refuses")
    inits = job.journal("init")
    assert [entry["code"] for entry in inits] == [INVALID_SETTING] * 4, job
    assert "--mapping hyperthread --ranks 4" in str(inits[0]["story"]), job


@pytest.mark.parametrize("backend", STREAM_FORMATS)
def test_what_stream_wrote_beside_siblings_verifies(
    machine: Machine, mpi: str, backend: str
) -> None:
    job = machine.job(f"{mpi}-stream-{backend}")
    assert job.status == 0, job
    assert job.about()["found"].startswith("hyperthread (4 of 4 on SMT siblings"), job
    words = ["--file", str(job.folder / "out"), "--elements", str(4 * STREAM_BYTES // 8)]
    words += ["--loops", str(STREAM_LOOPS), "--write-every", str(STREAM_WRITE_EVERY)]
    done = subprocess.run(
        [sys.executable, str(VERIFIER), *words, "--pattern", "index"],
        env={**os.environ, "IOCOMP_LIBRARY": str(LIBRARY)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, f"{done.stderr}\n{job}"
