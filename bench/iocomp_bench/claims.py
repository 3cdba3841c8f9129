# SPDX-License-Identifier: BSD-3-Clause
"""The claims about speed in README.md and the user pages, and the figures that measure them."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from iocomp_studies.statistics import Goal

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "bench" / "claims.toml"

_NUMBER = r"(?:\d+(?:[.,]\d+)?|two|three|four|five|six|seven|eight|nine|ten|some|several)"
_UNIT = r"(?:×|[KMG]i?B/s|ms|µs|us|s|min|seconds?|minutes?|hours?|times)"
SPEED = re.compile(
    rf"\b{_NUMBER}(?:\s?%|\s{_UNIT}\b)"
    r"|\b(?:fast(?:er|est)?|slow(?:er|s|ed)?|quick(?:er|est|ly)?|cheap(?:er|est)?|costs?|speeds?"
    r"|hid(?:es?|den|ing)|as long as|hardly|overhead|nothing to do|without a copy|no copy)\b",
    re.IGNORECASE,
)
"""Words of sentences that may claim a speed."""
_CODE_OR_TARGET = re.compile(r"`[^`]*`|\]\([^)]*\)")
_BOUND = re.compile(r"(\S+) (<=|>=) (\S+)")


@dataclass(frozen=True)
class Claim:
    """A sentence about speed.

    Attributes:
        pages: The pages with the sentence, from the root of the repository.
        says: Its words.
        figures: Ids of benchmarks and the bounds that the sentence implies.
        beside: Ids of figures that are shown with them, of rivals for instance.
        not_measured: The reason if there are no figures.
    """

    pages: tuple[str, ...]
    says: str
    figures: tuple[tuple[str, Goal], ...] = ()
    beside: tuple[str, ...] = ()
    not_measured: str = ""

    def ids(self) -> tuple[str, ...]:
        """Return the figures that it needs."""
        return (*(id_ for id_, _ in self.figures), *self.beside)


@dataclass(frozen=True)
class Claims:
    """All of them, quotations by page that claim no speed, and figures that no sentence needs."""

    claims: tuple[Claim, ...]
    others: tuple[tuple[str, str], ...]
    rivals: tuple[str, ...] = ()

    def quotations(self) -> Iterator[tuple[str, str]]:
        """Yield page and words of all."""
        yield from ((page, claim.says) for claim in self.claims for page in claim.pages)
        yield from self.others

    def of_figures(self, ids: Sequence[str]) -> Claims:
        """Return those that some figures measure, with these alone; all, if none is named."""
        if not ids:
            return self
        chosen = (
            replace(
                claim,
                figures=tuple(one for one in claim.figures if one[0] in ids),
                beside=tuple(id_ for id_ in claim.beside if id_ in ids),
            )
            for claim in self.claims
        )
        return Claims(
            tuple(claim for claim in chosen if claim.ids()),
            self.others,
            tuple(id_ for id_ in self.rivals if id_ in ids),
        )


def _figure(words: str) -> tuple[str, Goal]:
    match = _BOUND.fullmatch(words)
    if not match:
        raise ValueError(f'"{words}" is no figure and bound such as "hpl-idle <= 1.02"')
    return match[1], Goal(float(match[3]), at_most=match[2] == "<=")


def read_claims(table: Path = TABLE) -> Claims:
    """Read the table.

    Raises:
        ValueError: For a claim that has neither figures nor a reason, or both.
    """
    read = tomllib.loads(table.read_text(encoding="utf-8"))
    claims = []
    for entry in read["claim"]:
        claim = Claim(
            tuple(entry["pages"]),
            entry["says"],
            tuple(map(_figure, entry.get("figures", ()))),
            tuple(entry.get("beside", ())),
            entry.get("not_measured", ""),
        )
        if bool(claim.figures) == bool(claim.not_measured):
            raise ValueError(f'"{claim.says}": either figures, or why it is not measured')
        claims.append(claim)
    others = (
        (page, words)
        for entry in read["other"]
        if entry["because"]
        for page, quoted in entry["says"].items()
        for words in quoted
    )
    return Claims(tuple(claims), tuple(others), tuple(read["rivals"]["figures"]))


def user_pages(root: Path = ROOT) -> dict[str, str]:
    """Return the text of the pages that claim by name, each in one line."""
    docs = root / "docs"
    pages = (root / "README.md", *sorted(docs.glob("*.md")), docs / "developers" / "limits.md")
    return {
        page.relative_to(root).as_posix(): " ".join(page.read_text(encoding="utf-8").split())
        for page in pages
    }


def faults(claims: Claims, pages: dict[str, str]) -> list[str]:
    """Return quotations that are in their page no more, and words of speed that nothing quotes."""
    found = []
    quoted: dict[str, list[tuple[int, int]]] = {page: [] for page in pages}
    for page, words in claims.quotations():
        places = [m.span() for m in re.finditer(re.escape(words), pages.get(page, ""))]
        if not places:
            found.append(f'{page} does not say "{words}" any more')
        quoted.setdefault(page, []).extend(places)
    for page, text in pages.items():
        prose = _CODE_OR_TARGET.sub(lambda match: " " * len(match[0]), text)
        for match in SPEED.finditer(prose):
            begin, end = match.span()
            if not any(first <= begin and end <= last for first, last in quoted[page]):
                around = text[max(0, begin - 60) : end + 40]
                found.append(f'{page}: bench/claims.toml has no line for "… {around} …"')
    return found
