# SPDX-License-Identifier: BSD-3-Clause
import subprocess
import sys
from pathlib import Path

import pytest

from iocomp_studies.work_directory import (
    NotEnoughSpaceError,
    empty,
    file_system_type,
    work_directory,
)

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that counts as one on a disk, wherever the tests run."""
    monkeypatch.setattr("iocomp_studies.work_directory.file_system_type", lambda _: "ext4")
    return tmp_path


def test_a_work_directory_is_gone_afterwards(on_disk: Path) -> None:
    with work_directory(on_disk / "new", 1) as directory:
        (directory / "file").write_text("x")
    assert list((on_disk / "new").iterdir()) == []


def test_too_little_space_is_told_before_anything_is_written(on_disk: Path) -> None:
    with (
        pytest.raises(NotEnoughSpaceError, match=r"GiB are needed"),
        work_directory(on_disk, 1 << 60),
    ):
        pass


def test_a_directory_in_memory_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iocomp_studies.work_directory.file_system_type", lambda _: "tmpfs")
    with pytest.raises(NotEnoughSpaceError, match="lies in memory"), work_directory(tmp_path, 1):
        pass


@pytest.mark.parametrize("name", ["in memory", "tab\tand\nline", "back\\slash", "\udce4"])
def test_a_file_system_is_found_whatever_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    mount = str(tmp_path / name)
    for sign in ("\\", " ", "\t", "\n"):
        mount = mount.replace(sign, f"\\{ord(sign):03o}")
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/a / ext4 rw 0 0\ntmpfs {mount} tmpfs rw 0 0\n", errors="surrogateescape")
    monkeypatch.setattr("iocomp_studies.work_directory.MOUNTS", mounts)
    assert file_system_type(tmp_path / name / "deeper") == "tmpfs"
    assert file_system_type(tmp_path) == "ext4"


def test_a_terminated_program_leaves_no_files(tmp_path: Path) -> None:
    program = f"""
import sys, time
sys.path.insert(0, {str(ROOT / "studies")!r})
from pathlib import Path
import iocomp_studies.work_directory as w
w.file_system_type = lambda _: "ext4"
w.end_tidily_when_terminated()
with w.work_directory(Path({str(tmp_path)!r}), 1):
    print("ready", flush=True)
    time.sleep(60)
"""
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        child.terminate()
        assert child.wait() == 143
    assert list(tmp_path.iterdir()) == []


def test_emptying_removes_folders_too(tmp_path: Path) -> None:
    (tmp_path / "folder" / "deeper").mkdir(parents=True)
    (tmp_path / "file").touch()
    empty(tmp_path)
    assert list(tmp_path.iterdir()) == []
