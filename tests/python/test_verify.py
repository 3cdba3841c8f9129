# SPDX-License-Identifier: BSD-3-Clause
import json
from pathlib import Path

import numpy as np
import pytest
from verify import VARIABLES, describe_index, mistakes, stream_values

from iocomp import open_files

ELEMENTS, LOOPS, WRITE_EVERY = 100, 5, 2


def write(path: Path, pattern: str) -> np.ndarray:
    """Write what stream would: three steps of four variables. Return the values as on disk."""
    values = np.empty((3, len(VARIABLES), ELEMENTS))
    expected = list(stream_values(LOOPS))
    for step, loop in enumerate(range(0, LOOPS, WRITE_EVERY)):
        for kernel, name in enumerate(VARIABLES):
            values[step, kernel] = expected[loop][name]
            if pattern == "index":
                values[step, kernel] = np.arange(ELEMENTS) + (4 * loop + kernel + 1) * ELEMENTS
    steps = [
        {
            "step": step,
            "variables": [
                {
                    "name": name,
                    "type": "float64",
                    "shape": [ELEMENTS],
                    "offset": 8 * ELEMENTS * (len(VARIABLES) * step + kernel),
                }
                for kernel, name in enumerate(VARIABLES)
            ],
        }
        for step in range(3)
    ]
    manifest = {
        "iocomp_manifest": 1,
        "format": "posix",
        "file": path.name,
        "bytes": values.nbytes,
        "byte_order": "little",
        "first_step": 0,
        "committed_steps": 3,
        "steps": steps,
        "absent": [],
        "attributes": {},
        "variable_attributes": {},
    }
    Path(f"{path}.json").write_text(json.dumps(manifest))
    path.write_bytes(values.tobytes())
    return values


def found(path: Path, pattern: str) -> list[str]:
    with open_files(path) as dataset:
        return list(mistakes(dataset, ELEMENTS, LOOPS, WRITE_EVERY, pattern))


@pytest.mark.parametrize("pattern", ["stream", "index"])
def test_what_stream_writes_is_accepted(tmp_path: Path, pattern: str) -> None:
    write(tmp_path / "f", pattern)
    assert found(tmp_path / "f", pattern) == []


def test_two_pieces_that_changed_places_show_in_the_index_pattern(tmp_path: Path) -> None:
    path = tmp_path / "f"
    values = write(path, "index")
    values[1, 2, 10:20], values[1, 2, 20:30] = (
        values[1, 2, 20:30].copy(),
        values[1, 2, 10:20].copy(),
    )
    path.write_bytes(values.tobytes())
    lines = found(path, "index")
    assert len(lines) == 1
    assert "step 1, add_c: 20 of 100 elements" in lines[0]
    assert "element 10 is element 20 of kernel call 11" in lines[0]


def test_an_array_of_another_step_shows(tmp_path: Path) -> None:
    path = tmp_path / "f"
    values = write(path, "stream")
    values[2] = values[1]
    path.write_bytes(values.tobytes())
    assert len(found(path, "stream")) == len(VARIABLES)


def test_not_a_number_shows(tmp_path: Path) -> None:
    path = tmp_path / "f"
    values = write(path, "stream")
    values[0, 0, 7] = np.nan
    path.write_bytes(values.tobytes())
    assert "element 7 is nan" in found(path, "stream")[0]


def test_missing_steps_show(tmp_path: Path) -> None:
    write(tmp_path / "f", "stream")
    with open_files(tmp_path / "f") as dataset:
        assert list(mistakes(dataset, ELEMENTS, 100, 2, "stream")) == [
            "steps are [0, 1, 2], expected are 50"
        ]


def test_values_from_nowhere_are_described() -> None:
    assert describe_index(205.0, 100) == "element 5 of kernel call 2"
    assert "nowhere" in describe_index(-1.0, 100)
