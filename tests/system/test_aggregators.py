# SPDX-License-Identifier: BSD-3-Clause
"""Files with a choice of aggregators: that the bytes are right, and who aggregates on several nodes.

The latter tests/mpi/aggregators_test.cpp sees, here on virtual nodes.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from actors import OK, Actors, Build, no_nodes, over_nodes
from files import check_file, extension, file_settings, leftovers, skip_if_missing

# With servers these are the aggregators; only ADIOS2 takes a number there too.
WAYS = [("posix", "sync"), ("mpiio", "sync"), ("hdf5", "sync"), ("adios2", "sync"), ("adios2", "async")]
SCRIPT = """init
open out series
define out u int64 512x512
put out u by=columns
end_step out
put out u by=columns
end_step out
close out
"""


def settings(back_end: str, mode: str, **more: object) -> dict[str, object]:
    path = f"out{extension(back_end)}"
    return {"mode": mode, "files": {"out": file_settings(back_end, path=path, **more)}}


@pytest.mark.parametrize(("count", "order"), [(1, "spread"), (2, "spread"), (2, "packed")])
@pytest.mark.parametrize(("back_end", "mode"), WAYS)
def test_the_bytes_are_right(
    actors: Actors, back_end: str, mode: str, count: int, order: str
) -> None:
    skip_if_missing(actors.build, back_end)
    chosen = settings(back_end, mode, aggregators=f"{count} {order}")
    job = actors.play(SCRIPT, ranks=4 if mode == "sync" else 6, settings=chosen)
    assert job.status == OK, job
    assert not job.failures(), job
    if back_end != "adios2":  # which other tests read
        assert check_file(job.folder / f"out{extension(back_end)}") == {0, 1}
    assert not leftovers(job.folder)


def test_every_node_has_its_own(build: Build, tmp_path: Path) -> None:
    if reason := no_nodes(build):
        pytest.skip(reason)
    done = subprocess.run(
        [*over_nodes(build, 2), "8", build.aggregators],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120 * build.time_factor,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "PASSED" in done.stdout, done.stdout
