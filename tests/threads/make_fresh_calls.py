#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write a library that stands before iocomp: it makes each call of iocomp.h from a thread that ends with the call.

Usage: make_fresh_calls.py iocomp.h <source>
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

from interface import entries_of  # noqa: E402

HEAD = """\
// Made by make_fresh_calls.py.
#include <iocomp/iocomp.h>

#include "fresh_calls.h"
"""

CALL = """
{declaration} {{
  static auto* const real = fresh_calls::real<decltype({name})>("{name}");
  return fresh_calls::from_fresh_thread({arguments});
}}
"""


def parameters_of(declaration: str) -> list[str]:
    """Return the names of a function's parameters."""
    inside = declaration[declaration.index("(") + 1 : declaration.rindex(")")]
    return [] if inside == "void" else [re.findall(r"\w+", one)[-1] for one in inside.split(",")]


def source_of(header: str) -> str:
    """Return the source of the library."""
    calls = [each for each in entries_of(header) if each.kind == "call"]
    bodies = [
        CALL.format(
            declaration=each.declaration.rstrip(";"),
            name=each.name,
            arguments=", ".join(["real", *parameters_of(each.declaration)]),
        )
        for each in calls
    ]
    return HEAD + "".join(bodies)


def main() -> None:
    """Write it."""
    header, source = map(Path, sys.argv[1:])
    source.write_text(source_of(header.read_text()))


if __name__ == "__main__":
    main()
