# SPDX-License-Identifier: BSD-3-Clause
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import iocomp
from iocomp import InvalidArgumentError, NotFoundError, StorageError, UnsupportedError, open_files
from iocomp.session import _extents, _global_indices
from manifests import sealed

h5py = pytest.importorskip("h5py")


def manifest_of(
    path: Path, arrays: dict[int, dict[str, np.ndarray]], **more: object
) -> dict[str, Any]:
    """Return a manifest of steps of arrays that lie one after the other; write their bytes."""
    offset, steps, raw = 0, [], b""
    for number, variables in arrays.items():
        entries = []
        for name, values in variables.items():
            kind = "char" if values.dtype.kind == "S" else str(values.dtype)
            entries.append(
                {"name": name, "type": kind, "shape": list(values.shape), "offset": offset}
            )
            raw += values.astype(values.dtype.newbyteorder("<")).tobytes()
            offset = len(raw)
        steps.append({"step": number, "time": number / 2, "variables": entries})
    path.write_bytes(raw)
    numbers = sorted(arrays)
    return {
        "iocomp_manifest": 1,
        "name": "f",
        "format": "posix",
        "kind": "series",
        "file": path.name,
        "bytes": len(raw),
        "byte_order": "little",
        "first_step": numbers[0],
        "committed_steps": numbers[-1] - numbers[0] + 1,
        "steps": steps,
        "absent": [each for each in range(numbers[0], numbers[-1]) if each not in arrays],
        "attributes": {},
        "variable_attributes": {},
    } | more


def write(path: Path, arrays: dict[int, dict[str, np.ndarray]], **more: object) -> Path:
    manifest = manifest_of(path, arrays, **more)
    Path(f"{path}.json").write_text(json.dumps(manifest))
    return path


U = np.arange(60, dtype="i4").reshape(3, 4, 5)


def test_a_plain_file_is_read_through_its_manifest(tmp_path: Path) -> None:
    write(tmp_path / "f.bin", {2: {"u": U, "s": np.array(1.5)}, 4: {"u": U + 100}})
    with open_files(tmp_path / "f") as files:
        assert files.steps == [2, 4]
        assert (files.variables(), files.variables(4)) == (["u", "s"], ["u"])
        assert files.shape("u") == (3, 4, 5)
        assert files.time(4) == 2.0
        assert np.array_equal(files.read("u"), U + 100)
        assert files.read("s").item() == 1.5  # of the newest step that has it
        with pytest.raises(NotFoundError, match=r"no step 3 .*up to 4"):
            files.read("u", 3)
        with pytest.raises(NotFoundError, match="no variable 's' in step 4; there are u"):
            files.read("s", 4)


def test_what_is_there_is_true(tmp_path: Path) -> None:
    arrays = {"a": np.array(1.5), "none": np.empty((0, 3))}
    with open_files(write(tmp_path / "f.bin", {0: arrays})) as files:
        assert all(files[name] for name in arrays)
    with open_files(write(tmp_path / "bare.bin", {0: {}})) as files:
        assert files and not files.variables()
    assert iocomp.Variable.__new__(iocomp.Variable)  # whatever its shape is


@pytest.mark.parametrize("out", [[1], 1.5, np.empty(2), np.broadcast_to(0.5, (1,))])
def test_what_values_cannot_be_read_into_is_refused(tmp_path: Path, out: Any) -> None:
    with open_files(write(tmp_path / "f.bin", {0: {"u": np.zeros(1)}})) as files:
        with pytest.raises(InvalidArgumentError, match=r"block of shape \(1,\): it must be a writeable"):
            files.read("u", out=out)
        with pytest.raises(InvalidArgumentError, match="the type 'nope'"):
            files.read("u", dtype="nope")


CALLS: dict[str, Any] = {
    each: getattr(iocomp.Files, each) for each in dir(iocomp.Files) if each[0] != "_" or each == "__getitem__"
}
OF_VARIABLES = [each for each, call in CALLS.items() if "name" in getattr(call, "__annotations__", ())]
OF_STEPS = [each for each, call in CALLS.items() if "step" in getattr(call, "__annotations__", ())]


@pytest.mark.parametrize("call", OF_VARIABLES)
def test_a_variable_that_is_not_there_is_named(tmp_path: Path, call: str) -> None:
    """Every call that takes the name of a variable refuses one that is not there in the same way."""
    assert {*OF_VARIABLES} >= {"read", "shape", "dtype", "attributes", "steps_of", "__getitem__"}
    with open_files(write(tmp_path / "f.bin", {0: {"u": U}})) as files:
        with pytest.raises(NotFoundError, match="no variable 'nope'; there are u"):
            CALLS[call](files, "nope")
        files.not_read["links"] = "a link"
        with pytest.raises(NotFoundError, match="'links' cannot be read: a link"):
            CALLS[call](files, "links")


@pytest.mark.parametrize("call", OF_STEPS)
def test_a_step_that_is_not_there_is_named(tmp_path: Path, call: str) -> None:
    assert {*OF_STEPS} >= {"read", "shape", "dtype", "time", "variables"}
    with open_files(write(tmp_path / "f.bin", {0: {"u": U}})) as files:
        words = {"name": "u"} if call in OF_VARIABLES else {}
        with pytest.raises(NotFoundError, match="no step 3 is committed; there are 1, up to 0"):
            CALLS[call](files, step=3, **words)


@pytest.mark.parametrize(
    "box",
    [
        ...,
        0,
        (slice(1, 3), slice(None)),
        (1, slice(1, 3)),
        (2, -1, slice(1, 4)),
        (slice(0, 3, 2), ..., 3),
        (..., slice(4, 2)),
        (slice(None), 2, slice(1, 5, 2)),
        (0, 0, 0),
    ],
)
def test_every_box_is_what_numpy_selects(tmp_path: Path, box: object) -> None:
    path = write(tmp_path / "f.bin", {0: {"pad": np.zeros(3, "i1"), "u": U}})
    with open_files(path) as files:
        found = files.read("u", 0, box)
        assert np.array_equal(found, U[box])
        assert found.shape == U[box].shape and found.dtype == U.dtype


class Indexed:
    """A number of another package that can be an index."""

    def __index__(self) -> int:
        return 2


@pytest.mark.parametrize("index", [2, np.uint8(2), np.int64(-1), np.array(2), Indexed()])
def test_every_kind_of_integer_is_an_index(tmp_path: Path, index: Any) -> None:
    with open_files(write(tmp_path / "f.bin", {0: {"u": U}})) as files:
        for box in (index, (index, ..., slice(0, index)), (slice(index, None), 1)):
            assert np.array_equal(files["u"][box], U[box]), box


NO_INDICES: list[Any] = [
    *(1.9, 1.0, np.float64(1), True, np.True_, None, "x", b"1", "1", 1j, [0, 1], [1], {}, np.datetime64(1, "s")),
    *(np.array(given) for given in ([True], [1], True, 1.0, [0, 1], "1")),
    *(slice(0, 1.5), slice("a", None), slice(None, None, 0), slice(None, None, np.float32(1))),
]


@pytest.mark.parametrize("index", NO_INDICES, ids=repr)
def test_what_is_no_index_is_refused(tmp_path: Path, index: Any) -> None:
    """An index that int() would round, or take out of an array or a text, is refused with what is allowed."""
    with open_files(write(tmp_path / "f.bin", {0: {"u": U}})) as files:
        for box in (index, (0, index), (..., index)):
            for read in (lambda: files.read("u", box=box), lambda: files["u"][box], lambda: files["u"].read(0, box)):
                with pytest.raises(iocomp.InvalidArgumentError, match=r"of u: allowed are integers, slices of"):
                    read()


@pytest.mark.parametrize("shape", [1.9, (2, 1.9), (2.0,), "12", None, ("1",), np.array([2.0])])
def test_what_is_no_extent_is_refused(shape: Any) -> None:
    with pytest.raises(iocomp.InvalidArgumentError, match="allowed are an integer, and a sequence of integers"):
        _extents(shape)


def test_indices_of_meshes_are_integers() -> None:
    assert _global_indices([]).tolist() == []
    assert _global_indices(np.array([[3, 1]], "u2")).tolist() == [3, 1]
    for given in ([1.9], [1.0], [True, False], ["1"]):
        with pytest.raises(iocomp.InvalidArgumentError, match="allowed are integers"):
            _global_indices(given)


@pytest.mark.parametrize("box", [(3,), (0, 0, 0, 0), slice(None, None, -1), (..., 0, ...), (..., ...)])
def test_a_box_that_is_none_is_refused(tmp_path: Path, box: object) -> None:
    with (
        open_files(write(tmp_path / "f.bin", {0: {"u": U}})) as files,
        pytest.raises(ValueError, match="u"),
    ):
        files.read("u", 0, box)


def test_values_go_into_an_array_of_the_caller(tmp_path: Path) -> None:
    with open_files(write(tmp_path / "f.bin", {0: {"u": U}})) as files:
        whole = np.zeros((5, 6, 7), "i4")
        assert files.read("u", out=whole[1:4, 1:5, 1:6]).base is whole
        assert np.array_equal(whole[1:4, 1:5, 1:6], U) and whole.sum() == U.sum()
        assert np.array_equal(files.read("u", out=np.zeros((3, 4, 5))), U)
        assert files.read("u", dtype="f4").dtype == np.float32
        with pytest.raises(iocomp.InvalidArgumentError, match="shape"):
            files.read("u", out=np.zeros((3, 4)))


NUMBERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]


@pytest.mark.parametrize("kind", NUMBERS)
def test_truth_values_are_those_that_numpy_makes(tmp_path: Path, kind: str) -> None:
    """An array of bool with other bytes than 0 and 1 is told by its bytes alone: 2 == True there."""
    given = np.array([[0, 1, 2, 127], [300, 0, 7, 1]], "f8").astype(kind)
    if kind[0] != "u":
        given[1, 2] *= -1
    if kind[0] == "f":
        given[1] = 0.25, -0.0, np.nan, np.inf
    bytes_ = given.astype(bool).view("i1")
    more = {"variable_attributes": {"i1": {"dtype": {"type": "text", "value": "bool"}}}}
    with open_files(write(tmp_path / "f.bin", {0: {kind: given, "text": np.full(3, b"a")}}, **more)) as files:
        for box in (..., 1, np.s_[:, ::2], np.s_[1, 2], np.s_[:, 4:]):
            found = files.read(kind, box=box, dtype=bool)
            assert np.array_equal(found.view("i1"), bytes_[box]), (box, found.view("i1"))
        for whole in (np.zeros((2, 8), bool)[:, 1:5], np.zeros((2, 8), bool)[:, ::2], np.zeros((4, 2), bool).T):
            assert files.read(kind, out=whole) is whole
            assert np.array_equal(whole.copy().view("i1"), bytes_)
        if files[kind].dtype == bool:
            assert np.array_equal(files[kind][:].view("i1"), bytes_)
            assert files[kind][0, 2].shape == () and files[kind][0, 2].view("i1") == 1
        with pytest.raises(iocomp.InvalidArgumentError, match="allowed are numbers"):
            files.read("text", dtype=bool)


DAMAGED: list[tuple[str, str, Any, str]] = [
    ("foreign", "iocomp_manifest", None, "iocomp_manifest"),
    ("later", "iocomp_manifest", 3, "version 3"),
    ("no steps", "steps", None, 'the entry "steps" is missing'),
    ("no list", "steps", 3, "has not the form"),
    ("longer", "bytes", 1 << 40, "torn"),
    ("shorter", "bytes", 10, "bytes from byte"),
    ("negative", "bytes", -1, "-1 bytes"),
    ("order", "byte_order", "big", "other byte order"),
    ("absent", "absent", [0], "absent"),
    ("endless", "committed_steps", 1 << 60, "claims"),
    ("format", "format", "tiledb", "tiledb"),
    ("attributes", "attributes", {"a": {"type": "float64", "value": ["x"]}}, "where a number is expected"),
]


@pytest.mark.parametrize(("key", "value", "told"), [each[1:] for each in DAMAGED])
def test_a_damaged_manifest_is_told(tmp_path: Path, key: str, value: object, told: str) -> None:
    path = tmp_path / "f.bin"
    manifest = manifest_of(path, {0: {"u": U}}) | {key: value}
    if value is None:
        del manifest[key]
    Path(f"{path}.json").write_text(json.dumps(manifest))
    with pytest.raises((StorageError, UnsupportedError), match=told) as caught:
        open_files(path)
    assert str(path) in str(caught.value)


def test_a_manifest_cut_at_any_byte_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "f.bin", {0: {"u": U}})
    whole = Path(f"{path}.json").read_bytes()
    for end in range(len(whole)):
        Path(f"{path}.json").write_bytes(whole[:end])
        with pytest.raises(StorageError, match=r"cannot read the manifest .*f\.bin\.json"):
            open_files(path)


@pytest.mark.parametrize("junk", [b"[]", b"3", b"null", b"\xff\xfe", b'{"replaces": 7}'])
def test_what_is_no_manifest_is_told(tmp_path: Path, junk: bytes) -> None:
    path = write(tmp_path / "f.bin", {0: {"u": U}})
    Path(f"{path}.json").write_bytes(junk)
    with pytest.raises(StorageError, match="cannot read the manifest"):
        open_files(path)


def test_a_file_that_is_too_short_is_told(tmp_path: Path) -> None:
    path = write(tmp_path / "f.bin", {0: {"u": U}})
    with open_files(path) as files:
        path.write_bytes(path.read_bytes()[:-1])  # while it is open
        for box in (..., (slice(None), 3)):
            with pytest.raises(StorageError, match="1 bytes too early"):
                files.read("u", 0, box)
    with pytest.raises(StorageError, match="torn: it has 239 bytes, its manifest says 240"):
        open_files(path)


def test_while_a_file_is_replaced_the_old_manifest_counts(tmp_path: Path) -> None:
    path = tmp_path / "f.bin"
    new = manifest_of(tmp_path / ".f.bin.iocomp-h-1", {5: {"u": U}}) | {"file": "f.bin"}
    old = manifest_of(path, {0: {"u": U}})
    new["replaces"] = {"temporary": ".f.bin.iocomp-h-1", "manifest": old}
    Path(f"{path}.json").write_text(json.dumps(new))
    with open_files(path) as files:
        assert files.steps == [0]
    (tmp_path / ".f.bin.iocomp-h-1").rename(path)
    with open_files(path) as files:
        assert files.steps == [5]


def test_a_file_that_was_opened_stays_the_same(tmp_path: Path) -> None:
    path = write(tmp_path / "f.bin", {0: {"u": U}})
    with open_files(path) as files:
        path.unlink()
        write(path, {0: {"u": -U}})
        assert np.array_equal(files.read("u"), U)
        assert np.array_equal(pickle.loads(pickle.dumps(files)).read("u"), -U)  # opened again


def test_unpickling_opens_the_same_file_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder, values in (("a", U), ("b", -U)):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder / "f.bin", {0: {"u": values}})
    monkeypatch.chdir(tmp_path / "a")
    with open_files("f.bin") as files:
        text = pickle.dumps(files)
        assert str(files.path) == "f.bin"
    monkeypatch.chdir(tmp_path / "b")
    with pickle.loads(text) as again:
        assert np.array_equal(again.read("u"), U)


def test_checkpoints_are_one_set_and_torn_ones_are_left_out(tmp_path: Path) -> None:
    for step in (3, 7, 1234567):
        write(tmp_path / f"c.{step:06}.bin", {step: {"u": U + step}})
    (tmp_path / "c.000009.bin").write_bytes(b"")  # without a manifest
    torn = tmp_path / "c.000007.bin"
    torn.write_bytes(b"")
    for name in ("c", "c.bin"):
        with open_files(tmp_path / name) as files:
            assert files.steps == [3, 1234567]
            assert sorted(files.left_out) == [7, 9] and "torn" in files.left_out[7]
            assert np.array_equal(files.read("u", 3), U + 3)
    with open_files(tmp_path / "c.000003.bin") as files:
        assert files.steps == [3]


def write_packed(folder: Path, scales: dict[int, float]) -> Path:
    """Write a checkpoint for each step, in which all numbers are 10."""
    folder.mkdir(exist_ok=True)
    for step, scale in scales.items():
        told = {"u": {"scale_factor": {"type": "float64", "value": [scale]}}}
        raw = np.full(4, 10 / scale, "i2")
        write(folder / f"c.{step:06}.bin", {step: {"u": raw}}, kind="checkpoint", variable_attributes=told)
    return folder / "c.bin"


def test_each_file_of_a_set_is_unpacked_as_it_says(tmp_path: Path) -> None:
    with open_files(write_packed(tmp_path, {3: 0.5, 4: 0.25, 7: 0.125, 8: 0.125})) as files:
        for step in files.steps:
            assert files.read("u", step, dtype="f8").tolist() == [10.0] * 4, step
        assert files.attributes("u")["scale_factor"] == 0.125
        assert files.changing == {"u"}
    with open_files(write_packed(tmp_path / "same", {3: 0.5, 4: 0.5})) as files:
        assert not files.changing


def test_steps_that_another_run_has_superseded_are_not_seen(tmp_path: Path) -> None:
    for step in (8, 9):
        write(tmp_path / f"c.{step:06}.bin", {step: {"u": U}})
    status = (tmp_path / "c.000009.bin").stat()
    gone = {"9": f"{status.st_dev}:{status.st_ino}", "8": "1:1"}  # of 8 there is a newer file
    write(tmp_path / "c.000005.bin", {5: {"u": U}}, supersedes=gone)
    with open_files(tmp_path / "c") as files:
        assert files.steps == [5, 8]


def test_an_entry_of_a_manifest_may_tell_of_many_steps(tmp_path: Path) -> None:
    path = tmp_path / "f.bin"
    manifest = manifest_of(path, {step: {"u": U + step} for step in range(5)})
    first = manifest["steps"][0] | {"count": 4, "number": 10, "time": [0, 1.5, 3, 4.5]}
    first["variables"] = [first["variables"][0] | {"advance": U.nbytes}]
    manifest |= {"iocomp_manifest": 2, "steps": [first, manifest["steps"][4] | {"number": 20}]}
    Path(f"{path}.json").write_text(json.dumps(manifest))
    with open_files(path) as files:
        assert files.steps == [10, 11, 12, 13, 20]
        assert [files.time(step) for step in files.steps] == [0, 1.5, 3, 4.5, 2]
        for index, step in enumerate(files.steps):
            assert np.array_equal(files.read("u", step), U + index)
    for damage in ({"count": 0}, {"count": 1 << 60}, {"time": [0]}, {"count": 5}):
        Path(f"{path}.json").write_text(json.dumps(manifest | {"steps": [first | damage]}))
        with pytest.raises(StorageError, match="cannot read the manifest"):
            open_files(path)


def test_what_is_not_there_or_is_there_twice_is_told(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no committed file"):
        open_files(tmp_path / "f")
    write(tmp_path / "f.bin", {0: {"u": U}})
    (tmp_path / ".f.h5.iocomp-host-1").touch()  # not committed
    assert open_files(tmp_path / "f").steps == [0]
    write(tmp_path / "f.000001.bin", {1: {"u": U}})
    with pytest.raises(
        iocomp.InvalidArgumentError, match=r"f\.000001\.bin, f\.bin|f\.bin, f\.000001"
    ):
        open_files(tmp_path / "f")


def test_attributes_have_their_types(tmp_path: Path) -> None:
    told = {
        "title": {"type": "text", "value": "ä"},
        "n": {"type": "int32", "value": [7]},
        "x": {"type": "float64", "value": [1.5, "NaN", "-Infinity"]},
        "z": {"type": "complex64", "value": [[1, "Infinity"]]},
        "c": {"type": "char", "value": [65, 66]},
    }
    with open_files(write(tmp_path / "f.bin", {0: {"u": U}}, attributes=told)) as files:
        found = files.attributes()
    assert found["title"] == "ä"
    assert (found["n"], found["n"].dtype) == (7, np.int32)
    assert np.array_equal(found["x"], [1.5, np.nan, -np.inf], equal_nan=True)
    assert found["z"] == complex(1, np.inf) and found["z"].dtype == np.complex64
    assert found["c"].tolist() == [b"A", b"B"]


def test_an_hdf5_file_is_known_by_its_signature(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "f.anything", "w") as file:
        file.create_dataset("3/u", data=np.arange(6.0).reshape(2, 3))
        file.create_group("4")
    with open_files(tmp_path / "f.anything") as files:
        assert files.steps == [3, 4]
        assert files.shape("u", 3) == (2, 3)
        assert files.read("u", 3, (0, slice(2, 3))).tolist() == [2.0]


def test_datasets_of_others_that_grow_are_read_whole(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file.create_dataset("u", data=np.arange(6.0).reshape(2, 3), maxshape=(None, 3))
        file.create_dataset("a/x", data=[7])
        file.attrs["title"] = "t"
    with open_files(tmp_path / "f.h5") as files:
        assert (files.steps, files.variables(0)) == ([0], ["a/x", "u"])
        assert files.read("u").tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
        assert files.attributes() == {"title": "t"}


def test_datasets_of_others_that_are_cut_as_ours_are_read_whole(tmp_path: Path) -> None:
    """As by h5py 3.7, which fills chunks like iocomp."""
    create = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    create.set_chunk((1, 100, 1000))
    create.set_fill_time(h5py.h5d.FILL_TIME_ALLOC)
    space = h5py.h5s.create_simple((2, 100, 1000), (h5py.h5s.UNLIMITED, 100, 1000))
    for name in ("without", "time"):
        with h5py.File(tmp_path / f"{name}.h5", "w") as file:
            h5py.h5d.create(file.id, b"u", h5py.h5t.NATIVE_FLOAT, space, create)
            file["u"][1] = 1
            if name == "time":
                file["time"] = np.arange(2.0)
        with open_files(tmp_path / f"{name}.h5") as files:
            assert files.steps == ([0, 1] if name == "time" else [0])
            assert files.shape("u") == ((100, 1000) if name == "time" else (2, 100, 1000))
            assert files.read("u").sum() == 100_000


def test_foreign_types_of_hdf5(tmp_path: Path) -> None:
    """Bool, enumerations, texts of any length and members of compounds are read; the rest is named."""
    rows = np.array([(1, 0.5, b"ab"), (2, 1.5, b"c")], "i4,f8,S3")
    colours = np.array([2, 0, 1], "i2")
    with h5py.File(tmp_path / "f.h5", "w") as file:
        file["flags"] = np.array([True, False, True])
        file.create_dataset("colour", data=colours, dtype=h5py.enum_dtype({"red": 0, "green": 2}, "i2"))
        file["names"] = np.array(["Bergen", "", "Ålesund"], h5py.string_dtype())
        file["one"] = "title"
        file["table"] = rows
        file.create_dataset("ascii", data=np.array([b"xy", b"z"], "S2"), chunks=(2,))
        file["places"] = np.array([[(1.0, [1, 2])]], [("x", "f8"), ("pair", "i4", 2)])
        file["nothing"] = h5py.Empty("f8")
        file["link"] = np.array([file["flags"].ref], h5py.ref_dtype)
        file["ragged"] = np.array([np.arange(2), np.arange(3)], h5py.vlen_dtype("i4"))
        file["blob"] = np.array([b"abc"], "V3")
        file.create_dataset("many", shape=(2**20 + 1,), dtype=h5py.string_dtype())
        file.attrs["is_done"] = True
    with open_files(tmp_path / "f.h5") as files:
        assert files.variables() == sorted(files.variables())
        assert files.read("flags").tolist() == [1, 0, 1]
        assert files.read("colour").tolist() == colours.tolist()
        assert files.dtype("colour") == np.int16
        assert files.read("names").tobytes() == b"Bergen\0\0\0\0\0\0\0\0\0\0" + "Ålesund".encode()
        assert files.read("names", 0, (slice(2, 3), slice(0, 2))).tobytes() == "Å".encode()
        assert files.read("one").tobytes() == b"title"
        assert files.read("table.f0").tolist() == [1, 2]
        assert files.read("table.f1", 0, (slice(1, 2),)).tolist() == [1.5]
        assert files.read("table.f2").tobytes() == b"ab\0c\0\0"
        assert files.read("ascii").tobytes() == b"xyz\0"
        assert files.read("places.x").tolist() == [[1.0]]
        assert files.attributes()["is_done"] == 1
        assert files.not_read == {
            "places.pair": "an array in each element",
            "nothing": "an empty dataspace",
            "link": "references to other objects",
            "ragged": "sequences of any length",
            "blob": "opaque elements of 3 bytes",
            "many": "texts of any length, which are more than 1048576, or 1073741824 bytes if each is as "
            "long as the longest",
        }
        with pytest.raises(KeyError, match="sequences of any length"):
            files.read("ragged")


def test_foreign_types_of_netcdf(tmp_path: Path) -> None:
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset(tmp_path / "f.nc", "w") as file:
        file.createDimension("time", None)
        file.createDimension("station", 2)
        file.createVariable("name", str, ("station",))[:] = np.array(["Oslo", "Nes"], object)
        spoken = file.createVariable("said", str, ("time", "station"))
        spoken[0], spoken[1] = np.array(["a", "bcd"], object), np.array(["", "ef"], object)
        colour = file.createEnumType("u1", "colours", {"red": 0, "green": 2})
        file.createVariable("colour", colour, ("time",))[:] = np.array([2, 0], "u1")
        ragged = file.createVLType("i4", "any_length")
        file.createVariable("ragged", ragged, ("station",))[0] = np.arange(3, dtype="i4")
    with open_files(tmp_path / "f.nc") as files:
        assert files.steps == [0, 1]
        assert files.read("name", 0).tobytes() == b"OsloNes\0"
        assert files.read("said", 0).tobytes() == b"a\0\0bcd"
        assert files.read("said", 1, (slice(1, 2), slice(0, 2))).tobytes() == b"ef"
        assert [int(files.read("colour", step)) for step in files.steps] == [2, 0]
        assert files.not_read == {"ragged": "sequences of any length"}


PACKED: dict[str, tuple[str, dict[str, Any], list[float]]] = {
    "unsigned": ("i1", {"_Unsigned": "true", "scale_factor": 0.5}, [0, 127.5, 64, 63.5, 2.5]),
    "without_scale": ("i1", {"_Unsigned": "true"}, [0, 255, 128, 127, 5]),
    "filled": ("i1", {"_Unsigned": "true", "scale_factor": 0.5, "_FillValue": np.int8(-1)}, [0, np.nan, 64, 63.5, 2.5]),
    "missing": ("i2", {"missing_value": np.int16(-128), "scale_factor": 0.5}, [0, -0.5, np.nan, 63.5, 2.5]),
    "several": ("i2", {"missing_value": np.array([-128, 5], "i2"), "scale_factor": 2.0}, [0, -2, np.nan, 254, np.nan]),
    "both": (
        "i2",
        {"missing_value": np.int16(-128), "_FillValue": np.int16(-1), "add_offset": 1.0},
        [1, np.nan, np.nan, 128, 6],
    ),
}


@pytest.mark.parametrize("name", PACKED)
def test_packed_integers_are_unpacked_as_by_netcdf(tmp_path: Path, name: str) -> None:
    netcdf = pytest.importorskip("netCDF4")
    kind, attributes, expected = PACKED[name]
    with netcdf.Dataset(tmp_path / "f.nc", "w") as file:
        file.createDimension("x", 5)
        variable = file.createVariable("u", kind, ("x",), fill_value=attributes.get("_FillValue"))
        variable.set_auto_maskandscale(False)
        variable.setncatts({each: value for each, value in attributes.items() if each != "_FillValue"})
        variable[:] = np.array([0, -1, -128, 127, 5], kind)
    with netcdf.Dataset(tmp_path / "f.nc") as file, open_files(tmp_path / "f.nc") as files:
        found = files.read("u", dtype="f8")
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(found, np.ma.filled(file["u"][:].astype("f8"), np.nan))
        assert files.read("u").tolist() == [0, -1, -128, 127, 5]


def test_netcdf_is_known_by_its_contents(tmp_path: Path) -> None:
    """In any file without groups; where there are some, HDF5 reads what is in them."""
    netcdf = pytest.importorskip("netCDF4")
    for groups in (False, True):
        path = tmp_path / f"{groups}.nc4"
        with netcdf.Dataset(path, "w") as file:
            file.createDimension("time", None)
            file.createDimension("x", 3)
            file.createVariable("u", "f8", ("time", "x"))[:] = np.arange(6.0).reshape(2, 3)
            if groups:
                file.createGroup("inner").createVariable("v", "f8", ("x",))[:] = np.arange(3.0)
        with open_files(path) as files:
            assert (files.format, files.steps) == (("hdf5", [0]) if groups else ("netcdf", [0, 1]))
            assert files.read("inner/v" if groups else "u").tolist() == ([0, 1, 2] if groups else [3, 4, 5])


def test_dimensions_of_netcdf_are_no_variables(tmp_path: Path) -> None:
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset(tmp_path / "f.nc", "w") as file:
        file.createDimension("time", None)
        file.createDimension("x", 3)
        file.createVariable("u", "f8", ("time", "x"))[:] = np.arange(6.0).reshape(2, 3)
    with open_files(tmp_path / "f.nc") as files:
        assert files.steps == [0, 1]
        assert files.variables(1) == ["u"]
        assert files.read("u", 1).tolist() == [3.0, 4.0, 5.0]


@pytest.mark.parametrize("name", ["f.bin", "a_name_that_is_longer_than_others.bin"])
def test_a_file_without_manifest_that_tells_nothing_is_refused(tmp_path: Path, name: str) -> None:
    """Long names lie elsewhere in memory, and were freed twice."""
    (tmp_path / name).write_bytes(b"12345678")
    with pytest.raises(UnsupportedError, match="without its manifest"):
        open_files(tmp_path / name)


def test_groups_of_hdf5_are_read_as_the_inventory_has_them(tmp_path: Path) -> None:
    """A variable is read from the dataset that it was found in, however others are called."""

    def contents(**datasets: object) -> dict[str, dict[int, list[float]]]:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.h5"
        with h5py.File(path, "w") as file:
            for name, values in datasets.items():
                file[name.replace("__", "/")] = values
        with open_files(path) as files:
            return {
                name: {step: files.read(name, step).tolist() for step in files.steps_of(name)}
                for name in files.variables()
            }

    steps = {f"Step{step}__u": np.arange(2.0) + step for step in (0, 10, 20)}
    assert contents(**steps) == {"u": {0: [0, 1], 10: [10, 11], 20: [20, 21]}}
    numbers = {f"{step}__u": np.arange(2.0) + step for step in (0, 1)}
    assert contents(**numbers) == {"u": {0: [0, 1], 1: [1, 2]}}
    # A group of another name: none of them is a step.
    mixed = numbers | {"u": [100.0, 101.0], "grid__x": [7.0]}
    assert contents(**mixed) == {
        "0/u": {0: [0, 1]},
        "1/u": {0: [1, 2]},
        "u": {0: [100, 101]},
        "grid/x": {0: [7]},
    }
    # A dataset at the root is in the first step, unless that has one of its name.
    beside = numbers | {"u": [100.0, 101.0], "v": [5.0]}
    assert contents(**beside) == {"u": {0: [0, 1], 1: [1, 2]}, "v": {0: [5]}}


def test_an_object_of_hdf5_is_read_by_each_of_its_names(tmp_path: Path) -> None:
    path = tmp_path / "f.h5"
    with h5py.File(path, "w") as file:
        file["0/u"] = np.arange(3.0)
        file["1/u"] = file["0/u"]
        file["1/v"] = h5py.SoftLink("/0/u")
        file["1/w"] = h5py.SoftLink("/nowhere")
        file["1/x"] = h5py.ExternalLink("other.h5", "/u")
        file["alias"] = h5py.SoftLink("/0")  # no step
    with open_files(path) as files:
        assert files.steps_of("u") == [0, 1] and files.steps_of("v") == [1]
        assert files.read("v", 1).tolist() == files.read("u", 1).tolist() == [0, 1, 2]
        assert set(files.not_read) == {"1/w", "1/x"}


def test_what_cannot_be_read_of_hdf5_leaves_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "f.h5"
    with h5py.File(path, "w") as file:
        file["0/u"] = file["u"] = np.arange(3.0)
        texts = {"dtype": h5py.string_dtype(), "chunks": (2,), "compression": "lzf"}
        file.create_dataset("0/texts", data=["a", "b"], **texts)
        file["0/table"] = np.array([(1, 2.0)], [("x", "i4"), ("y", "f8")])
        file["0/table.x"] = np.arange(4)
    with open_files(path) as files:
        assert files.read("u").tolist() == [0, 1, 2]
        assert files.read("table.y").tolist() == [2]
        assert files.read("table.x").tolist() == [0, 1, 2, 3]
        assert set(files.not_read) == {"texts", "/u", "table"}
        assert "lzf" in files.not_read["texts"]
        assert "table.x" in files.not_read["table"]


@pytest.mark.parametrize("kind", ["NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA"])
@pytest.mark.parametrize("grows", [False, True])
def test_a_netcdf_file_that_was_cut_is_refused(tmp_path: Path, kind: str, grows: bool) -> None:
    """NetCDF reads zeros behind the end of a file."""
    netCDF4 = pytest.importorskip("netCDF4")
    path = tmp_path / "f.nc"
    with netCDF4.Dataset(path, "w", format=kind) as file:
        file.createDimension("time", None if grows else 1)
        file.createDimension("x", 1000)
        for name in "uv":
            file.createVariable(name, "f8", ("time", "x"))[:] = np.full((1, 1000), 5.0)
    with open_files(path) as files:
        assert np.all(files.read("v") == 5)
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size - 1000)
    with pytest.raises(StorageError, match="shorter than its header says"):
        open_files(path)


def zarr_store(path: Path, of_array: dict[str, Any], of_group: dict[str, Any]) -> Path:
    """Write an array of two numbers into a store, with attributes as Python writes JSON."""
    (path / "u/c").mkdir(parents=True)
    array = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [2],
        "data_type": "float64",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0.0,
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "attributes": of_array,
    }
    (path / "u/zarr.json").write_text(json.dumps(array))
    group = {"zarr_format": 3, "node_type": "group", "attributes": of_group}
    (path / "zarr.json").write_text(json.dumps(group))
    (path / "u/c/0").write_bytes(np.array([1.0, 2.0], "<f8").tobytes())
    return path


def test_zarr_stores_of_python_have_numbers_that_json_lacks(tmp_path: Path) -> None:
    of_array = {"missing_value": np.nan, "most": np.inf, "told": 'a "NaN" is no number'}
    with open_files(zarr_store(tmp_path / "f.zarr", of_array, {"least": -float("inf")})) as files:
        assert files.read("u").tolist() == [1, 2]
        told = files.attributes("u")
        assert np.isnan(told["missing_value"]) and told["most"] == np.inf
        assert told["told"] == 'a "NaN" is no number'
        assert files.attributes()["least"] == -np.inf


def test_attributes_of_zarr_that_have_no_type_are_named(tmp_path: Path) -> None:
    large = {"id": 2**64 - 1, "map": {"a": 1}}
    with open_files(zarr_store(tmp_path / "f.zarr", large, large)) as files:
        for told in (files.attributes(), files.attributes("u")):
            assert told == {"id": 2**64 - 1} and told["id"].dtype == np.uint64
        why = "JSON of the type object, which iocomp has none for"
        assert files.not_read == {"the attribute map": why, "the attribute map of u": why}


def grow(path: Path, line: dict[str, Any]) -> bytes:
    """Add a line to a manifest, sealed as the library seals it. Return the line."""
    text = sealed(line)
    with Path(f"{path}.json").open("ab") as manifest:
        manifest.write(text)
    return text


def growing(tmp_path: Path) -> tuple[Path, bytes]:
    """Write four steps: one in the manifest, one listed by a line, two more of that by another."""
    path = tmp_path / "f.bin"
    manifest = manifest_of(path, {step: {"u": U + step} for step in range(4)})
    first, second = manifest["steps"][:2]
    size = U.nbytes
    manifest |= {"steps": [first], "committed_steps": 1, "bytes": size}
    lines = ",\n ".join(f"{json.dumps(key)}: {json.dumps(each)}" for key, each in manifest.items())
    Path(f"{path}.json").write_text("{\n " + lines + "\n}\n")
    grow(path, {"bytes": 2 * size, "committed_steps": 2, "absent": [], "steps": [second]})
    more = {"count": 2, "time": [1.0, 1.5], "advance": [size]}
    last = grow(path, {"bytes": 4 * size, "committed_steps": 4, "absent": [], "more": more})
    return path, last


def test_a_manifest_has_grown_by_lines(tmp_path: Path) -> None:
    path, _ = growing(tmp_path)
    with open_files(path) as files:
        assert list(files.steps) == [0, 1, 2, 3]
        assert [files.time(step) for step in files.steps] == [0, 0.5, 1, 1.5]
        for step in files.steps:
            np.testing.assert_array_equal(files.read("u", step), U + step)


def test_a_line_that_is_torn_does_not_count(tmp_path: Path) -> None:
    path, last = growing(tmp_path)
    where = Path(f"{path}.json")
    whole = where.read_bytes()
    for torn in (whole[:-1], whole[: -len(last) + 1], whole[:-40] + bytes(40), whole[:-9] + b"\0" * 9):
        where.write_bytes(torn)
        with open_files(path) as files:
            assert list(files.steps) == [0, 1]


def test_a_line_that_was_changed_is_refused(tmp_path: Path) -> None:
    path, last = growing(tmp_path)
    where = Path(f"{path}.json")
    text = where.read_bytes()
    where.write_bytes(text[: -len(last)].replace(b'"offset": 240', b'"offset": 241') + last)
    with pytest.raises(StorageError, match="changed since iocomp has written it"):
        open_files(path)
