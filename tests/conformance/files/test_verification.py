# SPDX-License-Identifier: BSD-3-Clause
"""The comparison finds what is wrong: files are made here from the model, then spoilt."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from element_pattern import elements
from script import Script
from verification import BackEnd, Expected, expected_files, verify

POSIX = BackEnd("posix")
pytestmark = pytest.mark.quick


def _script() -> Script:
    script = Script()
    file = script.open("made")
    file.define("u", "float64", [4, 6])
    file.define("v", "int16", [10])
    file.text("title", "made")
    for _ in range(2):
        file.put("u", 0, [0, 0], [4, 6])
        file.put("v", 0, [2], [5])
        file.end_step()
    file.close()
    return script


def _make(expected: Expected) -> None:
    content = bytearray(expected.size)
    for step, arrays in expected.steps.items():
        for name, array in arrays.items():
            begin = expected.offsets[step][name]
            raw = array.bytes_of_elements.tobytes()
            content[begin : begin + len(raw)] = raw
    expected.path.write_bytes(content)
    steps = [
        {
            "step": step,
            "variables": [
                {
                    "name": name,
                    "type": array.element_type,
                    "shape": array.shape,
                    "offset": expected.offsets[step][name],
                }
                for name, array in arrays.items()
            ],
        }
        for step, arrays in expected.steps.items()
    ]
    manifest = {
        "iocomp_manifest": 2,
        "file": expected.path.name,
        "format": "posix",
        "byte_order": "little",
        "bytes": expected.size,
        "first_step": 0,
        "committed_steps": 2,
        "absent": [],
        "steps": steps,
        "attributes": {"title": {"type": "text", "value": "made"}},
        "variable_attributes": {},
    }
    Path(f"{expected.path}.json").write_text(json.dumps(manifest))


def _byte(at: int) -> Callable[[Path], None]:
    def spoil(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[at] ^= 1
        path.write_bytes(content)

    return spoil


def _manifest(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    def spoil(path: Path) -> None:
        manifest = json.loads(Path(f"{path}.json").read_text())
        change(manifest)
        Path(f"{path}.json").write_text(json.dumps(manifest))

    return spoil


def _swap_elements(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[0:8], content[8:16] = content[8:16], content[0:8]
    path.write_bytes(content)


def _set(where: dict[str, Any], key: str, value: object) -> None:
    where[key] = value


SPOILT: dict[str, tuple[Callable[[Path], object], str]] = {
    "one bit of an element": (_byte(9), "u in step 0"),
    "two elements swapped": (_swap_elements, "that is element 1 of u in step 0"),
    "an element that nobody put": (_byte(4096), "v in step 0"),
    "a byte between variables": (_byte(300), "between or behind"),
    "a byte too many": (lambda path: path.write_bytes(path.read_bytes() + b"x"), "bytes"),
    "a temporary left": (
        lambda path: (path.parent / ".made.bin.iocomp-1").touch(),
        "should not be there",
    ),
    "no file": (lambda path: path.unlink(), "missing"),
    "another type": (
        _manifest(lambda m: _set(m["steps"][0]["variables"][1], "type", "uint16")),
        "is uint16",
    ),
    "another shape": (
        _manifest(lambda m: _set(m["steps"][1]["variables"][0], "shape", [6, 4])),
        "(6, 4)",
    ),
    "an attribute": (
        _manifest(lambda m: m["attributes"].clear()),
        "the attribute 'title' of the file is missing",
    ),
    "a step lost": (_manifest(lambda m: m["steps"].pop()), "has {0"),
    "an absent step": (_manifest(lambda m: m["absent"].append(1)), "absent"),
}


def test_files_as_the_model_says_are_right(tmp_path: Path) -> None:
    script = _script()
    for expected in expected_files(script, tmp_path, ".bin"):
        _make(expected)
    assert verify(script, tmp_path, POSIX) == []


@pytest.mark.parametrize("what", SPOILT)
def test_spoilt_files_are_found(what: str, tmp_path: Path) -> None:
    spoil, told = SPOILT[what]
    script = _script()
    (expected,) = expected_files(script, tmp_path, ".bin")
    _make(expected)
    spoil(expected.path)
    wrong = verify(script, tmp_path, POSIX)
    assert len(wrong) > 0
    assert told in "\n".join(wrong)


def test_elements_tell_variable_step_and_index() -> None:
    import numpy as np

    indices = np.arange(1000)
    seen = {
        elements("int64", seed, step, indices)[i].tobytes()
        for seed in (1, 2)
        for step in (0, 1)
        for i in range(1000)
    }
    assert len(seen) == 4000
