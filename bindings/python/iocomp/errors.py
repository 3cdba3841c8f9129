# SPDX-License-Identifier: BSD-3-Clause
"""The errors. A class stands for each code of `iocomp_code` that a program may want to catch."""

from __future__ import annotations


class Error(Exception):
    """A call failed. `code` is one of `iocomp_code`; `story` names file, step and cause."""

    code = 99

    def __init__(self, story: str) -> None:
        """Keep `story`: one text that names file, step and cause."""
        super().__init__(story)
        self.story = story

    def __str__(self) -> str:
        """Return the story."""
        return self.story


class InvalidArgumentError(Error, ValueError):
    """A caller's mistake, found before anything was sent."""

    code = 1


class OutOfStagingError(Error, MemoryError):
    """Staging memory is full, and the file says `when_full = "error"`."""

    code = 2


class StorageError(Error, OSError):
    """The operating system or the format library refused, or a file is torn."""

    code = 3


class MpiError(Error):
    """An MPI call failed."""

    code = 4


class InvalidSettingError(Error, ValueError):
    """A setting has an unknown key or a bad value, or a placement is impossible."""

    code = 5


class TargetExistsError(Error, FileExistsError):
    """The target exists and `existing` is neither "replace" nor "continue", or a job writes it."""

    code = 6


class InconsistentCallsError(Error):
    """Ranks made different calls, or the same call with different arguments."""

    code = 7


class TimedOutError(Error, TimeoutError):
    """A wait of this rank saw no progress within the deadline."""

    code = 8


class UnsupportedError(Error, NotImplementedError):
    """A format, package or element type is missing, or a file is of a later release."""

    code = 9


class NotFoundError(Error, KeyError):
    """There is no such file, or nothing of it is committed, or no such variable or step."""

    code = 10


class OverlappingPutsError(Error):
    """Puts of one step cover the same element."""

    code = 11


class CopyWarning(UserWarning):
    """An array was copied, because the library cannot take it from where it lies."""


_CLASSES: dict[int, type[Error]] = {cls.code: cls for cls in Error.__subclasses__()}


def error_of(code: int, story: str) -> Error:
    """Return the exception of a code; one without a class of its own is an `Error`."""
    error = _CLASSES.get(code, Error)(story)
    error.code = code
    return error


class Failures:
    """Failures that no call has raised yet. A call that raises some is a `with` of this object.

    At the end of the `with`, the first failure is raised if the call itself raises none. Each story
    is raised once.
    """

    def __init__(self) -> None:
        """Begin without failures."""
        self._new: list[Error] = []
        self._stories: set[str] = set()

    def found(self, error: Error) -> None:
        """Keep a failure, unless one with its story was found or raised before."""
        if error.story not in self._stories:
            self._stories.add(error.story)
            self._new.append(error)

    def heard(self, error: Error) -> None:
        """Forget a failure that another call has raised."""
        self._stories.add(error.story)
        self._new = [each for each in self._new if each.story != error.story]

    def take(self, others: Failures) -> None:
        """Take what others have kept."""
        self._new += others._new
        others._new = []

    def __enter__(self) -> None:
        """Begin a call."""

    def __exit__(self, kind: object, raised: object, trace: object) -> None:
        """Raise what was kept, unless something is being raised."""
        if isinstance(raised, Error):
            self.heard(raised)
        if raised is None and self._new:
            first, self._new = self._new[0], []
            raise first
