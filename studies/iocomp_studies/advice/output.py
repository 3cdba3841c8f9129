# SPDX-License-Identifier: BSD-3-Clause
"""Advice as people and as programs read it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict

from iocomp_studies.advice.choices import Advice, toml_of
from iocomp_studies.advice.learned import Learned
from iocomp_studies.advice.work import KERNEL, Work
from iocomp_studies.table import counted, seconds_text, table

_MOST_ROWS = 12
_HEAD = ("way", "wall, s", "9 of 10 within", "write", "slowed", "waits", "memory of a node")


def _rows(advice: Advice, learned: Learned) -> list[tuple[str, ...]]:
    factor = learned.errors.usual_factor() if learned.errors else 0.0
    rows: list[tuple[str, ...]] = []
    shown = advice.choices[:_MOST_ROWS]
    shown += tuple(one for one in (advice.best,) if one not in shown)
    for one in shown:
        told = one.prediction
        ends = (told.wall / factor, told.wall * factor) if factor else ()
        rows.append(
            (
                ("* " if one is advice.best else "  ") + one.way.text(),
                seconds_text(told.wall),
                " to ".join(map(seconds_text, ends)) or "-",
                seconds_text(told.write),
                seconds_text(told.slowed),
                seconds_text(told.waited),
                f"{one.memory_bytes >> 20} MiB" if one.memory_bytes else "-",
            )
        )
    return rows


def text_of(work: Work, advice: Advice, learned: Learned) -> str:
    """Return advice for people."""
    best = advice.best
    hidden = len(advice.choices) - len(_rows(advice, learned))
    ranks, nodes = counted(work.ranks, "compute rank"), counted(work.nodes, "node")
    lines = [
        f"{ranks} on {nodes}, {work.steps} steps: "
        f"{work.all_bytes() / 2**20:.1f} MiB and {seconds_text(work.step_seconds)} s of computing "
        f"each; an array is reused after {seconds_text(work.reuse_seconds)} s.",
        "",
        table(_HEAD, _rows(advice, learned)),
        *([f"… and {hidden} that take longer (--json has them)."] if hidden else []),
        "write, slowed, waits: seconds of each step (docs/developers/model.md).",
        "",
        f"Take {best.way.text()}. {' '.join(advice.reason)}",
        "",
        toml_of(best.settings()),
        f"Start it so: {best.launch()}",
    ]
    if best.way.name == KERNEL:
        lines.append("Take arrays from iocomp_alloc, so that the kernel writes without a copy.")
    lines += ["", *learned.about]
    lines += [f"not possible: {way}: {why}" for way, why in advice.not_possible.items()]
    return "\n".join(lines)


def json_of(
    work: Work, advice: Advice, learned: Learned, done: Mapping[str, str | float]
) -> str:
    """Return the same as JSON, and what was done: docs/developers/model.md."""
    errors = learned.errors
    choices = [
        {
            "way": asdict(one.way),
            "wall_seconds": one.prediction.wall,
            "write_seconds": one.prediction.write,
            "slowed_seconds": one.prediction.slowed,
            "waited_seconds": one.prediction.waited,
            "memory_bytes": one.memory_bytes,
            "is_best": one is advice.best,
        }
        for one in advice.choices
    ]
    found = {
        "work": asdict(work),
        "choices": choices,
        "settings": advice.best.settings(),
        "launch": advice.best.launch(),
        "reason": advice.reason,
        "model": dict(learned.model.values),
        "about": learned.about,
        "median_error": errors.median.value if errors else None,
        "worst_error": errors.worst[0] if errors else None,
        "not_possible": dict(advice.not_possible),
        **done,
    }
    return json.dumps(found, indent=1)
