# SPDX-License-Identifier: BSD-3-Clause
"""Files opened by VTK, as ParaView opens them: every element is read back.

VTK is fetched by tools/install-vtk. Without it these tests are skipped; with IOCOMP_TEST_NEED_VTK=1 they fail.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from actors import Actors, Job
from files import STEP, skip_if_missing, values
from xdmf_files import path_of, play

HERE = Path(__file__).resolve().parent
VTK = Path(os.environ.get("IOCOMP_VTK", HERE.parents[1] / "build" / "vtk"))

if not (VTK / "iocomp-installed").exists():
    missing = f"VTK is not in {VTK}: tools/install-vtk fetches it (140 MB)"
    if os.environ.get("IOCOMP_TEST_NEED_VTK") == "1":
        raise RuntimeError(missing)
    pytest.skip(missing, allow_module_level=True)

BACK_ENDS = ["posix", "mpiio", "hdf5", "hdf5-time", "hdf5-deflate", "netcdf"]
TIMES = [0.5, 0.75, 4.0]


def shown(job: Job, name: str) -> dict[str, Any]:
    """Return what VTK makes of a file; see show_vtk.py."""
    assert job.status == 0 and not job.failures(), job
    done = subprocess.run(
        [sys.executable, str(HERE / "show_vtk.py"), name],
        cwd=job.folder,
        env={**os.environ, "PYTHONPATH": str(VTK)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def check_values(array: dict[str, Any], dtype: str, step: int) -> None:
    assert array["type"] == dtype
    found = np.array(array["values"], dtype=dtype)
    np.testing.assert_array_equal(found, values(dtype, found.size, step))


@pytest.mark.parametrize(
    ("kind", "mode"), [("series", "async"), ("series", "sync"), ("checkpoint", "async")]
)
@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_every_element_of_every_step_is_there(
    actors: Actors, back_end: str, kind: str, mode: str
) -> None:
    skip_if_missing(actors.build, back_end)
    if kind == "checkpoint" and back_end in ("hdf5-time", "hdf5-deflate"):
        pytest.skip("a file of one step does not grow")
    lines = f"open out {kind}\n"
    for name, what in {"u": "float64 3x4x5", "v": "int32 3x4x5", "s": "int64 4x5"}.items():
        lines += f"define out {name} {what}\n"
    lines += "attribute out origin 1,2,3 type=float64 of=u\n"
    lines += "attribute out spacing 0.1,0.2,0.5 type=float64 of=u\n"
    for time in TIMES:
        lines += f"attribute out time {time} type=float64\nput out u by=columns\n"
        lines += "put out v\nput out s by=columns\nend_step out\n"
    found = shown(
        play(actors, back_end, mode, lines + "close out\n"), f"{path_of(back_end)}.xdmf"
    )
    assert found["times"] == TIMES
    for step, grids in enumerate(found["steps"]):
        u, v, s = grids
        assert [grid["type"] for grid in grids] == ["vtkImageData"] * 3
        assert u["dimensions"] == v["dimensions"] == [5, 4, 3]
        np.testing.assert_allclose(u["bounds"], [3, 5, 2, 2.6, 1, 1.2])
        assert v["bounds"] == [0, 4, 0, 3, 0, 2]
        assert s["dimensions"] == [5, 4, 1]
        check_values(u["arrays"]["u"], "float64", step)
        check_values(v["arrays"]["v"], "int32", step)
        check_values(s["arrays"]["s"], "int64", step)


@pytest.mark.parametrize(
    ("back_end", "mode"),
    [("posix", "async"), ("hdf5", "sync"), ("netcdf", "async")],
)
def test_coordinates_make_a_rectilinear_grid(actors: Actors, back_end: str, mode: str) -> None:
    skip_if_missing(actors.build, back_end)
    lines = "open out series\n"
    for name, length in {"z": 3, "y": 4, "x": 5}.items():
        lines += f"define out {name} float64 {length}\nattribute out dimensions {name} of={name}\n"
    lines += "define out u float64 3x4x5\nattribute out dimensions time+z+y+x of=u\n"
    lines += "define out p float64 3x4x5\nattribute out dimensions time+z+y+x of=p\n"
    lines += "define out w float64 4x5\nattribute out dimensions time+y+x of=w\n"
    lines += "put out z\nput out y\nput out x\n"
    lines += "put out u\nput out p by=columns\nput out w\nend_step out\n" * 2
    found = shown(
        play(actors, back_end, mode, lines + "close out\n"), f"{path_of(back_end)}.xdmf"
    )
    assert found["times"] == [0, 1]
    for step, (block, plane) in enumerate(found["steps"]):
        assert block["type"] == plane["type"] == "vtkRectilinearGrid"
        assert block["dimensions"] == [5, 4, 3]
        assert block["bounds"] == [0, 4, 0, 3, 0, 2]
        assert plane["dimensions"] == [5, 4, 1]
        assert plane["bounds"] == [0, 4, 0, 3, 0, 0]
        check_values(block["arrays"]["u"], "float64", step)
        check_values(block["arrays"]["p"], "float64", step)
        check_values(plane["arrays"]["w"], "float64", step)


@pytest.mark.parametrize(
    ("back_end", "mode"), [("posix", "sync"), ("mpiio", "async"), ("hdf5", "async")]
)
def test_the_variable_time_tells_the_time(actors: Actors, back_end: str, mode: str) -> None:
    skip_if_missing(actors.build, back_end)
    lines = "open out series\ndefine out u float64 6\ndefine out time int64 scalar\n"
    lines += "put out u\n@0 put out time\nend_step out\n" * 2
    found = shown(
        play(actors, back_end, mode, lines + "close out\n"), f"{path_of(back_end)}.xdmf"
    )
    assert found["times"] == [0, STEP]
    check_values(found["steps"][1][0]["arrays"]["u"], "float64", 1)


@pytest.mark.parametrize("mode", ["async", "sync"])
def test_files_of_pnetcdf_with_a_time_axis_need_no_description(actors: Actors, mode: str) -> None:
    skip_if_missing(actors.build, "pnetcdf")
    lines = "open out series\ndefine out u float64 3x4x5\ndefine out time float64 scalar\n"
    lines += "attribute out units seconds+since+2000-01-01 of=time\n"
    lines += "put out u by=columns\n@0 put out time\nend_step out\n" * 3
    job = play(actors, "pnetcdf", mode, lines + "close out\n", file={"describe": "none"})
    found = shown(job, "out.nc")
    assert found["times"] == [0, STEP, 2 * STEP]
    for step, (grid,) in enumerate(found["steps"]):
        assert grid["dimensions"] == [5, 4, 3]
        check_values(grid["arrays"]["u"], "float64", step)
