# SPDX-License-Identifier: BSD-3-Clause
"""Write what a plan says, and know what must be read."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import iocomp
import numpy as np
from plans import Array, Plan, Shape, Step, Variable

Values = dict[str, Array]  # by name


@dataclass
class Expected:
    """The contents that must be read while the manifest is there."""

    steps: dict[int, Values] = field(default_factory=dict)  # by number, ascending
    times: dict[int, float] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    of_variable: dict[str, dict[str, Any]] = field(default_factory=dict)
    fills: dict[str, Any] = field(default_factory=dict)


class Refused(Exception):
    """The format cannot hold what the plan says, and said so."""


class _Writing:
    """A file in the making."""

    def __init__(self, session: iocomp.Session, plan: Plan, path: Path, existing: str) -> None:
        settings = {
            "path": str(path),
            "backend": plan.format.backend,
            "existing": existing,
            **plan.settings,
        }
        kind: Any = "checkpoint" if plan.kind == "checkpoint" else "series"
        self.expected = Expected()
        self._plan, self._next = plan, 0
        self._file = session.open("file", kind, settings=settings)
        self._variables: dict[str, iocomp.Variable] = {}
        self._shapes: dict[str, Shape] = {}
        for name, value in plan.attributes.items():
            self._file.set_attribute(name, value)
            self.expected.attributes[name] = value

    def define(self) -> None:
        """Define variables; those that the format cannot hold are left out of the plan."""
        for variable in list(self._plan.variables):
            first = next(
                (
                    step.puts[variable.name]
                    for step in self._plan.steps
                    if variable.name in step.puts
                ),
                None,
            )
            shape = variable.shape if first is None else first.values.shape
            try:
                self._define(variable, shape)
            except (iocomp.UnsupportedError, iocomp.InvalidArgumentError):
                self._plan.variables.remove(variable)
                for step in self._plan.steps:
                    step.puts.pop(variable.name, None)

    def _define(self, variable: Variable, shape: Shape) -> None:
        name = variable.name
        made = self._file.define(name, variable.dtype, shape)
        self._variables[name], self._shapes[name] = made, shape
        of_variable: dict[str, Any] = {}
        if variable.dimensions is not None:
            made.set_attribute("dimensions", variable.dimensions)
            of_variable["dimensions"] = variable.dimensions
        for attribute, value in variable.attributes.items():
            made.set_attribute(attribute, value)
            of_variable[attribute] = value
        if variable.fill is not None:
            made.set_fill(variable.fill)
            of_variable["_FillValue"] = np.array([variable.fill], variable.dtype)
            self.expected.fills[name] = variable.fill
        self.expected.of_variable[name] = of_variable

    def step(self, step: Step) -> None:
        """Put a step."""
        if step.number is not None or not math.isnan(step.time):
            self._file.begin_step(self._next if step.number is None else step.number, step.time)
        number = self._next if step.number is None else step.number
        values: Values = {}
        for name, put in step.puts.items():
            if put.values.shape != self._shapes[name]:
                self._variables[name].set_shape(put.values.shape)
                self._shapes[name] = put.values.shape
        for name, put in step.puts.items():
            for start, count in put.boxes:
                box = tuple(slice(s, s + c) for s, c in zip(start, count, strict=True))
                self._variables[name].put(np.array(put.values[box]), start, buffered=True)
            values[name] = put.values
        known = self._known_time(step)
        if known is not None:
            values.setdefault("time", known)
            self.expected.of_variable.setdefault("time", {})
        self._file.end_step()
        self.expected.steps[number] = values
        self.expected.times[number] = self._time_of(step, values)
        self._next = number + 1

    def _known_time(self, step: Step) -> Array | None:
        """Return what the scalar variable `time` holds where nobody puts it.

        None without a time, and where the variable cannot hold it.
        """
        made = self._variables.get("time")
        dtype = np.dtype("f8") if made is None else made.dtype
        if math.isnan(step.time) or self._shapes.get("time", ()) != ():
            return None
        if dtype.kind in "iu":
            room = np.iinfo(dtype)
            holds = step.time == int(step.time) and room.min <= step.time <= room.max
        else:
            holds = dtype in (np.float32, np.float64)
        return np.array(step.time, dtype) if holds else None

    @staticmethod
    def _time_of(step: Step, values: Values) -> float:
        own = values.get("time")
        is_number = own is not None and own.shape == () and own.dtype.kind in "fiu"
        return float(own) if math.isnan(step.time) and is_number else step.time

    def close(self) -> None:
        """Close it."""
        self._file.close()


def write(session: iocomp.Session, plan: Plan, path: Path) -> Expected:
    """Write a file.

    Raises:
        Refused: If the format cannot hold it, which was said in a call.
    """
    writing = _Writing(session, plan, path, "refuse")
    try:
        writing.define()
        for step in plan.steps:
            writing.step(step)
    except (iocomp.UnsupportedError, iocomp.InvalidArgumentError) as error:
        try:
            writing.close()
        except iocomp.Error:
            pass
        raise Refused(str(error)) from None
    writing.close()
    return writing.expected
