# SPDX-License-Identifier: BSD-3-Clause
"""A directory on the real disk for what runs write; empty again after each."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MOUNTS = Path("/proc/mounts")
_MEMORY_FILE_SYSTEMS = {"tmpfs", "ramfs"}


class NotEnoughSpaceError(RuntimeError):
    """The disk has too little room; the text says how much is needed and where."""


def file_system_type(path: Path) -> str:
    """Return the type of the file system that holds `path`, such as "ext4"."""
    best, kind = "", "unknown"
    for line in MOUNTS.read_text(errors="surrogateescape").splitlines():
        _, name, type_, *_ = line.split(" ")
        mount = re.sub(r"\\([0-7]{3})", lambda code: chr(int(code[1], 8)), name)  # "\\040": a space
        inside = path == Path(mount) or Path(mount) in path.parents
        if inside and len(mount) >= len(best):
            best, kind = mount, type_
    return kind


def end_tidily_when_terminated() -> None:
    """Let SIGTERM end the program as an exception does, so that directories are removed."""
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))


@contextmanager
def work_directory(parent: Path, needed_bytes: int) -> Iterator[Path]:
    """Make a fresh directory below `parent` and remove it at the end.

    Raises:
        NotEnoughSpaceError: If `needed_bytes` are not free, or the files would lie in memory.
    """
    parent.mkdir(parents=True, exist_ok=True)
    free = shutil.disk_usage(parent).free
    if free < needed_bytes:
        raise NotEnoughSpaceError(
            f"{parent}: {free / 2**30:.1f} GiB are free, {needed_bytes / 2**30:.1f} GiB are needed"
        )
    kind = file_system_type(parent.resolve())
    if kind in _MEMORY_FILE_SYSTEMS:
        raise NotEnoughSpaceError(f"{parent} lies in memory ({kind}): choose a directory on a disk")
    directory = Path(tempfile.mkdtemp(prefix="work-", dir=parent))
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def empty(directory: Path) -> None:
    """Remove everything in a directory, and wait until the disk has done so.

    File systems that discard freed blocks do it later, in the middle of the next measurement.
    """
    for entry in directory.iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    os.sync()
