# SPDX-License-Identifier: BSD-3-Clause
"""Scripts that actors carry out (tests/actor/README.md), and what the files must hold afterwards.

Every put names a writer, a number: the member `writer % members` of the file carries it out, so
that a script makes the same files whatever the number of ranks. All ranks carry out the same lines.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from element_pattern import DTYPES, elements, size_of

Extents = Sequence[int]
_IN_NETCDF = {"float16": "float32"}
_ATTRIBUTES_IN_NETCDF = {**_IN_NETCDF, "complex64": "float64", "complex128": "float64"}
_PARTS = {"complex64": "float32", "complex128": "float64"}


@dataclass(frozen=True)
class Attribute:
    """The value that an attribute must hold; `element_type` is "text" for a string.

    It is "texts" for a list of them, each with a zero at its end.
    """

    element_type: str
    values: bytes

    @property
    def part_type(self) -> str:
        """The type of its parts: complex attributes are kept so in ADIOS2."""
        return _PARTS.get(self.element_type, self.element_type)


@dataclass
class Array:
    """A variable at one step."""

    element_type: str
    shape: tuple[int, ...]
    bytes_of_elements: npt.NDArray[np.uint8]  # (elements, bytes of one)


@dataclass
class Variable:
    """A variable as it is while the script is written."""

    name: str
    element_type: str
    shape: tuple[int, ...]
    seed: int
    defined_in: int
    shapes: dict[int, tuple[int, ...]] = field(default_factory=dict)  # from which step on
    attributes: dict[int, dict[str, Attribute]] = field(default_factory=dict)  # set in which step

    def shape_at(self, step: int) -> tuple[int, ...]:
        """Return the shape in force at a step."""
        return self.shapes[max(s for s in self.shapes if s <= step)]


def latest(
    history: dict[int, dict[str, Attribute]], step: int | None = None
) -> dict[str, Attribute]:
    """Return the attributes in force in `step`, or at the end."""
    merged: dict[str, Attribute] = {}
    for when in sorted(history):
        if step is None or when <= step:
            merged |= history[when]
    return merged


def _by(extents: Extents) -> str:
    return "x".join(map(str, extents))


def _runs(indices: Sequence[int]) -> str:
    """Return indices as "first:count,..."."""
    runs: list[list[int]] = []
    for index in indices:
        if runs and sum(runs[-1]) == index:
            runs[-1][1] += 1
        else:
            runs.append([index, 1])
    return ",".join(f"{first}:{count}" for first, count in runs)


def _line(*words: object, **options: object) -> str:
    return " ".join([*map(str, words), *(f"{name}={value}" for name, value in options.items())])


class FileScript:
    """The calls for one file, and what the file must hold afterwards."""

    def __init__(
        self,
        script: Script,
        name: str,
        kind: str,
        group: tuple[int, int],
        order: str,
        settings: dict[str, Any],
    ) -> None:
        """Open a file; see Script.open."""
        self.script = script
        self.name = name
        self.settings = settings
        self.is_checkpoint = kind == "checkpoint"
        self.step = 0
        self.is_step_begun = False
        self.variables: dict[str, Variable] = {}
        self.arrays: dict[int, dict[str, Array]] = {}
        self.attributes: dict[int, dict[str, Attribute]] = {}
        self._group = script.group(*group, order)
        self._puts = 0
        self._say("open", name, kind, **({"on": self._group} if self._group else {}))

    def _say(self, *words: object, **options: object) -> None:
        self.script.lines.append(_line(*words, **options))

    @property
    def has_file_per_step(self) -> bool:
        """True if each step goes to a file of its own."""
        return self.is_checkpoint or self.settings.get("kind") == "file_per_step"

    def define(self, name: str, element_type: str, shape: Extents) -> str:
        """Define a variable and return its name."""
        assert element_type in DTYPES
        if self.script.is_netcdf:
            element_type = _IN_NETCDF.get(element_type, element_type)
            name = name.replace("/", "_")
        seed = self.script.next_seed()
        variable = Variable(name, element_type, tuple(shape), seed, self.step)
        variable.shapes[self.step] = tuple(shape)
        self.variables[name] = variable
        self._say("define", self.name, name, element_type, _by(shape) or "scalar", seed=seed)
        return name

    def set_shape(self, name: str, shape: Extents) -> None:
        """Give a variable another shape from the current step on."""
        assert not self.is_step_begun
        variable = self.variables[name]
        variable.shape = tuple(shape)
        variable.shapes[self.step] = tuple(shape)
        self._say("set_shape", self.name, name, _by(shape))

    def _say_attribute(self, variable: str, name: str, element_type: str, raw: bytes) -> None:
        of = {} if variable == "-" else {"of": variable}
        self._say("attribute", self.name, name, type=element_type, bytes=raw.hex(), **of)

    def _attributes_of(self, variable: str) -> dict[int, dict[str, Attribute]]:
        return self.attributes if variable == "-" else self.variables[variable].attributes

    def _remember(self, variable: str, name: str, attribute: Attribute) -> None:
        self._attributes_of(variable).setdefault(self.step, {})[name] = attribute

    def _can_hold(self, variable: str, name: str, attribute: Attribute) -> bool:
        """True if ADIOS2 can: it has no float16, little that is empty, one type for each name.

        Its HDF5 has no lists of texts, and BP4 none of one text.
        """
        if not self.script.engine:
            return True
        before = latest(self._attributes_of(variable)).get(name, attribute)
        if not self.has_file_per_step and before.element_type != attribute.element_type:
            return False
        is_text = attribute.element_type == "text"
        may_be_empty = is_text and self.script.engine != "HDF5"
        least = {"HDF5": math.inf, "BP4": 2}.get(self.script.engine, 1)
        if attribute.element_type == "texts" and attribute.values.count(b"\0") < least:
            return False
        return attribute.element_type != "float16" and (bool(attribute.values) or may_be_empty)

    def _set(self, variable: str, name: str, attribute: Attribute) -> None:
        if self._can_hold(variable, name, attribute):
            self._remember(variable, name, attribute)
            self._say_attribute(variable, name, attribute.element_type, attribute.values)

    def attribute(
        self, name: str, element_type: str, values: Sequence[Any], variable: str = "-"
    ) -> None:
        """Set an attribute of the file, or of a variable, unless the format cannot hold it."""
        if self.script.is_netcdf and element_type in _ATTRIBUTES_IN_NETCDF:
            element_type = _ATTRIBUTES_IN_NETCDF[element_type]
            values = np.real(np.asarray(values)).tolist()
        raw = np.asarray(values, dtype=DTYPES[element_type]).tobytes()
        self._set(variable, name, Attribute(element_type, raw))

    def text(self, name: str, value: str, variable: str = "-") -> None:
        """The same with text."""
        self._set(variable, name, Attribute("text", value.encode()))

    def texts(self, name: str, values: Sequence[str], variable: str = "-") -> None:
        """The same with a list of texts, but not in netCDF: its classic files have none."""
        if not self.script.is_netcdf:
            raw = b"".join(each.encode() + b"\0" for each in values)
            self._set(variable, name, Attribute("texts", raw))

    def set_fill(self, name: str, value: complex) -> None:
        """Set what elements hold from the current step on that nobody puts."""
        assert not self.is_step_begun
        variable = self.variables[name]
        dtype = np.dtype(DTYPES[variable.element_type])
        if self.script.is_netcdf:  # which has one number for both parts
            value = complex(value.real, value.real)
        raw = np.asarray([value if dtype.kind == "c" else value.real], dtype=dtype).tobytes()
        self._remember(name, "_FillValue", Attribute(variable.element_type, raw))
        self._say("fill", self.name, name, bytes=raw.hex())

    def put(
        self,
        name: str,
        writer: int,
        start: Extents,
        count: Extents,
        buffered: bool = False,
        memory: tuple[Extents, Extents] | None = None,
    ) -> None:
        """Put a block; `memory`: shape of the local array, and where the block begins in it."""
        self.is_step_begun = True
        variable = self.variables[name]
        self._expect(variable, start, count)
        options = {"writer": writer, "start": _by(start), "count": _by(count)}
        if memory is not None:
            options |= {"memory": _by(memory[0]), "at": _by(memory[1])}
        self._say("put", self.name, name, **options, **self._how(buffered))

    def put_rows(self, name: str) -> None:
        """Put a whole variable, the rows of each member behind those of the members before it."""
        self.is_step_begun = True
        variable = self.variables[name]
        self._expect(variable, [0] * len(variable.shape), variable.shape)
        self._say("put_rows", self.name, name, **self._how(False))

    def _how(self, buffered: bool) -> dict[str, str]:
        """Some blocks lie in memory of the session; so few that every writer has both kinds."""
        self._puts += 1
        if buffered:
            return {"in": "heap", "buffered": "yes"}
        return {"in": "session" if self._puts % 7 in (1, 4) else "heap"}

    def _expect(self, variable: Variable, start: Extents, count: Extents) -> None:
        shape = variable.shape
        indices = np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape)
        box = tuple(slice(s, s + c) for s, c in zip(start, count, strict=True))
        self._expect_elements(variable, indices[box].reshape(-1))

    def _expect_elements(self, variable: Variable, chosen: npt.NDArray[np.int64]) -> None:
        shape = variable.shape
        if chosen.size == 0 and 0 not in shape:
            return  # puts nothing
        arrays = self.arrays.setdefault(self.step, {})
        if variable.name not in arrays:
            size = size_of(variable.element_type)
            empty = np.zeros((int(np.prod(shape, dtype=np.int64)), size), dtype=np.uint8)
            if fill := latest(variable.attributes, self.step).get("_FillValue"):
                empty[:] = np.frombuffer(fill.values, dtype=np.uint8)
            arrays[variable.name] = Array(variable.element_type, shape, empty)
        arrays[variable.name].bytes_of_elements[chosen] = elements(
            variable.element_type, variable.seed, self.step, chosen
        )

    def put_irregular(
        self, name: str, writer: int, indices: Sequence[int], form: str, buffered: bool = False
    ) -> None:
        """Put elements by their row-major index; `form` is "runs" or "map"."""
        self.is_step_begun = True
        variable = self.variables[name]
        self._expect_elements(variable, np.array([i for i in indices if i >= 0], dtype=np.int64))
        chosen = {form: _runs(indices) if form == "runs" else ",".join(map(str, indices))}
        keep = "freed" if self._puts % 5 == 3 else "kept"
        options = {"writer": writer, **chosen, "decomposition": keep}
        self._say("put_elements", self.name, name, **options, **self._how(buffered))

    def wait(self, state: str, order: str = "forward", how: str = "wait") -> None:
        """Wait for all puts; `order` is forward, backward or odd_first.

        Args:
            how: "wait" or "poll" each of them, or "wait_puts": all in one call.
        """
        self._say(how, self.name, state, order=order)

    def end_step(self) -> None:
        """End the step."""
        self._say("end_step", self.name)
        self.step += 1
        self.is_step_begun = False

    def wait_step(self, step: int) -> None:
        """Wait until a step is committed."""
        self._say("wait_step", self.name, step)

    @property
    def may_change(self) -> bool:
        """True if variables may come later, and change their shapes."""
        return self.has_file_per_step or self.script.may_change

    def close(self) -> None:
        """Close the file; an open step that has puts ends with it."""
        self._say("close", self.name)
        self._say("wait", self.name, "durable", again="yes")  # can be asked until finalize
        self._say("read_back", self.name)
        if self._group:
            self._say("ungroup", self._group)
        self.leave()

    def leave(self) -> None:
        """Leave the file to finalize."""
        self.step += self.step in self.arrays  # empty blocks put nothing
        self.is_step_begun = False


class Script:
    """A sequence of calls."""

    def __init__(
        self,
        writes_at_once: bool = True,
        lacks: Sequence[str] = (),
        is_netcdf: bool = False,
        may_change: bool = True,
        engine: str = "",
    ) -> None:
        """Begin with nothing.

        Args:
            is_netcdf: Types and names that netCDF has not are replaced.
            writes_at_once: Blocks may be waited for before their step has ended; synchronously,
                only formats whose offsets are known beforehand can do that.
            lacks: Element types that variables cannot have.
            may_change: Variables of a series may come, and change their shapes and fill values, after
                its first step.
            engine: The engine of ADIOS2. Attributes that it cannot hold are left out.
        """
        self.writes_at_once = writes_at_once
        self.engine = engine
        self.may_change = may_change
        self.types = [name for name in DTYPES if name not in lacks]
        self.is_netcdf = is_netcdf
        # A file whose variables change after its first step needs this.
        self.for_changes = {} if may_change else {"kind": "file_per_step"}
        self.lines = ["init"]
        self.files: dict[str, FileScript] = {}
        self._seed = 0
        self._groups = 0

    def next_seed(self) -> int:
        """Return a number that no other variable has."""
        self._seed += 1
        return self._seed

    def group(self, part: int, parts: int, order: str) -> str:
        """Return the name of a communicator of some ranks; empty where it is that of all.

        It is made before any file is open: a rank that waits in MPI answers nobody in the library.
        """
        if (part, parts, order) == (0, 1, "forward"):
            return ""
        self._groups += 1
        name = f"group{self._groups}"
        self.lines.insert(1, _line("group", name, part=f"{part}/{parts}", order=order))
        return name

    def open(
        self,
        name: str,
        kind: str = "series",
        /,
        group: tuple[int, int] = (0, 1),
        order: str = "forward",
        **settings: object,
    ) -> FileScript:
        """Open a file on group `group[0]` of `group[1]`; `settings` are those of [files.<name>].

        Its communicator has the ranks in this `order`, forward or backward. A name that was opened
        before is opened again: in the end it holds what it got last.
        """
        self.files[name] = FileScript(self, name, kind, group, order, settings)
        return self.files[name]

    def progress(self) -> None:
        """Call iocomp_progress."""
        self.lines.append("progress")

    def text(self) -> str:
        """Return the script as the program reads it."""
        return "\n".join(self.lines) + "\n"
