# SPDX-License-Identifier: BSD-3-Clause
"""Programs in Python under the launcher."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
for folder in (
    HERE.parent / "actor",
    HERE.parent / "system",
    ROOT / "studies",
    ROOT / "bindings/python",
):
    sys.path.insert(0, str(folder))

from actors import Build, read_build  # noqa: E402
from company import Companies, write_order  # noqa: E402
from processes import environment_without_iocomp  # noqa: E402

MODES = {
    "kernel": {"MODE": "async", "PLACEMENT_SERVERS": "none"},
    "sync": {"MODE": "sync"},
    "shared": {"PLACEMENT_SERVERS": "1-per-1", "TRANSPORT_KIND": "shared"},
    "message": {"PLACEMENT_SERVERS": "1-per-1", "TRANSPORT_KIND": "message"},
}


@dataclass
class Launcher:
    """Starts Python on some ranks, in a folder of its own."""

    build: Build
    folder: Path
    companies: Companies | None = None

    @property
    def library(self) -> Path:
        if self.build.has_fresh_threads:
            return Path(self.build.fresh_calls)
        return Path(self.build.modules).parent / "libiocomp.so"

    def environment(self, settings: dict[str, str]) -> dict[str, str]:
        quick = {"WAIT_DEADLINE": "30", "TRACE_LINES": "none"}
        iocomp = {f"IOCOMP_{name}": text for name, text in (quick | settings).items()}
        paths = {"PYTHONPATH": str(ROOT / "bindings/python"), "IOCOMP_LIBRARY": str(self.library)}
        return environment_without_iocomp() | paths | iocomp

    def run(
        self, *words: str, ranks: int, status: int = 0, seconds: int = 60, **settings: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a program; `settings` are variables without IOCOMP_."""
        command = [*self.build.launcher, str(ranks), sys.executable, "-m", "mpi4py", *words]
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=self.environment(settings),
            capture_output=True,
            text=True,
            timeout=seconds * self.build.time_factor,
            check=False,
        )
        print(shlex.join(command), settings, done.stdout, done.stderr, sep="\n")
        assert done.returncode == status, f"status {done.returncode}"
        return done

    def play(self, name: str, *words: str, ranks: int, alone: bool = False, **settings: str) -> str:
        """Run a function of programs.py on all ranks; return what was printed.

        Programs share launches, since starting Python takes longer than most of them, unless
        `alone`: it changes its processes, or is about how servers leave. IOCOMP_TEST_ALONE=1 gives
        each its own.
        """
        if alone or self.companies is None or os.environ.get("IOCOMP_TEST_ALONE") == "1":
            done = self.run(str(HERE / "programs.py"), name, *words, ranks=ranks, **settings)
            return done.stdout + done.stderr
        journals = self.folder / f".{name}"
        journals.mkdir()
        environment = self.environment(settings | {"SERVER_END": "return"})
        own = {key: text for key, text in environment.items() if key.startswith("IOCOMP_")}
        order = journals / "order"
        write_order(order, shlex.join([name, *words]), journals, self.folder, own)
        company = self.companies.of(ranks)
        status = company.play(order, 60 * self.build.time_factor)
        texts = [(journals / each).read_text(errors="replace") for each in ("stdout", "stderr")]
        print(shlex.join(company.command), name, *words, settings, *texts, sep="\n")
        if status != 0:
            print(company.log())
            self.companies.forget(company)
            company.end(self.folder)
        assert status == 0, "it hangs" if status is None else f"status {status}"
        return "".join(texts)


@pytest.fixture(scope="session")
def build() -> Build:
    """Return what CMake told; skip where this Python has no mpi4py for its MPI."""
    found = read_build()
    if found.mpi != "openmpi":
        pytest.skip(f"mpi4py of Debian is for Open MPI, and this build for {found.mpi}")
    done = subprocess.run([sys.executable, "-c", "import mpi4py"], check=False, capture_output=True)
    if done.returncode != 0:
        if os.environ.get("IOCOMP_TEST_NEED_MPI4PY") == "1":
            pytest.fail("mpi4py is not there")
        pytest.skip("mpi4py is not there")
    return found


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder into which pip has installed the package, without network."""
    site = tmp_path_factory.mktemp("site")
    source = tmp_path_factory.mktemp("source") / "python"
    shutil.copytree(ROOT / "bindings/python", source)  # setuptools builds in place
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation"]
    done = subprocess.run(
        [*pip, "--no-deps", "--target", site, source],
        # It builds the library that reads, quickly.
        env=os.environ
        | {
            "IOCOMP_SOURCE": str(ROOT),
            "CMAKE_ARGS": "-DIOCOMP_WITH_ADIOS2=OFF -DCMAKE_CXX_FLAGS_RELEASE=-O0",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    if "No module named" in done.stderr:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return site


@pytest.fixture(scope="session")
def companies(build: Build, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Companies]:
    """Return launches for programs that may share one."""
    program = [sys.executable, "-m", "mpi4py", str(HERE / "programs.py")]
    words = ["env", f"PYTHONPATH={ROOT / 'bindings/python'}", *program]
    all_of_them = Companies(build.launcher, words, tmp_path_factory.mktemp("companies"))
    yield all_of_them
    all_of_them.dismiss()


@pytest.fixture
def launch(build: Build, companies: Companies, tmp_path: Path) -> Launcher:
    """Return what starts programs in a new folder."""
    return Launcher(build, tmp_path, companies)


Play = Callable[..., str]


@pytest.fixture
def play(launch: Launcher) -> Play:
    """Return what runs a function of programs.py."""
    return launch.play
