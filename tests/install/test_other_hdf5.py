# SPDX-License-Identifier: BSD-3-Clause
"""Programs that have another HDF5 than the modules of iocomp: the wheel of h5py brings one.

The wheel is fetched by tools/install-wheel h5py. Without it these tests are skipped; with
IOCOMP_TEST_NEED_H5PY=1 they fail.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WHEEL = Path(os.environ.get("IOCOMP_H5PY", ROOT / "build" / "h5py"))
BUILD = json.loads(Path(os.environ["IOCOMP_TEST_BUILD"]).read_text())

if BUILD["mpi"] != "openmpi":
    pytest.skip("Debian's mpi4py is for Open MPI", allow_module_level=True)
pytest.importorskip("mpi4py")
if not (WHEEL / "iocomp-installed").exists():
    missing = f"the wheel of h5py is not in {WHEEL}: tools/install-wheel h5py fetches it"
    if os.environ.get("IOCOMP_TEST_NEED_H5PY") == "1":
        pytest.fail(missing, pytrace=False)
    pytest.skip(missing, allow_module_level=True)

OTHER_MALLOC = """
#include <stddef.h>
void *__libc_malloc(size_t bytes);
void *malloc(size_t bytes) { return __libc_malloc(bytes); }
"""


def launch(folder: Path, backend: str, visible: str, **more: str) -> subprocess.CompletedProcess:
    """Run other_hdf5.py on two ranks."""
    environment = {
        **os.environ,
        "PYTHONPATH": f"{WHEEL}:{ROOT / 'bindings' / 'python'}",
        "IOCOMP_LIBRARY": str(Path(BUILD["modules"]).parent / "libiocomp.so"),
        "IOCOMP_FILES_BACKEND": backend,
        **more,
    }
    return subprocess.run(
        [*BUILD["launcher"], "2", sys.executable, str(HERE / "other_hdf5.py"), visible],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("visible", ["local", "global"])
@pytest.mark.parametrize(("backend", "name"), [("hdf5", "fields.h5"), ("netcdf", "fields.nc")])
def test_the_modules_keep_their_own_hdf5(tmp_path, backend, name, visible):
    done = launch(tmp_path, backend, visible)
    assert done.returncode == 0, done.stderr
    assert f"HDF5 of the program: {h5py.version.hdf5_version}" not in done.stdout, "both are one"
    with h5py.File(tmp_path / name) as file:
        values = file["0/u"][:] if backend == "hdf5" else file["u"][0]
    assert np.array_equal(values, np.arange(200.0))


def test_a_malloc_of_the_programs_own_is_refused_beside_it(tmp_path):
    (tmp_path / "other_malloc.c").write_text(OTHER_MALLOC)
    library = tmp_path / "other_malloc.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", tmp_path / "other_malloc.c", "-o", library], check=True
    )
    done = launch(tmp_path, "hdf5", "global", LD_PRELOAD=str(library))
    assert done.returncode != 0
    assert "libhdf5" in done.stderr and f"its malloc comes from {library}" in done.stderr
    alone = launch(tmp_path, "hdf5", "local", LD_PRELOAD=str(library))
    assert alone.returncode == 0, alone.stderr
