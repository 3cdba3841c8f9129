# SPDX-License-Identifier: BSD-3-Clause
"""Programs from a seed write the same files with the connector as without it.

IOCOMP_TEST_SEED=N repeats one.
"""

from __future__ import annotations

import os
from pathlib import Path

from compare_files import compare
from conftest import Programs

CALLS = 60


def test_a_program_writes_the_same_files(programs: Programs, tmp_path: Path) -> None:
    only = os.environ.get("IOCOMP_TEST_SEED")
    first = int(os.environ.get("IOCOMP_TEST_FIRST_SEED", "1"))
    count = int(os.environ.get("IOCOMP_TEST_PROGRAMS", "12"))
    for seed in [int(only)] if only else range(first, first + count):
        ranks = seed % 4 + 1
        late = None if seed % 3 == 0 else seed // 4 % ranks
        folders = [tmp_path / f"{seed}-{kind}" for kind in ("native", "connector")]
        for folder, connector in zip(folders, (False, True)):
            folder.mkdir()
            programs.run(
                ranks,
                "random_program",
                seed,
                CALLS,
                folder,
                connector=connector,
                late=late,
                IOCOMP_EXPERT_DIRECT_FROM="64 KiB",
                IOCOMP_CLIENT_BUFFER_MEMORY="1 MiB",
            )
        for name in ("one.h5", "two.h5"):
            different = compare(folders[0] / name, folders[1] / name)
            assert not different, f"seed {seed}, late {late}: {different}"
