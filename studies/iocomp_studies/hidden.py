"""How much of the time that output costs is hidden behind the computing."""

from __future__ import annotations


def hidden_part(plain: float, synchronous: float, asynchronous: float) -> float:
    """Return which part of the time that synchronous output costs the asynchronous one saves.

    Source: docs/metrics.md, "Hidden part".
    """
    cost = synchronous - plain
    return 1 - (asynchronous - plain) / cost if cost > 0 else 0.0
