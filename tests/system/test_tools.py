# SPDX-License-Identifier: BSD-3-Clause
"""The commands for what lies on the disk: ls, show, latest, clean, recover."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from actors import Actors, Job
from files import (
    FORMATS,
    extension,
    file_settings,
    mode_settings,
    skip_if_missing,
    unsealed,
    values,
)
from processes import environment_without_iocomp, processes_in

from iocomp import open_files

BACK_ENDS = [name for name in FORMATS if name not in ("adios2-bp4", "adios2-hdf5")]
# The files of these tell their contents by themselves.
TELLING = [name for name in BACK_ENDS if name not in ("posix", "mpiio")]
STEP = "put {0} u\nput {0} v\nend_step {0}\n"
DEFINE = (
    "define {0} u int64 24x10\ndefine {0} v float64 12\n"
    "attribute {0} title hello+world\nattribute {0} units m/s of=u\n"
)
NONE_THERE = 1
DAMAGED = 1
BAD_INPUT = 2


def ending(back_end: str) -> str:
    return ".bp" if back_end == "adios2" else extension(back_end)


def settings(back_end: str, mode: str = "sync", **more: object) -> dict[str, object]:
    """Return those of a series "ser" and of checkpoints "ckpt"."""
    name = back_end.partition("-")[0]
    path = f"ser{ending(back_end)}"
    files = {"ser": file_settings(back_end, path=path, **more)}
    # Not every way of writing a series is one of writing checkpoints.
    files["ckpt"] = {"backend": name, "path": f"ckpt{ending(back_end)}", **more}
    return {**mode_settings(mode), "files": files}


def write(actors: Actors, back_end: str, steps: int = 3) -> Job:
    """Have a series and checkpoints written."""
    skip_if_missing(actors.build, back_end)
    script = "init\n"
    for name, kind in (("ser", "series"), ("ckpt", "checkpoint")):
        lines = f"open {{0}} {kind}\n{DEFINE}{STEP * steps}close {{0}}\n"
        script += lines.format(name)
    job = actors.play(script, ranks=2, settings=settings(back_end, keep=0))
    assert not job.failures(), job
    return job


def run(actors: Actors, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder."""
    done = subprocess.run(
        [actors.build.command, *words],
        cwd=folder,
        env=environment_without_iocomp(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60 * actors.build.time_factor,
    )
    print(words, done)
    return done


def told(actors: Actors, folder: Path, *words: str, status: int = 0) -> Any:
    """Return what a command says as JSON."""
    done = run(actors, folder, *words, "--json")
    assert done.returncode == status, done
    return json.loads(done.stdout)


def listed(actors: Actors, folder: Path, path: str = ".") -> dict[str, Any]:
    """Return what `ls` says, by path."""
    return {entry["path"]: entry for entry in told(actors, folder, "ls", path)}


def everything(actors: Actors, folder: Path, path: str) -> list[Any]:
    """Return all that `show` says of a file with three steps."""
    whole = [told(actors, folder, "show", path)]
    return whole + [
        told(actors, folder, "show", path, "--variable", name, "--step", str(step))
        for name in ("u", "v")
        for step in range(3)
    ]


def replicate(folder: Path, back_end: str, count: int) -> None:
    """Make many checkpoints of the first one."""
    end = ending(back_end)
    first = folder / f"ckpt.000000{end}"
    manifest = unsealed((folder / f"ckpt.000000{end}.json").read_text())
    for step in range(3, count):
        own = manifest.replace('"step":0', f'"step":{step}')
        own = own.replace('"first_step": 0', f'"first_step": {step}')
        path = folder / f"ckpt.{step:06}{end}"
        (shutil.copytree if first.is_dir() else shutil.copy)(first, path)
        Path(f"{path}.json").write_text(own)


def by_name(deeds: list[dict[str, str]]) -> dict[str, str]:
    """Return what was done, by path."""
    return {deed["path"]: deed["done"] for deed in deeds}


@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_what_was_written_is_listed(actors: Actors, back_end: str) -> None:
    folder = write(actors, back_end).folder
    end = ending(back_end)
    found = listed(actors, folder)
    assert list(found) == [f"ckpt{end}", f"ser{end}"]
    for name, kind in (("ser", "series"), ("ckpt", "checkpoint")):
        entry = found[name + end]
        assert entry["format"] == back_end.partition("-")[0]
        assert entry["kind"] == kind
        assert entry["name"] == name
        assert entry["file_per_step"] == (name == "ckpt")
        assert entry["steps"] == {"first": 0, "last": 2, "count": 3}
        assert entry["state"] == "committed"
        assert entry["temporaries"] == [] and entry["torn"] == []
        paths = [path for path in folder.glob(f"{name}*") if path.suffix != ".json"]
        inside = [part for path in paths for part in (path, *path.rglob("*")) if part.is_file()]
        assert entry["bytes"] == sum(part.stat().st_size for part in inside)
        assert listed(actors, folder, name + end) == {name + end: entry}
    alone = listed(actors, folder, f"./ckpt.000001{end}")[f"./ckpt.000001{end}"]
    assert alone["steps"] == {"first": 1, "last": 1, "count": 1}
    table = run(actors, folder, "ls").stdout.splitlines()
    assert table[0].split() == ["file", "format", "kind", "steps", "size", "state"]
    assert re.match(rf"ser\{end} +\w+ +series +0-2 \(3\) +[\d.]+ \w+ +committed$", table[2]), table


@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_what_is_in_a_file_is_shown(actors: Actors, back_end: str) -> None:
    folder = write(actors, back_end).folder
    end = ending(back_end)
    for path in (f"ser{end}", f"ckpt{end}", f"./ckpt.000002{end}"):
        shown = told(actors, folder, "show", path)
        steps = [2] if "000002" in path else [0, 1, 2]
        assert shown["steps"] == steps
        assert shown["attributes"]["title"] == {"type": "text", "value": "hello world"}
        u, v = shown["variables"]
        assert (u["name"], u["type"], u["shape"]) == ("u", "int64", [24, 10])
        assert u["places"] == [{"type": "int64", "shape": [24, 10], "steps": steps}]
        assert u["attributes"]["units"]["value"] == "m/s"
        assert (v["name"], v["type"], v["shape"]) == ("v", "float64", [12])
        text = run(actors, folder, "show", path).stdout
        assert re.search(r"(?m)^u +int64 +24 x 10 +\S+ \(\d\) +units = \"m/s\"$", text), text
        assert re.search(r"(?m)^attributes +title = \"hello world\"$", text), text
        for step in steps:
            words = ("show", path, "--variable", "u", "--step", str(step), "--slice", "3:6,-4:")
            part = told(actors, folder, *words)
            expected = values(np.int64, 240, step).reshape(24, 10)[3:6, -4:]
            assert part["values"] == expected.ravel().tolist()
            assert (part["start"], part["count"]) == ([3, 6], [3, 4])
            assert part["minimum"] == expected.min()
            assert part["maximum"] == expected.max()
            assert part["mean"] == pytest.approx(expected.mean(), rel=1e-15)
        newest = told(actors, folder, "show", path, "--variable", "v")
        assert (newest["step"], newest["values"]) == (2, values(np.float64, 12, 2).tolist())
    text = run(actors, folder, "show", f"ser{end}", "--variable", "u", "--slice", "5,:").stdout
    assert text.splitlines() == [
        "u, step 2: int64 [5:6, 0:10] of 24 x 10",
        "[5, 0]  " + " ".join(str(2000050 + i) for i in range(10)),
        "minimum  2000050",
        "maximum  2000059",
        "mean     2000054.5",
    ]


@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_a_link_leads_to_the_manifest(actors: Actors, back_end: str) -> None:
    folder = write(actors, back_end).folder
    end = ending(back_end)
    links = actors.folder / "links"
    links.mkdir()
    for path in (f"ser{end}", f"ckpt.000001{end}"):
        (links / path).symlink_to(folder / path)
        (entry,) = told(actors, links, "ls", path)
        assert entry["state"] == "committed" and entry["path"].endswith(path)
        assert ("000001" in path) == (told(actors, links, "verify", path)["blocks"] > 0)
    whole = everything(actors, folder, f"ser{end}")
    for link, direct in zip(everything(actors, links, f"ser{end}"), whole, strict=True):
        assert link | {"path": 0} == direct | {"path": 0}
    read = actors.play("init\nread ser\n", ranks=2, settings=settings(back_end), folder=links)
    assert not read.failures(), read
    for entry in read.calls("read"):
        assert entry["steps"] == [0, 1, 2] and entry["right"], entry
    # A manifest beside the link is that of the link.
    (links / f"ser{end}.json").write_text((folder / f"ser{end}.json").read_text())
    (folder / f"ser{end}.json").unlink()
    assert told(actors, links, "show", f"ser{end}")["steps"] == [0, 1, 2]


def test_values_of_all_types_are_shown(actors: Actors) -> None:
    types = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
    types += ["float16", "float32", "float64", "complex64", "complex128"]
    script = "init\nopen ser series\n"
    script += "".join(f"define ser {name} {name} 37x5 seed=7\nput ser {name}\n" for name in types)
    script += "define ser text char 2x3\n@0 put_text ser text ab,xyz\nclose ser\n"
    job = actors.play(script, ranks=2, settings=settings("posix"))
    assert not job.failures(), job
    described = json.loads((job.folder / "ser.dat.json").read_text())["steps"][0]["variables"]
    raw = (job.folder / "ser.dat").read_bytes()
    for variable in described[:-1]:
        name = variable["type"]
        expected = np.frombuffer(raw, np.dtype(name), 185, variable["offset"])
        shown = told(actors, job.folder, "show", "ser.dat", "--variable", name)
        found = shown["values"]
        if expected.dtype.kind == "c":
            found = [complex(float(real), float(imaginary)) for real, imaginary in found]
        elif expected.dtype.kind == "f":
            found = [float(value) for value in found]
        read = np.array(found, dtype=expected.dtype)
        is_same = (read == expected) | (np.isnan(read) & np.isnan(expected))
        assert is_same.all(), name
        numbers = expected[~np.isnan(expected)]
        assert shown["not_a_number"] == expected.size - numbers.size
        if expected.dtype.kind != "c":
            assert expected.dtype.type(shown["minimum"]) == numbers.min()
            assert expected.dtype.type(shown["maximum"]) == numbers.max()
        elif numbers.size > 0:
            assert shown["minimum"] is None
    lines = run(actors, job.folder, "show", "ser.dat", "--variable", "text").stdout.splitlines()
    assert lines[1].startswith("[0, 0] ab") and lines[2] == "[1, 0] xyz", lines
    assert not re.search("minimum|mean", "".join(lines))


def test_texts_are_shown_without_control_characters(actors: Actors, tmp_path: Path) -> None:
    import h5py

    with h5py.File(tmp_path / "theirs.h5", "w") as file:
        file["text"] = np.array([b"a\x1b[1m\nb", b"ab", b"a\0\0b", "é".encode()], "S8")
    lines = run(actors, tmp_path, "show", "theirs.h5", "--variable", "text").stdout.splitlines()
    assert lines[1:] == [r"[0, 0] a\u001b[1m\nb", "[1, 0] ab", r"[2, 0] a\u0000\u0000b", "[3, 0] é"]


def test_a_large_variable_is_read_in_parts(actors: Actors) -> None:
    script = "init\nopen ser series\ndefine ser u int64 3000x1500\nput ser u\nclose ser\n"
    job = actors.play(script, ranks=2, settings=settings("posix"))
    assert not job.failures(), job
    expected = values(np.int64, 4_500_000, 0).reshape(3000, 1500)
    whole = told(actors, job.folder, "show", "ser.dat", "--variable", "u")
    assert whole["values"] is None
    assert (whole["minimum"], whole["maximum"]) == (0, 4_499_999)
    assert whole["mean"] == expected.mean()
    text = run(actors, job.folder, "show", "ser.dat", "--variable", "u").stdout
    assert "4500000 elements: --slice prints some of them" in text
    part = told(actors, job.folder, "show", "ser.dat", "--variable", "u", "--slice", ":,7:1499")
    assert part["values"] == expected[:, 7:1499].ravel().tolist()


@pytest.mark.parametrize(
    ("slice_", "why"),
    [
        ("0:4,1,2", "it has too many dimensions"),
        ("0:25", '"0:25" leaves 0:24'),
        ("24", '"24" leaves 0:24'),
        ("5:4", '"5:4" leaves 0:24'),
        ("-25:", '"-25:" leaves 0:24'),
        ("x", '"x" is no number'),
        ("1:2:3", '"2:3" is no number'),
        ("1,", "it ends with a comma"),
        (",1", "a number or a range is missing"),
    ],
)
def test_a_slice_that_does_not_fit_is_told(actors: Actors, slice_: str, why: str) -> None:
    folder = write(actors, "posix", steps=1).folder
    done = run(actors, folder, "show", "ser.dat", "--variable", "u", f"--slice={slice_}")
    assert done.returncode == BAD_INPUT
    assert f'the slice "{slice_}" does not fit the shape 24 x 10: {why}' in done.stderr


@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_the_newest_step_is_told(actors: Actors, back_end: str) -> None:
    folder = write(actors, back_end).folder
    end = ending(back_end)
    newest = {"step": 2, "time": None, "file": f"ckpt.000002{end}"}
    assert told(actors, folder, "latest", f"ckpt{end}") == newest
    assert told(actors, folder, "latest", f"ser{end}") == {"step": 2, "time": None, "file": f"ser{end}"}
    assert told(actors, folder, "latest", f"./ckpt.000001{end}")["step"] == 1
    assert run(actors, folder, "latest", f"ckpt{end}", "--only", "step").stdout == "2\n"
    only = run(actors, folder, "latest", f"ckpt{end}", "--only", "file")
    assert only.stdout == newest["file"] + "\n"
    text = run(actors, folder, "latest", f"ser{end}").stdout
    assert text.split() == ["step", "2", "file", f"ser{end}"]
    none = run(actors, folder, "latest", f"restart{end}")
    assert none.returncode == NONE_THERE
    assert none.stdout == "" and none.stderr.count("\n") == 1, none


def test_a_thousand_steps_are_told_within_a_second(actors: Actors) -> None:
    job = write(actors, "posix")
    replicate(job.folder, "posix", 1000)
    path = job.folder / "ser.dat.json"
    manifest = json.loads(unsealed(path.read_text()))
    manifest["committed_steps"] = 1000
    described = manifest["steps"][0]["variables"]
    manifest["steps"] = [{"step": step, "variables": described} for step in range(1000)]
    path.write_text(json.dumps(manifest))
    for name in ("ser.dat", "ckpt.dat"):
        took = []
        for _ in range(3):
            began = time.monotonic()
            assert told(actors, job.folder, "latest", name)["step"] == 999
            took.append(time.monotonic() - began)
        assert min(took) < actors.build.time_factor, took
        assert listed(actors, job.folder)[name]["steps"]["count"] == 1000


def test_a_pipe_in_place_of_a_file_keeps_nobody_waiting(actors: Actors, tmp_path: Path) -> None:
    (tmp_path / "a.dat").touch()
    os.mkfifo(tmp_path / "a.dat.json")
    os.mkfifo(tmp_path / "b.h5")
    for words in (["ls", "."], ["show", "a.dat"], ["verify", "a.dat"], ["clean", "."]):
        run(actors, tmp_path, *words)  # which has a time limit
    for words in (["show", "b.h5"], ["verify", "b.h5"], ["recover", "b.h5"]):
        done = run(actors, tmp_path, *words)
        assert done.returncode != 0
        assert "b.h5: it is a pipe" in done.stderr + done.stdout


HOSTILE = {
    "brackets": '{"iocomp_manifest": 2, "a": ' + "[" * 100_000,
    "closed": '{"iocomp_manifest": 2, "a": ' + "[" * 100_000 + "]" * 100_000 + "}",
    "objects": '{"iocomp_manifest": 2, "replaces": ' + '{"a":' * 100_000,
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_manifest_that_nests_too_deep_is_told_and_the_rest_is_shown(
    actors: Actors, kind: str
) -> None:
    folder = write(actors, "posix").folder
    (folder / "bad.dat").touch()
    (folder / "bad.dat.json").write_text(HOSTILE[kind])
    found = listed(actors, folder)
    assert found["ser.dat"]["state"] == found["ckpt.dat"]["state"] == "committed"
    assert "it nests deeper than 64 lists and objects" in found["bad.dat"]["told"]
    assert run(actors, folder, "ls").returncode == 0
    for words in ("show", "verify", "latest", "recover", "clean"):
        for path in ("bad.dat", "."):
            done = run(actors, folder, words, path)
            assert done.returncode >= 0, done
            assert done.stderr.count("\n") <= 2, done
    assert (folder / "bad.dat.json").read_text() == HOSTILE[kind]
    assert told(actors, folder, "show", "ser.dat")["steps"]


@pytest.mark.parametrize("back_end", ["posix", "hdf5", "pnetcdf"])
def test_torn_files_are_told(actors: Actors, back_end: str) -> None:
    folder = write(actors, back_end).folder
    end = ending(back_end)
    for name in (f"ser{end}", f"ckpt.000002{end}"):
        path = folder / name
        with path.open("r+b") as file:
            file.truncate(path.stat().st_size - 1)
    (folder / f"ckpt.000000{end}.json").write_text('{"iocomp_manifest": 1, "na')
    found = listed(actors, folder)
    assert found[f"ser{end}"]["state"] == "torn"
    assert found[f"ser{end}"]["steps"] is None
    assert "it is torn: it has" in found[f"ser{end}"]["told"]
    checkpoints = found[f"ckpt{end}"]
    assert checkpoints["state"] == "torn"
    assert checkpoints["steps"] == {"first": 1, "last": 1, "count": 1}
    assert [torn["file"] for torn in checkpoints["torn"]] == [f"ckpt.00000{i}{end}" for i in (0, 2)]
    done = run(actors, folder, "latest", f"ckpt{end}")
    assert done.stdout.split()[1] == "1", done
    assert done.stderr.count("\n") == 2 and "step 2 is left out: " in done.stderr, done
    assert run(actors, folder, "latest", f"ser{end}").returncode == BAD_INPUT
    assert run(actors, folder, "show", f"ser{end}").returncode == BAD_INPUT
    checked = told(actors, folder, "verify", f"ser{end}", status=DAMAGED)
    (damage,) = checked["damaged"]
    assert damage["step"] is None and "it is torn: it has" in damage["story"], checked
    assert run(actors, folder, "verify", f"ser{end}").stdout.endswith(": 1 damaged\n")


def test_settings_do_not_concern_files_that_are_there(actors: Actors) -> None:
    folder = write(actors, "posix").folder
    commands = [(word, "ser.dat") for word in ("ls", "show", "latest", "verify", "watch")]
    commands += [("recover", "."), ("clean", ".")]
    before = [run(actors, folder, *words) for words in commands]
    (folder / "iocomp.toml").write_text("[files.f]\nkepe = 2\n")
    after = [run(actors, folder, *words) for words in commands]
    assert [done.returncode for done in before] == [0] * len(commands)
    assert [(done.returncode, done.stderr) for done in after] == [(0, "")] * len(commands)


@pytest.mark.parametrize("back_end", TELLING)
def test_times_are_shown_without_a_manifest(actors: Actors, back_end: str) -> None:
    skip_if_missing(actors.build, back_end)
    steps = "".join(f"begin_step ser {i} time={i / 2}\nput ser v\nend_step ser\n" for i in range(3))
    script = f"init\nopen ser series\n{DEFINE.format('ser')}{steps}close ser\n"
    job = actors.play(script, ranks=2, settings=settings(back_end))
    assert not job.failures(), job
    path = f"ser{ending(back_end)}"
    for _ in range(2):
        assert told(actors, job.folder, "show", path)["times"] == [0, 0.5, 1]
        assert re.search(r"(?m)^time +1 \(step 2\)$", run(actors, job.folder, "show", path).stdout)
        (job.folder / f"{path}.json").unlink(missing_ok=True)


def test_a_checkpoint_that_is_removed_meanwhile_is_not_damaged(actors: Actors, tmp_path: Path) -> None:
    count = 2000
    for step in (0, 1):
        path = tmp_path / f"ckpt.{step:06}.dat"
        path.write_bytes(bytes(8 * count))
        u = {"name": "u", "type": "int64", "shape": [count], "offset": 0}
        if step == 0:
            u["xxh3"] = [[[i], [1], "0" * 16] for i in range(count)]
        manifest = {
            "iocomp_manifest": 1,
            "name": "ckpt",
            "format": "posix",
            "kind": "checkpoint",
            "file": path.name,
            "bytes": 8 * count,
            "byte_order": sys.byteorder,
            "first_step": step,
            "committed_steps": 1,
            "steps": [{"step": step, "variables": [u]}],
            "absent": [],
            "attributes": {},
            "variable_attributes": {},
        }
        Path(f"{path}.json").write_text(json.dumps(manifest))
    with subprocess.Popen(
        [actors.build.command, "verify", "ckpt.dat"],
        cwd=tmp_path,
        env=environment_without_iocomp(),
        stdout=subprocess.PIPE,
        text=True,
    ) as verify:
        assert verify.stdout
        first = verify.stdout.readline()  # what follows fills the pipe: it waits within step 0
        (tmp_path / "ckpt.000001.dat").unlink()
        (tmp_path / "ckpt.000001.dat.json").unlink()
        told = first + verify.stdout.read()
    assert verify.returncode == DAMAGED
    assert told.count("is damaged") == count and told.endswith(f": {count} damaged\n"), told[-500:]


@pytest.mark.parametrize("harm", ["cut", "without a shard", "without an array"])
@pytest.mark.parametrize("back_end", ["zarr", "zarr-zstd"])
def test_torn_stores_are_told(actors: Actors, back_end: str, harm: str) -> None:
    folder = write(actors, back_end).folder
    for name, shard in (("ckpt.000002.zarr", "c.0.0"), ("ser.zarr", "c.2.0.0")):
        path = folder / name / "u" / shard
        if harm == "cut":
            with path.open("r+b") as file:
                file.truncate(path.stat().st_size - 1)
        elif harm == "without a shard":
            path.unlink()
        else:
            shutil.rmtree(path.parent)
    checkpoints = listed(actors, folder)["ckpt.zarr"]
    assert checkpoints["state"] == "torn"
    assert checkpoints["steps"] == {"first": 0, "last": 1, "count": 2}
    assert [torn["file"] for torn in checkpoints["torn"]] == ["ckpt.000002.zarr"]
    done = run(actors, folder, "latest", "ckpt.zarr")
    assert done.stdout.split()[1] == "1", done
    assert "step 2 is left out: " in done.stderr and "it is torn: it has" in done.stderr, done
    series = listed(actors, folder)["ser.zarr"]
    assert series["state"] == "torn" and "so it is torn" in series["told"], series
    assert run(actors, folder, "latest", "ser.zarr").returncode == BAD_INPUT
    shown = run(actors, folder, "show", "ser.zarr", "--variable", "u")
    assert shown.returncode == BAD_INPUT and "u" in shown.stderr, shown
    if harm == "without a shard":
        assert "c.2.0.0: it is not there" in shown.stderr
        (folder / "ser.zarr.json").unlink()
        assert "written" in run(actors, folder, "recover", "ser.zarr").stdout
        assert told(actors, folder, "show", "ser.zarr")["variables"][0]["places"][0]["steps"] == [0, 1]


def test_a_shard_of_an_earlier_step_that_is_gone_is_found_by_verify(actors: Actors) -> None:
    """It costs too much to look for all shards whenever a file is opened."""
    folder = write(actors, "zarr").folder
    (folder / "ser.zarr" / "u" / "c.0.0.0").unlink()
    assert listed(actors, folder)["ser.zarr"]["state"] == "committed"
    done = run(actors, folder, "verify", "ser.zarr")
    assert done.returncode == 1 and "c.0.0.0: it is not there" in done.stdout, done


def test_metadata_of_a_store_may_be_written_anew(actors: Actors) -> None:
    folder = write(actors, "zarr").folder
    for path in folder.rglob("zarr.json"):
        path.write_text(json.dumps(json.loads(path.read_text())))
    assert {entry["state"] for entry in listed(actors, folder).values()} == {"committed"}
    assert run(actors, folder, "latest", "ckpt.zarr").stdout.split()[1] == "2"


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_a_job_is_watched_until_it_ends(actors: Actors, back_end: str, mode: str) -> None:
    skip_if_missing(actors.build, back_end)
    end = ending(back_end)
    ended: dict[str, subprocess.CompletedProcess[str]] = {}

    def watch(name: str) -> None:
        words = ("watch", f"{name}{end}", "--json", "--every", "0.05", "--variable", "u")
        deadline = time.monotonic() + 30 * actors.build.time_factor
        while time.monotonic() < deadline:
            done = run(actors, actors.folder / "job1", *words)
            if done.returncode != BAD_INPUT:  # the file is not there yet
                ended[name] = done
                return

    watchers = [threading.Thread(target=watch, args=(name,)) for name in ("ser", "ckpt")]

    def start(_launcher: subprocess.Popen[str], _journals: Path) -> None:
        for watcher in watchers:
            watcher.start()

    script = "init\n"
    for name, kind in (("ser", "series"), ("ckpt", "checkpoint")):
        script += f"open {name} {kind}\n{DEFINE.format(name)}"
    steps = "".join(STEP.format(name) for name in ("ser", "ckpt"))
    script += f"{steps}wait_step ser 0\nwait_step ckpt 0\npause 2\n{steps}pause 2\n{steps}"
    script += "close ser\nclose ckpt\n"
    job = actors.play(script, ranks=2, settings=settings(back_end, mode, keep=0), meanwhile=start)
    assert not job.failures(), job
    for watcher in watchers:
        watcher.join()
    u = values(np.int64, 240, 2)
    for name in ("ser", "ckpt"):
        assert ended[name].returncode == 0, ended
        lines = [json.loads(line) for line in ended[name].stdout.splitlines()]
        newest = [line["step"] for line in lines if line["step"] is not None]
        assert newest == sorted(newest) and newest[-1] == 2, lines
        assert any(line["state"] == "being written" for line in lines[:-1]), lines
        last = lines[-1]
        assert (last["state"], last["steps"]) == ("committed", 3)
        assert last["variables"]["u"]["minimum"] == u.min()
        assert last["variables"]["u"]["maximum"] == u.max()
        assert last["variables"]["u"]["mean"] == pytest.approx(u.mean(), rel=1e-15)
        paces = [line["seconds_per_step"] for line in lines if line["seconds_per_step"]]
        assert paces and all(0 < pace < 60 * actors.build.time_factor for pace in paces), lines
        rates = [line["bytes_per_second"] for line in lines if line["seconds_per_step"]]
        assert max(rates) > 0, lines
        is_store = name == "ser" and back_end.startswith("zarr")  # its manifest does not count bytes
        behind = [line["uncommitted_bytes"] for line in lines if line["step"] is not None]
        assert all((bytes_ is None) == is_store for bytes_ in behind), lines


@pytest.mark.parametrize(("keep", "every"), [(2, "1"), (1, "0.02")])
def test_the_pace_counts_checkpoints_that_were_removed_meanwhile(
    actors: Actors, keep: int, every: str
) -> None:
    lines: list[dict[str, Any]] = []

    def watch(_launcher: subprocess.Popen[str], _journals: Path) -> None:
        deadline = time.monotonic() + 30 * actors.build.time_factor
        while time.monotonic() < deadline and not lines:
            done = run(actors, actors.folder / "job1", "watch", "ckpt.dat", "--json", "--every", every)
            lines.extend(json.loads(line) for line in done.stdout.splitlines())

    script = f"init\nopen ckpt checkpoint\n{DEFINE.format('ckpt')}"
    script += (STEP.format("ckpt") + "pause 0.2\n") * 20 + "close ckpt\n"
    job = actors.play(script, ranks=1, settings=settings("posix", keep=keep), meanwhile=watch)
    assert not job.failures(), job
    paces = 0
    for before, now in itertools.pairwise(lines):
        if before["step"] is not None and now["seconds_per_step"] is not None:
            steps = now["step"] - before["step"]
            seconds = now["committed_at"] - before["committed_at"]
            assert now["seconds_per_step"] == pytest.approx(seconds / steps), (before, now)
            assert now["bytes_per_second"] > 0, now
            paces += keep == 1 or steps > 2
    assert paces > 0, lines


def test_what_nobody_writes_is_watched_once(actors: Actors) -> None:
    folder = write(actors, "posix").folder
    done = run(actors, folder, "watch", "ser.dat", "--variable", "u")
    head, line, state = done.stdout.splitlines()
    assert head.split()[:3] == ["committed", "at", "step"]
    assert line.split()[1:3] == ["2", "3"]
    assert line.endswith(f"2000000, 2000239, {values(np.int64, 240, 2).mean():.6g}")
    assert state == "ser.dat: committed"
    assert run(actors, folder, "watch", "ser.dat", "--variable", "w").returncode == BAD_INPUT
    assert run(actors, folder, "watch", "ser.dat", "--every", "nan").returncode == BAD_INPUT
    job = actors.play("init\nopen ser series\nclose ser\n", ranks=1, settings=settings("posix"))
    assert run(actors, job.folder, "watch", "ser.dat").returncode == NONE_THERE


def state_during(actors: Actors, folder: Path, journals: Path, end: str) -> dict[str, Any]:
    """Wait until a job has opened its second file, and return what the tools say while it lives."""
    path = f"ser{end}"
    deadline = time.monotonic() + 30 * actors.build.time_factor
    while time.monotonic() < deadline and not any(
        '"ckpt"' in journal.read_text() for journal in journals.glob("rank*.jsonl")
    ):
        time.sleep(0.05)
    before = set(folder.iterdir())
    seen = {
        "ls": listed(actors, folder),
        "latest": told(actors, folder, "latest", path),
        "dry": told(actors, folder, "clean", ".", "--dry-run"),
        "clean": told(actors, folder, "clean", "."),
        "recover": told(actors, folder, "recover", path),
        "table": run(actors, folder, "ls").stdout,
    }
    return {**seen, "is_all_there": before <= set(folder.iterdir())}


@pytest.mark.parametrize("mode", ["sync", "async"])
@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_a_living_job_keeps_its_files_and_a_dead_one_does_not(
    actors: Actors, back_end: str, mode: str
) -> None:
    skip_if_missing(actors.build, back_end)
    end = ending(back_end)
    seen: dict[str, Any] = {}

    def look(launcher: subprocess.Popen[str], journals: Path) -> None:
        folder = actors.folder / "job1"
        try:
            seen.update(state_during(actors, folder, journals, end))
        finally:
            for process in processes_in(folder):
                subprocess.run(["kill", "-KILL", str(process)], check=False)
            launcher.kill()

    script = f"init\nopen ser series\n{DEFINE}{STEP}wait_step ser 0\nput ser u\n".format("ser")
    script += f"open ckpt checkpoint\n{DEFINE}put ckpt u\npause 600\n".format("ckpt")
    job = actors.play(
        script, ranks=2, settings=settings(back_end, mode), meanwhile=look, seconds=90
    )
    assert seen, job
    entry = seen["ls"][f"ser{end}"]
    assert entry["state"] == "being written", seen
    assert re.fullmatch(r".+-\d+", entry["job"]), entry
    assert entry["steps"] == {"first": 0, "last": 0, "count": 1}
    assert seen["latest"] == {"step": 0, "time": None, "file": f"ser{end}"}
    assert f"being written by {entry['job']}" in seen["table"]
    for deeds in (seen["dry"], seen["clean"]):
        assert by_name(deeds)[f"ser{end}"] == "left", deeds
        assert set(by_name(deeds).values()) == {"left"}, deeds
        assert f"ser{end} is being written by {entry['job']}" in [deed["why"] for deed in deeds]
    assert by_name(seen["recover"]) == {f"ser{end}": "left"}
    assert seen["is_all_there"]

    found = listed(actors, job.folder)
    assert found[f"ser{end}"]["state"] == "left", found
    assert found[f"ser{end}"]["steps"] == {"first": 0, "last": 0, "count": 1}
    left = sorted(path.name for path in job.folder.glob(".*iocomp*"))
    assert f".ser{end}.iocomp-lock" in left
    dry = told(actors, job.folder, "clean", ".", "--dry-run")
    assert by_name(dry) == dict.fromkeys(left, "would remove")
    assert sorted(path.name for path in job.folder.glob(".*iocomp*")) == left
    assert by_name(told(actors, job.folder, "clean", ".")) == dict.fromkeys(left, "removed")
    assert not list(job.folder.glob(".*iocomp*"))
    assert run(actors, job.folder, "clean", ".").stdout == "nothing is left of dead jobs in .\n"
    assert listed(actors, job.folder)[f"ser{end}"]["state"] == "committed"
    assert told(actors, job.folder, "latest", f"ser{end}")["step"] == 0


def test_steps_have_the_numbers_that_the_program_gave(actors: Actors) -> None:
    numbers = list(range(90, 1000, 100))
    lines = ["init", "open ser series", "define ser u int64 8x8"]
    for number in numbers:
        lines += [f"begin_step ser {number} time={number}", "put ser u", "end_step ser"]
    job = actors.play("\n".join([*lines, "close ser"]), ranks=2, settings=settings("posix"))
    assert job.status == 0 and not job.failures(), job
    (entry,) = listed(actors, job.folder).values()
    assert entry["steps"] == {"first": numbers[0], "last": numbers[-1], "count": len(numbers)}
    shown = run(actors, job.folder, "show", entry["path"]).stdout
    assert f"steps   90,190,...,990 ({len(numbers)})" in shown, shown
    assert told(actors, job.folder, "latest", entry["path"])["step"] == numbers[-1]


def test_names_that_a_killed_process_has_left_are_removed(actors: Actors) -> None:
    """Empty ones that are older than any process needs them."""
    folder = actors.folder
    for name, content, age in (("old", "", 100), ("new", "", 0), ("full", "x", 100)):
        path = folder / f".iocomp-spill-{name}"
        path.write_text(content)
        os.utime(path, (time.time() - age,) * 2)
    assert by_name(told(actors, folder, "clean", ".", "--dry-run")) == {".iocomp-spill-old": "would remove"}
    assert by_name(told(actors, folder, "clean", ".")) == {".iocomp-spill-old": "removed"}
    left = sorted(path.name for path in folder.glob(".iocomp*"))
    assert left == [".iocomp-spill-full", ".iocomp-spill-new"]


@pytest.mark.parametrize("back_end", [*TELLING, "adios2-bp4"])
def test_a_variable_of_earlier_steps_keeps_its_attributes(actors: Actors, back_end: str) -> None:
    """The file tells whose they are, also if its newest step lacks the variable."""
    skip_if_missing(actors.build, back_end)
    steps = "put ser u\nput ser v\nend_step ser\nput ser v\nend_step ser\n"
    script = f"init\nopen ser series\n{DEFINE.format('ser')}{steps}close ser\n"
    job = actors.play(script, ranks=2, settings=settings(back_end))
    assert not job.failures(), job
    path = f"ser{ending(back_end)}"
    (job.folder / f"{path}.json").unlink()
    shown = told(actors, job.folder, "show", path)
    assert shown["attributes"] == {"title": {"type": "text", "value": "hello world"}}, shown
    (u,) = (each for each in shown["variables"] if each["name"] == "u")
    assert u["attributes"]["units"]["value"] == "m/s", shown


@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_a_lost_manifest_is_written_again(actors: Actors, back_end: str) -> None:
    job = write(actors, back_end)
    folder = job.folder
    end = ending(back_end)
    before = [everything(actors, folder, name + end) for name in ("ser", "ckpt")]
    (folder / f"ser{end}.json").unlink()
    (folder / f"ckpt.000000{end}.json").unlink()
    (folder / f"ckpt.000001{end}.json").write_text("{")
    status = 0 if back_end in TELLING else BAD_INPUT
    dry = told(actors, folder, "recover", f"ckpt{end}", "--dry-run", status=status)
    assert not (folder / f"ckpt.000000{end}.json").exists()
    if back_end not in TELLING:
        assert by_name(dry) == {f"ckpt.00000{step}{end}": "left" for step in (0, 1)}
        done = run(actors, folder, "recover", f"ser{end}")
        assert done.returncode == BAD_INPUT and "the format does not tell" in done.stdout
        return
    lost = [f"ckpt.00000{step}{end}.json" for step in (0, 1)]
    assert by_name(dry) == dict.fromkeys(lost, "would write")
    assert by_name(told(actors, folder, "recover", f"ckpt{end}")) == dict.fromkeys(lost, "written")
    done = by_name(told(actors, folder, "recover", f"ser{end}"))
    assert done == {f"ser{end}.json": "written"}
    after = [everything(actors, folder, name + end) for name in ("ser", "ckpt")]
    assert after == before
    assert run(actors, folder, "recover", ".").stdout.startswith("nothing is to be done in . (a")
    for step in range(3):  # none is left to show what the others are
        (folder / f"ckpt.00000{step}{end}.json").unlink()
    alone = by_name(told(actors, folder, "recover", f"ckpt.000001{end}"))
    assert alone == {f"ckpt.000001{end}.json": "written"}
    (folder / f"ckpt.000001{end}.json").unlink()
    assert len(told(actors, folder, "recover", f"ckpt{end}")) == 3
    after = everything(actors, folder, f"ckpt{end}")
    assert after == before[1]
    read = actors.play(
        "init\nread ser\nread ckpt\n", ranks=2, settings=settings(back_end), folder=folder
    )
    assert not read.failures(), read
    for entry in read.calls("read"):
        assert entry["steps"] == [0, 1, 2] and entry["right"], entry


def interrupted(actors: Actors, back_end: str, fault: str) -> Job:
    """Have a job killed while it puts a series of one step in the place of one of three."""
    first = write(actors, back_end)
    script = f"init\n@0 {fault}\nopen ser series\n{DEFINE}{STEP}wait_step ser 0\nclose ser\n"
    job = actors.play(
        script.format("ser"),
        ranks=2,
        settings=settings(back_end, existing="replace"),
        folder=first.folder,
        alone=True,
    )
    assert job.status != 0, job
    return job


@pytest.mark.parametrize("tool", ["clean", "recover"])
@pytest.mark.parametrize("back_end", BACK_ENDS)
def test_an_interrupted_replacement_is_undone(actors: Actors, back_end: str, tool: str) -> None:
    end = ending(back_end)
    earlier = 4 if back_end in ("zarr", "zarr-zstd") else 1  # it renames its metadata first
    job = interrupted(actors, back_end, f"fault rename KILL path=ser{end} after={earlier}")
    path = f"ser{end}"
    found = listed(actors, job.folder)[path]
    assert found["state"] == "left" and found["steps"]["count"] == 3, found
    assert "replaces" in (job.folder / f"{path}.json").read_text()
    assert told(actors, job.folder, "latest", path)["step"] == 2
    done = by_name(told(actors, job.folder, tool, path))
    assert done.pop(f"{path}.json") == "put back"
    assert done.pop(f".{path}.iocomp-lock") == "removed"
    assert set(done.values()) == {"removed"} and len(done) == 1, done
    assert "replaces" not in (job.folder / f"{path}.json").read_text()
    assert listed(actors, job.folder)[path]["state"] == "committed"
    assert [part["step"] for part in everything(actors, job.folder, path)[1:4]] == [0, 1, 2]


def test_a_finished_replacement_keeps_no_other_manifest(actors: Actors) -> None:
    job = interrupted(actors, "posix", "fault rename KILL path=ser.dat after=2")
    path = job.folder / "ser.dat.json"
    assert "replaces" in path.read_text()
    assert listed(actors, job.folder)["ser.dat"]["steps"]["count"] == 1
    assert by_name(told(actors, job.folder, "recover", "ser.dat"))["ser.dat.json"] == "written"
    assert "replaces" not in path.read_text()
    assert listed(actors, job.folder)["ser.dat"]["steps"]["count"] == 1
    shown = told(actors, job.folder, "show", "ser.dat", "--variable", "u")
    assert shown["values"] == values(np.int64, 240, 0).tolist()


def test_a_manifest_of_a_later_release_stays(actors: Actors) -> None:
    folder = write(actors, "netcdf").folder
    path = folder / "ser.nc.json"
    later = path.read_text().replace('"iocomp_manifest": 2', '"iocomp_manifest": 99')
    path.write_text(later)
    done = run(actors, folder, "recover", "ser.nc")
    assert done.returncode == BAD_INPUT and "later release" in done.stdout, done
    assert path.read_text() == later


def test_what_is_not_there_is_told(actors: Actors) -> None:
    folder = write(actors, "posix").folder
    (folder / "results").mkdir()
    for words, story in (
        (("ls", "sre.dat"), 'there is no sre.dat; did you mean "ser.dat"?'),
        (("show", "ckp.dat"), 'there is no ckp.dat; did you mean "ckpt.dat"?'),
        (("clean", "result/ser.dat"), 'there is no result; did you mean "results"?'),
        (("recover", "resutls/"), 'there is no resutls; did you mean "results"?'),
        (("show", "ser.dat", "--variable", "w"), 'has no variable "w"; did you mean "u"?'),
        (("show", "ser.dat", "--variable", "u", "--step", "3"), "no step 3; committed steps: 0-2"),
        (("show", "."), ". is a folder with several files; choose one of ckpt.dat, ser.dat"),
        (("latest", "results"), "nothing in results was written by iocomp"),
    ):
        done = run(actors, folder, *words)
        assert done.returncode == (NONE_THERE if words[0] == "latest" else BAD_INPUT), done
        assert done.stdout == "" and story in done.stderr, done


def test_a_format_that_is_not_installed_is_named(actors: Actors) -> None:
    folder = write(actors, "posix").folder
    path = folder / "ser.dat.json"
    path.write_text(unsealed(path.read_text()).replace('"posix"', '"hdf9"'))
    assert listed(actors, folder)["ser.dat"]["format"] == "hdf9"
    for command in ("show", "latest"):
        done = run(actors, folder, command, "ser.dat")
        assert done.returncode == BAD_INPUT
        assert 'the back-end "hdf9" is not installed: no libiocomp_source_hdf9.so' in done.stderr


def test_files_of_others_are_shown_and_not_listed(actors: Actors) -> None:
    skip_if_missing(actors.build, "hdf5")
    import h5py

    folder = actors.folder / "others"
    folder.mkdir()
    with h5py.File(folder / "theirs.h5", "w") as file:
        file["field"] = np.arange(6.0).reshape(2, 3)
    (folder / "notes.json").write_text('{"a": 1}')
    (folder / "notes").write_text("text")
    assert listed(actors, folder) == {}
    assert listed(actors, folder, "theirs.h5")["theirs.h5"]["state"] == "undescribed"
    shown = told(actors, folder, "show", "theirs.h5", "--variable", "field", "--slice", "1")
    assert shown["values"] == [3, 4, 5]
    assert run(actors, folder, "clean", ".").returncode == 0
    assert sorted(path.name for path in folder.iterdir()) == ["notes", "notes.json", "theirs.h5"]


def test_groups_and_links_of_others_are_named(actors: Actors) -> None:
    import h5py
    import netCDF4

    folder = actors.folder / "linked"
    folder.mkdir()
    with h5py.File(folder / "theirs.h5", "w") as file:
        file["field"] = np.arange(6.0)
        file["again"] = h5py.SoftLink("/field")
        file["inner/lost"] = h5py.SoftLink("/nowhere")
        file["elsewhere"] = h5py.ExternalLink("other.h5", "/x")
        file["inner/x"] = np.arange(3.0)
        file["other"] = file["inner"]
        file["third"] = h5py.SoftLink("/inner")  # a link tells itself that it is one
    with netCDF4.Dataset(folder / "theirs.nc", "w") as file:
        file.createVariable("field", "f8", ())[:] = 1
        file.createGroup("inner").createVariable("x", "f8", ())
    assert told(actors, folder, "show", "theirs.h5")["not_read"] == {
        "inner/lost": "a link to what is not there",
        "elsewhere": "a link to another file",
        "other": "another name of a group",
    }
    (name,) = (not_read := told(actors, folder, "show", "theirs.nc")["not_read"])
    assert name == "inner" and not_read[name].startswith("a group: ")


def test_odd_files_of_others_are_read(actors: Actors) -> None:
    import h5py

    folder = actors.folder / "odd"
    folder.mkdir()
    padded = h5py.h5t.C_S1.copy()
    padded.set_size(8)
    padded.set_strpad(h5py.h5t.STR_SPACEPAD)  # as Fortran's
    with h5py.File(folder / "theirs.mat", "w", userblock_size=1024) as file:
        file["field"] = np.arange(6.0)
        for name, chunks in (("text", None), ("chunked", (1,))):
            created = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
            if chunks:
                created.set_chunk(chunks)
            space = h5py.h5s.create_simple((2,))
            dataset = h5py.h5d.create(file.id, name.encode(), padded, space, created)
            dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, np.array([b"abc     ", b"de      "]), padded)
        file["t"] = np.array([(1, 2)], dtype=[("a.b", "i4"), ("c", "i4")])
        file["t.a"] = np.array([(3,)], dtype=[("b", "i4")])
    with (folder / "theirs.mat").open("r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file")
    shown = told(actors, folder, "show", "theirs.mat")
    assert set(shown["not_read"]) == {"t.a.b"}, shown
    assert told(actors, folder, "show", "theirs.mat", "--variable", "field")["values"] == [0, 1, 2, 3, 4, 5]
    assert told(actors, folder, "show", "theirs.mat", "--variable", "t.c")["values"] == [2]
    texts = [
        told(actors, folder, "show", "theirs.mat", "--variable", name)["values"]
        for name in ("text", "chunked")
    ]
    assert texts[0] == texts[1] == list(b"abc     de      "), texts


@pytest.mark.parametrize("form", ["NETCDF3_64BIT_OFFSET", "NETCDF4"])
def test_texts_of_netcdf_end_at_their_zero(actors: Actors, form: str) -> None:
    """Programs in C often write a text with its zero."""
    import netCDF4

    path = actors.folder / "theirs.nc"
    with netCDF4.Dataset(path, "w", format=form) as file:
        file.createDimension("x", 3)
        variable = file.createVariable("b", "i1", ("x",))
        variable.set_auto_maskandscale(False)
        for name, text in (("_Unsigned", "true\0"), ("long_name", "abc\0"), ("empty", "")):
            variable.setncattr(name, text)
        variable.scale_factor = 0.5
        variable.missing_value = np.int32(-2)  # of another type than the values: 254
        variable[:] = np.array([-1, 3, -2], "i1")
    with open_files(path) as files:
        found = files.attributes("b")
        assert (found["_Unsigned"], found["long_name"], found["empty"]) == ("true", "abc", "")
        np.testing.assert_array_equal(files.read("b", dtype="f8"), [127.5, 1.5, np.nan])
