# SPDX-License-Identifier: BSD-3-Clause
"""A copy of the sources in which the mutants are, and its build."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import candidates
from candidates import Candidate, Range

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "build" / "mutants"
COPY = FOLDER / "source"
BUILD = COPY / "build" / "simulation"  # as in a checkout, so ccache knows what has no mutants
PROGRAM = BUILD / "tests" / "simulation" / "simulation"
HEADER = "base/mutant.h"
INCLUDE = f'#include "{HEADER}"\n'

# The code that is mutated: folders and sources below src/.
ROOMS: dict[str, list[str]] = {
    "steps": ["steps"],
    "writing": ["writing"],
    "writer": ["writer"],
    "commit": ["commit"],
    "disk": [f"disk/{name}.cpp" for name in ("output_file", "ring", "ring_engine")],
    "client": ["client"],
    "server": ["server"],
    "formats": [f"formats/{name}" for name in ("posix", "pnetcdf", "hdf5", "netcdf")],
}
# They read; what is written does not depend on them.
READERS = ("source.cpp", "plain_source.cpp", "look.cpp", "inventory.cpp")
# The MPI, which is simulated, does not write files.
NOT_SIMULATED = ("writing/library_output.cpp", "formats/hdf5/zstd_filter.cpp")


def chosen_sources() -> dict[str, list[str]]:
    """Return by room the sources that are mutated, below src/."""
    chosen: dict[str, list[str]] = {}
    for room, places in ROOMS.items():
        files: list[Path] = []
        for place in places:
            path = ROOT / "src" / place
            files += sorted(path.rglob("*.cpp")) if path.is_dir() else [path]
        names = [str(file.relative_to(ROOT / "src")) for file in files]
        chosen[room] = [
            name
            for name in names
            if Path(name).name not in READERS
            and not Path(name).name.startswith("no_")
            and name not in NOT_SIMULATED
        ]
    return chosen


def copy_sources() -> None:
    """Bring the copy up to date, but for what has mutants in it: that is written later."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    mutated = {f"src/{name}" for names in chosen_sources().values() for name in names}
    for name in listed:
        if name not in mutated and (ROOT / name).is_file() and not (ROOT / name).is_symlink():
            write(COPY / name, (ROOT / name).read_bytes())
            (COPY / name).chmod((ROOT / name).stat().st_mode)
    write(COPY / "src" / HEADER, (Path(__file__).parent / "mutant.h").read_bytes())


def write(path: Path, content: bytes) -> None:
    """Write a file that has other content; else what was built from it stays good."""
    if not path.exists() or path.read_bytes() != content:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def configure() -> None:
    """Configure a build of the copy."""
    for names in chosen_sources().values():
        for name in names:
            if not (COPY / "src" / name).exists():
                write(COPY / "src" / name, (ROOT / "src" / name).read_bytes())
    if not (BUILD / "build.ninja").exists():
        command = ["cmake", "--preset", "simulation", "-DIOCOMP_BUILD_APPS=OFF"]
        subprocess.run(command, cwd=COPY, check=True, stdout=sys.stderr)


def build(numbered: dict[int, Candidate]) -> dict[int, Candidate]:
    """Build the simulation, its formats and the unit tests with these mutants.

    Returns:
        Those that compile.
    """
    numbered = dict(numbered)
    command = ["cmake", "--build", str(BUILD), "--target", "simulation", "unit_tests", "--", "-k0"]
    while True:
        write_mutants(numbered)
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode == 0:
            return numbered
        bad = offending(done.stdout) & set(numbered)
        if not bad:
            raise RuntimeError(f"the mutants cannot be built:\n{done.stdout[-4000:]}")
        for number in bad:
            print(f"does not compile: {numbered.pop(number).key}", file=sys.stderr)


def offending(told: str) -> set[int]:
    """Return the mutants at which a compiler has found errors."""
    bad: set[int] = set()
    for path, line in set(re.findall(r"^(\S+\.cpp):(\d+):\d+: error", told, re.MULTILINE)):
        lines = Path(path).read_text().splitlines()
        number = int(line) - 1
        while number > 0 and "mutants::is(" not in lines[number]:
            number -= 1
        bad |= {int(one) for one in re.findall(r"mutants::is\((\d+)\)", lines[number])}
    return bad


def units() -> list[tuple[list[str], list[str]]]:
    """Return what the compiler takes together: sources below src/, and what it is told for them."""
    own = re.compile(r"-(?:I|D|isystem|std)")
    found: list[tuple[list[str], list[str]]] = []
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        words = entry["command"].split()
        flags: list[str] = []
        for number, word in enumerate(words):
            if word == "-isystem":
                flags += [word, words[number + 1]]
            elif own.match(word):
                flags.append(word.replace(f"{COPY}/src", f"{ROOT}/src"))
        unit = Path(entry["file"])
        sources = [unit]
        if unit.name.startswith("unity_"):
            sources = [Path(one) for one in re.findall(r'#include "([^"]+)"', unit.read_text())]
        below = [one for one in sources if one.is_relative_to(COPY / "src")]
        found.append(([str(one.relative_to(COPY / "src")) for one in below], flags))
    return found


def rendered(source: bytes, numbered: list[tuple[int, Candidate]]) -> bytes:
    """Return a source with these mutants, each behind its number."""
    # The outer one of two at one place is the one that needs it as a whole.
    outer_first = sorted(
        numbered, key=lambda one: (one[1].where[0], -one[1].where[1], len(one[1].parts), one[0])
    )

    def render(where: Range, within: list[tuple[int, Candidate]]) -> str:
        text = ""
        at = where[0]
        rest = list(within)
        while rest:
            number, one = rest.pop(0)
            inner = [other for other in rest if other[1].where[1] <= one.where[1]]
            inner = [other for other in inner if other[1].where[0] >= one.where[0]]
            rest = [other for other in rest if other not in inner]
            parts = [
                render(
                    part,
                    [
                        other
                        for other in inner
                        if part[0] <= other[1].where[0] and other[1].where[1] <= part[1]
                    ],
                )
                for part in one.parts
            ]
            text += source[at : one.where[0]].decode()
            text += one.changed(parts, f"::iocomp::mutants::is({number})")
            at = one.where[1]
        return text + source[at : where[1]].decode()

    return (INCLUDE + render((0, len(source)), outer_first)).encode()


def find_in(names: list[str], flags: list[str]) -> list[Candidate]:
    """Return what could be a mutant in a unit; as long as that has not changed, as before."""
    version = hashlib.sha256()
    for path in (*(ROOT / "src" / name for name in names), Path(candidates.__file__)):
        version.update(path.read_bytes())
    known = FOLDER / "candidates" / f"{version.hexdigest()}.json"
    if not known.exists():
        found = candidates.find(ROOT, names, flags)
        write(known, json.dumps([dataclasses.asdict(one) for one in found]).encode())
    return [
        Candidate(
            **{
                **one,
                "where": tuple(one["where"]),
                "parts": tuple(tuple(part) for part in one["parts"]),
            }
        )
        for one in json.loads(known.read_bytes())
    ]


def find_all() -> dict[str, list[Candidate]]:
    """Return by room what could be a mutant."""
    chosen = chosen_sources()
    wanted = {name for names in chosen.values() for name in names}
    found: dict[str, list[Candidate]] = defaultdict(list)
    for names, flags in units():  # some sources are part of two libraries
        own = [name for name in names if name in wanted]
        wanted -= set(own)
        for one in find_in(own, flags) if own else []:
            found[one.source].append(one)
    return {room: [one for name in names for one in found[name]] for room, names in chosen.items()}


def sample(found: dict[str, list[Candidate]], count: int, seed: int) -> list[Candidate]:
    """Return about as many of each room, and within a room of each operator, by chance."""
    chosen: list[Candidate] = []
    rooms = list(found)
    for number, room in enumerate(rooms):
        wanted = count * (number + 1) // len(rooms) - count * number // len(rooms)
        by_operator: dict[str, list[Candidate]] = defaultdict(list)
        for one in sorted(found[room], key=lambda one: one.rank(seed)):
            by_operator[one.operator].append(one)
        of_room: list[Candidate] = []
        operators = sorted(by_operator)
        while len(of_room) < wanted and any(by_operator.values()):
            for operator in operators:
                if by_operator[operator] and len(of_room) < wanted:
                    of_room.append(by_operator[operator].pop(0))
        chosen += of_room
    return chosen


def write_mutants(numbered: dict[int, Candidate]) -> None:
    """Write the sources with these mutants."""
    for name in [name for names in chosen_sources().values() for name in names]:
        own = [(number, one) for number, one in numbered.items() if one.source == name]
        plain = (ROOT / "src" / name).read_bytes()
        write(COPY / "src" / name, rendered(plain, own) if own else plain)


def environment(mutant: int = 0, reached: Path | None = None) -> dict[str, str]:
    """Return the environment in which a mutant runs, or is looked for."""
    values = dict(os.environ)
    values["IOCOMP_MUTANT"] = str(mutant)
    values["IOCOMP_TEST_SEED"] = "1"
    if reached is not None:
        values["IOCOMP_MUTANTS_REACHED"] = str(reached)
    return values


def version(numbered: dict[int, Candidate]) -> str:
    """Return what tells one build from another: what each test reaches depends on it."""
    digest = hashlib.sha256("".join(one.key for one in numbered.values()).encode())
    for path in sorted(COPY.rglob("*")):
        if path.is_file() and path.suffix in (".cpp", ".h", ".plan"):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def line_of(one: Candidate) -> int:
    """Return the line where a mutant begins."""
    return (ROOT / "src" / one.source).read_bytes()[: one.where[0]].count(b"\n") + 1


def lines_of(one: Candidate, around: int = 4) -> str:
    """Return the lines of a mutant, and some before and behind them."""
    text = (ROOT / "src" / one.source).read_text()
    first = line_of(one) - 1
    last = first + text.encode()[slice(*one.where)].count(b"\n")
    lines = text.splitlines()
    return "\n".join(
        f"{'>' if first <= at <= last else ' '} {lines[at]}"
        for at in range(max(0, first - around), min(len(lines), last + around + 1))
    )
