# SPDX-License-Identifier: BSD-3-Clause
"""Recipes that cannot be tried where there is no Spack and no conda: what they name is there, and they agree.

With IOCOMP_TEST_DEBIAN=1, as root on Debian: the packages are built, installed, used and removed.
"""

import ast
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CMAKE = "\n".join(
    path.read_text()
    for path in [ROOT / "CMakeLists.txt", *ROOT.glob("cmake/*.cmake"), ROOT / "src/formats/CMakeLists.txt"]
)
SPACK = (ROOT / "packaging/spack/package.py").read_text()
CONDA = (ROOT / "packaging/conda/recipe.yaml").read_text()
RULES = (ROOT / "packaging/debian/rules").read_text()


def version() -> str:
    return re.search(r"^  VERSION ([\d.]+)$", CMAKE, re.MULTILINE)[1]


def test_the_recipe_of_spack_is_python_with_one_package():
    classes = [node for node in ast.parse(SPACK).body if isinstance(node, ast.ClassDef)]
    assert [each.name for each in classes] == ["Iocomp"]


def test_the_recipe_of_conda_is_yaml():
    yaml = pytest.importorskip("yaml")
    recipe = yaml.safe_load(CONDA)
    assert recipe["package"]["name"] == "iocomp"
    assert set(recipe["requirements"]) == {"build", "host", "run"}


@pytest.mark.parametrize("recipe", [SPACK, CONDA, RULES])
def test_recipes_use_options_that_there_are(recipe):
    options = set(re.findall(r"IOCOMP_[A-Z0-9_]+", recipe))
    assert options
    for option in options:
        assert re.search(rf"(option\(|set\(\s*){option}\b", CMAKE), option


def test_all_say_the_same_version():
    assert f'version("{version()}"' in SPACK
    assert f'version: "{version()}"' in CONDA
    library = (ROOT / "bindings/python/iocomp/library.py").read_text()
    assert f'__version__ = "{version()}"' in library
    assert f"## {version()}" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.skipif(os.environ.get("IOCOMP_TEST_DEBIAN") != "1", reason="IOCOMP_TEST_DEBIAN is not 1")
def test_the_debian_packages_serve_a_user(tmp_path):
    def run(*words: object, **more: str) -> str:
        done = subprocess.run(
            [str(word) for word in words],
            cwd=tmp_path, capture_output=True, text=True, check=False, env={**os.environ, **more},
        )  # fmt: skip
        assert done.returncode == 0, f"{words}: {done.stdout[-3000:]} {done.stderr[-3000:]}"
        return done.stdout

    assert shutil.which("iocomp") is None, "another iocomp is installed"
    run(ROOT / "packaging/build-deb", tmp_path)
    packages = ["libiocomp0", "libiocomp-formats", "libiocomp-dev", "iocomp-tools"]
    try:
        run("dpkg", "--install", *(next(tmp_path.glob(f"{name}_*.deb")) for name in packages))
        assert run("iocomp", "--version").strip().endswith(version())
        found = re.findall(r"^back-end (\w+) +found", run("iocomp", "info"), re.MULTILINE)
        assert found == ["hdf5", "mpiio", "netcdf", "pnetcdf", "posix"]
        source = ROOT / "tests/install/user"
        run("cmake", "-S", source, "-B", "user")
        run("cmake", "--build", "user")
        launch = ["mpirun.openmpi", "--oversubscribe", "-n", "2", tmp_path / "user/numbers_c"]
        run(*launch, IOCOMP_PLACEMENT_RATIO="1", IOCOMP_FILES_BACKEND="hdf5")
        assert "499" in run("h5dump", "-d", "/0/numbers", "numbers.h5")
    finally:
        subprocess.run(["dpkg", "--purge", *reversed(packages)], check=False, capture_output=True)
    assert shutil.which("iocomp") is None
