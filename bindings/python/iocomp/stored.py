# SPDX-License-Identifier: BSD-3-Clause
"""Variables that are read, such as `files["u"]`. They can be used like arrays."""

from __future__ import annotations

import math
import operator
import reprlib
from collections.abc import Iterator, Mapping
from types import EllipsisType
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from iocomp.arrays import Array, is_truth
from iocomp.errors import InvalidArgumentError

Index = slice | int | EllipsisType
Box = tuple[slice, ...]  # one for each dimension, from 0 to its extent at most, steps above 0
_MOST_SHOWN = 40


def taken(given: object, extent: int, name: str) -> range | int:
    """Return the indices that a slice takes along a dimension, or the single index that is given.

    Raises:
        InvalidArgumentError: If it is neither a slice nor an integer. True and False are none: to
            numpy they are masks.
    """
    try:
        if isinstance(given, slice):
            return range(*given.indices(extent))
        if not isinstance(given, (bool, np.bool_)):
            return operator.index(given)  # type: ignore[arg-type]
    except (TypeError, ValueError):  # another type, or a slice of such or with the step 0
        pass
    raise InvalidArgumentError(
        f"index {reprlib.repr(given)} of {name}: allowed are integers, slices of integers, and one "
        "ellipsis"
    )


def all_of(
    box: Index | tuple[Index, ...], name: str, whole: tuple[int, ...]
) -> list[slice | int]:
    """Return a box with an index for each dimension: the ellipsis stands for those not given.

    Raises:
        InvalidArgumentError: If there are more than the dimensions, or more than one ellipsis.
    """
    parts = box if isinstance(box, tuple) else (box,)
    given = [each for each in parts if each is not Ellipsis]
    if len(parts) - len(given) > 1:
        raise InvalidArgumentError(f"an index of {name} with more than one ellipsis")
    at = next((i for i, each in enumerate(parts) if each is Ellipsis), len(parts))
    missing = len(whole) - len(given)
    if missing < 0:
        raise InvalidArgumentError(f"{len(given)} indices of {name}, which has shape {whole}")
    return [*given[:at], *[slice(None)] * missing, *given[at:]]


def slices_of(
    box: Index | tuple[Index, ...], name: str, whole: tuple[int, ...]
) -> tuple[Box, tuple[slice | None, ...]]:
    """Return a box as slices, and how the result becomes an array of all dimensions.

    The result lacks those of integers: None stands for them.
    """
    slices: list[slice] = []
    view: list[slice | None] = []
    for part, extent in zip(all_of(box, name, whole), whole, strict=True):
        indices = taken(part, extent, name)
        if isinstance(indices, range):
            start, stop, step = indices.start, indices.stop, indices.step
            if step < 1:
                raise InvalidArgumentError(f"{part} of {name}: only steps above 0")
            last = start + (stop - start - 1) // step * step + 1  # what lies behind it nobody wants
            slices.append(slice(start, max(start, last), step))
            view.append(slice(None))
        else:
            if not -extent <= indices < extent:
                raise InvalidArgumentError(f"index {indices} of {name} of shape {whole}")
            slices.append(slice(indices % extent, indices % extent + 1, 1))
            view.append(None)
    return tuple(slices), tuple(view)


class Source(Protocol):
    """An object with stored variables."""

    def _names(self) -> list[str]: ...
    def _steps_of(self, name: str) -> list[int]: ...
    def _form(self, name: str, step: int) -> tuple[np.dtype[Any], tuple[int, ...]]: ...
    def _attrs(self, name: str | None) -> Mapping[str, Any]: ...
    def _read_box(self, name: str, step: int, box: Index | tuple[Index, ...]) -> Array: ...
    def _require(self, name: str) -> None: ...


class StoredVariable:
    """A variable of `Files` or an `Input`. `u[10:20, ::2]` reads that box of its newest step."""

    def __init__(self, source: Source, name: str) -> None:
        """Name a variable; `files["u"]` does it."""
        self._source = source
        self.name = name
        """The name of the variable in its file."""

    @property
    def steps(self) -> list[int]:
        """The numbers of the steps that have values of the variable, ascending."""
        return self._source._steps_of(self.name)

    @property
    def attrs(self) -> Mapping[str, Any]:
        """The attributes of the variable by name; each is text, a number, or a list of either."""
        return self._source._attrs(self.name)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements in the newest step; bool if they were put as bool."""
        found = self._source._form(self.name, self.steps[-1])[0]
        return np.dtype(bool) if is_truth(found, self.attrs) else found

    @property
    def shape(self) -> tuple[int, ...]:
        """The global shape in the newest step, in elements."""
        return self._source._form(self.name, self.steps[-1])[1]

    @property
    def ndim(self) -> int:
        """The number of dimensions in the newest step."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements in the newest step."""
        return math.prod(self.shape)

    def __len__(self) -> int:
        """Return the extent of the first dimension. A scalar raises `TypeError`."""
        if not self.shape:
            raise TypeError(f"the scalar {self.name!r} has no length")
        return self.shape[0]

    def __bool__(self) -> bool:
        """Return True: a variable without elements is a variable."""
        return True

    def __iter__(self) -> Iterator[Array]:
        """Read one index of the first dimension after the other."""
        return (self[index] for index in range(len(self)))

    def __getitem__(self, box: Index | tuple[Index, ...]) -> Array:
        """Read a box of the newest step: numpy's basic indexing, with steps above 0."""
        return self.read(box=box)

    def read(self, step: int | None = None, box: Index | tuple[Index, ...] = ...) -> Array:
        """Read a box of a step.

        Args:
            step: The number of the step; without it the newest that has the variable.
            box: The elements to read, by numpy's basic indexing with steps above 0; without it the
                whole variable.

        Returns:
            A new array. Dimensions indexed by an integer are dropped, as in numpy.

        Raises:
            NotFoundError: If the step does not have the variable.
            StorageError: If the file cannot be read.
        """
        number = self.steps[-1] if step is None else step
        values = self._source._read_box(self.name, number, box)
        return values.astype(bool) if is_truth(values.dtype, self.attrs) else values

    def __array__(self, dtype: npt.DTypeLike = None, copy: bool | None = None) -> Array:
        """Read the whole variable in the newest step: `np.asarray(u)`."""
        if copy is False:
            raise InvalidArgumentError(
                f"{self.name!r} is in a file: there is no array without a copy"
            )
        values = self.read()
        return values if dtype is None else values.astype(dtype, copy=False)

    def __repr__(self) -> str:
        """Return name, type, shape and steps."""
        return f"<iocomp.StoredVariable {self._line()}>"

    def _line(self, width: int = 0) -> str:
        steps = self.steps
        if not steps:
            return f"{self.name:{width}}  in no step"
        where = f"step {steps[0]}" if len(steps) == 1 else f"{len(steps)} steps"
        return f"{self.name:{width}}  {self.dtype}  {self.shape}  {where}"


class Stored(Mapping[str, StoredVariable]):
    """A mapping of names to variables, as h5py's files and xarray's datasets are."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __getitem__(self: Any, name: str) -> StoredVariable:
        """Return a variable. Raises NotFoundError, a KeyError, which names those that are there."""
        self._require(name)
        return StoredVariable(self, name)

    def __iter__(self: Any) -> Iterator[str]:
        """Return the names of the variables, in the order of definition."""
        return iter(self._names())

    def __len__(self: Any) -> int:
        """Return the number of variables."""
        return len(self._names())

    def __bool__(self) -> bool:
        """Return True: a file without variables is a file."""
        return True

    def __contains__(self, name: object) -> bool:
        """Return True if there is a variable of this name."""
        return name in list(self)

    @property
    def attrs(self: Any) -> Mapping[str, Any]:
        """The attributes of the file by name; each is text, a number, or a list of either."""
        return self._attrs(None)  # type: ignore[no-any-return]

    def _shown(self: Any, what: str, steps: list[int]) -> str:
        span = (
            f", {steps[0]} to {steps[-1]}" if len(steps) > 1 else f", {steps[0]}" if steps else ""
        )
        plural = "" if len(steps) == 1 else "s"
        names = self._names()
        width = max(map(len, names), default=0)
        lines = [f"<{what}: {len(steps)} step{plural}{span}>"]
        for name in names[:_MOST_SHOWN]:
            lines.append(f"  {StoredVariable(self, name)._line(width)}")
        if len(names) > _MOST_SHOWN:
            lines.append(f"  and {len(names) - _MOST_SHOWN} more variables")
        return "\n".join(lines)
