#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fail if a class in src/ or connectors/ is spread over several source files or has too many data members.

A class has one header, one source file and one job. Threads are started in one place, with all
signals blocked. These signs are found by text, so they rest on how the project writes: a definition
begins in the first column, a data member's name ends with an underscore. `check_house.py --list src`
prints what every entry of the list below is now.
"""

import pathlib
import re
import sys
from collections import defaultdict
from dataclasses import dataclass, field

MOST_FILES = 1
MOST_MEMBERS = 15


@dataclass
class Size:
    """The size of a class: source files that define its members, and data members."""

    files: int = MOST_FILES
    members: int = MOST_MEMBERS
    reason: str = ""


# Classes that are larger, and why they still are. An entry says the most that the class may have;
# it goes when the class is mended.
LARGER: dict[str, Size] = {}

QUOTED = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
CLASS = re.compile(r"^[ ]*(?:template\b[^;{]*>\s*)?class (\w+)\b[^;{]*\{", re.MULTILINE)
DEFINITION = re.compile(r"^(?:[^\s#/}].*?\b)??([A-Z]\w*)::(?:~?\w+|operator[^\w(]+)\(", re.MULTILINE)
STARTED = re.compile(r"\bstd::j?thread(?:\s+\w+)?\s*[{(]|\bpthread_create\(")
STARTERS = {"base/thread.h", "base/thread.cpp"}
MEMBER = re.compile(r"([^;{}]*)\b[a-z]\w*_\s*(?:\[[^\]]*\]\s*)?(?:\{\}|=[^;]*)?;")


def plain(text: str) -> str:
    """Return the text without comments and with empty strings."""
    return QUOTED.sub(lambda found: '""' if '"' in found[0][:2] else "", text)


def body_at(text: str, start: int) -> str:
    """Return what lies between the brace before `start` and the one that closes it, blocks empty."""
    depth = 1
    kept = []
    for letter in text[start:]:
        depth -= letter == "}"
        if depth == 0:
            break
        if depth == 1:
            kept.append(letter)
        depth += letter == "{"
    return "".join(kept)


def members_in(body: str) -> int:
    """Count the data members in the body of a class; what its objects share does not count."""
    return sum(
        not re.search(r"\b(static|using|return)\b", found[1]) for found in MEMBER.finditer(body)
    )


@dataclass
class Found:
    """The findings on one class."""

    sources: set[str] = field(default_factory=set)
    members: int = 0


def classes(source_dir: pathlib.Path) -> dict[str, Found]:
    """Return the classes by `folder/Name`: two formats may have a class of the same name."""
    found: dict[str, Found] = defaultdict(Found)
    for path in sorted(source_dir.rglob("*")):
        if path.suffix not in {".h", ".cpp"}:
            continue
        place = path.relative_to(source_dir)
        text = plain(path.read_text())
        for match in CLASS.finditer(text):
            one = found[f"{place.parent}/{match[1]}"]
            one.members = max(one.members, members_in(body_at(text, match.end())))
        if path.suffix == ".cpp":
            for match in DEFINITION.finditer(text):
                found[f"{place.parent}/{match[1]}"].sources.add(place.name)
    return found


def threads(source_dir: pathlib.Path) -> list[str]:
    """Return the files that start threads, but for the one that may."""
    return [
        str(path.relative_to(source_dir))
        for path in sorted(source_dir.rglob("*"))
        if path.suffix in {".h", ".cpp"}
        and path.relative_to(source_dir).as_posix() not in STARTERS
        and STARTED.search(plain(path.read_text()))
    ]


def violations(source_dir: pathlib.Path, larger: dict[str, Size]) -> list[str]:
    """Return one line per class that is larger than it may be, and per entry that can go."""
    lines = []
    found = classes(source_dir)
    for name, one in sorted(found.items()):
        most = larger.get(name, Size())
        if len(one.sources) > most.files:
            lines.append(
                f"{name} is defined in {len(one.sources)} source files, "
                f"at most {most.files}: {', '.join(sorted(one.sources))}"
            )
        if one.members > most.members:
            lines.append(f"{name} has {one.members} data members, at most {most.members}")
    lines += [f"{name} starts a thread: base/thread.h does" for name in threads(source_dir)]
    for name in sorted(larger):
        one = found.get(name, Found())
        if len(one.sources) <= MOST_FILES and one.members <= MOST_MEMBERS:
            lines.append(f"{name} is mended: take it off the list in {pathlib.Path(__file__).name}")
    return lines


def main() -> int:
    """Print the violations and return the process exit code."""
    arguments = [argument for argument in sys.argv[1:] if argument != "--list"]
    lines = []
    for source_dir in map(pathlib.Path, arguments or ["src", "connectors"]):
        found = classes(source_dir)
        listed = {name: size for name, size in LARGER.items() if name in found}
        for name, one in found.items() if "--list" in sys.argv else ():
            if name in listed:
                print(f"{name}: {len(one.sources)} source files, {one.members} data members")
        lines += violations(source_dir, listed)
    print("\n".join(lines))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
