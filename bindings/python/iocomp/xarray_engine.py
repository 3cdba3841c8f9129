# SPDX-License-Identifier: BSD-3-Clause
"""The engine of xarray: `xr.open_dataset(path, engine="iocomp")`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from xarray import Dataset, Variable
from xarray.backends import BackendArray, BackendEntrypoint
from xarray.backends.common import AbstractDataStore
from xarray.backends.store import StoreBackendEntrypoint
from xarray.core import indexing

from iocomp.reader import Files, open_files

_TIME = "time"
_OTHERS = ("step", "steps", "iocomp_steps")
_Key = tuple[int | slice, ...]


class _Lazy(BackendArray):
    """A variable in some steps, read only when needed; None stands for a step without it."""

    def __init__(
        self,
        files: Files,
        name: str,
        dtype: np.dtype[Any],
        steps: list[int | None],
        has_time: bool,
        fill: object,
    ) -> None:
        self._files, self._name, self._steps, self._fill = files, name, steps, fill
        self._has_time = has_time
        self.dtype = dtype
        self._inner = files.shape(name)
        self.shape = (len(steps), *self._inner) if has_time else self._inner

    def __getitem__(self, key: indexing.ExplicitIndexer) -> npt.NDArray[Any]:
        """Return the values that a key selects."""
        basic = indexing.IndexingSupport.BASIC
        found: npt.NDArray[Any] = indexing.explicit_indexing_adapter(
            key, self.shape, basic, self._read
        )
        return found

    def _read(self, key: _Key) -> npt.NDArray[Any]:
        time, box = (key[0], key[1:]) if self._has_time else (0, key)
        shape = np.broadcast_to(np.int8(), self._inner)[box].shape
        chosen = self._steps[time] if isinstance(time, slice) else [self._steps[time]]
        values = np.empty((len(chosen), *shape), self.dtype)
        for index, step in enumerate(chosen):
            into = values[index : index + 1].reshape(shape)
            if step is None:
                into[...] = self._fill
            else:
                self._files.read(self._name, step, box, into)
        return values if isinstance(time, slice) else values.reshape(shape)


class _Store(AbstractDataStore):
    """The raw variables and attributes, which xarray decodes."""

    def __init__(self, files: Files, mask_and_scale: bool | Mapping[str, bool]) -> None:
        self._files, self._mask_and_scale = files, mask_and_scale
        self._steps = files.steps
        self._along = self._dimension_of_steps()

    def get_attrs(self) -> dict[str, Any]:
        """Return the attributes of the file."""
        return self._files.attributes()

    def get_variables(self) -> dict[str, Variable]:
        """Return all variables, and the coordinates `time` and `step`."""
        found: dict[str, Variable] = {}
        for name in self._files.variables():
            if name != _TIME or not self._is_axis(name):
                made = self._variable(name)
                if made is not None:
                    found[name] = made
        times = self._times()
        if _TIME not in found and not np.isnan(times).all():
            attributes = self._files.attributes(_TIME) if _TIME in self._files else {}
            if _TIME in self._files.changing:
                warnings.warn(
                    f"{self._files.path}: times have several units or calendars, so they stay numbers",
                    stacklevel=2,
                )
                attributes = _without(attributes, ("units", "calendar"))
            found[_TIME] = Variable((self._along,), times, attributes)
        found.setdefault("step", Variable((self._along,), np.array(self._steps, np.int64)))
        self._rename_dimensions(found)
        return found

    def close(self) -> None:
        """Release the files."""
        self._files.close()

    def _is_axis(self, name: str) -> bool:
        """Return True if a variable has one number for each step, so that it may name the steps."""
        files = self._files
        return all(
            files.shape(name, step) == () and files.dtype(name, step).kind in "fiu"
            for step in files.steps_of(name)
        )

    def _dimension_of_steps(self) -> str:
        """Return "time", or another name if a variable "time" has more than one number per step.

        xarray wants such a variable to have no other dimension.
        """
        names = self._files.variables()
        free = (each for each in (_TIME, *_OTHERS) if each not in names or self._is_axis(each))
        return next(free, f"{_TIME}_of_iocomp")

    def _rename_dimensions(self, found: dict[str, Variable]) -> None:
        """Rename dimensions for whose names xarray would refuse the dataset."""
        lengths: dict[Hashable, set[int]] = {}
        for each in found.values():
            for name, length in zip(each.dims, each.shape, strict=True):
                lengths.setdefault(name, set()).add(length)
        taken = {
            name
            for name, each in found.items()
            if each.ndim == 0 or (each.ndim > 1 and name in each.dims)
        }
        bad = [name for name, all_ in lengths.items() if name in taken or len(all_) > 1]
        names: dict[tuple[Hashable, int], Hashable] = {}
        for name in bad:
            for length in lengths[name]:
                new = f"{name}_{length}"
                while new in lengths or new in found:
                    new += "_"
                names[name, length] = new
                lengths[new] = {length}
            warnings.warn(
                f"{self._files.path}: the dimension {name} is called {names[name, length]}, "
                "because a variable has that name or it has several lengths",
                stacklevel=2,
            )
        for each in found.values() if bad else ():
            dims = zip(each.dims, each.shape, strict=True)
            each.dims = tuple(names.get(key, key[0]) for key in dims)

    def _times(self) -> npt.NDArray[Any]:
        """Return the times that the program has told, or has put as the scalar `time`.

        Integers of that scalar keep their type: float64 rounds those above 2**53, such as
        nanoseconds since 1970.
        """
        files = self._files
        times = np.array([files.time(step) for step in self._steps])
        if _TIME not in files or files.steps_of(_TIME) != self._steps or not self._is_axis(_TIME):
            return times
        if any(files.dtype(_TIME, step).kind == "f" for step in self._steps):
            return times
        exact = np.array([files.read(_TIME, step) for step in self._steps])
        return exact if np.array_equal(exact.astype(np.float64), times) else times

    def _unpacks(self, name: str) -> bool:
        asked = self._mask_and_scale
        return bool(asked.get(name, True) if isinstance(asked, Mapping) else asked)

    def _variable(self, name: str) -> Variable | None:
        files, along = self._files, self._along
        there = files.steps_of(name)
        has = set(there)
        steps = [step if step in has else None for step in self._steps]
        if len({(files.shape(name, step), files.dtype(name, step)) for step in there}) > 1:
            warnings.warn(
                f"{files.path}: {name} changes its type or shape from step to step, so it is "
                "left out; iocomp.open_files reads it",
                stacklevel=2,
            )
            return None
        attributes, dtype = files.attributes(name), files.dtype(name)
        if name in files.changing:
            meaning = files._meaning[name]
            if not {"scale_factor", "add_offset"}.intersection(meaning):
                warnings.warn(
                    f"{files.path}: {name} has another fill value in some steps, so none is masked",
                    stacklevel=2,
                )
            elif dtype.kind in "iu" and self._unpacks(name):
                dtype = np.dtype(np.float64)  # the library unpacks each step as its own file says
            attributes = _without(attributes, meaning)
        shape = files.shape(name)
        dimensions = str(attributes.pop("dimensions", "")).split()
        has_time = dimensions[:1] == [_TIME] if dimensions else len(steps) == 1
        has_time = has_time or (len(there) > 1 and dimensions != [name])  # x of x: a coordinate
        dimensions = dimensions[1:] if dimensions[:1] == [_TIME] else dimensions
        if len(dimensions) != len(shape) or along in dimensions:
            dimensions = _dimensions(shape)
        kind = dtype.kind
        fill = _fill_of(attributes, kind)
        if has_time and fill is None and None in steps:
            warnings.warn(
                f"{files.path}: {name} is not in all steps and has no fill value, so its steps "
                "without it read as 0",
                stacklevel=2,
            )
        kept: list[int | None] = steps if has_time else [there[-1]]
        lazy = _Lazy(files, name, dtype, kept, has_time, 0 if fill is None else fill)
        return Variable(
            (along, *dimensions) if has_time else dimensions,
            indexing.LazilyIndexedArray(lazy),
            attributes,
            {"preferred_chunks": {along: 1}} if has_time else {},
        )


def _without(attributes: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {name: value for name, value in attributes.items() if name not in names}


def _fill_of(attributes: dict[str, Any], kind: str) -> object:
    """Return the value for steps without the variable; None if nothing tells it."""
    told = np.asarray(attributes.get("_FillValue", ()))
    if told.size == 2 and kind == "c":  # formats without complex attributes have them in parts
        return complex(told.flat[0], told.flat[1])
    if told.size == 1:
        return told.item()
    return np.nan if kind in "fc" else b"" if kind == "S" else None


def _dimensions(shape: tuple[int, ...]) -> list[str]:
    """Return names after the extents, as the back-end netcdf gives them."""
    names: list[str] = []
    for index, extent in enumerate(shape):
        before = shape[:index].count(extent)
        names.append(f"dim_{extent}" + (f"_{before + 1}" if before else ""))
    return names


class IocompBackend(BackendEntrypoint):
    """The engine: it opens series and checkpoints of every format, with the steps along `time`."""

    description = "Series and checkpoints that iocomp wrote"
    open_dataset_parameters = (
        "filename_or_obj",
        "drop_variables",
        "mask_and_scale",
        "decode_times",
        "concat_characters",
        "decode_coords",
        "use_cftime",
        "decode_timedelta",
    )

    def open_dataset(
        self,
        filename_or_obj: Any,  # noqa: ANN401 (xarray's: a path)
        drop_variables: str | Iterable[str] | None = None,
        **decoding: Any,  # noqa: ANN401 (xarray's own: mask_and_scale and others)
    ) -> Dataset:
        """Open the committed steps. Values are read when they are needed.

        Args:
            filename_or_obj: The path, as `iocomp.open_files` takes it.
            drop_variables: The variables to leave out.
            decoding: The options of xarray's decoding, such as `mask_and_scale`.

        Raises:
            NotFoundError: If there is no such file, or nothing of it is committed.
            StorageError: If a file or its manifest is torn.
        """
        store = _Store(open_files(filename_or_obj), decoding.get("mask_and_scale", True))
        dataset: Dataset = StoreBackendEntrypoint().open_dataset(
            store, drop_variables=drop_variables, **decoding
        )
        return dataset.set_coords("step") if "step" in dataset.variables else dataset

    def guess_can_open(self, filename_or_obj: Any) -> bool:  # noqa: ANN401 (xarray's)
        """Return True for a file that has a manifest, if no other engine knows its format."""
        if not isinstance(filename_or_obj, (str, os.PathLike)):
            return False
        try:
            with Path(f"{os.fspath(filename_or_obj)}.json").open("rb") as manifest:
                head = manifest.read(4096)
        except OSError:
            return False
        is_plain = any(b'"format": "%s"' % name in head for name in (b"posix", b"mpiio", b"frames"))
        return b'"iocomp_manifest"' in head and is_plain
