# SPDX-License-Identifier: BSD-3-Clause
"""The reference of Fortran, from the interfaces of the module and their comments."""

import re

_PUBLIC = re.compile(r"public :: (.*)")
_GENERIC = re.compile(r"\s*interface (\w+)$")
_BEGIN = re.compile(r"\s*(?:[\w()]+ )?(?:subroutine|function) (\w+)")
_END = re.compile(r"\s*end (?:subroutine|function)")
_ARGUMENT = re.compile(r"\s*(?:type|character|integer|logical|real|class)\b.*::")


def calls_of(module: str) -> dict[str, list[tuple[str, str]]]:
    """Return each public call: its declarations, as a program may use it, and what the comment before it says."""
    text = re.sub(r" &\n\s*(?:&\s*)?", " ", module)
    names = {name.strip() for found in _PUBLIC.findall(text) for name in found.split(",")}
    calls: dict[str, list[tuple[str, str]]] = {}
    generic, comment, lines = "", [], iter(text.splitlines())
    for line in lines:
        if found := _GENERIC.match(line):
            generic = found[1]
        elif line.strip() == "end interface":
            generic, comment = "", []
        elif line.lstrip().startswith("!>"):
            comment.append(line.lstrip()[2:].removeprefix(" "))
        elif found := _BEGIN.match(line):
            name = generic or found[1]
            declared = [re.sub(r" bind\(c, name=.*?\)", "", line.strip()).replace(found[1], name, 1)]
            while not _END.match(line := next(lines)):
                is_said = "intent(" in line or "optional" in line or "result(" in declared[0]
                declared += ["  " + line.strip()] if is_said and _ARGUMENT.match(line) else []
            if name in names:
                calls.setdefault(name, []).append(("\n".join(declared), "\n".join(comment)))
            comment = [] if not generic else comment
        elif line.strip():
            comment = []
    return dict(sorted(calls.items()))
