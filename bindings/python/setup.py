# SPDX-License-Identifier: BSD-3-Clause
"""Builds the library that reads, without MPI, by CMake, and puts it into the wheel.

CMAKE_ARGS has options for CMake. With IOCOMP_WITHOUT_READER=1 the wheel is a pure one: the library
is looked for in the prefix of an installed iocomp then.
"""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent
IS_PURE = os.environ.get("IOCOMP_WITHOUT_READER") == "1"


def repository() -> Path:
    """Return the sources of the library: IOCOMP_SOURCE, or those around this file."""
    given = os.environ.get("IOCOMP_SOURCE")
    found = Path(given) if given else HERE.parents[1]
    if not (found / "src/reader/reader.h").exists():
        raise SystemExit(
            f"there are no sources of iocomp in {found}: build this package in the repository, "
            "set IOCOMP_SOURCE to it, or IOCOMP_WITHOUT_READER=1 to use an installed iocomp"
        )
    return found


class BuildWithReader(build_py):
    """Builds the package, and the library beside it."""

    def run(self) -> None:
        """Build both."""
        super().run()
        if IS_PURE or self.editable_mode:
            return
        folder = Path(self.get_finalized_command("build").build_temp).resolve() / "reader"
        package = Path(self.build_lib).resolve() / "iocomp"
        options = [
            "-DIOCOMP_READER_ONLY=ON",
            "-DCMAKE_BUILD_TYPE=Release",
            f"-DCMAKE_INSTALL_PREFIX={package}",
            "-DCMAKE_INSTALL_LIBDIR=lib",
            *shlex.split(os.environ.get("CMAKE_ARGS", "")),
        ]
        for words in (
            ["cmake", "-S", str(repository()), "-B", str(folder), *options],
            ["cmake", "--build", str(folder), "--parallel", str(os.cpu_count() or 1)],
            ["cmake", "--install", str(folder), "--strip"],
        ):
            try:
                subprocess.run(words, check=True)
            except (OSError, subprocess.CalledProcessError) as error:
                raise SystemExit(
                    f"the library that reads was not built: {error}. It needs CMake, a compiler "
                    "for C++20, fmt, nlohmann-json and xxHash, and HDF5 and netCDF for their "
                    "formats. With IOCOMP_WITHOUT_READER=1 the package takes the library of an "
                    "installed iocomp"
                ) from None


class WheelForAnyPython(bdist_wheel):
    """A wheel for every Python of this platform: the library knows nothing of Python."""

    def get_tag(self) -> tuple[str, str, str]:
        """Return the tag of the platform alone."""
        python, abi, platform = super().get_tag()
        return (python, abi, platform) if IS_PURE else ("py3", "none", platform)


class WithLibrary(Distribution):
    """A distribution that contains a library of this platform, unless it is pure."""

    def has_ext_modules(self) -> bool:
        """Return whether it has."""
        return not IS_PURE


setup(
    distclass=WithLibrary,
    cmdclass={"build_py": BuildWithReader, "bdist_wheel": WheelForAnyPython},
)
