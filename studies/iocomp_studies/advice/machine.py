# SPDX-License-Identifier: BSD-3-Clause
"""Measure a machine for some seconds: where there is no study of it, the model starts from that."""

from __future__ import annotations

import math
import mmap
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from iocomp_studies.advice.model import Model
from iocomp_studies.advice.work import GIB

REQUESTS = (64 << 10, 1 << 20, 8 << 20)
_FILE_BYTES = 128 << 20
_COPY_BYTES = 64 << 20
_SMALL_BYTES = 4096
_TRIES = 5
_FLUSHES_OF_COMMIT = 3
"""A step is durable after its data, its manifest, and the directory."""


@dataclass(frozen=True)
class Machine:
    """The measured speeds of a machine; each is the median of some tries.

    Attributes:
        copy: Bytes per second of one core's copy in memory.
        write: Bytes per second of one writer until durable, by bytes of a request.
        write_by_two: The same of two writers together, in the largest requests.
        flush_seconds: The time from an append of 4 KiB until it is durable.
        wake_up_seconds: The time from the wake-up of a sleeping thread until it runs.
        is_direct: True if files were written with O_DIRECT.
    """

    copy: float
    write: dict[int, float]
    write_by_two: float
    flush_seconds: float
    wake_up_seconds: float
    is_direct: bool

    def model(self, backends: Sequence[str]) -> Model:
        """Return a model that starts from what was measured."""
        one = self.write[REQUESTS[-1]]
        more = min(max(math.log2(self.write_by_two / one), 0.01), 1.0)
        values = {"copy.shared": self.copy, "copy.message": self.copy / 2}
        for backend in backends:
            values |= {
                f"bandwidth.{backend}": one,
                f"writers.{backend}": more,
                f"commit.{backend}": _FLUSHES_OF_COMMIT * self.flush_seconds,
            }
        return Model(values)

    def text(self) -> str:
        """Return it as a line for people."""
        by_size = ", ".join(
            f"{rate / GIB:.2f} in requests of {size >> 10} KiB" for size, rate in self.write.items()
        )
        return (
            f"copy {self.copy / GIB:.1f} GiB/s; a file until durable, GiB/s: {by_size}, "
            f"{self.write_by_two / GIB:.2f} by two writers{'' if self.is_direct else ' (cached)'}; "
            f"flush of 4 KiB {1e3 * self.flush_seconds:.2f} ms; "
            f"wake-up {1e6 * self.wake_up_seconds:.0f} µs"
        )


def _seconds(body: Callable[[], object]) -> float:
    begin = time.monotonic()
    body()
    return time.monotonic() - begin


def _open(path: Path, direct: bool) -> int:
    return os.open(path, os.O_CREAT | os.O_WRONLY | (os.O_DIRECT if direct else 0), 0o600)


def _write_file(path: Path, request: int, direct: bool) -> None:
    with mmap.mmap(-1, request) as page:  # aligned as O_DIRECT needs it
        page.write(b"\1" * request)
        file = _open(path, direct)
        try:
            for offset in range(0, _FILE_BYTES, request):
                os.pwrite(file, page, offset)
            os.fsync(file)
        finally:
            os.close(file)
            path.unlink()


def _takes_direct(folder: Path) -> bool:
    path = folder / "direct"
    try:
        with mmap.mmap(-1, _SMALL_BYTES) as page:
            file = _open(path, True)
            try:
                os.pwrite(file, page, 0)
            finally:
                os.close(file)
    except OSError:
        return False
    return True


def _flush_seconds(folder: Path) -> float:
    file = _open(folder / "small", False)
    try:

        def append() -> None:
            os.write(file, b"\1" * _SMALL_BYTES)
            os.fsync(file)

        return statistics.median(_seconds(append) for _ in range(4 * _TRIES))
    finally:
        os.close(file)


def _wake_up_seconds() -> float:
    """Return half of the time that two threads take to wake each other."""
    here, there = threading.Semaphore(0), threading.Semaphore(0)
    rounds = 200

    def answer() -> None:
        for _ in range(rounds):
            here.acquire()
            there.release()

    other = threading.Thread(target=answer)
    other.start()

    def ask() -> None:
        here.release()
        there.acquire()

    taken = [_seconds(ask) for _ in range(rounds)]
    other.join()
    return statistics.median(taken) / 2


def measure(directory: Path) -> Machine:
    """Measure memory, and the file system of a directory. Takes some seconds and 256 MiB there.

    Raises:
        OSError: If files cannot be written there.
    """
    source = np.ones(_COPY_BYTES, dtype=np.uint8)
    target = np.empty_like(source)
    copies = [_seconds(lambda: np.copyto(target, source)) for _ in range(_TRIES + 1)][1:]
    with tempfile.TemporaryDirectory(prefix="advise-", dir=directory) as name:
        folder = Path(name)
        direct = _takes_direct(folder)

        def write(names: Sequence[str], request: int) -> float:
            def one(file: str) -> None:
                _write_file(folder / file, request, direct)

            with ThreadPoolExecutor(len(names)) as writers:
                seconds = statistics.median(
                    _seconds(lambda: list(writers.map(one, names))) for _ in range(_TRIES)
                )
            return len(names) * _FILE_BYTES / seconds

        return Machine(
            _COPY_BYTES / statistics.median(copies),
            {request: write(("a",), request) for request in REQUESTS},
            write(("a", "b"), REQUESTS[-1]),
            _flush_seconds(folder),
            _wake_up_seconds(),
            direct,
        )
