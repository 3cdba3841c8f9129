# SPDX-License-Identifier: BSD-3-Clause
"""The report: one page that needs nothing else."""

from __future__ import annotations

import html
import json
import re
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from iocomp_studies.plan.cell import Cell
from iocomp_studies.plots.folder import Drawn, draw_figures
from iocomp_studies.report.answer import answer
from iocomp_studies.report.conclusions import (
    Conclusion,
    Difference,
    by_way,
    conclude,
    outliers,
)
from iocomp_studies.results.lines import Record, is_good
from iocomp_studies.results.rows import rows_of
from iocomp_studies.statistics import median_interval
from iocomp_studies.table import counted

_HERE = Path(__file__).resolve().parent
_CLASSES = {
    Difference.LONGER: "longer",
    Difference.SHORTER: "shorter",
    Difference.NONE_SEEN: "none",
    Difference.TOO_FEW: "few",
}
_MOST_LISTED = 200
"""Rows of a table of what went wrong."""


def _text(value: object) -> str:
    return html.escape(str(value))


def _table(
    head: Sequence[str], rows: Iterable[Sequence[object]], numbers: Sequence[int] = ()
) -> str:
    lines = ["<div class=scroll><table><thead><tr>"]
    lines += [f"<th>{_text(one)}</th>" for one in head]
    lines.append("</tr></thead><tbody>")
    for row in rows:
        cells = (
            f"<td{' class=number' if i in numbers else ''}>{_text(cell)}</td>"
            for i, cell in enumerate(row)
        )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    lines.append("</tbody></table></div>")
    return "".join(lines)


def _inline(svg: bytes) -> str:
    """Return a picture as a part of a page, without the ids that every picture has."""
    text = svg.decode()
    text = text[text.index("<svg") :]
    return re.sub(r' id="[A-Za-z0-9_.]+_\d+"', "", text)


def _figures(drawn: Sequence[Drawn]) -> str:
    if not drawn:
        return ""
    about = [
        {
            "name": one.name,
            "figure": one.plot.id,
            "title": one.plot.title,
            "variant": one.variant,
            "points": one.drawing.points,
        }
        for one in drawn
    ]
    bars = "bars of errors: 95 % interval of the median; of published means one standard deviation"
    parts = ["<div class=figures><nav></nav><div><p><select id=variant></select></p>"]
    parts.append("<div class=series></div>")
    for one in drawn:
        source = f"; as {one.plot.source}" if one.plot.source else ""
        parts.append(
            f'<figure id="figure-{one.name}" hidden>{_inline(one.drawing.svg)}'
            f"<figcaption>{_text(one.plot.label)}; {bars}{_text(source)}</figcaption></figure>"
        )
    points = json.dumps(about, separators=(",", ":")).replace("</", "<\\/")
    parts.append("</div></div><div id=told hidden></div>")
    parts.append(f'<script type="application/json" id=drawings>{points}</script>')
    return "".join(parts)


def _answer(found: Sequence[Conclusion]) -> str:
    told = answer(found)
    if not told:
        return ""
    about = "median over all sizes, ranks and settings, with its 95 % interval"
    return (
        f"<p class=answer>{_text(told.sentence)}</p>"
        f"<figure>{_inline(told.drawing.svg)}<figcaption>{about}</figcaption></figure>"
    )


def _ways(source: str, found: Sequence[Conclusion]) -> str:
    """Return what the comparisons of each way say together."""
    kinds = [kind for kind in Difference if any(one.difference is kind for one in found)]
    rows = [
        (
            one.client, one.way, one.against, f"{one.ratio.value:.3g}",
            f"{one.ratio.low:.3g} to {one.ratio.high:.3g}", one.count(),
            *(one.differences[kind] for kind in kinds),
        )
        for one in by_way(found)
    ]  # fmt: skip
    if not rows:
        return ""
    head = (
        "program", "way", "compared with", "ratio of wall times", "95 % interval", "comparisons",
        *(kind.value for kind in kinds),
    )  # fmt: skip
    about = f"<p>{_text(source)}, median over all sizes, ranks and settings:</p>"
    return about + _table(head, rows, range(3, len(head)))


def _conclusions(found: Sequence[Conclusion]) -> str:
    if not found:
        return (
            "<p>Nothing to compare: it takes output beside none, or beside synchronous output.</p>"
        )
    counts = Counter(one.difference for one in found)
    judged = len(found) - counts[Difference.TOO_FEW]
    words = [f"{counts[kind]} {kind.value}" for kind in Difference if counts[kind]]
    intro = f"<p>{counted(len(found), 'comparison')}: {', '.join(words)}. Results are compared "
    intro += "within rounds; the interval of published means is two standard deviations."
    if judged:
        intro += (
            f" Intervals hold in 95 of 100 cases, so about {round(0.05 * judged)} of {judged} "
            "differences would be seen by chance alone."
        )
    intro += "</p>"
    by_source: dict[str, list[Conclusion]] = defaultdict(list)
    for one in found:
        by_source[one.source].append(one)
    parts = [intro]
    for source, of in by_source.items():
        lines = "".join(
            f'<li class="{_CLASSES[one.difference]}">{_text(one.sentence())}</li>' for one in of
        )
        opened = " open" if len(of) <= 40 else ""
        parts.append(_ways(source, of))
        parts.append(f"<details{opened}><summary>{_text(source)}: {len(of)}</summary>")
        parts.append(f"<ul>{lines}</ul></details>")
    return "".join(parts)


def _hosts(records: Sequence[Record]) -> str:
    seen: dict[str, tuple[Record, int]] = {}
    for record in records:
        if "host" in record:
            key = json.dumps([record["host"], record.get("versions"), record.get("topology")])
            seen[key] = (record, seen[key][1] + 1 if key in seen else 1)
    parts = []
    for record, count in seen.values():
        host, topology = record["host"], record.get("topology", {})
        rows: list[tuple[str, object]] = [
            ("host", host.get("name")),
            ("processor", host.get("processor")),
            ("topology", ", ".join(f"{v} {k.replace('_', ' ')}" for k, v in topology.items())),
            ("memory", f"{host.get('memory_bytes', 0) / 2**30:.1f} GiB"),
            ("virtual machine", "yes" if host.get("is_virtual") else "no"),
            ("file system", host.get("file_system")),
            ("kernel", host.get("kernel")),
            *record.get("versions", {}).items(),
            ("launcher", record.get("launcher")),
            ("results", count),
        ]
        parts.append(_table(("", ""), rows))
    published = {str(record["source"]) for record in records if "source" in record}
    parts += [f"<p>Beside them stand published results: {_text(one)}.</p>" for one in published]
    return "".join(parts)


def _seats_text(record: Record) -> str:
    mapping = record.get("mapping", {})
    seats = mapping.get("seats", [])
    if not seats:  # simulated ranks
        return str(mapping.get("found", ""))
    return " ".join(f"{seat['role'][0]}{seat['cpus']}" for seat in seats[:16])


def _label(record: Record, labels: Mapping[str, int]) -> str:
    """Return a cell in words; with its arguments where others have the same words."""
    cell = Cell.of_record(record["cell"])
    more = f" {' '.join(cell.arguments)}" if labels[cell.label()] > 1 else ""
    return cell.label() + more


def _load_text(records: Sequence[Record]) -> str:
    loads = [one["load"] for one in records if one.get("load")]
    if not loads:
        return ""
    before, after = (statistics.median(float(one[w]) for one in loads) for w in ("before", "after"))
    return f"{before:.1f}, {after:.1f}"


def _cells(records: Sequence[Record]) -> str:
    """Return what ran: the wall time of each cell, and where its ranks sat."""
    by_key: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        if is_good(record) and "source" not in record:
            by_key[str(record.get("key"))].append(record)
    labels = Counter(Cell.of_record(of[0]["cell"]).label() for of in by_key.values())
    rows = []
    for of in by_key.values():
        walls = [float(one["seconds"]["wall"]) for one in of if "wall" in one["seconds"]]
        if not walls:
            continue
        found = median_interval(walls)
        checks = sorted(
            {name for one in of for name, good in one.get("checks", {}).items() if good}
        )
        rows.append(
            (
                _label(of[0], labels),
                len(walls),
                f"{found.value:.3g}",
                f"{found.low:.3g} to {found.high:.3g}",
                _load_text(of),
                _seats_text(of[0]),
                ", ".join(checks).replace("_", " "),
            )
        )
    head = ("cell", "results", "wall, s", "95 % interval", "load", "read back", "checked")
    legend = (
        "<p>Load: processes that wanted a core, before and after, medians. Read back: c0 is a "
        "compute rank that sat on CPU 0, s1 a server on CPU 1.</p>"
    )
    return legend + _table(head, sorted(rows), (1, 2, 3, 4)) if rows else ""


def _marked(records: Sequence[Record]) -> str:
    rows = []
    for record in records:
        if record.get("marks"):
            why = record.get("failed") or "; ".join(record["marks"])
            label = Cell.of_record(record["cell"]).label()
            rows.append((label, record.get("round", ""), str(why).strip()[-300:]))
    if not rows:
        return ""
    more = f"<p>… and {len(rows) - _MOST_LISTED} more.</p>" if len(rows) > _MOST_LISTED else ""
    return _table(("cell", "round", "why"), rows[:_MOST_LISTED]) + more


def _list(sentences: Sequence[str]) -> str:
    if not sentences:
        return ""
    lines = "".join(f"<li>{_text(one)}</li>" for one in sentences[:_MOST_LISTED])
    return f"<ul>{lines}</ul>"


def make_page(
    records: Sequence[Record], complaints: Sequence[str] = (), notes: Sequence[str] = ()
) -> str:
    """Return the report as HTML.

    Args:
        records: All results, those that are marked too.
        complaints: Lines that were skipped, as `read_lines` tells them.
        notes: The cells that could not run here, one sentence each.
    """
    rows = rows_of(records)
    names = sorted({str(record["study"]) for record in records if "study" in record})
    title = f"Study {', '.join(names)}" if names else "Study"
    published = sum(bool(row.spread) for row in rows)
    counts = f"{len(rows)} results count"
    if published:
        counts += f", {published} of them published means"
    counts += f"; {len(records) - len(rows)} do not (warm-up, failed or marked)."
    if published < len(rows):
        shaky = sum(float(one.get("foreign_part", 0)) > 0.1 for one in records if is_good(one))
        counts += f" Something else used the machine during {shaky} of those that count."
    drawn = list(draw_figures(rows))
    found = conclude(rows)
    sections = [
        ("Conclusions", _conclusions(found)),
        ("Figures", _figures(drawn)),
        ("Where it ran", _hosts(records)),
        ("What ran", _cells(records)),
        ("Outliers", _list([one.sentence() for one in outliers(rows)])),
        ("Failed or marked: kept, never averaged", _marked(records)),
        ("Not possible here", _list(notes)),
        ("Lines that were skipped", _list(complaints)),
    ]
    body = "".join(
        f'<section id="{name.split()[0].lower()}"><h2>{_text(name)}</h2>{content}</section>'
        for name, content in sections
        if content
    )
    style = (_HERE / "page.css").read_text()
    script = (_HERE / "page.js").read_text() if drawn else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{_text(title)}</title><style>{style}</style></head><body>"
        f"<h1>{_text(title)}</h1>{_answer(found)}<p>{_text(counts)}</p>{body}"
        f"<script>{script}</script></body></html>\n"
    )
