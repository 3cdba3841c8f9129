# SPDX-License-Identifier: BSD-3-Clause
"""All scenarios: every back-end, both modes, all placements of servers, sizes of every kind."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from actors import Actors, Job
from case import Case, Placement, Tuning
from scenarios import all_scenarios
from verification import BackEnd

BACK_ENDS = [
    BackEnd("posix"),
    BackEnd("mpiio"),
    BackEnd("hdf5"),
    BackEnd("hdf5", flat=True),
    BackEnd("hdf5", time=True),
    BackEnd("pnetcdf"),
    BackEnd("netcdf"),
    BackEnd("zarr"),
    BackEnd("example_format"),
    BackEnd("adios2", engine="BP5"),
    BackEnd("adios2", engine="BP4"),
    BackEnd("adios2", engine="HDF5"),
]


def _sync(ranks: int) -> Placement:
    return Placement(f"sync{ranks}", ranks, ranks, {"mode": "sync"})


def _async(label: str, ranks: int, serving: int, policy: str, **settings: object) -> Placement:
    chosen = {f"placement.{key}": value for key, value in settings.items()}
    return Placement(
        f"{label}_{ranks - serving}to{serving}",
        ranks,
        ranks - serving,
        {"mode": "async", "placement.policy": policy, **chosen},
    )


def _kernel(ranks: int) -> Placement:
    settings = {"mode": "async", "placement.servers": "none"}
    return Placement(f"kernel{ranks}", ranks, ranks, settings)


PLACEMENTS = [
    _sync(1),
    _sync(2),
    _sync(3),
    _kernel(1),
    _kernel(3),
    _async("halves", 2, 1, "halves"),
    _async("halves", 3, 1, "halves"),
    _async("halves", 4, 2, "auto", servers="1 per 1"),
    _async("halves_of_2", 5, 2, "halves", node_size=2),
    _async("spread", 4, 1, "spread", servers="1 per 3"),
    _async("spread", 6, 2, "spread", servers="2 per node"),
    _async("packed", 5, 2, "packed", servers="1 per 2"),
    _async("packed", 7, 3, "packed", servers="3 per node"),
    _async("packed", 8, 4, "packed", servers="4 per node"),
    _async("list", 3, 1, "auto", servers=[1]),
    _async("list", 5, 2, "auto", servers=[4, 0]),
]
TUNINGS = [
    Tuning("default"),
    Tuning(
        "tiny",
        {
            "test.chunk": "96 B",
            "test.inline": "0 B",
            "test.credits": 2,
            "client.buffer_memory": "64 KiB",
        },
        {"steps_in_flight": 1},
        staging_per_server=64 << 10,
    ),
    Tuning(
        "odd",
        {
            "test.chunk": "1000 B",
            "test.inline": "65 B",
            "test.credits": 3,
            "client.buffer_memory": "100 KiB",
            "disk.engine": "threads",
            "test.disk_threads": 2,
            "disk.direct": "off",
        },
        staging_per_server=150_000,
    ),
    Tuning(
        "inside",
        {"test.inline": "1 MiB", "disk.direct": "on", "test.request": "4 KiB"},
        {"steps_in_flight": 9},
    ),
    Tuning("unaligned", {"test.chunk": "24 B"}, {"alignment": 1}),
    Tuning("message", {"transport.kind": "message"}),
    Tuning("pull", {"test.way": "pull", "test.inline": "0 B", "test.spin": 0}),
    Tuning("in-place", {"test.way": "in-place", "disk.direct": "on"}),
    Tuning("staged", {"test.way": "staged", "test.direct_from": "4 KiB"}),
]


QUICK = [
    "posix-sync2-odd",
    "posix-kernel3-tiny",
    "hdf5-kernel3-odd",
    "posix-halves_2to2-default",
    "posix-packed_3to2-tiny",
    "posix-halves_2to2-message",
    "posix-packed_3to2-pull",
    "hdf5-list_3to2-staged",
    "posix-halves_2to2-in-place",
    "mpiio-sync2-inside",
    "mpiio-halves_2to2-odd",
    "mpiio-packed_3to2-odd",
    "hdf5-sync1-unaligned",
    "hdf5-spread_3to1-odd",
    "hdf5-halves_2to2-default",
    "hdf5_flat-kernel3-tiny",
    "hdf5_flat-packed_3to2-odd",
    "hdf5_time-kernel3-tiny",
    "hdf5_time-halves_2to2-odd",
    "adios2_BP5-sync2-default",
    "adios2_BP5-packed_3to2-tiny",
    "adios2_BP4-halves_2to2-default",
    "adios2_HDF5-halves_2to2-staged",
    "adios2_HDF5-halves_1to1-default",
    "pnetcdf-sync2-odd",
    "pnetcdf-kernel3-tiny",
    "pnetcdf-packed_3to2-staged",
    "netcdf-halves_2to2-odd",
    "netcdf-kernel3-default",
    "zarr-sync1-default",
    "zarr-sync2-odd",
    "zarr-halves_2to2-default",
    "zarr-packed_3to2-tiny",
]


# These run again with each call from a thread that ends with it.
FRESH_THREADS = [
    "posix-kernel3-tiny",
    "hdf5-kernel3-odd",
    "posix-halves_2to2-message",
    "posix-halves_2to2-in-place",
    "mpiio-sync2-inside",
    "pnetcdf-sync2-odd",
    "netcdf-kernel3-default",
    "hdf5_time-kernel3-tiny",
    "zarr-sync2-odd",
    "adios2_BP5-sync2-default",
]


def _is_chosen(label: str, number: int, back_end: BackEnd, placement: Placement) -> bool:
    """Every placement with every tuning for posix; elsewhere each with some of the others."""
    if back_end.needs_its_library and placement.label.startswith("kernel"):
        return False
    everything = back_end.has_plain_layout and back_end.name == "posix" and placement.settings["mode"] == "async"
    return everything or number % 5 == 0 or label in QUICK


def _cases() -> list[Any]:
    cases = []
    for b, back_end in enumerate(BACK_ENDS):
        for p, placement in enumerate(PLACEMENTS):
            for t, tuning in enumerate(TUNINGS):
                label = f"{back_end.label}-{placement.label}-{tuning.label}"
                if _is_chosen(label, b + p + t, back_end, placement):
                    marks = [pytest.mark.quick] * (label in QUICK)
                    marks += [pytest.mark.fresh_threads] * (label in FRESH_THREADS)
                    cases.append(pytest.param(back_end, placement, tuning, id=label, marks=marks))
    return cases


_digests: dict[tuple[int, str], tuple[str, str]] = {}


def _compare_with_other_jobs(job: Job, alignment: int, case: str) -> list[str]:
    """Plain files have the same bytes whoever wrote them."""
    wrong = []
    for path in sorted(job.folder.glob("*.bin")):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        first, by = _digests.setdefault((alignment, path.name), (digest, case))
        if digest != first:
            wrong.append(f"{path.name} differs from what {by} wrote")
    return wrong


@pytest.mark.parametrize(("back_end", "placement", "tuning"), _cases())
def test_files_hold_what_was_put(
    back_end: BackEnd,
    placement: Placement,
    tuning: Tuning,
    actors: Actors,
    request: pytest.FixtureRequest,
) -> None:
    if not actors.build.has_back_end(back_end.name):
        pytest.skip(f"the back-end {back_end.name} was not built")
    without_servers = placement.ranks == placement.compute_ranks
    writes_at_once = back_end.writes_at_once(without_servers)
    script = all_scenarios(
        writes_at_once, back_end.lacks, back_end.is_netcdf, back_end.may_change, back_end.engine
    )
    if back_end.flat:
        for file in script.files.values():
            file.settings["kind"] = "file_per_step"
    case = Case(script, back_end, placement, tuning)
    job = case.play(actors)
    wrong = case.wrong_in(job)
    if back_end.has_plain_layout and not wrong:
        wrong = _compare_with_other_jobs(job, case.alignment, request.node.callspec.id)
    assert not wrong, "\n".join([f"in {job.folder}", *wrong[:20]])
    job.forget()
