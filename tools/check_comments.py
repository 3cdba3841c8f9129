#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fail if a comment or a docstring begins with Of, What or the like, not with its subject."""

import ast
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TEXTS = {".md", ".html", ".svg"}  # are no sources: # is a heading there
COMMENT = re.compile(r"\s*(?://+|#|!) *")
LICENCE = re.compile(r".*SPDX-License-Identifier|#!")
FIRST_WORD = re.compile(r"(Of|What|Who|Whose|Where|Whether|Which|How|Why)\b")
ENTRY = re.compile(rf"^ +[*`\w, ]+: ({FIRST_WORD.pattern}|That\b)", re.MULTILINE)
PYTHON = re.compile(r"#!.*python")


def bad_lines(text: str) -> list[int]:
    """Return the lines, from 1, at which such a comment begins."""
    found = []
    goes_on = False
    for number, line in enumerate(text.splitlines(), 1):
        comment = COMMENT.match(line)
        if comment and not goes_on and FIRST_WORD.match(line, comment.end()):
            found.append(number)
        goes_on = bool(comment) and not LICENCE.match(line)
    return found


def bad_docstrings(text: str) -> list[int]:
    """Return the lines, from 1, at which such a docstring of Python begins, or an entry in one."""
    found = []
    for node in ast.walk(ast.parse(text)):
        # A text that stands alone is a docstring, also the one below an attribute.
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
            continue
        docstring = node.value.value
        if not isinstance(docstring, str):
            continue
        if FIRST_WORD.match(docstring):
            found.append(node.lineno)
        for entry in ENTRY.finditer(docstring):
            found.append(node.lineno + docstring.count("\n", 0, entry.start()))
    return found


def main() -> int:
    """Check the sources, and return the process exit code."""
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    bad = 0
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if not path.is_file() or path.is_symlink() or path.suffix in TEXTS:
            continue
        try:
            text = path.read_text()
        except UnicodeDecodeError:
            continue
        numbers = bad_lines(text)
        if path.suffix == ".py" or PYTHON.match(text):
            numbers = sorted([*numbers, *bad_docstrings(text)])
        for number in numbers:
            print(f"{name}:{number}: {text.splitlines()[number - 1].strip()}")
            bad += 1
    if bad:
        print(f"{bad} comments do not begin with the thing that they are about", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
