#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fail if a Markdown page has a line that is too long, a dead link, or a table that is cut in two.

Lines have at most 110 columns. Tables, code and lines that are one link may be longer, and so may
the page that a program makes. Links to other sites are not followed. A blank line ends a
table, so rows behind one are plain text.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

LONGEST = 110
GENERATED = {"docs/settings.md"}
FENCE = re.compile(r"^\s*(```|~~~)")
INLINE_CODE = re.compile(r"`[^`]*`")
LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
REFERENCE = re.compile(r"^\s*\[[^\]]+\]:\s+(\S+)")
ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]*:")
LIST_MARK = re.compile(r"^\s*(?:[-*]|\d+\.)\s+")


def pages(root: Path) -> list[Path]:
    """Return the Markdown files that belong to the repository."""
    listed = subprocess.run(
        ["git", "-C", root, "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode == 0:
        names = [root / name for name in listed.stdout.splitlines()]
        return sorted(name for name in names if name.exists())
    # Not a git checkout, such as an unpacked archive.
    found = root.rglob("*.md")
    return sorted(p for p in found if "build" not in p.relative_to(root).parts)


def prose(text: str) -> Iterator[tuple[int, str]]:
    """Yield the number and text of each line outside of code."""
    fence = ""
    for number, line in enumerate(text.splitlines(), start=1):
        mark = FENCE.match(line)
        if mark and fence in ("", mark[1]):
            fence = "" if fence else mark[1]
        elif not fence:
            yield number, line


def anchor(heading: str) -> str:
    """Return the name that a heading has in a link, as GitHub makes it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    """Return the names of all headings of a page; a repeated one gets a number."""
    found: set[str] = set()
    times: dict[str, int] = {}
    for _, line in prose(page.read_text(encoding="utf-8")):
        if match := re.match(r"#{1,6}\s+(.*)", line):
            name = anchor(match[1])
            count = times.get(name, 0)
            found.add(f"{name}-{count}" if count else name)
            times[name] = count + 1
    return found


def is_one_link(line: str) -> bool:
    """Tell whether a line has no words beside one link, so that it cannot be broken."""
    return LINK.sub("", LIST_MARK.sub("", line), count=1).strip(" .,;:|") == "" and "](" in line


def broken_link(page: Path, link: str) -> str:
    """Return what is wrong with a link of a page, or nothing."""
    if ELSEWHERE.match(link):
        return ""
    path, _, name = link.partition("#")
    target = page.parent / path if path else page
    if not target.exists():
        return f"there is no {link}"
    if name and target.suffix == ".md" and name not in anchors(target):
        return f"{path or 'the page'} has no heading #{name}"
    return ""


def cut_tables(lines: list[tuple[int, str]]) -> Iterator[int]:
    """Yield the numbers of rows that a blank line has cut off from their table."""
    shown = [line for _, line in lines] + [""]
    for index in range(2, len(lines)):
        is_row = shown[index].startswith("|") and not shown[index + 1].startswith("| ---")
        if is_row and not shown[index - 1] and shown[index - 2].startswith("|"):
            yield lines[index][0]


def faults_of(page: Path, root: Path) -> list[str]:
    """Return all that is wrong with one page, as `path:line: what`."""
    name = page.relative_to(root).as_posix()
    faults = []
    lines = list(prose(page.read_text(encoding="utf-8")))
    for number, line in lines:
        may_be_long = name in GENERATED or line.lstrip().startswith("|") or is_one_link(line)
        if len(line) > LONGEST and not may_be_long:
            columns = f"{len(line)} columns, at most {LONGEST}"
            faults.append(f"{name}:{number}: {columns}")
    faults += [f"{name}:{number}: a row without a table" for number in cut_tables(lines)]
    # A link may be broken across two lines, so links are looked for in the page as a whole.
    text = "\n".join(INLINE_CODE.sub("", line) for _, line in lines)
    starts = [number for number, _ in lines]
    for match in LINK.finditer(text):
        if fault := broken_link(page, match[1]):
            faults.append(f"{name}:{starts[text.count(chr(10), 0, match.start())]}: {fault}")
    for number, line in lines:
        named = REFERENCE.match(line)
        if named and (fault := broken_link(page, named[1])):
            faults.append(f"{name}:{number}: {fault}")
    return faults


def main() -> int:
    """Check all pages, print what is wrong and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, nargs="?", default=Path(__file__).parents[1])
    root = parser.parse_args().root.resolve()
    checked = pages(root)
    if not checked:
        print(f"{root}: no Markdown page was found")
        return 1
    faults = [fault for page in checked for fault in faults_of(page, root)]
    print("\n".join(faults) if faults else f"{len(checked)} pages: lines and links are good")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
