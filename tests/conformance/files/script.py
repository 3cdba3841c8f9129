"""Scripts of calls that conformance_program carries out, and what they mean.

All ranks carry out the same lines. A put names a writer, a number; the member `writer % members`
of the file carries it out, so that a script makes the same files whatever the number of ranks.
Lines of a file concern its members only.

    open FILE series|checkpoint GROUP GROUPS   on group GROUP of GROUPS of the ranks (0 1: all)
    define FILE VARIABLE TYPE SEED NDIMS EXTENT...
    shape FILE VARIABLE EXTENT...
    attribute FILE VARIABLE|- NAME TYPE xHEX   values as bytes
    text FILE VARIABLE|- NAME xHEX
    fill FILE VARIABLE xHEX                    one element as bytes
    put FILE VARIABLE WRITER plain|buffered START... COUNT... [MEMORY_SHAPE... MEMORY_START...]
    irregular FILE VARIABLE WRITER plain|buffered runs|map N INDEX...   negative: not written
    wait FILE STATE ORDER                      for all puts not yet waited for in this state
    poll FILE STATE ORDER                      the same with iocomp_test and iocomp_progress
    end_step FILE, wait_step FILE STEP, close FILE, progress
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from element_pattern import DTYPES, elements, size_of

Extents = Sequence[int]
_IN_NETCDF = {"float16": "float32", "complex64": "float64", "complex128": "float64"}


@dataclass(frozen=True)
class Attribute:
    """What an attribute must hold; `element_type` is "text" for a string."""

    element_type: str
    values: bytes


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
    history: dict[int, dict[str, Attribute]], step: int | None = None, of_first_type: bool = False
) -> dict[str, Attribute]:
    """Return the attributes in force in `step`, or at the end; perhaps by name and type."""
    merged: dict[str, Attribute] = {}
    for when in sorted(history):
        if step is not None and when > step:
            continue
        for name, attribute in history[when].items():
            known = merged.get(name, attribute)
            is_renamed = of_first_type and known.element_type != attribute.element_type
            merged[f"{name}.{attribute.element_type}" if is_renamed else name] = attribute
    return merged


class FileScript:
    """The calls for one file, and what the file must hold afterwards."""

    def __init__(
        self, script: Script, name: str, kind: str, group: tuple[int, int], settings: dict[str, Any]
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
        self._say("open", name, kind, *group)

    def _say(self, *words: object) -> None:
        self.script.lines.append(" ".join(str(word) for word in words))

    @property
    def has_file_per_step(self) -> bool:
        """Whether each step goes to a file of its own."""
        return self.is_checkpoint or bool(self.settings.get("file_per_step"))

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
        self._say("define", self.name, name, element_type, seed, len(shape), *shape)
        return name

    def set_shape(self, name: str, shape: Extents) -> None:
        """Give a variable another shape from the current step on."""
        assert not self.is_step_begun
        variable = self.variables[name]
        variable.shape = tuple(shape)
        variable.shapes[self.step] = tuple(shape)
        self._say("shape", self.name, name, *shape)

    def _remember(self, variable: str, name: str, attribute: Attribute) -> None:
        history = self.attributes if variable == "-" else self.variables[variable].attributes
        history.setdefault(self.step, {})[name] = attribute

    def attribute(
        self, name: str, element_type: str, values: Sequence[Any], variable: str = "-"
    ) -> None:
        """Set an attribute of the file, or of a variable."""
        if self.script.is_netcdf and element_type in _IN_NETCDF:
            element_type = _IN_NETCDF[element_type]
            values = np.real(np.asarray(values)).tolist()
        raw = np.asarray(values, dtype=DTYPES[element_type]).tobytes()
        self._remember(variable, name, Attribute(element_type, raw))
        self._say("attribute", self.name, variable, name, element_type, "x" + raw.hex())

    def text(self, name: str, value: str, variable: str = "-") -> None:
        """The same with text."""
        self._remember(variable, name, Attribute("text", value.encode()))
        self._say("text", self.name, variable, name, "x" + value.encode().hex())

    def set_fill(self, name: str, value: complex) -> None:
        """Set what elements hold from the current step on that nobody puts."""
        assert not self.is_step_begun
        variable = self.variables[name]
        dtype = np.dtype(DTYPES[variable.element_type])
        raw = np.asarray([value if dtype.kind == "c" else value.real], dtype=dtype).tobytes()
        self._remember(name, "_FillValue", Attribute(variable.element_type, raw))
        self._say("fill", self.name, name, "x" + raw.hex())

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
        inside = () if memory is None else (*memory[0], *memory[1])
        how = "buffered" if buffered else "plain"
        self._say("put", self.name, name, writer, how, *start, *count, *inside)

    def _expect(self, variable: Variable, start: Extents, count: Extents) -> None:
        shape = variable.shape
        indices = np.arange(int(np.prod(shape, dtype=np.int64))).reshape(shape)
        box = tuple(slice(s, s + c) for s, c in zip(start, count, strict=True))
        self._expect_elements(variable, indices[box].reshape(-1))

    def _expect_elements(self, variable: Variable, chosen: npt.NDArray[np.int64]) -> None:
        if chosen.size == 0:
            return  # puts nothing
        shape = variable.shape
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
        how = "buffered" if buffered else "plain"
        self._say("irregular", self.name, name, writer, how, form, len(indices), *indices)

    def wait(self, state: str, order: str = "forward", how: str = "wait") -> None:
        """Wait for all puts; `how` is "wait" or "poll", `order` forward, backward or odd_first."""
        self._say(how, self.name, state, order)

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
        """Whether variables may come later, and change their shapes."""
        return self.has_file_per_step or not self.script.is_netcdf

    def close(self) -> None:
        """Close the file; an open step that has puts ends with it."""
        self._say("close", self.name)
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
        can_fill: bool = True,
    ) -> None:
        """Begin with nothing.

        Args:
            is_netcdf: Types and names that netCDF has not are replaced.
            writes_at_once: Blocks may be waited for before their step has ended; synchronously,
                only formats whose offsets are known beforehand can do that.
            lacks: Element types that variables cannot have.
            can_fill: What nobody puts may hold something else than 0.
        """
        self.writes_at_once = writes_at_once
        self.can_fill = can_fill
        self.types = [name for name in DTYPES if name not in lacks]
        self.is_netcdf = is_netcdf
        # What a file needs whose variables change after its first step.
        self.for_changes = {"file_per_step": True} if is_netcdf else {}
        self.lines: list[str] = []
        self.files: dict[str, FileScript] = {}
        self._seed = 0

    def next_seed(self) -> int:
        """Return a number that no other variable has."""
        self._seed += 1
        return self._seed

    def open(
        self, name: str, kind: str = "series", group: tuple[int, int] = (0, 1), **settings: object
    ) -> FileScript:
        """Open a file on group `group[0]` of `group[1]`; `settings` are those of [files.<name>].

        A name that was opened before is opened again: in the end it holds what it got last.
        """
        self.files[name] = FileScript(self, name, kind, group, settings)
        return self.files[name]

    def progress(self) -> None:
        """Call iocomp_progress."""
        self.lines.append("progress")

    def text(self) -> str:
        """Return the script as the program reads it."""
        return "\n".join(self.lines) + "\n"
