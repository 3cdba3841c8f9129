# SPDX-License-Identifier: BSD-3-Clause
"""`iocomp numa`: memory, threads and page cache are where the policies want them."""

from __future__ import annotations

import json
import re
import xml.dom.minidom
from collections import Counter
from typing import Any

from jobs import FULL_DOMAIN, NUMA_ROUNDS, NUMA_SIZE, NUMA_THREADS, STAGING_BYTES
from machine import Ended, Machine, cpu_list

# The policies of the study; a relay needs three domains.
POLICIES = {"local", "pull", "push", "round-trip", "round-robin"}
DOMAINS = 2
PAGE = 4096
DOMAIN_CPUS = [frozenset(range(4)), frozenset(range(4, 8))]


def results(job: Ended) -> dict[str, Any]:
    assert job.status == 0, f"{job.folder.name}: {job.output}"
    found: dict[str, Any] = json.loads((job.folder / "numa.json").read_text())
    return found


def test_every_route_is_measured_with_everything_in_place(machine: Machine) -> None:
    found = results(machine.job("numa"))
    assert [domain["domain"] for domain in found["domains"]] == [0, 1]
    assert [sorted(domain["cpus"]) for domain in found["domains"]] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    both = [trial for trial in found["trials"] if trial["domains"] == DOMAINS]
    for operation in ("write", "read", "copy"):
        for memory in ("each", "one"):
            for threads in NUMA_THREADS:
                rows = [
                    trial
                    for trial in both
                    if (trial["operation"], trial["memory"]) == (operation, memory)
                    and trial["threads"] == DOMAINS * threads
                ]
                assert {trial["policy"] for trial in rows} == POLICIES, (operation, memory)
    for trial in found["trials"]:
        assert trial["misplaced"] == 0, trial
        assert len(trial["samples"]) == NUMA_ROUNDS, trial
        assert trial["bytes"] == NUMA_SIZE * trial["domains"], trial
        assert trial["least_gib_per_second"] > 0, trial


def test_a_relay_goes_over_three_of_four_domains(four_domains: Machine) -> None:
    found = results(four_domains.job("numa"))
    assert [domain["domain"] for domain in found["domains"]] == [0, 1, 2, 3]
    assert {trial["domains"] for trial in found["trials"]} == {1, 2, 4}
    for trial in found["trials"]:
        assert trial["misplaced"] == 0, trial
    at_work = {
        (trial["operation"], trial["memory"], trial["policy"]): trial["threads_at_work"]
        for trial in found["trials"]
        if trial["domains"] == len(found["domains"])
    }
    for operation in ("write", "copy"):
        assert at_work[operation, "each", "relay"] == 4
        # Three idle domains help one.
        assert at_work[operation, "one", "relay"] == 3
        assert at_work[operation, "one", "pull"] == 3
        assert at_work[operation, "one", "local"] == 1


def test_a_policy_keeps_as_many_threads_busy_as_it_may(machine: Machine) -> None:
    for trial in results(machine.job("numa"))["trials"]:
        each = trial["threads"] // trial["domains"]
        # Memory on one domain is moved by the threads of one: its own or the idle one.
        alone = trial["memory"] == "one" and trial["policy"] != "round-robin"
        assert trial["threads_at_work"] == (each if alone else trial["threads"]), trial


def test_the_kernel_saw_threads_on_single_cpus_of_both_domains(machine: Machine) -> None:
    job = machine.job("numa-table")
    lines = (job.folder / "seen").read_text().splitlines()
    seen = Counter(
        cpu_list(line.split()[1]) for line in lines if line.startswith("Cpus_allowed_list")
    )
    everywhere = frozenset(range(8))  # before a thread is bound
    assert {len(cpus) for cpus in seen if cpus != everywhere} == {1}, seen
    threads = {min(cpus) for cpus in seen if cpus != everywhere}
    # Cores before siblings: two threads on each domain have a core each.
    assert threads <= {0, 2, 4, 6}, seen
    assert threads & {0, 2}, seen
    assert threads & {4, 6}, seen


def test_the_kernel_saw_pages_only_where_they_were_asked_to_be(machine: Machine) -> None:
    job = machine.job("numa-table")
    lines = (job.folder / "seen").read_text().splitlines()
    touched: Counter[str] = Counter()
    for line in lines:
        if asked := re.search(r" prefer:(\d+) ", line):
            pages = dict(re.findall(r" N(\d+)=(\d+)", line))
            assert set(pages) <= {asked[1]}, line
            touched[asked[1]] += bool(pages)
    assert touched["0"] > 0, lines[:20]
    assert touched["1"] > 0, lines[:20]


def test_staging_memory_lies_on_the_domains_of_the_writer_threads(machine: Machine) -> None:
    job = machine.job("openmpi-writer-threads")
    assert job.status == 0, job.output
    lines = [
        line for line in (job.folder / "seen").read_text().splitlines() if " interleave:" in line
    ]
    assert {re.findall(r" interleave:(\S+) ", line)[0] for line in lines} == {"0-1"}, lines
    pages = {domain: int(number) for domain, number in re.findall(r" N(\d)=(\d+)", lines[-1])}
    assert pages.keys() == {"0", "1"}, lines[-1]
    assert sum(pages.values()) * PAGE >= STAGING_BYTES, lines[-1]
    # In turn, by huge pages where there are some.
    assert abs(pages["0"] - pages["1"]) <= max(pages.values()) / 2, lines[-1]


def test_a_writer_thread_runs_on_the_domain_that_its_server_does_not(machine: Machine) -> None:
    job = machine.job("openmpi-writer-threads")
    lines = (job.folder / "seen").read_text().splitlines()
    seen = {cpu_list(line.split()[1]) for line in lines if line.startswith("Cpus_allowed_list")}
    rows = job.rows().values()
    (server,) = (row.cpus for row in rows if row.role == "server")
    (domain,) = (domain for domain, cpus in enumerate(DOMAIN_CPUS) if not server & cpus)
    assert seen, lines
    taken = frozenset().union(*(row.cpus for row in rows))
    assert frozenset().union(*seen) == DOMAIN_CPUS[domain] - taken, seen


def test_auto_takes_a_policy_for_each_operation_and_says_why(machine: Machine) -> None:
    found = results(machine.job("numa"))
    assert [(one["operation"], one["memory"]) for one in found["auto"]] == [
        (operation, memory) for operation in ("write", "read", "copy") for memory in ("each", "one")
    ]
    for one in found["auto"]:
        assert one["policy"] in POLICIES - {"round-trip"}, one
        assert one["policy"] in one["reason"], one


def test_what_auto_takes_is_written_into_the_settings(machine: Machine) -> None:
    job = machine.job("numa")
    policies = {
        one["memory"]: one["policy"] for one in results(job)["auto"] if one["operation"] == "copy"
    }
    best = policies["each"] if policies["each"] == policies["one"] else "auto"
    assert (job.folder / "settings.toml").read_text().splitlines() == [
        "[writing]",
        f'policy = "{best}"',
    ]


def test_the_table_and_the_heat_map_are_there(machine: Machine) -> None:
    job = machine.job("numa-table")
    assert job.status == 0, job.output
    assert re.search(r"^2 NUMA domains of this machine$", job.output, re.MULTILINE), job.output
    assert re.search(r"^  domain 1: CPUs 4-7$", job.output, re.MULTILINE), job.output
    assert re.search(
        r"^memory +domains +threads +local +pull +push +round-trip +round-robin$",
        job.output,
        re.MULTILINE,
    ), job.output
    rates = r"( +[\d.]+ \([\d.]+ to [\d.]+\)){5}$"
    assert re.search(rf"^on each +2 +4{rates}", job.output, re.MULTILINE), job.output
    assert re.search(r"^copy +memory on one +\S+ +\S.*GiB/s", job.output, re.MULTILINE), job.output
    assert "direct-write is left out: the file system has no O_DIRECT." in job.output
    drawing = xml.dom.minidom.parse(str(machine.job("numa").folder / "heat.svg"))
    words = {text.firstChild.data for text in drawing.getElementsByTagName("text")}
    assert words >= POLICIES


def test_what_a_full_domain_could_not_take_is_marked_and_left_out(machine: Machine) -> None:
    found = results(machine.job("numa-full"))
    by_policy = {
        (trial["memory"], trial["domains"], trial["policy"]): trial for trial in found["trials"]
    }
    stays = by_policy["one", 1, "local"]
    assert stays["misplaced"] == 0, stays
    assert stays["median_gib_per_second"] > 0, stays
    for memory, policy in (("each", "local"), ("each", "push"), ("one", "pull"), ("one", "push")):
        trial = by_policy[memory, DOMAINS, policy]
        assert trial["misplaced"] == NUMA_ROUNDS, trial
        assert trial["median_gib_per_second"] is None, trial
        story = trial["samples"][0]["misplaced"]
        where = f"pages of the buffer lie on domain 0 instead of {FULL_DOMAIN}"
        assert re.fullmatch(rf"\d+ of \d+ {where}", story), story
    assert any("did not lie where it was asked to" in note for note in found["notes"])
