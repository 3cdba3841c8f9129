# SPDX-License-Identifier: BSD-3-Clause
"""Each example of README.md and docs/ is a program that runs, or settings and commands that iocomp takes."""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, Launcher
from test_examples import start_example

from actors import Build, read_build
from iocomp import open_files

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
PROGRAMS = {"c": "c", "cpp": "cpp", "fortran": "f90", "python": "py"}
OTHERS = {"toml", "sh", "", "text", "mermaid", "cuda"}
"""Settings and commands have tests below; text is what programs print, and nobody here has nvcc."""


@dataclass(frozen=True)
class Block:
    """The lines between two fences of a page."""

    page: Path
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def paragraphs(self) -> list[str]:
        """A blank line may stand for code that the page leaves out."""
        return [one for one in re.split(r"\n\s*\n", self.text.rstrip("\n")) if one]


def blocks() -> list[Block]:
    found = []
    for page in PAGES:
        text = page.read_text()
        for match in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
            line = text.count("\n", 0, match.start()) + 2
            found.append(Block(page, line, match[1], match[2]))
    return found


def named(*languages: str) -> list[Block]:
    return [block for block in blocks() if block.language in languages]


def programs(ending: str) -> list[str]:
    files = [
        *(ROOT / "examples").rglob(f"*.{ending}"),
        *(ROOT / "tests/pages").glob(f"*.{ending}"),
    ]
    return [file.read_text() for file in sorted(files)]


def is_part(block: Block, program: str) -> bool:
    """Return whether all paragraphs are there, in this order, indented alike."""
    end = 0
    for paragraph in block.paragraphs:
        for depth in range(0, 13, 2):
            at = program.find(textwrap.indent(paragraph, " " * depth) + "\n", end)
            if at >= 0 and (at == 0 or program[at - 1] == "\n"):
                end = at + len(paragraph)
                break
        else:
            return False
    return True


def test_there_is_no_block_of_another_kind() -> None:
    assert {block.language for block in blocks()} <= PROGRAMS.keys() | OTHERS
    fences = sum(page.read_text().count("\n```") for page in PAGES)
    assert fences == 2 * len(blocks())


@pytest.mark.parametrize("block", named(*PROGRAMS), ids=str)
def test_code_is_part_of_a_program_that_runs(block: Block) -> None:
    assert any(is_part(block, program) for program in programs(PROGRAMS[block.language])), block.text


@pytest.mark.parametrize("block", [b for b in named("sh") if b.text.startswith("#!")], ids=str)
def test_a_script_is_an_example(block: Block) -> None:
    lines = [text.replace("# SPDX-License-Identifier: BSD-3-Clause\n", "") for text in programs("sh")]
    assert block.text in lines


def command() -> Path:
    return Path(read_build().command)


def run_command(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [command(), *words], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.parametrize("block", named("toml"), ids=str)
def test_settings_are_taken(block: Block, tmp_path: Path) -> None:
    if "[[series]]" in block.text or "[study]" in block.text:
        text = block.text
        text = text if "[study]" in text else f'[study]\nname = "page"\n{text}'
        text = text if "name =" in text else text.replace("[study]\n", '[study]\nname = "page"\n')
        text = text if "[[series]]" in text else f'{text}[[series]]\nclient = "stream"\n'
        (tmp_path / "study.toml").write_text(text)
        words = ["study", "run", "study.toml", "--dry-run", "--launcher", "local"]
    else:
        (tmp_path / "iocomp.toml").write_text(block.text)
        words = ["config"]
    done = run_command(*words, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


@functools.cache
def next_words(*words: str) -> list[str]:
    """Return what shells would complete."""
    done = run_command("complete", *words, folder=ROOT)
    return done.stdout.split()


def calls_in(text: str) -> Iterator[list[str]]:
    """Yield the words of each call of the command, without those of a program that it starts."""
    for line in text.splitlines():
        line = line.partition("#")[0]
        for match in re.finditer(r"(?:^|[\s(])iocomp ((?:[^#|;&)'\"]|'[^']*'|\"[^\"]*\")*)", line):
            words = shlex.split(match[1])
            if words and re.fullmatch(r"[a-z-]+", words[0]):
                yield words[: words.index("--")] if "--" in words else words


def test_each_call_of_the_command_has_words_that_it_knows() -> None:
    calls = 0
    for block in named("sh", ""):
        lines = block.text
        if block.language == "":  # "$ iocomp ls out", and what it prints
            lines = "\n".join(line[2:] for line in lines.splitlines() if line.startswith("$ "))
        for words in calls_in(lines):
            calls += 1
            assert words[0] in next_words(""), f"{block}: {words}"
            name = words[:2] if words[1:2] and words[1] in next_words(words[0], "") else words[:1]
            options = [] if name == ["run"] else [w for w in words if w.startswith("--")]
            for option in options:
                known = next_words(*name, option.partition("=")[0])
                assert option.partition("=")[0] in known, f"{block}: {words}"
    assert calls > 15


@pytest.mark.parametrize("block", named("sh"), ids=str)
def test_shells_take_the_lines(block: Block) -> None:
    done = subprocess.run(["bash", "-n"], input=block.text, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"^make ([\w-]+)", block.text, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target
    for script in re.findall(r"^(tools/[\w-]+)", block.text, re.MULTILINE):
        assert (ROOT / script).exists(), script


@pytest.mark.parametrize("language", ["c", "cpp", "fortran", "python"])
def test_the_programs_of_the_start_page(launch: Launcher, language: str) -> None:
    if language == "python":
        launch.run(str(ROOT / "examples/python/one_step.py"), ranks=3)
    else:
        done = start_example(launch, language, "one_step", 3, {})
        assert done.returncode == 0, done.stderr
    with open_files(launch.folder / "fields") as files:
        assert files.steps == [0]
        assert files.read("u").shape == (3, 1000)
        assert (files.read("u")[:, 0] == 1).all()


def fragments(launch: Launcher, language: str) -> list[str]:
    """Return the words that start the compiled fragments on two ranks."""
    built = Path(launch.build.modules).parents[1] / f"tests/pages/page_fragments_{language}"
    if not built.exists():
        pytest.skip(f"{built} was not built")
    return [*launch.build.launcher, "2", str(built)]


def run(launch: Launcher, words: list[str], status: int, **settings: str) -> None:
    done = subprocess.run(
        words, cwd=launch.folder, env=launch.environment(settings), capture_output=True, text=True,
        check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == status, done.stderr
    assert "invalid" not in done.stderr, done.stderr


def test_the_fragments_in_c_run(launch: Launcher, build: Build) -> None:
    if not build.has_back_end("hdf5"):
        pytest.skip("hdf5 was not built")
    words = fragments(launch, "c")
    (launch.folder / "out").mkdir()
    for number in ("1", "2"):
        run(launch, [*words, number], status=3, STOP_AT="2000-01-01T00:00:00")
    with open_files(launch.folder / "B_0.h5") as files:
        assert list(files.read("IntArray", 0)) == [0, 1]
    with open_files(launch.folder / "out/run2.h5") as files:
        assert list(files.read("u", 0)) == [0, 1]
    with open_files(launch.folder / "particles") as files:
        assert list(files.read("id", 0)) == [0, 10, 11]
    with open_files(launch.folder / "halos") as files:
        assert np.array_equal(files.read("u"), 10 * np.arange(4)[:, None] + np.arange(4))
    with open_files(launch.folder / "planes") as files:
        assert files.attributes("u")["dimensions"] == "time y x"
        assert list(files.read("u")[:, 0]) == [0, 1]
    with open_files(launch.folder / "restart") as files:
        assert files.steps == [0, 1]


def test_the_fragments_in_fortran_run(launch: Launcher) -> None:
    run(launch, fragments(launch, "f90"), status=0)
    with open_files(launch.folder / "fields") as files:
        assert (files.read("u", 0) == [[1]] * 2 + [[2]] * 2).all()
        assert (files.read("u", 1) == 0).all()
    with open_files(launch.folder / "restart") as files:
        assert (files.read("u", 1) == [[0]] * 2 + [[1]] * 2).all()


def test_the_fragments_in_python_run(launch: Launcher, installed: Path) -> None:
    program = str(ROOT / "tests/pages/fragments.py")
    launch.run(program, "write", "pack", ranks=2)
    for _ in range(2):
        launch.run(program, "go_on", ranks=2, STOP_AT="2000-01-01T00:00:00")
    with open_files(launch.folder / "fields") as files:
        assert (files.read("u", 9) == 9).all()
    with open_files(launch.folder / "packed") as files:
        assert (files.read("t") == 685).all()
    with open_files(launch.folder / "restart") as files:
        assert (files.read("u", 0) == 8).all() and (files.read("u", 1) == 9).all()
    launch.run(program, "prepare", ranks=2, FILES_EXISTING="replace")
    launch.run(program, "read", ranks=1)
    pytest.importorskip("xarray")
    pytest.importorskip("dask")
    done = subprocess.run(
        [sys.executable, program, "read_with_xarray"], cwd=launch.folder, check=False,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(installed)}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def keys_of(manifest: object) -> Iterator[str]:
    """Yield all keys, but for names that a program has chosen."""
    if isinstance(manifest, list):
        for one in manifest:
            yield from keys_of(one)
    if isinstance(manifest, dict):
        for key, value in manifest.items():
            yield key
            yield from () if key in ("attributes", "variable_attributes") else keys_of(value)


def test_a_manifest_tells_what_its_page_says(launch: Launcher) -> None:
    """The page alone is enough to find each value."""
    page = (ROOT / "docs/developers/formats.md").read_text()
    section = page[page.index("## The manifest") : page.index("## Compressed checkpoints")]
    rows = " ".join(re.findall(r"^\| ([^|]*)\|", section, re.MULTILINE))
    program = str(ROOT / "tests/pages/fragments.py")
    launch.run(program, "prepare", ranks=2)
    launch.run(program, "go_on", ranks=2, STOP_AT="2000-01-01T00:00:00")
    manifests = {path.name: json.loads(path.read_text()) for path in launch.folder.glob("*.json")}
    assert len(manifests) == 2
    for manifest in manifests.values():
        known = set(re.findall(r"`(\w+)`", rows)) | {"type", "shape", "name", "variables"}
        assert set(keys_of(manifest)) <= known
    (checkpoint,) = (one for one in manifests.values() if one["kind"] == "checkpoint")
    assert (checkpoint["first_step"], checkpoint["committed_steps"]) == (0, 1)
    (series,) = (one for one in manifests.values() if one["kind"] == "series")
    data = (launch.folder / series["file"]).read_bytes()
    assert len(data) == series["bytes"]
    found = []
    for entry in series["steps"]:
        for i in range(entry.get("count", 1)):
            (u,) = (one for one in entry["variables"] if one["name"] == "u")
            at = u["offset"] + i * u.get("advance", 0)
            values = np.frombuffer(data, u["type"], int(np.prod(u["shape"])), at)
            found.append((entry.get("number", entry["step"]) + i, entry["time"][i], set(values)))
    assert found == [(step, 0.5 * step, {float(step)}) for step in range(5)]
