# SPDX-License-Identifier: BSD-3-Clause
"""Each claim of README and docs about speed has a figure, or a reason why it has none."""

import json
from pathlib import Path

import pytest

from iocomp_bench import evidence
from iocomp_bench.claims import Claim, Claims, faults, read_claims, user_pages
from iocomp_bench.figures import FIGURES, chosen
from iocomp_bench.report import judge
from iocomp_studies.rounds import Rounds
from iocomp_studies.statistics import Goal, Verdict

QUOTED = Claim(("README.md",), "It is twice as fast.", (("alloc", Goal(1.0)),))


def rounds(ratio: float, count: int) -> Rounds:
    key = "wall_until_durable_seconds"
    return Rounds(
        {
            "overlap malloc/kernel": [{key: ratio}] * count,
            "overlap malloc/kernel, malloc": [{key: 1.0}] * count,
        }
    )


def test_every_claim_of_the_pages_has_a_line_and_every_line_its_sentence() -> None:
    assert faults(read_claims(), user_pages()) == []


def test_every_figure_of_a_claim_exists() -> None:
    found = read_claims()
    ids = {id_ for claim in found.claims for id_ in claim.ids()} | {*found.rivals}
    assert ids <= {figure.id for figure in FIGURES}


@pytest.mark.parametrize(
    "says",
    [
        "Writing takes 3 ms.",
        "A put costs nothing.",
        "97 % is hidden.",
        "It is several times as fast.",
        "It moves 2.5 GiB/s.",
    ],
)
def test_a_new_claim_is_found(says: str) -> None:
    (fault, *_) = faults(Claims((), ()), {"README.md": f"Arrays. {says} Files."})
    assert fault.startswith("README.md: bench/claims.toml has no line for")


def test_words_of_code_and_targets_of_links_claim_nothing() -> None:
    text = "`hidden` is in [a page](page.md#what-it-costs), ```sh make fast ```"
    assert faults(Claims((), ()), {"README.md": text}) == []


def test_a_sentence_that_changed_is_found() -> None:
    claims = Claims((QUOTED,), ())
    assert faults(claims, {"README.md": "It is twice as fast."}) == []
    assert faults(claims, {"README.md": "It sleeps."}) == [
        'README.md does not say "It is twice as fast." any more'
    ]


@pytest.mark.parametrize(
    "line", ["", 'figures = ["alloc <= 1"]\nnot_measured = "why"', 'figures = ["alloc"]']
)
def test_a_claim_has_figures_with_bounds_or_a_reason(tmp_path: Path, line: str) -> None:
    table = tmp_path / "claims.toml"
    head = 'other = []\nrivals = { figures = [] }\n'
    table.write_text(f'{head}[[claim]]\npages = ["README.md"]\nsays = "fast"\n{line}\n')
    with pytest.raises(ValueError):
        read_claims(table)


@pytest.mark.parametrize(
    ("ratio", "count", "word"),
    [
        (0.9, 5, "holds"),
        (1.2, 5, "does not hold"),
        (0.9, 4, "unresolved"),
        (0.9, 0, "not measured"),
    ],
)
def test_a_claim_is_judged_by_its_own_bound(ratio: float, count: int, word: str) -> None:
    (record,) = evidence.records(Claims((QUOTED,), ()), rounds(ratio, count))["claims"]
    assert record["figures"][0]["holds"] == word
    assert json.dumps(record)


def test_a_claim_is_not_judged_by_the_goal_of_another_figure() -> None:
    puts = Claim(("README.md",), "returns at once", (("put-time-kernel", Goal(1000)),))
    size = str(64 << 20)
    run = {"sizes": {size: {"put": {"median": 5e-5}}}}
    measured = Rounds({"hand-off/kernel": [run] * 5})
    (record,) = evidence.records(Claims((puts,), ()), measured)["claims"]
    (figure,) = record["figures"]
    assert (figure["value"], figure["holds"]) == (pytest.approx(50), "holds")


def test_the_page_has_claims_bounds_intervals_and_what_is_not_measured() -> None:
    gpu = Claim(("docs/gpu.md",), "as long as the copy", not_measured="needs a GPU")
    claims = Claims((QUOTED, gpu), (), ("e3sm-f",))
    shown = evidence.page(evidence.records(claims, rounds(0.9, 5)), "2026-11-28, a machine")
    assert "2 claims, 1 of them not measured here; of the figures 1 holds." in shown
    assert "**README.md**: “It is twice as fast.”" in shown
    assert "| `alloc` | <= 1 | 0.9 (0.9 to 0.9) | holds |" in shown
    assert "| docs/gpu.md | as long as the copy | needs a GPU |" in shown
    assert "| `e3sm-f` | <= 1 | – | not measured; its runs were not made |" in shown


def test_some_figures_choose_their_claims() -> None:
    claims = read_claims()
    assert claims.of_figures([]) == claims
    chosen = claims.of_figures(["alloc", "zarr-vs"])
    assert {claim.ids() for claim in chosen.claims} == {("alloc",)}
    assert len(chosen.claims) < len(claims.claims)
    assert chosen.rivals == ("zarr-vs",)


def test_a_figure_with_a_bound_alone_gets_the_rounds_of_a_goal() -> None:
    claims = read_claims()
    ids = {id_ for claim in claims.claims for id_, _ in claim.figures}
    needed = evidence.needed(claims)
    assert [figure.id for figure in needed if figure.id in ids and not figure.has_goal()] == []
    assert not all(figure.has_goal() for figure in chosen(sorted(ids)))
    (puts,) = (claim for claim in claims.claims if claim.says == "returns at once")
    assert [one.id for one in evidence.needed(Claims((puts,), ()))] == list(puts.ids())


def test_what_was_measured_is_not_measured_again() -> None:
    alloc = chosen(["alloc"])
    assert not evidence.is_measured(alloc, Rounds(), 5)
    printed, judged = alloc, evidence.needed(Claims((QUOTED,), ()))
    assert evidence.is_measured(printed, rounds(1.0, 1), 5)
    assert not evidence.is_measured(judged, rounds(1.0, 4), 5)
    assert evidence.is_measured(judged, rounds(1.0, 5), 5)


def test_a_figure_that_counts_only_with_another_is_unresolved_where_that_was_not_asked_for() -> None:
    figure = next(one for one in chosen(["put-time-kernel"]) if one.id == "put-time-kernel")
    assert figure.counts_with
    size = str(64 << 20)
    measured = Rounds({"hand-off/kernel": [{"sizes": {size: {"put": {"median": 5e-7}}}}] * 5})
    (judged,) = judge([figure], measured)
    assert judged.verdict is Verdict.UNRESOLVED
    assert judged.note == f"counts only with {figure.counts_with}, which is not measured"
