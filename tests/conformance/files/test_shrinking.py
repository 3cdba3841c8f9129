# SPDX-License-Identifier: BSD-3-Clause
"""Scripts without some of their calls are scripts too, and a failing one becomes as small as it can."""

from __future__ import annotations

import random

import pytest
from actors import Actors
from case import Case, Placement, Tuning
from random_scripts import random_script
from shrinking import RecordedScript, replay, shrink
from verification import BackEnd

SEEDS = range(20)


def _script(seed: int) -> RecordedScript:
    return random_script(random.Random(seed), writes_at_once=True)


@pytest.mark.quick
def test_all_calls_make_the_same_script() -> None:
    for seed in SEEDS:
        script = _script(seed)
        again = replay(script.calls, script)
        assert again.text() == script.text()
        assert again.calls == script.calls
        for name, file in script.files.items():
            assert again.files[name].step == file.step
            assert again.files[name].arrays.keys() == file.arrays.keys()


@pytest.mark.quick
@pytest.mark.parametrize("seed", [3, 4])
def test_what_is_left_of_a_script_is_correct(actors: Actors, seed: int) -> None:
    whole = _script(seed)
    chance = random.Random(seed)
    some = replay([call for call in whole.calls if chance.random() < 0.8], whole)
    assert 0 < len(some.calls) < len(whole.calls)
    placement = Placement("sync2", 2, 2, {"mode": "sync"})
    assert Case(some, BackEnd("posix"), placement, Tuning("default")).run(actors) == []


def _has_buffered_put(script: RecordedScript) -> bool:
    return any(line.startswith("put ") and " buffered=yes" in line for line in script.lines)


@pytest.mark.quick
def test_a_failing_script_becomes_as_small_as_it_can() -> None:
    tried = 0
    for seed in SEEDS:
        script = _script(seed)
        if not _has_buffered_put(script):
            continue
        tried += 1
        smallest = shrink(script, _has_buffered_put, seconds=20)
        verbs = [call.method for call in smallest.calls]
        if "set_shape" in verbs:  # then the block fits into that one only
            verbs.remove("set_shape")
        assert verbs == ["open", "define", "put"]
        assert _has_buffered_put(smallest)
    assert tried > 5


@pytest.mark.quick
def test_a_failure_that_needs_the_order_of_two_files_keeps_both() -> None:
    def fails(script: RecordedScript) -> bool:
        verbs = [call.method for call in script.calls]
        return verbs.count("open") >= 2 and "close" in verbs[verbs.index("open") :]

    for seed in SEEDS:
        script = _script(seed)
        if fails(script):
            smallest = shrink(script, fails, seconds=20)
            assert sorted(call.method for call in smallest.calls) == ["close", "open", "open"]


@pytest.mark.quick
def test_the_empty_script_is_never_tried() -> None:
    smallest = shrink(_script(3), lambda script: True, seconds=20)
    assert len(smallest.calls) == 1


@pytest.mark.quick
def test_time_is_limited() -> None:
    script = next(s for s in map(_script, SEEDS) if _has_buffered_put(s))
    assert shrink(script, _has_buffered_put, seconds=0) is script
