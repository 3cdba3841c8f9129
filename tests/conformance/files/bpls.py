# SPDX-License-Identifier: BSD-3-Clause
"""Compare what bpls, the lister of ADIOS2, says of a BP dataset with what must be there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from actors import read_build
from script import Array
from written_adios2 import element_type_of

# "  float complex  u  3*{4, 6}", "  double  v  scalar"; "__" where an extent changes
_LINE = re.compile(r"^  (\S.*?\S)\s+(\S+)\s+(?:(\d+)\*)?(scalar|\{.*\})$")


def bpls() -> str:
    """Return the program, or nothing where it is not installed."""
    return read_build().bpls


def _listed(path: Path) -> dict[str, tuple[str, int, str]]:
    told = subprocess.run([bpls(), str(path)], capture_output=True, text=True, check=False, timeout=60)
    assert told.returncode == 0, told.stderr
    found = {}
    for line in told.stdout.splitlines():
        match = _LINE.match(line)
        assert match, f"{path}: bpls says {line!r}"
        type_name, name, steps, shape = match.groups()
        if name != "iocomp_empty_step":
            found[name] = (element_type_of(type_name), int(steps or 1), shape)
    return found


def _must_be(arrays: list[Array]) -> tuple[str, int, str]:
    first = arrays[0]
    if not first.shape:
        is_letter = first.element_type == "char"  # ADIOS2 has no single characters
        return ("uint8" if is_letter else first.element_type, len(arrays), "scalar")
    extents = [
        str(extents[0]) if len(set(extents)) == 1 and extents[0] > 0 else "__"
        for extents in zip(*(array.shape for array in arrays), strict=True)
    ]
    return (first.element_type, len(arrays), "{" + ", ".join(extents) + "}")


def compare_with_bpls(path: Path, steps: dict[int, dict[str, Array]]) -> list[str]:
    """Return what differs: names, types, numbers of steps and shapes."""
    by_name: dict[str, list[Array]] = {}
    for arrays in steps.values():
        for name, array in arrays.items():
            by_name.setdefault(name, []).append(array)
    expected = {name: _must_be(arrays) for name, arrays in by_name.items()}
    found = _listed(path)
    return [
        f"{path.name} (bpls): {name} is {found.get(name)}, not {expected.get(name)}"
        for name in sorted(expected.keys() | found.keys())
        if found.get(name) != expected.get(name)
    ]
