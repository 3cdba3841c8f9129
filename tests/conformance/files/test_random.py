# SPDX-License-Identifier: BSD-3-Clause
"""Random arrays, boxes, calls, servers and sizes against what one process would have written.

IOCOMP_TEST_SEED repeats a case; IOCOMP_TEST_SECONDS says how long to go on, IOCOMP_TEST_CASES how
many at most. A case that fails is made smaller, for IOCOMP_TEST_SHRINK_SECONDS at most.
"""

from __future__ import annotations

import os
import random
import time
from dataclasses import replace

import pytest
from actors import Actors, nodes
from case import Case
from random_scripts import random_back_end, random_placement, random_script, random_tuning
from shrinking import RecordedScript, shrink


def _run(seed: int, actors: Actors) -> list[str] | None:
    chance = random.Random(seed)
    back_end = random_back_end(chance)
    placement = random_placement(chance, nodes())
    tuning = random_tuning(chance)
    without_servers = placement.ranks == placement.compute_ranks
    writes_at_once = back_end.writes_at_once(without_servers)
    script = random_script(
        chance, writes_at_once, back_end.lacks, back_end.is_netcdf, back_end.may_change, back_end.engine
    )
    if not actors.build.has_back_end(back_end.name):
        return None
    case = Case(script, back_end, placement, tuning)
    if wrong := case.run(actors):
        return [
            f"IOCOMP_TEST_SEED={seed}: {back_end.label} {placement.label}",
            *wrong[:10],
            *_smaller(case, script, actors),
        ]
    return []


def _smaller(case: Case, script: RecordedScript, actors: Actors) -> list[str]:
    """Tell the fewest calls that fail too, and what is wrong with them."""
    seconds = float(os.environ.get("IOCOMP_TEST_SHRINK_SECONDS", "60"))
    last: list[str] = []

    def fails(candidate: RecordedScript) -> bool:
        nonlocal last
        wrong = replace(case, script=candidate).run(actors, limit_seconds=20)
        last = wrong[:10] or last
        return bool(wrong)

    smallest = shrink(script, fails, seconds)
    if not last:
        return [f"no smaller script failed ({len(script.calls)} calls)"]
    return [
        f"of {len(script.calls)} calls {len(smallest.calls)} fail too:",
        smallest.text(),
        *last,
    ]


@pytest.mark.quick
def test_random_scripts(actors: Actors) -> None:
    if given := os.environ.get("IOCOMP_TEST_SEED"):
        wrong = _run(int(given), actors)
        assert not wrong, "\n".join(wrong)
        return
    end = time.monotonic() + float(os.environ.get("IOCOMP_TEST_SECONDS", "10"))
    most = int(os.environ.get("IOCOMP_TEST_CASES", "1000"))
    seeds = random.SystemRandom()
    ran = 0
    while ran < most and (ran == 0 or time.monotonic() < end):
        seed = seeds.randrange(1 << 32)
        wrong = _run(seed, actors)
        assert not wrong, "\n".join(wrong)
        ran += wrong is not None
    print(f"{ran} random cases")
