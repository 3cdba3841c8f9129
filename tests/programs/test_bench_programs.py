# SPDX-License-Identifier: BSD-3-Clause
"""Every program of the benchmarks runs, and its result has what the figures need.

Too small to mean anything.
"""

import os
from pathlib import Path
from typing import Any

import pytest

from iocomp_studies.launch import Build, Launch, RunFailedError

MESSAGE = {"mode": "async", "transport.kind": "message", "trace.lines": "start"}


@pytest.fixture
def build() -> Build:
    return Build.read(Path(os.environ["IOCOMP_BUILD"]))


def run(
    build: Build, program: str, arguments: str, ranks: int, settings: dict[str, str] | None = None
) -> dict[str, Any]:
    # Any cores do here, and there may be one only.
    cpus = (min(os.sched_getaffinity(0)),) * ranks
    return build.run(
        Launch(program, tuple(arguments.split()), cpus, MESSAGE if settings is None else settings)
    )


def test_interference_compares_every_kernel(build: Build, tmp_path: Path) -> None:
    arguments = "--pairs 1 --slice 0.002 --server idle --idle-seconds 0.01"
    result = run(build, "bench/interference", arguments, 2)
    assert set(result["kernels"]) == {"triad-cache", "triad-memory", "dense", "sparse"}
    for seconds in result["kernels"].values():
        assert seconds["alone_seconds"] > 0
        assert seconds["beside_seconds"] > 0
    assert (result["servers"], result["idle_seconds"]) == (1, 0.01)
    assert result["server_cpu_seconds"] >= 0


def test_interference_writes_meanwhile(build: Build, tmp_path: Path) -> None:
    arguments = "--pairs 2 --slice 0.005 --server writing --kernels dense --block 1MiB --alloc"
    result = run(build, "bench/interference", f"{arguments} --file {tmp_path}/i", 2)
    assert result["bytes_written"] >= 2 << 20


def test_interference_runs_without_servers(build: Build) -> None:
    result = run(build, "bench/interference", "--pairs 1 --slice 0.002 --server none", 1, {})
    assert result["servers"] == 0
    assert result["alone_seconds"] > 0


@pytest.mark.parametrize("extra", ["", "--alloc", "--buffered"])
def test_hand_off_times_every_size(build: Build, tmp_path: Path, extra: str) -> None:
    arguments = f"--sizes 4KiB,1MiB --most 3 --baseline --file {tmp_path}/h {extra}"
    sizes = run(build, "bench/hand_off", arguments, 2)["sizes"]
    assert set(sizes) == {"4096", "1048576"}
    for size in sizes.values():
        assert size["puts"] == 3
        assert 0 < size["put"]["median"] <= size["handed_over"]["median"]
        assert size["handed_over"]["median"] <= size["written"]["median"]
        assert size["memcpy"]["p99"] <= size["memcpy"]["longest"]
        assert size["mpi_isend"]["median"] <= size["mpi_handed_over"]["median"]


def test_scale_counts_every_hand_off(build: Build, tmp_path: Path) -> None:
    settings = {**MESSAGE, "placement.servers": "[4]"}
    arguments = f"--puts 64 --steps 2 --batch 5 --file {tmp_path}/s"
    result = run(build, "bench/scale", arguments, 5, settings)
    assert (result["compute_ranks"], result["servers"]) == (4, 1)
    assert (result["hand_offs"], result["bytes"]) == (128, 128 * 4096)
    assert (tmp_path / "s").stat().st_size >= result["bytes"]
    assert result["server_peak_bytes"] > 0


@pytest.mark.parametrize("mode", ["iwrite", "bp5-naive", "bp5-guided"])
@pytest.mark.parametrize("program", ["bench/overlap", "bench/rivals/stream_rivals"])
def test_rivals_write_all(build: Build, tmp_path: Path, mode: str, program: str) -> None:
    arguments = {
        "bench/overlap": f"--mode {mode} --puts 3 --bytes 1MiB --compute-bytes 1MiB",
        "bench/rivals/stream_rivals": f"--rival {mode} --size 1MiB --loops 3 --write-every 2",
    }[program]
    try:
        result = run(build, program, f"{arguments} --file {tmp_path}/r", 2, {})
    except RunFailedError as error:
        if "built without ADIOS2" not in str(error):
            raise
        pytest.skip("built without ADIOS2")
    path = tmp_path / "r"
    files = [path] if path.is_file() else list(path.iterdir())
    arrays = 3 if program == "bench/overlap" else 2 * 4
    assert sum(file.stat().st_size for file in files) >= 2 * arrays << 20
    assert result["wall_until_durable_seconds"] > 0


def test_overlap_and_stream_put_from_memory_of_iocomp(build: Build, tmp_path: Path) -> None:
    arguments = f"--mode iocomp --alloc --puts 3 --bytes 1MiB --file {tmp_path}/o"
    assert run(build, "bench/overlap", arguments, 2)["puts"] == 3
    arguments = "--alloc --size 1MiB --loops 3 --write-every 2 --verify --pattern index"
    result = run(build, "apps/stream/stream", f"{arguments} --file {tmp_path}/t", 2)
    assert result["file_verified"] is True


@pytest.mark.parametrize("form", ["netcdf", "hdf5", "hdf5 time", "pnetcdf", "mpiio"])
def test_stream_finds_right_what_it_wrote(build: Build, tmp_path: Path, form: str) -> None:
    backend, _, layout = form.partition(" ")
    arguments = "--size 64KiB --loops 4 --write-every 2 --verify --pattern index"
    arguments += f" --backend {backend} --file {tmp_path}/t"
    settings = {**MESSAGE, "files.stream.layout": layout or "steps"}
    try:
        result = run(build, "apps/stream/stream", arguments, 2, settings)
    except RunFailedError as error:
        if "is not installed" not in str(error):
            raise
        pytest.skip(f"built without {backend}")
    assert result["file_verified"] is True


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize("order", ["", "--shuffled"])
def test_decomposition_takes_at_most_32_bytes_per_run(
    build: Build, tmp_path: Path, mode: str, order: str
) -> None:
    arguments = f"--runs 20000 --mode {mode} {order} --file {tmp_path}/d"
    settings = {**MESSAGE, "mode": mode}
    result = run(build, "bench/decomposition", arguments, 4, settings)
    assert result["define_seconds"] > 0
    assert 0 < result["bytes_per_run"] <= 33  # and what the allocator adds
    assert len(result["put_seconds"]) == 3


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_small_variables_are_timed(build: Build, tmp_path: Path, mode: str) -> None:
    arguments = f"--variables 20 --steps 2 --mode {mode} --file {tmp_path}/s"
    settings = {**MESSAGE, "mode": mode}
    result = run(build, "bench/small_variables", arguments, 2, settings)
    assert result["call_seconds_per_variable"] > 0
    assert result["wall_seconds_per_variable"] >= result["call_seconds_per_variable"]


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_commits_are_timed_beside_two_fsyncs(build: Build, tmp_path: Path, mode: str) -> None:
    arguments = f"--variables 2 --steps 5 --large-pairs 2 --bytes 1MiB --mode {mode}"
    settings = {**MESSAGE, "mode": mode}
    result = run(build, "bench/commit", f"{arguments} --file {tmp_path}/c", 2, settings)
    for key in ("small_step", "two_fsyncs"):
        assert result[f"{key}_seconds"]["median"] > 0, result
    for key in ("durable", "committed"):
        assert len(result[f"{key}_seconds"]) == 2, result
    assert [path.name for path in tmp_path.iterdir() if "plain" in path.name] == []


def test_first_and_last_commits_are_told(build: Build, tmp_path: Path) -> None:
    arguments = f"--variables 1 --steps 120 --no-fsyncs --mode async --file {tmp_path}/c"
    result = run(build, "bench/commit", arguments, 1, {"mode": "async"})
    assert result["first_steps_seconds"] > 0
    assert result["last_steps_seconds"] > 0
    assert result["two_fsyncs_seconds"]["longest"] == 0


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_checkpoints_are_timed_with_and_without_checksums(
    build: Build, tmp_path: Path, mode: str
) -> None:
    settings = {"mode": mode, "trace.json": str(tmp_path / "trace.json")}
    arguments = f"--bytes 64KiB --pairs 3 --mode {mode} --file {tmp_path}/c.dat"
    result = run(build, "bench/checkpoint", arguments, 2, settings)
    assert (result["bytes"], len(result["with_seconds"])) == (2 * 65536, 3)
    assert len(result["without_seconds"]) == 3
    assert result["trace"]["compute_sum"]["commit_seconds"] > 0
    assert [path.name for path in tmp_path.iterdir()] == ["trace.json"]


def test_series_are_timed_with_the_settings_that_are_given(build: Build, tmp_path: Path) -> None:
    arguments = (
        f"--bytes 64KiB --pairs 2 --mode sync --series --file {tmp_path}/c.dat "
        "--with type='float32' --without type='program'"
    )
    result = run(build, "bench/checkpoint", arguments, 2, {})
    assert len(result["with_seconds"]) == len(result["without_seconds"]) == 2
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("readers", [2, 3])
def test_a_checkpoint_is_read_by_fewer_ranks(build: Build, tmp_path: Path, readers: int) -> None:
    arguments = f"--bytes 1MiB --readers {readers} --pairs 2 --file {tmp_path}/r.dat"
    result = run(build, "bench/restart", arguments, 4, {"mode": "sync"})
    for source in ("from_disk", "from_cache"):
        assert len(result[source]["iocomp_seconds"]) == 2
        assert all(seconds > 0 for seconds in result[source]["plain_seconds"])


def test_fortran_cost_times_both_languages(build: Build, tmp_path: Path) -> None:
    if not (build.directory / "bench/fortran_cost").exists():
        pytest.skip("no Fortran")
    arguments = f"--file {tmp_path}/f --repeats 5"
    sizes = run(build, "bench/fortran_cost", arguments, 1, {"mode": "sync"})["sizes"]
    assert set(sizes) == {"4096", "67108864"}
    for size in sizes.values():
        assert size["fortran_seconds"] > 0
        assert size["c_seconds"] > 0
