# SPDX-License-Identifier: BSD-3-Clause
"""Files opened by VTK, as ParaView opens them, after `iocomp describe`: every element is read back."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import h5py
import netCDF4
import numpy as np
import pytest
from actors import Actors, Job
from files import STEP, extension, file_settings, mode_settings, skip_if_missing, values
from vtk_files import described, shown

from iocomp import open_files

BACK_ENDS = ["posix", "mpiio", "hdf5", "hdf5-time", "hdf5-deflate", "netcdf", "netcdf-deflate", "pnetcdf"]
TIMES = [0.5, 0.75, 4.0, *range(5, 12)]


def play(
    actors: Actors, back_end: str, mode: str, script: str, ranks: int = 3, **more: object
) -> Job:
    """Run a job; with servers one of the ranks is one."""
    skip_if_missing(actors.build, back_end.partition("-")[0])
    path = "out" + extension(back_end)
    job = actors.play(
        f"init\n{script}close out\n",
        ranks=ranks,
        settings={
            **mode_settings(mode),
            "files": {"out": file_settings(back_end, path=path, **more)},
        },
    )
    assert job.status == 0 and not job.failures(), job
    return job


def opened(actors: Actors, job: Job, back_end: str) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Describe the file. Return what the command tells of each grid, and what VTK makes of it, by its name."""
    told = described(actors.build.command, job.folder, "out" + extension(back_end))["files"]
    paths = [file["path"] for file in told]
    found = shown(job.folder, *paths)
    return {
        path.removeprefix("out" + extension(back_end)).removesuffix(".vtkhdf").lstrip("."): pair
        for path, pair in zip(paths, zip(told, found, strict=True), strict=True)
    }


def check_values(step: dict[str, Any], name: str, dtype: str, number: int) -> None:
    array = step["point"][name]
    assert array["type"] == dtype
    found = np.array(array["values"], dtype=dtype).ravel()
    np.testing.assert_array_equal(found, values(dtype, found.size, number))




@pytest.mark.parametrize(
    ("kind", "mode", "ranks"),
    [
        ("series", "async", 3),
        ("series", "kernel", 1),
        ("series", "kernel", 3),
        ("series", "kernel", 4),
        ("checkpoint", "async", 3),
    ],
)
@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_every_element_of_every_step_is_there(
    actors: Actors, back_end: str, kind: str, mode: str, ranks: int
) -> None:
    if kind == "checkpoint" and back_end in ("hdf5-time", "hdf5-deflate"):
        pytest.skip("a file of one step does not grow")
    lines = f"open out {kind}\n"
    for name, what in {
        "u": "float64 3x4x5",
        "v": "int32 3x4x5",
        "w": "float64 3x4x5x2",
        "s": "int64 4x5",
        "mask": "int8 4x5",
    }.items():
        lines += f"define out {name} {what}\n"
    lines += "attribute out origin 1,2,3 type=float64 of=u\n"
    lines += "attribute out spacing 0.1,0.2,0.5 type=float64 of=u\n"
    for step, time in enumerate(TIMES):
        lines += f"begin_step out {step} time={time}\nput out u by=columns\nput out v\nput out w\n"
        lines += "put out s by=columns\n" + ("put out mask\n" if step == 1 else "") + "end_step out\n"
    job = play(actors, back_end, mode, lines, ranks)
    grids = opened(actors, job, back_end)
    assert sorted(grids) == ["3x4x5-1", "3x4x5-2", "4x5"]
    for told, found in grids.values():
        assert told["grid"] == "ImageData" and told["steps"] == list(range(len(TIMES)))
        assert found["times"] == TIMES
    for step in range(len(TIMES)):
        of_u, of_v = ((grids[f"3x4x5-{i}"][1])["steps"][step] for i in (2, 1))
        assert of_u["dimensions"] == of_v["dimensions"] == [5, 4, 3]
        np.testing.assert_allclose(of_u["bounds"], [3, 5, 2, 2.6, 1, 1.2])
        assert of_v["bounds"] == [0, 4, 0, 3, 0, 2]
        check_values(of_u, "u", "float64", step)
        check_values(of_v, "v", "int32", step)
        assert np.shape(of_v["point"]["w"]["values"]) == (60, 2)
        check_values(of_v, "w", "float64", step)
        plane = grids["4x5"][1]["steps"][step]
        assert plane["dimensions"] == [5, 4, 1]
        check_values(plane, "s", "int64", step)
        if step == 0:  # nobody has put it yet
            assert not np.any(plane["point"]["mask"]["values"])
        else:
            check_values(plane, "mask", "int8", 1)  # the last values


def test_a_folder_may_move(actors: Actors) -> None:
    script = "open out series\ndefine out u float64 3x4\nput out u\nend_step out\n"
    job = play(actors, "hdf5", "sync", script)
    described(actors.build.command, job.folder, "out.h5")
    moved = job.folder.with_name(job.folder.name + "_moved")
    shutil.copytree(job.folder, moved)
    for path in job.folder.glob("out.h5*"):
        path.unlink()
    (found,) = shown(moved, "out.h5.vtkhdf")
    assert found["times"] == []  # of one step there is no axis
    check_values(found["steps"][0], "u", "float64", 0)


@pytest.mark.parametrize("back_end", ["posix", "hdf5"])
def test_a_description_elsewhere(actors: Actors, back_end: str) -> None:
    script = "open out series\ndefine out u float64 3x4\nput out u\nend_step out\n"
    job = play(actors, back_end, "sync", script)
    (job.folder / "there").mkdir()
    path = "out" + extension(back_end)
    told = described(actors.build.command, job.folder, path, "--output", "there/seen.vtkhdf")
    assert [file["path"] for file in told["files"]] == ["there/seen.vtkhdf"]
    (found,) = shown(job.folder / "there", "seen.vtkhdf")
    check_values(found["steps"][0], "u", "float64", 0)


@pytest.mark.parametrize("form", ["own", "described", "by ParaView"])
def test_a_description_takes_no_place_of_values(actors: Actors, form: str) -> None:
    script = "open out series\ndefine out u float64 3x4\nput out u\nend_step out\n"
    job = play(actors, "hdf5", "sync", script)
    path = job.folder / "out.vtkhdf"
    if form == "own":
        (job.folder / "out.h5").rename(path)
        (job.folder / "out.h5.json").rename(f"{path}.json")
    elif form == "described":
        described(actors.build.command, job.folder, "out.h5", "--output", path.name)
    else:
        with h5py.File(path, "w") as file:
            file["VTKHDF/PointData/u"] = np.arange(12.0).reshape(3, 4)
    before = path.read_bytes()
    for words in ([], ["--output", path.name]):
        command = [actors.build.command, "describe", path.name, *words]
        done = subprocess.run(command, cwd=job.folder, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 2 and path.name in done.stderr, done
        assert path.read_bytes() == before
    if form == "own":
        described(actors.build.command, job.folder, path.name, "--output", "seen.vtkhdf")
        (found,) = shown(job.folder, "seen.vtkhdf")
        check_values(found["steps"][0], "u", "float64", 0)


@pytest.mark.parametrize("back_end", ["posix", "netcdf"])
@pytest.mark.parametrize("spacing", ["even", "uneven"])
def test_coordinates(actors: Actors, back_end: str, spacing: str) -> None:
    lines = "open out series\n"
    for name, length in {"y": 4, "x": 5}.items():
        lines += f"define out {name} int64 {length}\nattribute out dimensions {name} of={name}\n"
    lines += "define out u float64 4x5\nattribute out dimensions time+y+x of=u\nput out x\n"
    last = 3 if spacing == "even" else 10  # of 0, 1, 2 and this
    lines += f"@0 put out y start=0 count=3\n@0 put out y start=3 count=1 add={last - 3}\n"
    lines += "put out u\nend_step out\nput out u\nend_step out\n"
    job = play(actors, back_end, "sync", lines)
    ((told, found),) = opened(actors, job, back_end).values()
    assert told["grid"] == ("ImageData" if spacing == "even" else "RectilinearGrid")
    assert told["variables"] == ["u"]
    for number, step in enumerate(found["steps"]):
        assert step["dimensions"] == [5, 4, 1]
        assert step["bounds"] == [0, 4, 0, last, 0, 0]
        check_values(step, "u", "float64", number)


@pytest.mark.parametrize("back_end", ["netcdf", "pnetcdf", "zarr"])
def test_names_of_dimensions_are_read_without_a_manifest(actors: Actors, back_end: str) -> None:
    lines = "open out series\ndefine out x int64 5\nattribute out dimensions x of=x\n"
    lines += "define out u float64 4x5\nattribute out dimensions time+y+x of=u\n"
    lines += "define out v float64 4x5\ndefine out s float64 scalar\n"
    lines += "@0 put out x add=3\n" + "put out u\nput out v\n@0 put out s\nend_step out\n" * 2
    job = play(actors, back_end, "sync", lines)
    name = "out" + extension(back_end)

    def attributes(use_manifest: bool) -> dict[str, Any]:
        with open_files(job.folder / name, use_manifest=use_manifest) as files:
            return {each: files.attributes(each) for each in files.variables()}

    told = attributes(True)
    assert told == {"x": {"dimensions": "x"}, "u": {"dimensions": "time y x"}, "v": {}, "s": {}}
    assert attributes(False) == told
    if back_end != "zarr":  # which VTK does not read
        before = opened(actors, job, back_end)
        (job.folder / f"{name}.json").unlink()
        command = [actors.build.command, "recover", name]
        subprocess.run(command, cwd=job.folder, check=True, timeout=60)
        assert opened(actors, job, back_end) == before


def test_thin_blocks_lie_where_they_belong(actors: Actors) -> None:
    lines = "open out series\n"
    for name, shape in {"a": "4x1x5", "b": "4x1x1", "c": "1x4x5", "d": "6", "e": "1"}.items():
        lines += f"define out {name} float64 {shape}\n"
    lines += "".join(f"put out {name}\n" for name in "abcde") + "end_step out\n"
    grids = opened(actors, play(actors, "posix", "sync", lines), "posix")
    bounds = {
        "4x1x5": [0, 4, 0, 0, 0, 3],
        "4x1x1": [0, 0, 0, 0, 0, 3],
        "1x4x5": [0, 4, 0, 3, 0, 0],
        "6": [0, 5, 0, 0, 0, 0],
        "1": [0, 0, 0, 0, 0, 0],
    }
    assert sorted(grids) == sorted(bounds)
    for name, (shape, expected) in zip("abcde", bounds.items(), strict=True):
        (step,) = grids[shape][1]["steps"]
        assert step["bounds"] == expected, shape
        check_values(step, name, "float64", 0)


@pytest.mark.parametrize("back_end", ["posix", "hdf5", "pnetcdf"])
def test_the_variable_time_tells_the_time(actors: Actors, back_end: str) -> None:
    lines = "open out series\ndefine out u float64 6\ndefine out time int64 scalar\n"
    lines += "put out u\n@0 put out time\nend_step out\n" * 2
    job = play(actors, back_end, "sync", lines)
    ((_, found),) = opened(actors, job, back_end).values()
    assert found["times"] == [0, STEP]
    check_values(found["steps"][1], "u", "float64", 1)


@pytest.mark.parametrize("mode", ["async", "sync"])
def test_files_of_pnetcdf_with_a_time_axis_need_no_description(actors: Actors, mode: str) -> None:
    lines = "open out series\ndefine out u float64 3x4x5\ndefine out time float64 scalar\n"
    lines += "attribute out units seconds+since+2000-01-01 of=time\n"
    lines += "put out u by=columns\n@0 put out time\nend_step out\n" * 3
    job = play(actors, "pnetcdf", mode, lines)
    (found,) = shown(job.folder, "out.nc")
    assert found["times"] == [0, STEP, 2 * STEP]
    for number, step in enumerate(found["steps"]):
        assert step["dimensions"] == [5, 4, 3]
        check_values(step, "u", "float64", number)


@pytest.mark.parametrize("back_end", ["posix", "hdf5"])
def test_it_grows_with_the_file_and_forgets_what_is_gone(actors: Actors, back_end: str) -> None:
    step = "put out u\nend_step out\n"
    job = play(
        actors, back_end, "sync", f"open out checkpoint\ndefine out u float64 3x4\n{step * 4}", keep=2
    )
    ((told, found),) = opened(actors, job, back_end).values()
    assert told["steps"] == [2, 3] and found["times"] == [2, 3]
    check_values(found["steps"][1], "u", "float64", 3)


@pytest.mark.parametrize(
    ("back_end", "lines", "why"),
    [
        ("zarr", "define out u float64 8\nput out u\n", "out.zarr has no variable that VTK shows: u: "),
        ("zarr", "define out u float64 8\nput out u\n", "take netcdf or hdf5"),
        ("posix", "define out u complex128 8 seed=1\nput out u\n", "no type complex128"),
        ("posix", "define out u float64 2x2x2x2x2\nput out u\n", "no grids of 5 dimensions"),
        ("posix", "define out u float64 8\nput out u\nattribute out mesh_points u\n", "all four"),
        ("posix", "define out u float64 8\nput out u\nattribute out mesh_points v\n", "no variable"),
    ],
)
def test_what_cannot_be_described_is_told(
    actors: Actors, back_end: str, lines: str, why: str
) -> None:
    job = play(actors, back_end, "sync", f"open out series\n{lines}end_step out\n")
    done = subprocess.run(
        [actors.build.command, "describe", "out" + extension(back_end)],
        cwd=job.folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2 and why in done.stderr, done.stderr
    assert not list(job.folder.glob("*.vtkhdf"))


def write_foreign(path: Path, form: str) -> None:
    """Have h5py write compounds, and what VTK would show as it is not."""
    with h5py.File(path, "w") as file:
        file["u"] = np.arange(12.0).reshape(3, 4)
        if form == "compound":
            file["cmp"] = np.zeros(5, [("i", "i4"), ("x", "f8")])
        elif form == "packed":
            file["t"] = np.arange(12, dtype="i2").reshape(3, 4)
            file["t"].attrs["scale_factor"] = 0.5
        elif form == "unsigned":
            file["t"] = np.arange(12, dtype="i2").reshape(3, 4)
            file["t"].attrs["_Unsigned"] = "true"
        else:
            file["a/b"] = np.arange(12.0).reshape(3, 4) + 1
            file["a.b"] = np.arange(12.0).reshape(3, 4) + 2


@pytest.mark.parametrize(
    ("form", "left_out", "why"),
    [
        ("compound", {"cmp.i", "cmp.x"}, "do not lie one after another"),
        ("packed", {"t"}, "scale_factor and add_offset"),
        ("unsigned", {"t"}, "does not read signed values as unsigned"),
    ],
)
def test_a_variable_that_vtk_cannot_show_is_left_out(
    actors: Actors, tmp_path: Path, form: str, left_out: set[str], why: str
) -> None:
    write_foreign(tmp_path / "f.h5", form)
    told = described(actors.build.command, tmp_path, "f.h5")
    assert {each["variable"] for each in told["left_out"]} == left_out
    assert all(why in each["reason"] for each in told["left_out"]), told
    (found,) = shown(tmp_path, "f.h5.vtkhdf")
    assert list(found["steps"][0]["point"]) == ["u"]


def test_signed_values_that_are_unsigned_are_shown_so(actors: Actors, tmp_path: Path) -> None:
    import netCDF4

    with netCDF4.Dataset(tmp_path / "f.nc", "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("y", 3)
        file.createDimension("x", 4)
        made = file.createVariable("t", "i1", ("y", "x"))
        made.setncattr("_Unsigned", "true")
        made.set_auto_maskandscale(False)
        made[:] = np.arange(120, 132).astype("i1").reshape(3, 4)
    assert described(actors.build.command, tmp_path, "f.nc")["left_out"] == []
    (found,) = shown(tmp_path, "f.nc.vtkhdf")
    assert found["steps"][0]["point"]["t"]["values"] == list(range(120, 132))


def test_arrays_have_names_of_their_own(actors: Actors, tmp_path: Path) -> None:
    write_foreign(tmp_path / "f.h5", "names")
    described(actors.build.command, tmp_path, "f.h5")
    (found,) = shown(tmp_path, "f.h5.vtkhdf")
    arrays = found["steps"][0]["point"]
    assert {name: array["values"][0] for name, array in arrays.items()} == {"u": 0, "a.b": 2, "a.b_": 1}


def test_as_many_values_as_cells_are_no_values_on_cells(actors: Actors, tmp_path: Path) -> None:
    """The mesh has two faces, and a step two bounds: names of dimensions tell them apart."""
    with netCDF4.Dataset(tmp_path / "f.nc", "w") as file:
        for name, length in {"time": None, "node": 6, "face": 2, "corner": 4, "bnds": 2}.items():
            file.createDimension(name, length)
        mesh = file.createVariable("mesh", "i4", ())
        mesh.setncatts({"cf_role": "mesh_topology", "topology_dimension": np.int32(2)})
        mesh.setncatts({"node_coordinates": "x y", "face_node_connectivity": "faces"})
        for name, values in {"x": [0, 1, 2, 0, 1, 2], "y": [0, 0, 0, 1, 1, 1]}.items():
            file.createVariable(name, "f8", ("node",))[:] = values
        file.createVariable("faces", "i4", ("face", "corner"))[:] = [[0, 1, 4, 3], [1, 2, 5, 4]]
        file.createVariable("heat", "f8", ("time", "face"))[:] = [[1, 2], [3, 4]]
        file.createVariable("time_bnds", "f8", ("time", "bnds"))[:] = [[0, 1], [1, 2]]
    told = described(actors.build.command, tmp_path, "f.nc")["files"]
    assert {file["grid"]: file["variables"] for file in told} == {
        "UnstructuredGrid": ["heat"],
        "ImageData": ["time_bnds"],
    }


@pytest.mark.parametrize("form", ["NETCDF4", "NETCDF3_64BIT_DATA"])
def test_a_time_axis_of_others_that_does_not_grow(actors: Actors, tmp_path: Path, form: str) -> None:
    with netCDF4.Dataset(tmp_path / "f.nc", "w", format=form) as file:
        for name, length in {"time": 4, "x": 3}.items():
            file.createDimension(name, length)
        file.createVariable("u", "f8", ("time", "x"))[:] = np.arange(12.0).reshape(4, 3)
    described(actors.build.command, tmp_path, "f.nc")
    (found,) = shown(tmp_path, "f.nc.vtkhdf")
    found_values = [step["point"]["u"]["values"] for step in found["steps"]]
    assert found_values == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]


def write_plain(path: Path, step: int, arrays: dict[str, np.ndarray], **attributes: dict[str, Any]) -> None:
    """Write a step of a posix file, and its manifest."""
    raw, variables = b"", []
    for name, array in arrays.items():
        variables.append({"name": name, "type": str(array.dtype), "shape": array.shape, "offset": len(raw)})
        raw += array.tobytes()
    path.write_bytes(raw)
    manifest = {
        "iocomp_manifest": 1,
        "name": "f",
        "format": "posix",
        "kind": "checkpoint",
        "file": path.name,
        "bytes": len(raw),
        "byte_order": "little",
        "first_step": step,
        "committed_steps": 1,
        "absent": [],
        "steps": [{"step": step, "variables": variables}],
    }
    Path(f"{path}.json").write_text(json.dumps(manifest | attributes))


def text(value: str) -> dict[str, str]:
    return {"type": "text", "value": value}


POINTS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [2, 0, 0], [2, 1, 0.1]])


@pytest.mark.parametrize("kinds", [("f4", "i4", "i4", "u1"), ("f8", "u2", "i8", "i4")])
def test_a_mesh_may_have_numbers_of_other_types_than_vtk(actors: Actors, tmp_path: Path, kinds: tuple[str, ...]) -> None:
    """The types change from one checkpoint to the next."""
    cells = {"connectivity": [0, 1, 2, 3, 1, 4, 5, 2], "offsets": [0, 4, 8], "types": [9, 9]}
    attributes = {f"mesh_{name}": text(name) for name in ("points", *cells)}
    for step, own in enumerate((("f4", "i8", "i8", "u1"), kinds)):
        mesh = {name: np.array(of, kind) for (name, of), kind in zip(({"points": POINTS} | cells).items(), own)}
        fields = {"t": np.arange(6.0) + step, "c": np.arange(2, dtype="f4" if step == 0 else "f8")}
        write_plain(tmp_path / f"f.00000{step}.bin", step, mesh | fields, attributes=attributes, variable_attributes={})
    told = described(actors.build.command, tmp_path, "f.bin")
    assert told["left_out"] == [{"variable": "c", "reason": "in steps in which its type and shape are not float64 2"}]
    (found,) = shown(tmp_path, "f.bin.vtkhdf")
    for step, of_step in enumerate(found["steps"]):
        np.testing.assert_allclose(of_step["points"], POINTS, rtol=1e-7)
        assert [of_step[name] for name in cells] == list(cells.values())
        assert of_step["point"]["t"]["values"] == (np.arange(6.0) + step).tolist()
    assert found["steps"][1]["cell"]["c"]["values"] == [0, 1]


def test_coordinates_of_a_mesh_may_have_two_types(actors: Actors, tmp_path: Path) -> None:
    arrays = {
        "mesh": np.zeros((), "i4"),
        "x": POINTS[:, 0].astype("f4"),
        "y": POINTS[:, 1] + 1e-9,
        "faces": np.array([[0, 1, 2, 3], [1, 4, 5, 2]], "i4"),
        "t": np.arange(6.0),
    }
    topology = {"cf_role": text("mesh_topology"), "topology_dimension": {"type": "int32", "value": [2]}}
    topology |= {"node_coordinates": text("x y"), "face_node_connectivity": text("faces")}
    write_plain(tmp_path / "f.bin", 0, arrays, attributes={}, variable_attributes={"mesh": topology})
    described(actors.build.command, tmp_path, "f.bin")
    (found,) = shown(tmp_path, "f.bin.vtkhdf")
    points = np.array(found["steps"][0]["points"])
    assert (points == np.c_[arrays["x"], arrays["y"], np.zeros(6)]).all()
