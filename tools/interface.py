# SPDX-License-Identifier: BSD-3-Clause
"""The declarations of include/iocomp/iocomp.h: for the site's reference and tools/check_abi."""

import re
from dataclasses import dataclass

COMMENT = re.compile(r"/\*\*(?!<)(.*?)\*/[ \t]*\n(?=\S)", re.DOTALL)


@dataclass
class Entry:
    """A declaration with its comment. `kind` is "call" or "type"."""

    name: str
    kind: str
    declaration: str
    text: str


def words_of(comment: str) -> str:
    """Return a comment without its stars."""
    return "\n".join(re.sub(r"^\s*\*? ?", "", line) for line in comment.splitlines()).strip()


def introduction_of(header: str) -> str:
    """Return what the header says of itself."""
    found = COMMENT.search(header)
    if found is None:
        raise ValueError("iocomp.h has no comment that begins with @file")
    return words_of(found[1]).split("\n", 1)[1].strip()


def declaration_at(text: str, start: int) -> str:
    """Return the declaration that begins at `start`: to its semicolon, or a macro's line."""
    if text.startswith("#define", start):
        return text[start : text.index("\n", start)]
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] in "{(") - (text[at] in "})")
        if text[at] == ";" and depth == 0:
            return text[start : at + 1]
    raise ValueError(f"no end of {text[start : start + 60]!r}")


def entries_of(header: str) -> list[Entry]:
    """Return what the header declares and describes, in its order."""
    entries = []
    header = header.replace(" IOCOMP_ZERO;", ";")  # C++ alone has it
    for found in COMMENT.finditer(header):
        text = words_of(found[1])
        if text.startswith("@file"):
            continue
        declaration = declaration_at(header, found.end())
        call = re.search(r"\b(iocomp_\w+)\(", declaration)
        other = re.search(r"#define (\w+)|\}\s*(\w+);|typedef struct \w+ (\w+);", declaration)
        if call and "{" not in declaration:
            entries.append(Entry(call[1], "call", declaration.replace("IOCOMP_EXPORT ", ""), text))
        elif other:
            name = next(name for name in other.groups() if name)
            entries.append(Entry(name, "type", declaration, text))
        else:
            raise ValueError(f"what is this in iocomp.h? {declaration[:80]!r}")
    return entries
