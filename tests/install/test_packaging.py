# SPDX-License-Identifier: BSD-3-Clause
"""Recipes that are not built here, as that needs Spack or conda's packages: what they name is there, and they agree.

Where there is py-rattler-build, the recipe of conda is rendered.

With IOCOMP_TEST_DEBIAN=1, as root on Debian: the packages are built, installed, used and removed. Where it is a
folder, those that packaging/build-deb has put there are taken.
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
(EASYBUILD,) = (each.read_text() for each in (ROOT / "packaging/easybuild").glob("*.eb"))


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


def test_the_recipe_of_conda_renders_once_for_each_mpi():
    rattler_build = pytest.importorskip("rattler_build")
    folder = ROOT / "packaging/conda"
    variants = rattler_build.VariantConfig.from_file(str(folder / "variants.yaml"))
    linux = rattler_build.RenderConfig(rattler_build.tool_config.PlatformConfig(target_platform="linux-64"))
    rendered = rattler_build.Stage0Recipe.from_file(str(folder / "recipe.yaml")).render(variants, linux)
    recipes = [each.recipe.to_dict() for each in rendered]
    assert sorted(each["requirements"]["run"][0] for each in recipes) == ["mpich", "openmpi"]
    assert len({each["build"]["string"] for each in recipes}) == len(recipes)


@pytest.mark.parametrize("recipe", [SPACK, CONDA, RULES, EASYBUILD])
def test_recipes_use_options_that_there_are(recipe):
    options = set(re.findall(r"IOCOMP_[A-Z0-9_]+", recipe))
    assert options
    for option in options:
        assert re.search(rf"(option\(|set\(\s*){option}\b", CMAKE), option


def test_all_say_the_same_version():
    assert f'version("{version()}"' in SPACK
    assert f'version: "{version()}"' in CONDA
    assert f"version = '{version()}'" in EASYBUILD
    assert f"\nversion: {version()}\n" in (ROOT / "CITATION.cff").read_text()
    library = (ROOT / "bindings/python/iocomp/library.py").read_text()
    assert f'__version__ = "{version()}"' in library
    assert f"## {version()}" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.skipif("IOCOMP_TEST_DEBIAN" not in os.environ, reason="IOCOMP_TEST_DEBIAN is not 1")
def test_the_debian_packages_serve_a_user(tmp_path):
    def run(*words: object, **more: str) -> str:
        done = subprocess.run(
            [str(word) for word in words],
            cwd=tmp_path, capture_output=True, text=True, check=False, env={**os.environ, **more},
        )  # fmt: skip
        assert done.returncode == 0, f"{words}: {done.stdout[-3000:]} {done.stderr[-3000:]}"
        return done.stdout

    assert shutil.which("iocomp") is None, "another iocomp is installed"
    folder = tmp_path
    if os.environ["IOCOMP_TEST_DEBIAN"] == "1":
        run(ROOT / "packaging/build-deb", folder)
    else:
        folder = Path(os.environ["IOCOMP_TEST_DEBIAN"])
    packages = ["libiocomp0", "libiocomp-formats", "libiocomp-dev", "iocomp-tools"]
    try:
        run("dpkg", "--install", *(next(folder.glob(f"{name}_*.deb")) for name in packages))
        assert run("iocomp", "--version").strip().endswith(version())
        found = re.findall(r"^back-end (\w+) +found", run("iocomp", "info"), re.MULTILINE)
        assert found == ["hdf5", "mpiio", "netcdf", "pnetcdf", "posix"]
        for project in ["tests/install/user", "examples/c", "examples/cpp", "examples/fortran"]:
            run("cmake", "-S", ROOT / project, "-B", project)
            run("cmake", "--build", project)
        launch = ["mpirun.openmpi", "--oversubscribe", "-n", "2"]
        servers = {"IOCOMP_PLACEMENT_SERVERS": "1-per-1", "IOCOMP_FILES_BACKEND": "hdf5"}
        run(*launch, "tests/install/user/numbers_c", **servers)
        assert "499" in run("h5dump", "-d", "/0/numbers", "numbers.h5")
        run(*launch, "examples/c/example_first_array_c", IOCOMP_FILES_BACKEND="netcdf")
        assert "time = UNLIMITED ; // (10 currently)" in run("ncdump", "-h", "fields.nc")
        run(*launch, "examples/cpp/example_groups_cpp")
        run(*launch, "examples/fortran/example_mesh_f90")
        assert "pressure" in run("iocomp", "show", "mesh.bin")
    finally:
        subprocess.run(["dpkg", "--purge", *reversed(packages)], check=False, capture_output=True)
    assert shutil.which("iocomp") is None
