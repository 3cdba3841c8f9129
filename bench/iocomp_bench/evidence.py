# SPDX-License-Identifier: BSD-3-Clause
"""The page of `make evidence`: each claim, what was measured, and whether it holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from iocomp_bench.claims import Claims
from iocomp_bench.figure import Figure
from iocomp_bench.figures import FIGURES
from iocomp_bench.report import judge
from iocomp_studies.rounds import Rounds
from iocomp_studies.statistics import Goal, Verdict
from iocomp_studies.table import counted

HOLDS = {
    Verdict.MET: "holds",
    Verdict.NOT_MET: "does not hold",
    Verdict.UNRESOLVED: "unresolved",
    Verdict.NOT_MEASURED: "not measured",
    Verdict.PRINTED: "",
}
"""The words of the page."""


def _found(id_: str, goal: Goal | None, rounds: Rounds) -> dict[str, Any]:
    """Judge a figure by what a sentence implies, and by nothing else: no goal of another figure."""
    figure = next(figure for figure in FIGURES if figure.id == id_)
    (judged,) = judge([replace(figure, goal=goal or figure.goal, counts_with="")], rounds)
    record = judged.record()
    wanted = {key: record[key] for key in ("id", "value", "spread", "unit", "goal")}
    note = {"note": judged.note} if judged.note else {}
    return {**wanted, "holds": HOLDS[judged.verdict], **note}


def needed(claims: Claims) -> list[Figure]:
    """Return the figures of claims, and of rivals.

    Those without a goal have the bound of a claim, since it takes as many rounds.
    """
    ids = {id_ for claim in claims.claims for id_ in claim.ids()} | {*claims.rivals}
    bounds = {id_: goal for claim in claims.claims for id_, goal in claim.figures}
    return [
        f if f.has_goal() else replace(f, goal=bounds.get(f.id, f.goal))
        for f in FIGURES
        if f.id in ids
    ]


def is_measured(figures: Sequence[Figure], rounds: Rounds, least: int) -> bool:
    """Return whether there are enough rounds of all figures."""
    return all(rounds.count(f.methods) >= (least if f.has_goal() else 1) for f in figures)


def records(claims: Claims, rounds: Rounds) -> dict[str, Any]:
    """Return the claims with what was found, and the rivals, for evidence.json."""
    found = [
        {
            "pages": list(claim.pages),
            "says": claim.says,
            "figures": [
                _found(id_, goal, rounds)
                for id_, goal in (*claim.figures, *((id_, Goal()) for id_ in claim.beside))
            ],
            "not_measured": claim.not_measured,
        }
        for claim in claims.claims
    ]
    return {"claims": found, "rivals": [_found(id_, None, rounds) for id_ in claims.rivals]}


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _figure_row(figure: dict[str, Any]) -> str:
    bound = "beside" if figure["goal"] == "printed" else figure["goal"]
    if figure["value"] is None:
        shown = "–"
    else:
        low, high = figure["spread"]
        unit = "" if figure["unit"] == "1" else f" {figure['unit']}"
        shown = f"{figure['value']:.4g}{unit} ({low:.4g} to {high:.4g})"
    notes = "; ".join(part for part in (figure["holds"], figure.get("note", "")) if part)
    return _row([f"`{figure['id']}`", bound, shown, notes.replace("|", "\\|")])


_HEAD = (_row(["figure", "bound", "found", ""]), _row(["---"] * 4))


def page(records: dict[str, Any], machine: str) -> str:
    """Return it as Markdown.

    Args:
        records: The claims and the rivals, as `records` returns them.
        machine: The machine in words, with the date.
    """
    evidence = records["claims"]
    words = Counter(
        figure["holds"] for claim in evidence for figure in claim["figures"] if figure["holds"]
    )
    without = [claim for claim in evidence if not claim["figures"]]
    figures = ", ".join(f"{words[word]} {word}" for word in HOLDS.values() if words[word])
    lines = [
        "# Evidence",
        "",
        f"{machine}. The sentences of README.md and docs/ that claim a speed, what was measured,",
        "and whether it holds. In brackets is the 95 % interval. A sentence holds if the whole",
        "interval is on the good side of the bound, and does not if it is on the other. Figures",
        "are defined in docs/developers/benchmark_figures.md.",
        "",
        f"{counted(len(evidence), 'claim')}, {len(without)} of them not measured here; "
        f"of the figures {figures or 'none'}.",
    ]
    for claim in evidence:
        if not claim["figures"]:
            continue
        lines += ["", f"**{', '.join(claim['pages'])}**: “{claim['says'].strip('| ')}”", ""]
        lines += [*_HEAD, *map(_figure_row, claim["figures"])]
    if records["rivals"]:
        lines += ["", "## Beside other libraries", "", "No sentence claims these."]
        lines += ["The bounds are goals.", "", *_HEAD, *map(_figure_row, records["rivals"])]
    if without:
        lines += ["", "## Not measured here", "", _row(["page", "claim", "why"]), _row(["---"] * 3)]
        lines += [
            _row([", ".join(c["pages"]), c["says"].strip("| "), c["not_measured"]]) for c in without
        ]
    return "\n".join(lines) + "\n"
