"""Random arrays, boxes, calls, servers and sizes against what one process would have written.

IOCOMP_TEST_SEED repeats a case; IOCOMP_TEST_SECONDS says how long to go on, IOCOMP_TEST_CASES how
many at most. A case that fails is made smaller, for IOCOMP_TEST_SHRINK_SECONDS at most.
"""

from __future__ import annotations

import itertools
import os
import random
import time
from pathlib import Path

import pytest
from job import Job, Tools
from random_scripts import random_back_end, random_placement, random_script, random_tuning
from shrinking import RecordedScript, shrink


def _run(seed: int, tools: Tools, folder: Path) -> list[str] | None:
    chance = random.Random(seed)
    back_end = random_back_end(chance)
    placement = random_placement(chance)
    tuning = random_tuning(chance)
    without_servers = placement.ranks == placement.compute_ranks
    writes_at_once = back_end.writes_at_once(without_servers)
    script = random_script(chance, writes_at_once, back_end.lacks)
    if not tools.has(back_end):
        return None
    job = Job(script, back_end, placement, tuning, folder)
    wrong = job.run(tools)
    if wrong:
        return [
            f"IOCOMP_TEST_SEED={seed}: {back_end.label} {placement.label} in {folder}",
            *wrong[:10],
            *_smaller(job, script, tools),
        ]
    job.mark_as_passed()
    return []


def _smaller(job: Job, script: RecordedScript, tools: Tools) -> list[str]:
    """Tell the fewest calls that fail too, and what is wrong with them."""
    seconds = float(os.environ.get("IOCOMP_TEST_SHRINK_SECONDS", "60"))
    folders = (job.folder.with_name(f"{job.folder.name}-{number}") for number in itertools.count(1))
    last: list[str] = []

    def fails(candidate: RecordedScript) -> bool:
        nonlocal last
        smaller = Job(candidate, job.back_end, job.placement, job.tuning, next(folders))
        wrong = smaller.run(tools, limit_seconds=20)
        if wrong:
            last = [f"in {smaller.folder}", *wrong[:10]]
        else:
            smaller.mark_as_passed()
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
def test_random_scripts(tools: Tools, tmp_path: Path) -> None:
    if given := os.environ.get("IOCOMP_TEST_SEED"):
        wrong = _run(int(given), tools, tmp_path / given)
        assert not wrong, "\n".join(wrong)
        return
    end = time.monotonic() + float(os.environ.get("IOCOMP_TEST_SECONDS", "10"))
    most = int(os.environ.get("IOCOMP_TEST_CASES", "1000"))
    seeds = random.SystemRandom()
    ran = 0
    while ran < most and (ran == 0 or time.monotonic() < end):
        seed = seeds.randrange(1 << 32)
        wrong = _run(seed, tools, tmp_path / str(seed))
        assert not wrong, "\n".join(wrong)
        ran += wrong is not None
    print(f"{ran} random cases")
