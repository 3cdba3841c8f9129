# SPDX-License-Identifier: BSD-3-Clause
"""Draw the diagrams of pages, which are written in Mermaid, as SVG.

Nothing is left to the reader's browser. Flowcharts are laid out by Graphviz; sequence diagrams are columns and rows. Only
what the pages use of Mermaid is known. Everything else is an error, so no diagram is ever drawn without a part of it.
"""

from __future__ import annotations

import re
import subprocess
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape

FONT = "sans-serif"


def draw(source: str) -> str:
    """Return a diagram as an SVG element, in the colour of the text around it.

    Raises:
        ValueError: If a line is none that is known here; names the line.
    """
    lines = [line.strip() for line in source.splitlines() if line.strip()]
    kind = lines[0].split()[0] if lines else ""
    if kind == "flowchart":
        svg = flowchart(lines)
    elif kind == "sequenceDiagram":
        svg = sequence(lines[1:])
    else:
        raise ValueError(f"a diagram of Mermaid begins with flowchart or sequenceDiagram here, not with {kind!r}")
    return svg.replace(">", f"><desc>{escape(source)}</desc>", 1)


# Flowcharts.

NODE = re.compile(r'(?P<name>\w[\w-]*?)(?:\["(?P<quoted>[^"]*)"\]|\[(?P<box>[^\]"]*)\]|\{(?P<question>[^}]*)\})?(?=\s|$)')
ARROW = re.compile(r"--\s*(?:(?P<label>[^->]+?)\s*--)?>")


def quoted(text: str) -> str:
    """Return a label as Graphviz writes it."""
    return '"' + re.sub(r"<br\s*/?>", r"\\n", text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def flowchart(lines: list[str]) -> str:
    """Translate a flowchart for Graphviz, and let it be drawn."""
    direction = {"TD": "TB", "TB": "TB", "LR": "LR"}[lines[0].split()[1]]
    dot = [
        "digraph {",
        f'rankdir={direction}; bgcolor=transparent; nodesep=0.35; ranksep=0.45; fontname="{FONT}"; fontsize=12;',
        f'node [shape=box style=rounded fontname="{FONT}" fontsize=12 margin="0.16,0.08"];',
        f'edge [fontname="{FONT}" fontsize=11 arrowsize=0.7];',
    ]
    parts: list[list[str]] = [[]]  # subgraphs, and what lies between them
    for line in lines[1:]:
        word, _, rest = line.partition(" ")
        if word == "subgraph":
            parts.append([f"subgraph {quoted('cluster ' + rest)} {{ label={quoted(rest)}; style=dashed;"])
        elif word == "end":
            parts[-1].append("}")
            parts.append([])
        elif word != "direction":  # all are as the whole
            parts[-1] += statement(line)
    if direction == "LR":  # Graphviz puts the first one lowest
        parts.reverse()
    text = "\n".join([*dot, *(line for part in parts for line in part), "}"])
    done = subprocess.run(["dot", "-Tsvg"], input=text, capture_output=True, text=True, check=True)
    svg = done.stdout[done.stdout.index("<svg") :]
    svg = re.sub(r"<!--.*?-->\n?|<title>.*?</title>\n?", "", svg, flags=re.DOTALL)
    svg = re.sub(r'(<text [^>]*)fill="[^"]*"', r"\1", svg).replace("<text ", '<text fill="currentColor" ')
    return re.sub(r'"black"', '"currentColor"', svg)


def statement(line: str) -> Iterator[str]:
    """Translate nodes, or a chain of them: a & b --> c -- yes --> d."""
    groups: list[list[str]] = []
    labels: list[str] = []
    rest = line
    while True:
        names, rest, defined = nodes(rest, line)
        yield from defined
        groups.append(names)
        if not rest:
            break
        arrow = ARROW.match(rest)
        if not arrow:
            raise ValueError(f"no arrow that is known in {line!r}, at {rest!r}")
        labels.append(arrow["label"] or "")
        rest = rest[arrow.end() :].strip()
    for before, label, after in zip(groups, labels, groups[1:], strict=False):
        attributes = f" [label={quoted(' ' + label + ' ')}]" if label else ""
        yield from (f"{quoted(one)} -> {quoted(other)}{attributes};" for one in before for other in after)


def nodes(text: str, line: str) -> tuple[list[str], str, list[str]]:
    """Return the names of nodes at the beginning, what comes behind them, and their definitions."""
    names: list[str] = []
    defined: list[str] = []
    while True:
        node = NODE.match(text)
        if not node:
            raise ValueError(f"no node that is known in {line!r}, at {text!r}")
        names.append(node["name"])
        label = next((node[kind] for kind in ("quoted", "box", "question") if node[kind] is not None), None)
        shape = " shape=diamond style=solid margin=0" if node["question"] is not None else ""
        if label is not None:
            defined.append(f"{quoted(node['name'])} [label={quoted(label)}{shape}];")
        text = text[node.end() :].strip()
        if not text.startswith("&"):
            return names, text, defined
        text = text[1:].strip()


# Sequence diagrams.

CHARACTER = 6.4  # a little more than one takes at this size
SIZE = 12
LINE = 15
MESSAGE = re.compile(r"(\w+)(-?->>)(\w+):\s*(.*)")


@dataclass
class Message:
    """An arrow from one column to another, or to itself."""

    start: int
    end: int
    is_answer: bool
    lines: list[str]

    @property
    def width(self) -> float:
        return max(map(len, self.lines)) * CHARACTER + (44 if self.start == self.end else 24)


@dataclass
class Canvas:
    """A drawing that grows: the elements of SVG, in the order in which they are drawn."""

    parts: list[str] = field(default_factory=list)

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str = "") -> None:
        self.parts.append(
            f'<line x1="{x1:.0f}" y1="{y1:.0f}" x2="{x2:.0f}" y2="{y2:.0f}" stroke="currentColor" {style}/>'
        )

    def head(self, x: float, y: float, way: int) -> None:
        self.parts.append(f'<path d="M{x:.0f},{y:.0f} l{-7 * way},-4 v8 z" fill="currentColor"/>')

    def text(self, x: float, y: float, lines: list[str], anchor: str) -> None:
        for number, line in enumerate(lines):
            self.parts.append(
                f'<text x="{x:.0f}" y="{y + number * LINE:.0f}" text-anchor="{anchor}" fill="currentColor">'
                f"{escape(line)}</text>"
            )


def read_sequence(lines: list[str]) -> tuple[list[list[str]], list[Message]]:
    """Return the titles of the columns, and the messages in their order."""
    columns: dict[str, list[str]] = {}
    messages: list[Message] = []
    for line in lines:
        if line.startswith("participant "):
            name, _, title = line.removeprefix("participant ").partition(" as ")
            columns[name] = textwrap.wrap(title or name, 14)
            continue
        found = MESSAGE.fullmatch(line)
        if not found or found[1] not in columns or found[3] not in columns:
            raise ValueError(f"no message between participants: {line!r}")
        names = list(columns)
        wrapped = textwrap.wrap(found[4], 26)
        messages.append(Message(names.index(found[1]), names.index(found[3]), found[2] == "-->>", wrapped))
    return list(columns.values()), messages


def places(titles: list[list[str]], messages: list[Message]) -> list[float]:
    """Return where the columns stand: as near as titles and messages allow."""
    widths = [max(map(len, title)) * CHARACTER + 20 for title in titles]
    x = [widths[0] / 2 + 2]
    for column in range(1, len(titles) + 1):  # the last: where the picture ends
        place = x[-1] + (widths[column - 1] + widths[column]) / 2 + 12 if column < len(titles) else 0
        for message in messages:
            left, right = sorted((message.start, message.end))
            right = right if left < right else left + 1
            if right == column:
                place = max(place, x[left] + message.width)
        x.append(max(place, x[-1] + widths[-1] / 2 + 2))
    return x


def sequence(lines: list[str]) -> str:
    """Draw a sequence diagram: a column for each participant, a row for each message."""
    titles, messages = read_sequence(lines)
    x = places(titles, messages)
    top = max(map(len, titles)) * LINE + 14
    canvas = Canvas()
    y = top + 10.0
    for message in messages:
        first, y = y + SIZE, y + len(message.lines) * LINE + 5
        style = 'stroke-dasharray="4 3"' if message.is_answer else ""
        start, end = x[message.start], x[message.end]
        if message.start == message.end:
            canvas.text(start + 32, first, message.lines, "start")
            middle = first + (len(message.lines) - 1) * LINE / 2 - SIZE / 3
            canvas.parts.append(
                f'<path d="M{start:.0f},{middle - 7:.0f} h24 v14 h-20" fill="none" stroke="currentColor"/>'
            )
            canvas.head(start, middle + 7, -1)
        else:
            canvas.text((start + end) / 2, first, message.lines, "middle")
            canvas.line(start, y, end, y, style)
            canvas.head(end, y, 1 if end > start else -1)
        y += 8
    for column, title in enumerate(titles):
        width = max(map(len, title)) * CHARACTER + 16
        canvas.parts.append(
            f'<rect x="{x[column] - width / 2:.0f}" y="1" width="{width:.0f}" height="{top - 2}" rx="5" '
            'fill="none" stroke="currentColor"/>'
        )
        canvas.text(x[column], (top - len(title) * LINE) / 2 + SIZE, title, "middle")
        canvas.line(x[column], top, x[column], y + 8, 'stroke-opacity="0.35"')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{x[-1]:.0f}" height="{y + 12:.0f}" '
        f'viewBox="0 0 {x[-1]:.0f} {y + 12:.0f}" font-family="{FONT}" font-size="{SIZE}">\n'
        + "\n".join(canvas.parts)
        + "\n</svg>"
    )
