# SPDX-License-Identifier: BSD-3-Clause
"""Spack's recipe, for Spack 1: a folder iocomp/ of a repository of packages gets a link to this file.

The sources are those of the checkout that the link leads into. For a repository of others, name the
place of yours in `git`, and of its page in `homepage`.
"""

from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Iocomp(CMakePackage):
    """Parallel output of MPI programs: written by the kernel or by servers that sleep, while the program computes."""

    git = Path(__file__).resolve().parents[2].as_uri()
    license("BSD-3-Clause")

    version("main", branch="main")
    version("0.3.0", tag="v0.3.0")

    variant("tools", default=True, description="Build the command iocomp")
    variant("fortran", default=True, description="Build the module for Fortran")
    variant("hdf5", default=True, description="Write and read HDF5")
    variant("netcdf", default=True, when="+hdf5", description="Write and read netCDF-4 and CDF-5")
    variant("adios2", default=False, description="Write and read ADIOS2")
    variant("uring", default=True, description="Ask the kernel for writes by io_uring")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("tomlplusplus", type="build")
    depends_on("cli11", type="build", when="+tools")
    depends_on("python@3.9:", type=("build", "run"), when="+tools")
    depends_on("xxhash@0.8:")
    depends_on("fmt@9:")
    depends_on("mpi@3.1:")
    depends_on("hwloc@2:")
    depends_on("liburing@2.3:", when="+uring")
    depends_on("hdf5@1.10.3:", when="+hdf5")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("netcdf-c", when="+netcdf")
    depends_on("adios2@2.9: +mpi", when="+adios2")

    conflicts("%gcc@:11", msg="iocomp is C++20")
    conflicts("platform=darwin", msg="iocomp waits on futexes, which Linux has")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define_from_variant("IOCOMP_TOOLS", "tools"),
            self.define("IOCOMP_BUILD_TESTS", False),
            self.define("IOCOMP_BUILD_APPS", False),
            self.define_from_variant("IOCOMP_WITH_FORTRAN", "fortran"),
            self.define_from_variant("IOCOMP_WITH_HDF5", "hdf5"),
            self.define_from_variant("IOCOMP_WITH_NETCDF", "netcdf"),
            self.define_from_variant("IOCOMP_WITH_PNETCDF", "netcdf"),
            self.define_from_variant("IOCOMP_WITH_ADIOS2", "adios2"),
            self.define("MPI_C_COMPILER", self.spec["mpi"].mpicc),
            self.define("MPI_CXX_COMPILER", self.spec["mpi"].mpicxx),
        ]
