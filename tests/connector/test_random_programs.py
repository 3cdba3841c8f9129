# SPDX-License-Identifier: BSD-3-Clause
"""Programs from a seed write the same files with the connector as without it.

IOCOMP_TEST_FIRST_SEED=N makes others.
"""

from __future__ import annotations

import math
import os
from pathlib import Path

import pytest
from compare_files import compare
from conftest import Programs

CALLS = 60
# Each rank is late in turn, and none.
JOBS = [(ranks, late) for ranks in (1, 2, 3, 4) for late in (None, *range(ranks))]


@pytest.mark.parametrize(("ranks", "late"), JOBS)
def test_a_program_writes_the_same_files(
    programs: Programs, tmp_path: Path, ranks: int, late: int | None
) -> None:
    count = math.ceil(int(os.environ.get("IOCOMP_TEST_PROGRAMS", "14")) / len(JOBS))
    first = int(os.environ.get("IOCOMP_TEST_FIRST_SEED", "1")) + count * JOBS.index((ranks, late))
    folders = [tmp_path / kind for kind in ("native", "connector")]
    for folder, connector in zip(folders, (False, True)):
        folder.mkdir()
        programs.run(
            ranks,
            "random_program",
            first,
            count,
            CALLS,
            folder,
            connector=connector,
            late=late,
            timeout=60 + 60 * count,
            IOCOMP_TEST_DIRECT_FROM="64 KiB",
            IOCOMP_CLIENT_BUFFER_MEMORY="1 MiB",
        )
    for seed in range(first, first + count):
        for name in (f"{seed}-one.h5", f"{seed}-two.h5"):
            different = compare(folders[0] / name, folders[1] / name)
            assert not different, f"seed {seed}: {different}"
