# SPDX-License-Identifier: BSD-3-Clause
"""`iocomp check-site` in an allocation: it finds the launcher and the nodes, and kills jobs on this one alone."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path

import pytest
from actors import Build

NODE = "pack:1 l3:1 core:2 pu:1"


def test_the_nodes_of_an_allocation_are_tried(build: Build) -> None:
    top = Path(build.command).parents[1]
    if not (top / "apps/benchio/benchio").exists():
        pytest.skip("this build has no benchio (target benchio)")
    with tempfile.TemporaryDirectory(dir=top) as folder:
        done = subprocess.run(
            ["salloc", "--partition=small", "--nodes=2", "--exclusive", build.command, "check-site",
             folder, "--minutes", "0.1", "--json"],
            env={
                **os.environ, "SLURM_MPI_TYPE": "pmi2" if build.mpi == "mpich" else "pmix",
                "OMPI_MCA_btl_tcp_if_include": "lo", "OMPI_MCA_oob_tcp_if_include": "lo",
                "OMPI_MCA_mpi_yield_when_idle": "1", "HWLOC_SYNTHETIC": NODE,
            },
            capture_output=True, text=True, timeout=500, check=False,
        )  # fmt: skip
    site = json.loads(done.stdout)
    checks = {each["name"]: each for each in site["checks"]}
    assert checks["MPI"]["found"].startswith("4 ranks on n0, n1"), checks
    tried = ("MPI", "locks", "mapping sequential", "mapping consecutive", "shared memory",
             "write, default", "kills")  # fmt: skip
    assert {checks[name]["works"] for name in tried} == {"yes"}, checks
