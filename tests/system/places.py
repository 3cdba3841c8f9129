# SPDX-License-Identifier: BSD-3-Clause
"""Places where writing fails: small and read-only file systems of the test's own."""

from __future__ import annotations

import os
import subprocess
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def _mount(*words: str) -> None:
    done = subprocess.run(["mount", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise unittest.SkipTest(f"mount is not possible here: {done.stderr.strip()}")


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """Give a file system of its own with so little room; skips the test where that is not allowed."""
    if os.geteuid() != 0:
        raise unittest.SkipTest("a small file system can be mounted by root only")
    folder.mkdir()
    _mount("-t", "tmpfs", "-o", f"size={size}", "iocomp-test", str(folder))
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def slow_disk(folder: Path, bytes_per_second: int) -> Iterator[list[str]]:
    """Give words before a command whose O_DIRECT writes to the disk of this folder are so slow.

    By a cgroup (version 1, blkio). Skips the test where there is no such thing.
    """
    groups = Path("/sys/fs/cgroup/blkio")
    group = groups / f"iocomp-test-{os.getpid()}"
    device = os.stat(folder).st_dev
    limit = f"{os.major(device)}:{os.minor(device)} {bytes_per_second}"
    try:
        group.mkdir()
    except OSError as error:
        raise unittest.SkipTest(f"no group of processes can be made in {groups}: {error}") from None
    try:
        try:
            (group / "blkio.throttle.write_bps_device").write_text(limit)
        except OSError as error:
            raise unittest.SkipTest(f"the disk of {folder} cannot be made slow: {error}") from None
        yield ["sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh"]
    finally:
        group.rmdir()


@contextmanager
def read_only_folder(folder: Path) -> Iterator[Path]:
    """Give a folder that nobody can write to, not even root."""
    if os.geteuid() != 0:
        folder.mkdir(mode=0o555)
        try:
            yield folder
        finally:
            folder.chmod(0o755)
        return
    with small_disk(folder, "1m"):
        _mount("-o", "remount,ro", str(folder))
        yield folder
