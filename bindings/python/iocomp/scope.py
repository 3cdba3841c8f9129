# SPDX-License-Identifier: BSD-3-Clause
"""Objects that `with` ends."""

from __future__ import annotations

from types import TracebackType
from typing import TypeVar

_Scoped = TypeVar("_Scoped", bound="Scope")


class Scope:
    """An object that `with` ends, by its method `_leave`."""

    _ends_after_exceptions = False

    def __enter__(self: _Scoped) -> _Scoped:
        """Return the object itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the object, unless the program has ended it.

        After an exception on this rank it is left as it is, since ending it could wait for ranks
        that do not come. `sys.exit()` with no status, or with 0, is no such exception. Steps that
        all ranks have ended are kept; a step of which only a part was put is not committed.
        """
        is_exit = isinstance(error, SystemExit) and error.code in (None, 0)
        if self._ends_after_exceptions or kind is None or is_exit:
            self._leave()
        else:
            self._fail()

    def _fail(self) -> None:
        """Take in that an exception leaves the `with`."""

    def _leave(self) -> None:
        raise NotImplementedError
