# SPDX-License-Identifier: BSD-3-Clause
"""The views of C, Python and xarray on a file, in one form, and their differences."""

from __future__ import annotations

import json
import math
import pickle
import random
import subprocess
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import iocomp
import numpy as np
import xarray
from iocomp.arrays import DTYPES, STRING, TYPES
from iocomp.xarray_engine import IocompBackend
from plans import Array

_KINDS = {TYPES[np.dtype("S1")]: "text", STRING: "texts"}

Attributes = dict[str, tuple[str, bytes]]  # type, and the bytes of the values


@dataclass
class View:
    """The contents of a file as a reader sees them."""

    steps: dict[int, dict[str, Array]] = field(default_factory=dict)  # by number, ascending
    times: dict[int, float] = field(default_factory=dict)
    attributes: Attributes = field(default_factory=dict)
    of_variable: dict[str, Attributes] = field(default_factory=dict)


def told(value: Any) -> tuple[str, bytes]:  # noqa: ANN401 (an attribute)
    """Return an attribute by type and bytes."""
    if isinstance(value, str):
        return ("text", value.encode())
    if isinstance(value, list):
        return ("texts", b"".join(each.encode() + b"\0" for each in value))
    array = np.asarray(value)
    return (str(array.dtype), array.tobytes())


def all_told(attributes: dict[str, Any]) -> Attributes:
    """Return attributes by types and bytes."""
    return {name: told(value) for name, value in attributes.items()}


def same(one: Array, other: Array) -> bool:
    """Return True if two arrays are the same, bit by bit."""
    return (one.dtype, one.shape) == (other.dtype, other.shape) and (
        np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(other).tobytes()
    )


class CReader:
    """A C program that reads one file after the other."""

    def __init__(self, program: str, folder: Path, environment: dict[str, str]) -> None:
        """Start it."""
        self._data = folder / "read_by_c"
        self._process = subprocess.Popen(
            [program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            env=environment,
        )

    def view(self, path: Path, **more: str) -> View:
        """Return what it sees.

        Raises:
            RuntimeError: With the story, where a call failed.
        """
        assert self._process.stdin is not None and self._process.stdout is not None
        asked = {"path": str(path), "data": str(self._data), **more}
        self._process.stdin.write(json.dumps(asked, ensure_ascii=False) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the C program ended with {self._process.wait()}")
        answer = json.loads(line)
        if answer["code"] != 0:
            raise RuntimeError(answer["story"])
        return self._view_of(answer)

    def _view_of(self, answer: dict[str, Any]) -> View:
        raw, at = self._data.read_bytes(), 0
        seen = View(attributes=self._attributes(answer["attributes"]))
        for number, time in answer["steps"]:
            seen.steps[number] = {}
            seen.times[number] = math.nan if time is None else time
        for variable in answer["variables"]:
            seen.of_variable[variable["name"]] = self._attributes(variable["attributes"])
            dtype = DTYPES[variable["type"]]
            for number, shape in variable["places"]:
                count = math.prod(shape)
                values = np.frombuffer(raw, dtype, count, at).reshape(shape)
                seen.steps[number][variable["name"]] = values
                at += count * dtype.itemsize
        return seen

    @staticmethod
    def _attributes(answer: dict[str, Any]) -> Attributes:
        return {
            name: (_KINDS.get(number) or str(DTYPES[number]), bytes.fromhex(text))
            for name, (number, text) in answer.items()
        }

    def end(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=30)


def _random_box(chance: random.Random, shape: tuple[int, ...]) -> tuple[Any, ...]:
    box: list[Any] = []
    for extent in shape:
        kind = chance.choice(["all", "index", "range", "steps"])
        if kind == "index" and extent:
            box.append(chance.randint(-extent, extent - 1))
        elif kind == "range":
            low = chance.randint(0, extent)
            box.append(slice(low, chance.randint(low, extent)))
        elif kind == "steps":
            box.append(slice(chance.randint(0, extent), None, chance.randint(1, 3)))
        else:
            box.append(slice(None))
    if box and chance.random() < 0.2:
        box[chance.randrange(len(box)) :] = [Ellipsis]
    return tuple(box)


def python_view(path: Path, chance: random.Random) -> tuple[View, list[str]]:
    """Return what the Python package sees, and where it contradicts itself."""
    wrong: list[str] = []
    with iocomp.open_files(path) as files:
        seen = View(attributes=all_told(files.attributes()))
        for name in files.variables():
            seen.of_variable[name] = all_told(files.attributes(name))
        for step in files.steps:
            seen.times[step] = files.time(step)
            seen.steps[step] = {name: files.read(name, step) for name in files.variables(step)}
        every = [(step, name) for step, names in seen.steps.items() for name in names]
        for step, name in every:
            whole = seen.steps[step][name]
            box = _random_box(chance, whole.shape)
            if not same(np.asarray(files.read(name, step, box)), np.asarray(whole[box])):
                wrong.append(f"Python: {name} in step {step}: the box {box}")
        again = pickle.loads(pickle.dumps(files)) if chance.random() < 0.2 else files
        if every and chance.random() < 0.3:
            chosen = [chance.choice(every) for _ in range(12)]
            with ThreadPoolExecutor(4) as threads:
                found = threads.map(lambda each: again.read(each[1], each[0]), chosen)
                for (step, name), values in zip(chosen, found, strict=True):
                    if not same(values, seen.steps[step][name]):
                        wrong.append(f"Python, by threads: {name} in step {step}")
    return seen, wrong


def xarray_differences(path: Path, seen: View, fills: dict[str, Any]) -> list[str]:
    """Return what xarray sees otherwise."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dataset = xarray.open_dataset(path, engine=IocompBackend, decode_cf=False)
    wrong = []
    with dataset:
        steps = list(seen.steps)
        names = list(dict.fromkeys(name for values in seen.steps.values() for name in values))
        for name in names:
            there = {step: seen.steps[step][name] for step in steps if name in seen.steps[step]}
            kinds = {(each.shape, each.dtype) for each in there.values()}
            if name == "time" and all(s == () and d.kind in "fiu" for s, d in kinds):
                found = dataset["time"].values if "time" in dataset.variables else None
                expected = np.array([seen.times[step] for step in steps])
                if found is None or not np.array_equal(found, expected, equal_nan=True):
                    wrong.append(f"xarray: time is {found}, not {expected}")
                continue
            if len(kinds) > 1:
                continue  # told by a warning
            if name not in dataset.variables:
                wrong.append(f"xarray: no {name}")
                continue
            found = dataset[name].values
            (shape, dtype) = next(iter(kinds))
            nothing: Any = fills.get(name, np.nan if dtype.kind in "fc" else 0)
            is_coordinate = seen.of_variable[name].get("dimensions") == told(name)
            if is_coordinate or (len(there) == 1 and found.shape == shape):
                got = {list(there)[-1]: found}  # the newest
            else:
                got = dict(zip(steps, found, strict=True))
            for step, values in got.items():
                if step in there:
                    expected = there[step]
                else:
                    expected = np.zeros(shape, dtype)
                    expected[...] = nothing if dtype.kind != "S" else b""
                if not same(np.asarray(values, dtype), expected):
                    wrong.append(f"xarray: {name} in step {step}: {values!r}, not {expected!r}")
    return wrong


def differences(who: str, one: View, other: View) -> list[str]:
    """Return what two readers see otherwise."""
    if list(one.steps) != list(other.steps):
        return [f"{who}: steps {list(one.steps)} and {list(other.steps)}"]
    wrong = []
    for step, values in one.steps.items():
        others = other.steps[step]
        if values.keys() != others.keys():
            wrong.append(f"{who}: step {step} has {sorted(values)} and {sorted(others)}")
        for name in values.keys() & others.keys():
            if not same(values[name], others[name]):
                wrong.append(f"{who}: {name} in step {step}: {values[name]!r} and {others[name]!r}")
        if not np.array_equal(one.times[step], other.times[step], equal_nan=True):
            wrong.append(f"{who}: time of {step}: {one.times[step]} and {other.times[step]}")
    if one.attributes != other.attributes:
        wrong.append(f"{who}: attributes {one.attributes} and {other.attributes}")
    if one.of_variable != other.of_variable:
        wrong.append(f"{who}: attributes of variables {one.of_variable} and {other.of_variable}")
    return wrong
