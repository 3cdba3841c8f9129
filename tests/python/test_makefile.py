# SPDX-License-Identifier: BSD-3-Clause
"""`make` by itself does what its help says."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAKEFILE = (ROOT / "Makefile").read_text()


def commands(target: str, *variables: str) -> str:
    done = subprocess.run(
        ["make", "--dry-run", "--always-make", target, *variables],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("check-smpi", "SCALE_RANKS=64,256 "),
        ("check-chains", "IOCOMP_TEST_KILLS=50 "),
        ("check-fuzz", "--seconds 60 "),
        ("check-faults", "--seconds 600"),
    ],
)
def test_what_is_not_said_is_as_the_help_says(target: str, told: str) -> None:
    assert told in commands(target)


def test_what_is_said_counts() -> None:
    assert "SCALE_RANKS=64,1024,4096 " in commands("check-smpi", "SCALE_RANKS=64,1024,4096")


def test_no_list_is_an_argument_of_a_function() -> None:
    """A comma there ends the argument: $(or $(RANKS),64,256) is 64."""
    assert not re.search(r"\$\((?:or|if|and) [^()]*(?:\([^()]*\)[^()]*)*,\d+,\d+", MAKEFILE)
