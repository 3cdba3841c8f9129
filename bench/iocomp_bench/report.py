# SPDX-License-Identifier: BSD-3-Clause
"""Results as JSON and as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iocomp_bench.figure import LEAST_ROUNDS, Figure, Found, NotKnownError
from iocomp_studies.rounds import Rounds
from iocomp_studies.statistics import Verdict
from iocomp_studies.table import table

_NOT_HERE = (
    "invalid setting", "unsupported", "built without", "needs mpi4py", "No module named",
    "hpcc cannot be compared",
)  # fmt: skip
"""Words of programs that lack a transport or a library; their figures are not measured."""

_MET = {Verdict.MET: True, Verdict.NOT_MET: False, Verdict.PRINTED: None}


@dataclass(frozen=True)
class Judged:
    """A figure with its verdict, and why the verdict is not what the numbers alone say."""

    figure: Figure
    found: Found | None
    verdict: Verdict
    note: str = ""

    def record(self) -> dict[str, Any]:
        """Return the entry for results.json.

        `met` is true, false, "unresolved", "not measured", or null where there is no goal.
        """
        found = self.found
        entry: dict[str, Any] = {
            "id": self.figure.id,
            "value": found.estimate.value if found else None,
            "spread": [found.estimate.low, found.estimate.high] if found else None,
            "unit": self.figure.unit,
            "goal": self.figure.goal.text(),
            "met": _MET.get(self.verdict, self.verdict.value),
            "beside": found.beside if found else {},
        }
        return entry | ({"note": self.note} if self.note else {})


def reason_of(failure: str) -> str:
    """Return the line of a program's last words that says why it failed."""
    lines = [line.strip() for line in failure.splitlines() if line.strip()]
    told = [line for line in lines if ": rank " in line]
    return (told or lines[-1:] or ["no reason was told"])[0]


def unexpected(failures: Mapping[str, str]) -> dict[str, str]:
    """Return those runs that failed although this build has what they need, and why."""
    return {
        name: reason_of(story)
        for name, story in failures.items()
        if not any(words in story for words in _NOT_HERE)
    }


def _judge_alone(figure: Figure, rounds: Rounds) -> Judged:
    for method in figure.methods:
        if method in rounds.failures:
            note = f"{method}: {reason_of(rounds.failures[method])}"
            return Judged(figure, None, Verdict.NOT_MEASURED, note)
    if not rounds.count(figure.methods):
        return Judged(figure, None, Verdict.NOT_MEASURED, "its runs were not made")
    try:
        found = figure.find(rounds)
    except NotKnownError as error:
        return Judged(figure, None, Verdict.NOT_MEASURED, str(error))
    return Judged(figure, found, figure.goal.judge(found.estimate))


def judge(figures: Sequence[Figure], rounds: Rounds) -> list[Judged]:
    """Judge every figure; one that counts only with another is unresolved without it."""
    judged = [_judge_alone(figure, rounds) for figure in figures]
    verdicts = {one.figure.id: one.verdict for one in judged}

    def verdict_of(id_: str) -> Verdict:
        return verdicts.get(id_, Verdict.NOT_MEASURED)

    results = []
    for one in judged:
        figure, found, verdict = one.figure, one.found, one.verdict
        note = ""
        other = figure.counts_with
        if verdict is Verdict.NOT_MEASURED:
            results.append(one)
            continue
        count = rounds.count(figure.methods)
        if count < LEAST_ROUNDS and verdict is not Verdict.PRINTED:
            note = f"{count} rounds are too few, a verdict needs {LEAST_ROUNDS}"
        elif verdict is Verdict.MET and other and verdict_of(other) is not Verdict.MET:
            note = f"counts only with {other}, which is {verdict_of(other).value}"
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
        if one.found is None:
            rows.append((one.figure.id, "-", "-", one.figure.goal.text(), one.verdict.value))
            continue
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
        shown = _beside_text(one.found.beside) if one.found else ""
        beside = "; ".join(part for part in (shown, one.note) if part)
        if beside:
            lines.append(f"{one.figure.id}: {beside}")
    return "\n".join(lines)
