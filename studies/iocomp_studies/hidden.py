# SPDX-License-Identifier: BSD-3-Clause
"""The part of the time of output that is hidden behind the computing."""

from __future__ import annotations

import math


def hidden_part(synchronous: float, asynchronous: float) -> float:
    """Return which part of the time that synchronous output costs the asynchronous one saves.

    Both are what output adds to the time without output. Where synchronous output adds nothing,
    nothing can be hidden: the part is not known, and NaN. Source: docs/developers/benchmark_figures.md.
    """
    return 1 - asynchronous / synchronous if synchronous > 0 else math.nan
