#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compare every element that apps/stream wrote with what it must be. Reads with the Python package."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bindings/python"))

from iocomp import Error, Files, open_files

VARIABLES = ("copy_c", "scale_b", "add_c", "triad_a")
SCALAR = 3.0
TOLERANCE = 1e-13  # STREAM's, for doubles; kernels may be compiled with fused operations
CHUNK = 1 << 20
KEPT_BITS = "_QuantizeBitRoundNumberOfSignificantBits"


def stream_values(loops: int) -> Iterator[dict[str, float]]:
    """Yield what every element of each variable is in loop 0, 1, ...: STREAM's recurrence."""
    a = 1.0
    for _ in range(loops):
        copy_c = a
        scale_b = SCALAR * copy_c
        add_c = a + scale_b
        a = scale_b + SCALAR * add_c
        yield {"copy_c": copy_c, "scale_b": scale_b, "add_c": add_c, "triad_a": a}


def rounding(dataset: Files, name: str) -> float:
    """Return by how much of themselves values were moved when they were rounded to few bits."""
    bits = dataset.attributes(name).get(KEPT_BITS)
    return 0.0 if bits is None else 2.0 ** -(int(bits) + 1)


def wrong_in_stream(
    values: npt.NDArray[np.float64], expected: float, rounded: float
) -> npt.NDArray[np.bool_]:
    """Return which elements differ from the expected value by more than the tolerance."""
    return ~(np.abs(values - expected) <= (TOLERANCE + rounded) * abs(expected))


def wrong_in_index(
    values: npt.NDArray[np.float64], begin: int, call: int, elements: int, rounded: float
) -> npt.NDArray[np.bool_]:
    """Return which elements are not `global index + call * elements`, but for their rounding."""
    expected = np.arange(begin, begin + values.size, dtype=np.float64) + float(call * elements)
    return ~(np.abs(values - expected) <= rounded * expected)


def describe_index(value: float, elements: int) -> str:
    """Say which place and kernel call a value of the index pattern comes from."""
    if not np.isfinite(value) or value < 0:
        return f"{value}: from nowhere"
    call, index = divmod(int(value), elements)
    return f"element {index} of kernel call {call}"


def mistakes(
    dataset: Files, elements: int, loops: int, write_every: int, pattern: str
) -> Iterator[str]:
    """Yield a line for everything that is missing, too much or wrong."""
    writing = [loop for loop in range(loops) if write_every and loop % write_every == 0]
    if dataset.steps != list(range(len(writing))):
        yield f"steps are {dataset.steps}, expected are {len(writing)}"
        return
    expected = list(stream_values(loops))
    for step, loop in enumerate(writing):
        if sorted(dataset.variables(step)) != sorted(VARIABLES):
            yield f"step {step}: variables are {dataset.variables(step)}"
            continue
        for kernel, name in enumerate(VARIABLES):
            if dataset.shape(name, step) != (elements,):
                shape = dataset.shape(name, step)
                yield f"step {step}, {name}: shape is {shape}, not ({elements},)"
                continue
            rounded = rounding(dataset, name)
            for begin in range(0, elements, CHUNK):
                values = dataset.read(name, step, slice(begin, begin + CHUNK))
                if pattern == "index":
                    call = 4 * loop + kernel + 1
                    wrong = wrong_in_index(values, begin, call, elements, rounded)
                else:
                    call = 0
                    wrong = wrong_in_stream(values, expected[loop][name], rounded)
                if not wrong.any():
                    continue
                first = int(np.argmax(wrong))
                found = float(values[first])
                meaning = describe_index(found, elements) if pattern == "index" else f"{found!r}"
                wanted = f"kernel call {call}" if call else f"{expected[loop][name]!r}"
                yield (
                    f"step {step}, {name}: {int(wrong.sum())} of {values.size} elements from "
                    f"{begin} on are wrong; element {begin + first} is {meaning}, "
                    f"expected is {wanted}"
                )


def main() -> int:
    """Return 0 if all is as expected, 1 if not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, required=True)
    parser.add_argument("--elements", type=int, required=True, help="of one variable, all ranks")
    parser.add_argument("--loops", type=int, required=True)
    parser.add_argument("--write-every", type=int, required=True)
    parser.add_argument("--pattern", choices=("stream", "index"), default="stream")
    parser.add_argument("--most", type=int, default=10, help="lines to print")
    given = parser.parse_args()
    try:
        with open_files(given.file) as dataset:
            found = list(
                mistakes(dataset, given.elements, given.loops, given.write_every, given.pattern)
            )
            steps = len(dataset.steps)
    except (Error, OSError) as error:
        print(f"verify: {error}", file=sys.stderr)
        return 1
    for line in found[: given.most]:
        print(f"verify: {line}", file=sys.stderr)
    if len(found) > given.most:
        print(f"verify: {len(found) - given.most} more", file=sys.stderr)
    if not found:
        compared = steps * len(VARIABLES) * given.elements
        print(f"verify: {given.file}: {steps} steps, {compared} elements are as expected")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
