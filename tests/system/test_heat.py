"""The chain of jobs of a simulation: killed at random moments, gone on with, and the same in the end."""

from __future__ import annotations

import json
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
    MODES,
    dumped_steps,
    extension,
    file_settings,
    mode_settings,
    skip_if_missing,
    values_in,
)
from processes import environment_without_iocomp, processes_in

KILLS = int(os.environ.get("IOCOMP_TEST_KILLS", "4"))
SIZE, STEPS, EVERY = 24, 1500, 100
RAW = ("posix", "mpiio")
BACK_ENDS = (
    *RAW,
    "hdf5",
    "hdf5-time",
    "hdf5-deflate",
    "netcdf",
    "netcdf-deflate",
    "pnetcdf",
    "adios2-bp4",
)


def environment(back_end: str, mode: str) -> dict[str, str]:
    settings = {f"files.plane.{key}": str(value) for key, value in file_settings(back_end).items()}
    name = settings["files.plane.backend"]
    settings["files.restart.backend"] = "posix" if name == "adios2" else name
    modes = mode_settings(mode)
    if "mode" in modes:
        settings["mode"] = str(modes["mode"])
    if mode == "async":
        settings["placement.ratio"] = "1"
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
    output, _ = job.communicate(timeout=120 * build.time_factor)
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
    job.communicate()


def values(back_end: str, folder: Path, step: int) -> bytes:
    """Return the bytes of the temperature in a checkpoint."""
    if back_end in (*RAW, "adios2", "adios2-bp4"):
        whole = (folder / f"restart.{step:06}.bin").read_bytes()
        return whole[: 8 * SIZE**3]
    path = folder / f"restart.{step:06}{extension(back_end)}"
    if path.suffix == ".h5":
        import h5py

        with h5py.File(path) as file:
            return bytes(file[f"{step}/u"][()].tobytes())
    import netCDF4

    with netCDF4.Dataset(path) as dataset:
        return np.asarray(dataset["u"][:], "<f8").tobytes()


def planes(build: Build, back_end: str, folder: Path) -> bytes:
    """Return the bytes of all planes, whatever else is in the file."""
    if back_end in RAW:
        return (folder / "plane.bin").read_bytes()
    path = folder / f"plane{extension(back_end)}"
    steps = range(STEPS // (EVERY // 10))
    lines = json.loads(Path(f"{path}.json").read_text())["steps"]
    assert sum(line.get("count", 1) for line in lines) == len(steps)
    if "adios2" in back_end:
        found = dumped_steps(build, path, "BP4" if "bp4" in back_end else "BP5")[: len(steps)]
    else:
        found = [{name: values_in(back_end, path, step, name) for name in ("time", "u")} for step in steps]
    times = [float(step["time"].item()) for step in found]
    assert times == sorted(set(times))
    return b"".join(step["u"].tobytes() for step in found)


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
    for _ in range(KILLS):
        job = start(build, dice.choice([2, 3, 4]), chain, STEPS, environ)
        time.sleep(dice.uniform(0.1, 0.9) * build.time_factor)
        kill_all(job, chain)
    finish(build, 3, chain, environ)
    for step in (STEPS - 1 - EVERY, STEPS - 1):  # the two that are kept
        assert values(back_end, chain, step) == values(back_end, whole, step)
    assert planes(build, back_end, chain) == planes(build, back_end, whole)
