# SPDX-License-Identifier: BSD-3-Clause
"""benchio and tile write, read back and compare every element, with iocomp and without.

Too small to mean anything as measurements.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from iocomp_studies.launch import Build, Launch, RunFailedError

SYNC = {"mode": "sync", "trace.lines": "start"}
ONE_SERVER = {
    "mode": "async",
    "transport.kind": "message",
    "trace.lines": "start",
    "placement.policy": "tail",
    "placement.servers": "1 per node",
}
FIRST_SERVES = ONE_SERVER | {"placement.policy": "auto", "placement.servers": "[0]"}
BASELINES = ("posix", "mpiio", "hdf5", "netcdf", "pnetcdf", "adios2", "adios2-async")


@pytest.fixture
def build() -> Build:
    return Build.read(Path(os.environ["IOCOMP_BUILD"]))


def run(
    build: Build, program: str, arguments: str, ranks: int, settings: dict[str, str]
) -> dict[str, Any]:
    # Any cores do here, and there may be one only.
    cpus = (min(os.sched_getaffinity(0)),) * ranks
    return build.run(Launch(f"apps/{program}", tuple(arguments.split()), cpus, settings))


def benchio(
    build: Build, directory: Path, arguments: str, ranks: int, settings: dict[str, str]
) -> dict[str, Any]:
    arguments = f"--size 13,12,10 --directory {directory} --check all --repetitions 2 {arguments}"
    return run(build, "benchio/benchio", arguments, ranks, settings)


@pytest.mark.parametrize(
    "settings", [SYNC, ONE_SERVER, FIRST_SERVES], ids=["sync", "async", "first-serves"]
)
def test_benchio_finds_every_element_again(
    build: Build, tmp_path: Path, settings: dict[str, str]
) -> None:
    result = benchio(build, tmp_path, "--backend posix,mpiio --steps 3", 4, settings)
    ranks = 4 if settings is SYNC else 3
    assert result["compute_ranks"] == ranks
    assert np.prod(result["grid"]) == ranks
    assert result["bytes"] == 13 * 12 * 10 * 8 * 3
    for way in ("iocomp posix", "iocomp mpiio"):
        assert result["ways"][way]["checked_repetitions"] == 2
        assert len(result["ways"][way]["seconds"]) == 2
        bandwidth = result["ways"][way]["gib_per_second"]
        assert bandwidth["best"] >= bandwidth["median"] >= bandwidth["worst"] > 0
    assert list(tmp_path.iterdir()) == []


def test_benchio_writes_what_its_documentation_says(build: Build, tmp_path: Path) -> None:
    benchio(build, tmp_path, "--backend posix --keep --grid 1,2,2", 4, SYNC)
    found = np.fromfile(tmp_path / "benchio-posix.bin", dtype="<f8")
    elements = 13 * 12 * 10
    stamp = 2  # of the second repetition
    assert np.array_equal(found, np.arange(elements) + stamp * elements)


@pytest.mark.parametrize("name", BASELINES)
def test_every_baseline_finds_every_element_again(
    build: Build, tmp_path: Path, name: str
) -> None:
    try:
        result = benchio(build, tmp_path, f"--baseline {name} --steps 2 --read", 3, {})
    except RunFailedError as error:
        if "built without" not in str(error):
            raise
        pytest.skip(f"built without {name}")
    assert list(result["ways"]) == [name]
    assert result["ways"][name]["checked_repetitions"] == 2
    assert result["ways"][name]["read_gib_per_second"]["median"] > 0
    assert "settings" not in result  # no iocomp in the path


@pytest.mark.parametrize(
    ("layout", "files"),
    [("--layout process", 3), ("--layout node --node-size 2", 2), ("--layout node", 1)],
)
def test_files_may_belong_to_a_process_or_a_node(
    build: Build, tmp_path: Path, layout: str, files: int
) -> None:
    arguments = f"--backend posix {layout} --keep --baseline mpiio --ratio"
    result = benchio(build, tmp_path, arguments, 4, ONE_SERVER)
    assert all(way["checked_repetitions"] == 2 for way in result["ways"].values())
    assert len(list(tmp_path.glob("benchio-posix-*.bin"))) == files
    assert len(list(tmp_path.glob("benchio-baseline-mpiio-*.raw"))) == files


def test_ratios_are_made_in_one_job(build: Build, tmp_path: Path) -> None:
    arguments = "--backend posix:sync,posix --baseline none,posix-one,mpiio --ratio --fsync out"
    result = benchio(build, tmp_path, f"{arguments} --phase 0.5", 3, ONE_SERVER)
    ratios = result["bandwidth_over_baseline"]
    assert set(ratios) == {"iocomp posix:sync", "iocomp posix"}
    found = result["ways"]
    for way, against in ratios.items():
        assert set(against) == {"none", "posix-one", "mpiio"}
        own, other = found[way]["seconds"], found["mpiio"]["seconds"]
        expected = sorted(b / a for a, b in zip(own, other, strict=True))
        assert against["mpiio"]["least"] == pytest.approx(expected[0])
        assert against["mpiio"]["most"] == pytest.approx(expected[-1])
    assert all(seconds > 0 for seconds in found["none"]["compute_seconds"])


def test_weak_scaling_gives_each_rank_its_block(build: Build, tmp_path: Path) -> None:
    arguments = f"--per-rank 3,4,5 --grid 1,1,3 --directory {tmp_path} --repetitions 1"
    result = run(build, "benchio/benchio", arguments, 3, SYNC)
    assert (result["shape"], result["scaling"]) == ([3, 4, 15], "weak")
    assert result["ways"]["iocomp"]["checked_repetitions"] == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--grid 2,2,2", "--grid has 8 places, but 2 ranks compute"),
        ("--baseline nonsense", "there are none, posix, posix-one, mpiio"),
        ("--backend posix:quickly", "the mode is sync or async"),
        ("--backend nonsense", "nonsense"),
        ("--phase 2", "--phase needs a synchronous way"),
    ],
)
def test_mistakes_are_told(build: Build, tmp_path: Path, arguments: str, words: str) -> None:
    with pytest.raises(RunFailedError) as failure:
        benchio(build, tmp_path, arguments, 2, SYNC)
    assert words in str(failure.value)


def test_tiles_are_written_and_read_with_their_overlap(build: Build, tmp_path: Path) -> None:
    arguments = (
        f"--tiles 2,2 --size 6,5 --overlap 2,1 --element 24 --directory {tmp_path} --check all"
        " --repetitions 2 --backend posix --baseline mpiio --ratio --aggregators 1"
    )
    result = run(build, "tile/tile", arguments, 4, SYNC)
    assert result["shape"] == [12, 10, 3]
    for way in result["ways"].values():
        assert way["checked_repetitions"] == 2
        # each tile reads 2 more rows and 1 more column of its neighbours
        read_bytes = 4 * 8 * 6 * 24
        reading = way["read_gib_per_second"]["best"] * min(way["read_seconds"])
        assert reading == pytest.approx(read_bytes / 2**30)
