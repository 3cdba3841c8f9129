"""What a session promises a program that makes few demands."""

from __future__ import annotations

import pytest
from actors import OK, Actors
from files import MODES, check_file, leftovers

@pytest.mark.parametrize("mode", MODES)
def test_a_program_that_never_waits_loses_nothing(actors: Actors, mode: str) -> None:
    steps = "put out u ticket=none\nend_step out\n" * 20
    script = f"init\nopen out series\ndefine out u int64 64x32\n{steps}close out\n"
    job = actors.play(script, ranks=4, settings={"mode": mode})
    assert job.status == 0, job
    assert not job.failures(), job
    assert check_file(job.folder / "out.bin") == set(range(20))
    assert not leftovers(job.folder)
