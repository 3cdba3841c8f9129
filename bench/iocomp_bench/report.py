"""Results as JSON and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from iocomp_bench.figures import Figure, Found
from iocomp_studies.rounds import Rounds
from iocomp_studies.statistics import Verdict
from iocomp_studies.table import table

LEAST_ROUNDS = 5
"""Rounds that a verdict needs."""

_MET = {Verdict.MET: True, Verdict.NOT_MET: False, Verdict.PRINTED: None}


@dataclass(frozen=True)
class Judged:
    """A figure with its verdict, and why the verdict is not what the numbers alone say."""

    figure: Figure
    found: Found
    verdict: Verdict
    note: str = ""

    def record(self) -> dict[str, Any]:
        """Return the entry for results.json.

        `met` is true, false, "unresolved", or null where there is no goal.
        """
        found = self.found.estimate
        entry: dict[str, Any] = {
            "id": self.figure.id,
            "value": found.value,
            "spread": [found.low, found.high],
            "unit": self.figure.unit,
            "goal": self.figure.goal.text(),
            "met": _MET.get(self.verdict, self.verdict.value),
            "beside": self.found.beside,
        }
        return entry | ({"note": self.note} if self.note else {})


def judge(figures: Sequence[Figure], rounds: Rounds) -> list[Judged]:
    """Judge every figure; one that counts only with another is unresolved without it."""
    judged = [
        (f, found, f.goal.judge(found.estimate)) for f in figures for found in [f.find(rounds)]
    ]
    verdicts = {figure.id: verdict for figure, _, verdict in judged}
    results = []
    for figure, found, verdict in judged:
        note = ""
        other = figure.counts_with
        if rounds.count() < LEAST_ROUNDS and verdict is not Verdict.PRINTED:
            note = f"{rounds.count()} rounds are too few, a verdict needs {LEAST_ROUNDS}"
        elif verdict is Verdict.MET and other and verdicts[other] is not Verdict.MET:
            note = f"counts only with {other}, which is {verdicts[other].value}"
        results.append(Judged(figure, found, Verdict.UNRESOLVED if note else verdict, note))
    return results


def _beside_text(beside: dict[str, Any]) -> str:
    """Return what is shown beside a figure, nested values left to the JSON."""
    parts = []
    for key, value in beside.items():
        if isinstance(value, float):
            parts.append(f"{key.replace('_', ' ')} {value:.3g}")
        elif key == "writing_loops_alone":
            low, high = value["spread"]
            parts.append(f"writing loops alone {value['value']:.3f} ({low:.3f} to {high:.3f})")
    return ", ".join(parts)


def text(judged: Sequence[Judged]) -> str:
    """Return the table, and below it what is shown beside the figures."""
    rows = []
    for one in judged:
        found = one.found.estimate
        unit = "" if one.figure.unit == "1" else f" {one.figure.unit}"
        rows.append(
            (
                one.figure.id,
                f"{found.value:.3f}{unit}",
                f"{found.low:.3f} to {found.high:.3f}",
                one.figure.goal.text() + (unit if one.figure.goal.bound is not None else ""),
                one.verdict.value,
            )
        )
    lines = [table(("figure", "value", "95 % interval", "goal", "verdict"), rows), ""]
    for one in judged:
        beside = "; ".join(part for part in (_beside_text(one.found.beside), one.note) if part)
        if beside:
            lines.append(f"{one.figure.id}: {beside}")
    return "\n".join(lines)
