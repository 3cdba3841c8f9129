# SPDX-License-Identifier: BSD-3-Clause
"""Files with thousands of variables, and with attributes of any length."""

from __future__ import annotations

from typing import Any

import netCDF4
import pytest
from actors import Actors
from files import file_settings, mode_settings, skip_if_missing, values

MANY = 5000
LONG = 300_000  # characters


@pytest.mark.parametrize("kind", ["series", "checkpoint"])
@pytest.mark.parametrize("mode", ["async", "sync", "kernel"])
def test_the_header_of_a_cdf_file_has_room(actors: Actors, mode: str, kind: str) -> None:
    skip_if_missing(actors.build, "pnetcdf")
    lines = ["init", f"open out {kind}"]
    lines += [f"define out variable_with_a_longish_name_{i} int32 4" for i in range(MANY)]
    lines += [f"attribute out history {'h' * LONG}"]
    some = range(0, MANY, 500)
    lines += [f"attribute out long_name {'n' * 3000} of=variable_with_a_longish_name_{i}" for i in some]
    for step in range(2):
        lines += [f"put out variable_with_a_longish_name_{i}" for i in range(MANY)]
        lines += ["end_step out", f"wait_step out {step}"]
    settings: dict[str, Any] = {
        **mode_settings(mode),
        "files": {"out": file_settings("pnetcdf", path="out.nc")},
    }
    job = actors.play("\n".join([*lines, "close out"]), ranks=3, settings=settings, seconds=60)
    assert job.status == 0 and not job.failures(), job.output
    for step in range(2):
        path = job.folder / (f"out.{step:06}.nc" if kind == "checkpoint" else "out.nc")
        with netCDF4.Dataset(path) as data:
            assert data.history == "h" * LONG
            assert len(data.variables) == MANY
            for i in some:
                variable = data[f"variable_with_a_longish_name_{i}"]
                assert variable.long_name == "n" * 3000
                found = variable[:] if kind == "checkpoint" else variable[step]
                assert (found == values("i4", 4, step)).all()
