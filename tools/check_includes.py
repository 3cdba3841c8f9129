#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fail if a file uses a name of the project, and includes no header that declares it.

Most builds compile several sources at once, where a source may live on the headers of another. The
compiler sees that only where each source stands alone (preset dev, ten minutes more); this reads
the sources as text, in a second. It knows the names that begin a line in a header, within
`namespace iocomp::ROOM`. A name that something in reach also has as a member is not judged.
"""

import functools
import os
import pathlib
import re
import sys
from collections import defaultdict

from check_house import plain

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)
NAMESPACE = re.compile(r"^namespace iocomp((?:::\w+)*) \{", re.MULTILINE)
TYPE = re.compile(r"^(?:class|struct|union|enum class|enum|using)\s+(?:\[\[\w+\]\] |IOCOMP_\w+ )?(\w+)", re.MULTILINE)
FUNCTION = re.compile(r"^(?:\[\[nodiscard\]\] )?(?:inline |constexpr |extern )*\w[\w:<>,*& ]*[ *&](\w+)\(", re.MULTILINE)
MEMBER = re.compile(
    r"^ +(?:class|struct|enum class|enum|using) (\w+)"
    r"|^ +(?!return\b|throw\b)[\w\[][\w:<>,*& \[\]]*[ *&](\w+)(?=[({=;])"
    r"|\b(?:typename|class) (\w+)(?=[,>])",
    re.MULTILINE,
)
PARAMETER = re.compile(r"[>&*] (\w+)(?=[,)])")
# A name with its namespace; a type; a function that is called.
USE = re.compile(r"(?<![\w:.>])(?:(?:\w+::)+\w+|[A-Z]\w*[a-z]\w*\b(?!::)|[a-z_]\w*(?=[(<]))")


class Sources:
    """The files below some folders, as text without comments and strings."""

    def __init__(self, folders: list[pathlib.Path]) -> None:
        self.folders = folders
        self.text = {}
        self.includes = {}
        for folder in folders:
            for path in sorted(folder.rglob("*")):
                if path.suffix in {".h", ".cpp"}:
                    raw = path.read_text()
                    self.includes[path] = INCLUDE.findall(raw)
                    self.text[path] = plain(raw)

    def found(self, name: str, beside: pathlib.Path) -> pathlib.Path | None:
        """Return the file that an include means, or None."""
        places = (pathlib.Path(os.path.normpath(place / name)) for place in [beside.parent, *self.folders])
        return next((place for place in places if place in self.text), None)

    @functools.cache
    def reached(self, path: pathlib.Path) -> frozenset[pathlib.Path]:
        """Return a file and all files that it includes, directly or not."""
        seen, todo = {path}, [path]
        while todo:
            at = todo.pop()
            for name in self.includes[at]:
                header = self.found(name, at)
                if header and header not in seen:
                    seen.add(header)
                    todo.append(header)
        return frozenset(seen)


def parts(text: str) -> list[tuple[str, str]]:
    """Return the text of each namespace by its name within iocomp, such as formats::hdf5."""
    before, *rest = NAMESPACE.split(text)
    return [("", before), *((name.removeprefix("::"), part) for name, part in zip(rest[::2], rest[1::2]))]


def violations(folders: list[pathlib.Path]) -> list[str]:
    """Return one line per name without its header, as `file:line: message`."""
    sources = Sources(folders)
    declared = defaultdict(set)  # by namespace::name: the headers
    plain, inner = set(), {}  # names at the beginning of a line; by file those within something
    for path, text in sources.text.items():
        inner[path] = {name for names in MEMBER.findall(text) for name in names}
        for space, part in parts(text) if path.suffix == ".h" else []:
            names = set(TYPE.findall(part)) | set(FUNCTION.findall(part))
            plain |= names
            for name in names:
                declared[f"{space}::{name}".removeprefix("::")].add(path)
    found = []
    for path, text in sources.text.items():
        space, reached, told = parts(text)[-1][0], sources.reached(path), set()
        own = set(TYPE.findall(text)) | set(FUNCTION.findall(text)) | set(PARAMETER.findall(text))
        unclear = own.union(*(inner[header] for header in reached))
        for use in USE.finditer(text):
            name = use[0].removeprefix("iocomp::")
            if "::" not in name and (name not in plain or name in unclear):
                continue
            headers = headers_of(name, space, declared)
            if name != space and headers and not headers & reached and name not in told:
                told.add(name)
                line = text.count("\n", 0, use.start()) + 1
                found.append(f"{path}:{line}: {name} without {min(map(str, headers))}")
    return found


def headers_of(name: str, space: str, declared: dict[str, set[pathlib.Path]]) -> set[pathlib.Path]:
    """Return the headers that declare a name as a namespace uses it: in it, or further out."""
    outer = space.split("::")
    while outer:
        headers = declared.get("::".join([*outer, name]))
        if headers:
            return headers
        outer.pop()
    return declared.get(name, set())


def main() -> int:
    """Print the violations and return the process exit code."""
    found = violations([pathlib.Path(name) for name in sys.argv[1:] or ["src", "connectors"]])
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
