# SPDX-License-Identifier: BSD-3-Clause
"""One put of more than 2^31 elements, read back here and there."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from actors import Actors
from files import WAYS, extension, file_settings, mode_settings, skip_if_missing, values
from iocomp import open_files

ELEMENTS = 2**31 + 4099
GIB = 2**30
SAMPLE = 4096


def skip_without_room(folder: Path) -> None:
    if shutil.disk_usage(folder).free < 8 * GIB:
        pytest.skip("less than 8 GiB are free on the disk")
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:") and int(line.split()[1]) * 1024 < 8 * GIB:
            pytest.skip("less than 8 GiB of memory are available")


@pytest.mark.parametrize(("back_end", "mode"), WAYS)
def test_more_than_two_to_the_31_elements_in_one_put(
    actors: Actors, back_end: str, mode: str
) -> None:
    skip_if_missing(actors.build, back_end)
    skip_without_room(actors.folder)
    path = f"out{extension(back_end)}"
    text = f"""
init
open out series
define out u int8 {ELEMENTS}
@0 put out u by=whole
end_step out
wait out durable
close out
"""
    job = actors.play(
        text,
        ranks=2,
        settings={
            **mode_settings(mode),
            "files": {"out": file_settings(back_end, path=path)},
            "staging": {"memory": "256 MiB"},
        },
        environment={"IOCOMP_WAIT_DEADLINE": "120"},
        seconds=280,
    )
    assert not job.failures(), job
    assert job.status == 0, job
    with open_files(job.folder / path) as dataset:
        assert dataset.shape("u", 0) == (ELEMENTS,)
        edges = [0, 2**30 - 7, 2**31 - SAMPLE // 2, 2**31, ELEMENTS - SAMPLE]
        spread = np.linspace(0, ELEMENTS - SAMPLE, 200, dtype=np.int64).tolist()
        for first in edges + spread:
            found = dataset.read("u", 0, slice(first, first + SAMPLE))
            assert np.array_equal(found, values("i1", SAMPLE, 0, first)), first
    (job.folder / path).unlink()


@pytest.mark.parametrize("back_end", ["pnetcdf", "netcdf"])
def test_one_rank_reads_more_than_two_to_the_31_elements(actors: Actors, back_end: str) -> None:
    """At once, through netCDF, which counts in 32 bits in some places."""
    skip_if_missing(actors.build, back_end)
    skip_without_room(actors.folder)
    path = f"out{extension(back_end)}"
    text = f"init\nopen out checkpoint\ndefine out u int8 {ELEMENTS}\nput out u by=whole\n"
    job = actors.play(
        f"{text}close out\nread out\n",
        ranks=1,
        settings={**mode_settings("sync"), "files": {"out": file_settings(back_end, path=path)}},
        environment={"IOCOMP_WAIT_DEADLINE": "120"},
        seconds=280,
    )
    assert job.status == 0 and not job.failures(), job
    (read,) = job.calls("read")
    assert read["right"] and read["steps"] == [0], job
    (job.folder / f"out.000000{extension(back_end)}").unlink()
