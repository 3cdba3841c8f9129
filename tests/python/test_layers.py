# SPDX-License-Identifier: BSD-3-Clause
from pathlib import Path

import pytest
from check_layers import BY_PATH, NAMES_HANDED_IN, calls_by_path, violations

ROOT = Path(__file__).resolve().parents[2]

PLANTED = [
    "const Descriptor file{::open(path.c_str(), O_RDONLY)};",
    "const int file = open(name.c_str(), flags);",
    "return retried([&] { return ::open(path, O_WRONLY); });",
    "int fd = openat(AT_FDCWD, name, 0);",
    "const int fd = open(\n    name,\n    O_RDWR);",
    "FILE* file = std::fopen(path, mode);",
    "if (::stat(path.c_str(), &status) == 0) {",
    "(void)lstat(names.target.text().c_str(), &status);",
    'stat("/proc/self/ns/pid", &status);',
    "::rename(from, to);",
    "std::rename(from, to);",
    "::renameat2(AT_FDCWD, from, AT_FDCWD, to, 0);",
    "::unlink(path);",
    "unlink(path.c_str());",
    "(void)::mkdir(path, 0777);",
    "::truncate(path.c_str(), 0);",
    "const auto listed = ::opendir(folder);",
    "::statfs(folder.c_str(), &found);",
    "std::filesystem::remove_all(path);",
    "#include <filesystem>",
    "std::ifstream file{path};",
    "std::ofstream{path} << text;",
    "H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);",
    "nc_open(path_.c_str(), NC_NOWRITE, &file_);",
    "MPI_File_open(comm, path.c_str(), mode, info, &file);",
    "engine_ = io_.Open(path_, adios2::Mode::Read);",
]
ALLOWED = [
    "file_ = path.folder().open(path.name(), O_RDONLY, OpenFolder::Links::followed);",
    "void Lead::open(const protocol::Open& open) {",
    "  void open(OpenedFile& opened, MPI_Comm comm, bool synchronous);",
    "  [[nodiscard]] int rename(const std::string& from, const std::string& to) const;",
    "writer->file().open();",
    "(void)names.folder().unlink(names.name());",
    "lead->open(open);",
    "::fstat(file.raw(), &status);",
    "::close(file);",
    "// ::unlink(path) would follow it",
    'throw Error{code, "cannot open (" + path + ")"};',
    "H5Fopen(name_of(file_).c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);",
    "MPI_File_open(writers, name_of(plain_).c_str(), mode, info, &file_);",
    "remove(step.step);",
    "std::remove_copy_if(first, last, to, is_lost);",
    "const char* link = link_of(name);",
]


def planted(folder: Path, text: str, place: str = "commit/planted.cpp") -> Path:
    (folder / place).parent.mkdir(parents=True)
    (folder / place).write_text(f"void f() {{\n{text}\n}}\n")
    return folder


@pytest.mark.parametrize("text", PLANTED)
def test_a_call_by_a_path_is_refused(tmp_path: Path, text: str) -> None:
    found = calls_by_path(planted(tmp_path, text))
    assert len(found) >= 1, text
    assert "planted.cpp:" in found[0]


@pytest.mark.parametrize("text", ALLOWED)
def test_what_an_open_folder_does_is_not(tmp_path: Path, text: str) -> None:
    assert calls_by_path(planted(tmp_path, text)) == []


def test_some_files_may_use_paths(tmp_path: Path) -> None:
    place = "base/open_folder.cpp"
    assert calls_by_path(planted(tmp_path, "::open(path, O_RDONLY);", place)) == []


def test_the_files_that_may_are_there() -> None:
    for place in [*BY_PATH, *NAMES_HANDED_IN]:
        assert (ROOT / "src" / place).is_file(), place


def test_a_forbidden_arrow_is_refused(tmp_path: Path) -> None:
    assert violations(planted(tmp_path, '#include "client/file.h"', "base/planted.cpp"))
    assert not calls_by_path(ROOT / "src")
    assert not violations(ROOT / "src")
