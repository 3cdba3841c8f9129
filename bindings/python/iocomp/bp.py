# SPDX-License-Identifier: BSD-3-Clause
"""A reader of BP by the Python package adios2, if our library was built without ADIOS2.

BP is the one format that Python reads by itself. The manifest tells the contents of a file.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from iocomp.errors import StorageError, UnsupportedError

_CHARACTER = np.dtype("S1")
_library = threading.Lock()  # ADIOS2 may not be called by two threads at a time


class BpFile:
    """A dataset of BP, read step by step. Reading an earlier step opens it again."""

    def __init__(self, path: str) -> None:
        """Open the dataset.

        Raises:
            UnsupportedError: If the package adios2 is not installed.
            StorageError: If the path is no dataset of BP.
        """
        try:
            import adios2
        except ImportError as error:
            raise UnsupportedError(
                f"{path}: the library that reads was built without ADIOS2, so reading BP needs the "
                f"Python package adios2 (2.10 or later): {error}"
            ) from None
        self._adios2, self._path = adios2, path
        with _library:
            self._open()

    def read(
        self,
        name: str,
        in_file: int,
        shape: tuple[int, ...],
        start: Sequence[int],
        out: npt.NDArray[Any],
    ) -> None:
        """Read a box of a variable in a step of the file. Elements that nobody put are 0.

        Args:
            name: The name of the variable.
            in_file: The step's number in the file.
            shape: The global shape of the variable in this step.
            start: The first index of the box in each dimension.
            out: A dense array of the box's shape and of the variable's type.
        """
        stored = np.dtype("i1") if out.dtype == _CHARACTER else out.dtype
        found = np.zeros(out.shape, stored)  # ADIOS2 leaves what nobody put as it is
        with _library:
            self._go_to(in_file)
            variable = self._io.inquire_variable(name)
            if variable is None:
                raise StorageError(f"{self._path}: no {name} in step {in_file}")
            has = tuple(variable.shape())
            if has != shape:
                raise StorageError(f"{self._path}: {name} has shape {has} in step {in_file}")
            if shape:
                variable.set_selection([list(start), list(out.shape)])
            self._engine.get(variable, found, self._adios2.bindings.Mode.Sync)
        out[...] = found.view(out.dtype)

    def close(self) -> None:
        """Release the dataset."""
        with _library:
            self._engine.close()

    def _open(self) -> None:
        try:
            self._io = self._adios2.Adios().declare_io("iocomp")
            self._io.set_parameter("OpenTimeoutSecs", "0")  # else BP5 waits for a missing file
            self._engine = self._io.open(self._path, self._adios2.bindings.Mode.Read)
        except (RuntimeError, ValueError) as error:
            raise StorageError(f"cannot read {self._path}: {error}") from None
        self._step = -1

    def _go_to(self, step: int) -> None:
        if step < self._step:
            self._engine.close()
            self._open()
        done = self._adios2.bindings.StepStatus.OK
        while self._step < step:
            if self._step >= 0:
                self._engine.end_step()
            mode = self._adios2.bindings.StepMode.Read
            if self._engine.begin_step(mode, 0.0) != done:
                raise StorageError(f"cannot read {self._path}: it has {self._step + 1} steps")
            self._step += 1
