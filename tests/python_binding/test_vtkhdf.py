# SPDX-License-Identifier: BSD-3-Clause
"""Unstructured meshes opened by VTK after `iocomp describe`: every value is read back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from conftest import MODES, Launcher
from programs import fields_of, mesh_of
from test_examples import run_example
from vtk_files import described, shown


def check(found: Any, expected: np.ndarray) -> None:  # noqa: ANN401
    np.testing.assert_array_equal(np.array(found), expected)


@pytest.mark.parametrize("ranks", [1, 3, 4])
@pytest.mark.parametrize(("back_end", "path"), [("posix", "out.bin"), ("hdf5", "out.h5")])
def test_a_mesh_that_changes(launch: Launcher, back_end: str, path: str, ranks: int) -> None:
    launch.play("changing_mesh", ranks=ranks, FILES_OUT_BACKEND=back_end, **MODES["kernel"])
    told = described(launch.build.command, launch.folder, path)
    assert told == {
        "files": [
            {
                "path": f"{path}.vtkhdf",
                "grid": "UnstructuredGrid",
                "steps": [0, 1, 2, 3],
                "variables": ["pressure", "velocity", "material"],
            }
        ],
        "left_out": [],
    }
    (found,) = shown(launch.folder, f"{path}.vtkhdf")
    assert found["times"] == [0, 0.5, 1, 1.5]
    for number, step in enumerate(found["steps"]):
        mesh = mesh_of(number // 2)
        for name, values in mesh.items():
            check(step[name], values)
        fields = fields_of(mesh, number)
        assert sorted(step["point"]) == ["pressure", "velocity"]
        assert list(step["cell"]) == ["material"]
        for name, values in fields.items():
            array = (step["point"] | step["cell"])[name]
            assert array["type"] == values.dtype
            check(array["values"], values)


@pytest.mark.parametrize("back_end", ["posix", "hdf5", "netcdf", "pnetcdf"])
def test_a_mesh_of_ugrid(launch: Launcher, back_end: str) -> None:
    launch.play("ugrid_mesh", ranks=2, FILES_OUT_BACKEND=back_end, FILES_OUT_PATH="out.dat")
    told = described(launch.build.command, launch.folder, "out.dat")
    assert told["left_out"] == []
    (found,) = shown(launch.folder, *(file["path"] for file in told["files"]))
    mesh = mesh_of(0)  # of which all points lie in a plane
    for number, step in enumerate(found["steps"]):
        for name, values in mesh.items():
            check(step[name], values)
        fields = fields_of(mesh, number)
        check(step["point"]["pressure"]["values"], fields["pressure"])
        check(step["cell"]["material"]["values"], fields["material"])


@pytest.mark.parametrize("language", ["c", "cpp", "fortran", "python"])
@pytest.mark.parametrize("back_end", ["posix", "netcdf"])
def test_the_example(launch: Launcher, language: str, back_end: str) -> None:
    run_example(launch, language, "mesh", FILES_MESH_BACKEND=back_end, FILES_MESH_PATH="mesh.out")
    described(launch.build.command, launch.folder, "mesh.out")
    (found,) = shown(launch.folder, "mesh.out.vtkhdf")
    assert found["times"] == [0, 1, 2]
    node, cell = np.arange(60), np.arange(29)
    for number, step in enumerate(found["steps"]):
        check(step["points"], np.c_[node // 2, node % 2, 0 * node])
        check(step["connectivity"], (2 * cell[:, None] + [0, 2, 3, 1]).ravel())
        check(step["offsets"], 4 * np.arange(30))
        assert step["types"] == [9] * 29
        check(step["point"]["pressure"]["values"], node**2.0 + number)
