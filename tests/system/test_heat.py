# SPDX-License-Identifier: BSD-3-Clause
"""The chain of jobs of a simulation: killed at random moments, gone on with, and the same in the end."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from actors import Build
from files import (
    FORMATS,
    MODES,
    dumped_steps,
    extension,
    file_settings,
    mode_settings,
    skip_if_missing,
)
from processes import environment_without_iocomp, processes_in
from zarr_packages import dumped, values_of

from manifests import whole_manifest

KILLS = int(os.environ.get("IOCOMP_TEST_KILLS", "4"))  # `make check-chains`: 50
# Few and small, so that a job is killed as often while it starts, commits or ends as in between.
SIZE, EVERY = 16, 4  # a plane in each step
MARGIN = 8  # checkpoints behind the last kill
CHECKPOINTS = max(12, KILLS * 5 // 4) + MARGIN
STEPS = CHECKPOINTS * EVERY
RAW = ("posix", "mpiio")
# ADIOS2's HDF5 files commit nothing before they are closed.
BACK_ENDS = [name for name in FORMATS if name != "adios2-hdf5"]


def environment(back_end: str, mode: str) -> dict[str, str]:
    # A checkpoint has one step in each file, so no layout along time, which compressed HDF5 needs.
    of_restart = "hdf5" if "hdf5" in back_end else back_end
    settings = {
        f"files.{name}.{key}": str(value)
        for name, of in (("plane", back_end), ("restart", of_restart))
        for key, value in file_settings(of).items()
    }
    if back_end == "adios2":
        settings["files.plane.kind"] = "file_per_step"  # no job goes on with one dataset of it
    modes = mode_settings(mode)
    if "mode" in modes:
        settings["mode"] = str(modes["mode"])
    if mode == "async":
        settings["placement.servers"] = "1 per 1"
    return environment_without_iocomp() | {
        f"IOCOMP_{name.replace('.', '_').upper()}": text for name, text in settings.items()
    }


def start(build: Build, ranks: int, folder: Path, steps: int, environ: dict[str, str]) -> subprocess.Popen[str]:
    command = [*build.launcher, str(ranks), build.heat, "--size", str(SIZE), "--steps", str(steps)]
    return subprocess.Popen(
        [*command, "--every", str(EVERY)],
        cwd=folder,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(build: Build, ranks: int, folder: Path, environ: dict[str, str]) -> str:
    job = start(build, ranks, folder, STEPS, environ)
    output, _ = job.communicate(timeout=600 * build.time_factor)
    assert job.returncode == 0, output
    return output


def kill_all(job: subprocess.Popen[str], folder: Path) -> None:
    while processes := processes_in(folder):
        for process in processes:
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.01)
    output, _ = job.communicate()
    print(output, end="")


def newest_checkpoint(folder: Path) -> int:
    """Return how many were committed, also such as were removed by now."""
    steps = [int(path.name.split(".")[1]) for path in folder.glob("restart.*.json")]
    return (max(steps) + 1) // EVERY if steps else 0


def run_until(job: subprocess.Popen[str], folder: Path, checkpoints: int, seconds: float) -> bool:
    """Let a job run until so many checkpoints are there, and a while longer. Return whether it lives.

    It gets no further than to its next checkpoint, so a quick one has not ended by then.
    """
    reached = newest_checkpoint(folder)
    while job.poll() is None and reached < checkpoints:
        time.sleep(0.001)
        reached = newest_checkpoint(folder)
    end = time.monotonic() + seconds
    while job.poll() is None and newest_checkpoint(folder) <= reached and time.monotonic() < end:
        time.sleep(0.001)
    return job.poll() is None


def files_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {"dumped"}


def values(build: Build, back_end: str, folder: Path, step: int) -> bytes:
    """Return the bytes of the temperature in a checkpoint."""
    if back_end in RAW:
        whole = (folder / f"restart.{step:06}.bin").read_bytes()
        return whole[: 8 * SIZE**3]
    if "adios2" in back_end:
        engine = "BP4" if "bp4" in back_end else "BP5"
        return bytes(dumped_steps(build, folder / f"restart.{step:06}.bp", engine)[0]["u"].tobytes())
    path = folder / f"restart.{step:06}{extension(back_end)}"
    if path.suffix == ".h5":
        import h5py

        with h5py.File(path) as file:
            return bytes(file["u" if "u" in file else f"{step}/u"][()].tobytes())
    if path.suffix == ".zarr":
        return values_of(dumped(path)["arrays"]["u"]).tobytes()
    import netCDF4

    with netCDF4.Dataset(path) as dataset:
        return np.asarray(dataset["u"][:], "<f8").tobytes()


def planes(build: Build, back_end: str, folder: Path) -> bytes:
    """Return the bytes of all planes, whatever else is in the file."""
    if back_end in RAW:
        return (folder / "plane.bin").read_bytes()
    if back_end == "adios2":
        files = sorted(folder.glob("plane.*.bp"))
        assert len(files) == STEPS
        return b"".join(dumped_steps(build, file, "BP5")[0]["u"].tobytes() for file in files)
    path = folder / f"plane{extension(back_end)}"
    lines = whole_manifest(Path(f"{path}.json").read_bytes())["steps"]
    assert sum(line.get("count", 1) for line in lines) == STEPS
    times, bytes_of_all = times_and_bytes(build, back_end, path)
    assert len(times) == STEPS and times == sorted(set(times))
    return bytes_of_all


def times_and_bytes(build: Build, back_end: str, path: Path) -> tuple[list[float], bytes]:
    """Read all steps with the format's own reader."""
    if back_end == "adios2-bp4":
        found = dumped_steps(build, path, "BP4")[:STEPS]
        return [step["time"].item() for step in found], b"".join(step["u"].tobytes() for step in found)
    if path.suffix == ".zarr":
        arrays = dumped(path)["arrays"]
        return values_of(arrays["time"]).tolist(), values_of(arrays["u"]).tobytes()
    if path.suffix == ".nc":
        import netCDF4

        with netCDF4.Dataset(path) as file:
            return file["time"][:].tolist(), np.asarray(file["u"][:], "<f8").tobytes()
    import h5py

    with h5py.File(path) as file:
        if "u" in file:
            return file["time"][:].tolist(), file["u"][:].tobytes()
        steps = [file[str(step)] for step in range(STEPS)]
        return [float(step["time"][()]) for step in steps], b"".join(
            step["u"][()].tobytes() for step in steps
        )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_a_chain_of_jobs_ends_with_the_same_bytes(
    build: Build, tmp_path: Path, back_end: str, mode: str
) -> None:
    skip_if_missing(build, back_end)
    if not build.heat:
        pytest.skip("the clients were not built")
    environ = environment(back_end, mode)
    whole, chain = tmp_path / "whole", tmp_path / "chain"
    whole.mkdir()
    chain.mkdir()
    finish(build, 2, whole, environ)
    seed = int(os.environ.get("IOCOMP_TEST_SEED", random.SystemRandom().randrange(1 << 30)))
    print(f"IOCOMP_TEST_SEED={seed}")
    dice = random.Random(seed)
    ranks = (2, 3, 4) if mode == "async" else (1, 2, 3)
    for checkpoints in sorted(dice.randrange(CHECKPOINTS - MARGIN) for _ in range(KILLS)):
        reached = newest_checkpoint(chain)
        job = start(build, dice.choice(ranks), chain, STEPS, environ)
        # If that many are there already, it is killed while it starts.
        seconds = dice.uniform(0, 0.05 if checkpoints > reached else 0.7) * build.time_factor
        is_alive = run_until(job, chain, checkpoints, seconds)
        kill_all(job, chain)
        assert is_alive, f"it has ended before it was killed: {job.returncode}"
    finish(build, 3, chain, environ)
    for step in (STEPS - 1 - EVERY, STEPS - 1):  # the two that are kept
        is_same = values(build, back_end, chain, step) == values(build, back_end, whole, step)
        assert is_same, f"checkpoint {step} differs"
    is_same = planes(build, back_end, chain) == planes(build, back_end, whole)
    assert is_same, "the planes differ"
    assert files_in(chain) == files_in(whole), "something is left of the jobs that were killed"
