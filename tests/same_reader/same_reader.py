#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Random files, read by C, Python, xarray and the libraries of their formats: all must see the same.

same_reader.py --files 2000 [--from SEED] [--only FORMAT]

Needs IOCOMP_TEST_BUILD, the file build.json of a build (README.md).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
for folder in ("actor", "same_reader"):
    sys.path.insert(0, str(HERE.parent / folder))
sys.path.insert(0, str(HERE.parents[1] / "bindings/python"))

from actors import read_build  # noqa: E402

BUILD = read_build()  # before iocomp is imported: it says where its libraries are

import iocomp  # noqa: E402
import numpy as np  # noqa: E402
from accidents import clear, files_of, happen  # noqa: E402
from own_libraries import OwnLibrary, open_own  # noqa: E402
from plans import FORMATS, Plan, draw  # noqa: E402
from processes import environment_without_iocomp  # noqa: E402
from views import (  # noqa: E402
    CReader,
    View,
    all_told,
    differences,
    python_view,
    same,
    told,
    xarray_differences,
)
from written import Expected, Refused, write  # noqa: E402

QUIET = {"trace": {"lines": "none"}, "log": "error"}


def _expected_view(expected: Expected) -> View:
    names = {name for values in expected.steps.values() for name in values}
    return View(
        expected.steps,
        expected.times,
        all_told(expected.attributes),
        {name: all_told(expected.of_variable[name]) for name in names},
    )


def _of_own_libraries(plan: Plan, path: Path, seen: View) -> list[str]:
    """Return what the libraries of the formats see otherwise than iocomp."""
    wrong = []
    has_file_per_step = plan.kind != "series"
    numbers = list(seen.steps)
    newest = max((step for step, values in seen.steps.items() if values), default=0)
    files = files_of(path)
    opened: list[OwnLibrary | None] = [
        open_own(plan, each, BUILD.dump_adios2, number if has_file_per_step else newest)
        for each, number in zip(files, numbers if has_file_per_step else [newest], strict=True)
    ]
    for each in opened:
        if each is not None and each.attributes is not None:
            wrong += _attributes_of_own_library(plan, each.attributes, seen)
    for index, number in enumerate(numbers):
        own = opened[index if has_file_per_step else 0]
        if own is None:
            continue
        for name, values in seen.steps[number].items():
            at = 0 if has_file_per_step else index
            if name.startswith("added") or values.size == 0:
                continue  # by another program, so without a place among the steps
            found = own.look(at, number, name, values.shape)
            in_file = _in_file(plan, values)
            if found is not None and in_file.dtype.kind == "S":
                found = np.asarray(found).astype("S1")
            if found is None or not same(found, in_file):
                wrong.append(f"own library: {name} in step {number}: {found!r}, iocomp: {values!r}")
    return wrong


# The library of a format keeps these for itself: netCDF's marks of texts and of files made anew.
_OF_LIBRARIES = {"_Encoding", "_NCProperties", "_FillValue"}


def _attributes_of_own_library(
    plan: Plan, own: dict[str, dict[str, Any]], seen: View
) -> list[str]:
    """Return the attributes in a file that iocomp reads otherwise."""
    wrong = []
    names_dimensions = plan.format.backend in ("netcdf", "pnetcdf")  # by themselves
    for owner, attributes in own.items():
        if owner and owner not in seen.of_variable:
            continue  # of another program, or of a step that is not read
        by_iocomp = seen.of_variable[owner] if owner else seen.attributes
        found = {name: told(_plain(value)) for name, value in attributes.items()}
        for name in sorted(found.keys() | by_iocomp.keys()):
            is_left_out = name.startswith("added") or (names_dimensions and name == "dimensions")
            is_known = name in by_iocomp or name not in _OF_LIBRARIES | {"iocomp_step"}
            if not is_left_out and is_known and found.get(name) != by_iocomp.get(name):
                what = f"{found.get(name)}, iocomp: {by_iocomp.get(name)}"
                wrong.append(f"own library: the attribute {name} of {owner or 'the file'}: {what}")
    return wrong


def _plain(value: Any) -> Any:  # noqa: ANN401 (an attribute)
    """Return an attribute in native byte order, or as text."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, (str, list)):
        return value
    array = np.asarray(value)
    if array.dtype == object:  # texts by h5py
        return list(array)
    return array.astype(array.dtype.newbyteorder("="))


def _without_manifest(plan: Plan, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return values as a file tells them: HDF5 has texts of one character, and no characters."""
    is_alone = values.dtype.kind == "S" and values.shape == ()
    is_text = plan.format.backend == "hdf5" and is_alone
    return values.reshape(1) if is_text else _in_file(plan, values)


def _in_file(plan: Plan, values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return values as the file holds them: of characters alone, ADIOS2 has only numbers."""
    is_alone = values.dtype.kind == "S" and values.shape == ()
    return values.view(np.uint8) if plan.format.backend == "adios2" and is_alone else values


class Trials:
    """Writes and reads one file after the other."""

    def __init__(self, folder: Path) -> None:
        """Begin a session, and start the C program."""
        self._folder = folder
        program = Path(BUILD.actor).parents[1] / "same_reader/dump_inputs"
        quick = {"IOCOMP_TRACE_LINES": "none"}
        self._c = CReader(str(program), folder, environment_without_iocomp() | quick)
        self.session = iocomp.Session(settings=QUIET)
        self.told: Counter[str] = Counter()

    def end(self) -> None:
        """End both."""
        self._c.end()
        self.session.finalize()

    def differences(self, seed: int) -> list[str]:
        """Return what differs in the file of a seed."""
        plan = draw(seed)
        if not BUILD.has_back_end(plan.format.backend):
            self.told["not built"] += 1
            return []
        folder = self._folder / "files"
        folder.mkdir(exist_ok=True)
        clear(folder)
        path = folder / f"file{plan.format.extension}"
        try:
            expected = write(self.session, plan, path)
        except Refused as refused:
            self.told[f"refused: {str(refused)[:60]}"] += 1
            return []
        if not files_of(path):
            self.told["no file"] += 1
            return []
        chance = random.Random(seed)
        failed = happen(chance, plan.accidents, path, plan.format.backend, BUILD.command)
        self.told.update(plan.accidents)
        self.told["could not repack"] += len(failed)
        self.told[plan.format.label] += 1
        return self._compare(plan, path, expected, chance)

    def view(
        self,
        path: Path,
        backend: str,
        fills: dict[str, Any] | None = None,
        kind: str = "series",
        chance: random.Random | None = None,
    ) -> tuple[View, list[str]]:
        """Return what C sees of a file, and what Python and xarray see otherwise."""
        by_c = self._c.view(path, backend=backend, kind=kind)
        by_python, wrong = python_view(path, chance or random.Random(0))
        wrong += differences("C and Python", by_c, by_python)
        wrong += xarray_differences(path, by_python, _with_fill(by_python, fills or {}))
        return by_c, wrong

    def _compare(
        self, plan: Plan, path: Path, expected: Expected, chance: random.Random
    ) -> list[str]:
        kind = "series" if plan.kind == "series" else "checkpoint"
        by_c, wrong = self.view(path, plan.format.backend, expected.fills, kind, chance)
        has_manifest = not {"lose", "recover"} & set(plan.accidents)
        if has_manifest:
            wrong += differences("C and what was put", by_c, _expected_view(expected))
        else:
            wrong += self._lost(plan, by_c, expected)
        wrong += _of_own_libraries(plan, path, by_c)
        return wrong

    @staticmethod
    def _lost(plan: Plan, by_c: View, expected: Expected) -> list[str]:
        """Return what was put, and is not read from a file whose manifest is lost."""
        wrong = []
        if len(by_c.steps) != len(expected.steps):
            steps = {step: values for step, values in expected.steps.items() if values}
            if len(by_c.steps) != len(steps):
                return [f"lost: {len(by_c.steps)} steps are seen, {len(expected.steps)} were put"]
            expected_steps = steps
        else:
            expected_steps = expected.steps
        if list(by_c.steps) != list(expected_steps):
            return [f"lost: the steps are {list(by_c.steps)}, not {list(expected_steps)}"]
        for number, put in expected_steps.items():
            seen = by_c.steps[number]
            time = put.get("time")
            if time is not None and time.shape == () and time.dtype.kind in "fiu":
                if not same(np.array(by_c.times[number]), np.array(time, np.float64)):
                    wrong.append(f"lost: the time of step {number}: {by_c.times[number]}")
            for name, values in put.items():
                want = _without_manifest(plan, values)
                if want.size and (name not in seen or not same(seen[name], want)):
                    wrong.append(f"lost: {name} in step {number}: {seen.get(name)!r}, not {want!r}")
        return wrong


def _with_fill(seen: View, fills: dict[str, Any]) -> dict[str, Any]:
    """Return what variables hold in steps without them."""
    return {
        name: fills[name]
        for name, attributes in seen.of_variable.items()
        if "_FillValue" in attributes and name in fills
    }


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--from", type=int, dest="first", default=1)
    parser.add_argument("--only", help="a part of the name of a format: hdf5-time")
    options = parser.parse_args()
    began = time.monotonic()
    bad = done = 0
    with tempfile.TemporaryDirectory(prefix="same_reader.") as folder:
        trials = Trials(Path(folder))
        seed = options.first
        while done < options.files:
            if options.only and options.only not in FORMATS[seed % len(FORMATS)].label:
                seed += 1
                continue
            try:
                wrong = trials.differences(seed)
            except Exception:  # noqa: BLE001 (what a reader says counts as a difference)
                wrong = [traceback.format_exc()]
            if wrong:
                bad += 1
                plan = draw(seed)
                print(
                    f"seed {seed}: {plan.format.label} {plan.kind} {plan.settings} {plan.accidents}"
                )
                print("\n".join(f"  {each[:2000]}" for each in wrong[:8]), flush=True)
            done += 1
            seed += 1
        trials.end()
        told = dict(sorted(trials.told.items()))
    seconds = time.monotonic() - began
    print(json.dumps({"files": done, "differ": bad, "seconds": round(seconds, 1), "of": told}))
    return 1 if bad else 0


if __name__ == "__main__":
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    sys.exit(main())
