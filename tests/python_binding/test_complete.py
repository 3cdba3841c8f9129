# SPDX-License-Identifier: BSD-3-Clause
"""The package against iocomp.h, and against those who check Python."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, Launcher

from iocomp import errors, session
from iocomp.arrays import TYPES
from iocomp.library import CALLS, READER_CALLS, __version__

PACKAGE = ROOT / "bindings/python/iocomp"


def header(path: str) -> str:
    """Return a header without its comments."""
    return re.sub(r"/\*.*?\*/", "", (ROOT / path).read_text(), flags=re.S)


HEADER = header("include/iocomp/iocomp.h")
LETTERS = {
    "int": "i",
    "int64_t": "l",
    "size_t": "z",
    "double": "d",
    "MPI_Comm": "c",
    "iocomp_kind": "i",
    "iocomp_type": "i",
    "iocomp_state": "i",
    "iocomp_rank_role": "i",
}


def letter_of(declared: str) -> str:
    """Return the letter of a result or an argument."""
    words = declared.replace("const ", "").strip()
    if words.count("*") == 1 and words.startswith("char"):
        return "s"
    return "p" if "*" in words else LETTERS[words.split()[0]]


def declared_calls(text: str, begins: str) -> dict[str, str]:
    pattern = rf"{begins}([^;()#]*?)(iocomp_\w+)\(([^)]*)\);"
    found = {}
    for result, name, arguments in re.findall(pattern, text, re.M):
        each = [] if arguments.strip() == "void" else arguments.split(",")
        gives = "" if result.strip() == "void" else letter_of(result)
        found[name] = f"{gives}:{''.join(map(letter_of, each))}"
    return found


def test_every_call_of_the_headers_is_there_with_its_types() -> None:
    assert declared_calls(HEADER, r"IOCOMP_EXPORT\s+") == CALLS
    assert declared_calls(header("src/reader/reader.h"), "^") == READER_CALLS


def test_every_call_has_a_counterpart() -> None:
    text = "".join(path.read_text() for path in PACKAGE.glob("*.py"))
    unused = []
    for call in CALLS:
        name = call.removeprefix("iocomp_")
        if not re.search(rf"(lib|library\(\)|self)\.{name}\b(?! =)|[(\"]\"?{name}\"", text):
            unused.append(call)
    assert unused == [
        "iocomp_define",  # File.define takes all that can be said of one variable
        "iocomp_type_size",  # numpy's itemsize: programs.py compares them
    ]
    for call in READER_CALLS:
        assert re.search(rf"(library|self)\.{call.removeprefix('iocomp_reader_')}\(", text), call


def test_numbers_are_those_of_the_header() -> None:
    values = {name: int(number) for name, number in re.findall(r"IOCOMP_(\w+)\s*=\s*(\d+)", HEADER)}
    names = {
        "INVALID_ARGUMENT": errors.InvalidArgumentError,
        "OUT_OF_STAGING": errors.OutOfStagingError,
        "STORAGE_FAILURE": errors.StorageError,
        "MPI_FAILURE": errors.MpiError,
        "INVALID_SETTING": errors.InvalidSettingError,
        "TARGET_EXISTS": errors.TargetExistsError,
        "INCONSISTENT_CALLS": errors.InconsistentCallsError,
        "TIMED_OUT": errors.TimedOutError,
        "UNSUPPORTED": errors.UnsupportedError,
        "NOT_FOUND": errors.NotFoundError,
        "OVERLAPPING_PUTS": errors.OverlappingPutsError,
        "INTERNAL": errors.Error,
    }
    assert {name: kind.code for name, kind in names.items()}.items() <= values.items()
    codes = re.search(r"typedef enum iocomp_code \{(.*?)\}", HEADER, re.S)
    assert codes is not None
    assert set(re.findall(r"IOCOMP_(\w+)", codes[1])) == {*names, "OK"}
    assert {each.name: each.value for each in session.Role}.items() <= values.items()
    for known in (session._KINDS, session._STATES):
        assert {name.upper(): value for name, value in known.items()}.items() <= values.items()
    types = {"CHAR" if t.kind == "S" else str(t).upper(): n for t, n in TYPES.items()}
    assert types.items() <= values.items() and len(types) == 14
    assert values["COMPUTE"] == 1


def test_the_version_is_that_of_the_library() -> None:
    project = (ROOT / "CMakeLists.txt").read_text()
    found = re.search(r"\bVERSION (\d+\.\d+\.\d+)", project)
    assert found is not None and found[1] == __version__


@pytest.mark.parametrize("words", [["check"], ["format", "--check"]])
def test_ruff_finds_nothing(words: list[str]) -> None:
    known = shutil.which("ruff")
    command = [known] if known else [sys.executable, "-m", "ruff"]
    if subprocess.run([*command, "--version"], capture_output=True, check=False).returncode:
        pytest.skip("ruff is not there")
    done = subprocess.run(
        [*command, *words, "--no-cache", ROOT / "bindings", ROOT / "examples/python"],
        cwd=PACKAGE.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


WITHOUT = """
import iocomp
try:
    iocomp.Session()
except iocomp.UnsupportedError as error:
    print("told:", error)
"""


def test_a_library_that_does_not_fit_is_told(launch: Launcher, tmp_path: Path) -> None:
    def told(library: str) -> str:
        done = launch.run("-c", WITHOUT, ranks=1, LIBRARY=library)
        assert done.stdout.startswith("told:"), done.stdout
        return done.stdout

    assert "set IOCOMP_LIBRARY" in told(str(tmp_path / "nowhere.so"))
    older = tmp_path / "libiocomp.so.0.0.9"
    shutil.copy(launch.library, older)
    assert "is of release 0.0 of iocomp, this package is of" in told(str(older))
    assert f"lacks {len(CALLS)} calls, such as iocomp_init" in told("libm.so.6")


def test_the_library_of_the_own_prefix_is_found(launch: Launcher, tmp_path: Path) -> None:
    site = tmp_path / "prefix/lib/python3/site-packages"
    shutil.copytree(PACKAGE, site / "iocomp")
    (tmp_path / "prefix/lib/libiocomp.so.0").symlink_to(launch.library)
    code = (
        "import iocomp.library as l; print(l.library()._library._name, l.library().type_size(11))"
    )
    environment = launch.environment({}) | {"PYTHONPATH": str(site)}
    del environment["IOCOMP_LIBRARY"]
    done = subprocess.run(
        [*launch.build.launcher, "1", sys.executable, "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == [str(tmp_path / "prefix/lib/libiocomp.so.0"), "8"]


def test_without_mpi4py_it_reads_and_says_what_writing_needs(tmp_path: Path) -> None:
    code = f"import sys\nsys.modules['mpi4py'] = None\n{WITHOUT}\nprint(iocomp.open_files)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": str(PACKAGE.parent)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "told: writing needs mpi4py" in done.stdout and "open_files" in done.stdout
    assert np.__name__ == "numpy"
