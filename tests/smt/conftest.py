# SPDX-License-Identifier: BSD-3-Clause
"""Boot the machine once for all tests."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

from jobs import Build, four_domain_jobs, jobs, numa_jobs, read_build  # noqa: E402
from machine import FOUR_DOMAINS, Ended, Machine, run_machine  # noqa: E402

# A test that is told to end also tidies up.
signal.signal(signal.SIGTERM, signal.default_int_handler)

USED = pytest.StashKey[Machine]()
TREES = {"openmpi": ROOT / "build/release", "mpich": ROOT / "build/release-mpich"}


@pytest.fixture(scope="session")
def builds() -> dict[str, Build]:
    """Return by MPI what was built; Open MPI must be there."""
    found = {
        mpi: read_build(tree)
        for mpi, tree in TREES.items()
        if (tree / "tests/smt/stream_anywhere").exists()
    }
    assert "openmpi" in found, "build/release is missing: make check-smt builds it"
    return found


@pytest.fixture(scope="session")
def machine(builds: dict[str, Build], pytestconfig: pytest.Config) -> Machine:
    pytestconfig.stash[USED] = run_machine(
        ROOT / "build/smt/vmlinuz",
        [program for build in builds.values() for program in build.programs()],
        {
            **{name: script for build in builds.values() for name, script in jobs(build)},
            **dict(numa_jobs(builds["openmpi"].command)),
        },
        ROOT / "build/smt/results",
    )
    return pytestconfig.stash[USED]


@pytest.fixture(scope="session")
def four_domains(builds: dict[str, Build]) -> Machine:
    """Boot a machine of four NUMA domains, for what needs a third one."""
    command = builds["openmpi"].command
    return run_machine(
        ROOT / "build/smt/vmlinuz",
        [Path(command)],
        dict(four_domain_jobs(command)),
        ROOT / "build/smt/four-domains",
        FOUR_DOMAINS,
    )


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Show what the library found in every job."""
    if USED in config.stash:
        terminalreporter.section("mappings found in the emulated machine")
        for report in sorted(config.stash[USED].results.glob("*/report")):
            found = Ended(report.parent).about()["found"]
            terminalreporter.line(f"{report.parent.name:28} {found}")


@pytest.fixture(params=list(TREES))
def mpi(request: pytest.FixtureRequest, builds: dict[str, Build]) -> str:
    if request.param not in builds:
        pytest.skip(f"there is no build with {request.param}")
    return str(request.param)
