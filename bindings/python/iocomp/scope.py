# SPDX-License-Identifier: BSD-3-Clause
"""What `with` ends."""

from __future__ import annotations

from types import TracebackType
from typing import TypeVar

_Scoped = TypeVar("_Scoped", bound="Scope")


class Scope:
    """Something that `with` ends. `_leave` says how."""

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
        """End it, if that was not done. After an exception it is left as it is: others wait.

        Then what all ranks have ended is kept, and a step that is half put is not committed.
        """
        if self._ends_after_exceptions or kind is None or issubclass(kind, SystemExit):
            self._leave()

    def _leave(self) -> None:
        raise NotImplementedError
