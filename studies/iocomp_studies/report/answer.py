# SPDX-License-Identifier: BSD-3-Clause
"""The beginning of the report: one picture and one sentence that answer its question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from iocomp_studies.plots.draw import Drawing, draw
from iocomp_studies.plots.plot import Panel, Plot, Point
from iocomp_studies.report.conclusions import Conclusion, Difference, Summary, by_way
from iocomp_studies.results.rows import NO_OUTPUT, SYNCHRONOUS
from iocomp_studies.statistics import Estimate

QUESTION = "Can spare hardware threads hide output?"
_SEATS = {
    "hyperthread": "servers on hardware threads beside the ranks",
    "oversubscribe": "servers on the cores of ranks, without hardware threads of their own",
}
"""The ways that answer it, the better answer first."""
MOST_LOSS = 1.05
"""The ratio to the time without output up to which an interval says that no loss is seen."""
_NOT_SEEN = "not seen"
_OF_SYNCHRONOUS = {
    Difference.LONGER: "no",
    Difference.NONE_SEEN: _NOT_SEEN,
    Difference.SHORTER: "yes, at least a part",
}
_PLOT = Plot(
    "answer", QUESTION, "bars", ("seconds.wall",), "wall time ÷ that without output", x="client",
    over=(NO_OUTPUT, SYNCHRONOUS), emphasised=tuple(_SEATS),
)  # fmt: skip


@dataclass(frozen=True)
class Answer:
    """The results as an answer to the question.

    Attributes:
        sentence: The answer in words.
        drawing: Wall times of every way, those that answer in full colour.
    """

    sentence: str
    drawing: Drawing


def answer(found: Sequence[Conclusion]) -> Answer | None:
    """Return the answer; None if no server sat on a thread or a core of a rank.

    Wall times are compared with those without output, or where nobody has measured these, with
    those of synchronous output.
    """
    own_first = dict.fromkeys(c.source for c in sorted(found, key=lambda c: c.is_published))
    panels, sentences = [], []
    summaries = by_way(found)
    for source in own_first:
        mine = [c for c in summaries if c.source == source and not c.way.endswith(", idle")]
        told = next((way for way in _SEATS if any(one.way == way for one in mine)), None)
        if told is None:
            continue
        has_none = any(one.way == told and one.against == NO_OUTPUT for one in mine)
        below = NO_OUTPUT if has_none else SYNCHRONOUS
        shown = [one for one in mine if one.against == below]
        panels.append(_panel(source, below, shown))
        sentences.append(_sentence(source, told, below, shown))
    if not panels:
        return None
    return Answer(" ".join((QUESTION, *sentences)), draw(_PLOT, panels))


def _panel(source: str, below: str, shown: Sequence[Summary]) -> Panel:
    return Panel(
        source,
        [Point(one.way, one.client, "wall", one.ratio, one.count()) for one in shown],
        below=below,
        notes={
            (one.way, one.client): f"{one.ratio.value:.2f}" for one in shown if one.way in _SEATS
        },
    )


def _sentence(source: str, told: str, below: str, shown: Sequence[Summary]) -> str:
    synchronous = {one.client: one.ratio for one in shown if one.way == SYNCHRONOUS}
    output = "without output" if below == NO_OUTPUT else f"with {below} output"
    parts = [
        f"{one.client}: {_verdict(one, synchronous.get(one.client))}, "
        f"{one.ratio.value:.2f} ({one.ratio.low:.2f} to {one.ratio.high:.2f}) of its time {output}"
        for one in shown
        if one.way == told
    ]
    return f"{source}, {_SEATS[told]}: {'; '.join(parts)}."


def _verdict(one: Summary, synchronous: Estimate | None) -> str:
    """Return whether output is hidden, in words."""
    difference = one.difference()
    if difference is Difference.TOO_FEW:
        return str(difference.value)
    if one.against == SYNCHRONOUS:
        return _OF_SYNCHRONOUS[difference]
    if difference is not Difference.LONGER:
        return "yes, no loss is seen" if one.ratio.high <= MOST_LOSS else _NOT_SEEN
    if synchronous is None:
        return "not all of it"
    if one.ratio.high < synchronous.low:
        return "yes, a part"
    return "no" if one.ratio.low > synchronous.high else _NOT_SEEN
