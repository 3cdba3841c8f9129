# SPDX-License-Identifier: BSD-3-Clause
"""Make a script that fails smaller: leave calls out, as long as what is left fails too."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from inspect import isfunction
from itertools import product
from math import prod
from operator import mul
from typing import Any

from script import Extents, FileScript, Script


@dataclass(frozen=True)
class Call:
    """One call of a method of Script (`file` is None) or of the FileScript with that number."""

    file: int | None
    method: str
    arguments: tuple[Any, ...]
    named: dict[str, Any] = field(default_factory=dict)


class RecordedScript(Script):
    """A script that remembers how it was made."""

    def __init__(self, *arguments: Any) -> None:  # noqa: ANN401 (those of Script)
        """Begin with nothing."""
        super().__init__(*arguments)
        self.made_with = arguments
        self.calls: list[Call] = []
        self._opened = 0

    def open(
        self,
        name: str,
        kind: str = "series",
        /,
        group: tuple[int, int] = (0, 1),
        order: str = "forward",
        **settings: object,
    ) -> FileScript:
        """As in Script."""
        number, self._opened = self._opened, self._opened + 1
        self.calls.append(Call(number, "open", (name, kind, group, order), dict(settings)))
        self.files[name] = RecordedFile(self, name, kind, group, order, settings)
        self.files[name].number = number
        return self.files[name]

    def progress(self) -> None:
        """As in Script."""
        self.calls.append(Call(None, "progress", ()))
        super().progress()


class RecordedFile(FileScript):
    """A file whose public calls are remembered by its script."""

    script: RecordedScript
    number: int
    _is_inside = False


def _recorded(name: str) -> Callable[..., Any]:
    def call(self: RecordedFile, *arguments: Any, **named: Any) -> Any:  # noqa: ANN401
        is_outermost = not self._is_inside
        if is_outermost:
            self.script.calls.append(Call(self.number, name, arguments, named))
        self._is_inside = True
        try:
            return getattr(FileScript, name)(self, *arguments, **named)
        finally:
            self._is_inside = not is_outermost

    return call


for _name, _member in list(vars(FileScript).items()):
    if isfunction(_member) and not _name.startswith("_") and _name != "leave":
        setattr(RecordedFile, _name, _recorded(_name))


PUTS = ("put", "put_irregular")


class _Replay:
    """One file of a script from which calls were left out."""

    def __init__(self, file: FileScript) -> None:
        self.file = file
        self.taken: dict[str, set[int]] = {}  # elements put in the current step

    def _elements(self, call: Call) -> set[int] | None:
        """Return the elements that a put covers; None if some are outside."""
        shape = self.file.variables[call.arguments[0]].shape
        if call.method == "put_irregular":
            found = {index for index in call.arguments[2] if index >= 0}
            return found if all(index < prod(shape) for index in found) else None
        start, count = call.arguments[2:4]
        if any(s + c > n for s, c, n in zip(start, count, shape, strict=True)):
            return None
        ranges = [range(s, s + c) for s, c in zip(start, count, strict=True)]
        strides = [prod(shape[d + 1 :]) for d in range(len(shape))]
        return {sum(map(mul, index, strides)) for index in product(*ranges)}

    def _may_put(self, call: Call) -> bool:
        elements = self._elements(call)
        taken = self.taken.get(call.arguments[0], set())
        return elements is not None and taken.isdisjoint(elements)

    def may(self, call: Call) -> bool:
        """Return True if the call is a correct one, after those that are there."""
        file = self.file
        variable = call.named.get("variable")
        if call.method in (*PUTS, "set_shape", "set_fill"):
            variable = call.arguments[0]
        if variable not in (None, "-") and variable not in file.variables:
            return False
        if call.method in PUTS:
            return self._may_put(call)
        if call.method in ("define", "set_shape", "attribute", "text", "set_fill"):
            return not file.is_step_begun
        if call.method == "wait_step":
            return bool(call.arguments[0] < file.step)
        if call.method == "wait" and file.is_step_begun and call.arguments[0] != "handed_over":
            return file.script.writes_at_once and not file.has_file_per_step
        return True

    def make(self, call: Call) -> None:
        """Make the call."""
        getattr(self.file, call.method)(*call.arguments, **call.named)
        if call.method in PUTS:
            self.taken.setdefault(call.arguments[0], set()).update(self._elements(call) or ())
        elif call.method == "end_step":
            self.taken.clear()


def replay(calls: Sequence[Call], like: RecordedScript) -> RecordedScript:
    """Return the script that these calls make; those that have become mistakes are left out."""
    script = RecordedScript(*like.made_with)
    files: dict[int, _Replay] = {}
    for call in calls:
        if call.file is None:
            getattr(script, call.method)(*call.arguments, **call.named)
        elif call.method == "open":
            files[call.file] = _Replay(script.open(*call.arguments, **call.named))
        elif call.file in files and files[call.file].may(call):
            files[call.file].make(call)
            if call.method == "close":
                del files[call.file]
    for left_open in files.values():
        left_open.file.leave()
    return script


def _without(calls: Sequence[Call], at: int, count: int) -> list[Call]:
    return [*calls[:at], *calls[at + count :]]


def shrink(
    script: RecordedScript, fails: Callable[[RecordedScript], bool], seconds: float
) -> RecordedScript:
    """Return a script that still fails, from which no single call can be left out.

    Args:
        script: The script that fails.
        fails: Tells whether another one does.
        seconds: After which the smallest that was found so far is returned.
    """
    end = time.monotonic() + seconds
    smallest = script

    def try_calls(calls: list[Call]) -> bool:
        nonlocal smallest
        candidate = replay(calls, script)
        is_smaller = 0 < len(candidate.calls) < len(smallest.calls)  # without calls it is no script
        if not is_smaller or time.monotonic() > end:
            return False
        if fails(candidate):
            smallest = candidate
            return True
        return False

    for number in sorted({call.file for call in smallest.calls if call.file is not None}):
        # Numbers are given anew, so after a success the next file has this one.
        while any(call.file == number for call in smallest.calls) and try_calls(
            [call for call in smallest.calls if call.file != number]
        ):
            pass
    size = max(1, len(smallest.calls) // 2)
    while time.monotonic() < end:
        at = len(smallest.calls)
        before = len(smallest.calls)
        while at > 0:  # from the end: what comes first makes possible what comes later
            at = max(0, min(at, len(smallest.calls)) - size)
            try_calls(_without(smallest.calls, at, size))
        if size == 1 and len(smallest.calls) == before:
            break
        size = max(1, size // 2)
    return smallest
