#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check that the site shows each diagram as a drawing, and none as the Mermaid that it is written in.

Usage: check_diagrams.py <folder of the pages> <folder of their HTML>
"""

import re
import sys
from pathlib import Path

WRITTEN = re.compile(r"^ *```mermaid$", re.MULTILINE)
DRAWN = re.compile(r'<div class="diagram"><svg [^>]*>.*?<text.*?</svg>\s*</div>', re.DOTALL)


def wrong_in(pages: Path, html: Path) -> list[str]:
    """Return the pages that lack a drawing."""
    wrong = []
    count = 0
    for page in sorted(pages.rglob("*.md")):
        written = len(WRITTEN.findall(page.read_text()))
        count += written
        if written == 0:
            continue
        shown = (html / page.relative_to(pages)).with_suffix(".html").read_text()
        drawn = len(DRAWN.findall(shown))
        if drawn != written or "language-mermaid" in shown or "highlight-mermaid" in shown:
            wrong.append(f"{page}: {written} diagrams are written, {drawn} are drawn")
    return wrong if count > 0 else ["no page has a diagram"]


if __name__ == "__main__":
    found = wrong_in(Path(sys.argv[1]), Path(sys.argv[2]))
    print("\n".join(found), end="\n" if found else "")
    sys.exit(bool(found))
